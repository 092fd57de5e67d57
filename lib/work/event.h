/*
 * Events behind handles.
 */
#ifndef CX_WORK_EVENT_H
#define CX_WORK_EVENT_H

#include "work/work.h"
#include <ctxrt/event.h>

/* Atomic for the same reason as cx_stream. */
typedef struct cx_event {
    _Atomic(CUevent) native;
    _Atomic(cx_context *) context;
    _Atomic uint32_t epoch; /* of the context when the event was made */
    _Atomic bool wrapped;   /* ctxrt_event_from_native; other code's */
} cx_event;

#define CX_EVENT_POOL_KIND 3
extern cx_pool cx_events;

typedef struct cx_event_target {
    cx_driver *driver;
    cx_context *context;
    CUevent native;
} cx_event_target;

/* Makes a driver's event without timing in the context of the stream. */
ctxrt_status cx_event_make_native(const cx_stream_target *target, CUevent *out_event);

/* Makes the handle of a native event of the context, which ctxrt owns from now on; on failure it is
 * destroyed. In a section. */
ctxrt_status cx_event_make_of_native(cx_context *context, CUevent native, ctxrt_event **out_event);

/* Enters the runtime and a section in which the event is valid. On failure the section is left. */
ctxrt_status cx_event_begin(const ctxrt_event *event, cx_event_target *out_target);

/* For refused handles: reports why. While the event's context is being reset it waits, as
 * cx_context_wait does, and may then find the event valid. */
__attribute__((cold)) ctxrt_status cx_event_resolve_slowly(const ctxrt_event *event,
                                                           cx_event_target *out_target);

/* True if the handle names an event whose context was not reset since. */
__attribute__((always_inline)) static inline bool
cx_event_look(const ctxrt_event *event, cx_event_target *out_target)
{
    const cx_event *found =
        cx_pool_find_known(&cx_events, CX_EVENT_POOL_KIND, CX_POOL_STRIDE(cx_event), event);
    cx_context *context = __builtin_expect(found != NULL, 1)
                              ? atomic_load_explicit(&found->context, memory_order_relaxed)
                              : NULL;
    if (__builtin_expect(context == NULL ||
                             atomic_load_explicit(&found->epoch, memory_order_relaxed) !=
                                 atomic_load_explicit(&context->epoch, memory_order_relaxed),
                         0))
        return false;
    out_target->driver = context->driver;
    out_target->context = context;
    out_target->native = atomic_load_explicit(&found->native, memory_order_relaxed);
    return true;
}

/* Finds the live event of a handle. The runtime is entered. */
__attribute__((always_inline)) static inline ctxrt_status
cx_event_resolve(const ctxrt_event *event, cx_event_target *out_target)
{
    cx_event_target slow; /* keeps the caller's in registers */
    if (__builtin_expect(cx_event_look(event, out_target), 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_event_resolve_slowly(event, &slow);
    *out_target = slow;
    return status;
}

/* cx_work_begin, with an event. Both targets are valid until cx_work_end. On failure the section is
 * left. */
__attribute__((cold)) ctxrt_status cx_event_begin_work_slowly(const ctxrt_event *event,
                                                              cx_event_target *out_event,
                                                              const ctxrt_stream *stream,
                                                              cx_stream_target *out_stream);
__attribute__((always_inline)) static inline ctxrt_status
cx_event_begin_work(const ctxrt_event *event, cx_event_target *out_event,
                    const ctxrt_stream *stream, cx_stream_target *out_stream)
{
    ctxrt_status status = cx_work_begin(stream, out_stream);
    if (__builtin_expect(status != CTXRT_SUCCESS || cx_event_look(event, out_event), 1))
        return status;
    cx_stream_target slow_stream; /* keeps the caller's in registers */
    cx_event_target slow_event;
    status = cx_event_begin_work_slowly(event, &slow_event, stream, &slow_stream);
    *out_stream = slow_stream;
    *out_event = slow_event;
    return status;
}

#endif
