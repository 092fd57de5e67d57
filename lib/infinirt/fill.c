/* Fills. */
#include "infinirt/stream.h"
#include <ctxrt/memory.h>

static infiniStatus_t check_fill(const void *ptr, size_t count)
{
    if (count > PTRDIFF_MAX)
        return INFINI_STATUS_BAD_PARAM;
    return ptr == NULL && count != 0 ? INFINI_STATUS_NULL_POINTER : INFINI_STATUS_SUCCESS;
}

static ctxrt_status fill_memory(void *ptr, int value, size_t count, const cx_stream_call *call)
{
    if (count == 0)
        return cx_stream_check(call->target);
    if (cx_stream_await_for_host(call))
        return ctxrt_fill(ptr, (unsigned char)value, count);
    ctxrt_status status = ctxrt_fill_async(ptr, (unsigned char)value, count, call->target);
    return status == CTXRT_SUCCESS ? cx_stream_finish_on_cpu(call) : status;
}

infiniStatus_t infinirtMemset(void *ptr, int value, size_t count)
{
    cx_stream_call call;
    infiniStatus_t wrong = check_fill(ptr, count);
    if (wrong != INFINI_STATUS_SUCCESS || count == 0)
        return wrong;
    ctxrt_status status = cx_stream_begin_memory(NULL, &call);
    if (status == CTXRT_SUCCESS)
        status = fill_memory(ptr, value, count, &call);
    if (status == CTXRT_SUCCESS && !call.of_cpu)
        status = ctxrt_stream_synchronize(call.target);
    return cx_infini_status(status);
}

infiniStatus_t infinirtMemsetAsync(void *ptr, int value, size_t count, infinirtStream_t stream)
{
    cx_stream_call call;
    infiniStatus_t wrong = check_fill(ptr, count);
    if (wrong != INFINI_STATUS_SUCCESS)
        return wrong;
    ctxrt_status status = cx_stream_begin_memory(stream, &call);
    if (status == CTXRT_SUCCESS)
        status = fill_memory(ptr, value, count, &call);
    return cx_infini_status(status);
}
