/* The binary interface of cuda_abi.h, continued: the parameters of copies. */
#ifndef CX_DRIVER_CUDA_ABI_COPY_H
#define CX_DRIVER_CUDA_ABI_COPY_H

#include "driver/cuda_abi.h"

/* CUDA_MEMCPY2D_v2: host fields, device fields or array fields are read as the memory type says. */
typedef struct cxu_memcpy_2d {
    size_t source_x_bytes;
    size_t source_y;
    cxu_memory_type source_type;
    const void *source_host;
    CUdeviceptr source_device;
    CUarray source_array;
    size_t source_pitch_bytes;

    size_t destination_x_bytes;
    size_t destination_y;
    cxu_memory_type destination_type;
    void *destination_host;
    CUdeviceptr destination_device;
    CUarray destination_array;
    size_t destination_pitch_bytes;

    size_t width_bytes;
    size_t height;
} cxu_memcpy_2d;

/* CUDA_MEMCPY3D_v2. The heights are the number of rows in one slice; 0 pitch or height: tight. */
typedef struct cxu_memcpy_3d {
    size_t source_x_bytes;
    size_t source_y;
    size_t source_z;
    size_t source_lod;
    cxu_memory_type source_type;
    const void *source_host;
    CUdeviceptr source_device;
    CUarray source_array;
    void *source_reserved;
    size_t source_pitch_bytes;
    size_t source_height;

    size_t destination_x_bytes;
    size_t destination_y;
    size_t destination_z;
    size_t destination_lod;
    cxu_memory_type destination_type;
    void *destination_host;
    CUdeviceptr destination_device;
    CUarray destination_array;
    void *destination_reserved;
    size_t destination_pitch_bytes;
    size_t destination_height;

    size_t width_bytes;
    size_t height;
    size_t depth;
} cxu_memcpy_3d;

/* CUDA_MEMCPY3D_PEER: the same, with a context for each side. */
typedef struct cxu_memcpy_3d_peer {
    size_t source_x_bytes;
    size_t source_y;
    size_t source_z;
    size_t source_lod;
    cxu_memory_type source_type;
    const void *source_host;
    CUdeviceptr source_device;
    CUarray source_array;
    CUcontext source_context;
    size_t source_pitch_bytes;
    size_t source_height;

    size_t destination_x_bytes;
    size_t destination_y;
    size_t destination_z;
    size_t destination_lod;
    cxu_memory_type destination_type;
    void *destination_host;
    CUdeviceptr destination_device;
    CUarray destination_array;
    CUcontext destination_context;
    size_t destination_pitch_bytes;
    size_t destination_height;

    size_t width_bytes;
    size_t height;
    size_t depth;
} cxu_memcpy_3d_peer;

/* Batches of copies. */

enum { CXU_MEMCPY_FLAG_DEFAULT = 0, CXU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1 };

typedef enum cxu_memcpy_src_access_order {
    CXU_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0,
    CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    CXU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
    CXU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3
} cxu_memcpy_src_access_order;

typedef struct cxu_memcpy_attributes {
    cxu_memcpy_src_access_order order;
    cxu_mem_location source_hint, destination_hint;
    unsigned int flags;
} cxu_memcpy_attributes;

typedef enum cxu_memcpy_operand_type {
    CXU_MEMCPY_OPERAND_TYPE_POINTER = 1,
    CXU_MEMCPY_OPERAND_TYPE_ARRAY = 2
} cxu_memcpy_operand_type;

typedef struct cxu_memcpy_operand {
    cxu_memcpy_operand_type type;
    union {
        struct {
            CUdeviceptr address;
            size_t row_length;   /* in elements, here of one byte; 0: tight */
            size_t layer_height; /* 0: tight */
            cxu_mem_location hint;
        } pointer;
        struct {
            CUarray array;
            size_t x, y, z;
        } array;
    } of;
} cxu_memcpy_operand;

typedef struct cxu_memcpy_3d_batch_op {
    cxu_memcpy_operand source, destination;
    size_t width, height, depth;
    cxu_memcpy_src_access_order order;
    unsigned int flags;
} cxu_memcpy_3d_batch_op;

#endif
