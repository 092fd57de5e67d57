/*
 * The nodes of an executable graph as its launches have them, and the order between them. Every
 * function needs the lock "check".
 *
 * Launches share one record as long as nothing changes but what nodes touch.
 */
#ifndef CX_LAYER_CHECK_ORDER_GRAPH_H
#define CX_LAYER_CHECK_ORDER_GRAPH_H

#include "driver/access_log.h"
#include "layer/check/check.h"

/* Graphs of more nodes: nodes of one launch are not compared with each other. */
enum { CX_ORDER_GRAPH_COMPARED = 1 << 14 };

typedef struct cx_order_node {
    cxu_graph_node_type type;
    cx_origin place;                 /* where it was added or captured */
    uint32_t number;                 /* in its graph */
    uint32_t rank;                   /* see cx_order_graph */
    size_t parent;                   /* the node whose child graph it is in; SIZE_MAX: none */
    const char *kernel;              /* NULL: it runs none */
    size_t first_after, after_count; /* in the graph's `after` */
    uint64_t given;                  /* cx_object_turn when it got its parameters */
    cx_object *stale; /* memory that they point to, freed since; NULL: none is known */
} cx_order_node;

/* A node that records an event or calls the program comes after some nodes of its launch and not
 * after the rest. Such nodes are counted, in the order of the launch: the rank of a node is the
 * first of them that comes after it, or `ranks` if none does. */
typedef struct cx_order_graph {
    unsigned references;
    uint32_t exec; /* the number of the executable graph */
    uint32_t ranks;
    size_t count;
    cx_order_node *nodes;
    size_t *after; /* indexes of earlier nodes */
    uint64_t seen; /* ends of memory up to this turn are known to the nodes */
} cx_order_graph;

/* The record of a launch of the executable graph, with a reference of the caller; NULL: no memory.
 */
cx_order_graph *cx_order_graph_of(uintptr_t exec, const cx_access_log_graph *told);
void cx_order_graph_retain(cx_order_graph *graph);
void cx_order_graph_drop(cx_order_graph *graph); /* NULL is harmless */

/* The executable graph is about to end. */
void cx_order_graph_end(uintptr_t exec);

/* True if the graph's order puts the first node before the other one; or if it has too many nodes.
 */
bool cx_order_graph_puts_before(const cx_order_graph *graph, size_t node, size_t other);

/* "node 2 of executable graph 1 (kernel add)" */
void cx_order_graph_text(const cx_order_graph *graph, size_t node, char *text, size_t size);

#endif
