/* Queries of graphs and nodes. */
#include "emu/graph/graph.h"
#include "emu/base/state.h"

cxu_result cx_emu_call_graph_node_get_type(CUgraphNode handle, cxu_graph_node_type *out_type)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_type == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find(handle, &node);
    if (result == CXU_SUCCESS)
        *out_type = node->node_params.type;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- lists: cut if there is less room, filled up with NULL if there is more ---- */

/* A list: nodes in `from`, or edges in both. Either is NULL if only the number is wanted. */
typedef struct list {
    CUgraphNode *from, *to;
    cxu_graph_edge_data *edges;
    size_t room, count;
} list;

static void put_edge(list *into, const cx_emu_node *from, const cx_emu_node *to)
{
    size_t at = into->count++;

    if (at >= into->room)
        return;
    if (into->from != NULL)
        into->from[at] = cx_emu_node_handle(from);
    if (into->to != NULL)
        into->to[at] = cx_emu_node_handle(to);
    if (into->edges != NULL)
        into->edges[at] = (cxu_graph_edge_data){0};
}

static void close_list(list *done, size_t *out_count)
{
    for (size_t at = done->count; at < done->room; at++) {
        if (done->from != NULL)
            done->from[at] = NULL;
        if (done->to != NULL)
            done->to[at] = NULL;
    }
    *out_count = done->from != NULL && done->room < done->count ? done->room : done->count;
}

static cxu_result list_graph(CUgraph handle, list *into, size_t *out_count,
                             void (*list_of)(const cx_emu_graph *, list *))
{
    cx_emu_graph *graph;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL || (into->edges != NULL && into->from == NULL))
        return CXU_INVALID_VALUE;
    into->room = into->from != NULL ? *out_count : 0;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(handle, &graph);
    if (result == CXU_SUCCESS) {
        list_of(graph, into);
        close_list(into, out_count);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static void list_nodes(const cx_emu_graph *graph, list *into)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        put_edge(into, each, NULL);
}

static void list_roots(const cx_emu_graph *graph, list *into)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if (each->before.count == 0)
            put_edge(into, each, NULL);
}

static void list_edges(const cx_emu_graph *graph, list *into)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        for (size_t i = 0; i < each->before.count; i++)
            put_edge(into, each->before.items[i], each);
}

cxu_result cx_emu_call_graph_get_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_graph(graph, &(list){.from = nodes}, count, list_nodes);
}

cxu_result cx_emu_call_graph_get_root_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_graph(graph, &(list){.from = nodes}, count, list_roots);
}

cxu_result cx_emu_call_graph_get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                       cxu_graph_edge_data *edges, size_t *count)
{
    if ((from == NULL) != (to == NULL)) {
        cxu_result result = cx_emu_enter();

        return result == CXU_SUCCESS ? CXU_INVALID_VALUE : result;
    }
    return list_graph(graph, &(list){.from = from, .to = to, .edges = edges}, count, list_edges);
}

cxu_result cx_emu_call_graph_get_edges_v1(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                          size_t *count)
{
    return cx_emu_call_graph_get_edges(graph, from, to, NULL, count);
}

/* ---- neighbours of a node ---- */

static cxu_result list_neighbours(CUgraphNode handle, bool before, list *into, size_t *out_count)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL || (into->edges != NULL && into->from == NULL))
        return CXU_INVALID_VALUE;
    into->room = into->from != NULL ? *out_count : 0;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find(handle, &node);
    if (result == CXU_SUCCESS) {
        const cx_emu_nodes *found = before ? &node->before : &node->after;

        for (size_t i = 0; i < found->count; i++)
            put_edge(into, found->items[i], NULL);
        close_list(into, out_count);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_node_get_dependencies(CUgraphNode node, CUgraphNode *nodes,
                                                   cxu_graph_edge_data *edges, size_t *count)
{
    return list_neighbours(node, true, &(list){.from = nodes, .edges = edges}, count);
}

cxu_result cx_emu_call_graph_node_get_dependencies_v1(CUgraphNode node, CUgraphNode *nodes,
                                                      size_t *count)
{
    return list_neighbours(node, true, &(list){.from = nodes}, count);
}

cxu_result cx_emu_call_graph_node_get_dependent_nodes(CUgraphNode node, CUgraphNode *nodes,
                                                      cxu_graph_edge_data *edges, size_t *count)
{
    return list_neighbours(node, false, &(list){.from = nodes, .edges = edges}, count);
}

cxu_result cx_emu_call_graph_node_get_dependent_nodes_v1(CUgraphNode node, CUgraphNode *nodes,
                                                         size_t *count)
{
    return list_neighbours(node, false, &(list){.from = nodes}, count);
}
