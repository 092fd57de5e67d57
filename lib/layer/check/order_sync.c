/* Calls that order work: events, waits of the host, captures: what ORDER rests on. */
#include "layer/check/order_sync.h"

#include "layer/check/order_graph.h"

#include <stdlib.h>

static cx_order_mark *marks;
static uint64_t last_capture;

/* Graphs have nodes that record events or wait for them; and a launch was submitted of which the
 * driver did not tell what it does. */
static bool graphs_have_events, graphs_untold;

/* ---- marks ---- */

cx_order_mark *cx_order_mark_find(uintptr_t handle)
{
    cx_order_mark *mark;
    HASH_FIND(hh, marks, &handle, sizeof handle, mark);
    return mark;
}

void cx_order_mark_set(uintptr_t handle, cx_stream_clock_kept *clock, uint64_t capture)
{
    cx_order_mark *mark = cx_order_mark_find(handle);
    if (mark == NULL) {
        mark = calloc(1, sizeof *mark);
        if (mark == NULL) {
            cx_region_give_up();
            free(clock);
            return;
        }
        mark->handle = handle;
        bool added = true;
        HASH_ADD(hh, marks, handle, sizeof mark->handle, mark);
        if (!added) {
            cx_region_give_up();
            free(mark);
            free(clock);
            return;
        }
    }
    free(mark->clock);
    mark->clock = clock;
    mark->capture = capture;
}

void cx_order_mark_end(uintptr_t handle)
{
    cx_order_mark *mark = cx_order_mark_find(handle);
    if (mark == NULL)
        return;
    HASH_DEL(marks, mark);
    free(mark->clock);
    free(mark);
}

void cx_order_mark_add(uintptr_t exec, const cx_stream_clock_kept *clock)
{
    cx_order_mark *mark = cx_order_mark_find(exec);
    if (mark == NULL)
        return;
    cx_stream_clock_kept *both = cx_stream_clock_keep_both(mark->clock, clock);
    free(mark->clock);
    mark->clock = both;
}

bool cx_order_graphs_are_untold(void)
{
    return graphs_untold && graphs_have_events;
}

void cx_order_graph_untold(int line)
{
    graphs_untold = true;
    if (graphs_have_events)
        cx_stream_clock_wait_all(line);
}

/* ---- events ---- */

static const cx_object *context_of(CUcontext handle)
{
    return cx_object_find(CX_HANDLE_CONTEXT, (uintptr_t)handle);
}

/* An external record or wait in a captured stream is a node of the graph: it is nothing yet. */
static bool is_node(int line, bool external)
{
    const uint64_t capture = cx_stream_clock_capture(line);
    return external && capture != 0 && capture != CX_ORDER_UNKNOWN;
}

static void record(cx_check_call *call, CUevent event, CUstream stream, bool external)
{
    if (cx_check_failed(call))
        return;
    const int line = cx_stream_clock_line(call, stream);
    const uint64_t capture = cx_stream_clock_capture(line);
    graphs_have_events |= external; /* the call is for captures alone */
    if (is_node(line, external))
        return;
    cx_stream_clock_reach(line);
    cx_order_mark_set((uintptr_t)event,
                      capture == 0 ? cx_stream_clock_keep(cx_stream_clock_of(line)) : NULL,
                      capture);
}

static void recorded(cx_check_call *call)
{
    record(call, CX_CALL(call, event_record)->event, CX_CALL(call, event_record)->stream, false);
}

static void recorded_with_flags(cx_check_call *call)
{
    const cx_arguments_event_record_with_flags *given = CX_CALL(call, event_record_with_flags);
    record(call, given->event, given->stream, (given->flags & CXU_EVENT_RECORD_EXTERNAL) != 0);
}

/* An event that a launch records by an attribute. A launch-completion event may come before the
 * kernel's end; here the event is ordered after the kernel, which leads to no false finding. */
static void recorded_by_launch(cx_check_call *call)
{
    const cxu_launch_config *config = CX_CALL(call, launch_kernel_ex)->config;
    const cxu_launch_attribute *one;
    unsigned int next = 0;
    if (cx_check_failed(call))
        return;
    while ((one = cx_check_launch_event(config, &next)) != NULL)
        record(call, one->value.record.event, config->stream,
               (one->value.record.flags & CXU_EVENT_RECORD_EXTERNAL) != 0);
}

/* A green context's event may be ordered after less; that leads to no false finding. */
static void record_context(cx_check_call *call, CUevent event, const cx_object *context)
{
    if (cx_check_failed(call))
        return;
    cx_order_mark_set((uintptr_t)event, cx_stream_clock_keep_context(context), 0);
}

static void recorded_context(cx_check_call *call)
{
    record_context(call, CX_CALL(call, ctx_record_event)->event,
                   context_of(CX_CALL(call, ctx_record_event)->context));
}

static void recorded_green(cx_check_call *call)
{
    record_context(call, CX_CALL(call, green_ctx_record_event)->event, NULL);
}

/* An event of another process, or one that a graph may have recorded. */
static bool is_unknown(CUevent event)
{
    return cx_order_graphs_are_untold() ||
           cx_object_find(CX_HANDLE_EVENT, (uintptr_t)event) == NULL;
}

cx_stream_clock_kept *cx_order_mark_clock(CUevent event)
{
    const cx_order_mark *mark = cx_order_mark_find((uintptr_t)event);
    if (is_unknown(event))
        return cx_stream_clock_keep_context(NULL);
    return mark != NULL ? cx_stream_clock_keep_both(mark->clock, NULL) : NULL;
}

static void stream_waits(cx_check_call *call)
{
    const cx_arguments_stream_wait_event *given = CX_CALL(call, stream_wait_event);
    if (cx_check_failed(call))
        return;
    const int line = cx_stream_clock_line(call, given->stream);
    const cx_order_mark *mark = cx_order_mark_find((uintptr_t)given->event);
    const bool external = (given->flags & CXU_EVENT_WAIT_EXTERNAL) != 0;
    graphs_have_events |= external;
    if (is_node(line, external))
        return;
    if (is_unknown(given->event))
        cx_stream_clock_wait_all(line);
    else if (mark != NULL && mark->capture != 0)
        cx_stream_clock_set_capture(line, mark->capture);
    else if (mark != NULL)
        cx_stream_clock_wait(line, mark->clock);
}

static void wait_context(cx_check_call *call, CUevent event, const cx_object *context)
{
    const cx_order_mark *mark = cx_order_mark_find((uintptr_t)event);
    if (!cx_check_failed(call) && mark != NULL)
        cx_stream_clock_wait_context(context, mark->clock);
}

static void context_waits(cx_check_call *call)
{
    wait_context(call, CX_CALL(call, ctx_wait_event)->event,
                 context_of(CX_CALL(call, ctx_wait_event)->context));
}

static void green_waits(cx_check_call *call)
{
    wait_context(call, CX_CALL(call, green_ctx_wait_event)->event, NULL);
}

/* Before the call: after it another thread's event or graph may have the handle already. */
static void event_ends(cx_check_call *call)
{
    cx_order_mark_end((uintptr_t)CX_CALL(call, event_destroy)->event);
}

static void exec_ends(cx_check_call *call)
{
    cx_order_mark_end((uintptr_t)CX_CALL(call, graph_exec_destroy)->exec);
    cx_order_graph_end((uintptr_t)CX_CALL(call, graph_exec_destroy)->exec);
}

static void graph_gets_event(cx_check_call *call)
{
    graphs_have_events |= !cx_check_failed(call);
}

static void graph_gets_node(cx_check_call *call, const cxu_graph_node_params *params)
{
    if (params != NULL && (params->type == CXU_GRAPH_NODE_TYPE_EVENT_RECORD ||
                           params->type == CXU_GRAPH_NODE_TYPE_WAIT_EVENT))
        graph_gets_event(call);
}

static void graph_gets_node_v1(cx_check_call *call)
{
    graph_gets_node(call, CX_CALL(call, graph_add_node_v1)->params);
}

static void graph_gets_node_v2(cx_check_call *call)
{
    graph_gets_node(call, CX_CALL(call, graph_add_node)->params);
}

/* ---- the host waits ---- */

static void host_waits_for_event(cx_check_call *call, CUevent event)
{
    const cx_order_mark *mark = cx_order_mark_find((uintptr_t)event);
    if (call->result != CXU_SUCCESS)
        return;
    if (is_unknown(event))
        cx_stream_clock_host_wait_all();
    else if (mark != NULL)
        cx_stream_clock_host_wait(mark->clock);
}

static void event_synchronized(cx_check_call *call)
{
    host_waits_for_event(call, CX_CALL(call, event_synchronize)->event);
}

static void event_queried(cx_check_call *call)
{
    host_waits_for_event(call, CX_CALL(call, event_query)->event);
}

static void event_timed(cx_check_call *call)
{
    host_waits_for_event(call, CX_CALL(call, event_elapsed_time)->start);
    host_waits_for_event(call, CX_CALL(call, event_elapsed_time)->end);
}

static void event_timed_v2(cx_check_call *call)
{
    host_waits_for_event(call, CX_CALL(call, event_elapsed_time_v2)->start);
    host_waits_for_event(call, CX_CALL(call, event_elapsed_time_v2)->end);
}

/* The legacy stream is ordered after the blocking streams; another one is not ordered after later
 * legacy work. */
static void host_waits_for_stream(cx_check_call *call, CUstream stream)
{
    if (call->result != CXU_SUCCESS)
        return;
    const int line = cx_stream_clock_line(call, stream);
    if (cx_check_named(call, stream) == CXU_STREAM_LEGACY)
        cx_stream_clock_reach(line);
    cx_stream_clock_host_wait_line(line);
}

static void stream_synchronized(cx_check_call *call)
{
    host_waits_for_stream(call, CX_CALL(call, stream_synchronize)->stream);
}

static void stream_queried(cx_check_call *call)
{
    host_waits_for_stream(call, CX_CALL(call, stream_query)->stream);
}

static void context_synchronized(cx_check_call *call)
{
    cx_check_context_waited(call);
    if (!cx_check_failed(call))
        cx_stream_clock_host_wait_context(cx_check_context(call));
}

static void context_synchronized_v2(cx_check_call *call)
{
    cx_check_context_waited(call);
    if (!cx_check_failed(call))
        cx_stream_clock_host_wait_context(context_of(CX_CALL(call, ctx_synchronize_v2)->context));
}

/* The end of a context waits for its work. Before the call too: after it another thread may have
 * memory anew that was in the context. */
static void context_ends(cx_check_call *call)
{
    (void)call;
    cx_stream_clock_host_wait_all();
}

/* The program's own code runs after the work, and may tell any thread. */
static void host_is_told(cx_check_call *call, CUstream stream)
{
    if (cx_check_failed(call))
        return;
    const int line = cx_stream_clock_line(call, stream);
    if (cx_stream_clock_capture(line) != 0)
        return;
    cx_stream_clock_reach(line);
    cx_stream_clock_host_wait_line(line);
}

#define TELLS_HOST(slot)                                     \
    static void told_by_##slot(cx_check_call *call)          \
    {                                                        \
        host_is_told(call, CX_CALL(call, slot)->stream);     \
    }
TELLS_HOST(launch_host_func)
TELLS_HOST(launch_host_func_v2)
TELLS_HOST(stream_add_callback)
TELLS_HOST(stream_write_value_32)
TELLS_HOST(stream_write_value_64)

/* Later work is ordered after the work that writes the value. */
#define WAITS_FOR_VALUE(slot)                                                                    \
    static void value_##slot(cx_check_call *call)                                                \
    {                                                                                            \
        if (!cx_check_failed(call))                                                              \
            cx_stream_clock_set_capture(cx_stream_clock_line(call, CX_CALL(call, slot)->stream), \
                                        CX_ORDER_UNKNOWN);                                       \
    }
WAITS_FOR_VALUE(stream_wait_value_32)
WAITS_FOR_VALUE(stream_wait_value_64)
WAITS_FOR_VALUE(stream_batch_mem_op)

/* ---- streams and captures ---- */

static void stream_ends(cx_check_call *call)
{
    cx_stream_clock_line_end(CX_CALL(call, stream_destroy)->stream);
}

static void capture_begun(cx_check_call *call, CUstream stream)
{
    if (!cx_check_failed(call))
        cx_stream_clock_set_capture(cx_stream_clock_line(call, stream), ++last_capture);
}

#define BEGINS_CAPTURE(slot)                                \
    static void begun_by_##slot(cx_check_call *call)        \
    {                                                       \
        capture_begun(call, CX_CALL(call, slot)->stream);   \
    }
BEGINS_CAPTURE(stream_begin_capture_v1)
BEGINS_CAPTURE(stream_begin_capture)
BEGINS_CAPTURE(stream_begin_capture_to_graph)

static void capture_ended(cx_check_call *call)
{
    if (!cx_check_failed(call) || call->result == CXU_STREAM_CAPTURE_UNJOINED ||
        call->result == CXU_STREAM_CAPTURE_INVALIDATED)
        cx_stream_clock_end_capture(cx_stream_clock_capture(
            cx_stream_clock_line(call, CX_CALL(call, stream_end_capture)->stream)));
}

#define AFTER(slot, hook) [CX_SLOT_##slot] = {NULL, hook},
#define AROUND(slot, hook) [CX_SLOT_##slot] = {hook, hook},
#define BEFORE(slot, hook) [CX_SLOT_##slot] = {hook, NULL},
const cx_check_hooks cx_check_order_sync[CX_SLOT_COUNT] = {
    AFTER(event_record, recorded)
    AFTER(event_record_with_flags, recorded_with_flags)
    AFTER(ctx_record_event, recorded_context)
    AFTER(green_ctx_record_event, recorded_green)
    AFTER(launch_kernel_ex, recorded_by_launch)
    AFTER(stream_wait_event, stream_waits)
    AFTER(ctx_wait_event, context_waits)
    AFTER(green_ctx_wait_event, green_waits)
    BEFORE(event_destroy, event_ends)
    BEFORE(graph_exec_destroy, exec_ends)
    AFTER(graph_add_event_record_node, graph_gets_event)
    AFTER(graph_add_event_wait_node, graph_gets_event)
    AFTER(graph_add_node_v1, graph_gets_node_v1)
    AFTER(graph_add_node, graph_gets_node_v2)
    AFTER(event_synchronize, event_synchronized)
    AFTER(event_query, event_queried)
    AFTER(event_elapsed_time, event_timed)
    AFTER(event_elapsed_time_v2, event_timed_v2)
    AFTER(stream_synchronize, stream_synchronized)
    AFTER(stream_query, stream_queried)
    AFTER(ctx_synchronize, context_synchronized)
    AFTER(ctx_synchronize_v2, context_synchronized_v2)
    AROUND(ctx_destroy, context_ends)
    AROUND(primary_release, context_ends)
    AROUND(primary_reset, context_ends)
    AFTER(launch_host_func, told_by_launch_host_func)
    AFTER(launch_host_func_v2, told_by_launch_host_func_v2)
    AFTER(stream_add_callback, told_by_stream_add_callback)
    AFTER(stream_write_value_32, told_by_stream_write_value_32)
    AFTER(stream_write_value_64, told_by_stream_write_value_64)
    AFTER(stream_wait_value_32, value_stream_wait_value_32)
    AFTER(stream_wait_value_64, value_stream_wait_value_64)
    AFTER(stream_batch_mem_op, value_stream_batch_mem_op)
    BEFORE(stream_destroy, stream_ends)
    AFTER(stream_begin_capture_v1, begun_by_stream_begin_capture_v1)
    AFTER(stream_begin_capture, begun_by_stream_begin_capture)
    AFTER(stream_begin_capture_to_graph, begun_by_stream_begin_capture_to_graph)
    AFTER(stream_end_capture, capture_ended)
};
