/*
 * Conditional nodes: graphs that a node runs once, again and again, or not at all. The value of a
 * handle decides when the node's turn comes. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_CONDITION_H
#define CX_EMU_CONDITION_H

#include "emu/module/condition_handle.h"
#include "emu/schedule/work.h"

typedef struct cx_emu_graph cx_emu_graph;
typedef struct cx_emu_node cx_emu_node;

/* A node's own: plain values, a reference to the handle, and the bodies. */
typedef struct cx_emu_condition {
    cx_emu_condition_handle *handle;
    cxu_graph_conditional_type type;
    unsigned int size;
    cx_emu_graph **bodies;
    CUgraph *names; /* the user's handles of them */
} cx_emu_condition;

/* The argument of the piece of work of a node. */
typedef struct cx_emu_condition_run {
    const cx_emu_condition *condition;
    cx_emu_context *context;
    uint64_t latest; /* memory when it was queued */
    uint64_t ticket; /* of who watches what the bodies touch (driver/access_log.h); 0: nobody */
    size_t part;     /* of the launch, which has the ticket */
} cx_emu_condition_run;

/* CXU_INVALID_VALUE: no such handle of the graph or of one around it, or a type or size that is
 * none; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_condition_create(const cx_emu_graph *graph,
                                   const cxu_conditional_node_params *params,
                                   cx_emu_condition **out_condition);

/* A copy for a private graph. NULL: no memory. */
cx_emu_condition *cx_emu_condition_clone(const cx_emu_condition *condition);
void cx_emu_condition_destroy(cx_emu_condition *condition); /* with its bodies */

/* The graph's handles lose it. */
void cx_emu_condition_forget_graph(const cx_emu_graph *graph);

/* Checks that a graph may be instantiated. CXU_INVALID_VALUE: a handle decides no node
 * (*out_unused), or a node in a body may not be there, or is in a cycle. */
cxu_result cx_emu_conditions_check(const cx_emu_graph *graph, bool *out_unused,
                                   cx_emu_node **out_offender);

/* Gives handles of an executable graph their values of a launch. */
void cx_emu_conditions_begin(const cx_emu_graph *graph);

/* Makes the request for the piece of work of a node; its argument is `out_run`. Errors of the
 * operations in the bodies. */
cxu_result cx_emu_condition_request(const cx_emu_condition *condition, cx_emu_context *context,
                                    cx_emu_condition_run *out_run,
                                    cx_emu_work_request *out_request);

#endif
