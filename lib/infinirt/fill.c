/* Fills. */
#include "infinirt/stream.h"
#include <ctxrt/memory.h>

static infiniStatus_t check_fill(const void *ptr, size_t count)
{
    if (count > PTRDIFF_MAX)
        return INFINI_STATUS_BAD_PARAM;
    return ptr == NULL && count != 0 ? INFINI_STATUS_NULL_POINTER : INFINI_STATUS_SUCCESS;
}

static ctxrt_status fill_memory(void *ptr, int value, size_t count, ctxrt_stream *stream)
{
    return count == 0 ? cx_stream_check(stream)
                      : ctxrt_fill_async(ptr, (unsigned char)value, count, stream);
}

infiniStatus_t infinirtMemset(void *ptr, int value, size_t count)
{
    ctxrt_device device;
    infiniStatus_t wrong = check_fill(ptr, count);
    if (wrong != INFINI_STATUS_SUCCESS)
        return wrong;
    if (count == 0)
        return INFINI_STATUS_SUCCESS;
    ctxrt_status status = cx_device_begin(&device);
    bool by_host = status == CTXRT_SUCCESS && device.type == CTXRT_DEVICE_CPU;
    if (status == CTXRT_SUCCESS && !by_host)
        status = fill_memory(ptr, value, count, CTXRT_STREAM_LEGACY);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_synchronize(CTXRT_STREAM_LEGACY);
    if (status == CTXRT_SUCCESS && by_host)
        status = ctxrt_fill(ptr, (unsigned char)value, count);
    return cx_infini_status(status);
}

infiniStatus_t infinirtMemsetAsync(void *ptr, int value, size_t count, infinirtStream_t stream)
{
    ctxrt_stream *target;
    infiniStatus_t wrong = check_fill(ptr, count);
    if (wrong != INFINI_STATUS_SUCCESS)
        return wrong;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = fill_memory(ptr, value, count, target);
    if (status == CTXRT_SUCCESS && count != 0)
        status = cx_stream_finish_on_cpu(stream, target);
    return cx_infini_status(status);
}
