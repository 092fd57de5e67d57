#include "layer/check/frontier.h"

#include <stdlib.h>

typedef struct nodes {
    CUgraphNode *all;
    size_t count, capacity;
} nodes;

/* A node that the first branch is ordered after. */
typedef struct reached_node {
    CUgraphNode node;
    UT_hash_handle hh;
} reached_node;

/* ---- nodes ---- */

static bool put(nodes *to, CUgraphNode node)
{
    if (to->count == to->capacity) {
        const size_t more = to->capacity != 0 ? 2 * to->capacity : 16;
        CUgraphNode *all = reallocarray(to->all, more, sizeof *all);
        if (all == NULL) {
            cx_region_give_up();
            return false;
        }
        to->all = all;
        to->capacity = more;
    }
    to->all[to->count++] = node;
    return true;
}

static bool put_all(nodes *to, const CUgraphNode *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!put(to, from[i]))
            return false;
    return true;
}

/* ---- what the driver tells ---- */

/* False: it has no answer, or there is no memory. */
static bool ask_frontier(CUstream stream, nodes *out)
{
    cxu_stream_capture_status status;
    const CUgraphNode *all = NULL;
    const cxu_graph_edge_data *edges;
    size_t count = 0;
    if (cx_check_driver->stream_get_capture_info(stream, &status, NULL, NULL, &all, &edges,
                                                 &count) != CXU_SUCCESS &&
        cx_check_driver->stream_get_capture_info_v2(stream, &status, NULL, NULL, &all, &count) !=
            CXU_SUCCESS)
        return false;
    return status == CXU_STREAM_CAPTURE_STATUS_ACTIVE && put_all(out, all, count);
}

static cxu_result get_dependencies(CUgraphNode node, CUgraphNode *all, cxu_graph_edge_data *edges,
                                   size_t *count)
{
    const cxu_result result = cx_check_driver->graph_node_get_dependencies(node, all, edges, count);
    return result != CXU_NOT_SUPPORTED
               ? result
               : cx_check_driver->graph_node_get_dependencies_v1(node, all, count);
}

static bool ask_dependencies(CUgraphNode node, nodes *out)
{
    size_t count = 0;
    if (get_dependencies(node, NULL, NULL, &count) != CXU_SUCCESS)
        return false;
    CUgraphNode *all = calloc(count + 1, sizeof *all);
    cxu_graph_edge_data *edges = calloc(count + 1, sizeof *edges);
    if (all == NULL || edges == NULL)
        cx_region_give_up();
    const bool good = all != NULL && edges != NULL &&
                      (count == 0 || get_dependencies(node, all, edges, &count) == CXU_SUCCESS) &&
                      put_all(out, all, count);
    free(edges);
    free(all);
    return good;
}

/* ---- what is reached ---- */

static bool is_reached(const reached_node *reached, CUgraphNode node)
{
    const reached_node *found;
    HASH_FIND(hh, reached, &node, sizeof node, found);
    return found != NULL;
}

static bool reach(reached_node **reached, CUgraphNode node)
{
    reached_node *made = calloc(1, sizeof *made);
    if (made == NULL) {
        cx_region_give_up();
        return false;
    }
    made->node = node;
    bool added = true;
    HASH_ADD(hh, *reached, node, sizeof made->node, made);
    if (added)
        return true;
    cx_region_give_up();
    free(made);
    return false;
}

/* The nodes that these are ordered after; they are taken from the list. */
static bool reach_all(reached_node **reached, nodes *next)
{
    while (next->count > 0) {
        const CUgraphNode node = next->all[--next->count];
        if (!is_reached(*reached, node) && !(reach(reached, node) && ask_dependencies(node, next)))
            return false;
    }
    return true;
}

static bool is_left(const reached_node *reached, const nodes *frontier)
{
    for (size_t i = 0; i < frontier->count; i++)
        if (!is_reached(reached, frontier->all[i]))
            return true;
    return false;
}

/* Sets *out_left for each stream; the first one is the capture's. */
static bool find_left(const CUstream *streams, unsigned count, bool *out_left)
{
    reached_node *reached = NULL, *node, *after;
    nodes frontier = {0};
    bool good = ask_frontier(streams[0], &frontier) && reach_all(&reached, &frontier);
    for (unsigned i = 0; i < count && good; i++) {
        frontier.count = 0;
        good = ask_frontier(streams[i], &frontier);
        out_left[i] = is_left(reached, &frontier);
    }
    HASH_ITER (hh, reached, node, after) {
        HASH_DEL(reached, node);
        free(node);
    }
    free(frontier.all);
    return good;
}

/* ---- captures ---- */

/* False: a stream has ended, or is the default one of another thread or context. */
static bool name_streams(cx_check_call *call, const cx_capture *capture, CUstream *out_streams)
{
    for (unsigned i = 0; i < capture->count; i++) {
        const cx_branch *branch = &capture->all[i];
        const bool is_own =
            branch->thread == call->thread->number && branch->context == cx_check_context(call);
        if (branch->thread != 0 ? !is_own : cx_branch_stream(branch) == NULL)
            return false;
        out_streams[i] = branch->stream;
    }
    return true;
}

/* Asks without the lock: the capture may have gone meanwhile. */
static bool *ask(const CUstream *streams, unsigned count)
{
    bool *left = calloc(count, sizeof *left);
    if (left == NULL)
        cx_region_give_up();
    cx_lock_leave(&cx_check_lock);
    if (left != NULL && !find_left(streams, count, left)) {
        free(left);
        left = NULL;
    }
    cx_lock_enter(&cx_check_lock);
    return left;
}

void cx_frontier_ask(cx_check_call *call, CUstream stream)
{
    cx_capture *capture = cx_capture_of_stream(call, stream);
    if (capture == NULL || !capture->edited || capture->count < 2)
        return;
    const unsigned count = capture->count;
    CUstream *streams = calloc(count, sizeof *streams);
    if (streams == NULL)
        cx_region_give_up();
    bool *left =
        streams != NULL && name_streams(call, capture, streams) ? ask(streams, count) : NULL;
    free(streams);
    capture = left != NULL ? cx_capture_of_stream(call, stream) : NULL;
    if (capture == NULL || capture->count != count || capture->left != NULL) {
        free(left);
        return;
    }
    capture->left = left;
    capture->left_count = count;
}
