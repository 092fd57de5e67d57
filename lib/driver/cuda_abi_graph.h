/* The binary interface of cuda_abi.h, continued: capture, graphs and user objects. */
#ifndef CX_DRIVER_CUDA_ABI_GRAPH_H
#define CX_DRIVER_CUDA_ABI_GRAPH_H

#include "driver/cuda_abi_array.h"
#include "driver/cuda_abi_copy.h"
#include "driver/cuda_abi_texture.h"

enum { CXU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1 };
enum { CXU_GRAPH_USER_OBJECT_MOVE = 1 };

typedef enum cxu_stream_capture_status {
    CXU_STREAM_CAPTURE_STATUS_NONE = 0,
    CXU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    CXU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
} cxu_stream_capture_status;

typedef enum cxu_stream_capture_mode {
    CXU_STREAM_CAPTURE_MODE_GLOBAL = 0,
    CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    CXU_STREAM_CAPTURE_MODE_RELAXED = 2
} cxu_stream_capture_mode;

enum { CXU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0, CXU_STREAM_SET_CAPTURE_DEPENDENCIES = 1 };

typedef enum cxu_graph_node_type {
    CXU_GRAPH_NODE_TYPE_KERNEL = 0,
    CXU_GRAPH_NODE_TYPE_MEMCPY = 1,
    CXU_GRAPH_NODE_TYPE_MEMSET = 2,
    CXU_GRAPH_NODE_TYPE_HOST = 3,
    CXU_GRAPH_NODE_TYPE_GRAPH = 4,
    CXU_GRAPH_NODE_TYPE_EMPTY = 5,
    CXU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
    CXU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
    CXU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
    CXU_GRAPH_NODE_TYPE_MEM_FREE = 11,
    CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
    CXU_GRAPH_NODE_TYPE_CONDITIONAL = 13
} cxu_graph_node_type;

/* All zero: the first node is done, with its memory, before the other begins. */
typedef struct cxu_graph_edge_data {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5];
} cxu_graph_edge_data;

/* CUDA_MEMSET_NODE_PARAMS: the first form, without a context. */
typedef struct cxu_memset_node_params {
    CUdeviceptr destination;
    size_t pitch_bytes;
    unsigned int value;
    unsigned int element_bytes;
    size_t width;
    size_t height;
} cxu_memset_node_params;

typedef struct cxu_kernel_node_params_v1 {
    CUfunction function;
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    void **parameters;
    void **extra;
} cxu_kernel_node_params_v1;

/* If `function` is NULL: the kernel, in the context. */
typedef struct cxu_kernel_node_params {
    CUfunction function;
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    void **parameters;
    void **extra;
    CUkernel kernel;
    CUcontext context;
} cxu_kernel_node_params;

typedef struct cxu_host_node_params {
    CUhostFn function;
    void *user_data;
} cxu_host_node_params;

/* The address is written. */
typedef struct cxu_mem_alloc_node_params {
    cxu_mem_pool_properties pool;
    const cxu_mem_access *accesses;
    size_t access_count;
    size_t bytes;
    CUdeviceptr address;
} cxu_mem_alloc_node_params;

typedef enum cxu_graph_mem_attribute {
    CXU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0,
    CXU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,
    CXU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2,
    CXU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3
} cxu_graph_mem_attribute;

enum { CXU_GRAPH_COND_ASSIGN_DEFAULT = 1 };

typedef enum cxu_graph_conditional_type {
    CXU_GRAPH_COND_TYPE_IF = 0,
    CXU_GRAPH_COND_TYPE_WHILE = 1,
    CXU_GRAPH_COND_TYPE_SWITCH = 2
} cxu_graph_conditional_type;

/* The array of bodies is written: the driver's, of `size` graphs. */
typedef struct cxu_conditional_node_params {
    uint64_t handle;
    cxu_graph_conditional_type type;
    unsigned int size;
    CUgraph *bodies;
    CUcontext context;
} cxu_conditional_node_params;

enum { CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1 };

/* CUgraphNodeParams: the type selects the part that is read; all else is zero. */
typedef struct cxu_graph_node_params {
    cxu_graph_node_type type;
    int reserved[3];
    union {
        long long words[29];
        struct {
            int flags;
            int reserved;
            CUcontext context;
            cxu_memcpy_3d params;
        } copy;
        struct {
            cxu_memset_node_params params;
            CUcontext context;
        } fill;
        cxu_host_node_params host;
        cxu_kernel_node_params kernel;
        struct {
            CUgraph graph;
            int ownership;
        } child;
        CUevent event; /* of both event nodes */
        cxu_mem_alloc_node_params alloc;
        CUdeviceptr freed;
        cxu_conditional_node_params condition;
    } of;
    long long reserved_tail;
} cxu_graph_node_params;

enum {
    CXU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
    CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
    CXU_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
    CXU_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8
};

typedef enum cxu_graph_instantiate_result {
    CXU_GRAPH_INSTANTIATE_SUCCESS = 0,
    CXU_GRAPH_INSTANTIATE_ERROR = 1,
    CXU_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2,
    CXU_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3,
    CXU_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4,
    CXU_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5
} cxu_graph_instantiate_result;

typedef struct cxu_graph_instantiate_params {
    uint64_t flags;
    CUstream upload_stream;
    CUgraphNode out_error_node;
    cxu_graph_instantiate_result out_result;
} cxu_graph_instantiate_params;

typedef enum cxu_graph_exec_update_result {
    CXU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
    CXU_GRAPH_EXEC_UPDATE_ERROR = 1,
    CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
    CXU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
    CXU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
    CXU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
    CXU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,
    CXU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 7,
    CXU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED = 8
} cxu_graph_exec_update_result;

typedef struct cxu_graph_exec_update_result_info {
    cxu_graph_exec_update_result result;
    CUgraphNode error_node;
    CUgraphNode error_from_node;
} cxu_graph_exec_update_result_info;

enum {
    CXU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE = 1,
    CXU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS = 4,
    CXU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS = 8,
    CXU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS = 16,
    CXU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS = 32,
    CXU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS = 64,
    CXU_GRAPH_DEBUG_DOT_FLAGS_HANDLES = 1024
};

#endif
