/* Callbacks for the notification that a process is over its memory budget. The emulated GPUs set no
 * budget, so none is ever called. */
#include "emu/device/device.h"
#include "emu/base/state.h"
#include <stdlib.h>

typedef struct registration {
    CUdevice device;
    struct registration *next;
} registration;

static registration *registrations; /* lock "emu.state" */

cxu_result cx_emu_call_device_register_async_notification(CUdevice device,
                                                          cxu_async_callback callback,
                                                          void *user_data,
                                                          CUasyncCallbackHandle *out_handle)
{
    registration *own;
    cxu_result result = cx_emu_enter();

    (void)user_data;
    if (result != CXU_SUCCESS)
        return result;
    if (callback == NULL || out_handle == NULL)
        return CXU_INVALID_VALUE;
    if (cx_emu_device_find(device) == NULL)
        return CXU_INVALID_DEVICE;
    own = malloc(sizeof *own);
    if (own == NULL)
        return CXU_OUT_OF_MEMORY;
    cx_lock_enter(&cx_emu_lock);
    *own = (registration){device, registrations};
    registrations = own;
    cx_lock_leave(&cx_emu_lock);
    *out_handle = (CUasyncCallbackHandle)(void *)own;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_device_unregister_async_notification(CUdevice device,
                                                            CUasyncCallbackHandle handle)
{
    registration **link, *own;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (cx_emu_device_find(device) == NULL)
        return CXU_INVALID_DEVICE;
    cx_lock_enter(&cx_emu_lock);
    for (link = &registrations;
         *link != NULL && ((void *)*link != (void *)handle || (*link)->device != device);)
        link = &(*link)->next;
    own = *link;
    if (own != NULL)
        *link = own->next;
    cx_lock_leave(&cx_emu_lock);
    free(own);
    return own != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}
