#include "emu/graph/user_object.h"
#include "base/thread.h"
#include "emu/graph/graph.h"
#include "emu/base/handle.h"
#include "emu/schedule/schedule.h"
#include "emu/base/state.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The user may release the references that are not a graph's. */
struct cx_emu_user_object {
    cx_emu_handle_slot slot;
    void *pointer;
    CUhostFn destroy;
    uint64_t own, of_graphs;
    bool gone; /* nobody has a reference, and its function is called, or will be */
    cx_emu_user_object *next_unstarted;
};

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_user_object)};

/* ---- destruction ---- */

/* Objects without references whose destructor has found no thread of its own. */
static cx_emu_user_object *unstarted;
static pthread_cond_t more_unstarted = PTHREAD_COND_INITIALIZER;
static bool standby; /* a thread waits for them: it is there before the first object */

/* The object stays taken until its function is known. */
static void call_destructor(cx_emu_user_object *object)
{
    void *pointer = object->pointer;
    CUhostFn function = object->destroy;

    cx_lock_enter(&cx_emu_lock);
    cx_emu_handle_return(&handles, object);
    cx_lock_leave(&cx_emu_lock);
    cx_emu_in_callback = true;
    function(pointer);
    cx_emu_in_callback = false;
}

static void *run_destructor(void *argument)
{
    call_destructor(argument);
    return NULL;
}

/* False: nothing was to do for a while. */
static bool wait_for_unstarted(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return unstarted != NULL || cx_lock_wait_until(&cx_emu_lock, &more_unstarted, &until);
}

static void *stand_by(void *argument)
{
    (void)argument;
    cx_lock_enter(&cx_emu_lock);
    while (wait_for_unstarted() || !cx_emu_main_has_left()) {
        cx_emu_user_object *first = unstarted;

        if (first == NULL)
            continue;
        unstarted = first->next_unstarted;
        cx_lock_leave(&cx_emu_lock);
        call_destructor(first);
        cx_lock_enter(&cx_emu_lock);
    }
    standby = false;
    cx_lock_leave(&cx_emu_lock);
    return NULL;
}

static bool start_thread(void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    started = cx_thread_start(&thread, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* The user's function runs on a thread of its own: no call waits for it, and the last reference may
 * go with the lock held. */
static void destroy_unused(cx_emu_user_object *object)
{
    if (object->own + object->of_graphs > 0)
        return;
    object->gone = true;
    if (start_thread(run_destructor, object))
        return;
    object->next_unstarted = unstarted;
    unstarted = object;
    pthread_cond_signal(&more_unstarted);
}

/* ---- references of graphs ---- */

bool cx_emu_holdings_copy(const cx_emu_holdings *from, cx_emu_holdings *out_copy)
{
    *out_copy = (cx_emu_holdings){0};
    if (from->count == 0)
        return true;
    out_copy->items = calloc(from->count, sizeof *out_copy->items);
    if (out_copy->items == NULL)
        return false;
    memcpy(out_copy->items, from->items, from->count * sizeof *from->items);
    out_copy->count = from->count;
    for (size_t i = 0; i < from->count; i++)
        from->items[i].object->of_graphs += from->items[i].count;
    return true;
}

void cx_emu_holdings_drop(cx_emu_holdings *holdings)
{
    for (size_t i = 0; i < holdings->count; i++) {
        holdings->items[i].object->of_graphs -= holdings->items[i].count;
        destroy_unused(holdings->items[i].object);
    }
    free(holdings->items);
    *holdings = (cx_emu_holdings){0};
}

static cx_emu_holding *find_holding(const cx_emu_holdings *holdings,
                                    const cx_emu_user_object *object)
{
    for (size_t i = 0; i < holdings->count; i++)
        if (holdings->items[i].object == object)
            return &holdings->items[i];
    return NULL;
}

static cx_emu_holding *find_or_add(cx_emu_holdings *holdings, cx_emu_user_object *object)
{
    cx_emu_holding *items, *found = find_holding(holdings, object);

    if (found != NULL)
        return found;
    items = reallocarray(holdings->items, holdings->count + 1, sizeof *items);
    if (items == NULL)
        return NULL;
    holdings->items = items;
    items[holdings->count] = (cx_emu_holding){object, 0};
    return &items[holdings->count++];
}

/* ---- calls ---- */

static cxu_result find_object(CUuserObject handle, unsigned int count,
                              cx_emu_user_object **out_object)
{
    cx_emu_user_object *object = (cx_emu_user_object *)(void *)handle;

    if (count == 0 || count > INT_MAX || !cx_emu_handle_live(&handles, handle) || object->gone)
        return CXU_INVALID_VALUE;
    *out_object = object;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_user_object_create(CUuserObject *out_object, void *pointer, CUhostFn destroy,
                                          unsigned int count, unsigned int flags)
{
    cx_emu_user_object *object;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_object == NULL || destroy == NULL || count == 0 || count > INT_MAX ||
        flags != CXU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    standby = standby || start_thread(stand_by, NULL);
    object = standby ? cx_emu_handle_take(&handles) : NULL;
    if (object != NULL) {
        object->pointer = pointer;
        object->destroy = destroy;
        object->own = count;
        *out_object = (CUuserObject)(void *)object;
    } else {
        result = CXU_OUT_OF_MEMORY;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_user_object_retain(CUuserObject handle, unsigned int count)
{
    cx_emu_user_object *object;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_object(handle, count, &object);
    if (result == CXU_SUCCESS)
        object->own += count;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_user_object_release(CUuserObject handle, unsigned int count)
{
    cx_emu_user_object *object;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_object(handle, count, &object);
    if (result == CXU_SUCCESS && count > object->own)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS) {
        object->own -= count;
        destroy_unused(object);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result retain_for_graph(CUgraph graph_handle, CUuserObject handle, unsigned int count,
                                   bool move)
{
    cx_emu_graph *graph;
    cx_emu_user_object *object;
    cx_emu_holding *holding;
    cxu_result result = cx_emu_graph_find(graph_handle, &graph);

    if (result == CXU_SUCCESS)
        result = find_object(handle, count, &object);
    if (result != CXU_SUCCESS)
        return result;
    holding = find_holding(&graph->holdings, object);
    if ((move && count > object->own) || (holding != NULL && count > UINT_MAX - holding->count))
        return CXU_INVALID_VALUE;
    holding = find_or_add(&graph->holdings, object);
    if (holding == NULL)
        return CXU_OUT_OF_MEMORY;
    holding->count += count;
    object->of_graphs += count;
    object->own -= move ? count : 0;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_graph_retain_user_object(CUgraph graph, CUuserObject object,
                                                unsigned int count, unsigned int flags)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags & ~(unsigned int)CXU_GRAPH_USER_OBJECT_MOVE)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = retain_for_graph(graph, object, count, flags != 0);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result release_for_graph(CUgraph graph_handle, CUuserObject handle, unsigned int count)
{
    cx_emu_graph *graph;
    cx_emu_user_object *object;
    cx_emu_holding *holding;
    cxu_result result = cx_emu_graph_find(graph_handle, &graph);

    if (result == CXU_SUCCESS)
        result = find_object(handle, count, &object);
    if (result != CXU_SUCCESS)
        return result;
    holding = find_holding(&graph->holdings, object);
    if (holding == NULL || count > holding->count)
        return CXU_INVALID_VALUE;
    holding->count -= count;
    if (holding->count == 0)
        *holding = graph->holdings.items[--graph->holdings.count];
    object->of_graphs -= count;
    destroy_unused(object);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_graph_release_user_object(CUgraph graph, CUuserObject object,
                                                 unsigned int count)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = release_for_graph(graph, object, count);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
