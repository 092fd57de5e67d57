/**
 * Contexts: the driver's address spaces, as objects that frames of the stack refer to.
 *
 * A ctxrt_context is a handle, not a pointer to memory: it is never dereferenced, and a handle
 * whose context is gone is recognised and refused (CTXRT_ERROR_INVALID_HANDLE) instead of crashing.
 * Thread-safe, but destroying a context while another thread is inside a call that was given it is
 * the caller's race: the other call then fails.
 *
 * Besides the errors named at each function: CTXRT_ERROR_INVALID_HANDLE if the context is gone or
 * never was one; CTXRT_ERROR_INVALID_DEVICE for a device that does not exist; CTXRT_ERROR_NO_DEVICE
 * if NULL means the current context and there is none.
 */
#ifndef CTXRT_CONTEXT_H
#define CTXRT_CONTEXT_H

#include <ctxrt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUctx_st; /* the driver's CUcontext is a pointer to it */

typedef struct ctxrt_context ctxrt_context;

/**
 * Creates a context on a device. It is not made current: the calling thread's stack is what it was
 * before. The caller owns it: ctxrt_context_destroy.
 *
 * @param flags  CTXRT_CONTEXT_* (device.h), or others that the driver has
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the driver has no such flags
 */
CTXRT_API ctxrt_status ctxrt_context_create(ctxrt_device device, unsigned int flags,
                                            ctxrt_context **out_context) CTXRT_CHECK_RESULT;

/**
 * Creates green contexts: contexts that share the memory of the device's primary context, and
 * whose kernels run on parts of the device's multiprocessors that are disjoint within one call.
 * Frames hold them as any other context, but drivers let one be current to one thread at a time,
 * so threads take turns or have one each. Each has streams, events and allocators of its own; its
 * memory is memory of the primary context for the driver. A reset of the device ends them: their
 * objects then report CTXRT_ERROR_CONTEXT_DESTROYED, and are still to be destroyed. The caller
 * owns each: ctxrt_context_destroy. None is made current.
 *
 * @param count  how many, 1 at least; all are created, or none
 * @param multiprocessors  of each, at least; the driver rounds up: ctxrt_context_multiprocessors
 * @param out_contexts  `count` handles
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  one of the numbers is 0, or the device has not that many
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver has no green contexts (before CUDA 12.4)
 */
CTXRT_API ctxrt_status ctxrt_context_create_green(ctxrt_device device, unsigned int count,
                                                  unsigned int multiprocessors,
                                                  ctxrt_context **out_contexts) CTXRT_CHECK_RESULT;

/**
 * Gets the number of multiprocessors that kernels of a context run on; NULL means the current
 * context. The device's number, but for green contexts.
 *
 * @param out_multiprocessors  that number
 */
CTXRT_API ctxrt_status ctxrt_context_multiprocessors(
    ctxrt_context *context, unsigned int *out_multiprocessors) CTXRT_CHECK_RESULT;

/**
 * Destroys a context made by ctxrt_context_create or ctxrt_context_create_green. NULL is harmless.
 * If other code destroyed it already, only the handle goes.
 *
 * @retval CTXRT_ERROR_IN_USE            a frame of any thread, or a stream, event or memory object,
 *     still refers to it; the message names it; nothing changed, and other threads could use it all
 *     the time
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is a primary or a foreign context: release it instead
 * @retval CTXRT_ERROR_DRIVER            the driver refused; the context is live as before, but its
 *     default streams and cached memory may be gone, and are made again on use
 */
CTXRT_API ctxrt_status ctxrt_context_destroy(ctxrt_context *context) CTXRT_CHECK_RESULT;

/**
 * Retains the primary context of a device. Does not make it current.
 * Balance with ctxrt_context_release.
 */
CTXRT_API ctxrt_status ctxrt_context_retain_primary(ctxrt_device device,
                                                    ctxrt_context **out_context) CTXRT_CHECK_RESULT;

/**
 * Gives back one retain of ctxrt_context_retain_primary, or one hold of ctxrt_context_from_native.
 * The handle stays good until the device is released and the last hold is gone. NULL is harmless.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  nothing is left to release; a created context is destroyed
 *     instead
 */
CTXRT_API ctxrt_status ctxrt_context_release(ctxrt_context *context) CTXRT_CHECK_RESULT;

/**
 * Gets the calling thread's current context. Borrowed: do not release it.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  no frame and no current context
 */
CTXRT_API ctxrt_status ctxrt_context_current(ctxrt_context **out_context) CTXRT_CHECK_RESULT;

/** The device of a context; NULL means the current context. */
CTXRT_API ctxrt_status ctxrt_context_device(ctxrt_context *context,
                                            ctxrt_device *out_device) CTXRT_CHECK_RESULT;

/**
 * A number that names this context and no other of this process, past or future: the driver's
 * cuCtxGetId where there is one, else ctxrt's own count. A reset gives a primary context a new one.
 * NULL means the current context.
 *
 * @param out_id  that number
 */
CTXRT_API ctxrt_status ctxrt_context_id(ctxrt_context *context,
                                        uint64_t *out_id) CTXRT_CHECK_RESULT;

/** Limits of a context, by the numbers of the driver's CUlimit. */
typedef enum ctxrt_context_limit {
    CTXRT_LIMIT_STACK_BYTES = 0,              /**< of the stack of each thread of a kernel */
    CTXRT_LIMIT_PRINTF_BYTES = 1,             /**< of the buffer of printf in kernels */
    CTXRT_LIMIT_HEAP_BYTES = 2,               /**< of malloc in kernels */
    CTXRT_LIMIT_SYNC_DEPTH = 3,               /**< grids within grids that may wait */
    CTXRT_LIMIT_PENDING_LAUNCHES = 4,         /**< launches by kernels that have not begun */
    CTXRT_LIMIT_L2_FETCH_BYTES = 5,           /**< a hint for the L2 cache, 0 to 128 */
    CTXRT_LIMIT_L2_PERSISTING_BYTES = 6       /**< of the L2 cache for persisting accesses */
} ctxrt_context_limit;

/**
 * Gets a limit of a context; NULL means the current context. Leaves the calling thread's stack as
 * it was. Other numbers of the driver's are passed on to it.
 *
 * @param out_value  the limit, as the driver has it
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the driver has no such limit
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the device has no such limit
 */
CTXRT_API ctxrt_status ctxrt_context_get_limit(ctxrt_context *context, ctxrt_context_limit limit,
                                               size_t *out_value) CTXRT_CHECK_RESULT;

/**
 * Sets a limit of a context; NULL means the current context. Leaves the calling thread's stack as
 * it was. The driver may take a larger or a smaller value: ctxrt_context_get_limit tells.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the driver has no such limit, or refuses the value
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the device has no such limit
 * @retval CTXRT_ERROR_DRIVER            a kernel that uses what is limited was launched before
 */
CTXRT_API ctxrt_status ctxrt_context_set_limit(ctxrt_context *context, ctxrt_context_limit limit,
                                               size_t value) CTXRT_CHECK_RESULT;

/**
 * Gets the priorities that streams of a context may have; NULL means the current context. Lower
 * numbers are more urgent. Both are 0 if the device, or its driver, has none. Leaves the calling
 * thread's stack as it was. Either pointer may be NULL, not both.
 *
 * @param out_least, out_greatest  the numerically highest priority, and the lowest
 */
CTXRT_API ctxrt_status ctxrt_context_priorities(ctxrt_context *context, int *out_least,
                                                int *out_greatest) CTXRT_CHECK_RESULT;

/** The driver's CUcontext. Borrowed. NULL means the current context. */
CTXRT_API ctxrt_status ctxrt_context_native(ctxrt_context *context,
                                            struct CUctx_st **out_native) CTXRT_CHECK_RESULT;

/**
 * A handle for a CUcontext that other code made with the driver of `type`. ctxrt does not own the
 * native context and never destroys it; the caller keeps it alive while the handle is used. The
 * same context gives the same handle; each call counts, balance with ctxrt_context_release.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  the driver does not know this context
 */
CTXRT_API ctxrt_status ctxrt_context_from_native(ctxrt_device_type type, struct CUctx_st *native,
                                                 ctxrt_context **out_context) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
