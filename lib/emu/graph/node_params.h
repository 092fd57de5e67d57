/*
 * The parameters of graph nodes, which say what a node does: its operation. All functions: lock
 * "emu.state" held.
 */
#ifndef CX_EMU_NODE_PARAMS_H
#define CX_EMU_NODE_PARAMS_H

#include "emu/graph/condition.h"
#include "emu/schedule/copy.h"
#include "emu/schedule/fill.h"
#include "emu/graph/graph_memory.h"
#include "emu/module/launch.h"
#include "emu/schedule/shared_event.h"
#include "emu/schedule/value_op.h"

typedef struct cx_emu_graph cx_emu_graph;

/* Plain values: the objects that they name are looked up each time the operation is submitted. */
typedef struct cx_emu_node_params {
    cxu_graph_node_type type;
    cx_emu_context *context; /* of copies, fills and values, else NULL */
    uint64_t context_id;
    union {
        cxu_memcpy_3d copy;
        cxu_memset_node_params fill;
        cxu_host_node_params host;
        cx_emu_launch kernel; /* the node has a reference to the arguments */
        CUevent event;       /* of both event nodes */
        cx_emu_values *values; /* a node has a reference */
        cx_emu_graph *child; /* the node's own */
        cx_emu_block *block; /* of nodes that allocate or free; they have a reference */
        cx_emu_condition *condition; /* the node's own, with its bodies */
    } of;
} cx_emu_node_params;

/* Room for the argument of the operation's piece of work. */
typedef union cx_emu_node_params_room {
    cx_emu_transfer transfer;
    cx_emu_painting painting;
    cxu_host_node_params host;
    cx_emu_run run;
    cx_emu_values_run values;
    cx_emu_condition_run condition;
    cx_emu_shared_record record; /* begun by whoever submits it */
    cx_emu_shared_wait wait;
} cx_emu_node_params_room;

/* Retains and drops the references that a node keeps. */
void cx_emu_node_params_retain(const cx_emu_node_params *node_params);
void cx_emu_node_params_drop(const cx_emu_node_params *node_params);

/* Replaces *own, the operation of a node or its copy, by another one. */
void cx_emu_node_params_assign(cx_emu_node_params *own, const cx_emu_node_params *node_params);

/*
 * Makes the request for a piece of work that does the operation now. A child graph does nothing by
 * itself, nor does an event record: the submitter records the work in the event. `latest` is as in
 * cx_emu_reach.
 *
 * CXU_CONTEXT_IS_DESTROYED: its context is gone. CXU_INVALID_HANDLE: its event is.
 * CXU_INVALID_VALUE: its memory is, or its description is invalid. CXU_CAPTURED_EVENT: it waits for
 * an event that was last recorded while capturing.
 */
cxu_result cx_emu_node_params_request(const cx_emu_node_params *node_params, uint64_t latest,
                                      cx_emu_node_params_room *room,
                                      cx_emu_work_request *out_request);

/*
 * Does the operation of a call in a stream: adds a node to the graph that the stream captures, or
 * gives the stream a piece of work. The stream passed cx_emu_capture_check. An operation that
 * cannot become work is not captured either. Errors of cx_emu_node_params_request and
 * cx_emu_work_submit; CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_node_params_submit(cx_emu_stream *stream, const cx_emu_node_params *node_params);

enum { CX_EMU_RECORDED_EVENTS = 2 };

/* The same, and records at most CX_EMU_RECORDED_EVENTS events behind the operation: all of that is
 * done or none. The events are of the stream's context, without times and other processes. */
cxu_result cx_emu_node_params_submit_recorded(cx_emu_stream *stream,
                                            const cx_emu_node_params *node_params,
                                            cx_emu_event *const *events, size_t count);

/* Checks the operation without making a request. */
cxu_result cx_emu_node_params_check(const cx_emu_node_params *node_params);

/* Sets the context of a copy or a fill. Errors of cx_emu_context_find. */
cxu_result cx_emu_node_params_set_context(cx_emu_node_params *node_params, CUcontext context);

/* True if an executable graph accepts `after`, of the same type, in place of `before`. */
bool cx_emu_node_params_compatible(const cx_emu_node_params *before,
                                   const cx_emu_node_params *after);

#endif
