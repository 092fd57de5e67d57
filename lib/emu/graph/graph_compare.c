#include "emu/graph/graph.h"

static void number_nodes(const cx_emu_graph *graph)
{
    size_t index = 0;

    for (cx_emu_node *each = graph->first; each != NULL; each = each->next)
        each->index = index++;
}

static size_t count_ends(const cx_emu_graph *graph, const cx_emu_node **out_last)
{
    size_t count = 0;

    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if (each->after.count == 0) {
            *out_last = each;
            count++;
        }
    return count;
}

static cxu_graph_exec_update_result compare_nodes(const cx_emu_node *node, const cx_emu_node *like,
                                                  const cx_emu_node **out_node,
                                                  const cx_emu_node **out_from)
{
    *out_node = like;
    if (node->node_params.type != like->node_params.type)
        return CXU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (node->before.count != like->before.count)
        return CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < node->before.count; i++)
        if (node->before.items[i]->index != like->before.items[i]->index) {
            *out_from = like->before.items[i];
            return CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        }
    if (!cx_emu_node_params_compatible(&node->node_params, &like->node_params))
        return node->node_params.type == CXU_GRAPH_NODE_TYPE_KERNEL
                   ? CXU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
                   : CXU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    return CXU_GRAPH_EXEC_UPDATE_SUCCESS;
}

cxu_graph_exec_update_result cx_emu_graph_compare(const cx_emu_graph *graph,
                                                  const cx_emu_graph *like,
                                                  const cx_emu_node **out_node,
                                                  const cx_emu_node **out_from)
{
    const cx_emu_node *end = NULL, *unused;
    cxu_graph_exec_update_result result = CXU_GRAPH_EXEC_UPDATE_SUCCESS;

    *out_node = *out_from = NULL;
    if (graph->node_count != like->node_count)
        return CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (count_ends(like, &end) > count_ends(graph, &unused)) {
        *out_node = end;
        return CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    number_nodes(graph);
    number_nodes(like);
    for (const cx_emu_node *node = graph->first, *other = like->first; node != NULL;
         node = node->next, other = other->next) {
        result = compare_nodes(node, other, out_node, out_from);
        for (size_t i = 0; result == CXU_GRAPH_EXEC_UPDATE_SUCCESS &&
                           i < cx_emu_node_graph_count(node);
             i++)
            result = cx_emu_graph_compare(cx_emu_node_graph(node, i), cx_emu_node_graph(other, i),
                                          out_node, out_from);
        if (result != CXU_GRAPH_EXEC_UPDATE_SUCCESS)
            return result;
    }
    *out_node = *out_from = NULL;
    return result;
}

void cx_emu_graph_assign(cx_emu_graph *graph, const cx_emu_graph *like)
{
    const cx_emu_node *other = like->first;

    for (cx_emu_node *node = graph->first; node != NULL; node = node->next, other = other->next) {
        for (size_t i = 0; i < cx_emu_node_graph_count(node); i++)
            cx_emu_graph_assign(cx_emu_node_graph(node, i), cx_emu_node_graph(other, i));
        node->place = other->place;
        node->given = other->given;
        if (cx_emu_node_graph_count(node) == 0)
            cx_emu_node_params_assign(&node->node_params, &other->node_params);
    }
}
