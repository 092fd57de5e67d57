/*
 * What a graph does, piece by piece: made once by a capture, shared by the graph and its clones.
 */
#ifndef CX_GRAPH_SEQUENCE_H
#define CX_GRAPH_SEQUENCE_H

#include "context/context.h"

typedef struct cx_piece {
    CUgraph native; /* captured work; the driver's graph is the sequence's */
} cx_piece;

typedef struct cx_sequence {
    _Atomic int count;
    cx_context *context;
    uint32_t epoch; /* the context's when the capture began; another one now: it is of no use any more */
    size_t piece_count;
    cx_piece *pieces;
} cx_sequence;

/* An empty sequence with one count; CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_sequence_make(cx_context *context, uint32_t epoch, cx_sequence **out_sequence);

/* Room for one more piece, so that cx_sequence_put cannot fail. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_sequence_reserve(cx_sequence *sequence);
void cx_sequence_put(cx_sequence *sequence, cx_piece piece);

/* CTXRT_ERROR_CONTEXT_DESTROYED after a reset. */
ctxrt_status cx_sequence_check(const cx_sequence *sequence);

void cx_sequence_retain(cx_sequence *sequence);

/* With the last count everything goes; the first error of the driver. */
ctxrt_status cx_sequence_release(cx_sequence *sequence);

#endif
