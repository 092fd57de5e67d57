#include "emu/graph/exec.h"
#include "emu/graph/capture.h"
#include "emu/graph/exec_watch.h"
#include "emu/schedule/event.h"
#include "emu/schedule/fault.h"
#include "emu/base/handle.h"
#include "emu/schedule/schedule.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"
#include <stdlib.h>

typedef struct name {
    cx_emu_handle_slot slot;
    cx_emu_exec *exec;
} name;

static cx_emu_handles names = {.slot_bytes = sizeof(name)};
static cx_emu_exec *execs;
static unsigned int last_number;

cxu_result cx_emu_exec_find(CUgraphExec handle, cx_emu_exec **out_exec)
{
    if (!cx_emu_handle_live(&names, handle))
        return CXU_INVALID_VALUE;
    *out_exec = ((const name *)(const void *)handle)->exec;
    return CXU_SUCCESS;
}

/* ---- making and destroying ---- */

static void link_in(cx_emu_exec *exec)
{
    exec->next = execs;
    if (execs != NULL)
        execs->previous = exec;
    execs = exec;
}

/* The node of the graph that a node of its copy was copied from. */
static cx_emu_node *original_of(const cx_emu_graph *graph, const cx_emu_node *copy)
{
    for (cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if (each->id == copy->source_id)
            return each;
    return NULL;
}

cxu_result cx_emu_exec_create(cx_emu_graph *graph, uint64_t flags, cx_emu_exec **out_exec,
                              cx_emu_node **out_offender)
{
    cxu_result result = CXU_OUT_OF_MEMORY;
    cx_emu_exec *exec = calloc(1, sizeof *exec);
    cx_emu_node *offender = NULL;
    name *own;

    *out_offender = NULL;
    if (exec == NULL)
        return result;
    exec->flags = flags;
    exec->number = ++last_number;
    exec->graph = cx_emu_graph_clone(graph, false);
    if (exec->graph == NULL)
        goto free_exec;
    exec->has_memory = cx_emu_graph_has_memory(exec->graph);
    exec->has_conditions = cx_emu_graph_has_conditions(exec->graph);
    result = cx_emu_exec_schedule_make(exec->graph, &exec->schedule, &offender);
    if (result != CXU_SUCCESS)
        goto destroy_graph;
    result = CXU_OUT_OF_MEMORY;
    own = cx_emu_handle_take(&names);
    if (own == NULL)
        goto free_plan;
    own->exec = exec;
    exec->name = own;
    link_in(exec);
    *out_exec = exec;
    return CXU_SUCCESS;

free_plan:
    cx_emu_exec_schedule_free(&exec->schedule);
destroy_graph:
    if (result == CXU_INVALID_VALUE)
        *out_offender = original_of(graph, offender);
    cx_emu_graph_destroy(exec->graph);
free_exec:
    free(exec);
    return result;
}

static void destroy_graph(void *argument)
{
    cx_emu_graph_destroy(argument);
}

/* True if launches that are not done need the graph: its user objects, memory or bodies. */
static bool graph_outlives(const cx_emu_exec *exec)
{
    return exec->graph->holdings.count > 0 || exec->has_memory || exec->has_conditions;
}

/* The end of the last launch, which does nothing else, destroys the graph. */
static void release_graph(cx_emu_exec *exec)
{
    if (exec->last == NULL || exec->last->done || !graph_outlives(exec)) {
        cx_emu_graph_destroy(exec->graph);
        return;
    }
    exec->last->argument = exec->graph;
    exec->last->release = destroy_graph;
}

void cx_emu_exec_destroy(cx_emu_exec *exec)
{
    *(exec->previous != NULL ? &exec->previous->next : &execs) = exec->next;
    if (exec->next != NULL)
        exec->next->previous = exec->previous;
    cx_emu_handle_return(&names, exec->name);
    release_graph(exec);
    cx_emu_work_drop(exec->last);
    cx_emu_exec_schedule_free(&exec->schedule);
    free(exec);
}

bool cx_emu_exec_exists(const cx_emu_graph *graph)
{
    for (const cx_emu_exec *each = execs; each != NULL; each = each->next)
        if (each->graph->source_id == graph->id)
            return true;
    return false;
}

/* ---- launching ---- */

/* True for a node that only moves bytes of memory, which stays in place while the lock is held. */
static bool moves_bytes(const cx_emu_node *node)
{
    switch (node->node_params.type) {
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
    case CXU_GRAPH_NODE_TYPE_MEMSET:
    case CXU_GRAPH_NODE_TYPE_EMPTY:
    case CXU_GRAPH_NODE_TYPE_GRAPH:
        return true;
    default:
        return node->disabled;
    }
}

static cxu_result make_request(cx_emu_exec_schedule *schedule, size_t i)
{
    const cx_emu_node *node = schedule->nodes[i];
    cx_emu_work_request *request = &schedule->pieces[i].request;
    cx_emu_node_params_room *room = &schedule->rooms[i];
    cxu_result result;

    if (node->disabled) {
        *request = (cx_emu_work_request){.kind = CX_EMU_WORK_LOCKED};
        return CXU_SUCCESS;
    }
    result = cx_emu_node_params_request(&node->node_params, 0, room, request);
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_KERNEL)
        room->run.part = i;
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL)
        room->condition.part = i;
    return result;
}

static cxu_result make_requests(cx_emu_exec_schedule *schedule)
{
    schedule->requests_made = 0;
    schedule->moves_bytes = true;
    schedule->cost_bytes = 0;
    for (size_t i = 0; i < schedule->count; i++) {
        cxu_result result = make_request(schedule, i);

        if (result != CXU_SUCCESS)
            return result;
        schedule->moves_bytes = schedule->moves_bytes && moves_bytes(schedule->nodes[i]);
        if (__builtin_add_overflow(schedule->cost_bytes, schedule->pieces[i].request.cost_bytes,
                                   &schedule->cost_bytes))
            schedule->cost_bytes = SIZE_MAX;
    }
    if (schedule->moves_bytes)
        schedule->requests_made = cx_emu_changes;
    return CXU_SUCCESS;
}

/* Requests hold as long as nothing was made, freed or failed. */
static bool has_requests(const cx_emu_exec_schedule *schedule)
{
    return schedule->requests_made == cx_emu_changes && !cx_emu_failures;
}

static bool records_event(const cx_emu_exec_schedule *schedule, size_t i)
{
    return schedule->nodes[i]->node_params.type == CXU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

/* Makes the recorded events refer to this launch. */
static void record_events(const cx_emu_exec_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++) {
        cx_emu_event *event;

        if (records_event(schedule, i) &&
            cx_emu_event_find(schedule->nodes[i]->node_params.of.event, &event) == CXU_SUCCESS)
            cx_emu_event_set_shared_record(event, &schedule->rooms[i].record, schedule->works[i]);
    }
}

static void end_records(const cx_emu_exec_schedule *schedule, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (records_event(schedule, i))
            cx_emu_shared_record_end(&schedule->rooms[i].record);
}

/* Events that other processes know need an entry there: all of them get one, or none. */
static bool begin_records(const cx_emu_exec_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++) {
        cx_emu_shared_record *record = &schedule->rooms[i].record;

        if (records_event(schedule, i) && !cx_emu_shared_record_begin(record->shared, record)) {
            end_records(schedule, i);
            return false;
        }
    }
    return true;
}

static bool is_tiny(const cx_emu_exec_schedule *schedule)
{
    const cx_emu_work_request all = {.kind = CX_EMU_WORK_CALL, .cost_bytes = schedule->cost_bytes};

    return schedule->moves_bytes && schedule->cost_bytes <= CX_EMU_TINY_BYTES &&
           (schedule->count == 0 || cx_emu_schedule_at_once(&all));
}

/* True if all of it can be done before the launch returns. */
static bool can_run_here(const cx_emu_exec *exec, const cx_emu_stream *stream)
{
    return cx_emu_call_in_progress.work_fault == CXU_SUCCESS &&
           cx_emu_work_nothing_before(stream, exec->last) && is_tiny(&exec->schedule);
}

static void run_here(const cx_emu_exec_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++) {
        const cx_emu_work_request *request = &schedule->pieces[i].request;

        if (request->call != NULL)
            request->call(request->argument);
    }
}

static void begin_conditions(void *argument)
{
    cx_emu_conditions_begin(argument);
}

static cxu_result submit_plan(cx_emu_exec *exec, cx_emu_stream *stream)
{
    cx_emu_exec_schedule *schedule = &exec->schedule;
    cx_emu_work_batch batch = {.pieces = schedule->pieces,
                               .count = schedule->count,
                               .after = schedule->after,
                               .after_work = exec->last};
    if (exec->has_conditions) {
        batch.begin = begin_conditions;
        batch.argument = exec->graph;
    }
    cx_emu_work *end;
    cxu_result result;

    if (!begin_records(schedule))
        return CXU_OUT_OF_MEMORY;
    result = cx_emu_work_submit_batch(stream, &batch, schedule->works, &end);
    if (result != CXU_SUCCESS) {
        end_records(schedule, schedule->count);
        return result;
    }
    record_events(schedule);
    for (size_t i = 0; i < schedule->count; i++)
        cx_emu_work_drop(schedule->works[i]);
    cx_emu_work_drop(exec->last);
    exec->last = end;
    return CXU_SUCCESS;
}

/* A launch that cannot have its blocks does nothing, and one that is refused takes none. */
static cxu_result submit_with_memory(cx_emu_exec *exec, cx_emu_stream *stream)
{
    cxu_result result = CXU_SUCCESS;

    if (exec->has_memory)
        result = cx_emu_graph_memory_check(
            exec->graph, exec->flags & CXU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    if (result == CXU_SUCCESS)
        result = submit_plan(exec, stream);
    if (result == CXU_SUCCESS && exec->has_memory)
        cx_emu_graph_memory_launched(exec->graph);
    return result;
}

cxu_result cx_emu_exec_launch(cx_emu_exec *exec, cx_emu_stream *stream)
{
    cxu_result result;

    cx_emu_exec_watch_launch(&exec->schedule);
    result = has_requests(&exec->schedule) ? CXU_SUCCESS : make_requests(&exec->schedule);
    if (result != CXU_SUCCESS)
        return result;
    if (!can_run_here(exec, stream))
        return submit_with_memory(exec, stream);
    run_here(&exec->schedule);
    return CXU_SUCCESS;
}

cxu_result cx_emu_exec_capture(const cx_emu_exec *exec, cx_emu_stream *stream)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_GRAPH};
    cxu_result result;

    if (!cx_emu_graph_has_room_for(stream->branch->capture->graph, exec->graph))
        return cx_emu_not_supported("cuGraphLaunch", "a graph so deep in others");
    if (exec->has_memory || exec->has_conditions)
        return cx_emu_not_supported("cuGraphLaunch",
                                    "a graph with memory or conditions in a capture");
    node_params.of.child = cx_emu_graph_clone(exec->graph, true);
    if (node_params.of.child == NULL)
        return CXU_OUT_OF_MEMORY;
    result = cx_emu_capture_add(stream, &node_params);
    if (result != CXU_SUCCESS)
        cx_emu_graph_destroy(node_params.of.child);
    return result;
}
