/* Contexts that ctxrt creates and destroys. */
#include "base/error.h"
#include "context/driver_stack_entry.h"
#include "context/record.h"
#include "context/thread.h"
#include <string.h>

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

/* ---- green contexts ---- */

static ctxrt_status no_such_parts(const cx_device *device, unsigned int count,
                                  unsigned int multiprocessors, unsigned int all)
{
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "ctxrt_context_create_green: %s has %u multiprocessors, which the driver does "
                    "not part into %u times %u",
                    cx_device_text(device->id), all, count, multiprocessors);
}

/* `groups`: room for `count`. */
static ctxrt_status split_device(const cx_device *device, unsigned int count,
                                 unsigned int multiprocessors, cxu_dev_resource *groups)
{
    const cx_driver *driver = device->driver;
    cxu_dev_resource all;
    unsigned int got = count;
    ctxrt_status status = CX_DRIVER_CALL(driver, device_get_dev_resource,
                                         (device->native, &all, CXU_DEV_RESOURCE_TYPE_SM));
    if (status != CTXRT_SUCCESS)
        return status;
    if (multiprocessors > all.of.sm.count)
        return no_such_parts(device, count, multiprocessors, all.of.sm.count);
    cxu_result result = driver->table.dev_sm_resource_split_by_count(groups, &got, &all, NULL, 0,
                                                                     multiprocessors);
    if (result == CXU_INVALID_VALUE || result == CXU_INVALID_RESOURCE_CONFIGURATION ||
        (result == CXU_SUCCESS && got < count))
        return no_such_parts(device, count, multiprocessors, all.of.sm.count);
    return cx_driver_check(driver, CX_SLOT_dev_sm_resource_split_by_count, result);
}

static ctxrt_status create_part(cx_device *device, cxu_dev_resource *group,
                                ctxrt_context **out_context)
{
    const cx_driver *driver = device->driver;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    CUcontext native;
    cx_context *context;
    ctxrt_status status = CX_DRIVER_CALL(driver, dev_resource_generate_desc, (&desc, group, 1));
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(driver, green_ctx_create,
                                (&green, desc, device->native, CXU_GREEN_CTX_DEFAULT_STREAM));
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(driver, ctx_from_green_ctx, (&native, green));
    if (status == CTXRT_SUCCESS)
        status = cx_record_take(device->driver, device, native, CX_CONTEXT_CREATED, &context);
    if (status != CTXRT_SUCCESS) {
        (void)driver->table.green_ctx_destroy(green);
        return status;
    }
    context->green = green;
    *out_context = cx_pool_publish(&cx_contexts, context);
    return CTXRT_SUCCESS;
}

static void destroy_parts(ctxrt_context **contexts, unsigned int count)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    while (count > 0)
        (void)ctxrt_context_destroy(contexts[--count]);
    cx_error_restore(&saved);
}

static ctxrt_status create_parts(cx_device *device, cxu_dev_resource *groups, unsigned int count,
                                 ctxrt_context **contexts)
{
    for (unsigned int i = 0; i < count; i++) {
        ctxrt_status status = create_part(device, &groups[i], &contexts[i]);
        if (status != CTXRT_SUCCESS) {
            destroy_parts(contexts, i);
            return status;
        }
    }
    return CTXRT_SUCCESS;
}

/* No device has more parts. */
#define PARTS_MAX 128

ctxrt_status ctxrt_context_create_green(ctxrt_device id, unsigned int count,
                                        unsigned int multiprocessors, ctxrt_context **out_contexts)
{
    cx_device *device;
    cxu_dev_resource groups[PARTS_MAX];
    ctxrt_context *contexts[PARTS_MAX];
    if (out_contexts == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_context_create_green: out_contexts is NULL");
    if (count == 0 || multiprocessors == 0 || count > PARTS_MAX)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_context_create_green: there are no %u contexts of %u "
                        "multiprocessors",
                        count, multiprocessors);
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = split_device(device, count, multiprocessors, groups);
    if (status == CTXRT_SUCCESS)
        status = create_parts(device, groups, count, contexts);
    if (status == CTXRT_SUCCESS)
        memcpy(out_contexts, contexts, count * sizeof contexts[0]);
    return status;
}

/* ---- destroying ---- */

/* `lost`: the handle of a context may name another one. A reset of the device ends a green context
 * too, but its object is there until it is destroyed. */
static ctxrt_status destroy_native(const cx_context *context, bool lost)
{
    const cx_driver *driver = context->driver;
    if (context->green == NULL)
        return lost ? CTXRT_SUCCESS : CX_DRIVER_CALL(driver, ctx_destroy, (context->native));
    if (!lost)
        return CX_DRIVER_CALL(driver, green_ctx_destroy, (context->green));
    cx_layer_hint before = cx_thread_hint(CX_LAYER_CALL_IS_TRIED);
    (void)driver->table.green_ctx_destroy(context->green);
    (void)cx_thread_hint(before);
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
    if (status == CTXRT_SUCCESS)
        status = destroy_native(context, lost);
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
