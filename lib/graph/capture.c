/* Capturing a stream's work. */
#include "base/error.h"
#include "graph/graph.h"
#include "work/capture_gate.h"
#include "work/work.h"

static const cxu_stream_capture_mode native_modes[] = {
    [CTXRT_CAPTURE_GLOBAL] = CXU_STREAM_CAPTURE_MODE_GLOBAL,
    [CTXRT_CAPTURE_THREAD_LOCAL] = CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    [CTXRT_CAPTURE_RELAXED] = CXU_STREAM_CAPTURE_MODE_RELAXED,
};

ctxrt_status ctxrt_stream_capture_begin(ctxrt_stream *stream, ctxrt_capture_mode mode)
{
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if ((unsigned int)mode > CTXRT_CAPTURE_RELAXED)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_stream_capture_begin: there is no mode %d", (int)mode);
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    status = cx_driver_check(
        target.driver, CX_SLOT_stream_begin_capture,
        cx_capture_gate_begin_capture(target.driver, target.native, native_modes[mode]));
    status = cx_context_map_error(target.context, "stream", status);
    cx_work_end_wait(target.context, cancel);
    return status;
}

static ctxrt_status give_up(cx_sequence *sequence, ctxrt_status status)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    (void)cx_sequence_release(sequence);
    cx_error_restore(&saved);
    return status;
}

/* Everything that can fail comes before the end of the capture, except the driver and noting the
 * code it needs. */
static ctxrt_status end_capture(const cx_stream_target *target, cx_graph *graph,
                                ctxrt_graph **out_graph)
{
    cx_sequence *sequence;
    cx_graph_piece piece = {0};
    ctxrt_status status =
        cx_sequence_make(target->context, target->epoch, &sequence);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_sequence_reserve(sequence);
    if (status == CTXRT_SUCCESS)
        status = cx_context_map_error(
            target->context, "stream",
            CX_DRIVER_CALL(target->driver, stream_end_capture, (target->native, &piece.native)));
    if (status == CTXRT_SUCCESS)
        status = cx_sequence_put(sequence, piece);
    if (status != CTXRT_SUCCESS)
        return give_up(sequence, status);
    *out_graph = cx_graph_publish(graph, sequence);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_stream_capture_end(ctxrt_stream *stream, ctxrt_graph **out_graph)
{
    cx_stream_target target;
    cx_graph *graph;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_graph == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stream_capture_end: out_graph is NULL");
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    status = cx_graph_take(target.context, &graph);
    if (status == CTXRT_SUCCESS) {
        status = end_capture(&target, graph, out_graph);
        if (status != CTXRT_SUCCESS)
            cx_graph_put_back(graph);
    }
    cx_work_end_wait(target.context, cancel);
    return status;
}

ctxrt_status ctxrt_stream_capture_status(ctxrt_stream *stream, ctxrt_capture_state *out_state)
{
    static const ctxrt_capture_state states[] = {
        [CXU_STREAM_CAPTURE_STATUS_NONE] = CTXRT_CAPTURE_NONE,
        [CXU_STREAM_CAPTURE_STATUS_ACTIVE] = CTXRT_CAPTURE_ACTIVE,
        [CXU_STREAM_CAPTURE_STATUS_INVALIDATED] = CTXRT_CAPTURE_INVALIDATED,
    };
    cx_stream_target target;
    cxu_stream_capture_status native;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_state == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stream_capture_status: out_state is NULL");
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target.driver, stream_is_capturing, (target.native, &native));
    cx_work_end();
    if (status != CTXRT_SUCCESS)
        return cx_context_map_error(target.context, "stream", status);
    *out_state = states[native];
    return CTXRT_SUCCESS;
}
