/*
 * Graphs: nodes and their dependencies. All functions: lock "emu.state" held.
 *
 * A graph has a handle for the user, or it is the private copy of an executable graph.
 */
#ifndef CX_EMU_GRAPH_H
#define CX_EMU_GRAPH_H

#include "emu/graph/node_params.h"
#include "emu/graph/user_object.h"
#include "emu/schedule/capture_check.h"

struct cx_emu_node {
    void *name;         /* the user's handle; NULL in private copies */
    uint64_t id;        /* never used twice */
    uint64_t source_id; /* of the node that it was copied from; 0: none */
    cx_emu_graph *graph;
    cx_emu_node_params node_params;
    unsigned int local_id; /* in its graph */
    uint32_t place;        /* for who watches (driver/access_log.h): where it was added, */
    uint64_t given;        /* and when it got its parameters */
    bool disabled;         /* in an executable graph: does nothing */
    bool spared;           /* the user removed edges: a capture does not miss it */
    cx_emu_nodes before, after;
    cx_emu_node *previous, *next; /* in the order of creation */

    /* Scratch for traversals of a graph. */
    size_t index;
    uint64_t visit;
    cx_emu_node *next_visited;
    cx_emu_node *next_ordered; /* cx_emu_graph_order */
    cx_emu_node *twin;
};

struct cx_emu_graph {
    void *name;
    uint64_t id, source_id; /* as a node's */
    unsigned int number;    /* of the user's graphs, in the order of their making */
    unsigned int last_local_id;
    cx_emu_node *first, *last;
    size_t node_count;
    cx_emu_node *owner;            /* a child graph: its node */
    bool moved;                    /* the user's graph itself, not a copy */
    cx_emu_holdings holdings;      /* of user objects */
    cx_emu_capture *capture;       /* the capture that adds to it */
    cx_emu_graph *previous, *next; /* all graphs, so that leak checkers see them */
};

/* ---- graphs of a node: a child, or the bodies of a condition ---- */

static inline size_t cx_emu_node_graph_count(const cx_emu_node *node)
{
    if (node->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL)
        return node->node_params.of.condition->size;
    return node->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH;
}

static inline cx_emu_graph *cx_emu_node_graph(const cx_emu_node *node, size_t index)
{
    return node->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL
               ? node->node_params.of.condition->bodies[index]
               : node->node_params.of.child;
}

/* ---- lists ---- */

bool cx_emu_nodes_reserve(cx_emu_nodes *nodes, size_t more);
void cx_emu_nodes_put(cx_emu_nodes *nodes, cx_emu_node *node); /* there is room */
bool cx_emu_nodes_have(const cx_emu_nodes *nodes, const cx_emu_node *node);
void cx_emu_nodes_free(cx_emu_nodes *nodes); /* empty, and nothing allocated */

/* ---- handles: CXU_INVALID_VALUE if it is none ---- */

cxu_result cx_emu_graph_find(CUgraph handle, cx_emu_graph **out_graph);
cxu_result cx_emu_node_find(CUgraphNode handle, cx_emu_node **out_node);
/* Finds all nodes of an array, which must be different nodes of `graph`; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_nodes_find(const cx_emu_graph *graph, const CUgraphNode *handles, size_t count,
                             cx_emu_nodes *out_nodes);

static inline CUgraph cx_emu_graph_handle(const cx_emu_graph *graph)
{
    return graph->name;
}

static inline CUgraphNode cx_emu_node_handle(const cx_emu_node *node)
{
    return node->name;
}

/* True if all edges are plain, as with NULL: one node is done before the other begins. There are no
 * other edges except between kernels. */
bool cx_emu_edges_plain(const cxu_graph_edge_data *edges, size_t count);

/* ---- making and destroying ---- */

/* NULL: no memory, or no handle. */
cx_emu_graph *cx_emu_graph_create(bool named);
void cx_emu_graph_destroy(cx_emu_graph *graph); /* with its nodes and their child graphs */

/* True if a node of the graph frees the block. */
bool cx_emu_graph_frees(const cx_emu_graph *graph, const cx_emu_block *block);

#define CX_EMU_NODE_BIT(type) (1u << (type))

/* True if the graph, or a child graph in it, has nodes of these types: CX_EMU_NODE_BIT(...) | ...
 */
bool cx_emu_graph_has_types(const cx_emu_graph *graph, unsigned int types);

/* True if nodes allocate or free memory. */
static inline bool cx_emu_graph_has_memory(const cx_emu_graph *graph)
{
    return cx_emu_graph_has_types(graph, CX_EMU_NODE_BIT(CXU_GRAPH_NODE_TYPE_MEM_ALLOC) |
                                             CX_EMU_NODE_BIT(CXU_GRAPH_NODE_TYPE_MEM_FREE));
}

static inline bool cx_emu_graph_has_conditions(const cx_emu_graph *graph)
{
    return cx_emu_graph_has_types(graph, CX_EMU_NODE_BIT(CXU_GRAPH_NODE_TYPE_CONDITIONAL));
}

/* True if neither memory nor conditions keep the graph from being copied for the user. */
static inline bool cx_emu_graph_clonable(const cx_emu_graph *graph)
{
    return !cx_emu_graph_has_memory(graph) && !cx_emu_graph_has_conditions(graph);
}

/* Changes the operation of a node, which keeps its type. */
void cx_emu_node_set(cx_emu_node *node, const cx_emu_node_params *node_params);

/* Copies a graph, with its nodes and edges in the same order; NULL: no memory. */
cx_emu_graph *cx_emu_graph_clone(const cx_emu_graph *graph, bool named);

/* Adds a node behind others; the node takes a child graph. NULL: no memory, nothing taken. */
cx_emu_node *cx_emu_graph_add(cx_emu_graph *graph, const cx_emu_node_params *node_params,
                              const cx_emu_nodes *before);
void cx_emu_node_destroy(cx_emu_node *node);

/* True if a child graph, or a copy of one, may be added: traversals are recursive, so nesting is
 * limited. */
#define CX_EMU_GRAPH_LEVELS_MAX 100
bool cx_emu_graph_has_room_for(const cx_emu_graph *graph, const cx_emu_graph *child);

/* CXU_INVALID_VALUE: that edge exists, or both are one node. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_edge_add(cx_emu_node *from, cx_emu_node *to);
bool cx_emu_edge_remove(cx_emu_node *from, cx_emu_node *to); /* false: there is none */

/* ---- traversals ---- */

/*
 * Links the nodes in topological order, by next_ordered; NULL: there is none. It needs no memory: a
 * body is put in order while it runs. CXU_INVALID_VALUE: there is a cycle, and *out_offender is in
 * it or behind it.
 */
cxu_result cx_emu_graph_order(const cx_emu_graph *graph, cx_emu_node **out_first,
                              cx_emu_node **out_offender);

/* Sets the `visit` of all nodes in `from` and those they depend on to the returned value. */
uint64_t cx_emu_nodes_visit(const cx_emu_nodes *from);

/* The node of a copy that was copied from `source`, child graphs included; or NULL. */
cx_emu_node *cx_emu_graph_find_copy(const cx_emu_graph *copy, const cx_emu_node *source);

/* ---- replacing one graph by another ---- */

/*
 * Checks that the graph `like` can replace `graph`: the same nodes with the same edges, in the same
 * order, and compatible. If not, returns the reason, the node of `like`, and the dependency of it
 * that differs; either may be NULL.
 */
cxu_graph_exec_update_result cx_emu_graph_compare(const cx_emu_graph *graph,
                                                  const cx_emu_graph *like,
                                                  const cx_emu_node **out_node,
                                                  const cx_emu_node **out_from);

/* Takes over the operations of `like`, which compares well. */
void cx_emu_graph_assign(cx_emu_graph *graph, const cx_emu_graph *like);

#endif
