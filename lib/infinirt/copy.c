/* Copies. */
#include "infinirt/stream.h"
#include <ctxrt/memory.h>

static const ctxrt_copy_kind kinds[] = {
    [INFINIRT_MEMCPY_H2H] = CTXRT_COPY_HOST_TO_HOST,
    [INFINIRT_MEMCPY_H2D] = CTXRT_COPY_HOST_TO_DEVICE,
    [INFINIRT_MEMCPY_D2H] = CTXRT_COPY_DEVICE_TO_HOST,
    [INFINIRT_MEMCPY_D2D] = CTXRT_COPY_DEVICE_TO_DEVICE,
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static ctxrt_status is_plain(const void *pointer, bool *out_plain)
{
    ctxrt_pointer_info info;
    ctxrt_status status = ctxrt_pointer_query(pointer, &info);
    *out_plain = status == CTXRT_SUCCESS && !info.known;
    return status;
}

/* For a CPU all host memory is device memory, whether it was allocated here or not. */
static ctxrt_status kind_on_cpu(const void *dst, const void *src, infinirtMemcpyKind_t kind,
                                ctxrt_copy_kind *out_kind)
{
    bool plain_dst = kind == INFINIRT_MEMCPY_H2H || kind == INFINIRT_MEMCPY_D2H;
    bool plain_src = kind == INFINIRT_MEMCPY_H2H || kind == INFINIRT_MEMCPY_H2D;
    ctxrt_status status = CTXRT_SUCCESS;
    if (!plain_dst)
        status = is_plain(dst, &plain_dst);
    if (status == CTXRT_SUCCESS && !plain_src)
        status = is_plain(src, &plain_src);
    *out_kind = plain_dst ? plain_src ? CTXRT_COPY_HOST_TO_HOST : CTXRT_COPY_DEVICE_TO_HOST
                : plain_src ? CTXRT_COPY_HOST_TO_DEVICE
                            : CTXRT_COPY_DEVICE_TO_DEVICE;
    return status;
}

static infiniStatus_t check_copy(const void *dst, const void *src, size_t size,
                                 infinirtMemcpyKind_t kind)
{
    if ((unsigned int)kind >= KINDS || size > PTRDIFF_MAX)
        return INFINI_STATUS_BAD_PARAM;
    return size != 0 && (dst == NULL || src == NULL) ? INFINI_STATUS_NULL_POINTER
                                                     : INFINI_STATUS_SUCCESS;
}

static ctxrt_status copy_in_stream(void *dst, const void *src, size_t size,
                                   infinirtMemcpyKind_t kind, const cx_stream_call *call)
{
    ctxrt_status status = CTXRT_SUCCESS;
    ctxrt_copy_kind of_ctxrt = kinds[kind];
    if (call->device.type == CTXRT_DEVICE_CPU)
        status = kind_on_cpu(dst, src, kind, &of_ctxrt);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_copy_async(dst, src, size, of_ctxrt, call->target);
    return status == CTXRT_SUCCESS ? cx_stream_finish_on_cpu(call) : status;
}

/* Most memory of a CPU is the host's, which copies it at once; what it refuses is copied in the
 * stream, which also reports errors. */
static ctxrt_status copy_memory(void *dst, const void *src, size_t size, infinirtMemcpyKind_t kind,
                                const cx_stream_call *call)
{
    if (size == 0)
        return cx_stream_check(call->target);
    if (cx_stream_await_for_host(call) &&
        ctxrt_copy(dst, src, size, CTXRT_COPY_HOST_TO_HOST) == CTXRT_SUCCESS)
        return CTXRT_SUCCESS;
    return copy_in_stream(dst, src, size, kind, call);
}

infiniStatus_t infinirtMemcpy(void *dst, const void *src, size_t size, infinirtMemcpyKind_t kind)
{
    cx_stream_call call;
    infiniStatus_t wrong = check_copy(dst, src, size, kind);
    if (wrong != INFINI_STATUS_SUCCESS || size == 0)
        return wrong;
    ctxrt_status status = cx_stream_begin_memory(NULL, &call);
    if (status == CTXRT_SUCCESS)
        status = copy_memory(dst, src, size, kind, &call);
    if (status == CTXRT_SUCCESS && !call.of_cpu)
        status = ctxrt_stream_synchronize(call.target);
    return cx_infini_status(status);
}

infiniStatus_t infinirtMemcpyAsync(void *dst, const void *src, size_t size,
                                   infinirtMemcpyKind_t kind, infinirtStream_t stream)
{
    cx_stream_call call;
    infiniStatus_t wrong = check_copy(dst, src, size, kind);
    if (wrong != INFINI_STATUS_SUCCESS)
        return wrong;
    ctxrt_status status = cx_stream_begin_memory(stream, &call);
    if (status == CTXRT_SUCCESS)
        status = copy_memory(dst, src, size, kind, &call);
    return cx_infini_status(status);
}

/* ---- between named devices ---- */

/* All host memory counts as the CPU's. */
static bool is_cpu(ctxrt_device device)
{
    return device.type == CTXRT_DEVICE_CPU && device.index == 0;
}

static ctxrt_status copy_between(void *dst, ctxrt_device to, const void *src, ctxrt_device from,
                                 size_t size, const cx_stream_call *call)
{
    if (is_cpu(to) && is_cpu(from))
        return copy_memory(dst, src, size, INFINIRT_MEMCPY_D2D, call);
    ctxrt_status status = size == 0 ? cx_stream_check(call->target) : CTXRT_SUCCESS;
    if (status == CTXRT_SUCCESS)
        status = ctxrt_copy_peer(dst, to, src, from, size, call->target);
    return status == CTXRT_SUCCESS && size != 0 ? cx_stream_finish_on_cpu(call) : status;
}

infiniStatus_t infinirtMemcpyPeerAsync(void *dst, infiniDevice_t dst_device, int dst_device_id,
                                       const void *src, infiniDevice_t src_device,
                                       int src_device_id, size_t size, infinirtStream_t stream)
{
    cx_stream_call call;
    infiniStatus_t wrong = check_copy(dst, src, size, INFINIRT_MEMCPY_D2D);
    if (wrong != INFINI_STATUS_SUCCESS)
        return wrong;
    ctxrt_device to = ctxrt_device_of((ctxrt_device_type)dst_device, dst_device_id);
    ctxrt_device from = ctxrt_device_of((ctxrt_device_type)src_device, src_device_id);
    ctxrt_status status = cx_stream_begin_memory(stream, &call);
    if (status == CTXRT_SUCCESS)
        status = copy_between(dst, to, src, from, size, &call);
    infiniStatus_t result = cx_device_status(status, dst_device);
    return result == INFINI_STATUS_DEVICE_NOT_FOUND ? cx_device_status(status, src_device) : result;
}
