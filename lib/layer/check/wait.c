/* Calls that wait, for reports of programs that hang, and the latest work of what they wait for. */
#include "layer/check/wait.h"

#include "base/clock.h"
#include "layer/check/check.h"

#include <string.h>

bool cx_check_waits(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_ctx_synchronize:
    case CX_SLOT_stream_synchronize:
    case CX_SLOT_event_synchronize:
    case CX_SLOT_memcpy_unified:
    case CX_SLOT_memcpy_peer:
    case CX_SLOT_memcpy_htod:
    case CX_SLOT_memcpy_dtoh:
    case CX_SLOT_memcpy_dtod:
    case CX_SLOT_memcpy_2d:
    case CX_SLOT_memcpy_3d:
    case CX_SLOT_mem_free:
    case CX_SLOT_mem_free_host:
    case CX_SLOT_mem_host_unregister:
    case CX_SLOT_ctx_destroy:
    case CX_SLOT_primary_release:
    case CX_SLOT_primary_reset:
    case CX_SLOT_module_unload:
        return true;
    default:
        return false;
    }
}

static cx_region_wait *wait_of(const cx_check_thread *thread)
{
    return thread->number > 0 && thread->number <= CX_REGION_WAITS
               ? &cx_region_here->waits[thread->number - 1]
               : NULL;
}

/* The stream or event that the call names, or else the context that it works in. */
static const cx_object *awaited(cx_check_call *call)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {.slot = call->slot, .arguments = call->arguments};
    int count = cx_layer_handles(&seen, handles);
    for (int i = 0; i < count; i++) {
        const cx_object *object =
            handles[i].value != 0 ? cx_object_find(handles[i].kind, handles[i].value) : NULL;
        if (object != NULL)
            return object;
    }
    return cx_check_current(call->thread);
}

void cx_check_wait_begins(cx_check_call *call)
{
    cx_region_wait *wait = wait_of(call->thread);
    if (wait == NULL || call->nested || !cx_check_waits(call->slot))
        return;
    const cx_object *object = awaited(call);
    wait->slot = (int32_t)call->slot;
    wait->trace = call->origin;
    wait->since = cx_clock_ns();
    memcpy(wait->name, call->thread->name, sizeof wait->name);
    wait->object_kind = 0;
    if (object != NULL) {
        wait->object_kind = object->key.kind;
        wait->object_number = object->number;
        wait->object_device = object->device;
        wait->primary = object->primary;
        wait->made = object->made;
        wait->last_slot = object->last_on != 0 ? object->last_slot : -1;
        wait->last_trace = object->last_at;
        wait->last_thread = object->last_on;
    }
    __atomic_store_n(&wait->thread, (uint32_t)call->thread->number, __ATOMIC_RELEASE);
}

void cx_check_wait_ended(const cx_check_call *call)
{
    cx_region_wait *wait = wait_of(call->thread);
    if (wait != NULL && !call->nested && cx_check_waits(call->slot))
        __atomic_store_n(&wait->thread, 0, __ATOMIC_RELEASE);
}

static void note_last(cx_object *object, const cx_check_call *call)
{
    if (object == NULL)
        return;
    object->last_slot = (int)call->slot;
    object->last_at = call->origin;
    object->last_on = call->thread->number;
}

/* Work that may keep a stream from going on. Records of events and waits for them do not by
 * themselves, and their places are not taken. */
static bool begins_like_work(const char *symbol)
{
    static const char *const begins[] = {"cuLaunch",           "cuMemcpy",  "cuMemset",
                                         "cuStreamWaitValue",  "cuStreamWriteValue",
                                         "cuStreamBatchMemOp", "cuGraphLaunch",
                                         "cuStreamAddCallback"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(symbol, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static bool gives_work(cx_slot slot)
{
    static signed char known[CX_SLOT_COUNT]; /* 0: not yet */
    if (known[slot] == 0)
        known[slot] = begins_like_work(cx_symbols[slot].symbol) ? 1 : -1;
    return known[slot] > 0;
}

void cx_check_note_work(cx_check_call *call)
{
    if (!gives_work(call->slot) || cx_check_failed(call))
        return;
    (void)cx_check_here(call);
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {.slot = call->slot, .arguments = call->arguments};
    int count = cx_layer_handles(&seen, handles);
    cx_object *context = cx_check_current(call->thread);
    for (int i = 0; i < count; i++) {
        cx_object *object = handles[i].kind == CX_HANDLE_STREAM && handles[i].value > 2
                                ? cx_object_find(CX_HANDLE_STREAM, handles[i].value)
                                : NULL;
        if (object == NULL)
            continue;
        note_last(object, call);
        context = object->context;
    }
    note_last(context, call);
}
