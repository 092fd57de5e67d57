/* The process: PROCESS, and failures that nobody looked at: IGNORED. */
#include "base/fork.h"
#include "layer/check/culprit.h"
#include "layer/check/exit.h"
#include "layer/check/order_finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool initialised, in_forked_child, told_of_fork;
static cx_origin initialised_at;
static char visible[CX_REGION_TEXT];

/* The first failure that sticks. */
static cxu_result sticky;
static cx_slot sticky_slot;
static cx_origin sticky_at;
static unsigned sticky_culprits; /* that had failed then */
static bool sticky_told;         /* another finding tells why */

/* ---- forks ---- */

static void begin_in_child(void)
{
    if (cx_region_here == NULL)
        return;
    in_forked_child = initialised;
    atomic_store(&cx_region_of_parent, true);
    cx_objects_fork();
    cx_check_threads_fork();
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {
        .rank = CX_RANK_CHECK, .lock = &cx_check_lock, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}

bool cx_check_in_forked_child(void)
{
    return in_forked_child;
}

/* ---- the end ---- */

static void end_exit(void)
{
    cx_check_note_exit();
    if (atomic_load(&cx_region_of_parent))
        return;
    cx_lock_enter(&cx_check_lock);
    const cx_check_thread *main_thread = cx_check_thread_main();
    if (main_thread != NULL && !cx_region_gave_up())
        cx_check_stack_left_main(main_thread);
    cx_lock_leave(&cx_check_lock);
    cx_finding_summarise();
}

/* ---- each call ---- */

static void tell_of_fork(cx_check_call *call)
{
    if (told_of_fork || call->slot == CX_SLOT_driver_get_version ||
        call->slot == CX_SLOT_get_error_name || call->slot == CX_SLOT_get_error_string)
        return;
    told_of_fork = true;
    cx_finding finding = cx_check_finding(CX_KIND_PROCESS_FORKED, call);
    cx_finding_note(&finding, "first", initialised_at,
                    "the parent, process %d, had initialised the driver",
                    (int)cx_region_here->forked_from);
    cx_finding_raise(&finding);
}

/* A call that asks for a text, or takes a callback back, as a static object has to: it can do no
 * harm, whatever the driver answers. */
static bool is_harmless(cx_slot slot)
{
    return slot == CX_SLOT_get_error_name || slot == CX_SLOT_get_error_string ||
           slot == CX_SLOT_driver_get_version || slot == CX_SLOT_logs_unregister_callback;
}

static void tell_of_teardown(cx_check_call *call)
{
    cx_finding finding = cx_check_finding(CX_KIND_PROCESS_TEARDOWN, call);
    cx_finding_note(&finding, "first", initialised_at, "the driver was initialised, by %.40s",
                    cx_origin_module_name(initialised_at));
    if (cx_check_exit_thread != 0 && cx_check_exit_thread != call->thread->number)
        cx_finding_note(&finding, "other", 0, "it is thread %d \"%s\" that exits",
                        cx_check_exit_thread, cx_check_exit_thread_name);
    cx_finding_raise(&finding);
    call->torn_down = true;
}

static bool is_late(const cx_check_call *call)
{
    return atomic_load(&cx_region_here->exiting) != 0 && !is_harmless(call->slot);
}

void cx_check_any_process(cx_check_call *call)
{
    if (in_forked_child)
        tell_of_fork(call);
    else if (is_late(call))
        tell_of_teardown(call);
    call->told = false;
}

/* Another thread may have begun to exit during the call: it was made before then. */
void cx_check_any_exit(cx_check_call *call)
{
    if (!in_forked_child && !call->torn_down && is_late(call) &&
        cx_check_exit_thread == call->thread->number)
        tell_of_teardown(call);
}

/* ---- initialising ---- */

static void initialised_by(cx_check_call *call)
{
    const char *now = getenv("CUDA_VISIBLE_DEVICES");
    if (cx_check_failed(call) || initialised)
        return;
    initialised = true;
    initialised_at = cx_check_here(call);
    snprintf(visible, sizeof visible, "%s", now != NULL ? now : "");
    (void)atexit(end_exit);
}

static void look_at_environment(cx_check_call *call)
{
    const char *now = getenv("CUDA_VISIBLE_DEVICES");
    if (!initialised || strncmp(now != NULL ? now : "", visible, sizeof visible - 1) == 0)
        return;
    cx_finding finding = cx_check_finding(CX_KIND_PROCESS_VISIBLE, call);
    call->told = false;
    cx_finding_note(&finding, "first", initialised_at, "it was \"%s\" when the driver began",
                    visible);
    cx_finding_raise(&finding);
}

/* ---- failures ---- */

static void tell_of_callback(cx_check_call *call)
{
    cx_finding finding = cx_check_finding(CX_KIND_PROCESS_CALLBACK, call);
    cx_finding_raise(&finding);
}

void cx_check_failed_process(cx_check_call *call)
{
    if (call->result == CXU_NOT_PERMITTED &&
        (call->nested || cx_origin_in_callback(call->origin))) {
        tell_of_callback(call);
        return;
    }
    if (!cx_result_sticks(call->result))
        return;
    if (sticky != call->result || sticky_culprits != cx_culprit_count()) {
        sticky = call->result;
        sticky_culprits = cx_culprit_count();
        sticky_slot = call->slot;
        sticky_at = cx_check_here(call);
        sticky_told = call->result == CXU_ILLEGAL_ADDRESS && cx_order_fault_told();
    }
    call->told = sticky_told;
    atomic_store(&cx_region_here->stuck, 1);
    if (call->told)
        return;
    cx_finding finding = cx_check_finding(CX_KIND_PROCESS_STICKY, call);
    finding.record.trace = sticky_at; /* all that follow are counted with the first */
    finding.record.slot = (int)sticky_slot;
    cx_culprit_describe(&finding, call->result);
    cx_finding_raise(&finding);
}

/* Programs that look at results go on with these. */
static bool clears_up(cx_slot slot)
{
    uint32_t kind;
    switch (slot) {
    case CX_SLOT_ctx_pop:
    case CX_SLOT_ctx_set_current:
    case CX_SLOT_primary_release:
    case CX_SLOT_mem_free:
    case CX_SLOT_mem_free_async:
    case CX_SLOT_mem_free_host:
    case CX_SLOT_mem_host_unregister:
    case CX_SLOT_stream_end_capture:
        return true;
    default:
        return is_harmless(slot) || cx_check_ends(slot, &kind);
    }
}

/* Answers that programs look for and go on with. */
static bool is_answer(const cx_check_call *call)
{
    return call->result == CXU_PEER_ACCESS_ALREADY_ENABLED ||
           call->result == CXU_PEER_ACCESS_NOT_ENABLED || call->result == CXU_NOT_SUPPORTED ||
           call->result == CXU_DEINITIALIZED || call->slot == CX_SLOT_pointer_get_attribute ||
           call->slot == CX_SLOT_device_get_attribute ||
           (call->result == CXU_INVALID_CONTEXT && cx_check_asks_for_device(call->slot));
}

static bool launches(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_launch_kernel:
    case CX_SLOT_launch_kernel_ex:
    case CX_SLOT_launch_cooperative_kernel:
    case CX_SLOT_launch_cooperative_kernel_multi_device:
    case CX_SLOT_graph_launch:
        return true;
    default:
        return false;
    }
}

/* Calls that wait for a launch, or take what it computed. A program that tries another launch, or
 * asks what the device can do, has looked at the result. */
static bool relies_on_launch(const cx_check_call *call)
{
    const char *symbol = cx_symbols[call->slot].symbol;
    return strncmp(symbol, "cuMemcpy", 8) == 0 || strstr(symbol, "Synchronize") != NULL ||
           call->slot == CX_SLOT_event_record || call->slot == CX_SLOT_launch_host_func;
}

/* Another launch may be the other way that a program has. */
static bool tries_again(const cx_check_call *call)
{
    return launches(call->thread->failed_slot) && launches(call->slot);
}

static cx_check_kind kind_of_ignored(const cx_check_call *call)
{
    return launches(call->thread->failed_slot) && relies_on_launch(call) ? CX_KIND_IGNORED_LAUNCH
                                                                         : CX_KIND_IGNORED_ERROR;
}

void cx_check_any_ignored(cx_check_call *call)
{
    cx_check_thread *thread = call->thread;
    cx_origin before = thread->failed_at;
    thread->failed_at = 0;
    if (before != 0 && kind_of_ignored(call) == CX_KIND_IGNORED_LAUNCH)
        (void)cx_check_here(call); /* other calls are judged only if their place is kept anyway */
    if (before != 0 && call->origin != 0 && !clears_up(call->slot) && !tries_again(call) &&
        cx_origin_follows(before, call->origin)) {
        cx_finding finding =
            cx_finding_begin(kind_of_ignored(call), thread, (int)thread->failed_slot,
                             thread->failed_result, before);
        cx_finding_note(&finding, "next", call->origin,
                        "%s follows in the same function, whatever %s gave",
                        cx_origin_call(call->origin, call->slot),
                        cx_origin_call(before, thread->failed_slot));
        cx_finding_raise(&finding);
    }
    if (!cx_check_failed(call) || call->told || is_answer(call))
        return;
    thread->failed_at = call->origin;
    thread->failed_slot = call->slot;
    thread->failed_result = call->result;
}

const cx_check_hooks cx_check_process[CX_SLOT_COUNT] = {
    [CX_SLOT_init] = {NULL, initialised_by},
    [CX_SLOT_device_get_count] = {NULL, look_at_environment},
    [CX_SLOT_device_get] = {NULL, look_at_environment},
    [CX_SLOT_primary_retain] = {NULL, look_at_environment},
    [CX_SLOT_ctx_create_v2] = {NULL, look_at_environment},
    [CX_SLOT_ctx_create_v3] = {NULL, look_at_environment},
    [CX_SLOT_ctx_create_v4] = {NULL, look_at_environment},
};
