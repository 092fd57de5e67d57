#include "context/context.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/lock.h"
#include "base/log.h"
#include "context/observer.h"
#include "context/record.h"
#include "context/thread.h"
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
    cx_layer_hint before = cx_thread_hint(CX_LAYER_CALL_IS_TRIED);
    cxu_result result = driver->table.ctx_get_id(native, &id);
    (void)cx_thread_hint(before);
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
    return !cx_record_may_have_id(context, cx_context_native_id(context->driver, context->native));
}

bool cx_context_lost(const cx_context *context)
{
    unsigned int version;
    const cx_driver *driver = context->driver;
    if (!driver->missing[CX_SLOT_ctx_get_api_version]) {
        cx_layer_hint before = cx_thread_hint(CX_LAYER_CALL_IS_TRIED);
        cxu_result result = driver->table.ctx_get_api_version(context->native, &version);
        (void)cx_thread_hint(before);
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

ctxrt_status cx_context_map_failure(const cx_context *context, const char *noun,
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
    return cx_handle_error("context", handle, "it was destroyed or released, or never was one");
}

const char *cx_context_kind_name(cx_context_kind kind)
{
    static const char *const names[] = {
        [CX_CONTEXT_PRIMARY] = "primary",
        [CX_CONTEXT_CREATED] = "created",
        [CX_CONTEXT_FOREIGN] = "foreign",
    };
    return names[kind];
}

const char *cx_context_text(const cx_context *context)
{
    static const char *const kinds[] = {"primary context", "context", "foreign context"};
    char *text = cx_thread_name_buffer();
    if (text == NULL)
        return kinds[context->kind];
    snprintf(text, CX_THREAD_NAME, "%s %llu of %s", kinds[context->kind],
             (unsigned long long)atomic_load(&context->id),
             context->device != NULL ? cx_device_text(context->device->id) : "an unknown device");
    return text;
}

void cx_record_identify(cx_context *context)
{
    uint64_t id = cx_context_native_id(context->driver, context->native);
    atomic_store(&context->id, id != 0 ? id : atomic_fetch_add(&next_own_id, 1));
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
