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

/* Puts a default stream among the idle ones of its context. Makes no driver call, and does nothing
 * if the context has ended. */
void cx_default_stream_put_back(const ctxrt_stream *stream);

#endif
