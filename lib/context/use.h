/*
 * Uses of a context while another thread resets or ends it.
 *
 * A reset of a context makes its epoch odd while the sections are closed (base/section.h), opens
 * them, waits until the context has no pins, and then lets the driver destroy everything in it. At
 * the end it makes the epoch even again: 2 more than before, or the old one if nothing has changed.
 * So a thread that enters a context is either done before the reset begins, or waits until it is
 * over.
 *
 * - A call that cannot wait for work of a device is made inside the section.
 * - For a call that can, the thread pins the context, leaves the section, makes the call and unpins
 *   it; or it enters a section again, unpins it there, and writes what a reset reads. Native
 *   handles that were read in the first section stay valid until the unpinning. The thread holds
 *   off cancellation meanwhile (base/cancel.h), enters no context, and takes no lock that is held
 *   while the sections are closed.
 * - The fast paths compare an object's epoch with its context's. The two are never equal during a
 *   reset, so only slow paths check for one.
 */
#ifndef CX_CONTEXT_USE_H
#define CX_CONTEXT_USE_H

#include "context/thread.h"

static inline bool cx_epoch_is_settled(uint32_t epoch)
{
    return (epoch & 1) == 0;
}

/* True if another thread is resetting the context; false on the thread that resets it. */
bool cx_context_is_resetting(const cx_context *context);

/* The context's epoch; during a reset, the one that it will have afterwards. */
static inline uint32_t cx_context_next_epoch(const cx_context *context)
{
    return (atomic_load(&context->epoch) + 1) & ~(uint32_t)1;
}

/* Waits while another thread resets the context, with no lock held. Returns true if it waited. Does
 * nothing in a section, and on a thread that has pinned a context: two threads could wait for each
 * other. */
bool cx_context_wait(const cx_context *context);

/* In a section: while another thread resets the context, leaves the section, waits, and enters it
 * again. True if it did; everything found in the section must then be looked up again. Does nothing
 * if cx_context_wait would not wait. */
__attribute__((cold)) bool cx_context_give_way_slowly(const cx_context *context);
static inline bool cx_context_give_way(const cx_context *context)
{
    return __builtin_expect(!cx_epoch_is_settled(
                                atomic_load_explicit(&context->epoch, memory_order_relaxed)),
                            0) &&
           cx_context_give_way_slowly(context);
}

__attribute__((cold)) ctxrt_status cx_context_step_aside(const cx_context *context);

/*
 * Enters a section in which the context is not being reset. Waits for a reset in progress;
 * CTXRT_ERROR_CONTEXT_DESTROYED if cx_context_wait would not wait.
 * Balanced by cx_section_leave(). On failure the section is left.
 *
 * The caller knows that the record is a live context's, or checks a handle once it is inside. The
 * calling thread is registered.
 */
static inline ctxrt_status cx_context_enter(const cx_context *context)
{
    cx_section_enter();
    if (__builtin_expect(
            cx_epoch_is_settled(atomic_load_explicit(&context->epoch, memory_order_relaxed)), 1))
        return CTXRT_SUCCESS;
    return cx_context_step_aside(context);
}

/* In a section: keeps a reset and the end of the context waiting until cx_context_unpin on the same
 * thread. */
void cx_context_pin(cx_context *context);
void cx_context_unpin(cx_context *context);

/* The epoch of a context that the calling thread has pinned: a reset waiting for the pin has made
 * it odd. */
static inline uint32_t cx_context_pinned_epoch(const cx_context *context)
{
    return atomic_load(&context->epoch) & ~(uint32_t)1;
}

/* Pins outside of a section, a context that was not reset since it had this epoch. False: it was,
 * or is being reset. */
bool cx_context_pin_epoch(cx_context *context, uint32_t epoch);

/* Pins before an object of that epoch is given to the driver to be destroyed. False also if other
 * code destroyed or reset the context: the object is gone. */
bool cx_context_pin_what_is_of(cx_context *context, uint32_t epoch);

/* ---- for lib/context, which resets and ends contexts ---- */

/* The sections are closed. False: another thread is resetting the context. */
bool cx_context_begin_reset(cx_context *context);

/* `done`: the contents of the context are gone. */
void cx_context_end_reset(cx_context *context, bool done);

/* Waits until the context has no pins, and no other thread is in the section in which it unpinned
 * the context. The sections were closed and opened since others could pin it. */
void cx_context_wait_unpinned(const cx_context *context);

#endif
