#include "layer/check/order_graph.h"

#include "layer/check/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 0xfff0, WORD = 64 };

/* The last launch of each executable graph that there is. */
typedef struct launched_exec {
    uintptr_t exec;
    cx_order_graph *graph;
    UT_hash_handle hh;
} launched_exec;

/* Names outlive what they name. */
typedef struct kernel_name {
    UT_hash_handle hh;
    char text[];
} kernel_name;

static launched_exec *execs;
static kernel_name *names;

/* ---- which nodes come before which ---- */

/* Of one graph at a time: a row of bits for each node, those of the nodes before it. */
static const cx_order_graph *compared;
static uint64_t *rows;

static size_t words_of(const cx_order_graph *graph)
{
    return (graph->count + WORD - 1) / WORD;
}

static void fill_row(const cx_order_graph *graph, size_t index)
{
    const size_t words = words_of(graph);
    const cx_order_node *node = &graph->nodes[index];
    uint64_t *row = rows + index * words;
    for (size_t i = 0; i < node->after_count; i++) {
        const size_t before = graph->after[node->first_after + i];
        for (size_t word = 0; word <= before / WORD; word++)
            row[word] |= rows[before * words + word];
        row[before / WORD] |= (uint64_t)1 << before % WORD;
    }
}

static void forget_rows(void)
{
    free(rows);
    rows = NULL;
    compared = NULL;
}

/* False: no memory. */
static bool compare_nodes(const cx_order_graph *graph)
{
    if (compared == graph)
        return true;
    forget_rows();
    rows = calloc(graph->count * words_of(graph), sizeof *rows);
    if (rows == NULL) {
        cx_region_give_up();
        return false;
    }
    compared = graph;
    for (size_t i = 0; i < graph->count; i++)
        fill_row(graph, i);
    return true;
}

bool cx_order_graph_puts_before(const cx_order_graph *graph, size_t node, size_t other)
{
    if (graph->count > CX_ORDER_GRAPH_COMPARED || !compare_nodes(graph))
        return true;
    return (rows[other * words_of(graph) + node / WORD] >> node % WORD & 1) != 0;
}

/* ---- ranks ---- */

static bool signals(const cx_order_node *node)
{
    return node->type == CXU_GRAPH_NODE_TYPE_HOST || node->type == CXU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

/* Gives the rank to the node and to those before it that have none yet: those before a node with a
 * rank have one. `stack` has room for all nodes. */
static void rank_nodes(cx_order_graph *graph, size_t from, uint32_t rank, size_t *stack)
{
    size_t depth = 0;
    graph->nodes[from].rank = rank;
    stack[depth++] = from;
    while (depth > 0) {
        const cx_order_node *node = &graph->nodes[stack[--depth]];
        for (size_t i = 0; i < node->after_count; i++) {
            const size_t before = graph->after[node->first_after + i];
            if (graph->nodes[before].rank == UINT32_MAX) {
                graph->nodes[before].rank = rank;
                stack[depth++] = before;
            }
        }
    }
}

static bool rank_all(cx_order_graph *graph)
{
    size_t *stack = calloc(graph->count + 1, sizeof *stack);
    if (stack == NULL)
        return false;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i].rank = UINT32_MAX;
    for (size_t i = 0; i < graph->count; i++)
        if (signals(&graph->nodes[i])) {
            graph->ranks += graph->ranks < RANKS_MOST;
            rank_nodes(graph, i, graph->ranks - 1, stack);
        }
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].rank == UINT32_MAX)
            graph->nodes[i].rank = graph->ranks;
    free(stack);
    return true;
}

/* ---- records ---- */

static void free_graph(cx_order_graph *graph)
{
    if (compared == graph)
        forget_rows();
    for (size_t i = 0; graph->nodes != NULL && i < graph->count; i++)
        free(graph->nodes[i].stale);
    free(graph->nodes);
    free(graph->after);
    free(graph);
}

void cx_order_graph_retain(cx_order_graph *graph)
{
    graph->references++;
}

void cx_order_graph_drop(cx_order_graph *graph)
{
    if (graph != NULL && --graph->references == 0)
        free_graph(graph);
}

/* NULL: it is none, or there is no memory. */
static const char *keep_name(const char *name)
{
    kernel_name *kept;
    if (name == NULL)
        return NULL;
    const size_t length = strlen(name);
    HASH_FIND(hh, names, name, length, kept);
    if (kept != NULL)
        return kept->text;
    kept = calloc(1, sizeof *kept + length + 1);
    if (kept == NULL)
        return NULL;
    memcpy(kept->text, name, length);
    bool added = true;
    HASH_ADD_KEYPTR(hh, names, kept->text, length, kept);
    if (added)
        return kept->text;
    free(kept);
    return NULL;
}

static bool same_kernel(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/* An executable graph keeps its nodes and their order: only what they do changes. */
static bool is_as_told(const cx_order_graph *graph, const cx_access_log_graph *told)
{
    cx_access_log_node node;
    for (size_t i = 0; i < graph->count; i++) {
        told->describe(told, i, &node);
        if (graph->nodes[i].place != node.place || graph->nodes[i].given != node.given ||
            !same_kernel(graph->nodes[i].kernel, node.kernel))
            return false;
    }
    return true;
}

/* ---- memory that ended since ---- */

typedef struct ended_list {
    const cx_object **all;
    size_t count, capacity;
} ended_list;

/* Mapped and stream-ordered memory may get its address again on purpose. */
static bool keeps_no_address(const cx_object *object)
{
    return object->key.kind == CX_OBJECT_MEMORY || object->key.kind == CX_OBJECT_MANAGED_MEMORY ||
           object->key.kind == CX_OBJECT_PINNED_MEMORY;
}

static void put_ended(const cx_object *object, void *argument)
{
    ended_list *list = argument;
    if (!keeps_no_address(object))
        return;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity != 0 ? 2 * list->capacity : 16;
        const cx_object **all = reallocarray(list->all, capacity, sizeof *all);
        if (all == NULL)
            return; /* it is not known to be stale */
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->count++] = object;
}

static const cx_object *find_ended(const ended_list *list, uintptr_t address, uint64_t given)
{
    for (size_t i = 0; i < list->count; i++)
        if (address - list->all[i]->key.value < list->all[i]->bytes &&
            list->all[i]->ended_turn > given)
            return list->all[i];
    return NULL;
}

static const cx_object *find_stale_argument(const ended_list *list, const cx_access_log_node *node)
{
    const cx_object *found = NULL;
    uint64_t word;
    for (size_t at = 0; at + sizeof word <= node->argument_bytes && found == NULL;
         at += sizeof word) {
        memcpy(&word, (const char *)node->arguments + at, sizeof word);
        found = find_ended(list, word, node->given);
    }
    return found;
}

static const cx_object *find_stale(const ended_list *list, const cx_access_log_node *node)
{
    cx_check_access all[CX_CHECK_ACCESSES];
    const cx_object *found = find_stale_argument(list, node);
    const int count = cx_check_node_accesses(node, all);
    for (int i = 0; i < count && found == NULL; i++)
        found = find_ended(list, all[i].address, node->given);
    return found;
}

static void note_stale(cx_order_node *node, const cx_object *memory)
{
    if (memory == NULL || node->stale != NULL || (node->stale = malloc(sizeof *memory)) == NULL)
        return;
    *node->stale = *memory;
}

/* Each end of memory is looked at once. */
static void look_for_stale(cx_order_graph *graph, const cx_access_log_graph *told)
{
    ended_list list = {0};
    cx_access_log_node node;
    cx_object_each_ended(graph->seen, put_ended, &list);
    graph->seen = cx_object_turn();
    for (size_t i = 0; i < graph->count && list.count > 0; i++) {
        told->describe(told, i, &node);
        note_stale(&graph->nodes[i], find_stale(&list, &node));
    }
    free(list.all);
}

/* ---- making ---- */

static size_t count_after(const cx_access_log_graph *told)
{
    cx_access_log_node node;
    size_t count = 0;
    for (size_t i = 0; i < told->count; i++) {
        told->describe(told, i, &node);
        count += node.after_count;
    }
    return count;
}

static void take_nodes(cx_order_graph *graph, const cx_access_log_graph *told)
{
    cx_access_log_node node;
    size_t used = 0;
    graph->seen = UINT64_MAX;
    for (size_t i = 0; i < graph->count; i++) {
        told->describe(told, i, &node);
        graph->seen = node.given < graph->seen ? node.given : graph->seen;
        graph->nodes[i] = (cx_order_node){.type = node.type,
                                          .place = node.place,
                                          .number = node.number,
                                          .given = node.given,
                                          .parent = node.parent,
                                          .kernel = keep_name(node.kernel),
                                          .first_after = used,
                                          .after_count = node.after_count};
        for (size_t before = 0; before < node.after_count; before++)
            graph->after[used++] = node.after[before];
    }
}

static cx_order_graph *make_graph(uintptr_t exec, const cx_access_log_graph *told)
{
    const cx_object *object = cx_object_find(CX_HANDLE_GRAPH_EXEC, exec);
    cx_order_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return NULL;
    graph->references = 1;
    graph->exec = object != NULL ? object->number : 0;
    graph->count = told->count;
    graph->nodes = calloc(told->count + 1, sizeof *graph->nodes);
    graph->after = calloc(count_after(told) + 1, sizeof *graph->after);
    if (graph->nodes == NULL || graph->after == NULL) {
        free_graph(graph);
        return NULL;
    }
    take_nodes(graph, told);
    if (rank_all(graph))
        return graph;
    free_graph(graph);
    return NULL;
}

/* False: no memory. */
static bool keep_graph(uintptr_t exec, cx_order_graph *graph)
{
    launched_exec *launched = calloc(1, sizeof *launched);
    if (launched == NULL)
        return false;
    *launched = (launched_exec){.exec = exec, .graph = graph};
    bool added = true;
    HASH_ADD(hh, execs, exec, sizeof launched->exec, launched);
    if (added)
        cx_order_graph_retain(graph);
    else
        free(launched);
    return added;
}

static launched_exec *find_exec(uintptr_t exec)
{
    launched_exec *found;
    HASH_FIND(hh, execs, &exec, sizeof exec, found);
    return found;
}

void cx_order_graph_end(uintptr_t exec)
{
    launched_exec *launched = find_exec(exec);
    if (launched == NULL)
        return;
    HASH_DEL(execs, launched);
    cx_order_graph_drop(launched->graph);
    free(launched);
}

cx_order_graph *cx_order_graph_of(uintptr_t exec, const cx_access_log_graph *told)
{
    const launched_exec *launched = find_exec(exec);
    if (launched != NULL && launched->graph->count == told->count &&
        is_as_told(launched->graph, told)) {
        cx_order_graph_retain(launched->graph);
        look_for_stale(launched->graph, told);
        return launched->graph;
    }
    cx_order_graph_end(exec);
    cx_order_graph *graph = make_graph(exec, told);
    if (graph == NULL || !keep_graph(exec, graph)) {
        cx_region_give_up();
        cx_order_graph_drop(graph);
        return NULL;
    }
    look_for_stale(graph, told);
    return graph;
}

/* ---- text ---- */

static const char *type_text(cxu_graph_node_type type)
{
    switch (type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return "kernel";
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        return "a copy";
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return "a fill";
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "a condition's body";
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return "an allocation";
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return "a free";
    default:
        return "other work";
    }
}

/* "node 3 in node 2" of a child graph */
static int write_path(const cx_order_graph *graph, size_t node, char *text, size_t size)
{
    int length = snprintf(text, size, "node %u", (unsigned)graph->nodes[node].number);
    while ((node = graph->nodes[node].parent) < graph->count && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, " in node %u",
                           (unsigned)graph->nodes[node].number);
    return length;
}

void cx_order_graph_text(const cx_order_graph *graph, size_t index, char *text, size_t size)
{
    const cx_order_node *node = &graph->nodes[index];
    char path[64];
    (void)write_path(graph, index, path, sizeof path);
    snprintf(text, size, "%s of executable graph %u (%s%s%.160s)", path, (unsigned)graph->exec,
             type_text(node->type), node->kernel != NULL ? " " : "",
             node->kernel != NULL ? node->kernel : "");
}
