/* The binary interface of cuda_abi.h, continued: arrays. */
#ifndef CX_DRIVER_CUDA_ABI_ARRAY_H
#define CX_DRIVER_CUDA_ABI_ARRAY_H

#include "driver/cuda_abi.h"

/* Formats that name their channels too; CUarray_format has the integers and floats of cuda_abi.h
 * besides. */
enum {
    CXU_AD_FORMAT_UNORM_INT8X1 = 0xc0,
    CXU_AD_FORMAT_UNORM_INT8X2 = 0xc1,
    CXU_AD_FORMAT_UNORM_INT8X4 = 0xc2,
    CXU_AD_FORMAT_UNORM_INT16X1 = 0xc3,
    CXU_AD_FORMAT_UNORM_INT16X2 = 0xc4,
    CXU_AD_FORMAT_UNORM_INT16X4 = 0xc5,
    CXU_AD_FORMAT_SNORM_INT8X1 = 0xc6,
    CXU_AD_FORMAT_SNORM_INT8X2 = 0xc7,
    CXU_AD_FORMAT_SNORM_INT8X4 = 0xc8,
    CXU_AD_FORMAT_SNORM_INT16X1 = 0xc9,
    CXU_AD_FORMAT_SNORM_INT16X2 = 0xca,
    CXU_AD_FORMAT_SNORM_INT16X4 = 0xcb,

    /* Compressed blocks and planes of video; there are gaps. */
    CXU_AD_FORMAT_UNORM_INT_101010_2 = 0x50,
    CXU_AD_FORMAT_BC1_UNORM = 0x91,
    CXU_AD_FORMAT_NV12 = 0xb0,
    CXU_AD_FORMAT_YUV444_16BIT_SEMI_PLANAR = 0xb5
};

enum {
    CXU_ARRAY3D_LAYERED = 0x01,
    CXU_ARRAY3D_SURFACE_LDST = 0x02,
    CXU_ARRAY3D_CUBEMAP = 0x04,
    CXU_ARRAY3D_TEXTURE_GATHER = 0x08,
    CXU_ARRAY3D_DEPTH_TEXTURE = 0x10,
    CXU_ARRAY3D_COLOR_ATTACHMENT = 0x20,
    CXU_ARRAY3D_SPARSE = 0x40,
    CXU_ARRAY3D_DEFERRED_MAPPING = 0x80,
    CXU_ARRAY3D_VIDEO_ENCODE_DECODE = 0x100
};

/* CUDA_ARRAY_DESCRIPTOR_v2; a height of 0: one dimension. */
typedef struct cxu_array_descriptor {
    size_t width;
    size_t height;
    cxu_array_format format;
    unsigned int channels;
} cxu_array_descriptor;

/* CUDA_ARRAY3D_DESCRIPTOR_v2 */
typedef struct cxu_array_3d_descriptor {
    size_t width;
    size_t height;
    size_t depth;
    cxu_array_format format;
    unsigned int channels;
    unsigned int flags;
} cxu_array_3d_descriptor;

typedef struct cxu_array_sparse_properties {
    struct {
        unsigned int width, height, depth;
    } tile;
    unsigned int mip_tail_first_level;
    unsigned long long mip_tail_bytes;
    unsigned int flags;
    unsigned int reserved[4];
} cxu_array_sparse_properties;

typedef struct cxu_array_memory_requirements {
    size_t bytes;
    size_t alignment;
    unsigned int reserved[4];
} cxu_array_memory_requirements;

#endif
