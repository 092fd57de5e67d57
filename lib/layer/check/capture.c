/* Captures: CAPTURE. */
#include "layer/check/check.h"

#include <stdlib.h>

static cx_object *capture_of(CUstream stream)
{
    cx_object *capture = cx_object_find(CX_OBJECT_CAPTURE, (uintptr_t)stream);
    return capture != NULL && capture->live ? capture : NULL;
}

static bool any(const cx_object *object, void *argument)
{
    (void)object, (void)argument;
    return true;
}

/* ---- begin and end ---- */

static void begun(cx_check_call *call, CUstream stream, cxu_stream_capture_mode mode)
{
    cx_object *in = cx_check_stream(stream);
    if (cx_check_failed(call))
        return;
    cx_object *capture = cx_object_make(CX_OBJECT_CAPTURE, (uintptr_t)stream, 0,
                                        in != NULL ? in->context : cx_check_context(call),
                                        call->origin);
    if (capture == NULL)
        return;
    capture->parent = in;
    capture->flags = mode;
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

static void tell_unjoined(cx_check_call *call, const cx_object *capture)
{
    cx_finding finding = cx_check_finding(CX_KIND_CAPTURE_UNJOINED, call);
    if (capture != NULL)
        cx_finding_note(&finding, "begun", capture->made, "the capture began");
    cx_finding_raise(&finding);
}

static void ended(cx_check_call *call)
{
    const cx_arguments_stream_end_capture *given = CX_CALL(call, stream_end_capture);
    cx_object *capture = capture_of(given->stream);
    if (call->result == CXU_STREAM_CAPTURE_UNJOINED)
        tell_unjoined(call, capture);
    else if (call->result == CXU_STREAM_CAPTURE_INVALIDATED)
        call->told = true; /* what invalidated it has been told */
    else if (cx_check_failed(call))
        return;
    if (capture != NULL)
        cx_object_end(capture, (int)call->slot, call->origin);
    if (given->out_graph == NULL || *given->out_graph == NULL || cx_check_failed(call))
        return;
    const cx_object *graph = cx_object_find(CX_HANDLE_GRAPH, (uintptr_t)*given->out_graph);
    if (graph == NULL || !graph->live)
        (void)cx_object_make(CX_HANDLE_GRAPH, (uintptr_t)*given->out_graph, 0,
                             cx_check_context(call), call->origin);
}

/* ---- what ends one too early ---- */

static const char *mode_name(uint32_t mode)
{
    static const char *const names[] = {"GLOBAL", "THREAD_LOCAL", "RELAXED"};
    return mode < 3 ? names[mode] : "an unknown mode";
}

void cx_check_failed_capture(cx_check_call *call)
{
    if (call->result != CXU_STREAM_CAPTURE_UNSUPPORTED &&
        call->result != CXU_STREAM_CAPTURE_IMPLICIT &&
        call->result != CXU_STREAM_CAPTURE_ISOLATION &&
        call->result != CXU_STREAM_CAPTURE_MERGE && call->result != CXU_CAPTURED_EVENT)
        return;
    const cx_object *capture = cx_object_first(CX_OBJECT_CAPTURE, any, NULL);
    if (capture == NULL)
        return;
    cx_finding finding = cx_check_finding(CX_KIND_CAPTURE_ENDED, call);
    cx_finding_note(&finding, "begun", capture->made, "a capture in mode %s began",
                    mode_name(capture->flags));
    cx_finding_raise(&finding);
}

const cx_check_hooks cx_check_capture[CX_SLOT_COUNT] = {
    [CX_SLOT_stream_begin_capture_v1] = {NULL, begun_v1},
    [CX_SLOT_stream_begin_capture] = {NULL, begun_v2},
    [CX_SLOT_stream_begin_capture_to_graph] = {NULL, begun_to_graph},
    [CX_SLOT_stream_end_capture] = {NULL, ended},
};
