/* Captures: CAPTURE. */
#include "layer/check/frontier.h"

#include <stdlib.h>
#include <string.h>

/* ---- begin and end ---- */

static void begun(cx_check_call *call, CUstream stream, cxu_stream_capture_mode mode)
{
    cx_object *in = cx_check_stream(stream);
    if (cx_check_failed(call))
        return;
    cx_object *capture =
        cx_object_make(CX_OBJECT_CAPTURE, (uintptr_t)stream, 0,
                       in != NULL ? in->context : cx_check_context(call), call->origin);
    if (capture == NULL)
        return;
    capture->flags = mode;
    cx_capture_begin(call, capture, stream);
}

static void begun_v1(cx_check_call *call)
{
    begun(call, CX_CALL(call, stream_begin_capture_v1)->stream, CXU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void begun_v2(cx_check_call *call)
{
    begun(call, CX_CALL(call, stream_begin_capture)->stream,
          CX_CALL(call, stream_begin_capture)->mode);
}

static void begun_to_graph(cx_check_call *call)
{
    begun(call, CX_CALL(call, stream_begin_capture_to_graph)->stream,
          CX_CALL(call, stream_begin_capture_to_graph)->mode);
}

static void end_this(cx_check_call *call, cx_capture *capture)
{
    cx_object *object = capture->object;
    cx_capture_end(capture);
    cx_object_end(object, (int)call->slot, call->origin);
}

/* The first streams that are not joined, as many as the finding has lines for. */
static void note_unjoined(cx_finding *finding, const cx_capture *capture)
{
    char text[64];
    unsigned more = 0;
    for (unsigned i = 1; i < capture->count; i++) {
        const cx_branch *branch = &capture->all[i];
        if (cx_branch_is_joined(capture, i))
            continue;
        cx_branch_text(branch, text, sizeof text);
        if (finding->record.note_count < CX_REGION_NOTES - 1)
            cx_finding_note(finding, "joined", branch->joined,
                            "%s joined it, and nothing waits for its last work", text);
        else
            more++;
    }
    if (more > 0)
        cx_finding_note(finding, "joined", 0,
                        "%u more streams joined it, and nothing waits for their last work", more);
}

static void tell_unjoined(cx_check_call *call, CUstream stream)
{
    char text[64];
    cx_finding finding = cx_check_finding(CX_KIND_CAPTURE_UNJOINED, call);
    const cx_capture *capture = cx_capture_of_stream(call, stream);
    if (capture != NULL) {
        cx_branch_text(&capture->all[0], text, sizeof text);
        cx_finding_note(&finding, "begun", capture->all[0].joined, "the capture began in %s", text);
        note_unjoined(&finding, capture);
    }
    cx_finding_raise(&finding);
}

static void ends(cx_check_call *call)
{
    cx_frontier_ask(call, CX_CALL(call, stream_end_capture)->stream);
}

static void ended(cx_check_call *call)
{
    const cx_arguments_stream_end_capture *given = CX_CALL(call, stream_end_capture);
    if (call->result == CXU_STREAM_CAPTURE_UNJOINED)
        tell_unjoined(call, given->stream);
    else if (call->result == CXU_STREAM_CAPTURE_INVALIDATED)
        call->told = true; /* what invalidated it has been told */
    else if (cx_check_failed(call))
        return;
    cx_capture *capture = cx_capture_of_stream(call, given->stream);
    if (capture != NULL)
        end_this(call, capture);
    if (given->out_graph == NULL || *given->out_graph == NULL || cx_check_failed(call))
        return;
    const cx_object *graph = cx_object_find(CX_HANDLE_GRAPH, (uintptr_t)*given->out_graph);
    if (graph == NULL || !graph->live)
        (void)cx_object_make(CX_HANDLE_GRAPH, (uintptr_t)*given->out_graph, 0,
                             cx_check_context(call), call->origin);
}

/* ---- captures that are left ---- */

static void leave(cx_check_call *call, cx_capture *capture)
{
    char text[64];
    const cx_object *object = capture->object;
    cx_object_text(object, text, sizeof text);
    cx_finding finding =
        cx_finding_begin(CX_KIND_CAPTURE_LEFT, call->thread, -1, CXU_SUCCESS, object->made);
    cx_finding_note(&finding, "made", object->made, "%s", text);
    cx_finding_note(&finding, "ended", call->origin, "%s ended its stream",
                    cx_origin_call(call->origin, call->slot));
    cx_finding_raise(&finding);
    end_this(call, capture);
}

void cx_check_captures_left(cx_check_call *call, const cx_object *context)
{
    cx_capture *capture, *next;
    for (capture = cx_captures; capture != NULL; capture = next) {
        next = capture->next;
        if (capture->object->context == context)
            leave(call, capture);
    }
}

/* The capture goes on if the stream has only joined it. */
static void stream_ended(cx_check_call *call)
{
    const cx_object *stream = call->ending;
    if (stream == NULL || cx_check_failed(call))
        return;
    for (cx_capture *capture = cx_captures; capture != NULL; capture = capture->next)
        if ((uintptr_t)capture->all[0].stream == stream->key.value &&
            capture->all[0].number == stream->number) {
            leave(call, capture);
            return;
        }
}

/* ---- streams and events in captures ---- */

/* Before the call: after it another thread's event may have the handle already. */
static void event_ends(cx_check_call *call)
{
    cx_capture_forget(CX_CALL(call, event_destroy)->event);
}

/* Before the call, which leaves the mode of before there. */
static void exchange_mode(cx_check_call *call)
{
    const cxu_stream_capture_mode *mode = CX_CALL(call, thread_exchange_stream_capture_mode)->mode;
    if (mode != NULL && (unsigned)*mode <= CXU_STREAM_CAPTURE_MODE_RELAXED)
        call->thread->capture_mode = *mode;
}

/* True for calls that give work to the stream among their arguments. */
static bool gives_work(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_stream_write_value_32:
    case CX_SLOT_stream_write_value_64:
    case CX_SLOT_stream_wait_value_32:
    case CX_SLOT_stream_wait_value_64:
    case CX_SLOT_stream_batch_mem_op:
    case CX_SLOT_stream_attach_mem_async:
    case CX_SLOT_stream_add_callback:
        return true;
    default: /* all other calls of streams ask, or change them */
        return strncmp(cx_symbols[slot].symbol, "cuStream", 8) != 0;
    }
}

/* True if the call gives work to a stream that is captured. */
static bool is_captured(cx_check_call *call)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {.slot = call->slot, .arguments = call->arguments};
    const int count = gives_work(call->slot) ? cx_layer_handles(&seen, handles) : 0;
    for (int i = 0; i < count; i++)
        if (handles[i].kind == CX_HANDLE_STREAM &&
            cx_capture_of_stream(call, (CUstream)handles[i].value) != NULL)
            return true;
    return false;
}

void cx_check_place_captured(cx_check_call *call)
{
    if (cx_captures != NULL && call->origin == 0 && is_captured(call))
        (void)cx_check_here(call);
}

static void note_work(cx_check_call *call)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {
        .slot = call->slot, .arguments = call->arguments, .result = call->result};
    const int count = cx_layer_handles(&seen, handles);
    if (call->slot == CX_SLOT_launch_kernel_ex)
        cx_capture_work(call, CX_CALL(call, launch_kernel_ex)->config->stream);
    for (int i = 0; i < count && gives_work(call->slot); i++)
        if (handles[i].kind == CX_HANDLE_STREAM)
            cx_capture_work(call, (CUstream)handles[i].value);
}

/* An external record or wait is work of its own. */
static void note_record(cx_check_call *call, CUstream stream, CUevent event, bool external)
{
    if (external)
        cx_capture_work(call, stream);
    else
        cx_capture_record(call, stream, event);
}

static void note_launch_events(cx_check_call *call)
{
    const cxu_launch_config *config = CX_CALL(call, launch_kernel_ex)->config;
    const cxu_launch_attribute *one;
    unsigned int next = 0;
    while ((one = cx_check_launch_event(config, &next)) != NULL)
        note_record(call, config->stream, one->value.record.event,
                    (one->value.record.flags & CXU_EVENT_RECORD_EXTERNAL) != 0);
}

static void note_wait(cx_check_call *call)
{
    const cx_arguments_stream_wait_event *given = CX_CALL(call, stream_wait_event);
    if ((given->flags & CXU_EVENT_WAIT_EXTERNAL) != 0) {
        cx_capture_work(call, given->stream);
    } else if (cx_capture_of_event(given->event) != NULL) {
        (void)cx_check_here(call);
        cx_capture_wait(call, given->stream, given->event);
    }
}

/* True for calls by which programs set what captured work depends on. */
static bool sets_edges(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_stream_update_capture_dependencies_v1:
    case CX_SLOT_stream_update_capture_dependencies:
    case CX_SLOT_graph_add_dependencies_v1:
    case CX_SLOT_graph_add_dependencies:
    case CX_SLOT_graph_remove_dependencies_v1:
    case CX_SLOT_graph_remove_dependencies:
    case CX_SLOT_graph_destroy_node:
        return true;
    default:
        return false;
    }
}

/* Of whatever capture: to ask the driver once more does no harm. */
static void note_edited(void)
{
    for (cx_capture *capture = cx_captures; capture != NULL; capture = capture->next)
        capture->edited = true;
}

void cx_check_any_capture(cx_check_call *call)
{
    if (cx_captures == NULL || cx_check_failed(call))
        return;
    if (sets_edges(call->slot))
        note_edited();
    if (call->slot == CX_SLOT_event_record)
        note_record(call, CX_CALL(call, event_record)->stream, CX_CALL(call, event_record)->event,
                    false);
    else if (call->slot == CX_SLOT_event_record_with_flags)
        note_record(call, CX_CALL(call, event_record_with_flags)->stream,
                    CX_CALL(call, event_record_with_flags)->event,
                    (CX_CALL(call, event_record_with_flags)->flags & CXU_EVENT_RECORD_EXTERNAL) !=
                        0);
    else if (call->slot == CX_SLOT_stream_wait_event)
        note_wait(call);
    else
        note_work(call);
    if (call->slot == CX_SLOT_launch_kernel_ex)
        note_launch_events(call);
}

/* ---- what ends one too early ---- */

static bool begins(cx_slot slot)
{
    return slot == CX_SLOT_stream_begin_capture_v1 || slot == CX_SLOT_stream_begin_capture ||
           slot == CX_SLOT_stream_begin_capture_to_graph;
}

/* True if an argument is a stream of the capture, or an event recorded in it. */
static bool is_named(cx_check_call *call, const cx_capture *capture)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {
        .slot = call->slot, .arguments = call->arguments, .result = call->result};
    const int count = cx_layer_handles(&seen, handles);
    for (int i = 0; i < count; i++)
        if ((handles[i].kind == CX_HANDLE_STREAM &&
             cx_capture_of_stream(call, (CUstream)handles[i].value) == capture) ||
            (handles[i].kind == CX_HANDLE_EVENT &&
             cx_capture_of_event((CUevent)handles[i].value) == capture))
            return true;
    return false;
}

static bool is_any_named(cx_check_call *call)
{
    for (const cx_capture *capture = cx_captures; capture != NULL; capture = capture->next)
        if (is_named(call, capture))
            return true;
    return false;
}

/* True if a stream of the context takes part; `blocking`: one that the legacy stream waits for. */
static bool takes_part(const cx_capture *capture, const cx_object *context, bool blocking)
{
    for (unsigned i = 0; i < capture->count; i++) {
        const cx_branch *branch = &capture->all[i];
        const cx_object *stream = cx_branch_stream(branch);
        const cx_object *of = stream != NULL ? stream->context : branch->context;
        if (of != NULL && of == context &&
            !(blocking && stream != NULL && (stream->flags & CXU_STREAM_NON_BLOCKING) != 0))
            return true;
    }
    return false;
}

/* The context that a call waits for, or works on as a whole; NULL: none. */
static const cx_object *context_of(cx_check_call *call)
{
    CUcontext given;
    switch (call->slot) {
    case CX_SLOT_ctx_synchronize:
        return cx_check_context(call);
    case CX_SLOT_ctx_synchronize_v2:
        given = CX_CALL(call, ctx_synchronize_v2)->context;
        break;
    case CX_SLOT_ctx_record_event:
        given = CX_CALL(call, ctx_record_event)->context;
        break;
    case CX_SLOT_ctx_wait_event:
        given = CX_CALL(call, ctx_wait_event)->context;
        break;
    default:
        return NULL;
    }
    return cx_object_find(CX_HANDLE_CONTEXT, (uintptr_t)given);
}

/* True if the modes of the thread and the capture forbid the thread calls that may wait (G2). */
static bool forbids(const cx_capture *capture, const cx_check_thread *thread)
{
    if (thread->capture_mode == CXU_STREAM_CAPTURE_MODE_RELAXED ||
        capture->object->flags == CXU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    return capture->thread == thread->number ||
           (thread->capture_mode == CXU_STREAM_CAPTURE_MODE_GLOBAL &&
            capture->object->flags == CXU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* A call that no capture sees: those of streams concern their device, frees in stream order those
 * in mode GLOBAL. */
static bool is_disturbed(cx_check_call *call, const cx_capture *capture)
{
    const cx_object *context = context_of(call), *stream;
    switch (call->slot) {
    case CX_SLOT_ctx_record_event:
    case CX_SLOT_ctx_wait_event:
        return takes_part(capture, context, false);
    case CX_SLOT_ctx_synchronize:
    case CX_SLOT_ctx_synchronize_v2:
        if (capture->thread == call->thread->number && takes_part(capture, context, false))
            return true;
        break;
    case CX_SLOT_stream_synchronize:
        stream = cx_check_stream(CX_CALL(call, stream_synchronize)->stream);
        context = stream != NULL ? stream->context : cx_check_context(call);
        break;
    case CX_SLOT_mem_free_async:
        return forbids(capture, call->thread) &&
               capture->object->flags == CXU_STREAM_CAPTURE_MODE_GLOBAL;
    default:
        return forbids(capture, call->thread);
    }
    return forbids(capture, call->thread) &&
           (context == NULL || context->device == capture->object->device);
}

static bool is_concerned(cx_check_call *call, const cx_capture *capture, bool named)
{
    switch (call->result) {
    case CXU_STREAM_CAPTURE_IMPLICIT:
        return takes_part(capture, cx_check_context(call), true);
    case CXU_STREAM_CAPTURE_ISOLATION:
    case CXU_STREAM_CAPTURE_MERGE:
    case CXU_CAPTURED_EVENT:
        return is_named(call, capture);
    case CXU_STREAM_CAPTURE_UNSUPPORTED:
        return named ? is_named(call, capture) : !begins(call->slot) && is_disturbed(call, capture);
    default:
        return false;
    }
}

static const char *mode_name(uint32_t mode)
{
    static const char *const names[] = {"GLOBAL", "THREAD_LOCAL", "RELAXED"};
    return mode < 3 ? names[mode] : "an unknown mode";
}

static const cx_capture *find_concerned(cx_check_call *call, const cx_capture *from, bool named)
{
    while (from != NULL && !is_concerned(call, from, named))
        from = from->next;
    return from;
}

/* The advice depends on the refused call: a mode helps only against calls of other streams. */
static const char *advice_for(const cx_check_call *call, const cx_capture *capture, bool named)
{
    switch (call->result) {
    case CXU_STREAM_CAPTURE_IMPLICIT:
        return "capture a stream that was created as NON_BLOCKING, or keep the legacy default "
               "stream out of the capture: in no mode may it wait for a captured stream";
    case CXU_STREAM_CAPTURE_ISOLATION:
        return "record the event behind the begin of the capture: a graph cannot wait for work "
               "of before";
    case CXU_STREAM_CAPTURE_MERGE:
        return "end one capture before the other one waits for its work";
    case CXU_CAPTURED_EVENT:
        return "ask and wait for an event that a launch of the graph records, not for one of the "
               "capture";
    default:
        break;
    }
    if (named || call->slot == CX_SLOT_ctx_synchronize)
        return "wait behind the launch of the graph: no mode lets a captured stream be waited for "
               "or asked";
    return capture->thread == call->thread->number
               ? "make the call before the capture, or capture in mode RELAXED"
               : "capture in mode THREAD_LOCAL or RELAXED, which leaves other threads free";
}

void cx_check_failed_capture(cx_check_call *call)
{
    char text[64];
    if (cx_captures == NULL)
        return;
    cx_finding finding = cx_check_finding(CX_KIND_CAPTURE_ENDED, call);
    const bool named = is_any_named(call);
    const cx_capture *capture = find_concerned(call, cx_captures, named);
    call->told = capture != NULL;
    const cx_capture *first = capture;
    for (; capture != NULL; capture = find_concerned(call, capture->next, named)) {
        cx_branch_text(&capture->all[0], text, sizeof text);
        cx_finding_note(&finding, "begun", capture->object->made,
                        "a capture in mode %s began in %s", mode_name(capture->object->flags),
                        text);
    }
    if (first == NULL)
        return;
    cx_finding_advise(&finding, advice_for(call, first, named));
    cx_finding_raise(&finding);
}

/* G2: whether that disturbs captures of other threads in other modes than GLOBAL depends on the
 * driver. */
void cx_check_context_waited(cx_check_call *call)
{
    char text[64];
    if (cx_check_failed(call) || cx_captures == NULL ||
        call->thread->capture_mode == CXU_STREAM_CAPTURE_MODE_RELAXED)
        return;
    (void)cx_check_here(call); /* it opens the lock: a capture may end meanwhile */
    const cx_object *context = context_of(call);
    if (context == NULL)
        return;
    for (const cx_capture *capture = cx_captures; capture != NULL; capture = capture->next) {
        if (capture->thread == call->thread->number || capture->object->device != context->device)
            continue;
        cx_finding finding = cx_check_finding(CX_KIND_CAPTURE_WAITED, call);
        cx_branch_text(&capture->all[0], text, sizeof text);
        cx_finding_note(&finding, "begun", capture->object->made,
                        "a capture in mode %s began in %s", mode_name(capture->object->flags),
                        text);
        cx_finding_raise(&finding);
        return;
    }
}

const cx_check_hooks cx_check_capture[CX_SLOT_COUNT] = {
    [CX_SLOT_stream_begin_capture_v1] = {NULL, begun_v1},
    [CX_SLOT_stream_begin_capture] = {NULL, begun_v2},
    [CX_SLOT_stream_begin_capture_to_graph] = {NULL, begun_to_graph},
    [CX_SLOT_stream_end_capture] = {ends, ended},
    [CX_SLOT_stream_destroy] = {NULL, stream_ended},
    [CX_SLOT_event_destroy] = {event_ends, NULL},
    [CX_SLOT_thread_exchange_stream_capture_mode] = {exchange_mode, NULL},
};
