#include "emu/event.h"
#include "emu/capture.h"
#include "emu/green.h"
#include "emu/state.h"
#include "emu/sticky.h"
#include "emu/stream.h"

#define EVENT_FLAGS (CXU_EVENT_BLOCKING_SYNC | CXU_EVENT_DISABLE_TIMING | CXU_EVENT_INTERPROCESS)

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_event)};

void cx_emu_event_set_record(cx_emu_event *event, cx_emu_work *work)
{
    if (event->captured)
        cx_emu_capture_forget_event(event);
    if (work)
        cx_emu_work_retain(work);
    cx_emu_work_drop(event->record);
    event->record = work;
}

static void remove_event(cx_emu_event *event)
{
    *(event->previous ? &event->previous->next : &event->context->events) = event->next;
    if (event->next)
        event->next->previous = event->previous;
    cx_emu_event_set_record(event, NULL);
    cx_emu_handle_return(&handles, event);
}

void cx_emu_events_release(cx_emu_context *context)
{
    while (context->events)
        remove_event(context->events);
}

cxu_result cx_emu_event_find(CUevent handle, cx_emu_event **out_event)
{
    cx_emu_event *event = (void *)handle;

    if (!cx_emu_handle_live(&handles, handle) ||
        !cx_emu_context_opened(event->context, event->opening))
        return CXU_INVALID_HANDLE;
    *out_event = event;
    return cx_emu_context_error(event->context);
}

static bool flags_valid(unsigned int flags)
{
    return !(flags & ~(unsigned int)EVENT_FLAGS) &&
           (!(flags & CXU_EVENT_INTERPROCESS) || (flags & CXU_EVENT_DISABLE_TIMING));
}

cxu_result cx_emu_call_event_create(CUevent *out_event, unsigned int flags)
{
    cx_emu_context *context;
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!out_event || !flags_valid(flags))
        return CXU_INVALID_VALUE;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        goto unlock;
    event = cx_emu_handle_take(&handles);
    if (!event) {
        result = CXU_OUT_OF_MEMORY;
        goto unlock;
    }
    event->context = context;
    event->opening = context->legacy->opening;
    event->flags = flags;
    event->next = event->context->events;
    if (event->next)
        event->next->previous = event;
    event->context->events = event;
    *out_event = (CUevent)(void *)event;
unlock:
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_destroy(CUevent handle)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_event_find(handle, &event);
    if (result == CXU_SUCCESS)
        remove_event(event);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

/* ---- record and wait ---- */

static cxu_result record_behind(cx_emu_event *event, cx_emu_stream *stream,
                                cx_emu_context *after_context)
{
    const cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED,
                                         .after_context = after_context};
    cx_emu_work *work;
    cxu_result result = cx_emu_work_submit(stream, &request, &work);

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_event_set_record(event, work);
    cx_emu_work_drop(work);
    return CXU_SUCCESS;
}

/* The flag EXTERNAL, in a capturing stream: each launch of the graph records the event. */
static cxu_result capture_external(cx_emu_event *event, cx_emu_stream *stream)
{
    const cx_emu_operation operation = {.type = CXU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                        .of.event = (CUevent)(void *)event};

    return cx_emu_capture_add(stream, &operation);
}

static bool record_again(cx_emu_event *event, const cx_emu_stream *stream)
{
    return event->record && !event->captured && cx_emu_work_repeat(event->record, stream);
}

static cxu_result record_or_capture(cx_emu_event *event, cx_emu_stream *stream, unsigned int flags)
{
    if (stream->branch)
        return flags == 0 ? cx_emu_capture_record(stream, event) : capture_external(event, stream);
    if (flags != 0)
        return CXU_INVALID_VALUE;
    return record_again(event, stream) ? CXU_SUCCESS : record_behind(event, stream, NULL);
}

cxu_result cx_emu_call_event_record_with_flags(CUevent event_handle, CUstream stream_handle,
                                               unsigned int flags)
{
    cx_emu_event *event;
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags > CXU_EVENT_RECORD_EXTERNAL)
        return CXU_INVALID_VALUE;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS)
        result = cx_emu_stream_find(stream_handle, &stream);
    if (result == CXU_SUCCESS && event->context != stream->context)
        result = CXU_INVALID_HANDLE;
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS)
        result = record_or_capture(event, stream, flags);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_record(CUevent event, CUstream stream)
{
    return cx_emu_call_event_record_with_flags(event, stream, CXU_EVENT_RECORD_DEFAULT);
}

cxu_result cx_emu_event_record_green(CUevent handle, cx_emu_green *green)
{
    cx_emu_event *event;
    cx_emu_work *work;
    cxu_result result = cx_emu_event_find(handle, &event);

    if (result != CXU_SUCCESS)
        return result;
    if (event->context != green->context->base)
        return CXU_INVALID_HANDLE;
    if (cx_emu_green_refuse_captures(green))
        return CXU_STREAM_CAPTURE_UNSUPPORTED;
    result = cx_emu_green_submit_behind(green, &work);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_event_set_record(event, work);
    cx_emu_work_drop(work);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_record_event(CUcontext context_handle, CUevent event_handle)
{
    cx_emu_context *context;
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_context_find(context_handle, &context);
    if (result == CXU_SUCCESS && cx_emu_green_of(context_handle)) {
        result = cx_emu_event_record_green(event_handle, cx_emu_green_of(context_handle));
        goto unlock;
    }
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS && event->context != context)
        result = CXU_INVALID_HANDLE;
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_context(context);
    if (result == CXU_SUCCESS)
        result = record_behind(event, NULL, context);
unlock:
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

static bool recorded_and_unfinished(const cx_emu_event *event)
{
    return event->record && !event->record->done;
}

/* The flag EXTERNAL, in a capturing stream: each launch of the graph waits. */
static cxu_result capture_external_wait(cx_emu_stream *stream, cx_emu_event *event)
{
    const cx_emu_operation operation = {.type = CXU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                        .of.event = (CUevent)(void *)event};

    return cx_emu_capture_add(stream, &operation);
}

static cxu_result wait_for_record(cx_emu_stream *stream, cx_emu_work *record)
{
    const cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED, .after = {record}};

    return cx_emu_work_submit(stream, &request, NULL);
}

static cxu_result wait_or_capture(cx_emu_stream *stream, cx_emu_event *event, unsigned int flags)
{
    if (flags != 0)
        return stream->branch ? capture_external_wait(stream, event) : CXU_INVALID_VALUE;
    if (stream->branch || event->captured)
        return cx_emu_capture_wait(stream, event);
    return recorded_and_unfinished(event) ? wait_for_record(stream, event->record) : CXU_SUCCESS;
}

cxu_result cx_emu_call_stream_wait_event(CUstream stream_handle, CUevent event_handle,
                                         unsigned int flags)
{
    cx_emu_event *event;
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags > CXU_EVENT_WAIT_EXTERNAL)
        return CXU_INVALID_VALUE;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_stream_find(stream_handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS)
        result = wait_or_capture(stream, event, flags);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

/* Makes all later work of the context wait for the event, and for the events that it waited for
 * before. */
static cxu_result put_barrier(cx_emu_stream *legacy, cx_emu_work *after)
{
    const cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED,
                                         .after = {after, legacy->barrier}};
    cx_emu_work *barrier;
    cxu_result result = cx_emu_work_submit(NULL, &request, &barrier);

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_work_drop(legacy->barrier);
    legacy->barrier = barrier;
    return CXU_SUCCESS;
}

/* T3: captures on either side are invalidated. */
static cxu_result check_context_wait(const cx_emu_context *context, const cx_emu_event *event)
{
    cxu_result result = cx_emu_capture_check_context(context);

    if (!event->captured)
        return result;
    cx_emu_capture_refuse_event(event);
    return CXU_STREAM_CAPTURE_UNSUPPORTED;
}

cxu_result cx_emu_event_wait_green(CUevent handle, cx_emu_green *green)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_event_find(handle, &event);
    bool captures = result == CXU_SUCCESS && cx_emu_green_refuse_captures(green);

    if (result != CXU_SUCCESS)
        return result;
    if (event->captured)
        cx_emu_capture_refuse_event(event);
    if (event->captured || captures)
        return CXU_STREAM_CAPTURE_UNSUPPORTED;
    return recorded_and_unfinished(event) ? cx_emu_green_put_barrier(green, event->record)
                                          : CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_wait_event(CUcontext context_handle, CUevent event_handle)
{
    cx_emu_context *context;
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_context_find(context_handle, &context);
    if (result == CXU_SUCCESS && cx_emu_green_of(context_handle)) {
        result = cx_emu_event_wait_green(event_handle, cx_emu_green_of(context_handle));
        goto unlock;
    }
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS)
        result = check_context_wait(context, event);
    if (result == CXU_SUCCESS && recorded_and_unfinished(event))
        result = put_barrier(context->legacy, event->record);
unlock:
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

/* ---- queries of events ---- */

/* Finds the event of a query or a wait. */
static cxu_result find_answering(CUevent handle, cx_emu_event **out_event)
{
    cxu_result result = cx_emu_event_find(handle, out_event);

    if (result != CXU_SUCCESS)
        return result;
    return (*out_event)->captured ? cx_emu_capture_refuse_event(*out_event)
                                  : cx_emu_capture_check_unsafe();
}

cxu_result cx_emu_call_event_query(CUevent handle)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = find_answering(handle, &event);
    if (result == CXU_SUCCESS && event->record && !cx_emu_work_poll(event->record))
        result = CXU_NOT_READY;
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_synchronize(CUevent handle)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = find_answering(handle, &event);
    if (result == CXU_SUCCESS && event->record) {
        cx_emu_work *work = event->record;

        cx_emu_work_retain(work);
        result = cx_emu_work_wait(work);
        cx_emu_work_drop(work);
    }
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

static bool has_time(const cx_emu_event *event)
{
    return event->record && !(event->flags & CXU_EVENT_DISABLE_TIMING);
}

/* Rule T4. The events may be gone after the first check of a record. */
static cxu_result elapsed(cx_emu_work *start, cx_emu_work *end, float *out_ms)
{
    bool start_done = cx_emu_work_poll(start);
    bool end_done = cx_emu_work_poll(end);

    if (!start_done || !end_done)
        return CXU_NOT_READY;
    *out_ms = (float)((double)(int64_t)(end->done_ns - start->done_ns) / 1e6);
    return CXU_SUCCESS;
}

static cxu_result elapsed_between(const cx_emu_event *start, const cx_emu_event *end, float *out_ms)
{
    cx_emu_work *first = start->record, *last = end->record;
    cxu_result result;

    if (start->captured)
        return cx_emu_capture_refuse_event(start);
    if (end->captured)
        return cx_emu_capture_refuse_event(end);
    if (!has_time(start) || !has_time(end))
        return CXU_INVALID_HANDLE;
    cx_emu_work_retain(first);
    cx_emu_work_retain(last);
    result = elapsed(first, last, out_ms);
    cx_emu_work_drop(first);
    cx_emu_work_drop(last);
    return result;
}

cxu_result cx_emu_call_event_elapsed_time_v2(float *out_ms, CUevent start_handle,
                                             CUevent end_handle)
{
    cx_emu_event *start, *end;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!out_ms)
        return CXU_INVALID_VALUE;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_event_find(start_handle, &start);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(end_handle, &end);
    if (result == CXU_SUCCESS)
        result = elapsed_between(start, end, out_ms);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_elapsed_time(float *out_ms, CUevent start, CUevent end)
{
    return cx_emu_call_event_elapsed_time_v2(out_ms, start, end);
}
