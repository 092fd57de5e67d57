/*
 * The order of a graph's launches, where the driver alone does not keep it: a graph of several
 * pieces, or with memory that is given back only when no launch uses it any more.
 *
 * A launch waits for the event behind the last one, and the first launch for what used the memory
 * before. A step that the driver refuses is made again by the next launch, or by the release.
 */
#ifndef CX_GRAPH_ORDER_H
#define CX_GRAPH_ORDER_H

#include "graph/sequence.h"
#include "work/stream.h"

typedef struct cx_launch_order {
    CUevent done; /* NULL: not made yet */
    bool begun;   /* `done` is behind a launch, and so behind what that waited for */
    /* the stream of a launch that `done` could not be recorded behind; NULL: none */
    const ctxrt_stream *unmarked;
} cx_launch_order;

/* Whether the launches of a sequence need it. */
static inline bool cx_launch_order_is_needed(const cx_sequence *sequence)
{
    return sequence->piece_count > 1 || sequence->pool != NULL;
}

/* Before a launch into a stream of the graph's context: the stream waits for the last launch.
 * CTXRT_ERROR_NOT_PERMITTED as cx_ready_settle. On failure nothing was launched. */
ctxrt_status cx_launch_order_begin(cx_launch_order *order, cx_sequence *sequence,
                                   const cx_stream_target *target);

/* Behind a launch, whether it failed or not: some of it may have been submitted. */
ctxrt_status cx_launch_order_end(cx_launch_order *order, const cx_stream_target *target);

/* Waits on the host until no launch uses memory of the sequence, where it has any, and destroys the
 * event. The first error of the driver. */
ctxrt_status cx_launch_order_finish(cx_launch_order *order, cx_sequence *sequence);

#endif
