/*
 * Work: what a stream does, one piece after the other. A piece of work is ready when all it depends on
 * is done; ready work is run by the workers (schedule.c), or at once if it is tiny.
 *
 * Order inside a stream, between the legacy stream and the blocking streams of its context (T11), and
 * through events is all expressed as dependencies, taken when the work is submitted.
 */
#ifndef CX_EMU_WORK_H
#define CX_EMU_WORK_H

#include "emu/allocation.h"

typedef struct cx_emu_work cx_emu_work;

/*
 * Waits, with the lock released meanwhile and held again on return. The context may be destroyed by
 * others during a wait: look at live_id again afterwards.
 */
void cx_emu_work_wait_context(cx_emu_context *context);      /* all work of its streams submitted so far */
void cx_emu_work_wait_allocation(cx_emu_allocation *allocation); /* until users is 0; it must not be freed meanwhile */

/* Whether any work submitted to the context's streams is unfinished. Lock held. */
bool cx_emu_work_pending(cx_emu_context *context);

/* The context's legacy stream, when it is made; and the end of all its streams and events when it is
 * destroyed (C3). Pending work is finished first: the lock is released meanwhile. Lock held. */
bool cx_emu_streams_open(cx_emu_context *context);
void cx_emu_streams_close(cx_emu_context *context);

/*
 * Queues `call(argument)` as a piece of work in a stream handle as the user gave it (NULL, legacy,
 * per-thread or created), behind everything it must follow. For other rooms of the driver: memory frees
 * in stream order with it. `allocation` may be NULL, else it counts as used until the work is done.
 * CXU_INVALID_HANDLE, CXU_INVALID_CONTEXT, CXU_OUT_OF_MEMORY. Lock held, and `call` runs with it held.
 */
cxu_result cx_emu_work_submit_locked_call(CUstream stream, cx_emu_allocation *allocation,
                                          void (*call)(void *argument), void *argument);

/* The context that a stream handle means: its own, or the current one for the default streams (T2, T8).
 * Lock held. */
cxu_result cx_emu_stream_context(CUstream stream, cx_emu_context **out_context);

/* cuCtxRecordEvent, cuCtxWaitEvent and the rest of the calls live in stream.c, event.c, copy.c ... */

#endif
