#include "layer/check/call.h"

#include "layer/check/exit.h"
#include "layer/check/thread.h"

const cx_driver_table *cx_check_driver;

void cx_check_find_place(cx_check_call *call)
{
    bool exits;
    call->origin = cx_origin_here(&exits);
    if (exits)
        cx_check_note_exit();
}

const cxu_launch_attribute *cx_check_launch_event(const cxu_launch_config *config,
                                                  unsigned int *next)
{
    while (config->attributes != NULL && *next < config->attribute_count) {
        const cxu_launch_attribute *one = &config->attributes[(*next)++];
        if (one->id == CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
            one->id == CXU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            return one;
    }
    return NULL;
}

cx_origin cx_check_here(cx_check_call *call)
{
    if (call->origin == 0) {
        cx_lock_leave(&cx_check_lock);
        cx_check_find_place(call);
        cx_lock_enter(&cx_check_lock);
    }
    return call->origin;
}

bool cx_check_ask_pointer(cxu_pointer_attribute attribute, uintptr_t address, void *out_value)
{
    if (cx_check_driver->pointer_get_attribute == NULL)
        return false;
    cx_lock_leave(&cx_check_lock);
    cxu_result result =
        cx_check_driver->pointer_get_attribute(out_value, attribute, (CUdeviceptr)address);
    cx_lock_enter(&cx_check_lock);
    return result == CXU_SUCCESS;
}

cx_finding cx_check_finding(cx_check_kind kind, cx_check_call *call)
{
    cx_origin at = cx_check_here(call);
    call->told = true;
    return cx_finding_begin(kind, call->thread, (int)call->slot, call->result, at);
}

/* The context with which the object ended; NULL: it is live, or ended by itself. */
static cx_object *ended_with(const cx_object *object)
{
    cx_object *context = object->key.kind == CX_HANDLE_CONTEXT
                             ? cx_object_find(CX_HANDLE_CONTEXT, object->key.value)
                             : object->context;
    return context != NULL && !object->live && !context->live &&
                   object->ended_by == context->ended_by && object->ended == context->ended
               ? context
               : NULL;
}

bool cx_check_is_consequence(cx_check_call *call, const cx_object *object)
{
    cx_object *context = ended_with(object);
    if (context == NULL)
        return false;
    const int module = cx_origin_module(cx_check_here(call));
    const uint64_t bit = UINT64_C(1) << (module < 0 || module > 63 ? 63 : module);
    if (!(context->blamed & bit)) {
        context->blamed |= bit;
        return false;
    }
    atomic_fetch_add(&cx_region_here->followed, 1);
    call->told = true;
    return true;
}

static void note_holder(const cx_check_thread *thread, const cx_check_entry *entry, void *argument)
{
    cx_finding_note(argument, "pushed", entry->set != 0 ? entry->set : entry->pushed,
                    "thread %d \"%s\" has it on its stack", thread->number, thread->name);
}

void cx_check_tell_holders(cx_check_call *call, cx_check_kind kind, const cx_object *context,
                           const cx_check_thread *except)
{
    cx_finding finding = cx_check_finding(kind, call);
    cx_finding_note_object(&finding, context);
    if (cx_check_holders(context, except, note_holder, &finding) != 0)
        cx_finding_raise(&finding);
}
