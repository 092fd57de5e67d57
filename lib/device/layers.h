/*
 * Layers in front of the driver that plays or has the GPUs: CTXRT_LAYERS.
 */
#ifndef CX_DEVICE_LAYERS_H
#define CX_DEVICE_LAYERS_H

#include "driver/driver.h"

/* CTXRT_ERROR_INVALID_ARGUMENT: CTXRT_LAYERS names what is no layer. */
ctxrt_status cx_device_check_layers(void);

/* Puts the chosen layers in front of a driver that is loaded, once in a process: of another driver
 * later on, the log says that its calls are not seen. `host_devices`: how many of its first devices
 * are no GPUs. No thread is in a call. */
void cx_device_put_layers(cx_driver *driver, int host_devices);

#endif
