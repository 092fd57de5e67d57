/*
 * The order of a graph's launches, if the driver alone does not keep it: for a graph of several
 * pieces, or with memory that must outlive its launches.
 *
 * A launch waits for the event behind the last one. The first launch waits for earlier uses of the
 * memory. A step that the driver refuses is retried by the next launch, or by the release.
 */
#ifndef CX_GRAPH_ORDER_H
#define CX_GRAPH_ORDER_H

#include "graph/sequence.h"
#include "work/stream.h"

typedef struct cx_launch_order {
    CUevent done; /* NULL: not made yet */
    bool begun;   /* a launch came before `done`, which is behind all that it waited for */
    /* the stream whose launch could not be followed by a record of `done`; NULL: none */
    const ctxrt_stream *unrecorded;
} cx_launch_order;

/* True if the launches of a sequence need it. */
static inline bool cx_launch_order_is_needed(const cx_sequence *sequence)
{
    return sequence->piece_count > 1 || sequence->pool != NULL;
}

/* Called before a launch into a stream of the graph's context: the stream waits for the last
 * launch. CTXRT_ERROR_NOT_PERMITTED as cx_ready_settle. On failure nothing was launched. */
ctxrt_status cx_launch_order_begin(cx_launch_order *order, cx_sequence *sequence,
                                   const cx_stream_target *target);

/* Called behind a launch, even a failed one: some of it may have been submitted. */
ctxrt_status cx_launch_order_end(cx_launch_order *order, const cx_stream_target *target);

/* Waits on the host until no launch uses memory of the sequence, if it has any, and destroys the
 * event. Returns the driver's first error. */
ctxrt_status cx_launch_order_finish(cx_launch_order *order, cx_sequence *sequence);

#endif
