/*
 * Calls that give work to a driver: they resolve their stream argument in a section.
 */
#ifndef CX_WORK_WORK_H
#define CX_WORK_WORK_H

#include "base/cancel.h"
#include "context/context_guard.h"
#include "context/use.h"
#include "work/stream.h"

/* The slow path of cx_work_begin, in its section. `frame`: NULL for a stream other than the current
 * and the legacy one. */
__attribute__((cold)) ctxrt_status cx_work_begin_slowly(const ctxrt_stream *stream,
                                                        cx_thread *thread, cx_frame *frame,
                                                        cx_stream_target *out_target);

/*
 * Comes first in a call that does work: enters the runtime and a section, and resolves the stream
 * argument as cx_stream_resolve does. Waits while the stream's context is being reset. Until
 * cx_work_end the native handles of the context's objects stay valid; the calls in between must not
 * wait for work, unless the context is pinned first (context/use.h).
 *
 * On failure the section is left already. Not in another section.
 */
__attribute__((always_inline)) static inline ctxrt_status
cx_work_begin(const ctxrt_stream *stream, cx_stream_target *out_target)
{
    cx_thread *thread;
    cx_frame *frame = NULL;
    ctxrt_status status = cx_runtime_enter();
    if (__builtin_expect(status == CTXRT_SUCCESS, 1))
        status = cx_thread_self(&thread);
    if (__builtin_expect(status == CTXRT_SUCCESS, 1) &&
        (stream == NULL || stream == CTXRT_STREAM_LEGACY))
        status = cx_stack_settle(thread, &frame);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    cx_section_enter();
    if (__builtin_expect(stream == CTXRT_STREAM_LEGACY ? cx_stream_look_legacy(frame, out_target)
                         : stream != NULL              ? cx_stream_look(stream, out_target)
                                                       : cx_stream_look_in_frame(frame, out_target),
                         1))
        return CTXRT_SUCCESS;
    cx_stream_target slow; /* keeps the caller's in registers */
    status = cx_work_begin_slowly(stream, thread, frame, &slow);
    *out_target = slow;
    return status;
}

static inline void cx_work_end(void)
{
    cx_section_leave();
}

/* Makes the context of the stream current for one call; after success, balance with
 * cx_context_guard_leave. For the current and the legacy stream the driver was asked already. */
static inline ctxrt_status cx_work_make_current(const ctxrt_stream *stream,
                                                const cx_stream_target *target,
                                                cx_context_guard *out_guard)
{
    out_guard->native = NULL;
    return stream == NULL || stream == CTXRT_STREAM_LEGACY
               ? CTXRT_SUCCESS
               : cx_context_guard_enter(target->context, out_guard);
}

/* For a call that may wait, after cx_work_begin or cx_context_enter: leaves the section, with the
 * context pinned and cancellation held off. Returns the argument of cx_work_end_wait. */
static inline int cx_work_begin_wait(cx_context *context)
{
    int cancel = cx_cancel_hold();
    cx_context_pin(context);
    cx_section_leave();
    return cancel;
}

static inline void cx_work_end_wait(cx_context *context, int cancel)
{
    cx_context_unpin(context);
    cx_cancel_restore(cancel);
}

#endif
