#include "layer/check/check.h"

#include "driver/access_log.h"
#include "driver/entry.h"
#include "layer/check/crash.h"
#include "layer/check/exit.h"
#include "layer/check/wait.h"
#include "layer/names.h"

#include <stdlib.h>
#include <string.h>

/* In this order before a call, so that lifetimes end objects last, and in reverse after it. */
static const cx_check_hooks *const families[] = {
    cx_check_stack,   cx_check_primary,    cx_check_peer,    cx_check_memory,  cx_check_pending,
    cx_check_order,   cx_check_order_sync, cx_check_capture, cx_check_process, cx_check_given,
    cx_check_mapping, cx_check_attach,     cx_check_lifetimes,
};
enum { FAMILIES = sizeof families / sizeof *families };

/* The calls of a thread that are under way: another one from within is a callback's. Deeper ones
 * are not looked at. */
enum { DEPTH = 4 };

/* NULL: no memory, and the checker gives up. */
static cx_check_call *call_under_way(cx_check_thread *thread)
{
    if (thread->under_way == NULL)
        thread->under_way = calloc(DEPTH, sizeof *thread->under_way);
    if (thread->under_way == NULL) {
        cx_region_give_up();
        return NULL;
    }
    return &thread->under_way[cx_check_depth - 1];
}

static bool adds_node(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_graph_add_kernel_node_v1:
    case CX_SLOT_graph_add_kernel_node:
    case CX_SLOT_graph_add_memcpy_node:
    case CX_SLOT_graph_add_memset_node:
    case CX_SLOT_graph_add_mem_alloc_node:
    case CX_SLOT_graph_add_mem_free_node:
    case CX_SLOT_graph_add_node_v1:
    case CX_SLOT_graph_add_node:
        return true;
    default:
        return false;
    }
}

/* The calls whose place is kept with what they make, push or end. */
static bool keeps_place(cx_slot slot, const cx_check_thread *thread)
{
    if (adds_node(slot))
        return true;
    if (slot == CX_SLOT_ctx_get_current && cx_check_asks_again(thread))
        return false;
    return cx_check_waits(slot) || cx_check_lifetimes[slot].after != NULL ||
           cx_check_mapping[slot].after != NULL ||
           cx_check_stack[slot].after != NULL || cx_check_primary[slot].after != NULL ||
           cx_check_capture[slot].after != NULL;
}

static void run_before(cx_check_call *call)
{
    cx_check_any_process(call);
    for (size_t i = 0; i < FAMILIES; i++)
        if (families[i][call->slot].before != NULL)
            families[i][call->slot].before(call);
    cx_check_place_captured(call);
    cx_check_wait_begins(call);
}

static void explain_failure(cx_check_call *call)
{
    static const cx_check_hook all[] = {
        cx_check_failed_capture, cx_check_failed_process, cx_check_failed_handle,
        cx_check_failed_owner,   cx_check_failed_memory,  cx_check_failed_current,
        cx_check_failed_call,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all && !call->told; i++)
        all[i](call);
}

static void run_after(cx_check_call *call)
{
    if (cx_check_failed(call) && cx_layer_hint_now() == CX_LAYER_CALL_IS_TRIED)
        call->told = true; /* a runtime goes another way now */
    cx_check_wait_ended(call);
    for (size_t i = FAMILIES; i-- > 0;)
        if (families[i][call->slot].after != NULL)
            families[i][call->slot].after(call);
    cx_check_note_work(call);
    cx_check_any_capture(call);
    cx_check_any_unwritten(call);
    if (cx_check_failed(call))
        explain_failure(call);
    cx_check_any_ignored(call);
    cx_check_any_exit(call);
}

/* The first call in the child of a fork. */
static void begin_child(void)
{
    cx_lock_enter(&cx_check_lock);
    if (atomic_load(&cx_region_of_parent) && !cx_region_gave_up()) {
        if (cx_region_fork())
            atomic_store(&cx_region_of_parent, false);
        else
            cx_region_give_up();
    }
    cx_lock_leave(&cx_check_lock);
}

/* NULL: the call is not looked at. */
static cx_check_thread *thread_to_check(void)
{
    if (__builtin_expect(cx_region_gave_up(), 0))
        return NULL;
    if (__builtin_expect(atomic_load_explicit(&cx_region_of_parent, memory_order_relaxed), 0))
        begin_child();
    return atomic_load_explicit(&cx_region_of_parent, memory_order_relaxed)
               ? NULL
               : cx_check_thread_self();
}

static void begin_call(const cx_layer_call *seen)
{
    if (cx_check_depth++ >= DEPTH)
        return;
    cx_check_thread *thread = thread_to_check();
    cx_check_call *call = thread != NULL ? call_under_way(thread) : NULL;
    if (call == NULL)
        return;
    *call = (cx_check_call){.slot = seen->slot, .arguments = seen->arguments,
                            .thread = thread, .nested = cx_check_depth > 1,
                            .default_stream = cx_entry_now == CX_ENTRY_PER_THREAD
                                                  ? CXU_STREAM_PER_THREAD
                                                  : CXU_STREAM_LEGACY};
    cx_check_watch_exit();
    if (keeps_place(call->slot, call->thread))
        cx_check_find_place(call);
    cx_lock_enter(&cx_check_lock);
    run_before(call);
    cx_access_log_turn = cx_object_turn();
    cx_lock_leave(&cx_check_lock);
    cx_access_log_place = call->origin;
}

static void judge(cx_check_call *call, cxu_result result)
{
    call->result = result;
    if (cx_check_failed(call))
        cx_check_explain_failure(call);
    if (call->origin == 0 && cx_check_failed(call))
        cx_check_find_place(call);
    cx_lock_enter(&cx_check_lock);
    run_after(call);
    cx_lock_leave(&cx_check_lock);
}

static void end_call(const cx_layer_call *seen)
{
    cx_check_thread *thread = cx_check_thread_known();
    cx_access_log_place = 0;
    cx_access_log_turn = UINT64_MAX;
    if (--cx_check_depth >= DEPTH || thread == NULL || thread->under_way == NULL)
        return;
    cx_check_call *call = &thread->under_way[cx_check_depth];
    if (call->thread == NULL)
        return; /* its begin was not looked at */
    if (cx_region_gave_up())
        cx_access_log_ticket = 0; /* the driver need not tell what later calls touch */
    else
        judge(call, seen->result);
    call->thread = NULL;
}

static const cx_layer layer = {begin_call, end_call};

static bool prepare(cx_check_position position)
{
    if (!cx_region_open())
        return false;
    cx_origin_prepare(position == CX_CHECK_IN_RUNTIME);
    cx_check_order_begin();
    cx_check_watch_crashes();
    cx_check_thread_ends = cx_check_stack_left;
    return true;
}

bool cx_check_put(const cx_driver_table *below, cx_check_position position,
                  cx_driver_table *out_table)
{
    if (cx_region_here == NULL && !prepare(position))
        return false;
    cx_check_driver = below;
    cx_layer_put(&layer, below, out_table);
    return true;
}
