#include "context/context_guard.h"

#include "base/error.h"
#include "context/driver_stack_entry.h"

ctxrt_status cx_context_guard_enter(const cx_context *context, cx_context_guard *out_guard)
{
    *out_guard = (cx_context_guard){.driver = context->driver};
    ctxrt_status status = CX_DRIVER_CALL(context->driver, ctx_get_current, (&out_guard->previous));
    if (status != CTXRT_SUCCESS || out_guard->previous == context->native)
        return status;
    status = CX_DRIVER_CALL(context->driver, ctx_push, (context->native));
    if (status != CTXRT_SUCCESS &&
        !cx_driver_stack_entry_is_made(context->driver, context->native, out_guard->previous))
        return status;
    out_guard->native = context->native;
    return CTXRT_SUCCESS;
}

void cx_context_guard_leave(cx_context_guard *guard)
{
    if (guard->native != NULL)
        (void)cx_driver_stack_entry_remove(guard->driver, guard->previous);
    guard->native = NULL;
}
