#include "emu/graph/capture.h"
#include "emu/base/state.h"
#include <stdlib.h>
#include <string.h>

cx_emu_capture *cx_emu_captures;

static uint64_t last_id, last_thread;

static CX_EMU_THREAD_LOCAL struct {
    uint64_t number; /* 0: the thread began no capture */
    cxu_stream_capture_mode mode;
} thread;

/* ---- checks at the beginning of calls ---- */

static bool takes_part(const cx_emu_capture *capture, const cx_emu_context *context,
                       bool blocking_only)
{
    for (const cx_emu_branch *each = capture->branches; each; each = each->next)
        if (each->stream && each->stream->context == context &&
            (!blocking_only || cx_emu_stream_blocking(each->stream)))
            return true;
    return false;
}

bool cx_emu_capture_conflicts(const cx_emu_stream *stream)
{
    if (stream != stream->context->legacy)
        return false;
    for (const cx_emu_capture *each = cx_emu_captures; each; each = each->next)
        if (takes_part(each, stream->context, true))
            return true;
    return false;
}

/* Invalidates the captures of the context's streams; true if there were any. */
static bool invalidate_context(const cx_emu_context *context, bool blocking_only)
{
    bool found = false;

    for (cx_emu_capture *each = cx_emu_captures; each; each = each->next)
        if (takes_part(each, context, blocking_only))
            found = each->invalidated = true;
    return found;
}

cxu_result cx_emu_capture_check_slowly(const cx_emu_stream *stream)
{
    if (stream == stream->context->legacy && invalidate_context(stream->context, true))
        return CXU_STREAM_CAPTURE_IMPLICIT;
    return stream->branch && stream->branch->capture->invalidated ? CXU_STREAM_CAPTURE_INVALIDATED
                                                                  : CXU_SUCCESS;
}

/* True if a capture forbids this thread unsafe calls. */
static bool capture_forbids(const cx_emu_capture *capture)
{
    if (thread.mode == CXU_STREAM_CAPTURE_MODE_RELAXED ||
        capture->mode == CXU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == thread.number)
        return true;
    return thread.mode == CXU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CXU_STREAM_CAPTURE_MODE_GLOBAL;
}

cxu_result cx_emu_capture_check_unsafe_slowly(void)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_capture *each = cx_emu_captures; each; each = each->next)
        if (capture_forbids(each)) {
            each->invalidated = true;
            result = CXU_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

static const cx_emu_device *device_of(const cx_emu_capture *capture)
{
    return capture->origin ? capture->origin->context->device : NULL;
}

cxu_result cx_emu_capture_check_wait_slowly(const cx_emu_device *device)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_capture *each = cx_emu_captures; each; each = each->next)
        if (capture_forbids(each) && device_of(each) == device) {
            each->invalidated = true;
            result = CXU_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

cxu_result cx_emu_capture_check_free_slowly(void)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_capture *each = cx_emu_captures; each; each = each->next)
        if (capture_forbids(each) && each->mode == CXU_STREAM_CAPTURE_MODE_GLOBAL) {
            each->invalidated = true;
            result = CXU_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

cxu_result cx_emu_capture_check_synchronous_slowly(const cx_emu_stream *stream)
{
    cxu_result result = cx_emu_capture_check_slowly(stream);

    if (result != CXU_SUCCESS)
        return result;
    return stream->branch ? cx_emu_capture_refuse(stream) : CXU_SUCCESS;
}

cxu_result cx_emu_capture_check_context_wait_slowly(const cx_emu_context *context)
{
    bool found = false;

    for (cx_emu_capture *each = cx_emu_captures; each; each = each->next)
        if (each->thread == thread.number && takes_part(each, context, false))
            found = each->invalidated = true;
    cxu_result result = cx_emu_capture_check_wait_slowly(context->device);
    return found ? CXU_STREAM_CAPTURE_UNSUPPORTED : result;
}

cxu_result cx_emu_capture_check_context_slowly(const cx_emu_context *context)
{
    return invalidate_context(context, false) ? CXU_STREAM_CAPTURE_UNSUPPORTED : CXU_SUCCESS;
}

/* ---- branches ---- */

static cx_emu_branch *add_branch(cx_emu_capture *capture, cx_emu_stream *stream)
{
    cx_emu_branch *branch = calloc(1, sizeof *branch);

    if (!branch)
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
    if (branch->stream)
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

static bool needs_context(const cx_emu_operation *operation)
{
    return operation->type == CXU_GRAPH_NODE_TYPE_MEMCPY ||
           operation->type == CXU_GRAPH_NODE_TYPE_MEMSET ||
           operation->type == CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}

cxu_result cx_emu_capture_add(cx_emu_stream *stream, const cx_emu_operation *operation)
{
    cx_emu_branch *branch = stream->branch;
    cx_emu_operation own = *operation;
    cx_emu_node *node;

    if (needs_context(operation)) {
        own.context = stream->context;
        own.context_id = cx_emu_context_id(stream->context);
    }
    if (!cx_emu_nodes_reserve(&branch->frontier, 1))
        return CXU_OUT_OF_MEMORY;
    node = cx_emu_graph_add(branch->capture->graph, &own, &branch->frontier);
    if (!node)
        return CXU_OUT_OF_MEMORY;
    branch->frontier.count = 0;
    cx_emu_nodes_put(&branch->frontier, node);
    return CXU_SUCCESS;
}

cxu_result cx_emu_capture_refuse(const cx_emu_stream *stream)
{
    stream->branch->capture->invalidated = true;
    return CXU_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- events ---- */

static void free_captured(cx_emu_captured_event *captured_event)
{
    *(captured_event->previous ? &captured_event->previous->next
                               : &captured_event->capture->captured_events) = captured_event->next;
    if (captured_event->next)
        captured_event->next->previous = captured_event->previous;
    captured_event->event->captured_event = NULL;
    cx_emu_nodes_free(&captured_event->frontier);
    free(captured_event);
}

void cx_emu_capture_forget_event(cx_emu_event *event)
{
    event->captured = false;
    if (event->captured_event)
        free_captured(event->captured_event);
}

cxu_result cx_emu_capture_record(const cx_emu_stream *stream, cx_emu_event *event)
{
    cx_emu_capture *capture = stream->branch->capture;
    cx_emu_captured_event *captured_event = calloc(1, sizeof *captured_event);

    if (!captured_event)
        return CXU_OUT_OF_MEMORY;
    if (!add_to_frontier(&captured_event->frontier, &stream->branch->frontier)) {
        free(captured_event);
        return CXU_OUT_OF_MEMORY;
    }
    cx_emu_event_set_record(event, NULL);
    captured_event->capture = capture;
    captured_event->event = event;
    captured_event->next = capture->captured_events;
    if (captured_event->next)
        captured_event->next->previous = captured_event;
    capture->captured_events = captured_event;
    event->captured = true;
    event->captured_event = captured_event;
    return CXU_SUCCESS;
}

cxu_result cx_emu_capture_refuse_event(const cx_emu_event *event)
{
    if (event->captured_event)
        event->captured_event->capture->invalidated = true;
    return CXU_CAPTURED_EVENT;
}

static cxu_result invalidate_capture(cx_emu_capture *capture, cxu_result result)
{
    capture->invalidated = true;
    return result;
}

/* Captured work cannot wait for running work, nor the other way round. */
static cxu_result wait_for_stranger(cx_emu_stream *stream, const cx_emu_event *event)
{
    if (!stream->branch)
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
    if (stream->branch)
        return add_to_frontier(&stream->branch->frontier, &captured_event->frontier)
                   ? CXU_SUCCESS
                   : CXU_OUT_OF_MEMORY;
    if (!add_to_frontier(&frontier, &captured_event->frontier) ||
        !add_branch(captured_event->capture, stream)) {
        cx_emu_nodes_free(&frontier);
        return CXU_OUT_OF_MEMORY;
    }
    stream->branch->frontier = frontier;
    return CXU_SUCCESS;
}

cxu_result cx_emu_capture_wait(cx_emu_stream *stream, cx_emu_event *event)
{
    if (!event->captured_event)
        return wait_for_stranger(stream, event);
    if (event->captured_event->capture->invalidated)
        return CXU_STREAM_CAPTURE_INVALIDATED;
    if (stream->branch && stream->branch->capture != event->captured_event->capture) {
        invalidate_capture(stream->branch->capture, CXU_STREAM_CAPTURE_MERGE);
        return invalidate_capture(event->captured_event->capture, CXU_STREAM_CAPTURE_MERGE);
    }
    return join_capture(stream, event->captured_event);
}

/* ---- beginning and ending ---- */

cxu_result cx_emu_capture_begin(cx_emu_stream *stream, cxu_stream_capture_mode mode,
                                cx_emu_graph *graph, cx_emu_nodes *frontier)
{
    cx_emu_capture *capture = calloc(1, sizeof *capture);

    if (!capture)
        return CXU_OUT_OF_MEMORY;
    if (!add_branch(capture, stream))
        goto free_capture;
    capture->owns_graph = !graph;
    capture->graph = graph ? graph : cx_emu_graph_create(true);
    if (!capture->graph)
        goto free_origin;
    if (!thread.number)
        thread.number = ++last_thread;
    if (frontier)
        stream->branch->frontier = *frontier;
    capture->graph->capture = capture;
    capture->id = ++last_id;
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = thread.number;
    capture->next = cx_emu_captures;
    if (capture->next)
        capture->next->previous = capture;
    cx_emu_captures = capture;
    return CXU_SUCCESS;

free_origin:
    free_branch(stream->branch);
free_capture:
    free(capture);
    return CXU_OUT_OF_MEMORY;
}

/* Ends the capture for all its streams; the graph remains. */
static void finish_capture(cx_emu_capture *capture)
{
    *(capture->previous ? &capture->previous->next : &cx_emu_captures) = capture->next;
    if (capture->next)
        capture->next->previous = capture->previous;
    while (capture->captured_events)
        free_captured(capture->captured_events);
    while (capture->branches) {
        cx_emu_branch *branch = capture->branches;

        capture->branches = branch->next;
        free_branch(branch);
    }
    capture->graph->capture = NULL;
    if (capture->owns_graph)
        cx_emu_graph_destroy(capture->graph);
    free(capture);
}

/* True if the origin is behind all nodes of the other streams. */
static bool is_joined(const cx_emu_capture *capture)
{
    uint64_t visit = cx_emu_nodes_visit(&capture->origin->branch->frontier);

    for (const cx_emu_branch *each = capture->branches; each; each = each->next)
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
    if (capture->mode != CXU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread.number)
        return invalidate_capture(capture, CXU_STREAM_CAPTURE_WRONG_THREAD);
    result = end_of(capture);
    if (result == CXU_SUCCESS) {
        capture->owns_graph = false;
        *out_graph = capture->graph;
    }
    finish_capture(capture);
    return result;
}

void cx_emu_capture_leave(cx_emu_stream *stream)
{
    if (stream->branch->capture->origin == stream) {
        finish_capture(stream->branch->capture);
        return;
    }
    stream->branch->stream = NULL;
    stream->branch = NULL;
}

cxu_result cx_emu_capture_exchange_mode(cxu_stream_capture_mode *mode)
{
    cxu_stream_capture_mode before = thread.mode;

    if ((unsigned int)*mode > CXU_STREAM_CAPTURE_MODE_RELAXED)
        return CXU_INVALID_VALUE;
    thread.mode = *mode;
    *mode = before;
    return CXU_SUCCESS;
}
