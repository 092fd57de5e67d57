#include "context/named.h"

#include "base/error.h"
#include "context/stack.h"

static ctxrt_status enter_target(const ctxrt_context *handle, cx_named_context *out_named)
{
    cx_thread *thread;
    cx_target target;
    ctxrt_status status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_context(handle, &target);
    if (status == CTXRT_SUCCESS)
        status = cx_target_enter(&target);
    if (status == CTXRT_SUCCESS)
        out_named->context = target.context;
    return status;
}

ctxrt_status cx_named_context_enter(const char *call, const ctxrt_context *handle,
                                    cx_named_context *out_named)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (handle == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: the context is NULL", call);
    status = enter_target(handle, out_named);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_context_guard_enter(out_named->context, &out_named->guard);
    if (status == CTXRT_SUCCESS)
        return CTXRT_SUCCESS;
    status = cx_context_map_error(out_named->context, "context", status);
    cx_section_leave();
    return status;
}

void cx_named_context_leave(cx_named_context *named)
{
    cx_context_guard_leave(&named->guard);
    cx_section_leave();
}
