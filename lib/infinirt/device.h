/*
 * The calling thread's device, and the start of the runtime.
 */
#ifndef CX_INFINIRT_DEVICE_H
#define CX_INFINIRT_DEVICE_H

#include "infinirt/status.h"
#include <ctxrt/device.h>
#include <stdbool.h>

/* Comes first in every call that works on the calling thread's device: a thread without one starts
 * at CPU 0. */
ctxrt_status cx_device_begin(ctxrt_device *out_device);

/* Comes first in every call that needs no device: starts the runtime, or reports why it cannot be
 * used. */
ctxrt_status cx_runtime_begin(void);

/* Comes first in calls that give something back: true if the call may go on, else it returns
 * *out_status at once. That is a success once the process is ending. */
bool cx_release_begin(infiniStatus_t *out_status);

/* The InfiniRT status of a call that got a device. */
infiniStatus_t cx_device_status(ctxrt_status status, infiniDevice_t type);

#endif
