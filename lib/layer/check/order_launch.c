#include "layer/check/order_launch.h"

#include "layer/check/order_sync.h"

#include <stdlib.h>

typedef struct cx_order_wait {
    size_t node;
    cx_stream_clock_kept *clock;
} order_wait;

typedef struct cx_order_record {
    size_t node;
    CUevent event;
} order_record;

/* ---- what nodes wait for, record and tell ---- */

/* Room for one more; false: no memory. */
static bool extend(void **all, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity != 0 ? 2 * *capacity : 4;
    void *extended = reallocarray(*all, more, size);
    if (extended == NULL)
        return false;
    *all = extended;
    *capacity = more;
    return true;
}

static bool add_wait(cx_order_launch *launch, size_t node, CUevent event)
{
    cx_stream_clock_kept *clock = cx_order_mark_clock(event);
    if (clock == NULL)
        return true; /* nothing has recorded it */
    if (!extend((void **)&launch->waits, launch->wait_count, &launch->wait_capacity,
                sizeof *launch->waits)) {
        free(clock);
        return false;
    }
    launch->waits[launch->wait_count++] = (order_wait){node, clock};
    return true;
}

static bool add_record(cx_order_launch *launch, size_t node, CUevent event)
{
    if (!extend((void **)&launch->records, launch->record_count, &launch->record_capacity,
                sizeof *launch->records))
        return false;
    launch->records[launch->record_count++] = (order_record){node, event};
    return true;
}

static bool take_node(cx_order_launch *launch, size_t index, const cx_access_log_node *node)
{
    switch (node->type) {
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return add_wait(launch, index, node->event);
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return add_record(launch, index, node->event);
    case CXU_GRAPH_NODE_TYPE_HOST:
        launch->told_by = index;
        return true;
    case CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        launch->unknown = true;
        return true;
    default:
        return true;
    }
}

static bool take_nodes(cx_order_launch *launch, const cx_access_log_graph *told)
{
    cx_access_log_node node;
    for (size_t i = 0; i < told->count; i++) {
        told->describe(told, i, &node);
        if (!take_node(launch, i, &node))
            return false;
    }
    return true;
}

cx_order_launch *cx_order_launch_new(uintptr_t exec, const cx_access_log_graph *told)
{
    cx_order_launch *launch = calloc(1, sizeof *launch);
    if (launch != NULL) {
        launch->told_by = SIZE_MAX;
        launch->graph = cx_order_graph_of(exec, told);
    }
    if (launch != NULL && launch->graph != NULL && take_nodes(launch, told))
        return launch;
    cx_region_give_up();
    cx_order_launch_free(launch);
    return NULL;
}

void cx_order_launch_free(cx_order_launch *launch)
{
    if (launch == NULL)
        return;
    for (size_t i = 0; i < launch->wait_count; i++)
        free(launch->waits[i].clock);
    free(launch->waits);
    free(launch->records);
    cx_order_graph_drop(launch->graph);
    free(launch);
}

void cx_order_launch_line_waits(const cx_order_launch *launch, int line)
{
    for (size_t i = 0; i < launch->wait_count; i++)
        cx_stream_clock_wait(line, launch->waits[i].clock);
}

/* ---- nodes as pieces of work ---- */

static cx_order_what what_of(cxu_graph_node_type type)
{
    switch (type) {
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return CX_ORDER_COPY;
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return CX_ORDER_ALLOCATION;
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return CX_ORDER_FREE;
    default:
        return CX_ORDER_KERNEL;
    }
}

/* The number in the line of the nodes of a rank: those of the last one are done with the launch. */
static uint64_t number_of(const cx_order_graph *graph, const cx_order_piece *whole, size_t node)
{
    const uint32_t rank = graph->nodes[node].rank;
    return rank == graph->ranks ? whole->number : whole->number - CX_STREAM_CLOCK_PARTS + 1 + rank;
}

cx_order_piece *cx_order_launch_piece(const cx_order_launch *launch, const cx_order_piece *whole,
                                      size_t node)
{
    cx_order_piece *piece = cx_order_piece_new();
    if (piece == NULL) {
        cx_region_give_up();
        return NULL;
    }
    const unsigned references = piece->references;
    *piece = *whole;
    piece->references = references;
    piece->what = what_of(launch->graph->nodes[node].type);
    piece->number = number_of(launch->graph, whole, node);
    piece->launch = whole->number;
    piece->graph = launch->graph;
    piece->node = node;
    cx_order_graph_retain(piece->graph);
    return piece;
}

cx_stream_clock_kept *cx_order_launch_clock(const cx_order_launch *launch,
                                            const cx_stream_clock_kept *clock, size_t node)
{
    cx_stream_clock_kept *own = cx_stream_clock_keep_both(clock, NULL);
    for (size_t i = 0; i < launch->wait_count; i++) {
        if (!cx_order_graph_puts_before(launch->graph, launch->waits[i].node, node))
            continue;
        cx_stream_clock_kept *both = cx_stream_clock_keep_both(own, launch->waits[i].clock);
        free(own);
        own = both;
    }
    return own;
}

/* ---- the end of the call ---- */

/* After the nodes before this one, and what the launch is ordered after. */
static cx_stream_clock_kept *clock_behind(const cx_order_launch *launch,
                                          const cx_order_piece *whole,
                                          const cx_stream_clock_kept *clock, size_t node)
{
    cx_stream_clock_kept *own = cx_order_launch_clock(launch, clock, node);
    if (own != NULL)
        own->pieces[whole->line] = number_of(launch->graph, whole, node);
    return own;
}

/* Several nodes may call the program, the last of them after the waits of only some. */
static void tell_host(const cx_order_launch *launch, const cx_order_piece *whole,
                      const cx_stream_clock_kept *clock)
{
    cx_stream_clock_kept *told = clock_behind(launch, whole, clock, launch->told_by);
    cx_stream_clock_host_wait(told);
    for (size_t i = 0; i < launch->wait_count; i++)
        cx_stream_clock_host_wait(launch->waits[i].clock);
    free(told);
}

void cx_order_launch_submitted(const cx_order_launch *launch, uintptr_t exec,
                               const cx_order_piece *whole, const cx_stream_clock_kept *clock)
{
    for (size_t i = 0; i < launch->wait_count; i++)
        cx_order_mark_add(exec, launch->waits[i].clock);
    for (size_t i = 0; i < launch->record_count; i++)
        cx_order_mark_set((uintptr_t)launch->records[i].event,
                          clock_behind(launch, whole, clock, launch->records[i].node), 0);
    if (launch->told_by != SIZE_MAX)
        tell_host(launch, whole, clock);
}
