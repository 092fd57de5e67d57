/* Primary contexts: the process's one retain for each device it has used. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/log.h"
#include "context/observer.h"
#include "context/record.h"
#include "context/use.h"

/* "contexts" and "device" held. Other code may have retained the context before, and ctxrt may have
 * a record of it: two records would not know of each other's resets. NULL: it has none. */
static cx_context *take_foreign(cx_device *device, CUcontext native)
{
    cx_context *context = cx_record_find_foreign(device, native);
    if (context != NULL) {
        atomic_store(&context->kind, CX_CONTEXT_PRIMARY);
        atomic_store(&device->primary, context);
    }
    return context;
}

/* "contexts" and "device" held. */
static ctxrt_status retain_primary(cx_device *device, cx_context **out_context)
{
    CUcontext native;
    ctxrt_status status = CX_DRIVER_CALL(device->driver, primary_retain, (&native, device->native));
    if (status != CTXRT_SUCCESS)
        return status;
    *out_context = take_foreign(device, native);
    if (*out_context != NULL)
        return CTXRT_SUCCESS;
    status = cx_record_take(device->driver, device, native, CX_CONTEXT_PRIMARY, out_context);
    if (status != CTXRT_SUCCESS) {
        (void)device->driver->table.primary_release(device->native);
        return status;
    }
    cx_pool_publish(&cx_contexts, *out_context);
    atomic_store(&device->primary, *out_context);
    return CTXRT_SUCCESS;
}

ctxrt_status cx_context_first_primary(cx_device *device, cx_context **out_context)
{
    int cancel = cx_contexts_begin();
    cx_lock_enter(&device->lock);
    *out_context = atomic_load(&device->primary);
    ctxrt_status status = *out_context != NULL ? CTXRT_SUCCESS : cx_runtime_still();
    if (status == CTXRT_SUCCESS && *out_context == NULL)
        status = retain_primary(device, out_context);
    cx_lock_leave(&device->lock);
    cx_contexts_end(cancel);
    return status;
}

/* INVALID_CONTEXT: the retain was given back before (P2). */
static ctxrt_status give_back_retain(cx_device *device)
{
    cxu_result result = device->driver->table.primary_release(device->native);
    return result == CXU_INVALID_CONTEXT
               ? CTXRT_SUCCESS
               : cx_driver_check(device->driver, CX_SLOT_primary_release, result);
}

/* "device" lock held, and "contexts". A driver may report an earlier failure though it has released
 * the context. */
static ctxrt_status release_primary(cx_device *device, cx_context *context)
{
    bool lost;
    ctxrt_status status = cx_record_retire(context, 0);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_record_close(context, &lost);
    if (status == CTXRT_SUCCESS)
        status = give_back_retain(device);
    if (status != CTXRT_SUCCESS && (lost || !cx_context_lost(context))) {
        cx_record_restore(context);
        return status;
    }
    cx_pool_put_back(&cx_contexts, context);
    return CTXRT_SUCCESS;
}

/* "contexts" held. Does nothing while another thread resets the context: *out_resetting. */
static ctxrt_status try_release(cx_device *device, cx_context **out_resetting)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_lock_enter(&device->lock);
    cx_context *context = atomic_load(&device->primary);
    *out_resetting = context != NULL && cx_context_is_resetting(context) ? context : NULL;
    if (context != NULL && *out_resetting == NULL)
        status = release_primary(device, context);
    cx_lock_leave(&device->lock);
    return status;
}

ctxrt_status cx_context_release_primary(cx_device *device)
{
    for (;;) {
        cx_context *resetting;
        int cancel = cx_contexts_begin();
        ctxrt_status status = try_release(device, &resetting);
        cx_contexts_end(cancel);
        if (resetting == NULL)
            return status;
        cx_context_wait(resetting);
    }
}

ctxrt_status ctxrt_device_release(ctxrt_device id)
{
    cx_device *device;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status))
        return status;
    status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = cx_thread_register_once();
    return status == CTXRT_SUCCESS ? cx_context_release_primary(device) : status;
}

static bool is_usable(const cx_context *context)
{
    unsigned int version;
    const cx_driver *driver = context->driver;
    return !driver->missing[CX_SLOT_ctx_get_api_version] &&
           driver->table.ctx_get_api_version(context->native, &version) == CXU_SUCCESS;
}

/*
 * After the driver's reset. A retain makes the primary context usable again under the same handle;
 * a release evens the count, since a reset releases nothing (P5, P7). This cannot be undone: if the
 * driver refuses it is asked again, and one retain too many does no harm.
 */
static ctxrt_status start_anew(cx_device *device, cx_context *context)
{
    CUcontext native;
    const cx_driver *driver = device->driver;
    cxu_result result = CXU_UNKNOWN;
    for (int i = 0; i < 2 && result != CXU_SUCCESS; i++) {
        result = driver->table.primary_retain(&native, device->native);
        if (result != CXU_SUCCESS && is_usable(context))
            result = CXU_SUCCESS;
    }
    if (result != CXU_SUCCESS)
        return cx_error_driver_call(
            cx_driver_status(result), cx_symbols[CX_SLOT_primary_retain].symbol, (int)result,
            cx_driver_result_name(driver, result),
            "%s was reset, but its primary context cannot be used: %s, %d (%s); "
            "ctxrt_device_reset tries again",
            cx_device_text(device->id), cx_driver_result_name(driver, result), (int)result,
            cx_driver_result_text(driver, result));
    cx_record_identify(context);
    result = driver->table.primary_release(device->native);
    if (result != CXU_SUCCESS)
        cx_log(CTXRT_LOG_WARNING, "a retain of the primary context of %s was not given back: %s",
               cx_device_text(device->id), cx_driver_result_name(driver, result));
    return CTXRT_SUCCESS;
}

/* A driver may report an earlier failure though it has reset the context. */
static ctxrt_status reset_primary(cx_device *device, cx_context *context)
{
    cx_error_saved saved;
    bool lost = cx_context_lost(context);
    cx_context_wait_unpinned(context);
    CX_OBSERVERS_CALL(context_is_reset, context);
    cxu_result result = device->driver->table.primary_reset(device->native);
    if (result != CXU_SUCCESS && (lost || !cx_context_lost(context))) {
        ctxrt_status refused = cx_driver_check(device->driver, CX_SLOT_primary_reset, result);
        cx_context_end_reset(context, false);
        return refused;
    }
    ctxrt_status status = start_anew(device, context);
    cx_error_save(&saved);
    cx_record_forget(context);
    cx_driver_forget_errors();
    cx_error_restore(&saved);
    cx_context_end_reset(context, true);
    return status;
}

/* The device's primary context, which the calling thread resets from now on; NULL if there is
 * none. */
static cx_context *begin_reset(cx_device *device)
{
    for (;;) {
        cx_lock_enter(&device->lock);
        cx_sections_close();
        cx_context *context = atomic_load(&device->primary);
        bool begun = context == NULL || cx_context_begin_reset(context);
        cx_sections_open();
        cx_lock_leave(&device->lock);
        if (begun)
            return context;
        cx_context_wait(context);
    }
}

static bool is_active(const cx_device *device)
{
    unsigned int flags;
    int active;
    return device->driver->table.primary_get_state(device->native, &flags, &active) ==
               CXU_SUCCESS &&
           active != 0;
}

/* A context that other code made may be the device's primary one. Then it is retained, and reset as
 * one of ctxrt's own. True if it was. */
static bool take_foreign_primary(cx_device *device)
{
    CUcontext native;
    int cancel = cx_contexts_begin();
    cx_lock_enter(&device->lock);
    const cx_driver_table *table = &device->driver->table;
    bool taken = atomic_load(&device->primary) == NULL &&
                 cx_record_find_foreign(device, NULL) != NULL && is_active(device) &&
                 table->primary_retain(&native, device->native) == CXU_SUCCESS;
    if (taken && take_foreign(device, native) == NULL) {
        (void)table->primary_release(device->native);
        taken = false;
    }
    cx_lock_leave(&device->lock);
    cx_contexts_end(cancel);
    return taken;
}

/* Without a record nothing of ours is in the context, and nothing is made meanwhile. True if there
 * is no record. */
static bool reset_unknown(cx_device *device, ctxrt_status *out_status)
{
    cx_lock_enter(&device->lock);
    bool unknown = atomic_load(&device->primary) == NULL;
    if (unknown)
        *out_status = CX_DRIVER_CALL(device->driver, primary_reset, (device->native));
    cx_lock_leave(&device->lock);
    return unknown;
}

static ctxrt_status reset_device(cx_device *device)
{
    ctxrt_status status;
    cx_context *context;
    do {
        context = begin_reset(device);
        if (context != NULL)
            return reset_primary(device, context);
    } while (take_foreign_primary(device) || !reset_unknown(device, &status));
    return status;
}

ctxrt_status ctxrt_device_reset(ctxrt_device id)
{
    cx_device *device;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = cx_thread_register_once();
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = reset_device(device);
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status ctxrt_device_set_primary_flags(ctxrt_device id, unsigned int flags)
{
    cx_device *device;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(device->driver, primary_set_flags, (device->native, flags));
    return cx_context_map_flags_error("ctxrt_device_set_primary_flags", flags, status);
}

/* False: another thread has released it meanwhile. */
static bool hold_primary(const cx_device *device, cx_context *context, ctxrt_context **out_context)
{
    int cancel = cx_contexts_begin();
    bool held = atomic_load(&device->primary) == context;
    if (held) {
        atomic_fetch_add(&context->holds, 1);
        *out_context = cx_context_handle(context);
    }
    cx_contexts_end(cancel);
    return held;
}

ctxrt_status ctxrt_context_retain_primary(ctxrt_device id, ctxrt_context **out_context)
{
    cx_device *device;
    cx_context *context;
    if (out_context == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_context_retain_primary: out_context is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status != CTXRT_SUCCESS)
        return status;
    do
        status = cx_context_primary(device, &context);
    while (status == CTXRT_SUCCESS && !hold_primary(device, context, out_context));
    return status;
}
