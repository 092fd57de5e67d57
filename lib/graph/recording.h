/*
 * Recordings: operators that a thread submits in one of its frames, on their way to become a graph.
 */
#ifndef CX_GRAPH_RECORDING_H
#define CX_GRAPH_RECORDING_H

#include "graph/graph.h"
#include "graph/operator.h"
#include "memory/private_pool.h"

/* Counted as an object of its context. Belongs to one thread; unowned after the thread's end. */
typedef struct cx_recording {
    cx_context *context;
    uint32_t epoch;
    uint64_t token; /* of its frame */
    bool stopping; /* its operators are being captured: operators that they submit run at once */
    cx_private_pool *pool;
    cx_private_pool_use use;
    cx_operator *operators;
    size_t operator_count, operator_capacity;
    int thread_number;
    struct cx_recording *next; /* of the thread, or left by threads that have ended */
} cx_recording;

/* Makes the sequence of a recording whose frame is the top one. The sequence takes the operators
 * and the pool; on failure the recording keeps them. */
ctxrt_status cx_recording_build(cx_thread *thread, cx_recording *recording,
                                cx_sequence **out_sequence);

#endif
