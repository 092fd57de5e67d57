#include "work/event.h"

#include "base/error.h"
#include "base/handle.h"
#include "context/named.h"
#include "work/relaxed_capture.h"
#include "work/timed_wait.h"

cx_pool cx_events = CX_POOL_INIT("event", CX_EVENT_POOL_KIND, cx_event);

/* ---- making and destroying ---- */

ctxrt_status cx_event_make_native(const cx_stream_target *target, CUevent *out_event)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(target->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target->driver, event_create, (out_event, CXU_EVENT_DISABLE_TIMING));
    cx_context_guard_leave(&guard);
    return status;
}

static ctxrt_status take_slot(const cx_context *context, cx_event **out_event)
{
    *out_event = cx_pool_take(&cx_events);
    return *out_event != NULL ? CTXRT_SUCCESS
                              : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an event in %s",
                                         cx_context_text(context));
}

static ctxrt_event *publish_event(cx_event *event, cx_context *context, CUevent native,
                                  bool wrapped)
{
    atomic_store_explicit(&event->native, native, memory_order_relaxed);
    atomic_store_explicit(&event->context, context, memory_order_relaxed);
    atomic_store_explicit(&event->epoch, atomic_load(&context->epoch), memory_order_relaxed);
    atomic_store_explicit(&event->wrapped, wrapped, memory_order_relaxed);
    cx_context_object_add(context, CX_OBJECT_EVENT);
    return cx_pool_publish(&cx_events, event);
}

/* In a section. */
static ctxrt_status make_event(cx_context *context, unsigned int flags, ctxrt_event **out_event)
{
    CUevent native;
    cx_event *event;
    ctxrt_status status = take_slot(context, &event);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(context->driver, event_create, (&native, flags));
    if (status == CTXRT_SUCCESS)
        *out_event = publish_event(event, context, native, false);
    else
        cx_pool_put_back(&cx_events, event);
    return status;
}

ctxrt_status cx_event_make_of_native(cx_context *context, CUevent native, ctxrt_event **out_event)
{
    cx_event *event;
    ctxrt_status status = take_slot(context, &event);
    if (status == CTXRT_SUCCESS)
        *out_event = publish_event(event, context, native, false);
    else
        (void)context->driver->table.event_destroy(native);
    return status;
}

static ctxrt_status check_new(const char *call, unsigned int flags, ctxrt_event *const *out_event)
{
    if (out_event == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: out_event is NULL", call);
    const unsigned int known =
        CTXRT_EVENT_BLOCKING_SYNC | CTXRT_EVENT_DISABLE_TIMING | CTXRT_EVENT_INTERPROCESS;
    if ((flags & CTXRT_EVENT_INTERPROCESS) != 0 && (flags & CTXRT_EVENT_DISABLE_TIMING) == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: CTXRT_EVENT_INTERPROCESS needs CTXRT_EVENT_DISABLE_TIMING", call);
    if ((flags & ~known) != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: there are no flags %#x", call, flags);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_event_create(unsigned int flags, ctxrt_event **out_event)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_new("ctxrt_event_create", flags, out_event);
    if (status == CTXRT_SUCCESS)
        status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    status = make_event(cx_frame_context(frame), flags, out_event);
    cx_section_leave();
    return status;
}

ctxrt_status ctxrt_event_create_on(ctxrt_context *context, unsigned int flags,
                                   ctxrt_event **out_event)
{
    cx_named_context named;
    ctxrt_status status = check_new("ctxrt_event_create_on", flags, out_event);
    if (status == CTXRT_SUCCESS)
        status = cx_named_context_enter("ctxrt_event_create_on", context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    status = make_event(named.context, flags, out_event);
    status = cx_context_map_error(named.context, "context", status);
    cx_named_context_leave(&named);
    return status;
}

/* A query that captures of the calling thread do not forbid. */
static ctxrt_status check_known(const cx_driver *driver, CUevent native)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cx_layer_hint before = cx_thread_hint(CX_LAYER_CALL_IS_TRIED);
    cxu_result result = driver->table.event_query(native);
    (void)cx_thread_hint(before);
    cx_relaxed_capture_end(&relaxed);
    if (result == CXU_NOT_READY)
        return CTXRT_SUCCESS;
    if (result == CXU_INVALID_HANDLE || result == CXU_INVALID_CONTEXT ||
        result == CXU_CONTEXT_IS_DESTROYED)
        return cx_error(CTXRT_ERROR_INVALID_HANDLE, "the driver does not know an event %p",
                        (void *)native);
    return cx_driver_check(driver, CX_SLOT_event_query, result);
}

static ctxrt_status wrap_event(cx_context *context, CUevent native, ctxrt_event **out_event)
{
    cx_event *event;
    ctxrt_status status = check_known(context->driver, native);
    if (status == CTXRT_SUCCESS)
        status = take_slot(context, &event);
    if (status == CTXRT_SUCCESS)
        *out_event = publish_event(event, context, native, true);
    return status;
}

ctxrt_status ctxrt_event_from_native(CUevent native, ctxrt_event **out_event)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (native == NULL || out_event == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_event_from_native: %s is NULL",
                        native == NULL ? "native" : "out_event");
    status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    status = wrap_event(cx_frame_context(frame), native, out_event);
    cx_section_leave();
    return status;
}

static ctxrt_status no_such_event(const ctxrt_event *handle)
{
    return cx_handle_error("event", handle, "it was destroyed, or never was one");
}

static ctxrt_status destroy_native(const cx_driver *driver, CUevent native)
{
    cxu_result result = driver->table.event_destroy(native);
    /* Other code destroyed or reset the context, and the event with it. */
    if (result == CXU_CONTEXT_IS_DESTROYED || result == CXU_INVALID_CONTEXT ||
        result == CXU_INVALID_HANDLE)
        return CTXRT_SUCCESS;
    return cx_driver_check(driver, CX_SLOT_event_destroy, result);
}

/* Finds the live event of a handle and enters a section in which its context is not being reset.
 * NULL: there is none. */
static cx_event *enter_event(const ctxrt_event *handle)
{
    cx_event *event;
    cx_section_enter();
    do
        event = cx_pool_find(&cx_events, handle);
    while (event != NULL && cx_context_give_way(atomic_load(&event->context)));
    return event;
}

ctxrt_status ctxrt_event_destroy(ctxrt_event *handle)
{
    cx_thread *thread;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_event *event = enter_event(handle);
    if (event != NULL)
        event = cx_pool_retire(&cx_events, handle);
    if (event != NULL) {
        cx_context *context = atomic_load(&event->context);
        if (!atomic_load(&event->wrapped) &&
            cx_context_holds_what_is_of(context, atomic_load(&event->epoch)))
            status = destroy_native(context->driver, atomic_load(&event->native));
        cx_context_object_drop(context, CX_OBJECT_EVENT);
        cx_pool_put_back(&cx_events, event);
    }
    cx_section_leave();
    return event != NULL ? status : no_such_event(handle);
}

/* ---- arguments ---- */

ctxrt_status cx_event_resolve_slowly(const ctxrt_event *handle, cx_event_target *out_target)
{
    *out_target = (cx_event_target){0}; /* the compiler cannot know that this fails */
    if (handle == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "the event is NULL");
    const cx_event *event = cx_pool_find(&cx_events, handle);
    if (event == NULL)
        return no_such_event(handle);
    const cx_context *context = atomic_load(&event->context);
    if (cx_context_wait(context))
        return cx_event_resolve(handle, out_target);
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                    "the event is gone: %s was reset after it was made", cx_context_text(context));
}

/* Called in the section of the stream. If the event's other context is being reset, it leaves the
 * section for that, and the stream must be looked up again. */
ctxrt_status cx_event_begin_work_slowly(const ctxrt_event *handle, cx_event_target *out_event,
                                        const ctxrt_stream *stream, cx_stream_target *out_stream)
{
    ctxrt_status status;
    do {
        const cx_event *event = cx_pool_find(&cx_events, handle);
        const cx_context *context = event != NULL ? atomic_load(&event->context) : NULL;
        cx_section_leave();
        if (context != NULL)
            (void)cx_context_wait(context);
        status = cx_event_resolve(handle, out_event);
        if (status == CTXRT_SUCCESS)
            status = cx_work_begin(stream, out_stream);
    } while (status == CTXRT_SUCCESS && !cx_event_look(handle, out_event));
    return status;
}

ctxrt_status cx_event_begin(const ctxrt_event *handle, cx_event_target *out_target)
{
    cx_thread *thread;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(&thread);
    while (status == CTXRT_SUCCESS) {
        cx_section_enter();
        if (__builtin_expect(cx_event_look(handle, out_target), 1))
            return CTXRT_SUCCESS;
        cx_section_leave();
        status = cx_event_resolve_slowly(handle, out_target);
    }
    return status;
}

ctxrt_status ctxrt_event_native(ctxrt_event *event, CUevent *out_native)
{
    cx_event_target target;
    ctxrt_status status = cx_event_begin(event, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_section_leave();
    if (out_native == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_event_native: out_native is NULL");
    *out_native = target.native;
    return CTXRT_SUCCESS;
}

/* ---- work ---- */

static ctxrt_status different_contexts(const char *what, const cx_context *first,
                                       const cx_context *second)
{
    return cx_error(CTXRT_ERROR_WRONG_CONTEXT, "%s belong to different contexts: %s and %s", what,
                    cx_context_text(first), cx_context_text(second));
}

ctxrt_status ctxrt_event_record(ctxrt_event *event, ctxrt_stream *stream)
{
    cx_event_target recorded;
    cx_stream_target target;
    ctxrt_status status = cx_event_begin_work(event, &recorded, stream, &target);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    if (__builtin_expect(recorded.context == target.context, 1))
        status = cx_context_map_error(
            target.context, "event",
            CX_DRIVER_CALL(target.driver, event_record, (recorded.native, target.native)));
    else
        status = different_contexts("the event and the stream", recorded.context, target.context);
    cx_work_end();
    return status;
}

ctxrt_status ctxrt_event_query(ctxrt_event *event)
{
    cx_event_target target;
    ctxrt_status status = cx_event_begin(event, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target.driver, event_query, (target.native));
    status = cx_context_waited(target.context, "event", status);
    cx_section_leave();
    return status;
}

ctxrt_status ctxrt_event_synchronize(ctxrt_event *event)
{
    cx_event_target target;
    ctxrt_status status = cx_event_begin(event, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    status = CX_DRIVER_CALL(target.driver, event_synchronize, (target.native));
    status = cx_context_waited(target.context, "event", status);
    cx_work_end_wait(target.context, cancel);
    return status;
}

/* Unlike ctxrt_event_query, records no error where the work is not done. */
static ctxrt_status look_at_event(const void *event, bool *out_done)
{
    cx_event_target target;
    ctxrt_status status = cx_event_begin(event, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = target.driver->table.event_query(target.native);
    *out_done = result != CXU_NOT_READY;
    if (*out_done)
        status = cx_context_waited(target.context, "event",
                                   cx_driver_check(target.driver, CX_SLOT_event_query, result));
    cx_section_leave();
    return status;
}

ctxrt_status ctxrt_event_synchronize_for(ctxrt_event *event, uint64_t timeout_ms)
{
    bool done;
    if (timeout_ms == UINT64_MAX)
        return ctxrt_event_synchronize(event);
    ctxrt_status status = cx_timed_wait(timeout_ms, look_at_event, event, &done);
    if (status == CTXRT_SUCCESS && !done)
        status = cx_error(CTXRT_ERROR_NOT_READY, "the event was not reached within %llu ms",
                          (unsigned long long)timeout_ms);
    return status;
}

static ctxrt_status elapsed_between(const cx_event_target *first, const cx_event_target *last,
                                    float *out_ms)
{
    const cx_driver *driver = first->driver;
    float ms;
    cxu_result result = driver->table.event_elapsed_time(&ms, first->native, last->native);
    if (result == CXU_INVALID_HANDLE)
        return cx_error_driver_call(
            CTXRT_ERROR_INVALID_ARGUMENT, cx_symbols[CX_SLOT_event_elapsed_time].symbol, result,
            cx_driver_result_name(driver, result),
            "there is no time between the two events: one was never recorded, or "
            "was made with CTXRT_EVENT_DISABLE_TIMING");
    if (result != CXU_SUCCESS)
        return cx_context_map_error(first->context, "event",
                                    cx_driver_error(driver, CX_SLOT_event_elapsed_time, result));
    *out_ms = ms;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_event_elapsed_ms(ctxrt_event *start, ctxrt_event *end, float *out_ms)
{
    cx_event_target first, last;
    ctxrt_status status = cx_event_begin(start, &first);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_event_resolve(end, &last);
    if (status == CTXRT_SUCCESS && out_ms == NULL)
        status = cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_event_elapsed_ms: out_ms is NULL");
    if (status == CTXRT_SUCCESS)
        status = first.context == last.context
                     ? elapsed_between(&first, &last, out_ms)
                     : different_contexts("the two events", first.context, last.context);
    cx_section_leave();
    return status;
}
