/**
 * The InfiniRT C interface, served by ctxrt (link with -linfinirt; pkg-config infinirt).
 *
 * A thread starts at CPU 0, and every function that names no device works on the calling thread's
 * device. The type NVIDIA is ctxrt's type CUDA; types without a driver have 0 devices.
 *
 * Where a function takes a stream, NULL is the legacy default stream of the calling thread's
 * device. A stream, event or graph knows its own device: it may be used and destroyed with any
 * device set on the calling thread. A stream of an NVIDIA device is the driver's own handle, so
 * that kernels and libraries can be given it; all other handles are opaque.
 *
 * Sizes are in bytes. Every function may be called from any thread. On failure nothing has changed
 * and no out-parameter has been written, unless the function says what; ctxrt_last_error() of
 * <ctxrt/status.h> says what was wrong. Besides the errors named at each function, every function
 * except those of devices may return:
 *   INFINI_STATUS_NULL_POINTER            a pointer or handle that must not be NULL is NULL
 *   INFINI_STATUS_BAD_PARAM               a handle that was destroyed or is of another kind; an
 *                                         unknown value
 *   INFINI_STATUS_NOT_IMPLEMENTED         the device's driver has no such call
 *   INFINI_STATUS_DEVICE_NOT_INITIALIZED  the process is ending, or was forked after the first call
 *   INFINI_STATUS_INTERNAL_ERROR          out of memory; the driver failed, maybe in earlier work
 * docs/infinirt.md has the table of every function, its bad arguments and its results.
 */
#ifndef __INFINIRT_API_H__
#define __INFINIRT_API_H__

#include "infinicore.h"
#include <stdint.h>

typedef void *infinirtStream_t;
typedef void *infinirtEvent_t;
typedef void *infinirtGraph_t;
typedef void *infinirtGraphNode_t;
typedef void *infinirtGraphExec_t;
typedef void *infinirtGraphTaskGroup_t;

/** Starts the runtime. Not needed: any other call does. */
__INFINI_C __export infiniStatus_t infinirtInit(void);

/* ---- devices ---- */

/** Counts the devices of all types: writes INFINI_DEVICE_TYPE_COUNT numbers, indexed by type. */
__INFINI_C __export infiniStatus_t infinirtGetAllDeviceCount(int *count_array);

/**
 * Counts the devices of a type; 0 is no error. DEVICE_TYPE_NOT_SUPPORTED: no such type.
 */
__INFINI_C __export infiniStatus_t infinirtGetDeviceCount(infiniDevice_t device, int *count);

/**
 * Makes a device the calling thread's; other threads keep theirs. On failure the device is what it
 * was. DEVICE_TYPE_NOT_SUPPORTED: no such type, or it has no devices. DEVICE_NOT_FOUND: the type
 * has no device of that index.
 */
__INFINI_C __export infiniStatus_t infinirtSetDevice(infiniDevice_t device, int device_id);

/** The calling thread's device. Either pointer may be NULL, not both. */
__INFINI_C __export infiniStatus_t infinirtGetDevice(
    infiniDevice_t *device_ptr, int *device_id_ptr);

/**
 * Free and total memory of any device; the calling thread's stays what it was. Errors as
 * infinirtSetDevice.
 */
__INFINI_C __export infiniStatus_t infinirtGetMemInfo(
    infiniDevice_t device, int device_id, size_t *free_bytes, size_t *total_bytes);

/** Fields of a snapshot: bits of valid_fields and estimated_fields. */
typedef enum {
    INFINIRT_RESOURCE_FIELD_NONE = 0,
    INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY = 1, /**< the four sizes from free_bytes on */
    INFINIRT_RESOURCE_FIELD_COMPUTE_UTILIZATION = 2,
    INFINIRT_RESOURCE_FIELD_MEMORY_BANDWIDTH_UTILIZATION = 4,
    INFINIRT_RESOURCE_FIELD_KERNEL_TIME_RATIO = 8,
    INFINIRT_RESOURCE_FIELD_COMMUNICATION = 16 /**< communication_time_ratio, communication_bytes */
} infinirtResourceField_t;

/**
 * Resources of a device at one moment. A field without its bit in valid_fields is 0 and means
 * nothing.
 */
typedef struct {
    infiniDevice_t device_type;
    int device_id;
    uint64_t valid_fields;     /**< INFINIRT_RESOURCE_FIELD_*: the fields that are set */
    uint64_t estimated_fields; /**< those of them that were not measured */
    size_t free_bytes;
    size_t total_bytes;
    size_t used_bytes;     /**< by any process: total - free */
    size_t reserved_bytes; /**< the part that infinirtMalloc holds: handed out, and free but kept */
    float compute_utilization;
    float memory_bandwidth_utilization;
    float kernel_time_ratio;
    float communication_time_ratio;
    uint64_t communication_bytes;
} infinirtDeviceResourceSnapshot_t;

/** Fills in the memory fields, for any device; no others are known. Errors as infinirtSetDevice. */
__INFINI_C __export infiniStatus_t infinirtGetDeviceResourceSnapshot(
    infiniDevice_t device, int device_id, infinirtDeviceResourceSnapshot_t *snapshot);

/** Waits for all work of the calling thread's device. */
__INFINI_C __export infiniStatus_t infinirtDeviceSynchronize(void);

/* ---- streams ---- */

/**
 * Creates a stream of the calling thread's device, ordered with its legacy stream. The caller owns
 * it.
 */
__INFINI_C __export infiniStatus_t infinirtStreamCreate(infinirtStream_t *stream_ptr);

/**
 * Destroys a stream; its work goes on to its end. NULL is an error: the legacy stream stays.
 */
__INFINI_C __export infiniStatus_t infinirtStreamDestroy(infinirtStream_t stream);

/** Waits until all work submitted to the stream so far is done. */
__INFINI_C __export infiniStatus_t infinirtStreamSynchronize(infinirtStream_t stream);

/**
 * Lets work submitted to the stream from now on wait for the work that the event last recorded, on
 * any device.
 */
__INFINI_C __export infiniStatus_t infinirtStreamWaitEvent(
    infinirtStream_t stream, infinirtEvent_t event);

/* ---- events ---- */

typedef enum {
    INFINIRT_EVENT_COMPLETE = 0,
    INFINIRT_EVENT_NOT_READY = 1
} infinirtEventStatus_t;

typedef enum {
    INFINIRT_EVENT_DEFAULT = 0,
    INFINIRT_EVENT_DISABLE_TIMING = 1, /**< cheaper; has no time */
    INFINIRT_EVENT_BLOCKING_SYNC = 2   /**< a thread that waits for it sleeps instead of spinning */
} infinirtEventFlags_t;

/** Creates an event of the calling thread's device. The caller owns it. */
__INFINI_C __export infiniStatus_t infinirtEventCreate(infinirtEvent_t *event_ptr);

/** The same with INFINIRT_EVENT_* flags. BAD_PARAM: no such flags. */
__INFINI_C __export infiniStatus_t infinirtEventCreateWithFlags(
    infinirtEvent_t *event_ptr, uint32_t flags);

/**
 * Records the event behind the work submitted to a stream of the same device so far. BAD_PARAM: the
 * stream is of another device.
 */
__INFINI_C __export infiniStatus_t infinirtEventRecord(
    infinirtEvent_t event, infinirtStream_t stream);

/** Tells whether the work that the event last recorded is done; COMPLETE if it never recorded. */
__INFINI_C __export infiniStatus_t infinirtEventQuery(
    infinirtEvent_t event, infinirtEventStatus_t *status_ptr);

/** Waits until the work that the event last recorded is done. */
__INFINI_C __export infiniStatus_t infinirtEventSynchronize(infinirtEvent_t event);

/** Destroys an event; work that waits for it goes on waiting. */
__INFINI_C __export infiniStatus_t infinirtEventDestroy(infinirtEvent_t event);

/**
 * Milliseconds from one event to the other. INTERNAL_ERROR: one is not done yet. BAD_PARAM: one was
 * never recorded or has no timing, or they are of different devices.
 */
__INFINI_C __export infiniStatus_t infinirtEventElapsedTime(
    float *ms_ptr, infinirtEvent_t start, infinirtEvent_t end);

/* ---- memory ---- */

/**
 * Allocates memory of the calling thread's device; the host may touch memory of a CPU. A size of 0
 * gives NULL. BAD_PARAM: a size that no memory has (more than PTRDIFF_MAX). INTERNAL_ERROR: the
 * device has not that much left.
 */
__INFINI_C __export infiniStatus_t infinirtMalloc(void **p_ptr, size_t size);

/**
 * Allocates host memory that the devices reach directly, for infinirtFreeHost. Otherwise as
 * infinirtMalloc.
 */
__INFINI_C __export infiniStatus_t infinirtMallocHost(void **p_ptr, size_t size);

/**
 * Frees memory of infinirtMalloc or infinirtMallocAsync, with any device set on the calling thread;
 * waits for work of the memory's device. NULL is harmless. BAD_PARAM: not such memory, or freed
 * before. On a CPU it frees memory of infinirtMallocHost as well.
 */
__INFINI_C __export infiniStatus_t infinirtFree(void *ptr);

/**
 * Frees memory of infinirtMallocHost. NULL is harmless. BAD_PARAM: not such memory, or freed
 * before. On a CPU it frees memory of infinirtMalloc as well.
 */
__INFINI_C __export infiniStatus_t infinirtFreeHost(void *ptr);

typedef enum {
    INFINIRT_MEMCPY_H2H = 0,
    INFINIRT_MEMCPY_H2D = 1,
    INFINIRT_MEMCPY_D2H = 2,
    INFINIRT_MEMCPY_D2D = 3
} infinirtMemcpyKind_t;

/**
 * Copies, in the order of the legacy stream, and waits until it is done. The memory may be of any
 * devices, with any device set on the calling thread. "Host" is memory that the host may touch,
 * that of a CPU included; "device" is memory of a device, pinned memory, and, where the calling
 * thread's device is a CPU, any host memory. A size of 0 does nothing. BAD_PARAM: no such kind; the
 * kind contradicts what the addresses are; a size that does not fit the memory.
 */
__INFINI_C __export infiniStatus_t infinirtMemcpy(
    void *dst, const void *src, size_t size, infinirtMemcpyKind_t kind);

/**
 * The same in the order of a stream, without waiting if both ends are device or pinned memory. In a
 * stream of a CPU the copy is done on return, unless the stream captures.
 */
__INFINI_C __export infiniStatus_t infinirtMemcpyAsync(
    void *dst, const void *src, size_t size, infinirtMemcpyKind_t kind, infinirtStream_t stream);

/**
 * Copies between two devices, which may be one or of two types, in the order of a stream of either,
 * without waiting. Peer access makes it faster, but is not needed. In a stream of a CPU the copy is
 * done on return. A size of 0 does nothing. DEVICE_TYPE_NOT_SUPPORTED: no such type, or it has no
 * devices. DEVICE_NOT_FOUND: the type has no device of that index. BAD_PARAM: an address is not
 * memory of the device named for it; the stream is of a third device; a size that does not fit the
 * memory.
 */
__INFINI_C __export infiniStatus_t infinirtMemcpyPeerAsync(
    void *dst, infiniDevice_t dst_device, int dst_device_id, const void *src,
    infiniDevice_t src_device, int src_device_id, size_t size, infinirtStream_t stream);

/**
 * Allocates memory of the stream's device, for work submitted to the stream afterwards. Otherwise
 * as infinirtMalloc.
 */
__INFINI_C __export infiniStatus_t infinirtMallocAsync(
    void **p_ptr, size_t size, infinirtStream_t stream);

/**
 * Frees memory of infinirtMallocAsync, behind the stream's work so far. NULL is harmless. Otherwise
 * as infinirtFree.
 */
__INFINI_C __export infiniStatus_t infinirtFreeAsync(void *ptr, infinirtStream_t stream);

/**
 * Sets every byte to the low byte of `value`, in the order of the legacy stream, and waits. Errors
 * as infinirtMemcpy.
 */
__INFINI_C __export infiniStatus_t infinirtMemset(void *ptr, int value, size_t count);

/**
 * The same in the order of a stream, without waiting if the memory is a device's or pinned. In a
 * stream of a CPU the fill is done on return, unless the stream captures.
 */
__INFINI_C __export infiniStatus_t infinirtMemsetAsync(
    void *ptr, int value, size_t count, infinirtStream_t stream);

/* ---- graphs ---- */

/** The calls that a capture forbids, among those that are not captured (allocating, waiting, copies
 * that wait). */
typedef enum {
    INFINIRT_STREAM_CAPTURE_MODE_GLOBAL = 0,       /**< calls of any thread */
    INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, /**< calls of the capturing thread */
    INFINIRT_STREAM_CAPTURE_MODE_RELAXED = 2       /**< none */
} infinirtStreamCaptureMode_t;

/**
 * Begins a capture: work submitted to the stream from now on is recorded and does not run.
 * NULL_POINTER: NULL, the legacy stream. BAD_PARAM: no such mode. INTERNAL_ERROR: the stream
 * captures already.
 */
__INFINI_C __export infiniStatus_t infinirtStreamBeginCapture(
    infinirtStream_t stream, infinirtStreamCaptureMode_t mode);

/**
 * Ends a capture and makes a graph of it. The caller owns it. INTERNAL_ERROR: the stream does not
 * capture; or something went wrong in the capture, which is over then.
 */
__INFINI_C __export infiniStatus_t infinirtStreamEndCapture(
    infinirtStream_t stream, infinirtGraph_t *graph_ptr);

/** Destroys a graph. Executable graphs made from it stay. */
__INFINI_C __export infiniStatus_t infinirtGraphDestroy(infinirtGraph_t graph);

/**
 * Makes an executable graph, which the caller owns. On failure `log_buffer`, unless it is NULL,
 * gets a message, cut to `buffer_size` bytes with its NUL, and `*node_ptr`, unless that is NULL,
 * becomes NULL: no node is named.
 */
__INFINI_C __export infiniStatus_t infinirtGraphInstantiate(
    infinirtGraphExec_t *graph_exec_ptr, infinirtGraph_t graph, infinirtGraphNode_t *node_ptr, char
    *log_buffer, size_t buffer_size);

/** Destroys an executable graph; launches of it go on to their end. */
__INFINI_C __export infiniStatus_t infinirtGraphExecDestroy(infinirtGraphExec_t graph_exec);

/**
 * Launches an executable graph in a stream of its device, or of another device of its driver; the
 * graph's own device does the work. (The name is spelled so.)
 */
__INFINI_C __export infiniStatus_t infinirtGraphLuanch(
    infinirtGraphExec_t graph_exec, infinirtStream_t stream);

/**
 * Mark captured work as a group, and update the arguments of a group later. Only devices of the
 * type ASCEND have that, for which ctxrt has no driver: these four return DEVICE_TYPE_NOT_SUPPORTED
 * whatever the arguments, and change nothing; a capture goes on.
 */
__INFINI_C __export infiniStatus_t infinirtGraphTaskGroupBegin(infinirtStream_t stream);
__INFINI_C __export infiniStatus_t infinirtGraphTaskGroupEnd(
    infinirtStream_t stream, infinirtGraphTaskGroup_t *group_ptr);
__INFINI_C __export infiniStatus_t infinirtGraphTaskUpdateBegin(
    infinirtStream_t stream, infinirtGraphTaskGroup_t group);
__INFINI_C __export infiniStatus_t infinirtGraphTaskUpdateEnd(infinirtStream_t stream);

#endif
