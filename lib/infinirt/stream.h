/*
 * Streams, and the pointers that programs hold for them.
 */
#ifndef CX_INFINIRT_STREAM_H
#define CX_INFINIRT_STREAM_H

#include "infinirt/device.h"
#include <ctxrt/stream.h>

/* A copy or a fill in a stream of the program's. */
typedef struct cx_stream_call {
    ctxrt_stream *target;
    ctxrt_device device; /* the calling thread's */
    bool legacy;         /* the program named no stream */
    bool of_cpu;         /* the stream is */
} cx_stream_call;

/* Begins a call with the stream that a program names; NULL: the legacy stream of the calling
 * thread's device. An unknown pointer becomes a handle that ctxrt refuses. */
ctxrt_status cx_stream_begin(infinirtStream_t stream, ctxrt_stream **out_stream);

/* The same for copies and fills, which also depend on the calling thread's device. */
ctxrt_status cx_stream_begin_memory(infinirtStream_t stream, cx_stream_call *out_call);

/* Checks that a stream is live: for calls that submit nothing to it. */
ctxrt_status cx_stream_check(ctxrt_stream *stream);

/* True if the host may do the stream's next work itself, at once: the thread's device is the CPU,
 * and the stream is of the CPU, does not capture and has no work left, for which this waits. False
 * also after an error: the stream reports it when it is given the work. */
bool cx_stream_await_for_host(const cx_stream_call *call);

/* Ends a call that submitted work. On the CPU the work is done when the call returns, as in the
 * original, unless a capture takes it. */
ctxrt_status cx_stream_finish_on_cpu(const cx_stream_call *call);

#endif
