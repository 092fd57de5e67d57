/*
 * The runtime's phases: its options, the drivers it loaded, and whether calls may go on.
 */
#ifndef CX_DEVICE_RUNTIME_H
#define CX_DEVICE_RUNTIME_H

#include "driver/driver.h"
#include <ctxrt/runtime.h>
#include <stdatomic.h>
#include <stdint.h>

typedef enum cx_phase {
    CX_PHASE_STOPPED, /* before the first call, and after ctxrt_shutdown */
    CX_PHASE_RUNNING,
    CX_PHASE_FORKED, /* in a child of a process that was running: for good */
    CX_PHASE_ENDING  /* the process is ending: for good */
} cx_phase;

extern _Atomic int cx_current_phase;

/* Starts the runtime if it is stopped. Reports FORKED and SHUTDOWN. */
__attribute__((cold)) ctxrt_status cx_runtime_enter_slowly(void);

/* Comes first in every public call that needs the runtime. */
static inline ctxrt_status cx_runtime_enter(void)
{
    if (__builtin_expect(
            atomic_load_explicit(&cx_current_phase, memory_order_acquire) == CX_PHASE_RUNNING, 1))
        return CTXRT_SUCCESS;
    return cx_runtime_enter_slowly();
}

/*
 * Comes first in calls that give something back: true if the call may go on, else it returns
 * *out_status at once. Once the process is ending that is CTXRT_SUCCESS, and the last error is left
 * alone.
 */
bool cx_runtime_enter_release_slowly(ctxrt_status *out_status);

static inline bool cx_runtime_enter_release(ctxrt_status *out_status)
{
    *out_status = CTXRT_SUCCESS;
    if (__builtin_expect(
            atomic_load_explicit(&cx_current_phase, memory_order_acquire) == CX_PHASE_RUNNING, 1))
        return true;
    return cx_runtime_enter_release_slowly(out_status);
}

/* Checks that the runtime is still running, before a call starts to use something that a shutdown
 * gives back, under a lock that the shutdown takes too. Records CTXRT_ERROR_SHUTDOWN. */
ctxrt_status cx_runtime_still(void);

/* The options in force; valid while running. */
ctxrt_foreign_policy cx_runtime_foreign_policy(void);

/* The drivers: [0] the embedded one, [1] libcuda if it was asked for. A driver that is not loaded
 * has device_count 0 and a reason. */
#define CX_DRIVERS_MAX 2
extern cx_driver cx_drivers[CX_DRIVERS_MAX];
int cx_driver_count(void);

/* The reason why the type CUDA has no such device: one sentence for messages. */
const char *cx_runtime_cuda_reason(void);

/* True if libcuda serves the type CUDA, or was asked to. */
bool cx_runtime_uses_libcuda(void);

/* The user's objects that belong to no context; shutdown requires that there are none. */
extern _Atomic int cx_loose_objects;
extern _Atomic uint64_t cx_loose_bytes;

/* Ends the running phase if both functions succeed. Both are called with the lock "runtime" held:
 * `check` while other threads may still enter, `release` when none can; neither may enter
 * itself. */
typedef struct cx_runtime_end {
    ctxrt_status (*check)(void);
    ctxrt_status (*release)(void);
} cx_runtime_end;
ctxrt_status cx_runtime_stop(const cx_runtime_end *end);

#endif
