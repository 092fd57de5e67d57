#include "emu/graph/graph.h"
#include "driver/access_log.h"
#include "emu/base/handle.h"
#include <stdlib.h>
#include <string.h>

/* The object that a handle is the address of. */
typedef struct name {
    cx_emu_handle_slot slot;
    void *object;
} name;

static cx_emu_handles graph_names = {.slot_bytes = sizeof(name)};
static cx_emu_handles node_names = {.slot_bytes = sizeof(name)};
static cx_emu_graph *graphs;
static uint64_t last_id, last_visit;
static unsigned int last_number;

/* ---- lists ---- */

bool cx_emu_nodes_reserve(cx_emu_nodes *nodes, size_t more)
{
    size_t capacity = nodes->count + more;
    cx_emu_node **items;

    if (capacity <= nodes->capacity)
        return true;
    if (capacity < 2 * nodes->capacity)
        capacity = 2 * nodes->capacity;
    items = reallocarray(nodes->items, capacity, sizeof *items);
    if (items == NULL)
        return false;
    nodes->items = items;
    nodes->capacity = capacity;
    return true;
}

void cx_emu_nodes_put(cx_emu_nodes *nodes, cx_emu_node *node)
{
    nodes->items[nodes->count++] = node;
}

bool cx_emu_nodes_have(const cx_emu_nodes *nodes, const cx_emu_node *node)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i] == node)
            return true;
    return false;
}

static void take_out(cx_emu_nodes *nodes, const cx_emu_node *node)
{
    size_t kept = 0;

    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i] != node)
            nodes->items[kept++] = nodes->items[i];
    nodes->count = kept;
}

void cx_emu_nodes_free(cx_emu_nodes *nodes)
{
    free(nodes->items);
    *nodes = (cx_emu_nodes){0};
}

/* ---- handles ---- */

static bool give_name(cx_emu_handles *names, void *object, void **out_name)
{
    name *own = cx_emu_handle_take(names);

    if (own == NULL)
        return false;
    own->object = object;
    *out_name = own;
    return true;
}

cxu_result cx_emu_graph_find(CUgraph handle, cx_emu_graph **out_graph)
{
    if (!cx_emu_handle_live(&graph_names, handle))
        return CXU_INVALID_VALUE;
    *out_graph = ((const name *)(const void *)handle)->object;
    return CXU_SUCCESS;
}

cxu_result cx_emu_node_find(CUgraphNode handle, cx_emu_node **out_node)
{
    if (!cx_emu_handle_live(&node_names, handle))
        return CXU_INVALID_VALUE;
    *out_node = ((const name *)(const void *)handle)->object;
    return CXU_SUCCESS;
}

cxu_result cx_emu_nodes_find(const cx_emu_graph *graph, const CUgraphNode *handles, size_t count,
                             cx_emu_nodes *out_nodes)
{
    uint64_t visit = ++last_visit;
    cx_emu_nodes nodes = {0};

    if ((count > 0 && handles == NULL) || count > graph->node_count)
        return CXU_INVALID_VALUE;
    if (!cx_emu_nodes_reserve(&nodes, count))
        return CXU_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        cx_emu_node *node;

        if (cx_emu_node_find(handles[i], &node) != CXU_SUCCESS || node->graph != graph ||
            node->visit == visit) {
            cx_emu_nodes_free(&nodes);
            return CXU_INVALID_VALUE;
        }
        node->visit = visit;
        cx_emu_nodes_put(&nodes, node);
    }
    *out_nodes = nodes;
    return CXU_SUCCESS;
}

bool cx_emu_edges_plain(const cxu_graph_edge_data *edges, size_t count)
{
    static const cxu_graph_edge_data plain;

    for (size_t i = 0; edges != NULL && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return false;
    return true;
}

/* ---- making and destroying ---- */

cx_emu_graph *cx_emu_graph_create(bool named)
{
    cx_emu_graph *graph = calloc(1, sizeof *graph);

    if (graph == NULL)
        return NULL;
    if (named && !give_name(&graph_names, graph, &graph->name)) {
        free(graph);
        return NULL;
    }
    graph->id = ++last_id;
    graph->number = named ? ++last_number : 0;
    graph->next = graphs;
    if (graphs != NULL)
        graphs->previous = graph;
    graphs = graph;
    return graph;
}

/* Follows no edge: after a failed copy, some exist at one end only. */
void cx_emu_graph_destroy(cx_emu_graph *graph)
{
    for (cx_emu_node *each = graph->first; each != NULL; each = each->next)
        each->before.count = each->after.count = 0;
    while (graph->last != NULL)
        cx_emu_node_destroy(graph->last);
    *(graph->previous != NULL ? &graph->previous->next : &graphs) = graph->next;
    if (graph->next != NULL)
        graph->next->previous = graph->previous;
    if (graph->name != NULL)
        cx_emu_handle_return(&graph_names, graph->name);
    cx_emu_condition_forget_graph(graph);
    cx_emu_holdings_drop(&graph->holdings);
    free(graph);
}

static void append_node(cx_emu_graph *graph, cx_emu_node *node)
{
    node->graph = graph;
    node->previous = graph->last;
    *(graph->last != NULL ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    graph->node_count++;
}

cx_emu_node *cx_emu_graph_add(cx_emu_graph *graph, const cx_emu_node_params *node_params,
                              const cx_emu_nodes *before)
{
    cx_emu_node *node = calloc(1, sizeof *node);

    if (node == NULL)
        return NULL;
    if (!cx_emu_nodes_reserve(&node->before, before->count))
        goto free_node;
    for (size_t i = 0; i < before->count; i++)
        if (!cx_emu_nodes_reserve(&before->items[i]->after, 1))
            goto free_list;
    if (graph->name != NULL && !give_name(&node_names, node, &node->name))
        goto free_list;
    node->id = ++last_id;
    node->local_id = graph->last_local_id++;
    node->place = cx_access_log_place;
    node->given = cx_access_log_turn;
    node->node_params = *node_params;
    cx_emu_node_params_retain(node_params);
    append_node(graph, node);
    for (size_t i = 0; i < before->count; i++) {
        cx_emu_nodes_put(&node->before, before->items[i]);
        cx_emu_nodes_put(&before->items[i]->after, node);
    }
    for (size_t i = 0; i < cx_emu_node_graph_count(node); i++)
        cx_emu_node_graph(node, i)->owner = node;
    return node;

free_list:
    cx_emu_nodes_free(&node->before);
free_node:
    free(node);
    return NULL;
}

void cx_emu_node_destroy(cx_emu_node *node)
{
    cx_emu_graph *graph = node->graph;

    for (size_t i = 0; i < node->before.count; i++)
        take_out(&node->before.items[i]->after, node);
    for (size_t i = 0; i < node->after.count; i++)
        take_out(&node->after.items[i]->before, node);
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH)
        cx_emu_graph_destroy(node->node_params.of.child);
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL)
        cx_emu_condition_destroy(node->node_params.of.condition);
    cx_emu_node_params_drop(&node->node_params);
    *(node->previous != NULL ? &node->previous->next : &graph->first) = node->next;
    *(node->next != NULL ? &node->next->previous : &graph->last) = node->previous;
    graph->node_count--;
    if (node->name != NULL)
        cx_emu_handle_return(&node_names, node->name);
    cx_emu_nodes_free(&node->before);
    cx_emu_nodes_free(&node->after);
    free(node);
}

cxu_result cx_emu_edge_add(cx_emu_node *from, cx_emu_node *to)
{
    if (from == to || cx_emu_nodes_have(&to->before, from))
        return CXU_INVALID_VALUE;
    if (!cx_emu_nodes_reserve(&from->after, 1) || !cx_emu_nodes_reserve(&to->before, 1))
        return CXU_OUT_OF_MEMORY;
    cx_emu_nodes_put(&from->after, to);
    cx_emu_nodes_put(&to->before, from);
    return CXU_SUCCESS;
}

bool cx_emu_edge_remove(cx_emu_node *from, cx_emu_node *to)
{
    if (!cx_emu_nodes_have(&to->before, from))
        return false;
    take_out(&from->after, to);
    take_out(&to->before, from);
    return true;
}

void cx_emu_node_set(cx_emu_node *node, const cx_emu_node_params *node_params)
{
    cx_emu_node_params_assign(&node->node_params, node_params);
    node->given = cx_access_log_turn;
}

/* ---- copies ---- */

static cx_emu_node *clone_node(const cx_emu_node *node, cx_emu_graph *into)
{
    static const cx_emu_nodes none;
    cx_emu_node_params node_params = node->node_params;
    bool has_child = node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH;
    bool has_bodies = node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL;
    cx_emu_node *copy;

    if (has_child) {
        node_params.of.child = cx_emu_graph_clone(node_params.of.child, into->name);
        if (node_params.of.child == NULL)
            return NULL;
    }
    if (has_bodies) {
        node_params.of.condition = cx_emu_condition_clone(node_params.of.condition);
        if (node_params.of.condition == NULL)
            return NULL;
    }
    copy = cx_emu_graph_add(into, &node_params, &none);
    if (copy != NULL) {
        copy->source_id = node->id;
        copy->place = node->place;
        copy->given = node->given;
        copy->disabled = node->disabled;
    } else if (has_child) {
        cx_emu_graph_destroy(node_params.of.child);
    } else if (has_bodies) {
        cx_emu_condition_destroy(node_params.of.condition);
    }
    return copy;
}

/* Each copy gets its own lists, in the order of the original's. */
static bool clone_edges(const cx_emu_nodes *from, cx_emu_nodes *to)
{
    if (!cx_emu_nodes_reserve(to, from->count))
        return false;
    for (size_t i = 0; i < from->count; i++)
        cx_emu_nodes_put(to, from->items[i]->twin);
    return true;
}

cx_emu_graph *cx_emu_graph_clone(const cx_emu_graph *graph, bool named)
{
    cx_emu_graph *copy = cx_emu_graph_create(named);

    if (copy == NULL)
        return NULL;
    copy->source_id = graph->id;
    if (!cx_emu_holdings_copy(&graph->holdings, &copy->holdings))
        goto destroy_copy;
    for (cx_emu_node *each = graph->first; each != NULL; each = each->next) {
        each->twin = clone_node(each, copy);
        if (each->twin == NULL)
            goto destroy_copy;
    }
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if (!clone_edges(&each->before, &each->twin->before) ||
            !clone_edges(&each->after, &each->twin->after))
            goto destroy_copy;
    return copy;

destroy_copy:
    cx_emu_graph_destroy(copy);
    return NULL;
}

cx_emu_node *cx_emu_graph_find_copy(const cx_emu_graph *copy, const cx_emu_node *source)
{
    for (cx_emu_node *each = copy->first; each != NULL; each = each->next) {
        cx_emu_node *inside = NULL;

        if (each->source_id == source->id)
            return each;
        for (size_t i = 0; inside == NULL && i < cx_emu_node_graph_count(each); i++)
            inside = cx_emu_graph_find_copy(cx_emu_node_graph(each, i), source);
        if (inside != NULL)
            return inside;
    }
    return NULL;
}

/* ---- graphs in graphs ---- */

static size_t levels_above(const cx_emu_graph *graph)
{
    size_t levels = 0;

    while (graph->owner != NULL) {
        graph = graph->owner->graph;
        levels++;
    }
    return levels;
}

static size_t levels_of(const cx_emu_graph *graph)
{
    size_t most = 0;

    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        for (size_t i = 0; i < cx_emu_node_graph_count(each); i++) {
            size_t levels = levels_of(cx_emu_node_graph(each, i));

            if (levels > most)
                most = levels;
        }
    return most + 1;
}

bool cx_emu_graph_has_types(const cx_emu_graph *graph, unsigned int types)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if ((types & CX_EMU_NODE_BIT(each->node_params.type)) ||
            (each->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH &&
             cx_emu_graph_has_types(each->node_params.of.child, types)))
            return true;
    return false;
}

bool cx_emu_graph_has_room_for(const cx_emu_graph *graph, const cx_emu_graph *child)
{
    return levels_above(graph) + 1 + levels_of(child) <= CX_EMU_GRAPH_LEVELS_MAX;
}

/* ---- traversals ---- */

cxu_result cx_emu_graph_order(const cx_emu_graph *graph, cx_emu_node **out_first,
                              cx_emu_node **out_offender)
{
    cx_emu_node *first = NULL, **end = &first;
    size_t count = 0;

    for (cx_emu_node *each = graph->first; each != NULL; each = each->next) {
        each->index = each->before.count;
        each->next_ordered = NULL;
        if (each->index == 0) {
            *end = each;
            end = &each->next_ordered;
        }
    }
    for (const cx_emu_node *each = first; each != NULL; each = each->next_ordered, count++)
        for (size_t i = 0; i < each->after.count; i++)
            if (--each->after.items[i]->index == 0) {
                *end = each->after.items[i];
                end = &each->after.items[i]->next_ordered;
            }
    if (count == graph->node_count) {
        *out_first = first;
        return CXU_SUCCESS;
    }
    for (*out_offender = graph->first; (*out_offender)->index == 0;)
        *out_offender = (*out_offender)->next;
    return CXU_INVALID_VALUE;
}

static void visit_once(cx_emu_node *node, uint64_t visit, cx_emu_node **stack)
{
    if (node->visit == visit)
        return;
    node->visit = visit;
    node->next_visited = *stack;
    *stack = node;
}

uint64_t cx_emu_nodes_visit(const cx_emu_nodes *from)
{
    uint64_t visit = ++last_visit;
    cx_emu_node *stack = NULL;

    for (size_t i = 0; i < from->count; i++)
        visit_once(from->items[i], visit, &stack);
    while (stack != NULL) {
        cx_emu_node *top = stack;

        stack = top->next_visited;
        for (size_t i = 0; i < top->before.count; i++)
            visit_once(top->before.items[i], visit, &stack);
    }
    return visit;
}
