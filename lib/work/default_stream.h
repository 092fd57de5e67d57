/*
 * Default streams: one blocking stream per thread and context, made on first use. When its thread
 * ends, or nothing refers to it any more, a default stream lies idle in its context until another
 * thread needs one. It stays there with whatever work is still in it, so the next thread's work
 * comes behind that.
 */
#ifndef CX_WORK_DEFAULT_STREAM_H
#define CX_WORK_DEFAULT_STREAM_H

#include "work/stream.h"

/* The thread's default stream in a context, which is current at its driver. */
ctxrt_status cx_default_stream_get(cx_thread *thread, cx_context *context,
                                   ctxrt_stream **out_stream);

/* The same, if there is one already; NULL: there is none. Makes no driver call. */
const ctxrt_stream *cx_default_stream_find(const cx_thread *thread, const cx_context *context);

/* ---- of frames that go from thread to thread ---- */

/* The stream of a frame of the calling thread's; NULL: its default one. A default stream that came
 * along with the frame goes with a reset of its context, as the thread's own does: then the frame
 * has none of its own any more. */
ctxrt_stream *cx_frame_own_stream(cx_thread *thread, cx_frame *frame);

/* The thread's default stream in the context, or the one of several that is `stream`; else NULL. */
ctxrt_stream *cx_default_stream_of_thread(const cx_thread *thread, const cx_context *context,
                                          const ctxrt_stream *stream);

/* The stream, which is one of the thread's in the context, is not the thread's any more. */
void cx_default_stream_give_up(cx_thread *thread, const cx_context *context,
                               const ctxrt_stream *stream);

/* The stream becomes one of the thread's, which has reserved room for it. Whether it is the only
 * one of that context; of several that no frame of the thread uses one stays, the others lie idle
 * from then on. In a section, and nothing of the context is being reset. */
bool cx_default_stream_take_over(cx_thread *thread, cx_context *context, ctxrt_stream *stream);

/* Puts a default stream among the idle ones of its context. Makes no driver call, and does nothing
 * if the context has ended. */
void cx_default_stream_put_back(const ctxrt_stream *stream);

#endif
