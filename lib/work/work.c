#include "work/work.h"

/* The context that the work goes to, as far as the arguments tell; else NULL. */
static const cx_context *context_of(const ctxrt_stream *stream, const cx_frame *frame)
{
    if (frame != NULL)
        return cx_frame_context(frame);
    const cx_stream *found = cx_pool_find(&cx_streams, stream);
    return found != NULL ? atomic_load_explicit(&found->context, memory_order_relaxed) : NULL;
}

static ctxrt_status resolve_target(const ctxrt_stream *stream, cx_thread *thread, cx_frame *frame,
                                   cx_stream_target *out_target)
{
    if (stream == NULL)
        return cx_stream_of_frame(thread, frame, out_target);
    if (frame == NULL)
        return cx_stream_resolve_handle(stream, out_target);
    *out_target = cx_stream_legacy_of(cx_frame_context(frame));
    return CTXRT_SUCCESS;
}

ctxrt_status cx_work_begin_slowly(const ctxrt_stream *stream, cx_thread *thread, cx_frame *frame,
                                  cx_stream_target *out_target)
{
    const cx_context *context;
    while ((context = context_of(stream, frame)) != NULL && cx_context_is_resetting(context)) {
        ctxrt_status status = cx_context_step_aside(context);
        if (status != CTXRT_SUCCESS)
            return status;
    }
    ctxrt_status status = resolve_target(stream, thread, frame, out_target);
    if (status != CTXRT_SUCCESS)
        cx_section_leave();
    return status;
}
