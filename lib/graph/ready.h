/*
 * What the memory of a recording was used for before: first launches of its graph come behind that.
 */
#ifndef CX_GRAPH_READY_H
#define CX_GRAPH_READY_H

#include "graph/sequence.h"

/* Marks the frame's current stream, and those in which it had memory (`use`). The frame is the top
 * one. What was in streams that are gone is waited for here, unless that has to wait for captures:
 * then it is left to the launch. */
ctxrt_status cx_ready_mark(cx_sequence *sequence, const cx_private_pool_use *use);

/* Before a first launch: waits for the work of streams that are gone.
 * CTXRT_ERROR_NOT_PERMITTED as cx_ready_wait_for_context. */
ctxrt_status cx_ready_settle(cx_sequence *sequence);

/* Waits for all work in a context. CTXRT_ERROR_NOT_PERMITTED: a stream of it captures, and the wait
 * would end that capture. */
ctxrt_status cx_ready_wait_for_context(cx_context *context);

#endif
