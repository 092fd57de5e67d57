#include "copy/route.h"

#include "base/error.h"
#include "context/peer_mapping_access.h"
#include "copy/cross_copy.h"
#include "copy/staging.h"
#include "memory/memory.h"
#include "memory/peer_use.h"
#include "work/capture_gate.h"
#include "work/relaxed_capture.h"
#include "work/work.h"

/* Diverts to a stream that is chosen once the context of the memory is current. */
static ctxrt_status divert_route(const cx_pointer_view *end, cx_route *route)
{
    cx_context *context;
    ctxrt_status status =
        CX_DRIVER_CALL(route->target.driver, stream_synchronize, (route->target.native));
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_context(end, &context);
    if (status == CTXRT_SUCCESS) {
        route->target = (cx_stream_target){
            .driver = end->driver, .context = context, .epoch = atomic_load(&context->epoch)};
        route->wait = true;
    }
    return status;
}

/* True if the stream's device can do the work: the memory is its driver's, and not mapped for other
 * devices only. */
static bool reach_end(const cx_pointer_view *end, cx_route *route)
{
    cx_device *device = route->target.context->device;
    cx_copy_pins *pins = &route->pins;
    if (end->driver != route->target.driver)
        return false;
    if (!end->block.mapped || device == end->device)
        return true;
    if (!cx_peer_mapping_enter(end->block.context, device))
        return false;
    pins->reached[pins->reached_count++] = end->block.context;
    return true;
}

/* If both ends are mapped and of one device, either will do; that device reaches both. */
static const cx_pointer_view *find_out_of_reach(const cx_pointer_view *end,
                                                const cx_pointer_view *destination,
                                                const cx_pointer_view *source, cx_route *route)
{
    const cx_pointer_view *const all[] = {end, destination, source};
    for (int i = 0; end != NULL && i < 3; i++)
        if (all[i] != NULL && all[i]->driver == end->driver && all[i]->device == end->device &&
            !reach_end(all[i], route))
            return all[i];
    return NULL;
}

/* ---- pins ---- */

/* Copies of up to so many bytes are over before a pin would pay. */
#define BRIEF_BYTES ((size_t)16 << 10)

static bool is_live(const cx_pointer_view *end)
{
    return end != NULL && end->block.state == CX_POINTER_LIVE;
}

/* In a section. */
static ctxrt_status pin_end(const cx_pointer_view *end, cx_copy_pins *pins)
{
    if (!is_live(end))
        return CTXRT_SUCCESS;
    cx_context *context = end->block.context;
    if (!end->block.stays && end->block.epoch != atomic_load(&context->epoch))
        return cx_block_overtaken(context);
    if (pins->entered)
        return CTXRT_SUCCESS;
    cx_context_pin(context);
    pins->contexts[pins->count++] = context;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_copy_pin(const ctxrt_stream *stream, const cx_pointer_view *destination,
                         const cx_pointer_view *source, cx_stream_target *out_target,
                         cx_copy_pins *out_pins)
{
    ctxrt_status status = cx_work_begin(stream, out_target);
    if (status != CTXRT_SUCCESS)
        return status;
    out_pins->cancel = cx_cancel_hold();
    out_pins->contexts[0] = out_target->context;
    out_pins->count = 1;
    out_pins->reached_count = 0;
    out_pins->entered = false;
    cx_context_pin(out_target->context);
    status = pin_end(destination, out_pins);
    if (status == CTXRT_SUCCESS)
        status = pin_end(source, out_pins);
    cx_work_end();
    if (status != CTXRT_SUCCESS)
        cx_copy_unpin(out_pins);
    return status;
}

ctxrt_status cx_copy_pin_ends(const cx_pointer_view *destination, const cx_pointer_view *source,
                              size_t bytes, cx_copy_pins *out_pins)
{
    cx_thread *thread;
    bool live = is_live(destination) || is_live(source);
    out_pins->count = out_pins->reached_count = 0;
    out_pins->entered = live && bytes <= BRIEF_BYTES;
    out_pins->cancel = out_pins->entered ? 0 : cx_cancel_hold();
    if (!live)
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS) {
        cx_section_enter();
        status = pin_end(destination, out_pins);
        if (status == CTXRT_SUCCESS)
            status = pin_end(source, out_pins);
        if (status != CTXRT_SUCCESS || !out_pins->entered)
            cx_section_leave();
    }
    if (status != CTXRT_SUCCESS && !out_pins->entered)
        cx_copy_unpin(out_pins);
    return status;
}

void cx_copy_unpin(const cx_copy_pins *pins)
{
    if (pins->entered) {
        cx_section_leave();
        return;
    }
    for (int i = 0; i < pins->reached_count; i++)
        cx_peer_mapping_leave(pins->reached[i]);
    for (int i = 0; i < pins->count; i++)
        cx_context_unpin(pins->contexts[i]);
    cx_cancel_restore(pins->cancel);
}

/* ---- uses of memory ---- */

/* Memory used by a graph that is being captured must live as long as the graph: no event could say
 * that. */
static bool enter_gate(cx_route *route)
{
    const cx_stream_target *target = &route->target;
    if (!route->gate_entered)
        route->gate_entered = cx_capture_gate_enter(target->driver, target->native);
    return route->gate_entered || target->driver->missing[CX_SLOT_stream_is_capturing];
}

static void touch_memory(cx_route *route, const cx_pointer_view *view)
{
    bool pinned = view != NULL && view->block.cached != 0 && view->kind == CTXRT_MEMORY_PINNED;
    if (pinned && !route->wait && enter_gate(route))
        route->touched[route->touched[0] != NULL] =
            cx_memory_take_cached(view->block.cached, view->block.generation);
}

void cx_route_touch(cx_route *route, const cx_pointer_view *destination,
                    const cx_pointer_view *source)
{
    touch_memory(route, destination);
    touch_memory(route, source);
}

/* ---- beginning and ending ---- */

static ctxrt_status begin_route(ctxrt_stream *stream, const cx_pointer_view *end, bool divert,
                                const cx_pointer_view *destination, const cx_pointer_view *source,
                                cx_route *out_route)
{
    bool current = stream == NULL || stream == CTXRT_STREAM_LEGACY;
    out_route->wait = out_route->gate_entered = false;
    out_route->touched[0] = out_route->touched[1] = NULL;
    ctxrt_status status =
        cx_copy_pin(stream, destination, source, &out_route->target, &out_route->pins);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_pointer_view *far =
        divert ? end : find_out_of_reach(end, destination, source, out_route);
    if (far != NULL) {
        current = false;
        status = divert_route(far, out_route);
    }
    out_route->guard.native = NULL;
    if (status == CTXRT_SUCCESS && !current)
        status = cx_context_guard_enter(out_route->target.context, &out_route->guard);
    /* The legacy stream would end captures of the context's blocking streams. */
    if (status == CTXRT_SUCCESS && far != NULL) {
        cx_cross_copy_watch_contexts();
        status = cx_staging_stream(out_route->target.context, &out_route->target.native);
    }
    if (status != CTXRT_SUCCESS) {
        cx_context_guard_leave(&out_route->guard);
        cx_copy_unpin(&out_route->pins);
    }
    return status;
}

ctxrt_status cx_route_begin(ctxrt_stream *stream, const cx_pointer_view *end,
                            const cx_pointer_view *destination, const cx_pointer_view *source,
                            cx_route *out_route)
{
    return begin_route(stream, end, false, destination, source, out_route);
}

ctxrt_status cx_route_begin_at(ctxrt_stream *stream, const cx_pointer_view *end,
                               cx_route *out_route)
{
    return begin_route(stream, end, true, end, NULL, out_route);
}

static bool is_of_peer(const cx_route *route, int i)
{
    return route->pins.contexts[i] != route->target.context;
}

static bool uses_peer(const cx_route *route)
{
    bool any = false;
    for (int i = 1; i < route->pins.count; i++)
        any |= is_of_peer(route, i);
    return any;
}

/* A reset of the other context waits for the work. The gate is entered late, since the work may be
 * of pageable memory, for which the driver waits. False: no event could be recorded. */
static bool record_peers(cx_route *route)
{
    bool recorded = true;
    if (!uses_peer(route) || !enter_gate(route))
        return true;
    for (int i = 1; i < route->pins.count; i++)
        if (is_of_peer(route, i))
            recorded &= cx_peer_use_record(route->pins.contexts[i], &route->target);
    return recorded;
}

/* False: no event could be recorded behind the work. */
static bool record_touched(const cx_route *route)
{
    bool recorded = true;
    cx_error_saved saved;
    if (route->touched[0] == NULL)
        return true;
    cx_error_save(&saved);
    for (int i = 0; i < 2 && route->touched[i] != NULL; i++)
        recorded &= cx_memory_use(route->touched[i], &route->target) == CTXRT_SUCCESS;
    cx_error_restore(&saved);
    return recorded;
}

/* A wait that the caller has not asked for: it must not end a capture of another stream. */
static void wait_instead(const cx_stream_target *target)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(target->driver);
    (void)target->driver->table.stream_synchronize(target->native);
    cx_relaxed_capture_end(&relaxed);
}

ctxrt_status cx_route_end(cx_route *route, ctxrt_status status, bool wait)
{
    const cx_stream_target *target = &route->target;
    bool waits = status == CTXRT_SUCCESS && (wait || route->wait);
    bool recorded = true;
    if (!waits) {
        recorded = record_touched(route);
        recorded = record_peers(route) && recorded;
    }
    if (route->gate_entered)
        cx_capture_gate_leave(target->native);
    if (waits)
        status = CX_DRIVER_CALL(target->driver, stream_synchronize, (target->native));
    else if (!recorded)
        wait_instead(target);
    for (int i = 0; i < 2 && route->touched[i] != NULL; i++)
        cx_memory_give(route->touched[i]);
    cx_context_guard_leave(&route->guard);
    cx_copy_unpin(&route->pins);
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
