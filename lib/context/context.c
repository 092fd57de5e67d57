#include "context/context.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/lock.h"
#include "base/log.h"
#include "context/context_guard.h"
#include "context/layer_names.h"
#include "context/observer.h"
#include "context/record.h"
#include "context/use.h"
#include <stdio.h>

cx_pool cx_contexts = CX_POOL_INIT("context", CX_CONTEXT_POOL_KIND, cx_context);

cx_lock cx_contexts_lock = CX_LOCK_INIT(CONTEXTS);

int cx_contexts_begin(void)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_contexts_lock);
    return cancel;
}

void cx_contexts_end(int cancel)
{
    cx_lock_leave(&cx_contexts_lock);
    cx_cancel_restore(cancel);
}

/* Our own ids start high, so that they cannot be taken for a driver's. */
#define FIRST_OWN_ID ((uint64_t)1 << 48)
static _Atomic uint64_t next_own_id = FIRST_OWN_ID;

uint64_t cx_context_native_id(const cx_driver *driver, CUcontext native)
{
    unsigned long long id;
    cx_layer_hint before = cx_context_hint(CX_LAYER_CALL_IS_TRIED);
    cxu_result result = driver->table.ctx_get_id(native, &id);
    (void)cx_context_hint(before);
    return result == CXU_SUCCESS ? id : 0;
}

bool cx_context_native_known(const cx_driver *driver, CUcontext native)
{
    unsigned int version;
    if (driver->missing[CX_SLOT_ctx_get_api_version])
        return true;
    return driver->table.ctx_get_api_version(native, &version) != CXU_INVALID_CONTEXT;
}

bool cx_record_may_have_id(const cx_context *context, uint64_t id)
{
    uint64_t known = atomic_load(&context->id);
    return id == 0 || known >= FIRST_OWN_ID || known == id;
}

/* True if the native handle now names another context, or was reset. */
static bool has_another_id(const cx_context *context)
{
    return !cx_record_may_have_id(context,
                                  cx_context_native_id(context->driver, context->native));
}

bool cx_context_lost(const cx_context *context)
{
    unsigned int version;
    const cx_driver *driver = context->driver;
    if (!driver->missing[CX_SLOT_ctx_get_api_version]) {
        cx_layer_hint before = cx_context_hint(CX_LAYER_CALL_IS_TRIED);
        cxu_result result = driver->table.ctx_get_api_version(context->native, &version);
        (void)cx_context_hint(before);
        if (result == CXU_INVALID_CONTEXT || result == CXU_CONTEXT_IS_DESTROYED)
            return true;
    }
    return has_another_id(context);
}

bool cx_context_replaced(const cx_context *context)
{
    return context->kind == CX_CONTEXT_FOREIGN && has_another_id(context);
}

bool cx_context_holds_what_is_of(const cx_context *context, uint32_t epoch)
{
    return epoch == atomic_load(&context->epoch) && !cx_context_lost(context);
}

ctxrt_status cx_context_blame_failure(const cx_context *context, const char *noun,
                                      ctxrt_status status)
{
    bool primary = context->kind == CX_CONTEXT_PRIMARY;
    if ((status != CTXRT_ERROR_DRIVER && status != CTXRT_ERROR_CONTEXT_DESTROYED) ||
        !cx_context_lost(context))
        return status;
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED, "the %s is gone: other code %s %s%s", noun,
                    primary ? "reset" : "destroyed", cx_context_text(context),
                    primary ? "; after a ctxrt_device_reset it can be used again" : "");
}

ctxrt_status cx_context_missing(const ctxrt_context *handle)
{
    return cx_handle_error("context", handle,
                           "it was destroyed or released, or never was one");
}

const char *cx_context_text(const cx_context *context)
{
    static _Thread_local char texts[4][56];
    static _Thread_local unsigned int turn;
    static const char *const kinds[] = {"primary context", "context", "foreign context"};
    char *text = texts[turn++ % 4];
    snprintf(text, sizeof texts[0], "%s %llu of %s", kinds[context->kind],
             (unsigned long long)atomic_load(&context->id),
             context->device != NULL ? cx_device_text(context->device->id) : "an unknown device");
    return text;
}

void cx_record_identify(cx_context *context)
{
    uint64_t id = cx_context_native_id(context->driver, context->native);
    atomic_store(&context->id, id != 0 ? id : atomic_fetch_add(&next_own_id, 1));
}

ctxrt_status cx_record_take(cx_driver *driver, cx_device *device, CUcontext native,
                            cx_context_kind kind, cx_context **out_context)
{
    cx_context *context = cx_pool_take(&cx_contexts);
    if (context == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a context");
    *context = (cx_context){
        .native = native,
        .driver = driver,
        .device = device,
        .kind = kind,
        .lock = CX_LOCK_INIT(CONTEXT),
    };
    cx_record_identify(context);
    *out_context = context;
    return CTXRT_SUCCESS;
}

cx_context_memory cx_context_memory_of(const cx_context *context)
{
    cx_context_memory sum = {(uint64_t)atomic_load(&context->objects[CX_OBJECT_MEMORY]),
                             atomic_load(&context->memory_bytes)};
    CX_OBSERVERS_CALL(count_memory, context, &sum);
    return sum;
}

int cx_context_objects(const cx_context *context, cx_object_kind kind)
{
    return kind == CX_OBJECT_MEMORY ? (int)cx_context_memory_of(context).count
                                    : atomic_load(&context->objects[kind]);
}

ctxrt_status cx_record_close(cx_context *context, bool *out_lost)
{
    cx_context_guard guard;
    *out_lost = cx_context_lost(context);
    if (*out_lost) {
        cx_record_abandon(context);
        return CTXRT_SUCCESS;
    }
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_record_close_handles(context, true);
    CX_OBSERVERS_CALL(context_closes, context);
    cx_context_guard_leave(&guard);
    return CTXRT_SUCCESS;
}

void cx_record_end(cx_context *context)
{
    bool lost;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (cx_record_close(context, &lost) != CTXRT_SUCCESS)
        cx_record_abandon(context);
    cx_error_restore(&saved);
    cx_pool_put_back(&cx_contexts, context);
}

void cx_record_restore(cx_context *context)
{
    cx_pool_revive(&cx_contexts, context);
    if (context->kind == CX_CONTEXT_PRIMARY)
        atomic_store(&context->device->primary, context);
}

void cx_record_abandon(cx_context *context)
{
    cx_record_close_handles(context, false);
    CX_OBSERVERS_CALL(context_is_empty, context, true);
}

void cx_record_forget(cx_context *context)
{
    CX_OBSERVERS_CALL(context_is_empty, context, false);
}

static const char *const object_nouns[CX_OBJECT_KINDS][2] = {
    [CX_OBJECT_STREAM] = {"stream", "streams"},
    [CX_OBJECT_EVENT] = {"event", "events"},
    [CX_OBJECT_MEMORY] = {"piece of memory", "pieces of memory"},
    [CX_OBJECT_ALLOCATOR] = {"allocator", "allocators"},
    [CX_OBJECT_DETACHED_FRAME] = {"detached frame", "detached frames"},
    [CX_OBJECT_MODULE] = {"module", "modules"},
    [CX_OBJECT_GRAPH] = {"graph", "graphs"},
    [CX_OBJECT_RECORDING] = {"recording", "recordings"},
};

ctxrt_status cx_context_check_unused(cx_context *context, int holds_allowed)
{
    int number, level;
    if (cx_threads_use_context(context, &number, &level))
        return cx_error(CTXRT_ERROR_IN_USE, "%s is in use: frame %d of thread %d refers to it",
                        cx_context_text(context), level, number);
    for (int kind = 0; kind < CX_OBJECT_KINDS; kind++) {
        int count = cx_context_objects(context, kind);
        if (count != 0)
            return cx_error(CTXRT_ERROR_IN_USE, "%s is in use: %d %s of it %s left",
                            cx_context_text(context), count, object_nouns[kind][count != 1],
                            count == 1 ? "is" : "are");
    }
    int holds = atomic_load(&context->holds);
    if (holds > holds_allowed)
        return cx_error(CTXRT_ERROR_IN_USE,
                        "%s is in use: %d hold%s of it not given back by ctxrt_context_release",
                        cx_context_text(context), holds - holds_allowed,
                        holds - holds_allowed == 1 ? " is" : "s are");
    return CTXRT_SUCCESS;
}

ctxrt_status cx_record_retire(cx_context *context, int holds_allowed)
{
    cx_device *device = context->device;
    cx_sections_close();
    ctxrt_status status = cx_context_check_unused(context, holds_allowed);
    if (status == CTXRT_SUCCESS) {
        if (device != NULL && atomic_load(&device->primary) == context)
            atomic_store(&device->primary, NULL);
        (void)cx_pool_retire(&cx_contexts, cx_context_handle(context));
    }
    cx_sections_open();
    if (status == CTXRT_SUCCESS)
        cx_context_wait_unpinned(context);
    return status;
}
