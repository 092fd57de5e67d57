/*
 * Compares the driver's stack with our frames after other code changed it, and mends it.
 */
#ifndef CX_CONTEXT_RESYNC_H
#define CX_CONTEXT_RESYNC_H

#include "context/explain.h"

/* Reads the top of a driver's stack by popping at most CX_RESYNC_DEPTH entries, and pushes
 * everything back. A destroyed context could not be pushed back: it is read but not popped, and
 * ends the reading. */
ctxrt_status cx_resync_read(const cx_driver *driver, cx_entries *out_actual);

/* Reads and explains the driver's stack of the frame at `top`, which is our highest one there. */
ctxrt_status cx_resync_examine(const cx_thread *thread, int top, cx_stack_finding *out_finding);

/* Pops until `wanted` is current, at most CX_RESYNC_DEPTH entries. If `wanted` does not turn up,
 * puts them back and pushes it. Returns the number of entries popped, or -1 after pushing. */
int cx_resync_force(const cx_driver *driver, CUcontext wanted);

/* Removes the entry under the top `above` ones from the driver's stack, leaving those as they are.
 * On failure everything is as it was. */
ctxrt_status cx_resync_extract(const cx_driver *driver, int above);

#endif
