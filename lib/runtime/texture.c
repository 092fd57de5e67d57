/* Texture and surface objects: the runtime's descriptions, as the driver's. */
#include "runtime/array.h"
#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stdbool.h>
#include <string.h>

enum { READS_ELEMENTS, READS_NORMALIZED_FLOATS };

/* ---- resources ---- */

static cxr_error to_driver_resource(const cxr_resource_descriptor *resource,
                                    cxu_resource_descriptor *out_resource)
{
    if (resource == NULL)
        return CXR_INVALID_VALUE;
    *out_resource = (cxu_resource_descriptor){.type = resource->type};
    switch (resource->type) {
    case CXU_RESOURCE_TYPE_ARRAY:
        out_resource->of.array = resource->of.array;
        return CXR_SUCCESS;
    case CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out_resource->of.mipmapped = resource->of.mipmapped;
        return CXR_SUCCESS;
    case CXU_RESOURCE_TYPE_LINEAR:
        out_resource->of.linear.address = cx_cudart_address(resource->of.linear.pointer);
        out_resource->of.linear.bytes = resource->of.linear.bytes;
        return cx_cudart_format_of(&resource->of.linear.channels, &out_resource->of.linear.format,
                                   &out_resource->of.linear.channels);
    case CXU_RESOURCE_TYPE_PITCH2D:
        out_resource->of.pitch_2d.address = cx_cudart_address(resource->of.pitch_2d.pointer);
        out_resource->of.pitch_2d.width = resource->of.pitch_2d.width;
        out_resource->of.pitch_2d.height = resource->of.pitch_2d.height;
        out_resource->of.pitch_2d.pitch_bytes = resource->of.pitch_2d.pitch_bytes;
        return cx_cudart_format_of(&resource->of.pitch_2d.channels,
                                   &out_resource->of.pitch_2d.format,
                                   &out_resource->of.pitch_2d.channels);
    default:
        return CXR_INVALID_VALUE;
    }
}

static void of_driver_resource(const cxu_resource_descriptor *resource,
                               cxr_resource_descriptor *out_resource)
{
    *out_resource = (cxr_resource_descriptor){.type = resource->type};
    switch (resource->type) {
    case CXU_RESOURCE_TYPE_ARRAY:
        out_resource->of.array = resource->of.array;
        break;
    case CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out_resource->of.mipmapped = resource->of.mipmapped;
        break;
    case CXU_RESOURCE_TYPE_LINEAR:
        out_resource->of.linear.pointer = (void *)(uintptr_t)resource->of.linear.address;
        out_resource->of.linear.bytes = resource->of.linear.bytes;
        out_resource->of.linear.channels =
            cx_cudart_channels_of(resource->of.linear.format, resource->of.linear.channels);
        break;
    default:
        out_resource->of.pitch_2d.pointer = (void *)(uintptr_t)resource->of.pitch_2d.address;
        out_resource->of.pitch_2d.width = resource->of.pitch_2d.width;
        out_resource->of.pitch_2d.height = resource->of.pitch_2d.height;
        out_resource->of.pitch_2d.pitch_bytes = resource->of.pitch_2d.pitch_bytes;
        out_resource->of.pitch_2d.channels =
            cx_cudart_channels_of(resource->of.pitch_2d.format, resource->of.pitch_2d.channels);
    }
}

/* ---- how kernels read ---- */

/* `seamless` is no field of CUDA 11's first description. */
static void to_driver_texture(const cxr_texture_descriptor *texture, bool seamless,
                              cxu_texture_descriptor *out_texture)
{
    *out_texture = (cxu_texture_descriptor){
        .filter_mode = texture->filter_mode,
        .max_anisotropy = texture->max_anisotropy,
        .mipmap_filter_mode = texture->mipmap_filter_mode,
        .mipmap_level_bias = texture->mipmap_level_bias,
        .min_mipmap_level_clamp = texture->min_mipmap_level_clamp,
        .max_mipmap_level_clamp = texture->max_mipmap_level_clamp,
        .flags = (texture->read_mode == READS_ELEMENTS ? CXU_TRSF_READ_AS_INTEGER : 0) |
                 (texture->normalized ? CXU_TRSF_NORMALIZED_COORDINATES : 0) |
                 (texture->srgb ? CXU_TRSF_SRGB : 0) |
                 (texture->no_trilinear_optimization ? CXU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
                                                     : 0) |
                 (seamless ? CXU_TRSF_SEAMLESS_CUBEMAP : 0)};
    memcpy(out_texture->address_mode, texture->address_mode, sizeof texture->address_mode);
    memcpy(out_texture->border_color, texture->border_color, sizeof texture->border_color);
}

static void of_driver_texture(const cxu_texture_descriptor *texture,
                              cxr_texture_descriptor *out_texture)
{
    memcpy(out_texture->address_mode, texture->address_mode, sizeof texture->address_mode);
    memcpy(out_texture->border_color, texture->border_color, sizeof texture->border_color);
    out_texture->filter_mode = texture->filter_mode;
    out_texture->read_mode =
        texture->flags & CXU_TRSF_READ_AS_INTEGER ? READS_ELEMENTS : READS_NORMALIZED_FLOATS;
    out_texture->srgb = (texture->flags & CXU_TRSF_SRGB) != 0;
    out_texture->normalized = (texture->flags & CXU_TRSF_NORMALIZED_COORDINATES) != 0;
    out_texture->max_anisotropy = texture->max_anisotropy;
    out_texture->mipmap_filter_mode = texture->mipmap_filter_mode;
    out_texture->mipmap_level_bias = texture->mipmap_level_bias;
    out_texture->min_mipmap_level_clamp = texture->min_mipmap_level_clamp;
    out_texture->max_mipmap_level_clamp = texture->max_mipmap_level_clamp;
    out_texture->no_trilinear_optimization =
        (texture->flags & CXU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
}

/* ---- what the driver refuses without saying why ---- */

static cxr_error find_format(const cx_driver_table *driver,
                             const cxu_resource_descriptor *resource, unsigned int *out_format)
{
    cxu_array_3d_descriptor descriptor = {0};
    CUarray array = resource->of.array;
    cxr_error error = CXR_SUCCESS;
    if (resource->type == CXU_RESOURCE_TYPE_LINEAR) {
        *out_format = (unsigned int)resource->of.linear.format;
        return CXR_SUCCESS;
    }
    if (resource->type == CXU_RESOURCE_TYPE_PITCH2D) {
        *out_format = (unsigned int)resource->of.pitch_2d.format;
        return CXR_SUCCESS;
    }
    if (resource->type == CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        error = (cxr_error)driver->mipmapped_array_get_level(&array, resource->of.mipmapped, 0);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->array_3d_get_descriptor(&descriptor, array);
    *out_format = (unsigned int)descriptor.format;
    return error;
}

/* Only floats and small integers that are read as such are filtered; large integers are never. */
static cxr_error check_modes(const cx_driver_table *driver,
                             const cxu_resource_descriptor *resource,
                             const cxu_texture_descriptor *texture)
{
    unsigned int format;
    cxr_error error = find_format(driver, resource, &format);
    if (error != CXR_SUCCESS)
        return error;
    bool is_integer = format <= CXU_AD_FORMAT_SIGNED_INT32;
    bool is_large = format == CXU_AD_FORMAT_UNSIGNED_INT32 || format == CXU_AD_FORMAT_SIGNED_INT32;
    bool as_integer = texture->flags & CXU_TRSF_READ_AS_INTEGER;
    if (is_large && !as_integer)
        return CXR_INVALID_NORM_SETTING;
    return is_integer && as_integer && texture->filter_mode == CXU_TR_FILTER_MODE_LINEAR &&
                   resource->type != CXU_RESOURCE_TYPE_LINEAR
               ? CXR_INVALID_FILTER_SETTING
               : CXR_SUCCESS;
}

/* ---- objects ---- */

static cxr_error create_texture(cxu_texture_object *out_object,
                                const cxr_resource_descriptor *resource,
                                const cxr_texture_descriptor *texture, bool seamless,
                                const cxr_resource_view_descriptor *view)
{
    const cx_driver_table *driver;
    cxu_resource_descriptor of;
    cxu_texture_descriptor how;
    cxu_resource_view_descriptor part = {0};
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_resource(resource, &of);
    if (error != CXR_SUCCESS)
        return error;
    if (texture == NULL)
        return CXR_INVALID_VALUE;
    to_driver_texture(texture, seamless, &how);
    if (view != NULL)
        memcpy(&part, view, sizeof *view);
    else
        error = check_modes(driver, &of, &how);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->tex_object_create(out_object, &of, &how, view != NULL ? &part : NULL);
}

cxr_error cxr_cudaCreateTextureObject(cxu_texture_object *out_object,
                                      const cxr_resource_descriptor *resource,
                                      const cxr_texture_descriptor *texture,
                                      const cxr_resource_view_descriptor *view)
{
    return create_texture(out_object, resource, texture,
                          texture != NULL && texture->seamless_cubemap, view);
}

cxr_error cxr_cudaCreateTextureObject_v11(cxu_texture_object *out_object,
                                          const cxr_resource_descriptor *resource,
                                          const cxr_texture_descriptor *texture,
                                          const cxr_resource_view_descriptor *view)
{
    return create_texture(out_object, resource, texture, false, view);
}

cxr_error cxr_cudaDestroyTextureObject(cxu_texture_object object)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || object == 0)
        return error;
    return (cxr_error)driver->tex_object_destroy(object);
}

cxr_error cxr_cudaGetTextureObjectResourceDesc(cxr_resource_descriptor *out_resource,
                                               cxu_texture_object object)
{
    const cx_driver_table *driver;
    cxu_resource_descriptor resource;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = out_resource == NULL
                    ? CXR_INVALID_VALUE
                    : (cxr_error)driver->tex_object_get_resource_desc(&resource, object);
    if (error == CXR_SUCCESS)
        of_driver_resource(&resource, out_resource);
    return error;
}

static cxr_error get_texture(cxr_texture_descriptor *out_texture, cxu_texture_object object,
                             cxu_texture_descriptor *out_read)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = out_texture == NULL
                    ? CXR_INVALID_VALUE
                    : (cxr_error)driver->tex_object_get_texture_desc(out_read, object);
    if (error == CXR_SUCCESS)
        of_driver_texture(out_read, out_texture);
    return error;
}

cxr_error cxr_cudaGetTextureObjectTextureDesc(cxr_texture_descriptor *out_texture,
                                              cxu_texture_object object)
{
    cxu_texture_descriptor texture;
    cxr_error error = get_texture(out_texture, object, &texture);
    if (error == CXR_SUCCESS)
        out_texture->seamless_cubemap = (texture.flags & CXU_TRSF_SEAMLESS_CUBEMAP) != 0;
    return error;
}

cxr_error cxr_cudaGetTextureObjectTextureDesc_v11(cxr_texture_descriptor *out_texture,
                                                  cxu_texture_object object)
{
    cxu_texture_descriptor texture;
    return get_texture(out_texture, object, &texture);
}

cxr_error cxr_cudaGetTextureObjectResourceViewDesc(cxr_resource_view_descriptor *out_view,
                                                   cxu_texture_object object)
{
    const cx_driver_table *driver;
    cxu_resource_view_descriptor view;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = out_view == NULL
                    ? CXR_INVALID_VALUE
                    : (cxr_error)driver->tex_object_get_resource_view_desc(&view, object);
    if (error == CXR_SUCCESS)
        memcpy(out_view, &view, sizeof *out_view);
    return error;
}

cxr_error cxr_cudaCreateSurfaceObject(cxu_surface_object *out_object,
                                      const cxr_resource_descriptor *resource)
{
    const cx_driver_table *driver;
    cxu_resource_descriptor of;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_resource(resource, &of);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->surf_object_create(out_object, &of);
}

cxr_error cxr_cudaDestroySurfaceObject(cxu_surface_object object)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || object == 0)
        return error;
    return (cxr_error)driver->surf_object_destroy(object);
}

cxr_error cxr_cudaGetSurfaceObjectResourceDesc(cxr_resource_descriptor *out_resource,
                                               cxu_surface_object object)
{
    const cx_driver_table *driver;
    cxu_resource_descriptor resource;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = out_resource == NULL
                    ? CXR_INVALID_VALUE
                    : (cxr_error)driver->surf_object_get_resource_desc(&resource, object);
    if (error == CXR_SUCCESS)
        of_driver_resource(&resource, out_resource);
    return error;
}

/* The widest texture of linear memory. */
cxr_error cxr_cudaDeviceGetTexture1DLinearMaxWidth(size_t *out_elements,
                                                   const cxr_channel_format *channels, int device)
{
    const cx_driver_table *driver;
    cxu_array_format format;
    unsigned int count;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_format_of(channels, &format, &count);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_get_texture_1d_linear_max_width(out_elements, format, count,
                                                                     device);
}
