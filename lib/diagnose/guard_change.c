/* Changes of the debug mode of pinned memory, while none of it is live. */
#include "base/error.h"
#include "diagnose/watch.h"

static ctxrt_status change_debug(cx_allocator *allocator, const ctxrt_allocator_debug *debug,
                                 bool wanted)
{
    ctxrt_status status = CTXRT_SUCCESS;
    if (cx_guard_of(allocator) != NULL)
        status = cx_guard_leave(allocator);
    if (status == CTXRT_SUCCESS && wanted)
        status = cx_guard_open(allocator, debug);
    return status;
}

ctxrt_status ctxrt_allocator_set_debug(ctxrt_allocator *handle,
                                       const ctxrt_allocator_debug *options)
{
    cx_allocator *allocator;
    ctxrt_allocator_debug debug;
    bool wanted;
    uint64_t live;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (handle == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_set_debug: allocator is NULL");
    status = cx_allocator_resolve(handle, &allocator);
    if (status == CTXRT_SUCCESS && allocator->pinned == NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_set_debug: the allocator is of device memory: "
                        "ctxrt_allocator_create sets its debug mode");
    if (status == CTXRT_SUCCESS)
        status = cx_guard_choose("ctxrt_allocator_set_debug", options, &debug, &wanted);
    if (status != CTXRT_SUCCESS)
        return status;
    if (!cx_allocator_close_requests(allocator, &live))
        return cx_error(CTXRT_ERROR_IN_USE,
                        "the pinned memory of %s is in use: %llu piece%s of it %s live",
                        cx_context_text(allocator->context), (unsigned long long)live,
                        live == 1 ? "" : "s", live == 1 ? "is" : "are");
    status = change_debug(allocator, &debug, wanted);
    cx_allocator_open_requests(allocator);
    return status;
}
