/* Primary contexts: PRIMARY. */
#include "layer/check/check.h"
#include "layer/names.h"

#include <stdlib.h>
#include <string.h>

/* ---- which there are ---- */

static bool is_primary_of(const cx_object *context, void *argument)
{
    return context->primary && context->device == *(const int *)argument;
}

static bool is_own_of(const cx_object *context, void *argument)
{
    return !context->primary && context->made != 0 && context->device == *(const int *)argument;
}

/* The last one of each device, live or ended: contexts stay. */
enum { DEVICES = 64 };
static const cx_object *last_primaries[DEVICES];

static cx_object *primary_of(int device)
{
    return cx_object_first(CX_HANDLE_CONTEXT, is_primary_of, &device);
}

void cx_check_made_context(cx_check_call *call, cx_object *context, int device)
{
    cx_object_set_owner(context, NULL, device);
    const cx_object *other = context->primary
                                 ? cx_object_first(CX_HANDLE_CONTEXT, is_own_of, &device)
                                 : primary_of(device);
    if (other == NULL)
        return;
    cx_finding finding = cx_check_finding(CX_KIND_PRIMARY_MIXED, call);
    cx_finding_note_object(&finding, other);
    cx_finding_note_object(&finding, context);
    cx_finding_raise(&finding);
}

/* Asks the driver, without the lock. */
static bool is_active(CUdevice device, unsigned int *out_flags)
{
    int active = 0;
    cx_lock_leave(&cx_check_lock);
    cxu_result result = cx_check_driver->primary_get_state(device, out_flags, &active);
    cx_lock_enter(&cx_check_lock);
    return result == CXU_SUCCESS && active != 0;
}

/* ---- retaining and releasing ---- */

static cx_object *newest_retain(CUdevice device, int module)
{
    cx_object *retain = cx_object_find_of_module(CX_OBJECT_RETAIN, (uintptr_t)device, module);
    return retain != NULL || module < 0
               ? retain
               : cx_object_find_of_module(CX_OBJECT_RETAIN, (uintptr_t)device, -1);
}

static bool works_elsewhere(const cx_object *context, int device)
{
    int gpu = cx_layer_gpu(device); /* as in the records */
    return !context->worked && gpu >= 0 && cx_region_works_elsewhere(cx_region_here, gpu);
}

static void retained(cx_check_call *call)
{
    const cx_arguments_primary_retain *given = CX_CALL(call, primary_retain);
    if (given->out_context == NULL)
        return;
    if (cx_check_failed(call)) {
        cx_check_note_failed(call, CX_HANDLE_CONTEXT, (uintptr_t)*given->out_context);
        return;
    }
    uintptr_t handle = (uintptr_t)*given->out_context;
    cx_object *context = cx_object_find(CX_HANDLE_CONTEXT, handle);
    if (context != NULL && context->primary && !context->live)
        cx_object_revive(context); /* entries of stacks are usable again (P5) */
    else if (context == NULL || !context->live)
        context = cx_object_make(CX_HANDLE_CONTEXT, handle, 0, NULL, call->origin);
    if (context == NULL)
        return;
    bool first = !context->primary;
    context->primary = true;
    if (given->device < DEVICES)
        last_primaries[given->device] = context;
    if (context->made == 0)
        context->made = call->origin;
    if (newest_retain(given->device, -1) == NULL)
        context->late = works_elsewhere(context, (int)given->device);
    if (first)
        cx_check_made_context(call, context, (int)given->device);
    cx_object *retain = cx_object_make(CX_OBJECT_RETAIN, (uintptr_t)given->device, 0, NULL,
                                       call->origin);
    if (retain != NULL)
        cx_object_set_owner(retain, NULL, (int)given->device);
}

static void tell_of_release(cx_check_call *call)
{
    cx_finding finding = cx_check_finding(CX_KIND_PRIMARY_RELEASED, call);
    CUdevice device = CX_CALL(call, primary_release)->device;
    if (device >= 0 && device < DEVICES && last_primaries[device] != NULL)
        cx_finding_note_object(&finding, last_primaries[device]);
    cx_finding_raise(&finding);
}

/* How much memory is free: for that alone programs make contexts on all devices. */
static void asked(cx_check_call *call)
{
    cx_object *context = cx_check_current(call->thread);
    if (context != NULL && !cx_check_failed(call))
        context->asked = true;
}

/* One that was released and never current, or current for a question alone while other devices
 * began to work. One that was made after that may have been for a short question. `ctxrt check`
 * looks at those that are left alive. */
static void tell_if_stray(cx_check_call *call, const cx_object *context)
{
    int gpu = cx_layer_gpu(context->device);
    if (!works_elsewhere(context, context->device) ||
        (context->entered && (context->late || !context->asked)))
        return;
    cx_finding finding = cx_finding_begin(CX_KIND_PRIMARY_STRAY, call->thread, -1, CXU_SUCCESS,
                                          context->made);
    cx_finding_note(&finding, "made", context->made, "the primary context of GPU %d", gpu);
    cx_finding_note(&finding, "ended", context->ended, "nothing was made or done in it");
    cx_finding_raise(&finding);
}

/* If another module retained the context too, it would leak: who releases cannot know. */
static void tell_left(const cx_object *object, void *argument)
{
    const cx_check_call *call = argument;
    const cx_check_kind kind = cx_kind_of_left(object->key.kind);
    char text[64];
    if (!cx_kind_is_leak(kind) || object->record == CX_REGION_OBJECTS)
        return;
    cx_object_text(object, text, sizeof text);
    cx_finding finding =
        cx_finding_begin(kind, call->thread, -1, CXU_SUCCESS, object->made);
    cx_finding_note(&finding, "made", object->made, "%s", text);
    cx_finding_note(&finding, "ended", call->origin,
                    "it ended with its primary context, at the last release");
    cx_finding_raise(&finding);
}

static void end_primary(cx_check_call *call, cx_object *context)
{
    cx_check_captures_left(call, context);
    cx_object_end(context, (int)call->slot, call->origin);
    cx_object_empty(context, (int)call->slot, call->origin);
}

static void released(cx_check_call *call)
{
    CUdevice device = CX_CALL(call, primary_release)->device;
    unsigned int flags;
    if (cx_check_failed(call)) {
        if (call->result == CXU_INVALID_CONTEXT)
            tell_of_release(call);
        return;
    }
    cx_object *retain = newest_retain(device, cx_origin_module(call->origin));
    if (retain != NULL)
        cx_object_end(retain, (int)call->slot, call->origin);
    cx_object *context = primary_of((int)device);
    if (context == NULL || newest_retain(device, -1) != NULL || is_active(device, &flags))
        return;
    cx_object_each_of(context, tell_left, call);
    end_primary(call, context);
    cx_check_tell_holders(call, CX_KIND_PRIMARY_ENDED, context, call->thread);
    tell_if_stray(call, context);
}

/* ---- resetting ---- */

static void note_thread(const cx_check_thread *thread, const cx_check_entry *entry, void *argument)
{
    cx_finding_note(argument, "pushed", entry->set != 0 ? entry->set : entry->pushed,
                    "thread %d \"%s\" has it on its stack", thread->number, thread->name);
}

static bool of_other_module(const cx_object *retain, void *argument)
{
    const cx_check_call *call = argument;
    int here = cx_origin_module(call->origin), there = cx_origin_module(retain->made);
    return retain->key.value == (uintptr_t)CX_CALL(call, primary_reset)->device && here >= 0 &&
           there >= 0 && here != there;
}

static void reset(cx_check_call *call)
{
    cx_object *context = primary_of((int)CX_CALL(call, primary_reset)->device);
    if (cx_check_failed(call) || context == NULL)
        return;
    const cx_object *retain = cx_object_first(CX_OBJECT_RETAIN, of_other_module, call);
    end_primary(call, context);
    cx_finding finding = cx_check_finding(CX_KIND_PRIMARY_RESET, call);
    cx_finding_note_object(&finding, context);
    if (retain != NULL)
        cx_finding_note(&finding, "held", retain->made, "%.40s retains it",
                        cx_origin_module_name(retain->made));
    if (cx_check_holders(context, call->thread, note_thread, &finding) != 0 || retain != NULL)
        cx_finding_raise(&finding);
}

/* ---- flags ---- */

/* The flags of the active context that a call of this thread is to change. */
static _Thread_local unsigned int flags_before;
static _Thread_local bool changes_flags;

/* An active primary context reports MAP_HOST always (P6). */
static void begin_flags(cx_check_call *call)
{
    const cx_arguments_primary_set_flags *given = CX_CALL(call, primary_set_flags);
    changes_flags = is_active(given->device, &flags_before) &&
                    ((flags_before ^ given->flags) & ~(unsigned)CXU_CTX_MAP_HOST) != 0;
}

static void flags_set(cx_check_call *call)
{
    const cx_arguments_primary_set_flags *given = CX_CALL(call, primary_set_flags);
    const cx_object *context = primary_of((int)given->device);
    if (context == NULL || !changes_flags ||
        (cx_check_failed(call) && call->result != CXU_PRIMARY_CONTEXT_ACTIVE))
        return;
    cx_finding finding = cx_check_finding(CX_KIND_PRIMARY_FLAGS, call);
    cx_finding_note_object(&finding, context);
    cx_finding_note(&finding, "argument", 0, "it has the flags %#x, asked for are %#x",
                    flags_before, given->flags);
    cx_finding_raise(&finding);
}

const cx_check_hooks cx_check_primary[CX_SLOT_COUNT] = {
    [CX_SLOT_mem_get_info] = {NULL, asked},
    [CX_SLOT_primary_retain] = {NULL, retained},
    [CX_SLOT_primary_release] = {NULL, released},
    [CX_SLOT_primary_reset] = {NULL, reset},
    [CX_SLOT_primary_set_flags] = {begin_flags, flags_set},
};
