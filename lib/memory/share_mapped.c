/* Mapped memory shared between processes of one machine, as files. */
#include "memory/share.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "memory/cache.h"

#include <unistd.h>

/* ---- exporting ---- */

/* The context is pinned, and the block is there: so its chunks stay where they are. */
static ctxrt_status find_mapping(const cx_mapped_range *range, const void *pointer, size_t bytes,
                                 ctxrt_exported_mapping *out_mapping)
{
    size_t offset = ((uintptr_t)pointer - range->address) % range->chunk_bytes;
    if (offset != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_memory_export_mapped: the memory begins %zu bytes into a mapping, "
                        "all of which would be shared: give it an allocator of its own",
                        offset);
    *out_mapping = (ctxrt_exported_mapping){
        .size_bytes = bytes,
        .file_bytes = range->chunk_bytes,
        .file_count = (bytes - 1) / range->chunk_bytes + 1,
    };
    return CTXRT_SUCCESS;
}

static ctxrt_status export_chunk(const cx_driver *driver, void *address, int *out_file)
{
    CUmemGenericAllocationHandle handle;
    ctxrt_status status = CX_DRIVER_CALL(driver, mem_retain_allocation_handle, (&handle, address));
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(driver, mem_export_to_shareable_handle,
                            (out_file, handle, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    (void)driver->table.mem_release(handle);
    return status;
}

static ctxrt_status export_chunks(const cx_driver *driver, char *pointer,
                                  const ctxrt_exported_mapping *mapping, int *files)
{
    size_t count = 0;
    ctxrt_status status = CTXRT_SUCCESS;
    while (count < mapping->file_count && status == CTXRT_SUCCESS) {
        status = export_chunk(driver, pointer + count * mapping->file_bytes, &files[count]);
        count += status == CTXRT_SUCCESS;
    }
    if (status != CTXRT_SUCCESS)
        while (count > 0)
            (void)close(files[--count]);
    return status;
}

static ctxrt_status export_block(const cx_cache *cache, const cx_cache_block *cached,
                                 size_t capacity, int *files, ctxrt_exported_mapping *out_mapping)
{
    ctxrt_exported_mapping mapping;
    char *pointer = atomic_load(&cached->pointer);
    ctxrt_status status =
        find_mapping(&cache->range, pointer, cx_cache_block_size(cached), &mapping);
    if (status == CTXRT_SUCCESS && files != NULL)
        status =
            capacity >= mapping.file_count
                ? export_chunks(cache->range.driver, pointer, &mapping, files)
                : cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                           "ctxrt_memory_export_mapped: the memory has %zu files, and capacity "
                           "is %zu",
                           mapping.file_count, capacity);
    if (status == CTXRT_SUCCESS)
        *out_mapping = mapping;
    return status;
}

/* After a reset the range may have other memory at the block's addresses. */
static ctxrt_status export_mapped(const ctxrt_memory *handle, size_t capacity, int *files,
                                  ctxrt_exported_mapping *out_mapping)
{
    bool pinned;
    const cx_cache_block *cached = cx_cache_block_of(handle);
    const cx_cache *cache = cached != NULL ? cx_cache_of(cx_cache_block_index(handle)) : NULL;
    if (cache == NULL || !atomic_load(&cache->mapped))
        return cx_error(
            CTXRT_ERROR_INVALID_ARGUMENT,
            "ctxrt_memory_export_mapped: the memory is not mapped: that of an allocator "
            "with CTXRT_ALLOCATOR_SOURCE_VMM is, without its debug mode");
    cx_context *context = atomic_load(&cache->context);
    bool there = cx_block_begin_free(context, atomic_load(&cache->epoch), &pinned);
    ctxrt_status status =
        there && !cx_cache_block_is_gone(cached)
            ? export_block(cache, cached, capacity, files, out_mapping)
            : cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                       "ctxrt_memory_export_mapped: the memory has ended with its context");
    if (pinned)
        cx_context_unpin(context);
    return status;
}

ctxrt_status ctxrt_memory_export_mapped(ctxrt_memory *handle, size_t capacity, int *files,
                                        ctxrt_exported_mapping *out_mapping)
{
    if (out_mapping == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_memory_export_mapped: out_mapping is NULL");
    ctxrt_status status = ctxrt_memory_retain(handle);
    if (status != CTXRT_SUCCESS)
        return status;
    status = export_mapped(handle, capacity, files, out_mapping);
    cx_memory_give(handle);
    return status;
}

/* ---- importing ---- */

/* What an importer has mapped: files one behind another, in a range of addresses of its own. */
typedef struct mapped_files {
    const cx_driver *driver;
    CUdeviceptr address;
    size_t bytes;
    size_t mapped_bytes;
} mapped_files;

static cxu_result unmap(const mapped_files *imported)
{
    cxu_result result = CXU_SUCCESS;
    const cx_driver_table *table = &imported->driver->table;
    if (imported->mapped_bytes != 0)
        result = table->mem_unmap(imported->address, imported->mapped_bytes);
    return result == CXU_SUCCESS ? table->mem_address_free(imported->address, imported->bytes)
                                 : result;
}

static cxu_result unmap_memory(const cx_memory *memory)
{
    return unmap(&(mapped_files){.driver = memory->block.context->driver,
                                 .address = (uintptr_t)memory->block.pointer,
                                 .bytes = memory->mapped_bytes,
                                 .mapped_bytes = memory->mapped_bytes});
}

static ctxrt_status close_mapped(cx_memory *memory)
{
    static const cx_share_way by_mapping = {unmap_memory, CX_SLOT_mem_unmap, true};
    return cx_share_close(memory, &by_mapping);
}

static ctxrt_status map_file(mapped_files *imported, int file, size_t file_bytes)
{
    CUmemGenericAllocationHandle handle;
    const cx_driver *driver = imported->driver;
    ctxrt_status status = CX_DRIVER_CALL(
        driver, mem_import_from_shareable_handle,
        (&handle, (void *)(intptr_t)file, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(driver, mem_map,
                            (imported->address + imported->mapped_bytes, file_bytes, 0, handle, 0));
    (void)driver->table.mem_release(handle); /* the mapping keeps the memory */
    if (status == CTXRT_SUCCESS)
        imported->mapped_bytes += file_bytes;
    return status;
}

static ctxrt_status map_files(mapped_files *imported, CUdevice device,
                              const ctxrt_exported_mapping *exported, const int *files)
{
    const cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, device},
                                   CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t i = 0; i < exported->file_count && status == CTXRT_SUCCESS; i++)
        status = map_file(imported, files[i], exported->file_bytes);
    return status == CTXRT_SUCCESS
               ? CX_DRIVER_CALL(imported->driver, mem_set_access,
                                (imported->address, imported->bytes, &access, 1))
               : status;
}

static ctxrt_status map_exported(cx_context *context, const ctxrt_exported_mapping *exported,
                                 const int *files, ctxrt_memory **out_memory)
{
    mapped_files imported = {.driver = context->driver,
                             .bytes = exported->file_bytes * exported->file_count};
    if (context->device == NULL)
        return cx_error(CTXRT_ERROR_NOT_SUPPORTED,
                        "ctxrt_memory_import_mapped: %s has a device that is not listed",
                        cx_context_text(context));
    ctxrt_status status = CX_DRIVER_CALL(context->driver, mem_address_reserve,
                                         (&imported.address, imported.bytes, 0, 0, 0));
    if (status != CTXRT_SUCCESS)
        return status;
    status = map_files(&imported, context->device->native, exported, files);
    if (status == CTXRT_SUCCESS) {
        cx_memory model = {
            .block = {.pointer = (void *)(uintptr_t)imported.address,
                      .size_bytes = exported->size_bytes,
                      .context = context,
                      .epoch = atomic_load(&context->epoch)},
            .mapped_bytes = imported.bytes,
            .free = close_mapped,
        };
        status = cx_share_publish(&model, out_memory);
    }
    if (status != CTXRT_SUCCESS)
        (void)unmap(&imported);
    return status;
}

/* The files are of the size that the exporter said, or the driver refuses to map them. */
static ctxrt_status check_mapping(const ctxrt_exported_mapping *mapping)
{
    size_t bytes;
    if (mapping->size_bytes != 0 &&
        !__builtin_mul_overflow(mapping->file_bytes, mapping->file_count, &bytes) &&
        mapping->size_bytes <= bytes && bytes - mapping->size_bytes < mapping->file_bytes)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "ctxrt_memory_import_mapped: %zu files of %zu bytes are no memory of %zu",
                    mapping->file_count, mapping->file_bytes, mapping->size_bytes);
}

ctxrt_status ctxrt_memory_import_mapped(const ctxrt_exported_mapping *mapping, const int *files,
                                        ctxrt_memory **out_memory)
{
    cx_context *context;
    if (mapping == NULL || files == NULL || out_memory == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_import_mapped: %s is NULL",
                        mapping == NULL ? "mapping"
                        : files == NULL ? "files"
                                        : "out_memory");
    ctxrt_status status = cx_share_begin(mapping->size_bytes, &context);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_mapping(mapping);
    if (status == CTXRT_SUCCESS)
        status = map_exported(context, mapping, files, out_memory);
    if (status != CTXRT_SUCCESS)
        cx_context_memory_drop(context, mapping->size_bytes);
    return status;
}
