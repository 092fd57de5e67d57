#include "emu/graph/condition.h"
#include "driver/access_log.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/sticky.h"
#include "emu/graph/exec_watch.h"
#include <sched.h>
#include <stdlib.h>

#define BODIES_MAX 65536

/* ---- handles ---- */

void cx_emu_condition_forget_graph(const cx_emu_graph *graph)
{
    cx_emu_condition_handle *next;

    for (cx_emu_condition_handle *each = cx_emu_condition_handle_first(); each != NULL;
         each = next) {
        next = each->next;
        if (each->graph != graph)
            continue;
        each->graph = NULL;
        cx_emu_condition_handle_drop(each);
    }
}

cxu_result cx_emu_call_graph_conditional_handle_create(uint64_t *out_handle, CUgraph graph_handle,
                                                       CUcontext context_handle,
                                                       unsigned int value, unsigned int flags)
{
    cx_emu_graph *graph;
    cx_emu_context *context;
    cx_emu_condition_handle *handle;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_handle == NULL || flags > CXU_GRAPH_COND_ASSIGN_DEFAULT)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(graph_handle, &graph);
    if (result == CXU_SUCCESS)
        result = cx_emu_context_find(context_handle, &context);
    if (result == CXU_SUCCESS) {
        handle = cx_emu_condition_handle_make(graph, value, flags == CXU_GRAPH_COND_ASSIGN_DEFAULT);
        if (handle != NULL)
            *out_handle = handle->id;
        else
            result = CXU_OUT_OF_MEMORY;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static bool is_around(const cx_emu_graph *outer, const cx_emu_graph *graph)
{
    for (; graph != NULL; graph = graph->owner != NULL ? graph->owner->graph : NULL)
        if (graph == outer)
            return true;
    return false;
}

static cx_emu_condition_handle *find_handle(uint64_t id, const cx_emu_graph *graph)
{
    for (cx_emu_condition_handle *each = cx_emu_condition_handle_first(); each != NULL;
         each = each->next)
        if (each->id == id)
            return each->graph != NULL && is_around(each->graph, graph) ? each : NULL;
    return NULL;
}

/* ---- conditions ---- */

static bool size_valid(cxu_graph_conditional_type type, unsigned int size)
{
    switch (type) {
    case CXU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case CXU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    case CXU_GRAPH_COND_TYPE_SWITCH:
        return size > 0;
    default:
        return false;
    }
}

static cx_emu_condition *open_condition(cx_emu_condition_handle *handle,
                                        cxu_graph_conditional_type type, unsigned int size)
{
    cx_emu_condition *condition = calloc(1, sizeof *condition);

    if (condition == NULL)
        return NULL;
    *condition = (cx_emu_condition){.handle = handle, .type = type};
    handle->references++;
    condition->bodies = calloc(size, sizeof(cx_emu_graph *));
    condition->names = calloc(size, sizeof(CUgraph));
    if (condition->bodies != NULL && condition->names != NULL)
        return condition;
    cx_emu_condition_destroy(condition);
    return NULL;
}

static bool put_body(cx_emu_condition *condition, cx_emu_graph *body)
{
    if (body == NULL)
        return false;
    condition->names[condition->size] = cx_emu_graph_handle(body);
    condition->bodies[condition->size++] = body;
    return true;
}

cxu_result cx_emu_condition_create(const cx_emu_graph *graph,
                                   const cxu_conditional_node_params *params,
                                   cx_emu_condition **out_condition)
{
    cx_emu_condition_handle *handle = find_handle(params->handle, graph);
    cx_emu_condition *condition;

    if (handle == NULL || handle->decides || !size_valid(params->type, params->size))
        return CXU_INVALID_VALUE;
    if (params->size > BODIES_MAX)
        return CXU_OUT_OF_MEMORY;
    condition = open_condition(handle, params->type, params->size);
    if (condition == NULL)
        return CXU_OUT_OF_MEMORY;
    for (unsigned int i = 0; i < params->size; i++)
        if (!put_body(condition, cx_emu_graph_create(true))) {
            cx_emu_condition_destroy(condition);
            return CXU_OUT_OF_MEMORY;
        }
    *out_condition = condition;
    return CXU_SUCCESS;
}

cx_emu_condition *cx_emu_condition_clone(const cx_emu_condition *condition)
{
    cx_emu_condition *copy =
        open_condition(condition->handle, condition->type, condition->size);

    for (unsigned int i = 0; copy != NULL && i < condition->size; i++)
        if (!put_body(copy, cx_emu_graph_clone(condition->bodies[i], false))) {
            cx_emu_condition_destroy(copy);
            return NULL;
        }
    return copy;
}

void cx_emu_condition_destroy(cx_emu_condition *condition)
{
    for (unsigned int i = 0; i < condition->size; i++)
        cx_emu_graph_destroy(condition->bodies[i]);
    free(condition->bodies);
    free(condition->names);
    cx_emu_condition_handle_drop(condition->handle);
    free(condition);
}

/* ---- instantiation ---- */

static bool may_be_in_body(cxu_graph_node_type type)
{
    switch (type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
    case CXU_GRAPH_NODE_TYPE_MEMSET:
    case CXU_GRAPH_NODE_TYPE_EMPTY:
    case CXU_GRAPH_NODE_TYPE_GRAPH:
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return true;
    default:
        return false;
    }
}

static cxu_result check_nodes(const cx_emu_graph *graph, bool in_body, cx_emu_node **out_offender);

static cxu_result check_bodies(const cx_emu_condition *condition, cx_emu_node **out_offender)
{
    cx_emu_node *first;
    cxu_result result = CXU_SUCCESS;

    for (unsigned int i = 0; result == CXU_SUCCESS && i < condition->size; i++) {
        result = cx_emu_graph_order(condition->bodies[i], &first, out_offender);
        if (result == CXU_SUCCESS)
            result = check_nodes(condition->bodies[i], true, out_offender);
    }
    return result;
}

static cxu_result check_nodes(const cx_emu_graph *graph, bool in_body, cx_emu_node **out_offender)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_node *each = graph->first; result == CXU_SUCCESS && each != NULL;
         each = each->next) {
        const cx_emu_node_params *node_params = &each->node_params;

        if (in_body && !may_be_in_body(node_params->type)) {
            *out_offender = each;
            return CXU_INVALID_VALUE;
        }
        if (node_params->type == CXU_GRAPH_NODE_TYPE_CONDITIONAL)
            result = check_bodies(node_params->of.condition, out_offender);
        if (node_params->type == CXU_GRAPH_NODE_TYPE_GRAPH)
            result = check_nodes(node_params->of.child, in_body, out_offender);
    }
    return result;
}

cxu_result cx_emu_conditions_check(const cx_emu_graph *graph, bool *out_unused,
                                   cx_emu_node **out_offender)
{
    const cx_emu_condition_handle *each = cx_emu_condition_handle_first();

    *out_unused = false;
    for (; each != NULL; each = each->next)
        if (each->graph == graph && !each->decides)
            *out_unused = true;
    return *out_unused ? CXU_INVALID_VALUE : check_nodes(graph, false, out_offender);
}

/* ---- running ---- */

void cx_emu_conditions_begin(const cx_emu_graph *graph)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next) {
        const cx_emu_node_params *node_params = &each->node_params;

        if (node_params->type == CXU_GRAPH_NODE_TYPE_GRAPH)
            cx_emu_conditions_begin(node_params->of.child);
        if (node_params->type != CXU_GRAPH_NODE_TYPE_CONDITIONAL)
            continue;
        if (node_params->of.condition->handle->assigned_at_launch)
            node_params->of.condition->handle->value =
                node_params->of.condition->handle->value_at_launch;
        for (unsigned int i = 0; i < node_params->of.condition->size; i++)
            cx_emu_conditions_begin(node_params->of.condition->bodies[i]);
    }
}

static bool may_go_on(const cx_emu_condition_run *run)
{
    return atomic_load_explicit(&cx_emu_current_phase, memory_order_relaxed) == CX_EMU_RUNNING &&
           cx_emu_context_blocked(run->context) == CXU_SUCCESS &&
           !cx_emu_teardown_deadline_is_over(&run->context->teardown_deadline);
}

static void run_condition_locked(const cx_emu_condition_run *run);
static void run_graph(const cx_emu_graph *graph, const cx_emu_condition_run *run);

/* Keeps the argument as a piece of the launch would that the node is a part of. */
static void retain_argument(const cx_emu_work_request *request, uint64_t ticket)
{
    const uint64_t before = cx_access_log_ticket;

    cx_access_log_ticket = ticket;
    if (request->retain != NULL)
        request->retain(request->argument);
    cx_access_log_ticket = before;
}

/* Does what a worker does with a piece of work of its own. */
static void run_request(cx_emu_work_request *request, uint64_t ticket)
{
    retain_argument(request, ticket);
    for (int i = 0; i < CX_EMU_WORK_USES; i++) {
        cx_emu_allocation_use(request->uses[i]);
        cx_emu_allocation_reach(request->uses[i], 1);
    }
    cx_lock_leave(&cx_emu_lock);
    request->call(request->argument);
    cx_lock_enter(&cx_emu_lock);
    for (int i = 0; i < CX_EMU_WORK_USES; i++) {
        cx_emu_allocation_reach(request->uses[i], -1);
        cx_emu_work_drop_allocation(request->uses[i]);
    }
    if (request->release != NULL)
        request->release(request->argument);
}

static void run_watched(const cx_emu_node *node, const cx_emu_condition_run *run,
                        cx_emu_node_params_room *room, cx_emu_work_request *request)
{
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_KERNEL)
        room->run.part = run->part;
    else if (run->ticket)
        cx_emu_exec_watch_moved(node, run->ticket, run->part);
    run_request(request, run->ticket);
}

/* Memory of a node that went after the launch is as memory that nobody has; a free behind the
 * launch is still ahead. */
static void run_node(const cx_emu_node *node, const cx_emu_condition_run *run)
{
    cx_emu_node_params_room room;
    cx_emu_work_request request;
    cxu_result result;

    if (node->disabled)
        return;
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH) {
        run_graph(node->node_params.of.child, run);
        return;
    }
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL) {
        cx_emu_condition_run inner = *run;

        inner.condition = node->node_params.of.condition;
        run_condition_locked(&inner);
        return;
    }
    result = cx_emu_node_params_request(&node->node_params, run->latest, &room, &request);
    if (result != CXU_SUCCESS)
        cx_emu_context_fail(run->context, CXU_ILLEGAL_ADDRESS,
                            "a node in the body of a conditional node");
    else if (request.call != NULL)
        run_watched(node, run, &room, &request);
}

static void run_graph(const cx_emu_graph *graph, const cx_emu_condition_run *run)
{
    cx_emu_node *node, *offender;

    if (cx_emu_graph_order(graph, &node, &offender) != CXU_SUCCESS)
        return; /* instantiating has refused such a body */
    for (; node != NULL && may_go_on(run); node = node->next_ordered)
        run_node(node, run);
}

/* A body without work would keep the lock. */
static void let_others_in(void)
{
    cx_lock_leave(&cx_emu_lock);
    sched_yield();
    cx_lock_enter(&cx_emu_lock);
}

static void run_condition_locked(const cx_emu_condition_run *run)
{
    const cx_emu_condition *condition = run->condition;
    const cx_emu_condition_handle *handle = condition->handle;

    switch (condition->type) {
    case CXU_GRAPH_COND_TYPE_IF:
        if (handle->value != 0)
            run_graph(condition->bodies[0], run);
        else if (condition->size == 2)
            run_graph(condition->bodies[1], run);
        break;
    case CXU_GRAPH_COND_TYPE_WHILE:
        while (handle->value != 0 && may_go_on(run)) {
            run_graph(condition->bodies[0], run);
            let_others_in();
        }
        break;
    case CXU_GRAPH_COND_TYPE_SWITCH:
        if (handle->value < condition->size)
            run_graph(condition->bodies[handle->value], run);
        break;
    }
}

static void run_condition(void *argument)
{
    const cx_emu_condition_run *run = argument;

    cx_lock_enter(&cx_emu_lock);
    run_condition_locked(run);
    if (cx_emu_teardown_deadline_is_over(&run->context->teardown_deadline))
        cx_emu_context_abandon(run->context);
    cx_lock_leave(&cx_emu_lock);
}

/* ---- who watches ---- */

static void promise_touches(void *argument)
{
    cx_emu_condition_run *run = argument;

    run->ticket = cx_access_log_watched() != NULL ? cx_access_log_ticket : 0;
    if (run->ticket)
        cx_access_log_watched()->promised(run->ticket, run->part);
}

/* The work in the bodies has told what it touched; there may have been none. */
static void end_touches(void *argument)
{
    const cx_emu_condition_run *run = argument;

    if (run->ticket)
        cx_access_log_watched()->told(run->ticket, run->part, NULL, 0);
}

static cxu_result check_operations(const cx_emu_graph *graph)
{
    cxu_result result = CXU_SUCCESS;

    for (const cx_emu_node *each = graph->first; result == CXU_SUCCESS && each != NULL;
         each = each->next) {
        if (each->disabled)
            continue;
        result = each->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH
                     ? check_operations(each->node_params.of.child)
                     : cx_emu_node_params_check(&each->node_params);
    }
    return result;
}

cxu_result cx_emu_condition_request(const cx_emu_condition *condition, cx_emu_context *context,
                                    cx_emu_condition_run *out_run,
                                    cx_emu_work_request *out_request)
{
    for (unsigned int i = 0; i < condition->size; i++) {
        cxu_result result = check_operations(condition->bodies[i]);

        if (result != CXU_SUCCESS)
            return result;
    }
    *out_run = (cx_emu_condition_run){
        .condition = condition, .context = context, .latest = cx_emu_memory_latest()};
    *out_request = (cx_emu_work_request){.kind = CX_EMU_WORK_KERNEL,
                                         .call = run_condition,
                                         .retain = promise_touches,
                                         .release = end_touches,
                                         .argument = out_run,
                                         .argument_bytes = sizeof *out_run,
                                         .doer = context};
    return CXU_SUCCESS;
}
