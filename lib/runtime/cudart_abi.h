/*
 * The part of the CUDA Runtime API's binary interface that is not the driver's: declared anew, as
 * driver/cuda_abi.h is, with names prefixed cxr_ and CXR_. Handles, and the values of most
 * enumerations, are those of the driver; cudaError_t has the driver's values, and some of its own.
 * tests/runtime_library/test_abi.c compares every value, size, offset and signature with
 * cuda_runtime_api.h where that is installed.
 */
#ifndef CX_RUNTIME_CUDART_ABI_H
#define CX_RUNTIME_CUDART_ABI_H

#include "driver/cuda_abi_graph.h"

typedef enum cxr_error {
#define CX_ERROR(name, spelling, value, text) CXR_##name = value,
#include "driver/runtime_errors.def"
} cxr_error;

typedef enum cxr_copy_kind {
    CXR_HOST_TO_HOST = 0,
    CXR_HOST_TO_DEVICE = 1,
    CXR_DEVICE_TO_HOST = 2,
    CXR_DEVICE_TO_DEVICE = 3,
    CXR_COPY_DEFAULT = 4
} cxr_copy_kind;

typedef enum cxr_memory_type {
    CXR_MEMORY_UNREGISTERED = 0,
    CXR_MEMORY_HOST = 1,
    CXR_MEMORY_DEVICE = 2,
    CXR_MEMORY_MANAGED = 3
} cxr_memory_type;

enum {
    CXR_DEVICE_SCHEDULE_MASK = 0x07,
    CXR_DEVICE_MAP_HOST = 0x08,
    CXR_DEVICE_LOCAL_RESIZE_TO_MAX = 0x10,
    CXR_DEVICE_SYNC_MEMOPS = 0x80,
    CXR_DEVICE_MASK = 0xff
};
enum { CXR_INIT_DEVICE_FLAGS_ARE_VALID = 1 };
enum { CXR_FUNC_MAX_DYNAMIC_SHARED = 8, CXR_FUNC_SHARED_CARVEOUT = 9 };
enum { CXR_CPU_DEVICE = -1 };

typedef struct cxr_dim3 {
    unsigned int x, y, z;
} cxr_dim3;

typedef struct cxr_extent {
    size_t width, height, depth;
} cxr_extent;

typedef struct cxr_position {
    size_t x, y, z;
} cxr_position;

/* Sizes in bytes, but for the height, which is in rows. */
typedef struct cxr_pitched_pointer {
    void *pointer;
    size_t pitch_bytes;
    size_t width_bytes;
    size_t height;
} cxr_pitched_pointer;

typedef struct cxr_channel_format {
    int x, y, z, w; /* bits of each */
    int kind;
} cxr_channel_format;

/* cudaResourceDesc as far as all versions have it. */
typedef struct cxr_resource_descriptor {
    cxu_resource_type type;
    union {
        CUarray array;
        CUmipmappedArray mipmapped;
        struct {
            void *pointer;
            cxr_channel_format channels;
            size_t bytes;
        } linear;
        struct {
            void *pointer;
            cxr_channel_format channels;
            size_t width, height;
            size_t pitch_bytes;
        } pitch_2d;
    } of;
} cxr_resource_descriptor;

typedef struct cxr_texture_descriptor {
    cxu_address_mode address_mode[3];
    cxu_filter_mode filter_mode;
    int read_mode;
    int srgb;
    float border_color[4];
    int normalized;
    unsigned int max_anisotropy;
    cxu_filter_mode mipmap_filter_mode;
    float mipmap_level_bias;
    float min_mipmap_level_clamp;
    float max_mipmap_level_clamp;
    int no_trilinear_optimization;
    int seamless_cubemap; /* not in CUDA 11's first one */
} cxr_texture_descriptor;

/* textureReference, the host's variable; CUDA 11 is the last that has it. */
typedef struct cxr_texture_reference {
    int normalized;
    cxu_filter_mode filter_mode;
    cxu_address_mode address_mode[3];
    cxr_channel_format channels;
    int srgb;
    unsigned int max_anisotropy;
    cxu_filter_mode mipmap_filter_mode;
    float mipmap_level_bias;
    float min_mipmap_level_clamp;
    float max_mipmap_level_clamp;
    int no_trilinear_optimization;
    int reserved[14];
} cxr_texture_reference;

/* surfaceReference, the same. */
typedef struct cxr_surface_reference {
    cxr_channel_format channels;
} cxr_surface_reference;

/* cudaResourceViewDesc as far as all versions have it: the driver's begins so. */
typedef struct cxr_resource_view_descriptor {
    cxu_resource_view_format format;
    size_t width;
    size_t height;
    size_t depth;
    unsigned int first_mipmap_level;
    unsigned int last_mipmap_level;
    unsigned int first_layer;
    unsigned int last_layer;
} cxr_resource_view_descriptor;

typedef struct cxr_copy_3d {
    CUarray source_array;
    cxr_position source_position;
    cxr_pitched_pointer source;
    CUarray destination_array;
    cxr_position destination_position;
    cxr_pitched_pointer destination;
    cxr_extent extent;
    cxr_copy_kind kind;
} cxr_copy_3d;

typedef struct cxr_copy_3d_peer {
    CUarray source_array;
    cxr_position source_position;
    cxr_pitched_pointer source;
    int source_device;
    CUarray destination_array;
    cxr_position destination_position;
    cxr_pitched_pointer destination;
    int destination_device;
    cxr_extent extent;
} cxr_copy_3d_peer;

typedef struct cxr_pointer_attributes {
    cxr_memory_type type;
    int device;
    void *device_pointer;
    void *host_pointer;
    long reserved[8]; /* since CUDA 13 */
} cxr_pointer_attributes;

typedef struct cxr_function_attributes {
    size_t shared_bytes;
    size_t constant_bytes;
    size_t local_bytes;
    int max_threads_per_block;
    int registers;
    int ptx_version;
    int binary_version;
    int cache_mode_ca;
    int max_dynamic_shared_bytes;
    int preferred_shared_carveout;
    /* since CUDA 12: */
    int cluster_must_be_set;
    int required_cluster_width;
    int required_cluster_height;
    int required_cluster_depth;
    int cluster_scheduling_policy;
    int non_portable_cluster_size_allowed;
    int reserved[16];
} cxr_function_attributes;

typedef struct cxr_launch_config {
    cxr_dim3 grid;
    cxr_dim3 block;
    size_t shared_bytes;
    CUstream stream;
    cxu_launch_attribute *attributes;
    unsigned int attribute_count;
} cxr_launch_config;

/* Of cooperative launches on several devices. */
typedef struct cxr_launch_params {
    void *function;
    cxr_dim3 grid;
    cxr_dim3 block;
    void **arguments;
    size_t shared_bytes;
    CUstream stream;
} cxr_launch_params;

/* cudaKernelNodeParams; its V2 has the same layout. */
typedef struct cxr_kernel_node_params {
    void *function;
    cxr_dim3 grid;
    cxr_dim3 block;
    unsigned int shared_bytes;
    void **parameters;
    void **extra;
} cxr_kernel_node_params;

/* cudaGraphNodeParams, where it is not the driver's: kernels and copies have other fields. */
typedef struct cxr_graph_node_params {
    cxu_graph_node_type type;
    int reserved[3];
    union {
        long long words[29];
        cxr_kernel_node_params kernel;
        struct {
            int flags;
            int reserved[3];
            cxr_copy_3d params;
        } copy;
        cxu_memset_node_params fill;
        cxu_host_node_params host;
        struct {
            CUgraph graph;
            int ownership;
        } child;
        CUevent event;
        cxu_mem_alloc_node_params alloc;
        void *freed;
        struct {
            uint64_t handle;
            cxu_graph_conditional_type type;
            unsigned int size;
            CUgraph *bodies;
        } condition;
    } of;
    long long reserved_tail;
} cxr_graph_node_params;

/* cudaMemcpy3DBatchOp: its rows and layers are in elements of arrays, or in bytes. */
typedef cxu_memcpy_3d_batch_op cxr_copy_3d_batch_op;

typedef void (*cxr_stream_callback)(CUstream stream, cxr_error status, void *user_data);

/* What nvcc's host code registers: a fat binary, or, with separate compilation, a list of them that
 * are to be linked. */
typedef struct cxr_fat_binary {
    int magic;
    int version;
    const void *data;
    void *linked; /* of version 2: a list of fat binaries that ends with NULL */
} cxr_fat_binary;

enum { CXR_FAT_BINARY_MAGIC = 0x466243b1 };

#endif
