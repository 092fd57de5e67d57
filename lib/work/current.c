/* Synchronizing the top frame's context, and its current stream. */
#include "work/default_stream.h"

#include "base/error.h"
#include "work/work.h"

static void put_stream(cx_thread *thread, cx_frame *frame, ctxrt_stream *stream)
{
    cx_thread_begin(thread);
    atomic_store_explicit(&frame->stream, stream, memory_order_release);
    cx_thread_end(thread);
    frame->current_stream = NULL;
    frame->stream_came_along = false;
}

ctxrt_stream *cx_frame_own_stream(cx_thread *thread, cx_frame *frame)
{
    ctxrt_stream *stream = atomic_load_explicit(&frame->stream, memory_order_relaxed);
    if (!frame->stream_came_along || cx_pool_find(&cx_streams, stream) != NULL)
        return stream;
    put_stream(thread, frame, NULL);
    return NULL;
}

static ctxrt_status current_handle(cx_thread *thread, cx_frame *frame, ctxrt_stream **out_stream)
{
    *out_stream = cx_frame_own_stream(thread, frame);
    if (*out_stream != NULL)
        return CTXRT_SUCCESS;
    return cx_default_stream_get(thread, cx_frame_context(frame), out_stream);
}

/* In a section: a default stream that is made here belongs to the epoch that it says. */
static ctxrt_status resolve_there(cx_thread *thread, cx_frame *frame, cx_stream_target *out_target)
{
    ctxrt_stream *stream;
    ctxrt_status status = current_handle(thread, frame, &stream);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve_handle(stream, out_target);
    if (status == CTXRT_SUCCESS) {
        frame->current_stream = stream;
        frame->native_stream = out_target->native;
        frame->stream_epoch = out_target->epoch;
    }
    return status;
}

ctxrt_status cx_stream_resolve_current(cx_thread *thread, cx_frame *frame,
                                       cx_stream_target *out_target)
{
    if (cx_section_is_entered())
        return resolve_there(thread, frame, out_target);
    ctxrt_status status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    status = resolve_there(thread, frame, out_target);
    cx_section_leave();
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
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    status = current_handle(thread, frame, &stream);
    cx_section_leave();
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

ctxrt_status ctxrt_frame_set_stream(ctxrt_stream *stream)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    if (stream != NULL)
        status = check_same_context(frame, stream);
    if (status == CTXRT_SUCCESS)
        put_stream(thread, frame, stream);
    cx_section_leave();
    return status;
}

ctxrt_status ctxrt_device_synchronize(void)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    cx_context *context = cx_frame_context(frame);
    int cancel = cx_work_begin_wait(context);
    status = CX_DRIVER_CALL(context->driver, ctx_synchronize, ());
    if (status == CTXRT_SUCCESS)
        status = cx_context_waited(context, "context", status);
    cx_work_end_wait(context, cancel);
    return status;
}
