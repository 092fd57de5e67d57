/* What is current in the top frame: its stream, and all work of its context. */
#include "work/default_stream.h"

#include "base/cancel.h"
#include "base/error.h"

static ctxrt_stream *own_stream(const cx_frame *frame)
{
    return atomic_load_explicit(&frame->stream, memory_order_relaxed);
}

static ctxrt_status current_handle(cx_thread *thread, cx_frame *frame, ctxrt_stream **out_stream)
{
    *out_stream = own_stream(frame);
    if (*out_stream != NULL)
        return CTXRT_SUCCESS;
    return cx_default_stream_get(thread, cx_frame_context(frame), out_stream);
}

ctxrt_status cx_stream_resolve_current(cx_thread *thread, cx_frame *frame,
                                       cx_stream_target *out_target)
{
    ctxrt_stream *stream;
    uint32_t epoch = atomic_load(&cx_frame_context(frame)->epoch);
    ctxrt_status status = current_handle(thread, frame, &stream);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve_handle(stream, out_target);
    if (status == CTXRT_SUCCESS) {
        frame->current_stream = stream;
        frame->native_stream = out_target->native;
        frame->stream_epoch = epoch;
    }
    return status;
}

ctxrt_status ctxrt_stream_current(ctxrt_stream **out_stream)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_stream *stream;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_stream == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stream_current: out_stream is NULL");
    status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = current_handle(thread, frame, &stream);
    if (status == CTXRT_SUCCESS)
        *out_stream = stream;
    return status;
}

static ctxrt_status check_same_context(const cx_frame *frame, const ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_stream_resolve_handle(stream, &target);
    if (status == CTXRT_SUCCESS && target.context != cx_frame_context(frame))
        return cx_error(CTXRT_ERROR_WRONG_CONTEXT,
                        "the stream is of %s, and the top frame is of %s",
                        cx_context_text(target.context), cx_context_text(cx_frame_context(frame)));
    return status;
}

/* seq_cst: whoever destroys the stream makes it stale first and then looks at frames. */
static void put_stream(cx_thread *thread, cx_frame *frame, ctxrt_stream *stream)
{
    cx_thread_begin(thread);
    atomic_store(&frame->stream, stream);
    cx_thread_end(thread);
    frame->current_stream = NULL;
}

ctxrt_status ctxrt_frame_set_stream(ctxrt_stream *stream)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS && stream != NULL)
        status = check_same_context(frame, stream);
    if (status != CTXRT_SUCCESS)
        return status;
    ctxrt_stream *before = own_stream(frame);
    put_stream(thread, frame, stream);
    if (stream != NULL)
        status = check_same_context(frame, stream);
    if (status != CTXRT_SUCCESS)
        put_stream(thread, frame, before);
    return status;
}

ctxrt_status ctxrt_device_synchronize(void)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = CX_DRIVER_CALL(cx_frame_context(frame)->driver, ctx_synchronize, ());
    cx_cancel_restore(cancel);
    if (status == CTXRT_SUCCESS)
        status = cx_context_waited(cx_frame_context(frame), "context", status);
    return status;
}
