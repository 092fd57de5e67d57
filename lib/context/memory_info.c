/* Free and total memory of devices, without a new context where that can be. */
#include "base/error.h"
#include "context/context_guard.h"
#include "context/stack.h"

typedef struct memory_info {
    size_t free_bytes, total_bytes;
} memory_info;

static ctxrt_status ask_in(const cx_context *context, memory_info *out_info)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(context->driver, mem_get_info,
                            (&out_info->free_bytes, &out_info->total_bytes));
    cx_context_guard_leave(&guard);
    return status;
}

/* In ctxrt's primary context, which is retained on first use. */
static ctxrt_status ask_in_primary(ctxrt_device id, memory_info *out_info)
{
    cx_thread *thread;
    cx_target target;
    ctxrt_status status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_device(id, &target);
    if (status == CTXRT_SUCCESS)
        status = cx_target_enter(&target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ask_in(target.context, out_info);
    cx_section_leave();
    return status;
}

/* True if other code has made the primary context. */
static bool is_active(const cx_device *device)
{
    unsigned int flags;
    int active = 0;
    return device->driver->table.primary_get_state(device->native, &flags, &active) ==
               CXU_SUCCESS &&
           active != 0;
}

/* Keeps another code's primary context for the length of the call. */
static ctxrt_status ask_in_active(const cx_device *device, memory_info *out_info)
{
    cx_context probe = {.driver = device->driver};
    ctxrt_status status =
        CX_DRIVER_CALL(device->driver, primary_retain, (&probe.native, device->native));
    if (status != CTXRT_SUCCESS)
        return status;
    status = ask_in(&probe, out_info);
    (void)device->driver->table.primary_release(device->native);
    return status;
}

static ctxrt_status ask_driver(const cx_device *device, memory_info *out_info)
{
    cxu_result result = device->driver->memory_info(device->native, &out_info->free_bytes,
                                                    &out_info->total_bytes);
    return cx_driver_check(device->driver, CX_SLOT_mem_get_info, result);
}

static ctxrt_status ask_device(const cx_device *device, memory_info *out_info)
{
    if (atomic_load(&device->primary) != NULL)
        return ask_in_primary(device->id, out_info);
    if (device->driver->memory_info != NULL)
        return ask_driver(device, out_info);
    return is_active(device) ? ask_in_active(device, out_info)
                             : ask_in_primary(device->id, out_info);
}

ctxrt_status ctxrt_device_memory_info(ctxrt_device id, size_t *out_free_bytes,
                                      size_t *out_total_bytes)
{
    cx_device *device;
    memory_info info;
    if (out_free_bytes == NULL && out_total_bytes == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_device_memory_info: both out-parameters are NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = ask_device(device, &info);
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_free_bytes != NULL)
        *out_free_bytes = info.free_bytes;
    if (out_total_bytes != NULL)
        *out_total_bytes = info.total_bytes;
    return CTXRT_SUCCESS;
}
