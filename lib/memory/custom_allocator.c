/* The user's own allocators. */
#include "base/error.h"
#include "base/log.h"
#include "context/context_guard.h"
#include "memory/block.h"

static ctxrt_status alloc_custom(cx_allocator *allocator, const cx_allocation *request,
                                 cx_block *block)
{
    void *pointer = NULL;
    ctxrt_status status = allocator->vtable.alloc(allocator->user_data, request->size_bytes,
                                                  request->stream, &pointer);
    if (status != CTXRT_SUCCESS)
        return cx_error(status, "the custom allocator of %s refused %zu bytes: %s",
                        cx_context_text(request->context), request->size_bytes,
                        ctxrt_status_text(status));
    if (pointer == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "the custom allocator of %s reported success but gave NULL for %zu bytes",
                        cx_context_text(request->context), request->size_bytes);
    block->pointer = pointer;
    return CTXRT_SUCCESS;
}

static ctxrt_status free_memory(cx_allocator *allocator, const cx_block *block)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(block->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = allocator->vtable.free(allocator->user_data, block->pointer, block->size_bytes);
    cx_context_guard_leave(&guard);
    if (status != CTXRT_SUCCESS)
        return cx_error(status, "the custom allocator of %s failed to free %zu bytes at %p: %s",
                        cx_context_text(block->context), block->size_bytes, block->pointer,
                        ctxrt_status_text(status));
    return CTXRT_SUCCESS;
}

static void destroy_custom(cx_allocator *allocator)
{
    cx_context_guard guard;
    if (allocator->vtable.destroy == NULL)
        return;
    bool current = cx_context_guard_enter(allocator->context, &guard) == CTXRT_SUCCESS;
    if (!current)
        cx_log(CTXRT_LOG_WARNING, "a custom allocator is destroyed without its %s: %s",
               cx_context_text(allocator->context), ctxrt_last_error()->message);
    allocator->vtable.destroy(allocator->user_data);
    if (current)
        cx_context_guard_leave(&guard);
}

static const cx_allocator_kind custom_allocator = {
    .alloc = alloc_custom, .free = free_memory, .destroy = destroy_custom};

static ctxrt_status check_vtable(const ctxrt_allocator_vtable *vtable,
                                 ctxrt_allocator **out_allocator)
{
    if (vtable == NULL || out_allocator == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_create_custom: %s is NULL",
                        vtable == NULL ? "vtable" : "out_allocator");
    if (vtable->struct_size != sizeof *vtable)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_create_custom: struct_size is %zu, not %zu",
                        vtable->struct_size, sizeof *vtable);
    if (vtable->alloc == NULL || vtable->free == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_allocator_create_custom: vtable->%s is NULL",
                        vtable->alloc == NULL ? "alloc" : "free");
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_allocator_create_custom(const ctxrt_allocator_vtable *vtable, void *user_data,
                                           ctxrt_allocator **out_allocator)
{
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_vtable(vtable, out_allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_allocator model = {
        .kind = &custom_allocator, .vtable = *vtable, .user_data = user_data};
    return cx_allocator_make(&model, out_allocator);
}
