/* Arrays, and copies from and to them. */
#include "runtime/array.h"

#include "runtime/calls.h"
#include "runtime/copy.h"
#include "runtime/driver.h"

#include <stdbool.h>

/* ---- formats ---- */

enum { SIGNED, UNSIGNED, FLOAT, NO_KIND, NV12, UNORM_8X1, SNORM_16X4 = 16, BC1, BC7_SRGB = 30,
       UNORM_101010_2 };

/* Formats whose kinds say everything: the driver has the same ones in the same order. */
static bool find_whole_kind(int kind, cxu_array_format *out_format, unsigned int *out_channels)
{
    static const unsigned int channels[] = {1, 2, 4};

    *out_channels = 4;
    if (kind >= UNORM_8X1 && kind <= SNORM_16X4) {
        *out_format = (cxu_array_format)(CXU_AD_FORMAT_UNORM_INT8X1 + kind - UNORM_8X1);
        *out_channels = channels[(kind - UNORM_8X1) % 3];
        return true;
    }
    if (kind >= BC1 && kind <= BC7_SRGB)
        *out_format = (cxu_array_format)(CXU_AD_FORMAT_BC1_UNORM + kind - BC1);
    else if (kind == NV12)
        *out_format = (cxu_array_format)CXU_AD_FORMAT_NV12;
    else if (kind == UNORM_101010_2)
        *out_format = (cxu_array_format)CXU_AD_FORMAT_UNORM_INT_101010_2;
    else
        return false;
    return true;
}

static bool find_plain_format(int kind, int bits, cxu_array_format *out_format)
{
    static const struct {
        int kind, bits;
        cxu_array_format format;
    } rows[] = {{SIGNED, 8, CXU_AD_FORMAT_SIGNED_INT8},
                {SIGNED, 16, CXU_AD_FORMAT_SIGNED_INT16},
                {SIGNED, 32, CXU_AD_FORMAT_SIGNED_INT32},
                {UNSIGNED, 8, CXU_AD_FORMAT_UNSIGNED_INT8},
                {UNSIGNED, 16, CXU_AD_FORMAT_UNSIGNED_INT16},
                {UNSIGNED, 32, CXU_AD_FORMAT_UNSIGNED_INT32},
                {FLOAT, 16, CXU_AD_FORMAT_HALF},
                {FLOAT, 32, CXU_AD_FORMAT_FLOAT}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == kind && rows[i].bits == bits) {
            *out_format = rows[i].format;
            return true;
        }
    return false;
}

cxr_error cx_cudart_format_of(const cxr_channel_format *channels, cxu_array_format *out_format,
                              unsigned int *out_channels)
{
    int all[4], count = 0;

    if (channels == NULL)
        return CXR_INVALID_VALUE;
    if (find_whole_kind(channels->kind, out_format, out_channels))
        return CXR_SUCCESS;
    all[0] = channels->x;
    all[1] = channels->y;
    all[2] = channels->z;
    all[3] = channels->w;
    while (count < 4 && all[count] != 0)
        count++;
    for (int i = 0; i < 4; i++)
        if (all[i] != (i < count ? all[0] : 0))
            return CXR_INVALID_CHANNEL_DESCRIPTOR;
    if ((count != 1 && count != 2 && count != 4) ||
        !find_plain_format(channels->kind, all[0], out_format))
        return CXR_INVALID_CHANNEL_DESCRIPTOR;
    *out_channels = (unsigned int)count;
    return CXR_SUCCESS;
}

/* The kind and the bits of a channel; formats that the driver refuses are none. */
static void find_kind(unsigned int format, int *out_kind, int *out_bits)
{
    *out_bits = 8;
    if (format >= CXU_AD_FORMAT_UNORM_INT8X1 && format <= CXU_AD_FORMAT_SNORM_INT16X4) {
        *out_kind = UNORM_8X1 + (int)(format - CXU_AD_FORMAT_UNORM_INT8X1);
        *out_bits = (format - CXU_AD_FORMAT_UNORM_INT8X1) / 3 % 2 == 0 ? 8 : 16;
        return;
    }
    for (int kind = SIGNED; kind <= FLOAT; kind++)
        for (int bits = 8; bits <= 32; bits *= 2) {
            cxu_array_format found;

            if (find_plain_format(kind, bits, &found) && (unsigned int)found == format) {
                *out_kind = kind;
                *out_bits = bits;
                return;
            }
        }
    *out_kind = NO_KIND;
}

cxr_channel_format cx_cudart_channels_of(cxu_array_format format, unsigned int channels)
{
    int kind, bits;

    find_kind((unsigned int)format, &kind, &bits);
    return (cxr_channel_format){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                channels > 3 ? bits : 0, kind};
}

cxr_error cx_cudart_array_element(CUarray array, size_t *out_bytes)
{
    cxu_array_3d_descriptor descriptor;
    const cx_driver_table *driver;
    int kind, bits;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->array_3d_get_descriptor(&descriptor, array);
    if (error != CXR_SUCCESS)
        return error;
    find_kind((unsigned int)descriptor.format, &kind, &bits);
    *out_bytes = descriptor.channels * (size_t)bits / 8;
    return CXR_SUCCESS;
}

/* ---- arrays ---- */

static cxr_error describe(const cxr_channel_format *channels, cxr_extent extent,
                          unsigned int flags, cxu_array_3d_descriptor *out_descriptor)
{
    *out_descriptor = (cxu_array_3d_descriptor){
        .width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
    return cx_cudart_format_of(channels, &out_descriptor->format, &out_descriptor->channels);
}

cxr_error cxr_cudaMalloc3DArray(CUarray *out_array, const cxr_channel_format *channels,
                                cxr_extent extent, unsigned int flags)
{
    cxu_array_3d_descriptor descriptor;
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = describe(channels, extent, flags, &descriptor);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->array_3d_create(out_array, &descriptor);
}

cxr_error cxr_cudaMallocArray(CUarray *out_array, const cxr_channel_format *channels, size_t width,
                              size_t height, unsigned int flags)
{
    return cxr_cudaMalloc3DArray(out_array, channels, (cxr_extent){width, height, 0}, flags);
}

cxr_error cxr_cudaFreeArray(CUarray array)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || array == NULL)
        return error;
    return (cxr_error)driver->array_destroy(array);
}

cxr_error cxr_cudaArrayGetInfo(cxr_channel_format *out_channels, cxr_extent *out_extent,
                               unsigned int *out_flags, CUarray array)
{
    cxu_array_3d_descriptor descriptor;
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->array_3d_get_descriptor(&descriptor, array);
    if (error != CXR_SUCCESS)
        return error;
    if (out_channels != NULL)
        *out_channels = cx_cudart_channels_of(descriptor.format, descriptor.channels);
    if (out_extent != NULL)
        *out_extent = (cxr_extent){descriptor.width, descriptor.height, descriptor.depth};
    if (out_flags != NULL)
        *out_flags = descriptor.flags;
    return CXR_SUCCESS;
}

cxr_error cxr_cudaGetChannelDesc(cxr_channel_format *out_channels, CUarray array)
{
    if (out_channels == NULL)
        return CXR_INVALID_VALUE;
    return cxr_cudaArrayGetInfo(out_channels, NULL, NULL, array);
}

cxr_error cxr_cudaArrayGetPlane(CUarray *out_plane, CUarray array, unsigned int plane)
{
    CX_CUDART_PASS(array_get_plane, (out_plane, array, plane));
}

cxr_error cxr_cudaArrayGetSparseProperties(cxu_array_sparse_properties *out_properties,
                                           CUarray array)
{
    CX_CUDART_PASS(array_get_sparse_properties, (out_properties, array));
}

cxr_error cxr_cudaArrayGetMemoryRequirements(cxu_array_memory_requirements *out_requirements,
                                             CUarray array, int device)
{
    CX_CUDART_PASS(array_get_memory_requirements, (out_requirements, array, device));
}

/* ---- mipmapped arrays ---- */

cxr_error cxr_cudaMallocMipmappedArray(CUmipmappedArray *out_mipmapped,
                                       const cxr_channel_format *channels, cxr_extent extent,
                                       unsigned int levels, unsigned int flags)
{
    cxu_array_3d_descriptor descriptor;
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = describe(channels, extent, flags, &descriptor);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->mipmapped_array_create(out_mipmapped, &descriptor, levels);
}

cxr_error cxr_cudaGetMipmappedArrayLevel(CUarray *out_array, CUmipmappedArray mipmapped,
                                         unsigned int level)
{
    CX_CUDART_PASS(mipmapped_array_get_level, (out_array, mipmapped, level));
}

cxr_error cxr_cudaFreeMipmappedArray(CUmipmappedArray mipmapped)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || mipmapped == NULL)
        return error;
    return (cxr_error)driver->mipmapped_array_destroy(mipmapped);
}

cxr_error cxr_cudaMipmappedArrayGetSparseProperties(cxu_array_sparse_properties *out_properties,
                                                    CUmipmappedArray mipmapped)
{
    CX_CUDART_PASS(mipmapped_array_get_sparse_properties, (out_properties, mipmapped));
}

cxr_error
cxr_cudaMipmappedArrayGetMemoryRequirements(cxu_array_memory_requirements *out_requirements,
                                            CUmipmappedArray mipmapped, int device)
{
    CX_CUDART_PASS(mipmapped_array_get_memory_requirements, (out_requirements, mipmapped, device));
}
