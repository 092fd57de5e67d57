/* Events: handles of ctxrt's. */
#include "infinirt/stream.h"
#include <ctxrt/event.h>

infiniStatus_t infinirtEventCreate(infinirtEvent_t *event_ptr)
{
    return infinirtEventCreateWithFlags(event_ptr, INFINIRT_EVENT_DEFAULT);
}

infiniStatus_t infinirtEventCreateWithFlags(infinirtEvent_t *event_ptr, uint32_t flags)
{
    ctxrt_device device;
    ctxrt_event *event;
    unsigned int of_ctxrt = CTXRT_EVENT_DEFAULT;
    if (event_ptr == NULL)
        return INFINI_STATUS_NULL_POINTER;
    if ((flags & ~(uint32_t)(INFINIRT_EVENT_DISABLE_TIMING | INFINIRT_EVENT_BLOCKING_SYNC)) != 0)
        return INFINI_STATUS_BAD_PARAM;
    if ((flags & INFINIRT_EVENT_DISABLE_TIMING) != 0)
        of_ctxrt |= CTXRT_EVENT_DISABLE_TIMING;
    if ((flags & INFINIRT_EVENT_BLOCKING_SYNC) != 0)
        of_ctxrt |= CTXRT_EVENT_BLOCKING_SYNC;
    ctxrt_status status = cx_device_begin(&device);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_event_create(of_ctxrt, &event);
    if (status == CTXRT_SUCCESS)
        *event_ptr = event;
    return cx_infini_status(status);
}

infiniStatus_t infinirtEventRecord(infinirtEvent_t event, infinirtStream_t stream)
{
    ctxrt_stream *target;
    if (event == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = cx_stream_begin(stream, &target);
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_event_record(event, target) : status);
}

infiniStatus_t infinirtEventQuery(infinirtEvent_t event, infinirtEventStatus_t *status_ptr)
{
    if (event == NULL || status_ptr == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = ctxrt_event_query(event);
    if (status != CTXRT_SUCCESS && status != CTXRT_ERROR_NOT_READY)
        return cx_infini_status(status);
    *status_ptr = status == CTXRT_SUCCESS ? INFINIRT_EVENT_COMPLETE : INFINIRT_EVENT_NOT_READY;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventSynchronize(infinirtEvent_t event)
{
    return cx_infini_status(ctxrt_event_synchronize(event));
}

infiniStatus_t infinirtEventDestroy(infinirtEvent_t event)
{
    if (event == NULL)
        return INFINI_STATUS_NULL_POINTER;
    return cx_infini_status(ctxrt_event_destroy(event));
}

infiniStatus_t infinirtEventElapsedTime(float *ms_ptr, infinirtEvent_t start, infinirtEvent_t end)
{
    return cx_infini_status(ctxrt_event_elapsed_ms(start, end, ms_ptr));
}
