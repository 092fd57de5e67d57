/* The binary interface of cuda_abi.h, continued: texture and surface objects. */
#ifndef CX_DRIVER_CUDA_ABI_TEXTURE_H
#define CX_DRIVER_CUDA_ABI_TEXTURE_H

#include "driver/cuda_abi.h"

/* CUtexObject and CUsurfObject are numbers. */
typedef unsigned long long cxu_texture_object;
typedef unsigned long long cxu_surface_object;

typedef enum cxu_resource_type {
    CXU_RESOURCE_TYPE_ARRAY = 0,
    CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    CXU_RESOURCE_TYPE_LINEAR = 2,
    CXU_RESOURCE_TYPE_PITCH2D = 3
} cxu_resource_type;

/* CUDA_RESOURCE_DESC */
typedef struct cxu_resource_descriptor {
    cxu_resource_type type;
    union {
        CUarray array;
        CUmipmappedArray mipmapped;
        struct {
            CUdeviceptr address;
            cxu_array_format format;
            unsigned int channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr address;
            cxu_array_format format;
            unsigned int channels;
            size_t width, height;
            size_t pitch_bytes;
        } pitch_2d;
        int reserved[32];
    } of;
    unsigned int flags;
} cxu_resource_descriptor;

typedef enum cxu_address_mode {
    CXU_TR_ADDRESS_MODE_WRAP = 0,
    CXU_TR_ADDRESS_MODE_CLAMP = 1,
    CXU_TR_ADDRESS_MODE_MIRROR = 2,
    CXU_TR_ADDRESS_MODE_BORDER = 3
} cxu_address_mode;

typedef enum cxu_filter_mode {
    CXU_TR_FILTER_MODE_POINT = 0,
    CXU_TR_FILTER_MODE_LINEAR = 1
} cxu_filter_mode;

enum {
    CXU_TRSA_OVERRIDE_FORMAT = 0x01,
    CXU_TRSF_READ_AS_INTEGER = 0x01,
    CXU_TRSF_NORMALIZED_COORDINATES = 0x02,
    CXU_TRSF_SRGB = 0x10,
    CXU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20,
    CXU_TRSF_SEAMLESS_CUBEMAP = 0x40
};

/* CUDA_TEXTURE_DESC */
typedef struct cxu_texture_descriptor {
    cxu_address_mode address_mode[3];
    cxu_filter_mode filter_mode;
    unsigned int flags;
    unsigned int max_anisotropy;
    cxu_filter_mode mipmap_filter_mode;
    float mipmap_level_bias;
    float min_mipmap_level_clamp;
    float max_mipmap_level_clamp;
    float border_color[4];
    int reserved[12];
} cxu_texture_descriptor;

/* From no format at all to one to four floats; then compressed blocks. */
typedef enum cxu_resource_view_format {
    CXU_RES_VIEW_FORMAT_NONE = 0x00,
    CXU_RES_VIEW_FORMAT_UINT_1X8 = 0x01,
    CXU_RES_VIEW_FORMAT_SINT_1X8 = 0x04,
    CXU_RES_VIEW_FORMAT_UINT_1X16 = 0x07,
    CXU_RES_VIEW_FORMAT_SINT_1X16 = 0x0a,
    CXU_RES_VIEW_FORMAT_UINT_1X32 = 0x0d,
    CXU_RES_VIEW_FORMAT_SINT_1X32 = 0x10,
    CXU_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13,
    CXU_RES_VIEW_FORMAT_FLOAT_1X32 = 0x16,
    CXU_RES_VIEW_FORMAT_FLOAT_4X32 = 0x18,
    CXU_RES_VIEW_FORMAT_UNSIGNED_BC1 = 0x19,
    CXU_RES_VIEW_FORMAT_UNSIGNED_BC7 = 0x22
} cxu_resource_view_format;

/* CUDA_RESOURCE_VIEW_DESC */
typedef struct cxu_resource_view_descriptor {
    cxu_resource_view_format format;
    size_t width;
    size_t height;
    size_t depth;
    unsigned int first_mipmap_level;
    unsigned int last_mipmap_level;
    unsigned int first_layer;
    unsigned int last_layer;
    unsigned int reserved[16];
} cxu_resource_view_descriptor;

#endif
