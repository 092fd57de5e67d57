/*
 * The pieces of a graph's work, in order: made once by a capture or a recording, shared by the
 * graph and its clones.
 */
#ifndef CX_GRAPH_SEQUENCE_H
#define CX_GRAPH_SEQUENCE_H

#include "graph/code.h"
#include "graph/operator.h"
#include "memory/private_pool.h"

/* A piece: captured work, or operators that each launch calls. */
typedef struct cx_graph_piece {
    CUgraph native;      /* owned by the sequence; NULL: nothing was captured */
    size_t node_count;   /* captured; 0 if the driver does not tell */
    size_t first, count; /* the operators that it came from; none for a stream's capture */
} cx_graph_piece;

typedef struct cx_sequence {
    _Atomic int count;
    cx_context *context;
    uint32_t
        epoch; /* of the context when it was captured; the sequence is useless in any other epoch */
    cx_graph_piece *pieces;
    size_t piece_count;
    cx_operator *operators; /* in their order */
    size_t operator_count;
    cx_graph_code code;    /* of the captured work */
    cx_private_pool *pool; /* of a recording; else NULL */
    /* of a recording: behind the frame's streams' earlier uses of the memory; first launches wait
     * for them */
    CUevent ready[CX_PRIVATE_POOL_STREAMS_MAX + 1];
    int ready_count;
    _Atomic bool unsettled; /* of a recording: earlier uses in streams that cannot be waited for one
                             * by one */
} cx_sequence;

/* Makes an empty sequence with one count. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_sequence_make(cx_context *context, uint32_t epoch, cx_sequence **out_sequence);

/* Makes room for one more piece, for cx_sequence_put. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_sequence_reserve(cx_sequence *sequence);
/* Gives the piece to the sequence, on failure too. Counts its captured nodes, and notes the modules
 * they need: errors of cx_graph_code_add. */
ctxrt_status cx_sequence_put(cx_sequence *sequence, cx_graph_piece piece);

/* CTXRT_ERROR_CONTEXT_DESTROYED after a reset. */
ctxrt_status cx_sequence_check(const cx_sequence *sequence);

void cx_sequence_retain(cx_sequence *sequence);

/* Drops a count. The last one frees captured work, its code, the operators (the last first) and the
 * pool. Returns the driver's first error. */
ctxrt_status cx_sequence_release(cx_sequence *sequence);

#endif
