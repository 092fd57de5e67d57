/*
 * Default streams: one blocking stream per thread and context, made on first use. When its thread
 * ends, or nothing refers to it any more, a default stream lies idle in its context until another
 * thread needs one. It keeps its unfinished work, and the next thread's work comes behind that.
 */
#ifndef CX_WORK_DEFAULT_STREAM_H
#define CX_WORK_DEFAULT_STREAM_H

#include "work/stream.h"

/* Gets or makes the thread's default stream in a context, which is current at its driver. */
ctxrt_status cx_default_stream_get(cx_thread *thread, cx_context *context,
                                   ctxrt_stream **out_stream);

/* Finds the thread's default stream; NULL: there is none yet. Makes no driver call. */
const ctxrt_stream *cx_default_stream_find(const cx_thread *thread, const cx_context *context);

/* ---- frames that go from thread to thread ---- */

/* The own stream of a frame of the calling thread; NULL: it uses the default one. A default stream
 * that came along with the frame goes with a reset of its context, like the thread's own; then the
 * frame has none of its own any more. */
ctxrt_stream *cx_frame_own_stream(cx_thread *thread, cx_frame *frame);

/* Finds the thread's default stream in the context, or `stream` if that is one of several; else
 * NULL. */
ctxrt_stream *cx_default_stream_of_thread(const cx_thread *thread, const cx_context *context,
                                          const ctxrt_stream *stream);

/* Takes one of the thread's default streams in the context away from it. */
void cx_default_stream_give_up(cx_thread *thread, const cx_context *context,
                               const ctxrt_stream *stream);

/* Gives the stream to the thread, which has reserved room for it. Returns true if it is the only
 * one of that context. If no frame of the thread uses several of them, one stays and the others
 * become idle. In a section, while nothing of the context is being reset. */
bool cx_default_stream_take_over(cx_thread *thread, cx_context *context, ctxrt_stream *stream);

/* Makes a default stream idle in its context. Makes no driver call, and does nothing if the context
 * has ended. */
void cx_default_stream_put_back(const ctxrt_stream *stream);

#endif
