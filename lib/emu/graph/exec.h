/*
 * Executable graphs: a private copy of a graph, and the schedule that submits its nodes as
 * pieces of work. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_EXEC_H
#define CX_EMU_EXEC_H

#include "emu/graph/exec_schedule.h"

typedef struct cx_emu_exec {
    void *name;
    cx_emu_graph *graph;
    uint64_t flags;
    bool has_memory, has_conditions;
    unsigned int number; /* in the order of their making */
    cx_emu_exec_schedule schedule;
    cx_emu_work *last;                   /* the end of the last launch; a reference, or NULL */
    struct cx_emu_exec *previous, *next; /* all of them, so that leak checkers see them */
} cx_emu_exec;

/* CXU_INVALID_VALUE */
cxu_result cx_emu_exec_find(CUgraphExec handle, cx_emu_exec **out_exec);

/*
 * CXU_INVALID_VALUE: there is a cycle, in or before the node *out_offender of `graph` or inside its
 * child graph. CXU_OUT_OF_MEMORY: *out_offender is NULL.
 */
cxu_result cx_emu_exec_create(cx_emu_graph *graph, uint64_t flags, cx_emu_exec **out_exec,
                              cx_emu_node **out_offender);

/* True if an executable graph was made from the graph. */
bool cx_emu_exec_exists(const cx_emu_graph *graph);

/* Launched work goes on. */
void cx_emu_exec_destroy(cx_emu_exec *exec);

/* Submits a launch. Errors of cx_emu_node_params_request and cx_emu_work_submit_batch: nothing is
 * done. */
cxu_result cx_emu_exec_launch(cx_emu_exec *exec, cx_emu_stream *stream);

/* A launch in a capturing stream: adds a node with the graph as its child. CXU_NOT_SUPPORTED: too
 * deeply nested. */
cxu_result cx_emu_exec_capture(const cx_emu_exec *exec, cx_emu_stream *stream);

/* Changes, for later launches, the node made from the user's node. CXU_INVALID_VALUE: there is
 * none, or it cannot be changed into that; errors of cx_emu_node_params_check. */
cxu_result cx_emu_exec_change(CUgraphExec exec, CUgraphNode node,
                              const cx_emu_node_params *node_params);

/* Changes all nodes of a child graph. CXU_GRAPH_EXEC_UPDATE_FAILURE: they differ too much. */
cxu_result cx_emu_exec_change_child(CUgraphExec exec, CUgraphNode node, CUgraph child);

static inline CUgraphExec cx_emu_exec_handle(const cx_emu_exec *exec)
{
    return exec->name;
}

#endif
