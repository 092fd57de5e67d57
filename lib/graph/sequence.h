/*
 * What a graph does, piece by piece: made once by a capture or a recording, shared by the graph and
 * its clones.
 */
#ifndef CX_GRAPH_SEQUENCE_H
#define CX_GRAPH_SEQUENCE_H

#include "graph/code.h"
#include "graph/operator.h"
#include "memory/private_pool.h"

/* Captured work, or operators that each launch calls. */
typedef struct cx_graph_piece {
    CUgraph native;      /* the sequence's; NULL: nothing was captured */
    size_t node_count;   /* captured; 0 where the driver does not tell */
    size_t first, count; /* the operators that it came from; none for a stream's capture */
} cx_graph_piece;

typedef struct cx_sequence {
    _Atomic int count;
    cx_context *context;
    uint32_t
        epoch; /* the context's when it was captured; another one now: it is of no use any more */
    cx_graph_piece *pieces;
    size_t piece_count;
    cx_operator *operators; /* in their order */
    size_t operator_count;
    cx_graph_code code;    /* of what was captured */
    cx_private_pool *pool; /* of a recording; else NULL */
    /* likewise: behind what its frame's streams did to the memory before; first launches wait for
     * them */
    CUevent ready[CX_PRIVATE_POOL_STREAMS_MAX + 1];
    int ready_count;
    _Atomic bool unsettled; /* likewise in streams that nobody can wait for by themselves */
} cx_sequence;

/* An empty sequence with one count; CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_sequence_make(cx_context *context, uint32_t epoch, cx_sequence **out_sequence);

/* Room for one more piece, for cx_sequence_put. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_sequence_reserve(cx_sequence *sequence);
/* The piece is the sequence's, whatever comes back. Counts the nodes of what was captured, and
 * notes whose code they need: errors of cx_graph_code_add. */
ctxrt_status cx_sequence_put(cx_sequence *sequence, cx_graph_piece piece);

/* CTXRT_ERROR_CONTEXT_DESTROYED after a reset. */
ctxrt_status cx_sequence_check(const cx_sequence *sequence);

void cx_sequence_retain(cx_sequence *sequence);

/* With the last count everything goes: captured work, its code, operators, the last first, and the
 * pool. The first error of the driver. */
ctxrt_status cx_sequence_release(cx_sequence *sequence);

#endif
