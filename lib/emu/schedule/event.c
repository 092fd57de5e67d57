#include "emu/schedule/event.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/schedule/capture_check.h"
#include "emu/schedule/green.h"
#include "emu/schedule/stream.h"

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_event)};

void cx_emu_event_set_record(cx_emu_event *event, cx_emu_work *work)
{
    if (event->captured)
        cx_emu_capture_forget_event(event);
    if (work != NULL)
        cx_emu_work_retain(work);
    cx_emu_work_drop(event->record);
    event->record = work;
}

void cx_emu_event_set_shared_record(cx_emu_event *event, const cx_emu_shared_record *record,
                                    cx_emu_work *work)
{
    cx_emu_event_set_record(event, work);
    event->shared_number = cx_emu_shared_record_announce(record, work);
}

/* True if another process, or another handle of this one, recorded it last. */
static bool recorded_elsewhere(const cx_emu_event *event)
{
    return event->shared != NULL && !event->captured &&
           cx_emu_shared_event_recorded(event->shared) != event->shared_number;
}

bool cx_emu_event_recorded(const cx_emu_event *event)
{
    return event->record != NULL || recorded_elsewhere(event);
}

void cx_emu_event_destroy(cx_emu_event *event)
{
    *(event->previous != NULL ? &event->previous->next : &event->context->events) = event->next;
    if (event->next != NULL)
        event->next->previous = event->previous;
    cx_emu_event_set_record(event, NULL);
    if (event->shared != NULL)
        cx_emu_shared_event_leave(event->shared);
    cx_emu_handle_return(&handles, event);
}

void cx_emu_events_release(cx_emu_context *context)
{
    while (context->events != NULL)
        cx_emu_event_destroy(context->events);
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

cx_emu_event *cx_emu_event_make(cx_emu_context *context, unsigned int flags)
{
    cx_emu_event *event = cx_emu_handle_take(&handles);

    if (event == NULL)
        return NULL;
    event->context = context;
    event->opening = context->legacy->opening;
    event->flags = flags;
    event->next = context->events;
    if (event->next != NULL)
        event->next->previous = event;
    context->events = event;
    return event;
}

/* ---- record and wait ---- */

/* Records the event by a piece of work that does nothing else. */
static cxu_result record_by(cx_emu_event *event, cx_emu_stream *stream,
                            cx_emu_work_request *request)
{
    cx_emu_shared_record record;
    cx_emu_work *work;
    cxu_result result;

    if (!cx_emu_shared_record_begin(event->shared, &record))
        return CXU_OUT_OF_MEMORY;
    cx_emu_shared_record_request(&record, request);
    result = cx_emu_work_submit(stream, request, &work);
    if (result != CXU_SUCCESS) {
        cx_emu_shared_record_end(&record);
        return result;
    }
    cx_emu_event_set_shared_record(event, &record, work);
    cx_emu_work_drop(work);
    return CXU_SUCCESS;
}

/* A record that is not done becomes one of the other processes' too. */
static cxu_result share_record(cx_emu_event *event, cx_emu_shared_event *shared)
{
    cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED, .after = {event->record}};
    cx_emu_shared_record record;
    cx_emu_work *work;
    cxu_result result;

    cx_emu_shared_record_begin(shared, &record); /* the first entry is free */
    cx_emu_shared_record_request(&record, &request);
    result = cx_emu_work_submit(NULL, &request, &work);
    if (result != CXU_SUCCESS) {
        cx_emu_shared_record_end(&record);
        return result;
    }
    event->shared_number = cx_emu_shared_record_announce(&record, work);
    cx_emu_work_drop(work);
    return CXU_SUCCESS;
}

cxu_result cx_emu_event_share(cx_emu_event *event)
{
    cx_emu_shared_event *shared;
    cxu_result result;

    if (event->shared != NULL)
        return CXU_SUCCESS;
    result = cx_emu_shared_event_create(event->context->device->board, &shared);
    if (result != CXU_SUCCESS)
        return result;
    if (event->record != NULL && !event->record->done)
        result = share_record(event, shared);
    if (result == CXU_SUCCESS)
        event->shared = shared;
    else
        cx_emu_shared_event_leave(shared);
    return result;
}

cx_emu_event *cx_emu_event_adopt(cx_emu_context *context, cx_emu_shared_event *shared)
{
    cx_emu_event *event = cx_emu_event_make(context, CXU_EVENT_DISABLE_TIMING);

    if (event != NULL)
        event->shared = shared;
    return event;
}

cxu_result cx_emu_event_record_behind(cx_emu_event *event, cx_emu_context *context)
{
    cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED, .after_context = context};

    return record_by(event, NULL, &request);
}

static bool record_again(cx_emu_event *event, const cx_emu_stream *stream)
{
    return event->record != NULL && !event->captured && event->shared == NULL &&
           cx_emu_work_repeat(event->record, stream);
}

cxu_result cx_emu_event_record(cx_emu_event *event, cx_emu_stream *stream)
{
    cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED};

    return record_again(event, stream) ? CXU_SUCCESS : record_by(event, stream, &request);
}

cxu_result cx_emu_event_record_green(CUevent handle, cx_emu_green *green)
{
    cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED,
                                   .after_context = green->context->base,
                                   .after_green = green};
    cx_emu_event *event;
    cxu_result result = cx_emu_event_find(handle, &event);

    if (result != CXU_SUCCESS)
        return result;
    if (event->context != green->context->base)
        return CXU_INVALID_HANDLE;
    if (cx_emu_green_refuse_captures(green))
        return CXU_STREAM_CAPTURE_UNSUPPORTED;
    result = record_by(event, NULL, &request);
    if (result == CXU_SUCCESS)
        cx_emu_green_add_record(green, event->record);
    return result;
}

bool cx_emu_event_wait_request(const cx_emu_event *event, cx_emu_context *context,
                               cx_emu_shared_wait *room, cx_emu_work_request *out_request)
{
    if (!recorded_elsewhere(event)) {
        *out_request = (cx_emu_work_request){.kind = CX_EMU_WORK_LOCKED, .after = {event->record}};
        return event->record != NULL && !event->record->done;
    }
    *room = (cx_emu_shared_wait){.shared = event->shared,
                                 .number = cx_emu_shared_event_recorded(event->shared),
                                 .context = context,
                                 .opening = context->legacy->opening};
    cx_emu_shared_wait_request(room, out_request);
    return !cx_emu_shared_event_finished(event->shared, room->number);
}

cxu_result cx_emu_event_wait(const cx_emu_event *event, cx_emu_stream *stream)
{
    cx_emu_shared_wait room;
    cx_emu_work_request request;

    return cx_emu_event_wait_request(event, stream->context, &room, &request)
               ? cx_emu_work_submit(stream, &request, NULL)
               : CXU_SUCCESS;
}

cxu_result cx_emu_event_hold_back(const cx_emu_event *event, cx_emu_stream *legacy)
{
    cx_emu_shared_wait room;
    cx_emu_work_request request;

    return cx_emu_event_wait_request(event, legacy->context, &room, &request)
               ? cx_emu_work_put_barrier(&legacy->barrier, &request)
               : CXU_SUCCESS;
}

cxu_result cx_emu_event_wait_green(CUevent handle, cx_emu_green *green)
{
    cx_emu_shared_wait room;
    cx_emu_work_request request;
    cx_emu_event *event;
    cxu_result result = cx_emu_event_find(handle, &event);
    bool captures = result == CXU_SUCCESS && cx_emu_green_refuse_captures(green);

    if (result != CXU_SUCCESS)
        return result;
    if (event->captured)
        cx_emu_capture_refuse_event(event);
    if (event->captured || captures)
        return CXU_STREAM_CAPTURE_UNSUPPORTED;
    return cx_emu_event_wait_request(event, green->context->base, &room, &request)
               ? cx_emu_work_put_barrier(&green->barrier, &request)
               : CXU_SUCCESS;
}

/* ---- queries of events ---- */

bool cx_emu_event_poll(const cx_emu_event *event)
{
    if (!recorded_elsewhere(event))
        return event->record == NULL || cx_emu_work_poll(event->record);
    if (cx_emu_shared_event_finished(event->shared, cx_emu_shared_event_recorded(event->shared)))
        return true;
    cx_emu_work_poll_outside();
    return false;
}

cxu_result cx_emu_event_synchronize(const cx_emu_event *event)
{
    cx_emu_context *context = event->context;
    uint64_t opening = event->opening;
    cx_emu_work_request request;
    cx_emu_shared_wait wait;
    cx_emu_work *work = event->record;
    cxu_result result;

    if (recorded_elsewhere(event)) {
        if (cx_emu_event_wait_request(event, context, &wait, &request))
            cx_emu_shared_wait_here(&wait);
        return cx_emu_context_opened(context, opening) ? cx_emu_context_error(context)
                                                       : CXU_SUCCESS;
    }
    if (work == NULL)
        return CXU_SUCCESS;
    cx_emu_work_retain(work);
    result = cx_emu_work_wait(work);
    cx_emu_work_drop(work);
    return result;
}

/* NULL: the event has a time. */
static const char *lack_of_time(const cx_emu_event *event)
{
    if (event->flags & CXU_EVENT_DISABLE_TIMING)
        return "an event was created with CU_EVENT_DISABLE_TIMING";
    return event->record == NULL ? "an event was never recorded" : NULL;
}

static const char *why_no_elapsed_time(const cx_emu_event *start, const cx_emu_event *end)
{
    const char *first = lack_of_time(start), *second = lack_of_time(end);

    if (first != NULL || second != NULL)
        return first != NULL ? first : second;
    return start->context->device != end->context->device ? "the events are of different devices"
                                                          : NULL;
}

/* Rule T4. The events may be gone after the first check of a record. */
static cxu_result work_elapsed(cx_emu_work *start, cx_emu_work *end, float *out_ms)
{
    bool start_done = cx_emu_work_poll(start);
    bool end_done = cx_emu_work_poll(end);

    if (!start_done || !end_done)
        return CXU_NOT_READY;
    *out_ms = (float)((double)(int64_t)(end->done_ns - start->done_ns) / 1e6);
    return CXU_SUCCESS;
}

cxu_result cx_emu_event_elapsed(const cx_emu_event *start, const cx_emu_event *end, float *out_ms)
{
    cx_emu_work *first = start->record, *last = end->record;
    cxu_result result;

    if (start->captured)
        return cx_emu_capture_refuse_event(start);
    if (end->captured)
        return cx_emu_capture_refuse_event(end);
    const char *why = why_no_elapsed_time(start, end);
    if (why != NULL)
        return cx_emu_refuse(CXU_INVALID_HANDLE, why);
    cx_emu_work_retain(first);
    cx_emu_work_retain(last);
    result = work_elapsed(first, last, out_ms);
    cx_emu_work_drop(first);
    cx_emu_work_drop(last);
    return result;
}
