/* Graphs as a whole, and the edges between their nodes. */
#include "emu/graph/graph.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

cxu_result cx_emu_call_graph_create(CUgraph *out_graph, unsigned int flags)
{
    cx_emu_graph *graph;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_graph == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    graph = cx_emu_graph_create(true);
    if (graph != NULL)
        *out_graph = cx_emu_graph_handle(graph);
    else
        result = CXU_OUT_OF_MEMORY;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A child graph belongs to its node, and a graph that is being captured to its stream. */
cxu_result cx_emu_call_graph_destroy(CUgraph handle)
{
    cx_emu_graph *graph;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(handle, &graph);
    if (result == CXU_SUCCESS && (graph->owner != NULL || graph->capture != NULL))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        cx_emu_graph_destroy(graph);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_clone(CUgraph *out_clone, CUgraph original)
{
    cx_emu_graph *graph, *clone;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_clone == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(original, &graph);
    if (result == CXU_SUCCESS && !cx_emu_graph_clonable(graph))
        result = cx_emu_not_supported("cuGraphClone", "a graph with memory or conditions");
    if (result != CXU_SUCCESS)
        goto unlock;
    clone = cx_emu_graph_clone(graph, true);
    if (clone != NULL)
        *out_clone = cx_emu_graph_handle(clone);
    else
        result = CXU_OUT_OF_MEMORY;
unlock:
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result find_in_clone(CUgraphNode original, CUgraph clone_handle, CUgraphNode *out_node)
{
    cx_emu_graph *clone;
    cx_emu_node *node, *copy;
    cxu_result result = cx_emu_node_find(original, &node);

    if (result == CXU_SUCCESS)
        result = cx_emu_graph_find(clone_handle, &clone);
    if (result != CXU_SUCCESS)
        return result;
    copy = clone->source_id == node->graph->id ? cx_emu_graph_find_copy(clone, node) : NULL;
    if (copy == NULL)
        return CXU_INVALID_VALUE;
    *out_node = cx_emu_node_handle(copy);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_graph_node_find_in_clone(CUgraphNode *out_node, CUgraphNode original,
                                                CUgraph clone)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_in_clone(original, clone, out_node);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_destroy_node(CUgraphNode handle)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find(handle, &node);
    if (result == CXU_SUCCESS && node->graph->capture != NULL)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS && cx_emu_graph_has_memory(node->graph))
        result = cx_emu_not_supported("cuGraphDestroyNode", "a graph with memory");
    if (result == CXU_SUCCESS)
        cx_emu_node_destroy(node);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- edges ---- */

typedef struct edge {
    cx_emu_node *from, *to;
} edge;

static cxu_result find_edge(const cx_emu_graph *graph, CUgraphNode from, CUgraphNode to,
                            edge *out_edge)
{
    cxu_result result = cx_emu_node_find(from, &out_edge->from);

    if (result == CXU_SUCCESS)
        result = cx_emu_node_find(to, &out_edge->to);
    if (result != CXU_SUCCESS)
        return result;
    return out_edge->from->graph == graph && out_edge->to->graph == graph ? CXU_SUCCESS
                                                                          : CXU_INVALID_VALUE;
}

static cxu_result add_edges(const cx_emu_graph *graph, const CUgraphNode *from,
                            const CUgraphNode *to, size_t count)
{
    cxu_result result = CXU_SUCCESS;
    edge found;
    size_t added;

    for (added = 0; added < count; added++) {
        result = find_edge(graph, from[added], to[added], &found);
        if (result == CXU_SUCCESS)
            result = cx_emu_edge_add(found.from, found.to);
        if (result != CXU_SUCCESS)
            break;
    }
    while (result != CXU_SUCCESS && added > 0) {
        added--;
        find_edge(graph, from[added], to[added], &found);
        cx_emu_edge_remove(found.from, found.to);
    }
    return result;
}

/* Nodes that the user cuts off while a stream captures need not be joined. */
static void spare_node(const cx_emu_graph *graph, cx_emu_node *node)
{
    uint64_t visit = cx_emu_nodes_visit(&(cx_emu_nodes){&node, 1, 1});

    for (cx_emu_node *each = graph->first; each != NULL; each = each->next)
        each->spared = each->spared || each->visit == visit;
}

static bool named_before(const CUgraphNode *from, const CUgraphNode *to, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (from[i] == from[index] && to[i] == to[index])
            return true;
    return false;
}

static cxu_result remove_edges(const cx_emu_graph *graph, const CUgraphNode *from,
                               const CUgraphNode *to, size_t count)
{
    edge found;

    if (cx_emu_graph_has_memory(graph))
        return cx_emu_not_supported("cuGraphRemoveDependencies", "a graph with memory");
    for (size_t i = 0; i < count; i++) {
        cxu_result result = find_edge(graph, from[i], to[i], &found);

        if (result != CXU_SUCCESS)
            return result;
        if (!cx_emu_nodes_have(&found.to->before, found.from) || named_before(from, to, i))
            return CXU_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        find_edge(graph, from[i], to[i], &found);
        if (graph->capture != NULL)
            spare_node(graph, found.from);
        cx_emu_edge_remove(found.from, found.to);
    }
    return CXU_SUCCESS;
}

static cxu_result change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                               const cxu_graph_edge_data *edges, size_t count,
                               cxu_result (*change)(const cx_emu_graph *, const CUgraphNode *,
                                                    const CUgraphNode *, size_t))
{
    cx_emu_graph *graph;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (count > 0 && (from == NULL || to == NULL || !cx_emu_edges_plain(edges, count)))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(handle, &graph);
    if (result == CXU_SUCCESS)
        result = change(graph, from, to, count);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_add_dependencies(CUgraph graph, const CUgraphNode *from,
                                              const CUgraphNode *to,
                                              const cxu_graph_edge_data *edges, size_t count)
{
    return change_edges(graph, from, to, edges, count, add_edges);
}

cxu_result cx_emu_call_graph_add_dependencies_v1(CUgraph graph, const CUgraphNode *from,
                                                 const CUgraphNode *to, size_t count)
{
    return change_edges(graph, from, to, NULL, count, add_edges);
}

cxu_result cx_emu_call_graph_remove_dependencies(CUgraph graph, const CUgraphNode *from,
                                                 const CUgraphNode *to,
                                                 const cxu_graph_edge_data *edges, size_t count)
{
    return change_edges(graph, from, to, edges, count, remove_edges);
}

cxu_result cx_emu_call_graph_remove_dependencies_v1(CUgraph graph, const CUgraphNode *from,
                                                    const CUgraphNode *to, size_t count)
{
    return change_edges(graph, from, to, NULL, count, remove_edges);
}
