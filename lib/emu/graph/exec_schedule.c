#include "emu/graph/exec_schedule.h"
#include <stdlib.h>

/* A part of schedule->after. */
typedef struct part {
    size_t first, count;
} part;

static size_t count_pieces(const cx_emu_graph *graph)
{
    size_t count = graph->node_count;

    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if (each->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH)
            count += count_pieces(each->node_params.of.child);
    return count;
}

static bool put_after(cx_emu_exec_schedule *schedule, size_t index)
{
    if (schedule->after_count == schedule->after_capacity) {
        size_t capacity = schedule->after_capacity ? 2 * schedule->after_capacity : 16;
        size_t *after = reallocarray(schedule->after, capacity, sizeof *after);

        if (after == NULL)
            return false;
        schedule->after = after;
        schedule->after_capacity = capacity;
    }
    schedule->after[schedule->after_count++] = index;
    return true;
}

/* Adds the dependencies of a node; for a root of a child graph, those of the child's node. */
static bool put_before(cx_emu_exec_schedule *schedule, const cx_emu_node *node, part outside,
                       part *out_part)
{
    *out_part = outside;
    if (node->before.count == 0)
        return true;
    *out_part = (part){schedule->after_count, node->before.count};
    for (size_t i = 0; i < node->before.count; i++)
        if (!put_after(schedule, node->before.items[i]->index))
            return false;
    return true;
}

/* Makes the piece of a child graph's node depend on the whole child. */
static bool put_ends(cx_emu_exec_schedule *schedule, const cx_emu_graph *child, part outside,
                     part *out_part)
{
    *out_part = outside;
    if (child->node_count == 0)
        return true;
    *out_part = (part){schedule->after_count, 0};
    for (const cx_emu_node *each = child->first; each != NULL; each = each->next)
        if (each->after.count == 0 && !put_after(schedule, each->index))
            return false;
    out_part->count = schedule->after_count - out_part->first;
    return true;
}

static cxu_result lay_open(cx_emu_exec_schedule *schedule, const cx_emu_graph *graph, part outside,
                           cx_emu_node **out_offender);

static cxu_result put_node(cx_emu_exec_schedule *schedule, cx_emu_node *node, part outside)
{
    cx_emu_node *inside;
    part before;
    cxu_result result;

    if (!put_before(schedule, node, outside, &before))
        return CXU_OUT_OF_MEMORY;
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH) {
        result = lay_open(schedule, node->node_params.of.child, before, &inside);
        if (result != CXU_SUCCESS)
            return result;
        if (!put_ends(schedule, node->node_params.of.child, before, &before))
            return CXU_OUT_OF_MEMORY;
    }
    node->index = schedule->count++;
    schedule->nodes[node->index] = node;
    schedule->pieces[node->index].first_after = before.first;
    schedule->pieces[node->index].after_count = before.count;
    return CXU_SUCCESS;
}

static cxu_result lay_open(cx_emu_exec_schedule *schedule, const cx_emu_graph *graph, part outside,
                           cx_emu_node **out_offender)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_graph_order(graph, &node, out_offender);

    if (result != CXU_SUCCESS)
        return result;
    for (; node != NULL && result == CXU_SUCCESS; node = node->next_ordered) {
        result = put_node(schedule, node, outside);
        *out_offender = node;
    }
    return result;
}

cxu_result cx_emu_exec_schedule_make(const cx_emu_graph *graph, cx_emu_exec_schedule *out_plan,
                                     cx_emu_node **out_offender)
{
    size_t limit = count_pieces(graph) + 1;
    cx_emu_exec_schedule schedule = {.nodes = calloc(limit, sizeof(cx_emu_node *)),
                                     .pieces = calloc(limit, sizeof(cx_emu_work_piece)),
                                     .rooms = calloc(limit, sizeof(cx_emu_node_params_room)),
                                     .works = calloc(limit, sizeof(cx_emu_work *))};
    cxu_result result = CXU_OUT_OF_MEMORY;

    if (schedule.nodes != NULL && schedule.pieces != NULL && schedule.rooms != NULL &&
        schedule.works != NULL)
        result = lay_open(&schedule, graph, (part){0, 0}, out_offender);
    if (result == CXU_SUCCESS)
        *out_plan = schedule;
    else
        cx_emu_exec_schedule_free(&schedule);
    return result;
}

void cx_emu_exec_schedule_free(cx_emu_exec_schedule *schedule)
{
    free(schedule->nodes);
    free(schedule->pieces);
    free(schedule->rooms);
    free(schedule->works);
    free(schedule->after);
}
