/*
 * Events behind handles.
 */
#ifndef CX_WORK_EVENT_H
#define CX_WORK_EVENT_H

#include "context/context.h"
#include <ctxrt/event.h>

/* Atomic for the same reason as cx_stream. */
typedef struct cx_event {
    _Atomic(CUevent) native;
    _Atomic(cx_context *) context;
    _Atomic uint32_t epoch; /* the context's when the event was made */
} cx_event;

#define CX_EVENT_POOL_KIND 3
extern cx_pool cx_events;

typedef struct cx_event_target {
    cx_driver *driver;
    cx_context *context;
    CUevent native;
} cx_event_target;

/* The same for handles that are refused, and says why. */
__attribute__((cold)) ctxrt_status cx_event_resolve_slowly(const ctxrt_event *event,
                                                           cx_event_target *out_target);

/* The live event of a handle. The runtime is entered. */
__attribute__((always_inline)) static inline ctxrt_status
cx_event_resolve(const ctxrt_event *event, cx_event_target *out_target)
{
    const cx_event *found =
        cx_pool_find_known(&cx_events, CX_EVENT_POOL_KIND, CX_POOL_STRIDE(cx_event), event);
    cx_context *context = __builtin_expect(found != NULL, 1)
                              ? atomic_load_explicit(&found->context, memory_order_relaxed)
                              : NULL;
    if (__builtin_expect(context == NULL ||
                             atomic_load_explicit(&found->epoch, memory_order_relaxed) !=
                                 atomic_load_explicit(&context->epoch, memory_order_relaxed),
                         0)) {
        cx_event_target slow; /* so that the caller's stays in registers */
        ctxrt_status status = cx_event_resolve_slowly(event, &slow);
        *out_target = slow;
        return status;
    }
    out_target->driver = context->driver;
    out_target->context = context;
    out_target->native = atomic_load_explicit(&found->native, memory_order_relaxed);
    return CTXRT_SUCCESS;
}

#endif
