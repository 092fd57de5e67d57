/*
 * The part of the CUDA driver's binary interface that ctxrt uses, declared anew so that neither
 * building nor using ctxrt needs cuda.h. Handle types carry the driver's names and may be declared
 * twice; everything else is prefixed cxu_ or CXU_, so that both headers can be included together.
 * cuda_abi_copy.h and cuda_abi_graph.h declare the parameters of copies and graphs.
 * tests/driver/test_abi.c compares every value, size, offset and signature with cuda.h where that
 * is installed.
 */
#ifndef CX_DRIVER_CUDA_ABI_H
#define CX_DRIVER_CUDA_ABI_H

#include "driver/handle_types.h"

#include <stddef.h>
#include <stdint.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;

typedef enum cxu_result {
#define CX_RESULT(name, value, text) CXU_##name = value,
#include "driver/results.def"
} cxu_result;

typedef enum cxu_device_attribute {
#define CX_ATTRIBUTE(name, value) CXU_ATTRIBUTE_##name = value,
#include "driver/attributes.def"
} cxu_device_attribute;

/* In cuda.h these two take CUresult, an enum of the same size. */
typedef void (*CUhostFn)(void *user_data);
typedef void (*cxu_stream_callback)(CUstream stream, cxu_result status, void *user_data);

typedef size_t (*cxu_shared_of_block)(int block_threads);

typedef enum cxu_output_mode {
    CXU_OUT_KEY_VALUE_PAIR = 0,
    CXU_OUT_CSV = 1
} cxu_output_mode;

typedef struct cxu_uuid {
    char bytes[16];
} cxu_uuid;

typedef struct cxu_ipc_mem_handle {
    char bytes[64];
} cxu_ipc_mem_handle;

typedef struct cxu_ipc_event_handle {
    char bytes[64];
} cxu_ipc_event_handle;

typedef enum cxu_ctx_flags {
    CXU_CTX_SCHED_AUTO = 0x00,
    CXU_CTX_SCHED_SPIN = 0x01,
    CXU_CTX_SCHED_YIELD = 0x02,
    CXU_CTX_SCHED_BLOCKING_SYNC = 0x04,
    CXU_CTX_SCHED_MASK = 0x07,
    CXU_CTX_MAP_HOST = 0x08,
    CXU_CTX_LMEM_RESIZE_TO_MAX = 0x10,
    CXU_CTX_COREDUMP_ENABLE = 0x20,
    CXU_CTX_USER_COREDUMP_ENABLE = 0x40,
    CXU_CTX_SYNC_MEMOPS = 0x80,
    CXU_CTX_FLAGS_MASK = 0xff
} cxu_ctx_flags;

/* CUdevprop, of the first versions. */
typedef struct cxu_device_properties {
    int max_threads_per_block;
    int max_block[3];
    int max_grid[3];
    int shared_bytes_per_block;
    int constant_bytes;
    int warp_size;
    int max_pitch_bytes;
    int registers_per_block;
    int clock_rate_khz;
    int texture_alignment;
} cxu_device_properties;

typedef enum cxu_array_format {
    CXU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    CXU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    CXU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    CXU_AD_FORMAT_SIGNED_INT8 = 0x08,
    CXU_AD_FORMAT_SIGNED_INT16 = 0x09,
    CXU_AD_FORMAT_SIGNED_INT32 = 0x0a,
    CXU_AD_FORMAT_HALF = 0x10,
    CXU_AD_FORMAT_FLOAT = 0x20
} cxu_array_format;

/* Integer additions to maxima of floats; FLOAT_MAX is the last. */
typedef enum cxu_atomic_operation {
    CXU_ATOMIC_OPERATION_INTEGER_ADD = 0,
    CXU_ATOMIC_OPERATION_FLOAT_ADD = 10,
    CXU_ATOMIC_OPERATION_FLOAT_MAX = 12
} cxu_atomic_operation;

enum {
    CXU_ATOMIC_CAPABILITY_SIGNED = 1,
    CXU_ATOMIC_CAPABILITY_UNSIGNED = 2,
    CXU_ATOMIC_CAPABILITY_REDUCTION = 4,
    CXU_ATOMIC_CAPABILITY_SCALAR_32 = 8,
    CXU_ATOMIC_CAPABILITY_SCALAR_64 = 16
};

typedef enum cxu_flush_rdma_target {
    CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX = 0
} cxu_flush_rdma_target;

typedef enum cxu_flush_rdma_scope {
    CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER = 100,
    CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES = 200
} cxu_flush_rdma_scope;

/* Notifications of a device, which it sends when the process is over its memory budget. */
typedef struct cxu_async_notification cxu_async_notification;
typedef void (*cxu_async_callback)(cxu_async_notification *notification, void *user_data,
                                   CUasyncCallbackHandle callback);

/* The driver's log of errors. */
typedef enum cxu_log_level {
    CXU_LOG_LEVEL_ERROR = 0,
    CXU_LOG_LEVEL_WARNING = 1
} cxu_log_level;
typedef unsigned int cxu_log_iterator;
typedef void (*cxu_logs_callback)(void *user_data, cxu_log_level level, char *message,
                                  size_t length);

/* Checkpoints of processes. */
typedef enum cxu_process_state {
    CXU_PROCESS_STATE_RUNNING = 0,
    CXU_PROCESS_STATE_LOCKED = 1
} cxu_process_state;
typedef struct cxu_checkpoint_lock_args cxu_checkpoint_lock_args;
typedef struct cxu_checkpoint_checkpoint_args cxu_checkpoint_checkpoint_args;
typedef struct cxu_checkpoint_restore_args cxu_checkpoint_restore_args;
typedef struct cxu_checkpoint_unlock_args cxu_checkpoint_unlock_args;

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC; only the kind of handle is read. */
typedef struct cxu_external_memory_handle {
    int type; /* 1: a file descriptor, to 9: DMA-BUF */
    int padding;
    uint64_t rest[12];
} cxu_external_memory_handle;

typedef struct cxu_array_map_info cxu_array_map_info;

typedef enum cxu_exec_affinity_type { CXU_EXEC_AFFINITY_TYPE_SM_COUNT = 0 } cxu_exec_affinity_type;

typedef struct cxu_exec_affinity {
    int type; /* cxu_exec_affinity_type */
    union {
        struct {
            unsigned int count;
        } multiprocessors;
    } value;
} cxu_exec_affinity;

typedef struct cxu_ctx_create_params {
    cxu_exec_affinity *affinities;
    int affinity_count;
    void *cig;
} cxu_ctx_create_params;

typedef enum cxu_green_ctx_flags { CXU_GREEN_CTX_DEFAULT_STREAM = 1 } cxu_green_ctx_flags;

typedef enum cxu_dev_sm_split_flags {
    CXU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING = 1,
    CXU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE = 2
} cxu_dev_sm_split_flags;

typedef enum cxu_dev_resource_type {
    CXU_DEV_RESOURCE_TYPE_INVALID = 0,
    CXU_DEV_RESOURCE_TYPE_SM = 1
} cxu_dev_resource_type;

typedef struct cxu_dev_sm_resource {
    unsigned int count;
    unsigned int least;    /* in a group */
    unsigned int multiple; /* that the number in a group is of */
} cxu_dev_sm_resource;

typedef struct cxu_dev_resource {
    cxu_dev_resource_type type;
    unsigned char padding[92]; /* the driver's own */
    union {
        cxu_dev_sm_resource sm;
        unsigned char bytes[48];
    } of;
} cxu_dev_resource;

typedef enum cxu_limit {
    CXU_LIMIT_STACK_SIZE = 0,
    CXU_LIMIT_PRINTF_FIFO_SIZE = 1,
    CXU_LIMIT_MALLOC_HEAP_SIZE = 2,
    CXU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
    CXU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
    CXU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
    CXU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
    CXU_LIMIT_SHMEM_SIZE = 7,
    CXU_LIMIT_CIG_ENABLED = 8,
    CXU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 9,
    CXU_LIMIT_MAX = 10
} cxu_limit;

typedef enum cxu_func_cache {
    CXU_FUNC_CACHE_PREFER_NONE = 0,
    CXU_FUNC_CACHE_PREFER_SHARED = 1,
    CXU_FUNC_CACHE_PREFER_L1 = 2,
    CXU_FUNC_CACHE_PREFER_EQUAL = 3
} cxu_func_cache;

typedef enum cxu_shared_config {
    CXU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
    CXU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
    CXU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2
} cxu_shared_config;

typedef enum cxu_p2p_attribute {
    CXU_P2P_PERFORMANCE_RANK = 1,
    CXU_P2P_ACCESS_SUPPORTED = 2,
    CXU_P2P_NATIVE_ATOMIC_SUPPORTED = 3,
    CXU_P2P_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
    CXU_P2P_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5
} cxu_p2p_attribute;

typedef enum cxu_memory_type {
    CXU_MEMORYTYPE_HOST = 1,
    CXU_MEMORYTYPE_DEVICE = 2,
    CXU_MEMORYTYPE_ARRAY = 3,
    CXU_MEMORYTYPE_UNIFIED = 4
} cxu_memory_type;

typedef enum cxu_pointer_attribute {
    CXU_POINTER_CONTEXT = 1,
    CXU_POINTER_MEMORY_TYPE = 2,
    CXU_POINTER_DEVICE_POINTER = 3,
    CXU_POINTER_HOST_POINTER = 4,
    CXU_POINTER_P2P_TOKENS = 5,
    CXU_POINTER_SYNC_MEMOPS = 6,
    CXU_POINTER_BUFFER_ID = 7,
    CXU_POINTER_IS_MANAGED = 8,
    CXU_POINTER_DEVICE_ORDINAL = 9,
    CXU_POINTER_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
    CXU_POINTER_RANGE_START_ADDR = 11,
    CXU_POINTER_RANGE_SIZE = 12,
    CXU_POINTER_MAPPED = 13,
    CXU_POINTER_ALLOWED_HANDLE_TYPES = 14,
    CXU_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    CXU_POINTER_ACCESS_FLAGS = 16,
    CXU_POINTER_MEMPOOL_HANDLE = 17,
    CXU_POINTER_MAPPING_SIZE = 18,
    CXU_POINTER_MAPPING_BASE_ADDR = 19,
    CXU_POINTER_MEMORY_BLOCK_ID = 20
} cxu_pointer_attribute;

/* Virtual memory. */

typedef enum cxu_mem_handle_type {
    CXU_MEM_HANDLE_TYPE_NONE = 0,
    CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CXU_MEM_HANDLE_TYPE_WIN32 = 2,
    CXU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
    CXU_MEM_HANDLE_TYPE_FABRIC = 8
} cxu_mem_handle_type;

typedef enum cxu_mem_allocation_type {
    CXU_MEM_ALLOCATION_TYPE_INVALID = 0,
    CXU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CXU_MEM_ALLOCATION_TYPE_MANAGED = 2
} cxu_mem_allocation_type;

typedef enum cxu_mem_location_type {
    CXU_MEM_LOCATION_TYPE_INVALID = 0,
    CXU_MEM_LOCATION_TYPE_DEVICE = 1,
    CXU_MEM_LOCATION_TYPE_HOST = 2,
    CXU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
    CXU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4
} cxu_mem_location_type;

typedef enum cxu_mem_access_flags {
    CXU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
    CXU_MEM_ACCESS_FLAGS_PROT_READ = 1,
    CXU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
} cxu_mem_access_flags;

typedef enum cxu_mem_granularity {
    CXU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CXU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} cxu_mem_granularity;

enum { CXU_MEM_ALLOCATION_COMP_NONE = 0, CXU_MEM_ALLOCATION_COMP_GENERIC = 1 };
enum { CXU_MEM_CREATE_USAGE_TILE_POOL = 1 };

typedef struct cxu_mem_location {
    cxu_mem_location_type type;
    int id;
} cxu_mem_location;

typedef struct cxu_mem_properties {
    cxu_mem_allocation_type type;
    cxu_mem_handle_type handle_types; /* a combination of them */
    cxu_mem_location location;
    void *win32_attributes;
    struct {
        unsigned char compression;
        unsigned char gpu_direct_rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} cxu_mem_properties;

typedef struct cxu_mem_access {
    cxu_mem_location location;
    cxu_mem_access_flags flags;
} cxu_mem_access;

typedef enum cxu_mem_pool_attribute {
    CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    CXU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
    CXU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
    CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
    CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
    CXU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
    CXU_MEMPOOL_ATTR_USED_MEM_HIGH = 8
} cxu_mem_pool_attribute;

/* The last two were reserved once; their value 0 means the old behaviour. */
typedef struct cxu_mem_pool_properties {
    cxu_mem_allocation_type type;
    cxu_mem_handle_type handle_types;
    cxu_mem_location location;
    void *win32_attributes;
    size_t max_bytes; /* 0: no limit */
    unsigned short usage;
    unsigned char reserved[54];
} cxu_mem_pool_properties;

/* Memory of a pool, told to another process. */
typedef struct cxu_mem_pool_pointer {
    unsigned char bytes[64];
} cxu_mem_pool_pointer;

typedef enum cxu_mem_advise {
    CXU_MEM_ADVISE_SET_READ_MOSTLY = 1,
    CXU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
    CXU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
    CXU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
    CXU_MEM_ADVISE_SET_ACCESSED_BY = 5,
    CXU_MEM_ADVISE_UNSET_ACCESSED_BY = 6
} cxu_mem_advise;

typedef enum cxu_mem_range_attribute {
    CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    CXU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
    CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
    CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5,
    CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
    CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
    CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} cxu_mem_range_attribute;

enum { CXU_STREAM_DEFAULT = 0, CXU_STREAM_NON_BLOCKING = 1 };
enum {
    CXU_EVENT_DEFAULT = 0,
    CXU_EVENT_BLOCKING_SYNC = 1,
    CXU_EVENT_DISABLE_TIMING = 2,
    CXU_EVENT_INTERPROCESS = 4
};
enum { CXU_EVENT_RECORD_DEFAULT = 0, CXU_EVENT_RECORD_EXTERNAL = 1 };
enum { CXU_EVENT_WAIT_DEFAULT = 0, CXU_EVENT_WAIT_EXTERNAL = 1 };
enum {
    CXU_MEMHOSTALLOC_PORTABLE = 1,
    CXU_MEMHOSTALLOC_DEVICEMAP = 2,
    CXU_MEMHOSTALLOC_WRITECOMBINED = 4
};
enum {
    CXU_MEMHOSTREGISTER_PORTABLE = 1,
    CXU_MEMHOSTREGISTER_DEVICEMAP = 2,
    CXU_MEMHOSTREGISTER_IOMEMORY = 4,
    CXU_MEMHOSTREGISTER_READ_ONLY = 8
};
enum { CXU_MEM_ATTACH_GLOBAL = 1, CXU_MEM_ATTACH_HOST = 2, CXU_MEM_ATTACH_SINGLE = 4 };
enum {
    CXU_COMPUTEMODE_DEFAULT = 0,
    CXU_COMPUTEMODE_PROHIBITED = 2,
    CXU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3
};
enum {
    CXU_GET_PROC_ADDRESS_DEFAULT = 0,
    CXU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
    CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2
};

#define CXU_STREAM_LEGACY ((CUstream)0x1)
#define CXU_STREAM_PER_THREAD ((CUstream)0x2)

typedef enum cxu_jit_input_type {
    CXU_JIT_INPUT_CUBIN = 0,
    CXU_JIT_INPUT_PTX = 1,
    CXU_JIT_INPUT_FATBINARY = 2,
    CXU_JIT_INPUT_OBJECT = 3,
    CXU_JIT_INPUT_LIBRARY = 4
} cxu_jit_input_type;

/* Code. Written to: the number of threads, the wall time, the logs and their sizes. */
typedef enum cxu_jit_option {
    CXU_JIT_MAX_REGISTERS = 0,
    CXU_JIT_THREADS_PER_BLOCK = 1,
    CXU_JIT_WALL_TIME = 2,
    CXU_JIT_INFO_LOG_BUFFER = 3,
    CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CXU_JIT_ERROR_LOG_BUFFER = 5,
    CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CXU_JIT_TARGET = 9,
    CXU_JIT_LOG_VERBOSE = 12,
    CXU_JIT_GLOBAL_SYMBOL_COUNT = 19,
    CXU_JIT_MIN_CTA_PER_SM = 31,
    CXU_JIT_MAX_THREADS_PER_BLOCK = 32
} cxu_jit_option;

typedef enum cxu_func_attribute {
    CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CXU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CXU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CXU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CXU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CXU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CXU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CXU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
    CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CXU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CXU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
    CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
    CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
    CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
    CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
    CXU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15
} cxu_func_attribute;

enum {
    CXU_LAUNCH_PARAM_END = 0,
    CXU_LAUNCH_PARAM_BUFFER_POINTER = 1,
    CXU_LAUNCH_PARAM_BUFFER_SIZE = 2
};

typedef enum cxu_launch_attribute_id {
    CXU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
    CXU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
    CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CXU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
    CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    CXU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
    CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
    CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
    CXU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
    CXU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
    CXU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
    CXU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
    CXU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16
} cxu_launch_attribute_id;

enum {
    CXU_CLUSTER_SCHEDULING_POLICY_DEFAULT = 0,
    CXU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,
    CXU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING = 2
};

enum { CXU_SHAREDMEM_CARVEOUT_DEFAULT = -1 };

enum {
    CXU_SYNC_POLICY_AUTO = 1,
    CXU_SYNC_POLICY_SPIN = 2,
    CXU_SYNC_POLICY_YIELD = 3,
    CXU_SYNC_POLICY_BLOCKING_SYNC = 4
};

typedef struct cxu_access_policy_window {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit_property;
    int miss_property;
} cxu_access_policy_window;

typedef union cxu_launch_attribute_value {
    char bytes[64];
    int number;
    unsigned int cluster[3];
    cxu_access_policy_window window;
    struct {
        CUevent event;
        int flags;
        int at_block_start; /* of a programmatic event alone */
    } record;
    struct {
        int updatable;
        void *node; /* CUgraphDeviceNode */
    } device_node;
} cxu_launch_attribute_value;

typedef struct cxu_launch_attribute {
    cxu_launch_attribute_id id;
    char padding[4];
    cxu_launch_attribute_value value;
} cxu_launch_attribute;

typedef struct cxu_launch_config {
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    CUstream stream;
    cxu_launch_attribute *attributes;
    unsigned int attribute_count;
} cxu_launch_config;

/* CUDA_LAUNCH_PARAMS: one launch of a cooperative launch on several devices. */
typedef struct cxu_launch_params {
    CUfunction function;
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    CUstream stream;
    void **parameters;
} cxu_launch_params;

typedef enum cxu_module_loading_mode {
    CXU_MODULE_EAGER_LOADING = 1,
    CXU_MODULE_LAZY_LOADING = 2
} cxu_module_loading_mode;

typedef enum cxu_function_loading_state {
    CXU_FUNCTION_LOADING_STATE_UNLOADED = 0,
    CXU_FUNCTION_LOADING_STATE_LOADED = 1
} cxu_function_loading_state;

typedef enum cxu_library_option {
    CXU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0
} cxu_library_option;

/* Values in memory that streams write and wait for. */

typedef enum cxu_stream_mem_op_type {
    CXU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    CXU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    CXU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    CXU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    CXU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    CXU_STREAM_MEM_OP_BARRIER = 6
} cxu_stream_mem_op_type;

enum {
    CXU_STREAM_WAIT_VALUE_GEQ = 0,
    CXU_STREAM_WAIT_VALUE_EQ = 1,
    CXU_STREAM_WAIT_VALUE_AND = 2,
    CXU_STREAM_WAIT_VALUE_NOR = 3,
    CXU_STREAM_WAIT_VALUE_FLUSH = 1 << 30
};
enum { CXU_STREAM_WRITE_VALUE_DEFAULT = 0, CXU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 1 };

/* CUstreamBatchMemOpParams: `order_flags` are of FLUSH_REMOTE_WRITES and BARRIER, the rest of the
 * others. */
typedef struct cxu_stream_mem_op {
    cxu_stream_mem_op_type type;
    unsigned int order_flags;
    CUdeviceptr address;
    union {
        uint32_t narrow;
        uint64_t wide;
    } value;
    unsigned int flags;
    CUdeviceptr alias;
    uint64_t padding;
} cxu_stream_mem_op;

typedef struct cxu_batch_mem_op_node_params {
    CUcontext context;
    unsigned int count;
    cxu_stream_mem_op *operations;
    unsigned int flags;
} cxu_batch_mem_op_node_params;

#endif
