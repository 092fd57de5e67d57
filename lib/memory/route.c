#include "memory/route.h"

#include "base/error.h"
#include "memory/memory.h"

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
    out_route->stream = stream;
    out_route->touched[0] = out_route->touched[1] = NULL;
    ctxrt_status status = cx_stream_resolve(stream, &out_route->target);
    if (status == CTXRT_SUCCESS && end != NULL && end->driver != out_route->target.driver)
        status = divert(end, out_route);
    if (status == CTXRT_SUCCESS)
        status = cx_excursion_begin(out_route->target.context, &out_route->excursion);
    return status;
}

/* ---- pinned memory ---- */

void cx_route_touch(cx_route *route, const cx_pointer_view *view, const void *pointer)
{
    if (view->driver != NULL && view->kind == CTXRT_MEMORY_PINNED)
        route->touched[route->touched[0] != NULL] = cx_memory_take_at(pointer);
}

/* What a graph that is being captured uses must stay as long as that does: no mark could say so. */
static bool is_capturing(const cx_stream_target *target)
{
    cxu_stream_capture_status state = CXU_STREAM_CAPTURE_STATUS_NONE;
    return target->driver->table.stream_is_capturing(target->native, &state) == CXU_SUCCESS &&
           state != CXU_STREAM_CAPTURE_STATUS_NONE;
}

/* The work was submitted: where no mark can be left behind it, it is waited for. */
static void mark(const cx_route *route, ctxrt_memory *memory)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    if (cx_memory_use(memory, route->stream) != CTXRT_SUCCESS)
        (void)route->target.driver->table.stream_synchronize(route->target.native);
    cx_error_restore(&saved);
}

static void end_touches(cx_route *route, bool done)
{
    if (route->touched[0] == NULL)
        return;
    bool marked = !done && !route->wait && !is_capturing(&route->target);
    for (int i = 0; i < 2 && route->touched[i] != NULL; i++) {
        if (marked)
            mark(route, route->touched[i]);
        cx_memory_give(route->touched[i]);
    }
}

ctxrt_status cx_route_end(cx_route *route, ctxrt_status status, bool wait)
{
    bool waits = status == CTXRT_SUCCESS && (wait || route->wait);
    if (waits)
        status = CX_DRIVER_CALL(route->target.driver, stream_synchronize, (route->target.native));
    end_touches(route, waits && status == CTXRT_SUCCESS);
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
