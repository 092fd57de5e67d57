/* Device memory shared between processes of one machine. */
#include "memory/share.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"

#include <string.h>

_Static_assert(sizeof(cxu_ipc_mem_handle) == sizeof((ctxrt_exported_memory *)0)->token &&
                   sizeof(cxu_mem_pool_pointer) == sizeof(cxu_ipc_mem_handle),
               "the token holds the driver's");

/* The beginning of the driver's allocation, which a handle stands for. */
static uintptr_t base_of(const cx_driver *driver, const void *pointer)
{
    CUdeviceptr base = (uintptr_t)pointer;
    if (!driver->missing[CX_SLOT_pointer_get_attribute])
        (void)driver->table.pointer_get_attribute(&base, CXU_POINTER_RANGE_START_ADDR,
                                                  (uintptr_t)pointer);
    return (uintptr_t)base;
}

/* An importer would get the beginning of the allocation, and see all of it. */
static ctxrt_status check_base(const cx_driver *driver, const void *pointer)
{
    size_t offset = (uintptr_t)pointer - base_of(driver, pointer);
    if (offset == 0)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "ctxrt_memory_export: the memory begins %zu bytes into an allocation of the "
                    "driver, all of which would be shared: give it an allocator of its own",
                    offset);
}

/* NULL: the memory is of no pool. */
static CUmemoryPool pool_of(const ctxrt_memory *handle)
{
    const cx_memory *memory = cx_pool_find(&cx_memories, handle);
    return memory != NULL && memory->block.allocator != NULL ? memory->block.allocator->pool : NULL;
}

static ctxrt_status export_natively(const cx_driver *driver, const ctxrt_memory *handle,
                                    void *pointer, cxu_ipc_mem_handle *out_token)
{
    cxu_mem_pool_pointer shared;
    if (pool_of(handle) == NULL) {
        ctxrt_status status = check_base(driver, pointer);
        return status == CTXRT_SUCCESS
                   ? CX_DRIVER_CALL(driver, ipc_get_mem_handle,
                                    (out_token, (CUdeviceptr)(uintptr_t)pointer))
                   : status;
    }
    ctxrt_status status =
        CX_DRIVER_CALL(driver, mem_pool_export_pointer, (&shared, (CUdeviceptr)(uintptr_t)pointer));
    if (status == CTXRT_SUCCESS)
        memcpy(out_token, &shared, sizeof shared);
    return status;
}

ctxrt_status ctxrt_memory_export(ctxrt_memory *handle, ctxrt_exported_memory *out_exported)
{
    ctxrt_memory_info info;
    cxu_ipc_mem_handle token;
    cx_context *context;
    if (out_exported == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_export: out_exported is NULL");
    ctxrt_status status = ctxrt_memory_describe(handle, &info);
    if (status == CTXRT_SUCCESS && info.kind != CTXRT_MEMORY_DEVICE)
        status = cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                          "ctxrt_memory_export: only device memory can be exported");
    if (status == CTXRT_SUCCESS)
        status = cx_context_find(info.context, &context);
    if (status == CTXRT_SUCCESS)
        status = export_natively(context->driver, handle, info.pointer, &token);
    if (status != CTXRT_SUCCESS)
        return status;
    out_exported->size_bytes = info.size_bytes;
    memcpy(out_exported->token, &token, sizeof token);
    return CTXRT_SUCCESS;
}

/* ---- closing ---- */

/* Work of a capture may not be waited for, nor may the memory go under work that runs. */
static bool is_of_capture(cxu_result result)
{
    return result >= CXU_STREAM_CAPTURE_UNSUPPORTED && result <= CXU_STREAM_CAPTURE_WRONG_THREAD;
}

static ctxrt_status close_in_context(const cx_memory *memory, const cx_share_way *way)
{
    cx_context_guard guard;
    cxu_result result = CXU_SUCCESS;
    const cx_context *context = memory->block.context;
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(context->driver);
    if (way->outlives_reset)
        result = context->driver->table.ctx_synchronize();
    status = is_of_capture(result)
                 ? cx_driver_check(context->driver, CX_SLOT_ctx_synchronize, result)
                 : cx_block_check_freed(context, way->slot, way->close(memory));
    cx_relaxed_capture_end(&relaxed);
    cx_context_guard_leave(&guard);
    return status;
}

ctxrt_status cx_share_close(const cx_memory *memory, const cx_share_way *way)
{
    bool pinned;
    cx_context *context = memory->block.context;
    ctxrt_status status = CTXRT_SUCCESS;
    cx_ranges_remove(context, memory->block.epoch, (uintptr_t)memory->block.pointer,
                     CX_FREED_BY_USER);
    if (cx_block_begin_free(context, memory->block.epoch, &pinned))
        status = close_in_context(memory, way);
    else if (way->outlives_reset)
        status = cx_block_check_freed(context, way->slot, way->close(memory));
    if (pinned)
        cx_context_unpin(context);
    cx_context_memory_drop(context, memory->block.size_bytes);
    return status;
}

/* Drivers close it in the context that opened it alone. */
static cxu_result close_handle(const cx_memory *memory)
{
    return memory->block.context->driver->table.ipc_close_mem_handle(
        (uintptr_t)memory->block.pointer);
}

static const cx_share_way by_handle = {close_handle, CX_SLOT_ipc_close_mem_handle, false};

static ctxrt_status close_by_handle(cx_memory *memory)
{
    return cx_share_close(memory, &by_handle);
}

static ctxrt_status close_of_pool(cx_memory *memory)
{
    const cx_block *block = &memory->block;
    cx_ranges_remove(block->context, block->epoch, (uintptr_t)block->pointer, CX_FREED_BY_USER);
    ctxrt_status status = cx_block_free_of_pool(block->context, block->epoch, block->pointer);
    cx_context_memory_drop(block->context, block->size_bytes);
    return status;
}

/* ---- opening ---- */

ctxrt_status cx_share_begin(size_t size_bytes, cx_context **out_context)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_context = cx_frame_context(frame);
    cx_context_memory_add(*out_context, size_bytes);
    return CTXRT_SUCCESS;
}

ctxrt_status cx_share_publish(cx_memory *model, ctxrt_memory **out_memory)
{
    const cx_block *block = &model->block;
    const cx_range range = {
        .begin = (uintptr_t)block->pointer,
        .size_bytes = block->size_bytes,
        .context = block->context,
        .epoch = block->epoch,
        .kind = CTXRT_MEMORY_DEVICE,
    };
    model->kind = CTXRT_MEMORY_DEVICE;
    model->device = cx_block_device(block->context);
    ctxrt_status status = cx_ranges_add(&range);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_memory_make(model, block->pointer, out_memory);
    if (status != CTXRT_SUCCESS)
        cx_ranges_remove(block->context, block->epoch, range.begin, CX_FREED_BY_USER);
    return status;
}

/* `pool`: NULL for memory of none. */
static ctxrt_status open_natively(const cx_driver *driver, CUmemoryPool pool,
                                  const ctxrt_exported_memory *exported, CUdeviceptr *out_address)
{
    enum { LAZY_PEER_ACCESS = 1 };
    cxu_mem_pool_pointer shared;
    cxu_ipc_mem_handle token;
    memcpy(&token, exported->token, sizeof token);
    memcpy(&shared, exported->token, sizeof shared);
    return pool != NULL
               ? CX_DRIVER_CALL(driver, mem_pool_import_pointer, (out_address, pool, &shared))
               : CX_DRIVER_CALL(driver, ipc_open_mem_handle,
                                (out_address, token, LAZY_PEER_ACCESS));
}

static ctxrt_status open_exported(cx_context *context, CUmemoryPool pool,
                                  const ctxrt_exported_memory *exported, ctxrt_memory **out_memory)
{
    CUdeviceptr address;
    ctxrt_status status = open_natively(context->driver, pool, exported, &address);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_memory model = {
        .block = {.pointer = (void *)(uintptr_t)address,
                  .size_bytes = exported->size_bytes,
                  .context = context,
                  .epoch = atomic_load(&context->epoch)},
        .free = pool != NULL ? close_of_pool : close_by_handle,
    };
    status = cx_share_publish(&model, out_memory);
    if (status != CTXRT_SUCCESS)
        (void)(pool != NULL ? cx_block_free_natively(context, model.block.pointer)
                            : close_handle(&model));
    return status;
}

static ctxrt_status import_memory(CUmemoryPool pool, const ctxrt_exported_memory *exported,
                                  ctxrt_memory **out_memory)
{
    cx_context *context;
    ctxrt_status status = cx_share_begin(exported->size_bytes, &context);
    if (status != CTXRT_SUCCESS)
        return status;
    status = open_exported(context, pool, exported, out_memory);
    if (status != CTXRT_SUCCESS)
        cx_context_memory_drop(context, exported->size_bytes);
    return status;
}

ctxrt_status ctxrt_memory_import(const ctxrt_exported_memory *exported, ctxrt_memory **out_memory)
{
    if (exported == NULL || out_memory == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_import: %s is NULL",
                        exported == NULL ? "exported" : "out_memory");
    return import_memory(NULL, exported, out_memory);
}

ctxrt_status ctxrt_memory_import_from_pool(CUmemoryPool pool, const ctxrt_exported_memory *exported,
                                           ctxrt_memory **out_memory)
{
    if (pool == NULL || exported == NULL || out_memory == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_import_from_pool: %s is NULL",
                        pool == NULL       ? "pool"
                        : exported == NULL ? "exported"
                                           : "out_memory");
    return import_memory(pool, exported, out_memory);
}
