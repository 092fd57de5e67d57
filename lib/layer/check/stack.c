/* The stacks of threads: STACK, and contexts that calls make and destroy. */
#include "layer/check/check.h"
#include "layer/names.h"

#include <stdlib.h>

enum { GROWS = 64 };

static cx_object *context_of(CUcontext handle)
{
    return handle != NULL ? cx_object_find(CX_HANDLE_CONTEXT, (uintptr_t)handle) : NULL;
}

/* One that the checker has not seen being made: it came before, or by a call that has no row. */
static cx_object *context_or_new(CUcontext handle)
{
    cx_object *context = context_of(handle);
    return context != NULL || handle == NULL
               ? context
               : cx_object_make(CX_HANDLE_CONTEXT, (uintptr_t)handle, 0, NULL, 0);
}

/* ---- what modules made current ---- */

static void note_look(cx_check_call *call, cx_object *context)
{
    cx_check_look *looks = call->thread->looks, *free = &looks[0];
    int module = cx_origin_module(call->origin);
    for (int i = 0; i < CX_CHECK_LOOKS; i++) {
        if (looks[i].where == 0)
            free = &looks[i];
        if (looks[i].where != 0 && looks[i].module == module) {
            free = &looks[i];
            break;
        }
    }
    *free = (cx_check_look){module, context, call->origin};
}

/* ---- pushing ---- */

static bool told_of_growth(const cx_check_thread *thread, cx_origin where)
{
    unsigned count = 0;
    for (unsigned i = 0; i < thread->depth; i++)
        count += thread->entries[i].pushed == where;
    return count != GROWS;
}

static cx_check_entry *note_push(cx_check_call *call, cx_object *context, cx_entry_how how)
{
    cx_check_thread *thread = call->thread;
    cx_check_entry *entry = cx_check_push(thread, context, how, call->origin);
    note_look(call, context);
    if (entry == NULL || how == CX_ENTRY_SET || thread->depth < GROWS ||
        told_of_growth(thread, call->origin))
        return entry;
    cx_finding finding = cx_check_finding(CX_KIND_STACK_GROWS, call);
    cx_finding_note(&finding, "pushed", call->origin, "%u entries on the stack are from here",
                    (unsigned)GROWS);
    cx_finding_raise(&finding);
    return entry;
}

static void pushed(cx_check_call *call)
{
    if (cx_check_failed(call))
        return;
    cx_check_entry *entry =
        note_push(call, context_or_new(CX_CALL(call, ctx_push)->context), CX_ENTRY_PUSHED);
    if (entry != NULL)
        entry->stays = cx_layer_hint_now() == CX_LAYER_ENTRY_STAYS;
}

enum { PLACES = 64, AGAIN = 64 };

static bool made_here(const cx_object *context, void *argument)
{
    const cx_check_call *call = argument;
    return context->made == call->origin && context != cx_check_current(call->thread);
}

/* A place that creates contexts. Programs have few. One for each GPU is right. */
static void count_created(cx_check_call *call)
{
    if (cx_object_first(CX_HANDLE_CONTEXT, made_here, call) != NULL)
        return;
    static struct {
        cx_origin where;
        unsigned count;
    } places[PLACES];
    for (int i = 0; i < PLACES; i++) {
        if (places[i].where != 0 && places[i].where != call->origin)
            continue;
        places[i].where = call->origin;
        if (call->origin != 0 && ++places[i].count == AGAIN) {
            cx_finding finding = cx_check_finding(CX_KIND_LIFE_CONTEXT_AGAIN, call);
            cx_finding_raise(&finding);
        }
        return;
    }
}

static void created(cx_check_call *call, const CUcontext *out, CUdevice device)
{
    if (out == NULL)
        return;
    if (cx_check_failed(call)) {
        cx_check_note_failed(call, CX_HANDLE_CONTEXT, (uintptr_t)*out);
        return;
    }
    cx_object *context =
        cx_object_make(CX_HANDLE_CONTEXT, (uintptr_t)*out, 0, NULL, call->origin);
    if (context == NULL)
        return;
    cx_check_made_context(call, context, (int)device);
    (void)note_push(call, context, CX_ENTRY_CREATED);
    count_created(call);
}

static void created_v2(cx_check_call *call)
{
    created(call, CX_CALL(call, ctx_create_v2)->out_context, CX_CALL(call, ctx_create_v2)->device);
}

static void created_v3(cx_check_call *call)
{
    created(call, CX_CALL(call, ctx_create_v3)->out_context, CX_CALL(call, ctx_create_v3)->device);
}

static void created_v4(cx_check_call *call)
{
    created(call, CX_CALL(call, ctx_create_v4)->out_context, CX_CALL(call, ctx_create_v4)->device);
}

/* ---- popping ---- */

static void tell_pop_of_nothing(cx_check_call *call)
{
    cx_finding finding = cx_check_finding(CX_KIND_STACK_POP_EMPTY, call);
    const cx_check_thread *other = cx_check_other_with_context(call->thread);
    if (other != NULL)
        cx_finding_note(&finding, "other", cx_check_top(other)->pushed,
                        "thread %d has a context: each thread has a stack of its own",
                        other->number);
    cx_finding_note_removal(&finding, call->thread);
    cx_finding_raise(&finding);
}

static void tell_of_entry(cx_check_call *call, cx_check_kind kind, const cx_check_entry *entry)
{
    char text[64] = "the context";
    if (entry->first != NULL)
        cx_object_text(entry->first, text, sizeof text);
    cx_finding finding = cx_check_finding(kind, call);
    cx_finding_note(&finding, "pushed", entry->pushed, "%s was pushed by %.40s", text,
                    cx_origin_module_name(entry->pushed));
    if (entry->set != 0)
        cx_finding_note(&finding, "set", entry->set, "it was replaced by %.40s",
                        cx_origin_module_name(entry->set));
    cx_finding_raise(&finding);
}

static bool is_foreign(const cx_check_call *call, cx_origin where)
{
    int here = cx_origin_module(call->origin), there = cx_origin_module(where);
    return here >= 0 && there >= 0 && here != there;
}

/* A runtime that has a stack of its own looks at the driver's before it changes it: it takes off
 * what other code left when its user says so. */
static bool is_misused(const cx_check_call *call, const cx_check_entry *top)
{
    return top->how == CX_ENTRY_PUSHED && !top->told && !cx_origin_in_runtime(call->origin);
}

static void popped(cx_check_call *call)
{
    cx_check_entry *top = cx_check_top(call->thread);
    if (cx_check_failed(call)) {
        if (top == NULL && call->result == CXU_INVALID_CONTEXT)
            tell_pop_of_nothing(call);
        return;
    }
    if (top == NULL)
        return;
    if (is_foreign(call, top->pushed) && is_misused(call, top))
        tell_of_entry(call, CX_KIND_STACK_POP_FOREIGN, top);
    else if (top->first != top->context && is_misused(call, top))
        tell_of_entry(call, CX_KIND_STACK_POP_OTHER, top);
    cx_check_pop(call->thread, call->slot, call->origin);
    note_look(call, cx_check_current(call->thread));
}

/* ---- setting ---- */

static void was_set(cx_check_call *call)
{
    cx_check_thread *thread = call->thread;
    CUcontext handle = CX_CALL(call, ctx_set_current)->context;
    cx_check_entry *top = cx_check_top(thread);
    if (cx_check_failed(call))
        return;
    cx_object *context = context_or_new(handle);
    if (top != NULL && context != top->context && is_foreign(call, top->pushed) &&
        is_misused(call, top)) {
        tell_of_entry(call, CX_KIND_STACK_SET_FOREIGN, top);
        top->told = true;
    }
    if (handle == NULL) {
        cx_check_pop(thread, call->slot, call->origin);
        note_look(call, cx_check_current(thread));
    } else if (top == NULL) {
        (void)note_push(call, context, CX_ENTRY_SET);
    } else {
        if (top->context != context)
            top->set = call->origin;
        top->context = context;
        if (context != NULL)
            context->entered = true;
        note_look(call, context);
    }
}

enum { ASKED_AGAIN = 32 };

static bool all_know(const cx_check_thread *thread)
{
    for (int i = 0; i < CX_CHECK_LOOKS; i++)
        if (thread->looks[i].where != 0 && thread->looks[i].context != cx_check_current(thread))
            return false;
    return true;
}

bool cx_check_asks_again(const cx_check_thread *thread)
{
    return thread->asked_again >= ASKED_AGAIN && all_know(thread);
}

/* A module that asks sees what others made current. */
static void was_asked(cx_check_call *call)
{
    cx_check_thread *thread = call->thread;
    if (cx_check_failed(call) || call->origin == 0)
        return;
    bool known = all_know(thread);
    note_look(call, cx_check_current(thread));
    thread->asked_again = known ? thread->asked_again + 1 : 0;
}

/* ---- destroying ---- */

static void end_this(cx_check_call *call, cx_object *context)
{
    if (context == NULL || !context->live || context->primary)
        return;
    call->ending = context;
    cx_object_end(context, (int)call->slot, call->origin);
}

static void end_context(cx_check_call *call)
{
    end_this(call, context_of(CX_CALL(call, ctx_destroy)->context));
}

static void attached(cx_check_call *call)
{
    const CUcontext *out = CX_CALL(call, ctx_attach)->out_context;
    cx_object *context = cx_check_failed(call) ? NULL : context_of(*out);
    if (context != NULL)
        context->attached++;
}

/* The last one ends it. */
static void detach(cx_check_call *call)
{
    cx_object *context = context_of(CX_CALL(call, ctx_detach)->context);
    if (context != NULL && context->attached == 0)
        end_this(call, context);
}

static void destroyed(cx_check_call *call)
{
    cx_object *context = call->ending;
    if (context == NULL)
        return;
    if (cx_check_failed(call)) {
        cx_object_revive(context);
        return;
    }
    cx_check_captures_left(call, context);
    cx_object_empty(context, (int)call->slot, call->origin);
    if (cx_check_current(call->thread) == context)
        cx_check_pop(call->thread, call->slot, call->origin);
    cx_check_tell_holders(call, CX_KIND_CURRENT_DESTROYED_ELSEWHERE, context, call->thread);
}

static void detached(cx_check_call *call)
{
    cx_object *context = context_of(CX_CALL(call, ctx_detach)->context);
    if (call->ending != NULL)
        destroyed(call);
    else if (context != NULL && context->attached > 0 && !cx_check_failed(call))
        context->attached--;
}

/* ---- the end of a thread ---- */

void cx_check_stack_left(cx_check_thread *thread)
{
    for (unsigned i = 0; i < thread->depth; i++) {
        const cx_check_entry *entry = &thread->entries[i];
        char text[64] = "a context";
        if (entry->how == CX_ENTRY_SET || entry->stays || thread->main)
            continue;
        if (entry->first != NULL)
            cx_object_text(entry->first, text, sizeof text);
        cx_finding finding = cx_finding_begin(entry->how == CX_ENTRY_CREATED
                                                  ? CX_KIND_STACK_CREATE_LEFT
                                                  : CX_KIND_STACK_LEFT,
                                              thread, -1, CXU_SUCCESS, entry->pushed);
        cx_finding_note(&finding, "pushed", entry->pushed, "%s, pushed by %.40s", text,
                        cx_origin_module_name(entry->pushed));
        cx_finding_raise(&finding);
    }
}

/* The entries that came from the same place; 0 for those behind the first one. */
static unsigned count_from_place(const cx_check_thread *thread, unsigned entry)
{
    unsigned count = 0;
    for (unsigned i = 0; i < thread->depth; i++) {
        if (thread->entries[i].pushed != thread->entries[entry].pushed ||
            thread->entries[i].how != CX_ENTRY_PUSHED)
            continue;
        if (i < entry)
            return 0;
        count++;
    }
    return count;
}

/* A program may keep what it pushed until it ends; but not what each pass of a loop pushed. */
void cx_check_stack_left_main(const cx_check_thread *thread)
{
    for (unsigned i = 0; i < thread->depth; i++) {
        const cx_check_entry *entry = &thread->entries[i];
        unsigned count = entry->stays ? 0 : count_from_place(thread, i);
        if (count < 2)
            continue;
        cx_finding finding = cx_finding_begin(CX_KIND_STACK_LEFT_MAIN, thread, -1, CXU_SUCCESS,
                                              entry->pushed);
        cx_finding_note(&finding, "pushed", entry->pushed,
                        "%u entries are left from here, by %.40s", count,
                        cx_origin_module_name(entry->pushed));
        cx_finding_raise(&finding);
    }
}

const cx_check_hooks cx_check_stack[CX_SLOT_COUNT] = {
    [CX_SLOT_ctx_push] = {NULL, pushed},
    [CX_SLOT_ctx_pop] = {NULL, popped},
    [CX_SLOT_ctx_set_current] = {NULL, was_set},
    [CX_SLOT_ctx_get_current] = {NULL, was_asked},
    [CX_SLOT_ctx_create_v2] = {NULL, created_v2},
    [CX_SLOT_ctx_create_v3] = {NULL, created_v3},
    [CX_SLOT_ctx_create_v4] = {NULL, created_v4},
    [CX_SLOT_ctx_destroy] = {end_context, destroyed},
    [CX_SLOT_ctx_attach] = {NULL, attached},
    [CX_SLOT_ctx_detach] = {detach, detached},
};
