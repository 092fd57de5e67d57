/*
 * Streams, and what the pointer that a program holds for one stands for.
 */
#ifndef CX_INFINIRT_STREAM_H
#define CX_INFINIRT_STREAM_H

#include "infinirt/device.h"
#include <ctxrt/stream.h>

/* Begins a call with the stream that a program names; NULL: the legacy stream of the calling
 * thread's device. A pointer that stands for none comes back as a handle that ctxrt refuses. */
ctxrt_status cx_stream_begin(infinirtStream_t stream, ctxrt_stream **out_stream);

/* Whether it is a live stream: for calls that have nothing to submit to it. */
ctxrt_status cx_stream_check(ctxrt_stream *stream);

/* After work was submitted to a stream that a program names: on the CPU it is done when the call
 * returns, as the original does it, but for work that a capture takes. */
ctxrt_status cx_stream_finish_on_cpu(infinirtStream_t stream, ctxrt_stream *target);

#endif
