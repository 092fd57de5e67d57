/* Emulated contexts: finding, opening and closing them. */
#ifndef CX_EMU_CONTEXT_H
#define CX_EMU_CONTEXT_H

#include "driver/cuda_abi.h"
#include "emu/base/context_record.h"
#include <stddef.h>

/*
 * The calling thread's current context, for a call that uses it. CXU_INVALID_CONTEXT if there is
 * none, CXU_CONTEXT_IS_DESTROYED if it was destroyed or reset, the error that made it useless. Lock
 * held: it stays alive until the lock is released; after a wait, compare cx_emu_context_id() with
 * its earlier value.
 */
cxu_result cx_emu_context_current(cx_emu_context **out_context);

/* Checks that there is a usable current context. Takes the lock. */
cxu_result cx_emu_context_check_current(void);

/* Finds the live context of a handle, for a call that uses it. CXU_INVALID_CONTEXT if it is none or
 * was destroyed, CXU_CONTEXT_IS_DESTROYED if it is an inactive primary, or the error that made it
 * useless. Lock held. */
cxu_result cx_emu_context_find(CUcontext handle, cx_emu_context **out_context);

/* As cx_emu_context_find; NULL is the current context. Lock held. */
cxu_result cx_emu_context_find_or_current(CUcontext handle, cx_emu_context **out_context);

/* As cx_emu_context_find_or_current, for a call that only names the context or ends it: it may be
 * useless. Lock held. */
cxu_result cx_emu_context_identify(CUcontext handle, cx_emu_context **out_context);

/* True if cuCtxCreate accepts the flags. */
bool cx_emu_context_flags_valid(unsigned int flags);

/* A part of each context that one file keeps, such as its streams. */
typedef struct cx_emu_context_part {
    bool (*open)(cx_emu_context *context);  /* NULL: nothing to do. False: out of memory */
    void (*close)(cx_emu_context *context); /* the same; may release the lock meanwhile */
} cx_emu_context_part;

/* Sets the parts of all contexts: opened in the order of the list, closed in the other one. The
 * list stays where it is. Lock held, before the first context. */
void cx_emu_context_set_parts(const cx_emu_context_part *parts, size_t count);

/*
 * Opens a context in a slot: gives it an id, its defaults, its parts and its share of the device's
 * memory, which a close gives back. False: out of memory. Lock held.
 */
bool cx_emu_context_open(cx_emu_context *context, cx_emu_device *device, unsigned int flags);

/*
 * Closes a live context: from now on no call can use it. Closing its parts waits for its pending
 * work with the lock released, or ends that (teardown_deadline.h), then frees its streams, events
 * and memory (C3). Lock held.
 */
void cx_emu_context_close(cx_emu_context *context);

/* Makes a slot stand for a green context of an open primary; takes its handle away; and ends it.
 * Lock held. */
void cx_emu_context_open_green(cx_emu_context *context, cx_emu_context *primary,
                               struct cx_emu_green *green);
void cx_emu_context_hide_green(cx_emu_context *context);
void cx_emu_context_close_green(cx_emu_context *context);

/* Waits until another thread has finished a close; the lock is released meanwhile. */
void cx_emu_context_wait_closed(cx_emu_context *context);

/* The number of contexts that are open or closing. Lock held. */
int cx_emu_context_count(void);

#endif
