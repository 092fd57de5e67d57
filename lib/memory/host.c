/* Host memory, plain and pinned. */
#include "base/error.h"
#include "base/log.h"
#include "context/named.h"
#include "memory/cross_driver_copies.h"
#include "memory/memory.h"
#include <stdlib.h>

#define HOST_ALIGNMENT 64

ctxrt_status cx_memory_calloc(size_t size_bytes, void **out_pointer, void **out_allocated)
{
    size_t padded;
    void *allocated = NULL;
    if (!__builtin_add_overflow(size_bytes, HOST_ALIGNMENT - 1, &padded) && padded <= PTRDIFF_MAX)
        allocated = calloc(1, padded);
    if (allocated == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "the host has no %zu bytes left", size_bytes);
    *out_allocated = allocated;
    *out_pointer = (void *)(((uintptr_t)allocated + HOST_ALIGNMENT - 1) / HOST_ALIGNMENT *
                            HOST_ALIGNMENT);
    return CTXRT_SUCCESS;
}

ctxrt_status cx_memory_free_host(cx_memory *memory)
{
    free(memory->allocated);
    return CTXRT_SUCCESS;
}

static ctxrt_status make_host(cx_memory *model, size_t size_bytes, ctxrt_memory **out_memory)
{
    ctxrt_status status = cx_memory_calloc(size_bytes, &model->block.pointer, &model->allocated);
    if (status != CTXRT_SUCCESS)
        return status;
    model->kind = CTXRT_MEMORY_HOST;
    model->block.size_bytes = size_bytes;
    status = cx_memory_make(model, model->block.pointer, out_memory);
    if (status != CTXRT_SUCCESS)
        free(model->allocated);
    return status;
}

ctxrt_status ctxrt_memory_alloc_host(size_t size_bytes, ctxrt_memory **out_memory)
{
    cx_memory model = {.device = CTXRT_CPU(0), .free = cx_memory_free_host};
    ctxrt_status status = cx_memory_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_memory == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_alloc_host: out_memory is NULL");
    if (size_bytes == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "ctxrt_memory_alloc_host: the size is 0");
    return make_host(&model, size_bytes, out_memory);
}

/* ---- pinned ---- */

/* Counted as an object of its context until it is freed. */
static ctxrt_status free_unpinned(cx_memory *memory)
{
    cx_context *context = memory->block.context;
    cx_cross_copies_leave(memory->block.pointer, memory->block.size_bytes, NULL);
    free(memory->allocated);
    cx_context_memory_drop(context, memory->block.size_bytes);
    return CTXRT_SUCCESS;
}

/* A device that is the host itself reaches all of its memory, so unpinned memory will do. */
static ctxrt_status make_unpinned(cx_context *context, size_t size_bytes, ctxrt_memory **out_memory)
{
    static _Atomic bool said;
    cx_memory model = {.device = cx_block_device(context),
                       .block = {.context = context, .epoch = atomic_load(&context->epoch)},
                       .free = free_unpinned};
    if (!atomic_exchange(&said, true))
        cx_log(CTXRT_LOG_WARNING, "%s cannot pin memory: plain host memory takes its place",
               cx_context_text(context));
    cx_context_memory_add(context, size_bytes);
    ctxrt_status status = make_host(&model, size_bytes, out_memory);
    if (status != CTXRT_SUCCESS)
        cx_context_memory_drop(context, size_bytes);
    return status;
}

/* After the driver could not pin. */
static ctxrt_status make_unpinned_on_cpu(cx_context *context, size_t size_bytes,
                                         ctxrt_memory **out_memory)
{
    return context->device != NULL && context->device->host_accessible
               ? make_unpinned(context, size_bytes, out_memory)
               : CTXRT_ERROR_NOT_SUPPORTED;
}

static ctxrt_status alloc_pinned(const cx_block_request *request, ctxrt_memory **out_memory)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_named_context named;
    const size_t size_bytes = request->size_bytes;
    cx_memory model = {.kind = CTXRT_MEMORY_PINNED, .pinned = true};
    ctxrt_status status = cx_block_check_request(request->call, size_bytes, out_memory);
    if (status == CTXRT_SUCCESS)
        status = cx_block_alloc(request, &model.block);
    if (status == CTXRT_SUCCESS)
        return cx_memory_make_of_block(&model, out_memory);
    if (status != CTXRT_ERROR_NOT_SUPPORTED)
        return status;
    if (!request->named)
        return cx_stack_enter(&thread, &frame) == CTXRT_SUCCESS
                   ? make_unpinned_on_cpu(cx_frame_context(frame), size_bytes, out_memory)
                   : status;
    if (cx_named_context_enter(request->call, request->context, &named) == CTXRT_SUCCESS) {
        status = make_unpinned_on_cpu(named.context, size_bytes, out_memory);
        cx_named_context_leave(&named);
    }
    return status;
}

ctxrt_status ctxrt_memory_alloc_pinned(size_t size_bytes, ctxrt_memory **out_memory)
{
    const cx_block_request request = {
        "ctxrt_memory_alloc_pinned", size_bytes, cx_allocator_pinned, false, NULL};
    return alloc_pinned(&request, out_memory);
}

ctxrt_status ctxrt_memory_alloc_pinned_on(ctxrt_context *handle, size_t size_bytes,
                                          ctxrt_memory **out_memory)
{
    const cx_block_request request = {
        "ctxrt_memory_alloc_pinned_on", size_bytes, cx_allocator_pinned, true, handle};
    return alloc_pinned(&request, out_memory);
}
