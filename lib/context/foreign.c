/* Contexts that other code made, and the holds on them. */
#include "base/error.h"
#include "context/context_guard.h"
#include "context/record.h"
#include "context/thread.h"

typedef struct adoption {
    const cx_driver *driver;
    CUcontext native;
    uint64_t id;
    cx_context *found;
} adoption;

static bool same_native(void *object, void *argument)
{
    cx_context *context = object;
    adoption *wanted = argument;
    if (context->driver == wanted->driver && context->native == wanted->native &&
        (context->kind == CX_CONTEXT_PRIMARY || cx_record_may_have_id(context, wanted->id)))
        wanted->found = context;
    return wanted->found == NULL;
}

typedef struct foreign_search {
    const cx_device *device;
    CUcontext native;
    cx_context *found;
} foreign_search;

static bool is_sought(void *object, void *argument)
{
    cx_context *context = object;
    foreign_search *search = argument;
    if (context->kind == CX_CONTEXT_FOREIGN && context->device == search->device &&
        (search->native == NULL || context->native == search->native) &&
        !cx_context_lost(context))
        search->found = context;
    return search->found == NULL;
}

cx_context *cx_record_find_foreign(const cx_device *device, CUcontext native)
{
    foreign_search search = {device, native, NULL};
    cx_pool_each(&cx_contexts, is_sought, &search);
    return search.found;
}

/* Finds the device of a context that need not be current. */
static ctxrt_status find_device(const cx_driver *driver, CUcontext native, cx_device **out_device)
{
    const cx_context probe = {.driver = (cx_driver *)(uintptr_t)driver, .native = native};
    cx_context_guard guard;
    CUdevice ordinal;
    ctxrt_status status = cx_context_guard_enter(&probe, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(driver, ctx_get_device, (&ordinal));
    cx_context_guard_leave(&guard);
    if (status == CTXRT_SUCCESS)
        *out_device = cx_device_of_native(driver, ordinal);
    return status;
}

/* Frees records of contexts that their owners have destroyed, unless our objects refer to them. */
static bool collect(void *object, void *argument)
{
    cx_context *context = object;
    (void)argument;
    if (context->kind == CX_CONTEXT_FOREIGN && cx_context_lost(context) &&
        cx_record_retire(context, 0) == CTXRT_SUCCESS) {
        cx_record_abandon(context);
        cx_pool_put_back(&cx_contexts, context);
    }
    return true;
}

static void collect_lost(void)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    cx_pool_each(&cx_contexts, collect, NULL);
    cx_error_restore(&saved);
}

/* "contexts" held. */
static ctxrt_status adopt_native(cx_driver *driver, CUcontext native, cx_context **out_context)
{
    adoption wanted = {
        .driver = driver, .native = native, .id = cx_context_native_id(driver, native)};
    cx_device *device = NULL;
    cx_pool_each(&cx_contexts, same_native, &wanted);
    if (wanted.found != NULL) {
        *out_context = wanted.found;
        return CTXRT_SUCCESS;
    }
    if (!cx_context_native_known(driver, native))
        return cx_error(CTXRT_ERROR_INVALID_HANDLE, "the driver does not know a context %p",
                        (void *)native);
    collect_lost();
    ctxrt_status status = find_device(driver, native, &device);
    if (status == CTXRT_SUCCESS)
        status = cx_record_take(driver, device, native, CX_CONTEXT_FOREIGN, out_context);
    if (status == CTXRT_SUCCESS)
        cx_pool_publish(&cx_contexts, *out_context);
    return status;
}

ctxrt_status cx_context_adopt(cx_driver *driver, CUcontext native, cx_context **out_context,
                              ctxrt_context **out_handle)
{
    int cancel = cx_contexts_begin();
    ctxrt_status status = adopt_native(driver, native, out_context);
    if (status == CTXRT_SUCCESS)
        *out_handle = cx_context_handle(*out_context);
    cx_contexts_end(cancel);
    return status;
}

ctxrt_status ctxrt_context_from_native(ctxrt_device_type type, CUcontext native,
                                       ctxrt_context **out_context)
{
    cx_device *device;
    cx_context *context;
    if (native == NULL || out_context == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_from_native: %s is NULL",
                        native == NULL ? "native" : "out_context");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(ctxrt_device_of(type, 0), &device);
    if (status == CTXRT_SUCCESS)
        status = cx_thread_register_once();
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_contexts_begin();
    status = adopt_native(device->driver, native, &context);
    if (status == CTXRT_SUCCESS) {
        atomic_fetch_add(&context->holds, 1);
        *out_context = cx_context_handle(context);
    }
    cx_contexts_end(cancel);
    return status;
}

/* "contexts" held. The last hold of a foreign context ends its record, unless a frame shows it. */
static ctxrt_status release_context(cx_context *context)
{
    if (atomic_load(&context->holds) == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s %s", cx_context_text(context),
                        context->kind == CX_CONTEXT_CREATED
                            ? "was made by ctxrt_context_create: destroy it instead"
                            : "has no hold left to release");
    atomic_fetch_sub(&context->holds, 1);
    if (context->kind != CX_CONTEXT_FOREIGN || atomic_load(&context->holds) != 0)
        return CTXRT_SUCCESS;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (cx_record_retire(context, 0) == CTXRT_SUCCESS)
        cx_record_end(context);
    cx_error_restore(&saved);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_context_release(ctxrt_context *handle)
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
        status = release_context(context);
    cx_contexts_end(cancel);
    return status;
}
