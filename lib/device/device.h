/*
 * The devices of all loaded drivers, as one list of {type, index}.
 */
#ifndef CX_DEVICE_DEVICE_H
#define CX_DEVICE_DEVICE_H

#include "base/lock.h"
#include "device/runtime.h"
#include <ctxrt/device.h>

struct cx_context; /* lib/context */

typedef struct cx_device {
    ctxrt_device id;
    cx_driver *driver;
    int driver_number;      /* index into cx_drivers */
    CUdevice native;
    bool emulated;
    bool host_accessible;   /* the CPU device */
    cx_lock lock;           /* "device": first use and release of the primary context */
    /* set while the process holds its retain; kept by lib/context */
    _Atomic(struct cx_context *) primary;
} cx_device;

/* Builds the list, once per start, before the phase is RUNNING. */
void cx_devices_build(bool emulated_gpus);

/* The devices of each type: cx_device_lists[type].devices[0 .. count). */
typedef struct cx_device_list {
    cx_device *devices;
    int count;
} cx_device_list;

extern cx_device_list cx_device_lists[CTXRT_DEVICE_TYPE_COUNT];

/* CTXRT_ERROR_INVALID_DEVICE, with a sentence that says why there is no such device. */
__attribute__((cold)) ctxrt_status cx_device_missing(ctxrt_device id);

/* Finds the device, or returns cx_device_missing's error. */
static inline ctxrt_status cx_device_find(ctxrt_device id, cx_device **out_device)
{
    *out_device = NULL;
    if (__builtin_expect((unsigned int)id.type >= CTXRT_DEVICE_TYPE_COUNT || id.index < 0 ||
                             id.index >= cx_device_lists[id.type].count, 0))
        return cx_device_missing(id);
    *out_device = &cx_device_lists[id.type].devices[id.index];
    return CTXRT_SUCCESS;
}

/* Finds the device with this number at this driver; NULL if there is none. */
cx_device *cx_device_of_native(const cx_driver *driver, CUdevice native);

/* Calls visit for each device. */
void cx_devices_each(void (*visit)(cx_device *device, void *argument), void *argument);

/* "cuda:1": in one of a few thread-local buffers, for messages. */
const char *cx_device_text(ctxrt_device id);

#endif
