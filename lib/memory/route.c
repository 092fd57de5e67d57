#include "memory/route.h"

#include "base/error.h"

static ctxrt_status divert(const cx_pointer_view *end, cx_route *route)
{
    cx_context *context;
    ctxrt_status status =
        CX_DRIVER_CALL(route->target.driver, stream_synchronize, (route->target.native));
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_context(end, &context);
    if (status == CTXRT_SUCCESS) {
        route->target = (cx_stream_target){end->driver, context, CXU_STREAM_LEGACY};
        route->wait = true;
    }
    return status;
}

ctxrt_status cx_route_begin(ctxrt_stream *stream, const cx_pointer_view *end, cx_route *out_route)
{
    out_route->wait = false;
    ctxrt_status status = cx_stream_resolve(stream, &out_route->target);
    if (status == CTXRT_SUCCESS && end != NULL && end->driver != out_route->target.driver)
        status = divert(end, out_route);
    if (status == CTXRT_SUCCESS)
        status = cx_excursion_begin(out_route->target.context, &out_route->excursion);
    return status;
}

ctxrt_status cx_route_end(cx_route *route, ctxrt_status status, bool wait)
{
    if (status == CTXRT_SUCCESS && (wait || route->wait))
        status = CX_DRIVER_CALL(route->target.driver, stream_synchronize, (route->target.native));
    cx_excursion_end(&route->excursion);
    return status;
}

bool cx_route_wanted(const ctxrt_stream *stream)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_error_saved saved;
    if (stream != NULL)
        return true;
    cx_error_save(&saved);
    bool wanted = cx_stack_enter(&thread, &frame) != CTXRT_ERROR_NO_DEVICE;
    cx_error_restore(&saved);
    return wanted;
}
