/* The context that is current where a call failed: CURRENT. */
#include "layer/check/check.h"

#include <stdlib.h>

static void note_other_thread(cx_finding *finding, const cx_check_thread *thread)
{
    char text[64];
    const cx_check_thread *other = cx_check_other_with_context(thread);
    if (other == NULL)
        return;
    const cx_check_entry *top = cx_check_top(other);
    cx_object_text(top->context, text, sizeof text);
    cx_finding_note(finding, "other", top->set != 0 ? top->set : top->pushed,
                    "thread %d \"%s\" has %s", other->number, other->name, text);
}

/* The driver's word decides: contexts can become current by calls that have no row. */
static bool driver_has_one(cx_check_call *call)
{
    CUcontext context = NULL;
    (void)call;
    cx_lock_leave(&cx_check_lock);
    cxu_result result = cx_check_driver->ctx_get_current(&context);
    cx_lock_enter(&cx_check_lock);
    return result != CXU_SUCCESS || context != NULL;
}

bool cx_check_asks_for_device(cx_slot slot)
{
    return slot == CX_SLOT_ctx_get_device || slot == CX_SLOT_ctx_get_device_v2;
}

void cx_check_failed_current(cx_check_call *call)
{
    const cx_object *current = cx_check_current(call->thread);
    if (call->result != CXU_INVALID_CONTEXT && call->result != CXU_CONTEXT_IS_DESTROYED)
        return;
    if (cx_check_top(call->thread) == NULL) {
        if (call->slot == CX_SLOT_ctx_pop || cx_check_asks_for_device(call->slot) ||
            driver_has_one(call))
            return;
        cx_finding finding = cx_check_finding(CX_KIND_CURRENT_NONE, call);
        cx_finding_note_removal(&finding, call->thread);
        note_other_thread(&finding, call->thread);
        cx_finding_raise(&finding);
    } else if (current != NULL && !current->live && !cx_check_is_consequence(call, current)) {
        cx_finding finding = cx_check_finding(CX_KIND_CURRENT_DESTROYED, call);
        cx_finding_note_object(&finding, current);
        cx_finding_note_current(&finding, call->thread);
        cx_finding_raise(&finding);
    }
}

/* ---- changed by another module ---- */

static const cx_check_look *look_of(const cx_check_thread *thread, int module)
{
    for (int i = 0; i < CX_CHECK_LOOKS; i++)
        if (thread->looks[i].where != 0 && thread->looks[i].module == module)
            return &thread->looks[i];
    return NULL;
}

/* A library that calls back has its own context current meanwhile. */
static bool is_below(cx_origin call, int module)
{
    const cx_region_trace *trace = &cx_region_here->all_traces[call];
    for (uint32_t i = 0; i < trace->count; i++)
        if (trace->frames[i].module == (uint32_t)module)
            return true;
    return false;
}

void cx_check_uses_current(cx_check_call *call)
{
    cx_check_thread *thread = call->thread;
    const cx_check_entry *top = cx_check_top(thread);
    if (top == NULL || top->context == NULL)
        return;
    cx_origin changed = top->set != 0 ? top->set : top->pushed;
    int module = cx_origin_module(call->origin), other = cx_origin_module(changed);
    const cx_check_look *look = look_of(thread, module);
    /* Libraries of one package set the device for each other. */
    if (module < 0 || other < 0 || cx_origin_same_package(module, other) || look == NULL ||
        look->context == NULL ||
        !look->context->live || look->context == top->context || is_below(call->origin, other))
        return;
    cx_finding finding = cx_check_finding(CX_KIND_CURRENT_CHANGED, call);
    call->told = false;
    cx_finding_note(&finding, "set", look->where, "%.40s had made another context current",
                    cx_origin_module_name(look->where));
    cx_finding_note_current(&finding, thread);
    cx_finding_raise(&finding);
}
