/* Host memory, plain and pinned. */
#include "base/error.h"
#include "base/log.h"
#include "context/excursion.h"
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

static ctxrt_status free_native(const cx_context *context, void *pointer)
{
    cx_excursion excursion;
    ctxrt_status status = cx_excursion_begin(context, &excursion);
    if (status == CTXRT_SUCCESS) {
        status = cx_block_check_freed(context, CX_SLOT_mem_free_host,
                                      context->driver->table.mem_free_host(pointer));
        cx_excursion_end(&excursion);
    }
    return status;
}

/* Counted as an object of its context until it is freed; that memory that was not pinned is so
 * too. */
static ctxrt_status free_pinned(cx_memory *memory)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_context *context = memory->block.context;
    if (memory->allocated != NULL)
        free(memory->allocated);
    else if (cx_context_holds_what_is_of(context, memory->block.epoch))
        status = free_native(context, memory->block.pointer);
    cx_context_memory_drop(context, memory->block.size_bytes);
    return status;
}

/* A device that is the host itself reaches all of its memory: unpinned memory does as well. */
static ctxrt_status make_unpinned(cx_memory *model, size_t size_bytes, ctxrt_memory **out_memory)
{
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        cx_log(CTXRT_LOG_WARNING, "%s cannot pin memory: plain host memory takes its place",
               cx_context_text(model->block.context));
    return make_host(model, size_bytes, out_memory);
}

static ctxrt_status make_pinned(cx_memory *model, size_t size_bytes, ctxrt_memory **out_memory)
{
    const cx_context *context = model->block.context;
    ctxrt_status status =
        CX_DRIVER_CALL(context->driver, mem_host_alloc,
                       (&model->block.pointer, size_bytes, CXU_MEMHOSTALLOC_PORTABLE));
    if (status == CTXRT_ERROR_NOT_SUPPORTED && context->device != NULL &&
        context->device->host_accessible)
        return make_unpinned(model, size_bytes, out_memory);
    if (status != CTXRT_SUCCESS)
        return status;
    model->pinned = true;
    model->block.size_bytes = size_bytes;
    status = cx_memory_make(model, model->block.pointer, out_memory);
    if (status != CTXRT_SUCCESS)
        (void)context->driver->table.mem_free_host(model->block.pointer);
    return status;
}

ctxrt_status ctxrt_memory_alloc_pinned(size_t size_bytes, ctxrt_memory **out_memory)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status =
        cx_block_check_request("ctxrt_memory_alloc_pinned", size_bytes, out_memory);
    if (status == CTXRT_SUCCESS)
        status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_context *context = cx_frame_context(frame);
    /* The epoch is read first: a reset that comes between makes the memory stale, not dangling. */
    cx_memory model = {.device = cx_block_device(context),
                       .kind = CTXRT_MEMORY_PINNED,
                       .block = {.context = context, .epoch = atomic_load(&context->epoch)},
                       .free = free_pinned};
    cx_context_memory_add(context, size_bytes);
    status = make_pinned(&model, size_bytes, out_memory);
    if (status != CTXRT_SUCCESS)
        cx_context_memory_drop(context, size_bytes);
    return status;
}
