#include "context/use.h"

#include "base/error.h"
#include "base/eventcount.h"

static cx_eventcount reset_ends = CX_EVENTCOUNT_INIT;
static cx_eventcount unpinned = CX_EVENTCOUNT_INIT;

/* The context that the calling thread is resetting. */
static _Thread_local const cx_context *resetting;

/* Pins of the calling thread, of any contexts; initial-exec, because each call that waits counts
 * here. */
static _Thread_local uint32_t own_pins __attribute__((tls_model("initial-exec")));

bool cx_context_is_resetting(const cx_context *context)
{
    return !cx_epoch_is_settled(atomic_load(&context->epoch)) && resetting != context;
}

static bool is_not_resetting(const void *context)
{
    return !cx_context_is_resetting(context);
}

bool cx_context_wait(const cx_context *context)
{
    if (!cx_context_is_resetting(context) || own_pins != 0 || cx_section_is_entered())
        return false;
    cx_eventcount_wait(&reset_ends, is_not_resetting, context);
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
    bool pinned =
        cx_thread_self(&thread) == CTXRT_SUCCESS && cx_context_enter(context) == CTXRT_SUCCESS;
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

void cx_context_unpin(cx_context *context)
{
    own_pins--;
    if (atomic_fetch_sub(&context->pins, 1) == 1)
        cx_eventcount_wake(&unpinned);
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
    cx_eventcount_wake(&reset_ends);
}

static bool has_no_pins(const void *object)
{
    const cx_context *context = object;
    return atomic_load(&context->pins) == 0;
}

void cx_context_wait_unpinned(const cx_context *context)
{
    do {
        cx_eventcount_wait(&unpinned, has_no_pins, context);
        /* A thread may have unpinned it in a section that it has not left yet. */
        cx_sections_pass();
    } while (atomic_load(&context->pins) != 0);
}
