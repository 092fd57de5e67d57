/* Allocators with the source DIRECT: each request is one driver call, and nothing is kept. */
#include "base/error.h"
#include "context/use.h"
#include "memory/block.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"

static ctxrt_status refuse_request(const cx_context *context, const cx_allocation *request)
{
    const cx_driver *driver = context->driver;
    char room[256];
    const char *advice = cx_driver_advice(driver, CXU_OUT_OF_MEMORY);
    cx_driver_room_text(driver, room, sizeof room);
    return cx_error_driver_call(
        CTXRT_ERROR_OUT_OF_MEMORY, cx_symbols[CX_SLOT_mem_alloc].symbol, CXU_OUT_OF_MEMORY,
        cx_driver_result_name(driver, CXU_OUT_OF_MEMORY), "there are not %zu bytes for %s: %s%s%s",
        request->size_bytes, cx_context_text(context), room, advice[0] != '\0' ? "; " : "", advice);
}

/* The context is pinned. */
static ctxrt_status alloc_there(const cx_allocation *request, cx_block *block)
{
    const cx_context *context = request->context;
    const cx_driver *driver = context->driver;
    CUdeviceptr address = 0;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result = driver->table.mem_alloc(&address, request->size_bytes);
    cx_relaxed_capture_end(&relaxed);
    if (result == CXU_OUT_OF_MEMORY)
        return refuse_request(context, request);
    if (result != CXU_SUCCESS)
        return cx_driver_error(driver, CX_SLOT_mem_alloc, result);
    block->pointer = (void *)(uintptr_t)address;
    const cx_range range = {
        .begin = address,
        .size_bytes = request->size_bytes,
        .context = request->context,
        .epoch = block->epoch,
        .kind = CTXRT_MEMORY_DEVICE,
    };
    ctxrt_status status = cx_ranges_add(&range);
    if (status != CTXRT_SUCCESS)
        (void)driver->table.mem_free(address);
    return status;
}

/* A reset waits: the memory must be of the epoch that its block says. */
static ctxrt_status alloc_direct(cx_allocator *allocator, const cx_allocation *request,
                                 cx_block *block)
{
    if (cx_allocator_refuses_call(allocator))
        return refuse_request(request->context, request);
    if (!cx_context_pin_epoch(request->context, request->epoch))
        return cx_block_overtaken(request->context);
    ctxrt_status status = alloc_there(request, block);
    cx_context_unpin(request->context);
    return status;
}

/* The driver waits for work that uses the memory. A reset waits for the driver: once the memory is
 * gone, its address may be other memory's. The caller has asked just now whether other code ended
 * the context. A thread that has no memory for its record pins nothing. */
static ctxrt_status free_memory(cx_allocator *allocator, const cx_block *block)
{
    cx_context *context = block->context;
    (void)allocator;
    cx_ranges_remove(context, block->epoch, (uintptr_t)block->pointer, CX_FREED_BY_USER);
    bool pinned = cx_context_pin_epoch(context, block->epoch);
    if (!pinned && block->epoch != atomic_load(&context->epoch))
        return CTXRT_SUCCESS;
    cxu_result result = cx_block_free_natively(context, block->pointer);
    if (pinned)
        cx_context_unpin(context);
    return cx_block_check_freed(context, CX_SLOT_mem_free, result);
}

const cx_allocator_kind cx_direct_allocator = {.alloc = alloc_direct, .free = free_memory};
