/* The allocator that takes memory straight from the driver. */
#include "base/error.h"
#include "memory/allocator.h"
#include "memory/block.h"

static ctxrt_status out_of_memory(const cx_context *context, size_t size_bytes, cxu_result result)
{
    const cx_driver *driver = context->driver;
    size_t free_bytes, total_bytes;
    if (driver->table.mem_get_info(&free_bytes, &total_bytes) != CXU_SUCCESS)
        return cx_driver_error(driver, CX_SLOT_mem_alloc, result);
    return cx_error_driver_call(CTXRT_ERROR_OUT_OF_MEMORY, cx_symbols[CX_SLOT_mem_alloc].symbol, result,
                                cx_driver_result_name(driver, result),
                                "there are not %zu bytes for %s: %zu of its device's %zu bytes are free",
                                size_bytes, cx_context_text(context), free_bytes, total_bytes);
}

static ctxrt_status alloc(cx_allocator *allocator, const cx_allocation *request, void **out_pointer)
{
    CUdeviceptr address;
    const cx_driver *driver = allocator->context->driver;
    cxu_result result = driver->table.mem_alloc(&address, request->size_bytes);
    if (result == CXU_OUT_OF_MEMORY)
        return out_of_memory(allocator->context, request->size_bytes, result);
    if (result != CXU_SUCCESS)
        return cx_driver_error(driver, CX_SLOT_mem_alloc, result);
    *out_pointer = (void *)(uintptr_t)address;
    return CTXRT_SUCCESS;
}

/* Needs no current context (T5). */
static ctxrt_status free_memory(cx_allocator *allocator, const cx_allocation *request, void *pointer)
{
    cx_context *context = request->context;
    (void)allocator;
    return cx_block_check_freed(context, CX_SLOT_mem_free,
                                context->driver->table.mem_free((uintptr_t)pointer));
}

const cx_allocator_kind cx_driver_allocator = {.alloc = alloc, .free = free_memory};
