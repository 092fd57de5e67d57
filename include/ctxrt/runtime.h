/**
 * Starting and ending the runtime, and the drivers that it found.
 */
#ifndef CTXRT_RUNTIME_H
#define CTXRT_RUNTIME_H

#include <ctxrt/device.h>
#include <ctxrt/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTXRT_VERSION_MAJOR 0
#define CTXRT_VERSION_MINOR 2
#define CTXRT_VERSION_PATCH 0

/** The driver that serves the devices of type CUDA. There is never a silent fallback to another
 * one. */
typedef enum ctxrt_cuda_driver {
    /** as the environment's CTXRT_DRIVER says; libcuda if it says nothing */
    CTXRT_CUDA_DRIVER_DEFAULT = 0,
    CTXRT_CUDA_DRIVER_LIBCUDA = 1,  /**< CTXRT_DRIVER=libcuda: the system's libcuda.so.1 */
    CTXRT_CUDA_DRIVER_EMULATED = 2, /**< CTXRT_DRIVER=emulated: the embedded driver's GPUs */
    CTXRT_CUDA_DRIVER_NONE = 3      /**< CTXRT_DRIVER=none: there are none */
} ctxrt_cuda_driver;

/** The reaction to other code that changed the driver's current context. */
typedef enum ctxrt_foreign_policy {
    /** as the environment's CTXRT_FOREIGN says; follow if it says nothing */
    CTXRT_FOREIGN_DEFAULT = 0,
    CTXRT_FOREIGN_FOLLOW = 1,  /**< CTXRT_FOREIGN=follow: work goes where the driver says */
    CTXRT_FOREIGN_ERROR = 2    /**< CTXRT_FOREIGN=error: CTXRT_ERROR_STACK_MISMATCH, nothing done */
} ctxrt_foreign_policy;

/**
 * Options of ctxrt_init. Start from CTXRT_OPTIONS_INIT; 0 and NULL mean the environment decides.
 */
typedef struct ctxrt_options {
    size_t struct_size; /**< sizeof(ctxrt_options) */
    ctxrt_cuda_driver cuda_driver;
    ctxrt_foreign_policy foreign;
    const char *libcuda;            /**< path of libcuda; NULL: CTXRT_LIBCUDA, else libcuda.so.1 */
    /** number of emulated GPUs, 1 to 64; 0: CTXRT_EMU_DEVICES, else 4 */
    int emulated_devices;
    size_t emulated_memory_bytes;   /**< memory of each; 0: CTXRT_EMU_MEMORY, else the GPU's */
} ctxrt_options;

#ifdef __cplusplus
#define CTXRT_OPTIONS_INIT \
    {sizeof(ctxrt_options), CTXRT_CUDA_DRIVER_DEFAULT, CTXRT_FOREIGN_DEFAULT, NULL, 0, 0}
#else
#define CTXRT_OPTIONS_INIT {.struct_size = sizeof(ctxrt_options)}
#endif

/**
 * Starts the runtime. Any other call does so with the environment's options, so calling it is
 * needed only to choose options. Loads the drivers; takes no context and touches no device. A
 * libcuda that is missing or fails leaves the type CUDA with 0 devices and is no error here:
 * ctxrt_drivers, and the message of a call that asks for a CUDA device, say why.
 * Idempotent and thread-safe; options that come after the runtime has started and differ from those
 * it has are refused.
 *
 * @param options  NULL: the environment's
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  an option has a bad value, or differs from the running ones
 * @retval CTXRT_ERROR_SHUTDOWN          the process is ending
 * @retval CTXRT_ERROR_FORKED            the parent had started the runtime before the fork
 */
CTXRT_API ctxrt_status ctxrt_init(const ctxrt_options *options) CTXRT_CHECK_RESULT;

/**
 * Ends the runtime: pops nothing, releases every primary context that ctxrt retained, and destroys
 * its pooled streams. Frames, and objects of the caller's, must be gone. Afterwards ctxrt_init
 * starts anew; any other call does too. Older handles are stale then. Thread-safe: a call in
 * progress on another thread is served or gets CTXRT_ERROR_SHUTDOWN. Before a start with other
 * options than the last one's, no thread may be in a call.
 *
 * @retval CTXRT_ERROR_IN_USE  objects or frames are left; the message names how many of which;
 *                             nothing changed
 */
CTXRT_API ctxrt_status ctxrt_shutdown(void) CTXRT_CHECK_RESULT;

/** Version of the library: major * 10000 + minor * 100 + patch. Never fails, needs no init. */
CTXRT_API int ctxrt_version(void);

/** One driver of this process, or one that could not be loaded. */
typedef struct ctxrt_driver_info {
    const char *name;       /**< "embedded", "libcuda" */
    const char *path;       /**< the file it came from; "" for the embedded driver */
    ctxrt_device_type type; /**< the type of device it serves */
    int loaded;             /**< 1 if its devices can be used */
    int version;            /**< the driver's CUDA version, 13000 for 13.0; 0 if unknown */
    int device_count;
    const char *reason;     /**< why it is not loaded, or what hides devices; else "" */
} ctxrt_driver_info;

/**
 * Describes the drivers, at most `capacity` of them, in the array `out_drivers`. `out_count` gets
 * how many there are, which may be more. The strings live until shutdown. `out_drivers` may be NULL
 * if `capacity` is 0. Thread-safe.
 */
CTXRT_API ctxrt_status ctxrt_drivers(size_t capacity, ctxrt_driver_info *out_drivers,
                                     size_t *out_count) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
