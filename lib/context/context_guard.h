/*
 * Makes another context current at its driver for the length of one call of ctxrt's own. Frames do
 * not see it.
 */
#ifndef CX_CONTEXT_GUARD_H
#define CX_CONTEXT_GUARD_H

#include "context/context.h"

typedef struct cx_context_guard {
    const cx_driver *driver;
    CUcontext native;   /* the context pushed; NULL: it was current already */
    CUcontext previous; /* the context current before */
} cx_context_guard;

/* Pushes the context if it is not current. A failure changes nothing, and the guard may still be
 * left. */
ctxrt_status cx_context_guard_enter(const cx_context *context, cx_context_guard *out_guard);

/*
 * Makes the previous context current again. Never fails the call that is being made, and does not
 * touch the last error: if the pop fails it is tried again, then the context is set. If that fails
 * too, the log says so, and the next call that asks the driver finds the difference.
 */
void cx_context_guard_leave(cx_context_guard *guard);

#endif
