/*
 * Earlier uses of a recording's memory: the first launch of its graph waits for them.
 */
#ifndef CX_GRAPH_READY_H
#define CX_GRAPH_READY_H

#include "graph/sequence.h"

/* Records events in the current stream of the frame, which is the top one, and in the streams in
 * which it had memory (`use`). Waits here for work of destroyed streams; if that would have to wait
 * for captures, the launch does it. CTXRT_ERROR_CONTEXT_DESTROYED: another thread resets or has
 * reset the context meanwhile. */
ctxrt_status cx_ready_record(cx_sequence *sequence, const cx_private_pool_use *use);

/* Called before a first launch: waits for work of destroyed streams. CTXRT_ERROR_NOT_PERMITTED as
 * cx_ready_wait_for_context. */
ctxrt_status cx_ready_settle(cx_sequence *sequence);

/* Waits for all work in a context. CTXRT_ERROR_NOT_PERMITTED: a stream of it captures, and the wait
 * would end that capture. */
ctxrt_status cx_ready_wait_for_context(cx_context *context);

#endif
