/* Calls on references to textures and surfaces. */
#include "driver/cuda_abi_array.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/module/texture_reference.h"

#include <string.h>

/* ---- references ---- */

static cxu_result get_reference(void *out_reference, CUmodule handle, const char *name,
                                bool is_surface)
{
    cx_emu_texture_reference *found = NULL;
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_reference == NULL || name == NULL || *name == '\0')
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_module_find(handle, &module);
    if (result == CXU_SUCCESS)
        result = cx_emu_texture_reference_named(module, name, is_surface, &found);
    if (result == CXU_SUCCESS)
        memcpy(out_reference, &found, sizeof found);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_module_get_tex_ref(CUtexref *out_reference, CUmodule module,
                                          const char *name)
{
    return get_reference(out_reference, module, name, false);
}

cxu_result cx_emu_call_module_get_surf_ref(CUsurfref *out_reference, CUmodule module,
                                           const char *name)
{
    return get_reference(out_reference, module, name, true);
}

/* ---- changes ---- */

/* Changes a copy of the binding, which takes its place unless the change is refused. */
typedef cxu_result (*change)(const cx_emu_context *context, cx_emu_binding *binding,
                             const void *how);

static cxu_result change_found(cx_emu_texture_reference *reference, change apply, const void *how)
{
    cx_emu_binding copy = *cx_emu_texture_reference_binding(reference);
    cxu_result result = apply(reference->module->context, &copy, how);
    cx_emu_binding *own;

    if (result != CXU_SUCCESS)
        return result;
    own = cx_emu_texture_reference_change(reference);
    if (own == NULL)
        return CXU_OUT_OF_MEMORY;
    *own = copy;
    return CXU_SUCCESS;
}

/* NULL for `apply`: an argument has no such value. */
static cxu_result change_binding(const void *handle, bool is_surface, change apply,
                                 const void *how)
{
    cx_emu_texture_reference *reference;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (apply == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_texture_reference_find(handle, is_surface, &reference);
    if (result == CXU_SUCCESS)
        result = change_found(reference, apply, how);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Supersedes what was bound. */
static cxu_result bind_resource(const cx_emu_context *context, cx_emu_binding *binding,
                                const cxu_resource_descriptor *resource)
{
    cxu_result result =
        cx_emu_texture_check_resource(context, resource, binding->is_surface);

    if (result != CXU_SUCCESS)
        return result;
    binding->resource = *resource;
    binding->is_bound = true;
    return CXU_SUCCESS;
}

/* The format is the array's. */
static cxu_result bind_array(const cx_emu_context *context, cx_emu_binding *binding,
                             const void *how)
{
    CUarray handle = *(const CUarray *)how;
    const cxu_resource_descriptor resource = {.type = CXU_RESOURCE_TYPE_ARRAY,
                                              .of.array = handle};
    cxu_result result = bind_resource(context, binding, &resource);
    cx_emu_array *array;

    if (result == CXU_SUCCESS)
        result = cx_emu_array_find(handle, &array);
    if (result != CXU_SUCCESS)
        return result;
    binding->format = array->descriptor.format;
    binding->channels = array->descriptor.channels;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_array(CUtexref reference, CUarray array, unsigned int flags)
{
    return change_binding(reference, false, flags == CXU_TRSA_OVERRIDE_FORMAT ? bind_array : NULL,
                          &array);
}

cxu_result cx_emu_call_surf_ref_set_array(CUsurfref reference, CUarray array, unsigned int flags)
{
    return change_binding(reference, true, flags == 0 ? bind_array : NULL, &array);
}

static cxu_result bind_mipmapped(const cx_emu_context *context, cx_emu_binding *binding,
                                 const void *how)
{
    CUmipmappedArray handle = *(const CUmipmappedArray *)how;
    const cxu_resource_descriptor resource = {.type = CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                              .of.mipmapped = handle};
    cxu_result result = bind_resource(context, binding, &resource);
    cx_emu_mipmapped_array *mipmapped;

    if (result == CXU_SUCCESS)
        result = cx_emu_mipmapped_array_find(handle, &mipmapped);
    if (result != CXU_SUCCESS)
        return result;
    binding->format = mipmapped->levels[0]->descriptor.format;
    binding->channels = mipmapped->levels[0]->descriptor.channels;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_mipmapped_array(CUtexref reference, CUmipmappedArray array,
                                                   unsigned int flags)
{
    return change_binding(reference, false,
                          flags == CXU_TRSA_OVERRIDE_FORMAT ? bind_mipmapped : NULL, &array);
}

/* ---- linear memory ---- */

typedef struct linear_range {
    CUdeviceptr address;
    size_t bytes;
    bool needs_alignment; /* the caller does not hear of an offset */
} linear_range;

/* Binds from the aligned address before it on; nothing at 0 unbinds. */
static cxu_result bind_linear(const cx_emu_context *context, cx_emu_binding *binding,
                              const void *how)
{
    const linear_range *range = how;
    size_t offset = (size_t)(range->address % CX_EMU_TEXTURE_ALIGNMENT);
    const cxu_resource_descriptor resource = {
        .type = CXU_RESOURCE_TYPE_LINEAR,
        .of.linear = {.address = range->address - offset,
                      .format = binding->format,
                      .channels = binding->channels,
                      .bytes = range->bytes + offset}};

    if (range->address == 0 && range->bytes == 0) {
        binding->is_bound = false;
        return CXU_SUCCESS;
    }
    return offset != 0 && range->needs_alignment ? CXU_INVALID_VALUE
                                                 : bind_resource(context, binding, &resource);
}

cxu_result cx_emu_call_tex_ref_set_address(size_t *out_offset, CUtexref reference,
                                           CUdeviceptr address, size_t bytes)
{
    const linear_range range = {address, bytes, out_offset == NULL};
    cxu_result result = change_binding(reference, false, bind_linear, &range);

    if (result == CXU_SUCCESS && out_offset != NULL)
        *out_offset = (size_t)(address % CX_EMU_TEXTURE_ALIGNMENT);
    return result;
}

typedef struct pitched_range {
    const cxu_array_descriptor *shape;
    CUdeviceptr address;
    size_t pitch_bytes;
} pitched_range;

static cxu_result bind_pitched(const cx_emu_context *context, cx_emu_binding *binding,
                               const void *how)
{
    const pitched_range *range = how;
    const cxu_resource_descriptor resource = {
        .type = CXU_RESOURCE_TYPE_PITCH2D,
        .of.pitch_2d = {.address = range->address,
                        .format = range->shape->format,
                        .channels = range->shape->channels,
                        .width = range->shape->width,
                        .height = range->shape->height,
                        .pitch_bytes = range->pitch_bytes}};
    cxu_result result = bind_resource(context, binding, &resource);

    if (result != CXU_SUCCESS)
        return result;
    binding->format = range->shape->format;
    binding->channels = range->shape->channels;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_address_2d(CUtexref reference,
                                              const cxu_array_descriptor *shape,
                                              CUdeviceptr address, size_t pitch_bytes)
{
    const pitched_range range = {shape, address, pitch_bytes};

    return change_binding(reference, false, shape != NULL ? bind_pitched : NULL, &range);
}

/* ---- how kernels read ---- */

typedef struct numbered {
    unsigned int first, second;
} numbered;

static cxu_result set_format(const cx_emu_context *context, cx_emu_binding *binding,
                             const void *how)
{
    const numbered *numbers = how;

    (void)context;
    if (cx_emu_array_element_bytes((cxu_array_format)numbers->first, numbers->second) == 0)
        return CXU_INVALID_VALUE;
    binding->format = (cxu_array_format)numbers->first;
    binding->channels = numbers->second;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_format(CUtexref reference, cxu_array_format format,
                                          int channels)
{
    const numbered numbers = {(unsigned int)format, (unsigned int)channels};

    return change_binding(reference, false, set_format, &numbers);
}

static cxu_result set_address_mode(const cx_emu_context *context, cx_emu_binding *binding,
                                   const void *how)
{
    const numbered *numbers = how;

    (void)context;
    if (numbers->first > 2 || numbers->second > CXU_TR_ADDRESS_MODE_BORDER)
        return CXU_INVALID_VALUE;
    binding->texture.address_mode[numbers->first] = (cxu_address_mode)numbers->second;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_address_mode(CUtexref reference, int dimension,
                                                cxu_address_mode mode)
{
    const numbered numbers = {(unsigned int)dimension, (unsigned int)mode};

    return change_binding(reference, false, set_address_mode, &numbers);
}

static cxu_result set_filter_mode(const cx_emu_context *context, cx_emu_binding *binding,
                                  const void *how)
{
    unsigned int mode = *(const cxu_filter_mode *)how;

    (void)context;
    if (mode > CXU_TR_FILTER_MODE_LINEAR)
        return CXU_INVALID_VALUE;
    binding->texture.filter_mode = (cxu_filter_mode)mode;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_filter_mode(CUtexref reference, cxu_filter_mode mode)
{
    return change_binding(reference, false, set_filter_mode, &mode);
}

static cxu_result set_mipmap_filter_mode(const cx_emu_context *context, cx_emu_binding *binding,
                                         const void *how)
{
    unsigned int mode = *(const cxu_filter_mode *)how;

    (void)context;
    if (mode > CXU_TR_FILTER_MODE_LINEAR)
        return CXU_INVALID_VALUE;
    binding->texture.mipmap_filter_mode = (cxu_filter_mode)mode;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_mipmap_filter_mode(CUtexref reference, cxu_filter_mode mode)
{
    return change_binding(reference, false, set_mipmap_filter_mode, &mode);
}

static cxu_result set_level_bias(const cx_emu_context *context, cx_emu_binding *binding,
                                 const void *how)
{
    (void)context;
    binding->texture.mipmap_level_bias = *(const float *)how;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_mipmap_level_bias(CUtexref reference, float bias)
{
    return change_binding(reference, false, set_level_bias, &bias);
}

static cxu_result set_level_clamp(const cx_emu_context *context, cx_emu_binding *binding,
                                  const void *how)
{
    const float *both = how;

    (void)context;
    binding->texture.min_mipmap_level_clamp = both[0];
    binding->texture.max_mipmap_level_clamp = both[1];
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_mipmap_level_clamp(CUtexref reference, float least, float most)
{
    const float both[] = {least, most};

    return change_binding(reference, false, set_level_clamp, both);
}

static cxu_result set_anisotropy(const cx_emu_context *context, cx_emu_binding *binding,
                                 const void *how)
{
    (void)context;
    binding->texture.max_anisotropy = *(const unsigned int *)how;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_max_anisotropy(CUtexref reference, unsigned int most)
{
    return change_binding(reference, false, set_anisotropy, &most);
}

static cxu_result set_border_color(const cx_emu_context *context, cx_emu_binding *binding,
                                   const void *how)
{
    (void)context;
    memcpy(binding->texture.border_color, how, sizeof binding->texture.border_color);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_border_color(CUtexref reference, float *color)
{
    return change_binding(reference, false, color != NULL ? set_border_color : NULL, color);
}

static cxu_result set_flags(const cx_emu_context *context, cx_emu_binding *binding,
                            const void *how)
{
    const unsigned int known = CXU_TRSF_READ_AS_INTEGER | CXU_TRSF_NORMALIZED_COORDINATES |
                               CXU_TRSF_SRGB | CXU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    unsigned int flags = *(const unsigned int *)how;

    (void)context;
    if (flags & ~known)
        return CXU_INVALID_VALUE;
    binding->texture.flags = flags;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_set_flags(CUtexref reference, unsigned int flags)
{
    return change_binding(reference, false, set_flags, &flags);
}

/* ---- questions ---- */

/* Copies a binding, as it is now. */
static cxu_result read_binding(const void *handle, bool is_surface, const void *out,
                               cx_emu_binding *out_copy)
{
    cx_emu_texture_reference *reference;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_texture_reference_find(handle, is_surface, &reference);
    if (result == CXU_SUCCESS)
        *out_copy = *cx_emu_texture_reference_binding(reference);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The same of one to which such a resource is bound. */
static cxu_result read_bound(const void *handle, bool is_surface, cxu_resource_type type,
                             const void *out, cx_emu_binding *out_copy)
{
    cxu_result result = read_binding(handle, is_surface, out, out_copy);

    if (result == CXU_SUCCESS && (!out_copy->is_bound || out_copy->resource.type != type))
        result = CXU_INVALID_VALUE;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_address(CUdeviceptr *out_address, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result =
        read_bound(reference, false, CXU_RESOURCE_TYPE_LINEAR, out_address, &found);

    if (result == CXU_SUCCESS) {
        *out_address = found.resource.of.linear.address;
        return result;
    }
    result = read_bound(reference, false, CXU_RESOURCE_TYPE_PITCH2D, out_address, &found);
    if (result == CXU_SUCCESS)
        *out_address = found.resource.of.pitch_2d.address;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_array(CUarray *out_array, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_bound(reference, false, CXU_RESOURCE_TYPE_ARRAY, out_array, &found);

    if (result == CXU_SUCCESS)
        *out_array = found.resource.of.array;
    return result;
}

cxu_result cx_emu_call_surf_ref_get_array(CUarray *out_array, CUsurfref reference)
{
    cx_emu_binding found;
    cxu_result result = read_bound(reference, true, CXU_RESOURCE_TYPE_ARRAY, out_array, &found);

    if (result == CXU_SUCCESS)
        *out_array = found.resource.of.array;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_mipmapped_array(CUmipmappedArray *out_array,
                                                   CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result =
        read_bound(reference, false, CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY, out_array, &found);

    if (result == CXU_SUCCESS)
        *out_array = found.resource.of.mipmapped;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_format(cxu_array_format *out_format, int *out_channels,
                                          CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result =
        read_binding(reference, false, out_channels != NULL ? out_format : NULL, &found);

    if (result != CXU_SUCCESS)
        return result;
    *out_format = found.format;
    *out_channels = (int)found.channels;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_get_address_mode(cxu_address_mode *out_mode, CUtexref reference,
                                                int dimension)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_mode, &found);

    if (result == CXU_SUCCESS && (dimension < 0 || dimension > 2))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_mode = found.texture.address_mode[dimension];
    return result;
}

cxu_result cx_emu_call_tex_ref_get_filter_mode(cxu_filter_mode *out_mode, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_mode, &found);

    if (result == CXU_SUCCESS)
        *out_mode = found.texture.filter_mode;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_mipmap_filter_mode(cxu_filter_mode *out_mode,
                                                      CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_mode, &found);

    if (result == CXU_SUCCESS)
        *out_mode = found.texture.mipmap_filter_mode;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_mipmap_level_bias(float *out_bias, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_bias, &found);

    if (result == CXU_SUCCESS)
        *out_bias = found.texture.mipmap_level_bias;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_mipmap_level_clamp(float *out_least, float *out_most,
                                                      CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result =
        read_binding(reference, false, out_most != NULL ? out_least : NULL, &found);

    if (result != CXU_SUCCESS)
        return result;
    *out_least = found.texture.min_mipmap_level_clamp;
    *out_most = found.texture.max_mipmap_level_clamp;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_tex_ref_get_max_anisotropy(int *out_most, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_most, &found);

    if (result == CXU_SUCCESS)
        *out_most = (int)found.texture.max_anisotropy;
    return result;
}

cxu_result cx_emu_call_tex_ref_get_border_color(float *out_color, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_color, &found);

    if (result == CXU_SUCCESS)
        memcpy(out_color, found.texture.border_color, sizeof found.texture.border_color);
    return result;
}

cxu_result cx_emu_call_tex_ref_get_flags(unsigned int *out_flags, CUtexref reference)
{
    cx_emu_binding found;
    cxu_result result = read_binding(reference, false, out_flags, &found);

    if (result == CXU_SUCCESS)
        *out_flags = found.texture.flags;
    return result;
}
