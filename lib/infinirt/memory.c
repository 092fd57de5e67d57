/* Memory of devices, stream-ordered or not, and pinned memory. Clients cache memory themselves:
 * each call asks the driver. */
#include "infinirt/stream.h"
#include <ctxrt/memory.h>

/* True if the request is answered by `*out_status`. A size of 0 asks for no memory. */
static bool is_answered(void **p_ptr, size_t size, infiniStatus_t *out_status)
{
    *out_status = p_ptr == NULL          ? INFINI_STATUS_NULL_POINTER
                  : size > PTRDIFF_MAX   ? INFINI_STATUS_BAD_PARAM
                                         : INFINI_STATUS_SUCCESS;
    if (*out_status == INFINI_STATUS_SUCCESS && size == 0)
        *p_ptr = NULL;
    return *out_status != INFINI_STATUS_SUCCESS || size == 0;
}

infiniStatus_t infinirtMalloc(void **p_ptr, size_t size)
{
    ctxrt_device device;
    infiniStatus_t answer;
    if (is_answered(p_ptr, size, &answer))
        return answer;
    ctxrt_status status = cx_device_begin(&device);
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_alloc_direct(size, p_ptr) : status);
}

infiniStatus_t infinirtMallocAsync(void **p_ptr, size_t size, infinirtStream_t stream)
{
    ctxrt_stream *target;
    infiniStatus_t answer;
    if (is_answered(p_ptr, size, &answer))
        return answer;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_alloc_async(size, target, p_ptr);
    return cx_infini_status(status);
}

infiniStatus_t infinirtFreeAsync(void *ptr, infinirtStream_t stream)
{
    ctxrt_stream *target;
    infiniStatus_t answer;
    if (!cx_release_begin(&answer))
        return answer;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ptr == NULL ? cx_stream_check(target) : ctxrt_free_async(ptr, target);
    return cx_infini_status(status);
}

infiniStatus_t infinirtMallocHost(void **p_ptr, size_t size)
{
    ctxrt_device device;
    infiniStatus_t answer;
    if (is_answered(p_ptr, size, &answer))
        return answer;
    ctxrt_status status = cx_device_begin(&device);
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_alloc_pinned(size, p_ptr) : status);
}

/* On a CPU either call frees memory of both kinds: programs use one call for both, and both kinds
 * are the host's. ctxrt_free refuses memory of no driver. */
static infiniStatus_t free_memory(void *ptr, bool pinned)
{
    infiniStatus_t answer;
    ctxrt_pointer_info info;
    if (!cx_release_begin(&answer) || ptr == NULL)
        return answer;
    ctxrt_status status = ctxrt_pointer_query(ptr, &info);
    if (status == CTXRT_SUCCESS && info.known && info.device.type != CTXRT_DEVICE_CPU &&
        (info.kind == CTXRT_MEMORY_PINNED) != pinned)
        return INFINI_STATUS_BAD_PARAM;
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_free(ptr) : status);
}

infiniStatus_t infinirtFree(void *ptr)
{
    return free_memory(ptr, false);
}

infiniStatus_t infinirtFreeHost(void *ptr)
{
    return free_memory(ptr, true);
}
