/*
 * Counted graphs behind handles.
 */
#ifndef CX_GRAPH_GRAPH_H
#define CX_GRAPH_GRAPH_H

#include "base/count.h"
#include "base/lock.h"
#include "graph/order.h"
#include "graph/sequence.h"
#include <ctxrt/graph.h>

/* Counted as an object of its context. */
typedef struct cx_graph {
    cx_count count;
    cx_sequence *sequence;
    cx_lock lock; /* "graph": held while the graph is launched; knows the thread that has it */
    CUgraphExec *execs; /* one for each piece, NULL where nothing was captured; lock held. NULL: not
                           instantiated yet */
    cx_launch_order order; /* lock held */
} cx_graph;

extern cx_pool cx_graphs;

/* Takes a graph that is not published yet. */
ctxrt_status cx_graph_take(const cx_context *context, cx_graph **out_graph);
void cx_graph_put_back(cx_graph *graph);

/* Publishes it with one count; the sequence's count becomes the graph's. */
ctxrt_graph *cx_graph_publish(cx_graph *graph, cx_sequence *sequence);

/* Finds the graph of a handle and counts it, so that it stays until the leave. */
ctxrt_status cx_graph_enter(ctxrt_graph *handle, cx_graph **out_graph);
ctxrt_status cx_graph_leave(ctxrt_graph *handle, ctxrt_status status);

/* Instantiates the graph unless it is done. Lock held, or the graph not published. */
ctxrt_status cx_graph_instantiate(cx_graph *graph, const cx_sequence *sequence);

#endif
