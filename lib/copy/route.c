#include "copy/route.h"

#include "base/error.h"
#include "memory/memory.h"
#include "work/asking.h"
#include "work/uncaptured.h"

static ctxrt_status divert(const cx_pointer_view *end, cx_route *route)
{
    cx_context *context;
    ctxrt_status status =
        CX_DRIVER_CALL(route->target.driver, stream_synchronize, (route->target.native));
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_context(end, &context);
    if (status == CTXRT_SUCCESS) {
        route->target = (cx_stream_target){.driver = end->driver,
                                           .context = context,
                                           .epoch = atomic_load(&context->epoch),
                                           .stream = CTXRT_STREAM_LEGACY,
                                           .native = CXU_STREAM_LEGACY};
        route->wait = true;
    }
    return status;
}

/* Whether the stream's device cannot do the work: the memory is another driver's, or mapped, and
 * not for that device. */
static bool is_out_of_reach(const cx_pointer_view *end, const cx_stream_target *target)
{
    const cx_device *device = target->context->device;
    if (end->driver != target->driver)
        return true;
    return end->block.mapped && device != end->device &&
           (device == NULL || device->native < 0 || device->native >= CX_CONTEXT_PEERS ||
            atomic_load(&end->block.context->reached_by[device->native]) == 0);
}

/* A stream of the calling thread's top frame, whose context the driver has said is current. */
static ctxrt_status resolve_in_frame(const ctxrt_stream *stream, cx_stream_target *out_target)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    if (stream == NULL)
        return cx_stream_of_frame(thread, frame, out_target);
    *out_target = cx_stream_legacy_of(cx_frame_context(frame));
    return CTXRT_SUCCESS;
}

ctxrt_status cx_route_begin(ctxrt_stream *stream, const cx_pointer_view *end, cx_route *out_route)
{
    bool current = stream == NULL || stream == CTXRT_STREAM_LEGACY;
    out_route->wait = out_route->asking = false;
    out_route->stream = stream;
    out_route->touched[0] = out_route->touched[1] = NULL;
    ctxrt_status status = current ? resolve_in_frame(stream, &out_route->target)
                                  : cx_stream_resolve(stream, &out_route->target);
    if (status != CTXRT_SUCCESS)
        return status;
    if (end != NULL && is_out_of_reach(end, &out_route->target)) {
        current = false;
        status = divert(end, out_route);
    }
    out_route->excursion.native = NULL;
    return status == CTXRT_SUCCESS && !current
               ? cx_excursion_begin(out_route->target.context, &out_route->excursion)
               : status;
}

/* ---- pinned memory ---- */

/* What a graph that is being captured uses must stay as long as that does: no mark could say so. */
static bool begin_asking(cx_route *route)
{
    const cx_stream_target *target = &route->target;
    if (!route->asking)
        route->asking = cx_asking_begin(target->driver, target->native);
    return route->asking || target->driver->missing[CX_SLOT_stream_is_capturing];
}

void cx_route_touch(cx_route *route, const cx_pointer_view *view)
{
    if (view->block.piece != 0 && view->kind == CTXRT_MEMORY_PINNED && !route->wait &&
        begin_asking(route))
        route->touched[route->touched[0] != NULL] =
            cx_memory_take_piece(view->block.piece, view->block.generation);
}

/* False: a mark could not be left behind the work. */
static bool mark_touched(const cx_route *route)
{
    bool marked = true;
    cx_error_saved saved;
    if (route->touched[0] == NULL)
        return true;
    cx_error_save(&saved);
    for (int i = 0; i < 2 && route->touched[i] != NULL; i++)
        marked &= cx_memory_use(route->touched[i], route->stream) == CTXRT_SUCCESS;
    cx_error_restore(&saved);
    return marked;
}

/* The caller has not asked for that: a capture of another stream must not end by it. */
static void wait_instead(const cx_stream_target *target)
{
    cx_uncaptured uncaptured = cx_uncaptured_begin(target->driver);
    (void)target->driver->table.stream_synchronize(target->native);
    cx_uncaptured_end(&uncaptured);
}

ctxrt_status cx_route_end(cx_route *route, ctxrt_status status, bool wait)
{
    const cx_stream_target *target = &route->target;
    bool waits = status == CTXRT_SUCCESS && (wait || route->wait);
    bool marked = waits || mark_touched(route);
    if (route->asking)
        cx_asking_end(target->native);
    if (waits)
        status = CX_DRIVER_CALL(target->driver, stream_synchronize, (target->native));
    else if (!marked)
        wait_instead(target);
    for (int i = 0; i < 2 && route->touched[i] != NULL; i++)
        cx_memory_give(route->touched[i]);
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
