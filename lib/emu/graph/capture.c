#include "emu/graph/capture.h"
#include "emu/base/state.h"
#include <stdlib.h>
#include <string.h>

static uint64_t last_id;

/* ---- branches ---- */

static cx_emu_branch *add_branch(cx_emu_capture *capture, cx_emu_stream *stream)
{
    cx_emu_branch *branch = calloc(1, sizeof *branch);

    if (branch == NULL)
        return NULL;
    branch->capture = capture;
    branch->stream = stream;
    branch->next = capture->branches;
    capture->branches = branch;
    stream->branch = branch;
    return branch;
}

static void free_branch(cx_emu_branch *branch)
{
    if (branch->stream != NULL)
        branch->stream->branch = NULL;
    cx_emu_nodes_free(&branch->frontier);
    free(branch->handles);
    free(branch->edges);
    free(branch);
}

static bool add_to_frontier(cx_emu_nodes *frontier, const cx_emu_nodes *more)
{
    if (!cx_emu_nodes_reserve(frontier, more->count))
        return false;
    for (size_t i = 0; i < more->count; i++)
        if (!cx_emu_nodes_have(frontier, more->items[i]))
            cx_emu_nodes_put(frontier, more->items[i]);
    return true;
}

/* ---- calls of capturing streams ---- */

static bool needs_context(const cx_emu_node_params *node_params)
{
    return node_params->type == CXU_GRAPH_NODE_TYPE_MEMCPY ||
           node_params->type == CXU_GRAPH_NODE_TYPE_MEMSET ||
           node_params->type == CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}

static cx_emu_node_params in_context_of(const cx_emu_stream *stream,
                                        const cx_emu_node_params *node_params)
{
    cx_emu_node_params own = *node_params;

    if (needs_context(node_params)) {
        own.context = stream->context;
        own.context_id = cx_emu_context_id(stream->context);
    }
    return own;
}

cxu_result cx_emu_capture_add(cx_emu_stream *stream, const cx_emu_node_params *node_params)
{
    const cx_emu_node_params own = in_context_of(stream, node_params);
    cx_emu_branch *branch = stream->branch;
    cx_emu_node *node;

    if (!cx_emu_nodes_reserve(&branch->frontier, 1))
        return CXU_OUT_OF_MEMORY;
    node = cx_emu_graph_add(branch->capture->graph, &own, &branch->frontier);
    if (node == NULL)
        return CXU_OUT_OF_MEMORY;
    branch->frontier.count = 0;
    cx_emu_nodes_put(&branch->frontier, node);
    return CXU_SUCCESS;
}

/* ---- events ---- */

static void free_captured(cx_emu_captured_event *captured_event)
{
    *(captured_event->previous != NULL ? &captured_event->previous->next
                                       : &captured_event->capture->captured_events) =
        captured_event->next;
    if (captured_event->next != NULL)
        captured_event->next->previous = captured_event->previous;
    captured_event->event->captured_event = NULL;
    cx_emu_nodes_free(&captured_event->frontier);
    free(captured_event);
}

/* With room for a frontier of so many nodes. */
static cx_emu_captured_event *create_captured(size_t nodes)
{
    cx_emu_captured_event *self = calloc(1, sizeof *self);

    if (self != NULL && !cx_emu_nodes_reserve(&self->frontier, nodes)) {
        free(self);
        return NULL;
    }
    return self;
}

/* It has room for the stream's frontier. */
static void enter_captured(const cx_emu_stream *stream, cx_emu_event *event,
                           cx_emu_captured_event *captured_event)
{
    cx_emu_capture *capture = stream->branch->capture;

    add_to_frontier(&captured_event->frontier, &stream->branch->frontier);
    cx_emu_event_set_record(event, NULL);
    captured_event->capture = capture;
    captured_event->event = event;
    captured_event->next = capture->captured_events;
    if (captured_event->next != NULL)
        captured_event->next->previous = captured_event;
    capture->captured_events = captured_event;
    event->captured = true;
    event->captured_event = captured_event;
}

cxu_result cx_emu_capture_record(const cx_emu_stream *stream, cx_emu_event *event)
{
    cx_emu_captured_event *captured_event = create_captured(stream->branch->frontier.count);

    if (captured_event == NULL)
        return CXU_OUT_OF_MEMORY;
    enter_captured(stream, event, captured_event);
    return CXU_SUCCESS;
}

/* ---- operations of streams, with the events that they record ---- */

static void free_all_captured(cx_emu_captured_event *const *captured, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cx_emu_nodes_free(&captured[i]->frontier);
        free(captured[i]);
    }
}

static cxu_result capture_params(cx_emu_stream *stream, const cx_emu_node_params *node_params,
                                 cx_emu_event *const *events, size_t count)
{
    cx_emu_captured_event *captured[CX_EMU_RECORDED_EVENTS];
    cxu_result result = CXU_SUCCESS;
    size_t made = 0;

    while (result == CXU_SUCCESS && made < count) {
        captured[made] = create_captured(1);
        result = captured[made] != NULL ? CXU_SUCCESS : CXU_OUT_OF_MEMORY;
        made += captured[made] != NULL;
    }
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_add(stream, node_params);
    if (result != CXU_SUCCESS) {
        free_all_captured(captured, made);
        return result;
    }
    for (size_t i = 0; i < count; i++)
        enter_captured(stream, events[i], captured[i]);
    return CXU_SUCCESS;
}

/* The piece of work is the record of the events. Running it at once releases the lock: the events
 * may be gone afterwards. */
static cxu_result submit_params(cx_emu_stream *stream, const cx_emu_work_request *request,
                                cx_emu_event *const *events, size_t count)
{
    CUevent handles[CX_EMU_RECORDED_EVENTS];
    cx_emu_event *event;
    cx_emu_work *work;
    cxu_result result;

    if (count == 0)
        return cx_emu_work_submit(stream, request, NULL);
    for (size_t i = 0; i < count; i++)
        handles[i] = (CUevent)(void *)events[i];
    result = cx_emu_work_submit(stream, request, &work);
    if (result != CXU_SUCCESS)
        return result;
    for (size_t i = 0; i < count; i++)
        if (cx_emu_event_find(handles[i], &event) != CXU_INVALID_HANDLE)
            cx_emu_event_set_record(event, work);
    cx_emu_work_drop(work);
    return CXU_SUCCESS;
}

cxu_result cx_emu_node_params_submit_recorded(cx_emu_stream *stream,
                                              const cx_emu_node_params *node_params,
                                              cx_emu_event *const *events, size_t count)
{
    const cx_emu_node_params own = in_context_of(stream, node_params);
    cx_emu_node_params_room room;
    cx_emu_work_request request;
    const cxu_result result = cx_emu_node_params_request(&own, 0, &room, &request);

    if (result != CXU_SUCCESS)
        return result;
    return stream->branch != NULL ? capture_params(stream, &own, events, count)
                                  : submit_params(stream, &request, events, count);
}

cxu_result cx_emu_node_params_submit(cx_emu_stream *stream, const cx_emu_node_params *node_params)
{
    return cx_emu_node_params_submit_recorded(stream, node_params, NULL, 0);
}

static cxu_result invalidate_capture(cx_emu_capture *capture, cxu_result result)
{
    capture->invalidated = true;
    return result;
}

/* Captured work cannot wait for running work, nor the other way round. */
static cxu_result wait_for_stranger(cx_emu_stream *stream, const cx_emu_event *event)
{
    if (stream->branch == NULL)
        return CXU_CAPTURED_EVENT;
    if (!event->captured && !cx_emu_event_recorded(event))
        return CXU_SUCCESS;
    return invalidate_capture(stream->branch->capture, CXU_STREAM_CAPTURE_ISOLATION);
}

static cxu_result join_capture(cx_emu_stream *stream, const cx_emu_captured_event *captured_event)
{
    cx_emu_nodes frontier = {0};

    if (stream == stream->context->legacy)
        return invalidate_capture(captured_event->capture, CXU_STREAM_CAPTURE_UNSUPPORTED);
    if (stream->branch != NULL)
        return add_to_frontier(&stream->branch->frontier, &captured_event->frontier)
                   ? CXU_SUCCESS
                   : CXU_OUT_OF_MEMORY;
    if (!add_to_frontier(&frontier, &captured_event->frontier) ||
        add_branch(captured_event->capture, stream) == NULL) {
        cx_emu_nodes_free(&frontier);
        return CXU_OUT_OF_MEMORY;
    }
    stream->branch->frontier = frontier;
    return CXU_SUCCESS;
}

cxu_result cx_emu_capture_wait(cx_emu_stream *stream, cx_emu_event *event)
{
    if (event->captured_event == NULL)
        return wait_for_stranger(stream, event);
    if (event->captured_event->capture->invalidated)
        return CXU_STREAM_CAPTURE_INVALIDATED;
    if (stream->branch != NULL && stream->branch->capture != event->captured_event->capture) {
        invalidate_capture(stream->branch->capture, CXU_STREAM_CAPTURE_MERGE);
        return invalidate_capture(event->captured_event->capture, CXU_STREAM_CAPTURE_MERGE);
    }
    return join_capture(stream, event->captured_event);
}

/* ---- beginning and ending ---- */

/* Ends the capture for all its streams; the graph remains. */
static void finish_capture(cx_emu_capture *capture)
{
    *(capture->previous != NULL ? &capture->previous->next : &cx_emu_captures) = capture->next;
    if (capture->next != NULL)
        capture->next->previous = capture->previous;
    while (capture->captured_events != NULL)
        free_captured(capture->captured_events);
    while (capture->branches != NULL) {
        cx_emu_branch *branch = capture->branches;

        capture->branches = branch->next;
        free_branch(branch);
    }
    capture->graph->capture = NULL;
    if (capture->owns_graph)
        cx_emu_graph_destroy(capture->graph);
    free(capture);
}

static void leave_capture(cx_emu_stream *stream)
{
    if (stream->branch->capture->origin == stream) {
        finish_capture(stream->branch->capture);
        return;
    }
    stream->branch->stream = NULL;
    stream->branch = NULL;
}

static const cx_emu_capture_ends ends = {.stream_leaves = leave_capture,
                                         .event_leaves = free_captured};

cxu_result cx_emu_capture_begin(cx_emu_stream *stream, cxu_stream_capture_mode mode,
                                cx_emu_graph *graph, cx_emu_nodes *frontier)
{
    cx_emu_capture *capture = calloc(1, sizeof *capture);

    if (capture == NULL)
        return CXU_OUT_OF_MEMORY;
    if (add_branch(capture, stream) == NULL)
        goto free_capture;
    capture->owns_graph = graph == NULL;
    capture->graph = graph != NULL ? graph : cx_emu_graph_create(true);
    if (capture->graph == NULL)
        goto free_origin;
    if (frontier != NULL)
        stream->branch->frontier = *frontier;
    capture->graph->capture = capture;
    capture->id = ++last_id;
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = cx_emu_capture_thread();
    capture->ends = &ends;
    capture->next = cx_emu_captures;
    if (capture->next != NULL)
        capture->next->previous = capture;
    cx_emu_captures = capture;
    return CXU_SUCCESS;

free_origin:
    free_branch(stream->branch);
free_capture:
    free(capture);
    return CXU_OUT_OF_MEMORY;
}

/* True if the origin is behind all nodes of the other streams. */
static bool is_joined(const cx_emu_capture *capture)
{
    uint64_t visit = cx_emu_nodes_visit(&capture->origin->branch->frontier);

    for (const cx_emu_branch *each = capture->branches; each != NULL; each = each->next)
        for (size_t i = 0; i < each->frontier.count; i++) {
            const cx_emu_node *node = each->frontier.items[i];

            if (node->visit != visit && !node->spared)
                return false;
        }
    return true;
}

static cxu_result end_of(const cx_emu_capture *capture)
{
    if (capture->invalidated)
        return CXU_STREAM_CAPTURE_INVALIDATED;
    return is_joined(capture) ? CXU_SUCCESS : CXU_STREAM_CAPTURE_UNJOINED;
}

cxu_result cx_emu_capture_end(cx_emu_stream *stream, cx_emu_graph **out_graph)
{
    cx_emu_capture *capture = stream->branch->capture;
    cxu_result result;

    if (capture->origin != stream)
        return invalidate_capture(capture, CXU_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CXU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != cx_emu_capture_thread())
        return invalidate_capture(capture, CXU_STREAM_CAPTURE_WRONG_THREAD);
    result = end_of(capture);
    if (result == CXU_SUCCESS) {
        capture->owns_graph = false;
        *out_graph = capture->graph;
    }
    finish_capture(capture);
    return result;
}
