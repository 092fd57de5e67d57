/* Contexts that ctxrt creates and destroys. */
#include "base/error.h"
#include "context/driver_stack_entry.h"
#include "context/record.h"
#include "context/thread.h"

ctxrt_status cx_context_map_flags_error(const char *call, unsigned int flags, ctxrt_status status)
{
    const ctxrt_error *error = ctxrt_last_error();
    if (status != CTXRT_ERROR_DRIVER || error->driver_result != CXU_INVALID_VALUE)
        return status;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the driver has no flags %#x", call, flags);
}

/* A new context becomes current: that tells whether a failure is an earlier one. */
static ctxrt_status create_current(cx_device *device, unsigned int flags, CUcontext previous,
                                   CUcontext *out_native)
{
    const cx_driver *driver = device->driver;
    CUcontext now;
    ctxrt_status status =
        driver->missing[CX_SLOT_ctx_create_v2]
            ? CX_DRIVER_CALL(driver, ctx_create_v4, (out_native, NULL, flags, device->native))
            : CX_DRIVER_CALL(driver, ctx_create_v2, (out_native, flags, device->native));
    status = cx_context_map_flags_error("ctxrt_context_create", flags, status);
    if (status == CTXRT_SUCCESS || driver->table.ctx_get_current(&now) != CXU_SUCCESS ||
        now == previous)
        return status;
    *out_native = now;
    return CTXRT_SUCCESS;
}

static ctxrt_status create_native(cx_device *device, unsigned int flags, CUcontext *out_native)
{
    const cx_driver *driver = device->driver;
    CUcontext previous;
    ctxrt_status status = CX_DRIVER_CALL(driver, ctx_get_current, (&previous));
    if (status == CTXRT_SUCCESS)
        status = create_current(device, flags, previous, out_native);
    if (status != CTXRT_SUCCESS || cx_driver_stack_entry_remove(driver, previous))
        return status;
    (void)driver->table.ctx_destroy(*out_native);
    return cx_error(CTXRT_ERROR_DRIVER, "a context was created on %s, but could not be popped",
                    cx_device_text(device->id));
}

ctxrt_status ctxrt_context_create(ctxrt_device id, unsigned int flags, ctxrt_context **out_context)
{
    cx_device *device;
    CUcontext native;
    cx_context *context;
    if (out_context == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_create: out_context is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = create_native(device, flags, &native);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_record_take(device->driver, device, native, CX_CONTEXT_CREATED, &context);
    if (status != CTXRT_SUCCESS) {
        (void)device->driver->table.ctx_destroy(native);
        return status;
    }
    *out_context = cx_pool_publish(&cx_contexts, context);
    return CTXRT_SUCCESS;
}

/* "contexts" held. */
static ctxrt_status destroy_created(cx_context *context)
{
    if (context->kind != CX_CONTEXT_CREATED)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s was not made by ctxrt_context_create: release it instead",
                        cx_context_text(context));
    ctxrt_status status = cx_record_retire(context, 0);
    if (status != CTXRT_SUCCESS)
        return status;
    bool lost; /* if true, its native handle may name another context now */
    status = cx_record_close(context, &lost);
    if (status == CTXRT_SUCCESS && !lost)
        status = CX_DRIVER_CALL(context->driver, ctx_destroy, (context->native));
    if (status == CTXRT_SUCCESS)
        cx_driver_forget_errors();
    if (status != CTXRT_SUCCESS && !cx_context_lost(context)) {
        cx_record_restore(context);
        return status;
    }
    cx_pool_put_back(&cx_contexts, context);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_context_destroy(ctxrt_context *handle)
{
    cx_context *context;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    status = cx_thread_register_once();
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_contexts_begin();
    status = cx_context_find(handle, &context);
    if (status == CTXRT_SUCCESS)
        status = destroy_created(context);
    cx_contexts_end(cancel);
    return status;
}
