#include "context/use.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"

/* Lock "uses": for waiting only. Innermost. */
static cx_lock lock = CX_LOCK_INIT(USES);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic int unpinned_waiters;

/* The context that the calling thread is resetting. */
static _Thread_local const cx_context *resetting;

/* Pins of the calling thread, of any contexts; initial-exec, because each call that waits counts
 * here. */
static _Thread_local uint32_t own_pins __attribute__((tls_model("initial-exec")));

bool cx_context_is_resetting(const cx_context *context)
{
    return !cx_epoch_is_settled(atomic_load(&context->epoch)) && resetting != context;
}

static void wake_waiters(void)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    pthread_cond_broadcast(&changed);
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);
}

bool cx_context_wait(const cx_context *context)
{
    if (!cx_context_is_resetting(context) || own_pins != 0 || cx_section_is_entered())
        return false;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    while (cx_context_is_resetting(context))
        cx_lock_wait(&lock, &changed);
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);
    return true;
}

bool cx_context_give_way_slowly(const cx_context *context)
{
    if (!cx_context_is_resetting(context) || own_pins != 0 ||
        atomic_load_explicit(&cx_section_mine->depth, memory_order_relaxed) > 1)
        return false;
    cx_section_leave();
    (void)cx_context_wait(context);
    cx_section_enter();
    return true;
}

ctxrt_status cx_context_step_aside(const cx_context *context)
{
    while (cx_context_give_way_slowly(context))
        ;
    if (!cx_context_is_resetting(context))
        return CTXRT_SUCCESS;
    cx_section_leave();
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED, "%s is being reset by another thread",
                    cx_context_text(context));
}

void cx_context_pin(cx_context *context)
{
    atomic_fetch_add(&context->pins, 1);
    own_pins++;
}

/* `lost`: other code may have ended the context, so the driver is asked. */
static bool pin_if_there(cx_context *context, uint32_t epoch, bool lost)
{
    cx_thread *thread;
    cx_error_saved saved;
    cx_error_save(&saved);
    bool pinned = cx_thread_self(&thread) == CTXRT_SUCCESS &&
                  cx_context_enter(context) == CTXRT_SUCCESS;
    if (pinned) {
        pinned = lost ? cx_context_holds_what_is_of(context, epoch)
                      : atomic_load(&context->epoch) == epoch;
        if (pinned)
            cx_context_pin(context);
        cx_section_leave();
    }
    cx_error_restore(&saved);
    return pinned;
}

bool cx_context_pin_epoch(cx_context *context, uint32_t epoch)
{
    return pin_if_there(context, epoch, false);
}

bool cx_context_pin_what_is_of(cx_context *context, uint32_t epoch)
{
    return pin_if_there(context, epoch, true);
}

/* seq_cst, as in the wait: one of the two threads sees the other. */
void cx_context_unpin(cx_context *context)
{
    own_pins--;
    if (atomic_fetch_sub(&context->pins, 1) == 1 && atomic_load(&unpinned_waiters) != 0)
        wake_waiters();
}

bool cx_context_begin_reset(cx_context *context)
{
    if (!cx_epoch_is_settled(atomic_load(&context->epoch)))
        return false;
    atomic_fetch_add(&context->epoch, 1);
    resetting = context;
    return true;
}

void cx_context_end_reset(cx_context *context, bool done)
{
    resetting = NULL;
    if (done)
        atomic_fetch_add(&context->epoch, 1);
    else
        atomic_fetch_sub(&context->epoch, 1);
    wake_waiters();
}

static void wait_for_pins(const cx_context *context)
{
    int cancel = cx_cancel_hold();
    atomic_fetch_add(&unpinned_waiters, 1);
    cx_lock_enter(&lock);
    while (atomic_load(&context->pins) != 0)
        cx_lock_wait(&lock, &changed);
    cx_lock_leave(&lock);
    atomic_fetch_sub(&unpinned_waiters, 1);
    cx_cancel_restore(cancel);
}

void cx_context_wait_unpinned(const cx_context *context)
{
    do {
        wait_for_pins(context);
        /* A thread may have unpinned it in a section that it has not left yet. */
        cx_sections_pass();
    } while (atomic_load(&context->pins) != 0);
}
