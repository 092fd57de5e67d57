/* The calls about events. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/graph/capture.h"
#include "emu/schedule/event.h"
#include "emu/schedule/green.h"
#include "emu/schedule/stream.h"

#define EVENT_FLAGS (CXU_EVENT_BLOCKING_SYNC | CXU_EVENT_DISABLE_TIMING | CXU_EVENT_INTERPROCESS)

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
    if (out_event == NULL || !flags_valid(flags))
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             out_event == NULL ? "phEvent is NULL"
                                               : "there are no such flags of events; "
                                                 "CU_EVENT_INTERPROCESS needs "
                                                 "CU_EVENT_DISABLE_TIMING");
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS) {
        event = cx_emu_event_make(context, flags);
        if (event != NULL)
            *out_event = (CUevent)(void *)event;
        else
            result = CXU_OUT_OF_MEMORY;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_destroy(CUevent handle)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_event_find(handle, &event);
    if (result == CXU_SUCCESS)
        cx_emu_event_destroy(event);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- records ---- */

/* The flag EXTERNAL, in a capturing stream: each launch of the graph records the event. */
static cxu_result capture_external(cx_emu_event *event, cx_emu_stream *stream)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                            .of.event = (CUevent)(void *)event};

    return cx_emu_capture_add(stream, &node_params);
}

static cxu_result record_or_capture(cx_emu_event *event, cx_emu_stream *stream, unsigned int flags)
{
    if (stream->branch != NULL)
        return flags == 0 ? cx_emu_capture_record(stream, event) : capture_external(event, stream);
    if (flags != 0)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             "the flag EXTERNAL is for streams that are being captured");
    return cx_emu_event_record(event, stream);
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
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS)
        result = cx_emu_stream_find(stream_handle, &stream);
    if (result == CXU_SUCCESS && event->context != stream->context)
        result = cx_emu_refuse(CXU_INVALID_HANDLE,
                               "the event and the stream are of different contexts");
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS)
        result = record_or_capture(event, stream, flags);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_record(CUevent event, CUstream stream)
{
    return cx_emu_call_event_record_with_flags(event, stream, CXU_EVENT_RECORD_DEFAULT);
}

cxu_result cx_emu_call_ctx_record_event(CUcontext context_handle, CUevent event_handle)
{
    cx_emu_context *context;
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_find(context_handle, &context);
    if (result == CXU_SUCCESS && cx_emu_green_of(context_handle) != NULL) {
        result = cx_emu_event_record_green(event_handle, cx_emu_green_of(context_handle));
        goto unlock;
    }
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS && event->context != context)
        result = cx_emu_refuse(CXU_INVALID_HANDLE, "the event is of another context");
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_context(context);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_record_behind(event, context);
unlock:
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- waits of streams and contexts ---- */

/* The flag EXTERNAL, in a capturing stream: each launch of the graph waits. */
static cxu_result capture_external_wait(cx_emu_stream *stream, cx_emu_event *event)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                            .of.event = (CUevent)(void *)event};

    return cx_emu_capture_add(stream, &node_params);
}

static cxu_result wait_or_capture(cx_emu_stream *stream, cx_emu_event *event, unsigned int flags)
{
    if (flags != 0)
        return stream->branch != NULL ? capture_external_wait(stream, event) : CXU_INVALID_VALUE;
    if (stream->branch != NULL || event->captured)
        return cx_emu_capture_wait(stream, event);
    return cx_emu_event_wait(event, stream);
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
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(stream_handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS)
        result = wait_or_capture(stream, event, flags);
    cx_lock_leave(&cx_emu_lock);
    return result;
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

cxu_result cx_emu_call_ctx_wait_event(CUcontext context_handle, CUevent event_handle)
{
    cx_emu_context *context;
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_find(context_handle, &context);
    if (result == CXU_SUCCESS && cx_emu_green_of(context_handle) != NULL) {
        result = cx_emu_event_wait_green(event_handle, cx_emu_green_of(context_handle));
        goto unlock;
    }
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(event_handle, &event);
    if (result == CXU_SUCCESS)
        result = check_context_wait(context, event);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_hold_back(event, context->legacy);
unlock:
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- queries ---- */

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
    cx_lock_enter(&cx_emu_lock);
    result = find_answering(handle, &event);
    if (result == CXU_SUCCESS && !cx_emu_event_poll(event))
        result = CXU_NOT_READY;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_synchronize(CUevent handle)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_answering(handle, &event);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_synchronize(event);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_elapsed_time_v2(float *out_ms, CUevent start_handle,
                                             CUevent end_handle)
{
    cx_emu_event *start, *end;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_ms == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_event_find(start_handle, &start);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_find(end_handle, &end);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_elapsed(start, end, out_ms);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_event_elapsed_time(float *out_ms, CUevent start, CUevent end)
{
    return cx_emu_call_event_elapsed_time_v2(out_ms, start, end);
}
