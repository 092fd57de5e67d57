#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include <limits.h>

static cxu_result enter_primary(CUdevice ordinal, cx_emu_device **out_device)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    *out_device = cx_emu_device_find(ordinal);
    return *out_device != NULL ? CXU_SUCCESS : CXU_INVALID_DEVICE;
}

static bool is_active(const cx_emu_device *device)
{
    return cx_emu_context_id(device->primary) != 0;
}

static void deactivate_primary(cx_emu_device *device)
{
    device->primary_flags = 0;
    cx_emu_context_wait_closed(device->primary);
    if (is_active(device))
        cx_emu_context_close(device->primary);
}

cxu_result cx_emu_primary_retain(cx_emu_device *device)
{
    cx_emu_context_wait_closed(device->primary);
    cxu_result result =
        is_active(device) ? cx_emu_context_error(device->primary) : cx_emu_device_error(device);
    if (result != CXU_SUCCESS)
        return result;
    if (device->primary_retains == UINT_MAX)
        return CXU_OUT_OF_MEMORY;
    if (!is_active(device) &&
        !cx_emu_context_open(device->primary, device, device->primary_flags | CXU_CTX_MAP_HOST))
        return CXU_OUT_OF_MEMORY;
    device->primary_retains++;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_primary_retain(CUcontext *out_context, CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_primary(ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (out_context == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_primary_retain(device);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        *out_context = cx_emu_context_handle(device->primary);
    return result;
}

cxu_result cx_emu_primary_release(cx_emu_device *device)
{
    if (device->primary_retains == 0)
        return CXU_INVALID_CONTEXT;
    if (--device->primary_retains == 0)
        deactivate_primary(device);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_primary_release(CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_primary(ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_primary_release(device);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_primary_reset(CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_primary(ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    deactivate_primary(device);
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_primary_set_flags(CUdevice ordinal, unsigned int flags)
{
    cx_emu_device *device;
    cxu_result result = enter_primary(ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (!cx_emu_context_flags_valid(flags) || (flags & CXU_CTX_MAP_HOST) != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    device->primary_flags = flags;
    device->primary->flags = flags | CXU_CTX_MAP_HOST;
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_primary_get_state(CUdevice ordinal, unsigned int *out_flags, int *out_active)
{
    cx_emu_device *device;
    cxu_result result = enter_primary(ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (out_flags == NULL || out_active == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    *out_active = is_active(device);
    *out_flags = device->primary_flags | (*out_active ? CXU_CTX_MAP_HOST : 0u);
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}
