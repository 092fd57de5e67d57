/* Memory pools of other processes, as file descriptors, and memory of them. */
#include "emu/memory/pool.h"
#include "emu/base/sealed_file.h"
#include "emu/memory/shared.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"

#include <string.h>

/* All that the file says to which a descriptor of a pool leads. */
typedef struct pool_facts {
    uint64_t origin;
    int32_t location; /* cxu_mem_location_type */
    int32_t board;    /* of a device */
} pool_facts;

static cxu_result check_type(const char *call, cxu_mem_handle_type type)
{
    switch (type) {
    case CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
        return CXU_SUCCESS;
    case CXU_MEM_HANDLE_TYPE_WIN32:
    case CXU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CXU_MEM_HANDLE_TYPE_FABRIC:
        return cx_emu_not_supported(call, "a handle type other than a file descriptor");
    default:
        return CXU_INVALID_VALUE;
    }
}

static bool shareable(const cx_emu_pool *pool)
{
    return pool->properties.handle_types != CXU_MEM_HANDLE_TYPE_NONE;
}

/* ---- pools ---- */

static bool read_facts(int file, pool_facts *out_facts)
{
    cx_emu_sealed label;

    return cx_emu_sealed_file_check(file, CX_EMU_SEALED_POOL, &label) && label.bytes == 0 &&
           label.facts_bytes == sizeof *out_facts &&
           cx_emu_sealed_file_facts(file, &label, out_facts, sizeof *out_facts) &&
           out_facts->origin != 0 &&
           (out_facts->location == CXU_MEM_LOCATION_TYPE_DEVICE ||
            out_facts->location == CXU_MEM_LOCATION_TYPE_HOST_NUMA);
}

/* Each export has a sealed file of its own. */
static cxu_result export_pool(CUmemoryPool handle, int *out_file)
{
    cx_emu_pool *pool;
    cxu_result result = cx_emu_pool_find(handle, &pool);

    if (result != CXU_SUCCESS)
        return result;
    if (!shareable(pool))
        return CXU_INVALID_VALUE;
    if (pool->origin == 0 && !cx_emu_random(&pool->origin, sizeof pool->origin))
        return CXU_OPERATING_SYSTEM;
    const pool_facts facts = {.origin = pool->origin,
                              .location = (int32_t)pool->properties.location.type,
                              .board = pool->device != NULL ? pool->device->board : 0};
    *out_file = cx_emu_sealed_file_create(CX_EMU_SEALED_POOL, 0, &facts, sizeof facts);
    return *out_file >= 0 ? CXU_SUCCESS : cx_emu_system_result(CXU_OPERATING_SYSTEM);
}

cxu_result cx_emu_call_mem_pool_export_to_shareable_handle(void *out_shareable, CUmemoryPool pool,
                                                           cxu_mem_handle_type type,
                                                           unsigned long long flags)
{
    int file;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_shareable == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    result = check_type("cuMemPoolExportToShareableHandle", type);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = export_pool(pool, &file);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_shareable, &file, sizeof file);
    return result;
}

/* Memory of a pool belongs to its device; the host's to the first one. */
static cx_emu_device *device_of(const pool_facts *facts)
{
    return facts->location == CXU_MEM_LOCATION_TYPE_DEVICE ? cx_emu_device_of_board(facts->board)
                                                           : cx_emu_device_find(0);
}

static cxu_result import_pool(int file, cx_emu_pool **out_pool)
{
    pool_facts facts;
    cx_emu_device *device;
    cxu_result result;

    if (!read_facts(file, &facts))
        return CXU_INVALID_VALUE;
    device = device_of(&facts);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    const cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {(cxu_mem_location_type)facts.location,
                     facts.location == CXU_MEM_LOCATION_TYPE_DEVICE ? device->ordinal : 0},
    };
    result = cx_emu_pool_create(&properties, out_pool);
    if (result != CXU_SUCCESS)
        return result;
    (*out_pool)->imported = true;
    (*out_pool)->origin = facts.origin;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_pool_import_from_shareable_handle(CUmemoryPool *out_pool,
                                                             void *shareable_handle,
                                                             cxu_mem_handle_type type,
                                                             unsigned long long flags)
{
    cx_emu_pool *pool;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    result = check_type("cuMemPoolImportFromShareableHandle", type);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = import_pool((int)(intptr_t)shareable_handle, &pool);
    if (result == CXU_SUCCESS)
        *out_pool = cx_emu_pool_handle(pool);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- memory ---- */

static cxu_result export_pointer(CUdeviceptr pointer, cx_emu_shared_place *out_place)
{
    const cx_emu_allocation *allocation = cx_emu_allocation_at_start(pointer);
    const cx_emu_pool *pool = allocation != NULL ? allocation->pool : NULL;
    cxu_result result;

    if (pool == NULL || !shareable(pool) || pool->origin == 0)
        return CXU_INVALID_VALUE;
    result = cx_emu_allocation_error(allocation);
    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_shared_describe(allocation, pool->origin, out_place);
    return result == CXU_NOT_SUPPORTED
               ? cx_emu_not_supported("cuMemPoolExportPointer",
                                      "memory whose file the program has closed")
               : result;
}

cxu_result cx_emu_call_mem_pool_export_pointer(cxu_mem_pool_pointer *out_shared,
                                               CUdeviceptr pointer)
{
    cx_emu_shared_place place;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_shared == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = export_pointer(pointer, &place);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_shared->bytes, &place, sizeof place);
    return result;
}

/* True if the memory is of the pool, whatever else its file says. */
static bool is_of_pool(const cx_emu_export *facts, const cx_emu_pool *pool)
{
    return facts->origin == pool->origin &&
           (pool->device != NULL ? !facts->host && facts->board == pool->device->board
                                 : facts->host == 1);
}

static cxu_result open_memory(cx_emu_pool *pool, const cx_emu_shared_place *place,
                              cx_emu_shared **out_memory)
{
    cx_emu_shared_offer offer;
    cxu_result result = CXU_INVALID_VALUE;

    if (!cx_emu_shared_look(place, &offer))
        return CXU_INVALID_VALUE;
    if (is_of_pool(&offer.facts, pool))
        result = cx_emu_shared_open(
            &offer, pool->device != NULL ? pool->device : cx_emu_device_find(0), NULL, out_memory);
    cx_emu_shared_offer_end(&offer);
    return result;
}

/* Importing again counts, and gives the same address. */
static cxu_result import_pointer(CUmemoryPool handle, const cx_emu_shared_place *place,
                                 CUdeviceptr *out_pointer)
{
    cx_emu_pool *pool;
    cx_emu_shared *memory;
    cxu_result result = cx_emu_pool_find(handle, &pool);

    if (result != CXU_SUCCESS)
        return result;
    if (!pool->imported)
        return CXU_INVALID_VALUE;
    memory = cx_emu_shared_find(place, pool);
    if (memory != NULL) {
        memory->opened++;
    } else {
        result = open_memory(pool, place, &memory);
        if (result != CXU_SUCCESS)
            return result;
        cx_emu_pool_adopt(pool, memory->allocation);
    }
    *out_pointer = memory->allocation->address;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_pool_import_pointer(CUdeviceptr *out_pointer, CUmemoryPool pool,
                                               cxu_mem_pool_pointer *shared)
{
    cx_emu_shared_place place;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_pointer == NULL || shared == NULL)
        return CXU_INVALID_VALUE;
    memcpy(&place, shared->bytes, sizeof place);
    cx_lock_enter(&cx_emu_lock);
    result = import_pointer(pool, &place, out_pointer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
