/*
 * Comparing the driver's stack with our frames after other code changed it.
 */
#ifndef CX_CONTEXT_RESYNC_H
#define CX_CONTEXT_RESYNC_H

#include "context/stack.h"

#define CX_RESYNC_DEPTH 16 /* entries that are looked at */

/* The top entries of a driver's stack, top first. */
typedef struct cx_entries {
    int count;
    bool complete; /* the stack has no more */
    CUcontext natives[CX_RESYNC_DEPTH];
} cx_entries;

/*
 * Decides what other code did, from what the driver has and what it should have (`ours`: entries of our
 * frames from the top, then what is beneath them all). Exactly one explanation must fit, else AMBIGUOUS.
 * Makes no driver call.
 */
ctxrt_resync_report cx_resync_explain(const cx_entries *actual, const cx_entries *ours);

/* Reads the top of a driver's stack by popping, at most CX_RESYNC_DEPTH entries and never a destroyed
 * context, and pushes everything back. */
ctxrt_status cx_resync_read(const cx_driver *driver, cx_entries *out_actual);

/* Reads and explains the stack of the driver of the frame at `top`, which is the highest of ours there. */
ctxrt_status cx_resync_examine(const cx_thread *thread, int top, ctxrt_resync_report *out_report);

/* Pops until `wanted` is current, looking at no more than CX_RESYNC_DEPTH entries; if it does not turn up,
 * puts them back and pushes `wanted`. Returns how many entries went, or -1 after pushing. */
int cx_resync_force(const cx_driver *driver, CUcontext wanted);

#endif
