/* Allocators with the source DIRECT: each request is one driver call, and nothing is kept. */
#include "base/error.h"
#include "memory/block.h"
#include "memory/ranges.h"
#include "work/relaxed_capture.h"

static ctxrt_status refuse_request(const cx_context *context, const cx_allocation *request)
{
    const cx_driver *driver = context->driver;
    char room[256];
    cx_driver_room_text(driver, room, sizeof room);
    return cx_error_driver_call(
        CTXRT_ERROR_OUT_OF_MEMORY, cx_symbols[CX_SLOT_mem_alloc].symbol, CXU_OUT_OF_MEMORY,
        cx_driver_result_name(driver, CXU_OUT_OF_MEMORY),
        "there are not %zu bytes for %s: %s", request->size_bytes, cx_context_text(context), room);
}

static ctxrt_status alloc_direct(cx_allocator *allocator, const cx_allocation *request,
                                 cx_block *block)
{
    const cx_context *context = request->context;
    const cx_driver *driver = context->driver;
    CUdeviceptr address = 0;
    if (cx_allocator_refuses_call(allocator))
        return refuse_request(context, request);
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result = driver->table.mem_alloc(&address, request->size_bytes);
    cx_relaxed_capture_end(&relaxed);
    if (result == CXU_OUT_OF_MEMORY)
        return refuse_request(context, request);
    if (result != CXU_SUCCESS)
        return cx_driver_error(driver, CX_SLOT_mem_alloc, result);
    block->pointer = (void *)(uintptr_t)address;
    const cx_range_view range = {
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

/* The driver waits for work that uses the memory. */
static ctxrt_status free_memory(cx_allocator *allocator, const cx_block *block)
{
    const cx_driver *driver = block->context->driver;
    (void)allocator;
    cx_ranges_remove(block->context, block->epoch, (uintptr_t)block->pointer, CX_PAST_FREED);
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result = driver->table.mem_free((uintptr_t)block->pointer);
    cx_relaxed_capture_end(&relaxed);
    return cx_block_check_freed(block->context, CX_SLOT_mem_free, result);
}

const cx_allocator_kind cx_direct_allocator = {.alloc = alloc_direct, .free = free_memory};
