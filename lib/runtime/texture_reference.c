/* Texture and surface references, as programs of CUDA 11 and earlier have them: a host variable
 * says how kernels read, and a call binds memory to it in the present context. */
#include "runtime/array.h"
#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- registration ---- */

void cxr___cudaRegisterTexture(void **binary, const cxr_texture_reference *host,
                               const void **device_address, const char *name, int dimensions,
                               int as_floats, int is_external)
{
    (void)device_address;
    (void)dimensions;
    (void)is_external;
    cx_cudart_reference_add((cx_cudart_binary *)binary, host, name, false, as_floats != 0);
}

void cxr___cudaRegisterSurface(void **binary, const cxr_surface_reference *host,
                               const void **device_address, const char *name, int dimensions,
                               int is_external)
{
    (void)device_address;
    (void)dimensions;
    (void)is_external;
    cx_cudart_reference_add((cx_cudart_binary *)binary, host, name, true, false);
}

cxr_error cxr_cudaGetTextureReference(const cxr_texture_reference **out_reference,
                                      const void *symbol)
{
    cx_cudart_reference found;
    if (out_reference == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_reference_find(symbol, false, &found);
    if (error == CXR_SUCCESS)
        *out_reference = symbol;
    return error;
}

cxr_error cxr_cudaGetSurfaceReference(const cxr_surface_reference **out_reference,
                                      const void *symbol)
{
    cx_cudart_reference found;
    if (out_reference == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_reference_find(symbol, true, &found);
    if (error == CXR_SUCCESS)
        *out_reference = symbol;
    return error;
}

/* ---- textures ---- */

static unsigned int flags_of(const cxr_texture_reference *host, bool reads_floats)
{
    return (reads_floats ? 0 : CXU_TRSF_READ_AS_INTEGER) |
           (host->normalized ? CXU_TRSF_NORMALIZED_COORDINATES : 0) |
           (host->srgb ? CXU_TRSF_SRGB : 0) |
           (host->no_trilinear_optimization ? CXU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
}

/* What the host variable says at this moment. */
static cxu_result set_modes(const cx_driver_table *driver, CUtexref reference,
                            const cxr_texture_reference *host, bool reads_floats)
{
    cxu_result result = driver->tex_ref_set_flags(reference, flags_of(host, reads_floats));
    for (int i = 0; i < 3 && result == CXU_SUCCESS; i++)
        result = driver->tex_ref_set_address_mode(reference, i, host->address_mode[i]);
    if (result == CXU_SUCCESS)
        result = driver->tex_ref_set_filter_mode(reference, host->filter_mode);
    if (result == CXU_SUCCESS)
        result = driver->tex_ref_set_max_anisotropy(reference, host->max_anisotropy);
    if (result == CXU_SUCCESS)
        result = driver->tex_ref_set_mipmap_filter_mode(reference, host->mipmap_filter_mode);
    if (result == CXU_SUCCESS)
        result = driver->tex_ref_set_mipmap_level_bias(reference, host->mipmap_level_bias);
    return result == CXU_SUCCESS
               ? driver->tex_ref_set_mipmap_level_clamp(
                     reference, host->min_mipmap_level_clamp, host->max_mipmap_level_clamp)
               : result;
}

/* The driver's reference in the present context, with its modes. */
static cxr_error use_texture(const cxr_texture_reference *host, const cx_driver_table **out_driver,
                             CUtexref *out_reference)
{
    cx_cudart_reference found;
    CUmodule module;
    cxr_error error = cx_cudart_use_context(out_driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_reference_find(host, false, &found);
    if (error == CXR_SUCCESS)
        error = (cxr_error)(*out_driver)->library_get_module(&module, found.library);
    if (error == CXR_SUCCESS)
        error = (cxr_error)(*out_driver)->module_get_tex_ref(out_reference, module, found.name);
    if (error == CXR_SYMBOL_NOT_FOUND)
        return CXR_INVALID_TEXTURE;
    return error != CXR_SUCCESS
               ? error
               : (cxr_error)set_modes(*out_driver, *out_reference, host, found.reads_floats);
}

/* The driver's alignment of textures on the device of the context. */
static cxr_error find_alignment(const cx_driver_table *driver, size_t *out_alignment)
{
    CUdevice device;
    int alignment = 0;
    cxr_error error = (cxr_error)driver->ctx_get_device(&device);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->device_get_attribute(
            &alignment, CXU_ATTRIBUTE_TEXTURE_ALIGNMENT, device);
    *out_alignment = alignment > 0 ? (size_t)alignment : 1;
    return error;
}

/* The size may be more than there is: without one, the header asks for UINT_MAX bytes. */
static size_t clip(const cx_driver_table *driver, CUdeviceptr address, size_t bytes)
{
    CUdeviceptr begin = 0;
    size_t size = 0;
    if (driver->mem_get_address_range(&begin, &size, address) != CXU_SUCCESS)
        return bytes;
    size -= (size_t)(address - begin);
    return bytes < size ? bytes : size;
}

cxr_error cxr_cudaBindTexture(size_t *out_offset, const cxr_texture_reference *host,
                              const void *pointer, const cxr_channel_format *channels,
                              size_t bytes)
{
    const cx_driver_table *driver;
    CUdeviceptr address = cx_cudart_address(pointer);
    cxu_array_format format;
    unsigned int count;
    size_t offset = 0;
    CUtexref reference;
    cxr_error error = cx_cudart_format_of(channels, &format, &count);
    if (error == CXR_SUCCESS)
        error = use_texture(host, &driver, &reference);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->tex_ref_set_format(reference, format, (int)count);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->tex_ref_set_address(out_offset != NULL ? &offset : NULL,
                                                       reference, address,
                                                       clip(driver, address, bytes));
    if (error != CXR_SUCCESS)
        return error;
    if (out_offset != NULL)
        *out_offset = offset;
    cx_cudart_reference_note(host, true, offset);
    return CXR_SUCCESS;
}

cxr_error cxr_cudaBindTexture2D(size_t *out_offset, const cxr_texture_reference *host,
                                const void *pointer, const cxr_channel_format *channels,
                                size_t width, size_t height, size_t pitch_bytes)
{
    const cx_driver_table *driver;
    CUdeviceptr address = cx_cudart_address(pointer);
    cxu_array_descriptor shape = {.width = width, .height = height};
    size_t alignment = 1, offset = 0, element;
    CUtexref reference;
    cxr_error error = cx_cudart_format_of(channels, &shape.format, &shape.channels);
    if (error == CXR_SUCCESS)
        error = use_texture(host, &driver, &reference);
    if (error == CXR_SUCCESS)
        error = find_alignment(driver, &alignment);
    if (error != CXR_SUCCESS)
        return error;
    element = (size_t)(channels->x + channels->y + channels->z + channels->w) / 8;
    offset = (size_t)(address % alignment);
    if (offset != 0 && (out_offset == NULL || offset % element != 0))
        return CXR_INVALID_VALUE;
    shape.width += offset / element;
    error = (cxr_error)driver->tex_ref_set_address_2d(reference, &shape, address - offset,
                                                      pitch_bytes);
    if (error != CXR_SUCCESS)
        return error;
    if (out_offset != NULL)
        *out_offset = offset;
    cx_cudart_reference_note(host, true, offset);
    return CXR_SUCCESS;
}

/* The array has its channels itself, which these are to be. */
static cxr_error check_channels(const cxr_channel_format *channels)
{
    cxu_array_format format;
    unsigned int count;
    return cx_cudart_format_of(channels, &format, &count);
}

cxr_error cxr_cudaBindTextureToArray(const cxr_texture_reference *host, CUarray array,
                                     const cxr_channel_format *channels)
{
    const cx_driver_table *driver;
    CUtexref reference;
    cxr_error error = check_channels(channels);
    if (error == CXR_SUCCESS)
        error = use_texture(host, &driver, &reference);
    if (error == CXR_SUCCESS)
        error =
            (cxr_error)driver->tex_ref_set_array(reference, array, CXU_TRSA_OVERRIDE_FORMAT);
    if (error == CXR_SUCCESS)
        cx_cudart_reference_note(host, true, 0);
    return error;
}

cxr_error cxr_cudaBindTextureToMipmappedArray(const cxr_texture_reference *host,
                                              CUmipmappedArray array,
                                              const cxr_channel_format *channels)
{
    const cx_driver_table *driver;
    CUtexref reference;
    cxr_error error = check_channels(channels);
    if (error == CXR_SUCCESS)
        error = use_texture(host, &driver, &reference);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->tex_ref_set_mipmapped_array(reference, array,
                                                               CXU_TRSA_OVERRIDE_FORMAT);
    if (error == CXR_SUCCESS)
        cx_cudart_reference_note(host, true, 0);
    return error;
}

cxr_error cxr_cudaUnbindTexture(const cxr_texture_reference *host)
{
    const cx_driver_table *driver;
    CUtexref reference;
    cxr_error error = use_texture(host, &driver, &reference);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->tex_ref_set_address(NULL, reference, 0, 0);
    if (error == CXR_SUCCESS)
        cx_cudart_reference_note(host, false, 0);
    return error;
}

cxr_error cxr_cudaGetTextureAlignmentOffset(size_t *out_offset, const cxr_texture_reference *host)
{
    cx_cudart_reference found;
    if (out_offset == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_reference_find(host, false, &found);
    if (error == CXR_SUCCESS && !found.is_bound)
        error = CXR_INVALID_TEXTURE_BINDING;
    if (error == CXR_SUCCESS)
        *out_offset = found.offset;
    return error;
}

/* ---- surfaces ---- */

cxr_error cxr_cudaBindSurfaceToArray(const cxr_surface_reference *host, CUarray array,
                                     const cxr_channel_format *channels)
{
    const cx_driver_table *driver;
    cx_cudart_reference found;
    CUsurfref reference;
    CUmodule module;
    cxr_error error = check_channels(channels);
    if (error == CXR_SUCCESS)
        error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_reference_find(host, true, &found);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_get_module(&module, found.library);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->module_get_surf_ref(&reference, module, found.name);
    if (error == CXR_SYMBOL_NOT_FOUND)
        return CXR_INVALID_SURFACE;
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->surf_ref_set_array(reference, array, 0);
}
