/* Names, values and layouts that programs linked with the original were compiled with. For C11 and
 * for C++. */
#ifndef INFINIRT_LAYOUT_H
#define INFINIRT_LAYOUT_H

#include <infinirt.h>
#include <stddef.h>

#ifdef __cplusplus
#define SAME(is, is_to_be) static_assert((is) == (is_to_be), #is)
#else
#define SAME(is, is_to_be) _Static_assert((is) == (is_to_be), #is)
#endif

SAME(INFINI_STATUS_SUCCESS, 0);
SAME(INFINI_STATUS_INTERNAL_ERROR, 1);
SAME(INFINI_STATUS_NOT_IMPLEMENTED, 2);
SAME(INFINI_STATUS_BAD_PARAM, 3);
SAME(INFINI_STATUS_NULL_POINTER, 4);
SAME(INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED, 5);
SAME(INFINI_STATUS_DEVICE_NOT_FOUND, 6);
SAME(INFINI_STATUS_DEVICE_NOT_INITIALIZED, 7);
SAME(INFINI_STATUS_DEVICE_ARCHITECTURE_NOT_SUPPORTED, 8);
SAME(INFINI_STATUS_BAD_TENSOR_DTYPE, 10);
SAME(INFINI_STATUS_BAD_TENSOR_SHAPE, 11);
SAME(INFINI_STATUS_BAD_TENSOR_STRIDES, 12);
SAME(INFINI_STATUS_INSUFFICIENT_WORKSPACE, 13);

SAME(INFINI_DEVICE_CPU, 0);
SAME(INFINI_DEVICE_NVIDIA, 1);
SAME(INFINI_DEVICE_CAMBRICON, 2);
SAME(INFINI_DEVICE_ASCEND, 3);
SAME(INFINI_DEVICE_METAX, 4);
SAME(INFINI_DEVICE_MOORE, 5);
SAME(INFINI_DEVICE_ILUVATAR, 6);
SAME(INFINI_DEVICE_KUNLUN, 7);
SAME(INFINI_DEVICE_HYGON, 8);
SAME(INFINI_DEVICE_QY, 9);
SAME(INFINI_DEVICE_ALI, 10);
SAME(INFINI_DEVICE_TYPE_COUNT, 11);

SAME(INFINI_DTYPE_INVALID, 0);
SAME(INFINI_DTYPE_BYTE, 1);
SAME(INFINI_DTYPE_BOOL, 2);
SAME(INFINI_DTYPE_I64, 6);
SAME(INFINI_DTYPE_U64, 10);
SAME(INFINI_DTYPE_F8, 11);
SAME(INFINI_DTYPE_F64, 14);
SAME(INFINI_DTYPE_C128, 18);
SAME(INFINI_DTYPE_BF16, 19);

SAME(INFINIRT_EVENT_COMPLETE, 0);
SAME(INFINIRT_EVENT_NOT_READY, 1);
SAME(INFINIRT_EVENT_DEFAULT, 0);
SAME(INFINIRT_EVENT_DISABLE_TIMING, 1);
SAME(INFINIRT_EVENT_BLOCKING_SYNC, 2);

SAME(INFINIRT_MEMCPY_H2H, 0);
SAME(INFINIRT_MEMCPY_H2D, 1);
SAME(INFINIRT_MEMCPY_D2H, 2);
SAME(INFINIRT_MEMCPY_D2D, 3);

SAME(INFINIRT_STREAM_CAPTURE_MODE_GLOBAL, 0);
SAME(INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1);
SAME(INFINIRT_STREAM_CAPTURE_MODE_RELAXED, 2);

SAME(INFINIRT_RESOURCE_FIELD_NONE, 0);
SAME(INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY, 1);
SAME(INFINIRT_RESOURCE_FIELD_COMPUTE_UTILIZATION, 2);
SAME(INFINIRT_RESOURCE_FIELD_MEMORY_BANDWIDTH_UTILIZATION, 4);
SAME(INFINIRT_RESOURCE_FIELD_KERNEL_TIME_RATIO, 8);
SAME(INFINIRT_RESOURCE_FIELD_COMMUNICATION, 16);

SAME(sizeof(infiniStatus_t), 4u);
SAME(sizeof(infiniDevice_t), 4u);
SAME(sizeof(infiniDtype_t), 4u);
SAME(sizeof(infinirtEventStatus_t), 4u);
SAME(sizeof(infinirtMemcpyKind_t), 4u);
SAME(sizeof(infinirtStreamCaptureMode_t), 4u);
SAME(sizeof(infinirtStream_t), sizeof(void *));

SAME(sizeof(infinirtDeviceResourceSnapshot_t), 80u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, device_type), 0u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, device_id), 4u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, valid_fields), 8u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, estimated_fields), 16u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, free_bytes), 24u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, total_bytes), 32u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, used_bytes), 40u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, reserved_bytes), 48u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, compute_utilization), 56u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, memory_bandwidth_utilization), 60u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, kernel_time_ratio), 64u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, communication_time_ratio), 68u);
SAME(offsetof(infinirtDeviceResourceSnapshot_t, communication_bytes), 72u);

/* A signature that differs does not compile. */
static inline void check_signatures(void)
{
    infiniStatus_t (*info)(infiniDevice_t, int, size_t *, size_t *) = infinirtGetMemInfo;
    infiniStatus_t (*elapsed)(float *, infinirtEvent_t, infinirtEvent_t) = infinirtEventElapsedTime;
    infiniStatus_t (*record)(infinirtEvent_t, infinirtStream_t) = infinirtEventRecord;
    infiniStatus_t (*copy)(void *, const void *, size_t, infinirtMemcpyKind_t, infinirtStream_t) =
        infinirtMemcpyAsync;
    infiniStatus_t (*fill)(void *, int, size_t, infinirtStream_t) = infinirtMemsetAsync;
    infiniStatus_t (*instantiate)(infinirtGraphExec_t *, infinirtGraph_t, infinirtGraphNode_t *,
                                  char *, size_t) = infinirtGraphInstantiate;
    infiniStatus_t (*peer)(void *, infiniDevice_t, int, const void *, infiniDevice_t, int, size_t,
                           infinirtStream_t) = infinirtMemcpyPeerAsync;
    infiniStatus_t (*group)(infinirtStream_t, infinirtGraphTaskGroup_t *) =
        infinirtGraphTaskGroupEnd;
    infiniStatus_t (*update)(infinirtStream_t, infinirtGraphTaskGroup_t) =
        infinirtGraphTaskUpdateBegin;
    (void)info, (void)elapsed, (void)record, (void)copy, (void)fill, (void)instantiate;
    (void)peer, (void)group, (void)update;
}

#endif
