/*
 * The driver under the runtime library, and the primary context of each device. Opened at the first
 * call that needs it. The primary context of a device is retained once for the process, when a
 * thread first needs it, and never released.
 */
#ifndef CX_RUNTIME_DRIVER_H
#define CX_RUNTIME_DRIVER_H

#include "base/lock.h"
#include "driver/driver.h"
#include "runtime/thread.h"

/* Lock "cudart": guards the opening of the driver, the primary contexts, and the code of the
 * program (code.h). It is held while the driver is called for these. */
extern cx_lock cx_cudart_lock;

/* What a stand-in knows this library by. */
extern const char ctxrtRuntimeLibrary[];

/* The version of the Runtime API that this library has, 13000 for 13.0. */
extern const int cx_cudart_version;

/*
 * The driver table for the call that the thread is in: the default stream is the legacy one, or the
 * thread's for the per-thread variants of calls. Loads and initialises the driver first; else
 * INSUFFICIENT_DRIVER or cuInit's error. Makes no context.
 */
cxr_error cx_cudart_use_driver(const cx_driver_table **out_table);

/*
 * The same, with a context: the calling thread's current one, whoever made it current, unless the
 * thread set another device since then. Without one, the primary context of the thread's device is
 * retained and becomes current.
 */
cxr_error cx_cudart_use_context(const cx_driver_table **out_table);

/* The same for a device that need not be the thread's: nothing becomes current. */
cxr_error cx_cudart_primary(int device, CUcontext *out_context);

/* True for an ordinal of a device. The driver is in use. */
bool cx_cudart_has_device(int device);
int cx_cudart_device_count(void);

/* The device of the thread: that of its current context, or else the one that it set. `is_asked`:
 * the program asks for it, which layers are to see. */
cxr_error cx_cudart_current_device(int *out_device, bool is_asked);

/* cudaSetDevice; `now`: also makes the context current at once. */
cxr_error cx_cudart_set_device(int device, bool now);

/* Resets the primary context of a device. Other threads go on in it: their next call finds it
 * retained again. */
cxr_error cx_cudart_reset(int device);

/* How many resets there were: what belongs to contexts before the latest one is gone. */
unsigned int cx_cudart_resets(void);

/* The driver's library and version, once it is in use. */
const cx_driver *cx_cudart_driver(void);

static inline CUdeviceptr cx_cudart_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* Bodies that only pass a call on: the driver's call in a context, by the slot of its table. */
#define CX_CUDART_PASS(slot, arguments)                   \
    do {                                                  \
        const cx_driver_table *driver;                    \
        cxr_error error = cx_cudart_use_context(&driver); \
        if (error != CXR_SUCCESS)                         \
            return error;                                 \
        return (cxr_error)driver->slot arguments;         \
    } while (0)

#endif
