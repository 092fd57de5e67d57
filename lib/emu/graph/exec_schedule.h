/*
 * The pieces of work of a graph's launches. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_EXEC_SCHEDULE_H
#define CX_EMU_EXEC_SCHEDULE_H

#include "emu/graph/graph.h"

/* One piece for each node, with child graphs expanded. The piece of a child graph's node comes
 * behind those of the child and does nothing. */
typedef struct cx_emu_exec_schedule {
    size_t count;
    cx_emu_node **nodes;
    cx_emu_work_piece *pieces; /* launches fill in their requests */
    uint64_t requests_made;    /* cx_emu_changes at that time, if the requests hold until it
                                * changes; else 0 */
    bool moves_bytes;          /* all requests are copies and fills */
    size_t cost_bytes;         /* of all requests; at most SIZE_MAX */
    cx_emu_node_params_room *rooms;
    cx_emu_work **works;
    size_t *after; /* indexes of pieces; each piece has a part of this array */
    size_t after_count, after_capacity;
} cx_emu_exec_schedule;

/* CXU_INVALID_VALUE: there is a cycle, in or before *out_offender or inside its child graph;
 * CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_exec_schedule_make(const cx_emu_graph *graph, cx_emu_exec_schedule *out_plan,
                                     cx_emu_node **out_offender);
void cx_emu_exec_schedule_free(cx_emu_exec_schedule *schedule);

#endif
