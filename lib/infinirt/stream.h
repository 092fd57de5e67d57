/*
 * Streams, and the pointers that programs hold for them.
 */
#ifndef CX_INFINIRT_STREAM_H
#define CX_INFINIRT_STREAM_H

#include "infinirt/device.h"
#include <ctxrt/stream.h>

/* Begins a call with the stream that a program names; NULL: the legacy stream of the calling
 * thread's device. An unknown pointer becomes a handle that ctxrt refuses. */
ctxrt_status cx_stream_begin(infinirtStream_t stream, ctxrt_stream **out_stream);

/* Checks that a stream is live: for calls that submit nothing to it. */
ctxrt_status cx_stream_check(ctxrt_stream *stream);

/* Ends a call that submitted work to a stream that a program names. On the CPU the work is done
 * when the call returns, as in the original, unless a capture takes it. */
ctxrt_status cx_stream_finish_on_cpu(infinirtStream_t stream, ctxrt_stream *target);

#endif
