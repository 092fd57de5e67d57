/* Calls on arrays and mipmapped arrays. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/memory/array.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/capture_check.h"
#include "emu/schedule/work.h"

/* ---- limits ---- */

/* The attributes with the largest width, height and depth or layers; 0: that size is none. */
typedef struct extents {
    cxu_device_attribute width, height, depth;
} extents;

static extents extents_of_texture(const cxu_array_3d_descriptor *array)
{
    if (array->flags & CXU_ARRAY3D_CUBEMAP)
        return array->flags & CXU_ARRAY3D_LAYERED
                   ? (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                               CXU_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                               CXU_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS}
                   : (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
                               CXU_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 0};
    if (array->flags & CXU_ARRAY3D_LAYERED)
        return array->height == 0 ? (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 0,
                                              CXU_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS}
                                  : (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
                                              CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
                                              CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS};
    if (array->depth > 0)
        return (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
                         CXU_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
                         CXU_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH};
    if (array->height == 0)
        return (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 0, 0};
    return array->flags & CXU_ARRAY3D_TEXTURE_GATHER
               ? (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
                           CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 0}
               : (extents){CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
                           CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 0};
}

static extents extents_of_surface(const cxu_array_3d_descriptor *array)
{
    if (array->flags & CXU_ARRAY3D_CUBEMAP)
        return array->flags & CXU_ARRAY3D_LAYERED
                   ? (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                               CXU_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                               CXU_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS}
                   : (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH,
                               CXU_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 0};
    if (array->flags & CXU_ARRAY3D_LAYERED)
        return array->height == 0 ? (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 0,
                                              CXU_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS}
                                  : (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
                                              CXU_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
                                              CXU_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS};
    if (array->depth > 0)
        return (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH,
                         CXU_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
                         CXU_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH};
    return array->height == 0 ? (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 0, 0}
                              : (extents){CXU_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
                                          CXU_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 0};
}

static bool is_below(const cx_emu_device *device, size_t size, cxu_device_attribute most)
{
    return most == 0 || size <= (size_t)cx_emu_attribute_value(device, most);
}

static bool fits_extents(const cx_emu_device *device, const cxu_array_3d_descriptor *array,
                         extents most)
{
    return is_below(device, array->width, most.width) &&
           is_below(device, array->height, most.height) &&
           is_below(device, array->depth, most.depth);
}

static const extents alternate = {CXU_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
                                  CXU_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                                  CXU_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE};

static bool fits_device(const cx_emu_device *device, const cxu_array_3d_descriptor *array)
{
    bool plain_3d =
        array->depth > 0 && !(array->flags & (CXU_ARRAY3D_LAYERED | CXU_ARRAY3D_CUBEMAP));

    if (!fits_extents(device, array, extents_of_texture(array)) &&
        !(plain_3d && fits_extents(device, array, alternate)))
        return false;
    return !(array->flags & CXU_ARRAY3D_SURFACE_LDST) ||
           fits_extents(device, array, extents_of_surface(array));
}

/* ---- descriptors ---- */

static bool shape_valid(const cxu_array_3d_descriptor *array)
{
    bool layered = array->flags & CXU_ARRAY3D_LAYERED;

    if (array->width == 0)
        return false;
    if (array->flags & CXU_ARRAY3D_CUBEMAP)
        return array->width == array->height && array->depth > 0 &&
               (layered ? array->depth % 6 == 0 : array->depth == 6);
    if (layered)
        return array->depth > 0;
    return array->height > 0 || array->depth == 0;
}

static bool flags_valid(const cxu_array_3d_descriptor *array)
{
    const unsigned int known = CXU_ARRAY3D_LAYERED | CXU_ARRAY3D_SURFACE_LDST |
                               CXU_ARRAY3D_CUBEMAP | CXU_ARRAY3D_TEXTURE_GATHER |
                               CXU_ARRAY3D_DEPTH_TEXTURE | CXU_ARRAY3D_COLOR_ATTACHMENT;
    bool flat = array->height > 0 && array->depth == 0;

    return (array->flags & ~known) == 0 && (!(array->flags & CXU_ARRAY3D_TEXTURE_GATHER) || flat);
}

static cxu_result check_descriptor(const char *call, const cx_emu_device *device,
                                   const cxu_array_3d_descriptor *array)
{
    if (array->flags & CXU_ARRAY3D_SPARSE)
        return cx_emu_not_supported(call, "a sparse array");
    if (array->flags & CXU_ARRAY3D_DEFERRED_MAPPING)
        return cx_emu_not_supported(call, "an array whose memory is mapped later");
    if (array->flags & CXU_ARRAY3D_VIDEO_ENCODE_DECODE)
        return cx_emu_not_supported(call, "an array for video");
    if (cx_emu_array_format_is_foreign(array->format))
        return cx_emu_not_supported(call, "compressed blocks, planes of video, or 10 bits");
    return cx_emu_array_element_bytes(array->format, array->channels) > 0 && shape_valid(array) &&
                   flags_valid(array) && fits_device(device, array)
               ? CXU_SUCCESS
               : CXU_INVALID_VALUE;
}

/* The current context, in which such an array may be made. Lock held. */
static cxu_result find_owner(const char *call, const cxu_array_3d_descriptor *descriptor,
                             const void *out, cx_emu_context **out_context)
{
    cxu_result result = cx_emu_context_current(out_context);

    if (result == CXU_SUCCESS && (descriptor == NULL || out == NULL))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = check_descriptor(call, (*out_context)->device, descriptor);
    return result == CXU_SUCCESS ? cx_emu_capture_check_unsafe() : result;
}

/* ---- arrays ---- */

static cxu_result create_array(const char *call, CUarray *out_array,
                               const cxu_array_3d_descriptor *descriptor)
{
    cx_emu_context *context;
    cx_emu_array *array;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = find_owner(call, descriptor, out_array, &context);
    if (result == CXU_SUCCESS)
        result = cx_emu_array_create(context, descriptor, &array);
    if (result == CXU_SUCCESS)
        *out_array = cx_emu_array_handle(array);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_array_create(CUarray *out_array, const cxu_array_descriptor *descriptor)
{
    cxu_array_3d_descriptor whole = {0};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (descriptor != NULL)
        whole = (cxu_array_3d_descriptor){.width = descriptor->width,
                                          .height = descriptor->height,
                                          .format = descriptor->format,
                                          .channels = descriptor->channels};
    return create_array("cuArrayCreate_v2", out_array, descriptor != NULL ? &whole : NULL);
}

cxu_result cx_emu_call_array_3d_create(CUarray *out_array,
                                       const cxu_array_3d_descriptor *descriptor)
{
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? create_array("cuArray3DCreate_v2", out_array, descriptor)
                                 : result;
}

cxu_result cx_emu_call_array_3d_get_descriptor(cxu_array_3d_descriptor *out_descriptor,
                                               CUarray handle)
{
    cx_emu_array *array;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = out_descriptor != NULL ? cx_emu_array_find(handle, &array) : CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_descriptor = array->descriptor;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_array_get_descriptor(cxu_array_descriptor *out_descriptor, CUarray handle)
{
    cxu_array_3d_descriptor whole;
    cxu_result result =
        cx_emu_call_array_3d_get_descriptor(out_descriptor != NULL ? &whole : NULL, handle);

    if (result == CXU_SUCCESS)
        *out_descriptor =
            (cxu_array_descriptor){whole.width, whole.height, whole.format, whole.channels};
    return result;
}

/* Finds an array that the user may destroy. */
static cxu_result find_own(CUarray handle, cx_emu_array **out_array)
{
    cxu_result result = cx_emu_array_find(handle, out_array);

    if (result == CXU_SUCCESS && (*out_array)->whole != NULL)
        result = CXU_INVALID_VALUE; /* a level goes with its mipmapped array */
    return result == CXU_SUCCESS ? cx_emu_capture_check_unsafe() : result;
}

/* During a wait for kernels another thread may destroy it. Lock held. */
static cxu_result destroy_array(CUarray handle)
{
    cx_emu_array *array;
    cxu_result result = find_own(handle, &array);

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_work_wait_kernels(array->memory->device);
    result = find_own(handle, &array);
    if (result == CXU_SUCCESS)
        cx_emu_array_destroy(array);
    return result;
}

cxu_result cx_emu_call_array_destroy(CUarray handle)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = destroy_array(handle);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Checks the handle; `out`: where the call writes. No array has what the call asks for. */
static cxu_result refuse_array(const void *out, CUarray handle)
{
    cx_emu_array *array;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = out != NULL ? cx_emu_array_find(handle, &array) : CXU_INVALID_VALUE;
    cx_lock_leave(&cx_emu_lock);
    return result == CXU_SUCCESS ? CXU_INVALID_VALUE : result;
}

/* Only formats of video have planes. */
cxu_result cx_emu_call_array_get_plane(CUarray *out_plane, CUarray array, unsigned int plane)
{
    (void)plane;
    return refuse_array(out_plane, array);
}

cxu_result cx_emu_call_array_get_sparse_properties(cxu_array_sparse_properties *out_properties,
                                                   CUarray array)
{
    return refuse_array(out_properties, array);
}

/* Only arrays whose memory is mapped later tell. */
cxu_result cx_emu_call_array_get_memory_requirements(
    cxu_array_memory_requirements *out_requirements, CUarray array, CUdevice device)
{
    (void)device;
    return refuse_array(out_requirements, array);
}

/* ---- mipmapped arrays ---- */

cxu_result cx_emu_call_mipmapped_array_create(CUmipmappedArray *out_mipmapped,
                                              const cxu_array_3d_descriptor *descriptor,
                                              unsigned int levels)
{
    cx_emu_context *context;
    cx_emu_mipmapped_array *mipmapped;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_owner("cuMipmappedArrayCreate", descriptor, out_mipmapped, &context);
    if (result == CXU_SUCCESS && levels == 0)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = cx_emu_mipmapped_array_create(context, descriptor, levels, &mipmapped);
    if (result == CXU_SUCCESS)
        *out_mipmapped = (CUmipmappedArray)(void *)mipmapped;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mipmapped_array_get_level(CUarray *out_array, CUmipmappedArray handle,
                                                 unsigned int level)
{
    cx_emu_mipmapped_array *mipmapped;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result =
        out_array != NULL ? cx_emu_mipmapped_array_find(handle, &mipmapped) : CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS && level >= mipmapped->level_count)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_array = cx_emu_array_handle(mipmapped->levels[level]);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result find_mipmapped(CUmipmappedArray handle, cx_emu_mipmapped_array **out_mipmapped)
{
    cxu_result result = cx_emu_mipmapped_array_find(handle, out_mipmapped);

    return result == CXU_SUCCESS ? cx_emu_capture_check_unsafe() : result;
}

static cxu_result destroy_mipmapped(CUmipmappedArray handle)
{
    cx_emu_mipmapped_array *mipmapped;
    cxu_result result = find_mipmapped(handle, &mipmapped);

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_work_wait_kernels(mipmapped->memory->device);
    result = find_mipmapped(handle, &mipmapped);
    if (result == CXU_SUCCESS)
        cx_emu_mipmapped_array_destroy(mipmapped);
    return result;
}

cxu_result cx_emu_call_mipmapped_array_destroy(CUmipmappedArray handle)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = destroy_mipmapped(handle);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result refuse_mipmapped(const void *out, CUmipmappedArray handle)
{
    cx_emu_mipmapped_array *mipmapped;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = out != NULL ? cx_emu_mipmapped_array_find(handle, &mipmapped) : CXU_INVALID_VALUE;
    cx_lock_leave(&cx_emu_lock);
    return result == CXU_SUCCESS ? CXU_INVALID_VALUE : result;
}

cxu_result cx_emu_call_mipmapped_array_get_sparse_properties(
    cxu_array_sparse_properties *out_properties, CUmipmappedArray mipmapped)
{
    return refuse_mipmapped(out_properties, mipmapped);
}

cxu_result cx_emu_call_mipmapped_array_get_memory_requirements(
    cxu_array_memory_requirements *out_requirements, CUmipmappedArray mipmapped, CUdevice device)
{
    (void)device;
    return refuse_mipmapped(out_requirements, mipmapped);
}
