#include "emu/memory/texture.h"

#include "emu/device/device.h"
#include "emu/report/not_supported.h"

#include <string.h>

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_texture)};
static cx_emu_texture *all;
static cx_emu_texture_user *oldest, *newest; /* users, in the order of their beginning */
static uint64_t users_begun;
static size_t destroyed_count; /* of all: those that users may know */

/* ---- formats ---- */

typedef struct format {
    cx_ptx_channel channel;
    unsigned int channels;
    bool is_normalized; /* by itself, whatever the texture says */
} format;

static bool find_format(cxu_array_format number, unsigned int channels, format *out)
{
    static const cx_ptx_channel normalized[] = {CX_PTX_CHANNEL_U8, CX_PTX_CHANNEL_U16,
                                                CX_PTX_CHANNEL_S8, CX_PTX_CHANNEL_S16};

    if (cx_emu_array_element_bytes(number, channels) == 0)
        return false;
    *out = (format){.channels = channels};
    switch ((unsigned int)number) {
    case CXU_AD_FORMAT_UNSIGNED_INT8:
        out->channel = CX_PTX_CHANNEL_U8;
        break;
    case CXU_AD_FORMAT_UNSIGNED_INT16:
        out->channel = CX_PTX_CHANNEL_U16;
        break;
    case CXU_AD_FORMAT_UNSIGNED_INT32:
        out->channel = CX_PTX_CHANNEL_U32;
        break;
    case CXU_AD_FORMAT_SIGNED_INT8:
        out->channel = CX_PTX_CHANNEL_S8;
        break;
    case CXU_AD_FORMAT_SIGNED_INT16:
        out->channel = CX_PTX_CHANNEL_S16;
        break;
    case CXU_AD_FORMAT_SIGNED_INT32:
        out->channel = CX_PTX_CHANNEL_S32;
        break;
    case CXU_AD_FORMAT_HALF:
        out->channel = CX_PTX_CHANNEL_HALF;
        break;
    case CXU_AD_FORMAT_FLOAT:
        out->channel = CX_PTX_CHANNEL_FLOAT;
        break;
    default:
        out->is_normalized = true;
        out->channel = normalized[((unsigned int)number - CXU_AD_FORMAT_UNORM_INT8X1) / 3];
    }
    return true;
}

static bool find_view_format(cxu_resource_view_format number, format *out)
{
    static const cx_ptx_channel kinds[] = {CX_PTX_CHANNEL_U8,   CX_PTX_CHANNEL_S8,
                                           CX_PTX_CHANNEL_U16,  CX_PTX_CHANNEL_S16,
                                           CX_PTX_CHANNEL_U32,  CX_PTX_CHANNEL_S32,
                                           CX_PTX_CHANNEL_HALF, CX_PTX_CHANNEL_FLOAT};
    static const unsigned int channels[] = {1, 2, 4};
    unsigned int index = (unsigned int)number - CXU_RES_VIEW_FORMAT_UINT_1X8;

    if (index > CXU_RES_VIEW_FORMAT_FLOAT_4X32 - CXU_RES_VIEW_FORMAT_UINT_1X8)
        return false;
    *out = (format){.channel = kinds[index / 3], .channels = channels[index % 3]};
    return true;
}

/* ---- descriptions ---- */

static void set_format(cx_ptx_texture *out, format found)
{
    out->channel = found.channel;
    out->channels = (uint8_t)found.channels;
    out->as_numbers = found.is_normalized;
}

static void set_array(cx_ptx_texture *out, const cxu_array_3d_descriptor *whole)
{
    out->layered = whole->flags & CXU_ARRAY3D_LAYERED;
    out->cube = whole->flags & CXU_ARRAY3D_CUBEMAP;
    out->width = (uint32_t)whole->width;
    out->height = whole->height ? (uint32_t)whole->height : 1;
    if (out->layered || out->cube)
        out->layers = (uint32_t)whole->depth;
    else if (whole->depth)
        out->depth = (uint32_t)whole->depth;
    out->last_layer = out->layers - 1;
}

static bool describe_array(const cx_emu_array *array, cx_ptx_texture *out, cx_emu_use *out_memory)
{
    const cxu_array_3d_descriptor *whole = &array->descriptor;
    format found;

    if (!find_format(whole->format, whole->channels, &found))
        return false;
    set_format(out, found);
    set_array(out, whole);
    out->memory = array->memory->mapped + array->offset;
    out->bytes = cx_emu_array_slice_bytes(array) * array->depth;
    out->pitch_bytes = array->width_bytes;
    *out_memory = (cx_emu_use){array->memory, array->memory->address + array->memory->bytes};
    return true;
}

static bool describe_mipmapped(const cx_emu_mipmapped_array *mipmapped, cx_ptx_texture *out,
                               cx_emu_use *out_memory)
{
    if (!describe_array(mipmapped->levels[0], out, out_memory))
        return false;
    out->last_level = mipmapped->level_count - 1;
    return true;
}

static bool describe_memory(CUdeviceptr address, size_t bytes, cx_ptx_texture *out,
                            cx_emu_use *out_memory)
{
    cx_emu_allocation *allocation =
        cx_emu_allocation_find_for_work(address, bytes, CX_EMU_MEMORY_ANY);

    if (allocation == NULL)
        return false;
    out->memory = cx_emu_allocation_at(allocation, address);
    out->address = address;
    out->bytes = bytes;
    *out_memory = (cx_emu_use){allocation, address + bytes};
    return true;
}

static bool describe_resource(const cxu_resource_descriptor *resource, cx_ptx_texture *out,
                              cx_emu_use *out_memory)
{
    cx_emu_array *array;
    cx_emu_mipmapped_array *mipmapped;
    format found;

    *out = (cx_ptx_texture){.width = 1, .height = 1, .depth = 1, .layers = 1};
    switch (resource->type) {
    case CXU_RESOURCE_TYPE_ARRAY:
        return cx_emu_array_find(resource->of.array, &array) == CXU_SUCCESS &&
               describe_array(array, out, out_memory);
    case CXU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return cx_emu_mipmapped_array_find(resource->of.mipmapped, &mipmapped) == CXU_SUCCESS &&
               describe_mipmapped(mipmapped, out, out_memory);
    case CXU_RESOURCE_TYPE_LINEAR:
        if (!find_format(resource->of.linear.format, resource->of.linear.channels, &found))
            return false;
        set_format(out, found);
        out->is_linear = true;
        out->width = (uint32_t)(resource->of.linear.bytes / cx_ptx_texture_element_bytes(out));
        out->pitch_bytes = resource->of.linear.bytes;
        return describe_memory(resource->of.linear.address, resource->of.linear.bytes, out,
                               out_memory);
    case CXU_RESOURCE_TYPE_PITCH2D:
        if (!find_format(resource->of.pitch_2d.format, resource->of.pitch_2d.channels, &found))
            return false;
        set_format(out, found);
        out->width = (uint32_t)resource->of.pitch_2d.width;
        out->height = (uint32_t)resource->of.pitch_2d.height;
        out->pitch_bytes = resource->of.pitch_2d.pitch_bytes;
        return describe_memory(resource->of.pitch_2d.address,
                               out->pitch_bytes * (out->height - 1) +
                                   (size_t)out->width * cx_ptx_texture_element_bytes(out),
                               out, out_memory);
    default:
        return false;
    }
}

static void apply_view(const cxu_resource_view_descriptor *view, cx_ptx_texture *out)
{
    format found;

    if (find_view_format(view->format, &found))
        set_format(out, found);
    if (out->layered || out->cube) {
        out->first_layer = view->first_layer;
        out->last_layer = view->last_layer;
    }
    out->first_level = view->first_mipmap_level;
    out->last_level = view->last_mipmap_level;
}

static void apply_texture(const cxu_texture_descriptor *texture, cx_ptx_texture *out)
{
    bool is_small_integer = out->channel != CX_PTX_CHANNEL_U32 &&
                            out->channel != CX_PTX_CHANNEL_S32 &&
                            out->channel < CX_PTX_CHANNEL_HALF;

    if (!(texture->flags & CXU_TRSF_READ_AS_INTEGER) && is_small_integer)
        out->as_numbers = true;
    out->srgb = texture->flags & CXU_TRSF_SRGB;
    out->normalized = texture->flags & CXU_TRSF_NORMALIZED_COORDINATES;
    out->seamless = texture->flags & CXU_TRSF_SEAMLESS_CUBEMAP;
    out->filters = texture->filter_mode == CXU_TR_FILTER_MODE_LINEAR;
    out->filters_mips = texture->mipmap_filter_mode == CXU_TR_FILTER_MODE_LINEAR;
    for (int i = 0; i < 3; i++)
        out->address_mode[i] = (uint8_t)texture->address_mode[i];
    out->level_bias = texture->mipmap_level_bias;
    out->least_level = texture->min_mipmap_level_clamp;
    out->most_level = texture->max_mipmap_level_clamp;
    memcpy(out->border, texture->border_color, sizeof out->border);
}

/* ---- what an object may be ---- */

static bool modes_valid(const cxu_texture_descriptor *texture)
{
    const unsigned int known = CXU_TRSF_READ_AS_INTEGER | CXU_TRSF_NORMALIZED_COORDINATES |
                               CXU_TRSF_SRGB | CXU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                               CXU_TRSF_SEAMLESS_CUBEMAP;

    for (int i = 0; i < 3; i++)
        if ((unsigned int)texture->address_mode[i] > CXU_TR_ADDRESS_MODE_BORDER)
            return false;
    return (unsigned int)texture->filter_mode <= CXU_TR_FILTER_MODE_LINEAR &&
           (unsigned int)texture->mipmap_filter_mode <= CXU_TR_FILTER_MODE_LINEAR &&
           (texture->flags & ~known) == 0;
}

static size_t limit(const cx_emu_context *context, cxu_device_attribute attribute)
{
    return (size_t)cx_emu_attribute_value(context->device, attribute);
}

static bool linear_valid(const cx_emu_context *context, const cxu_resource_descriptor *resource)
{
    size_t element = cx_emu_array_element_bytes(resource->of.linear.format,
                                                resource->of.linear.channels);

    return element > 0 && resource->of.linear.address % CX_EMU_TEXTURE_ALIGNMENT == 0 &&
           resource->of.linear.bytes >= element &&
           resource->of.linear.bytes / element <=
               limit(context, CXU_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
}

static bool pitch_2d_valid(const cx_emu_context *context, const cxu_resource_descriptor *resource)
{
    size_t element = cx_emu_array_element_bytes(resource->of.pitch_2d.format,
                                                resource->of.pitch_2d.channels);
    size_t width = resource->of.pitch_2d.width, height = resource->of.pitch_2d.height;
    size_t pitch = resource->of.pitch_2d.pitch_bytes;

    return element > 0 && resource->of.pitch_2d.address % CX_EMU_TEXTURE_ALIGNMENT == 0 &&
           width > 0 && height > 0 &&
           width <= limit(context, CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) &&
           height <= limit(context, CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) &&
           pitch <= limit(context, CXU_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH) &&
           pitch % limit(context, CXU_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0 &&
           pitch >= width * element;
}

static bool resource_valid(const cx_emu_context *context, const cxu_resource_descriptor *resource)
{
    if (resource->flags != 0)
        return false;
    if (resource->type == CXU_RESOURCE_TYPE_LINEAR)
        return linear_valid(context, resource);
    return resource->type != CXU_RESOURCE_TYPE_PITCH2D || pitch_2d_valid(context, resource);
}

/* The object is described as it is without the view. */
static cxu_result check_view(const char *call, const cx_ptx_texture *whole,
                             const cxu_resource_view_descriptor *view)
{
    format found;
    size_t bytes;

    if (view->format >= CXU_RES_VIEW_FORMAT_UNSIGNED_BC1 &&
        view->format <= CXU_RES_VIEW_FORMAT_UNSIGNED_BC7)
        return cx_emu_not_supported(call, "a view as compressed blocks");
    if (whole->address || whole->is_linear || view->last_mipmap_level > whole->last_level ||
        view->first_mipmap_level > view->last_mipmap_level)
        return CXU_INVALID_VALUE;
    if ((whole->layered || whole->cube) &&
        (view->last_layer > whole->last_layer || view->first_layer > view->last_layer))
        return CXU_INVALID_VALUE;
    if (view->format == CXU_RES_VIEW_FORMAT_NONE)
        return CXU_SUCCESS;
    if (!find_view_format(view->format, &found))
        return CXU_INVALID_VALUE;
    bytes = found.channel == CX_PTX_CHANNEL_U8 || found.channel == CX_PTX_CHANNEL_S8 ? 1
            : found.channel == CX_PTX_CHANNEL_U16 || found.channel == CX_PTX_CHANNEL_S16 ||
                    found.channel == CX_PTX_CHANNEL_HALF
                ? 2
                : 4;
    return bytes * found.channels == cx_ptx_texture_element_bytes(whole) ? CXU_SUCCESS
                                                                         : CXU_INVALID_VALUE;
}

static cxu_result check_texture(const char *call, const cx_emu_texture_request *request,
                                cx_ptx_texture *whole)
{
    cxu_result result = CXU_SUCCESS;

    if (!modes_valid(request->texture))
        return CXU_INVALID_VALUE;
    if (request->view != NULL)
        result = check_view(call, whole, request->view);
    if (result != CXU_SUCCESS)
        return result;
    if (request->view != NULL)
        apply_view(request->view, whole);
    apply_texture(request->texture, whole);
    /* Integers are not filtered. */
    return (whole->filters || whole->filters_mips) && !whole->is_linear &&
                   !cx_ptx_texture_gives_floats(whole)
               ? CXU_INVALID_VALUE
               : CXU_SUCCESS;
}

static bool surface_valid(const cxu_resource_descriptor *resource)
{
    cx_emu_array *array;

    return resource->type == CXU_RESOURCE_TYPE_ARRAY &&
           cx_emu_array_find(resource->of.array, &array) == CXU_SUCCESS &&
           array->descriptor.flags & CXU_ARRAY3D_SURFACE_LDST;
}

static bool describe_valid(const cx_emu_context *context, const cxu_resource_descriptor *resource,
                           bool is_surface, cx_ptx_texture *out_whole)
{
    cx_emu_use memory;

    return resource_valid(context, resource) && describe_resource(resource, out_whole, &memory) &&
           (!is_surface || surface_valid(resource));
}

cxu_result cx_emu_texture_check_resource(const cx_emu_context *context,
                                         const cxu_resource_descriptor *resource, bool is_surface)
{
    cx_ptx_texture unused;

    return describe_valid(context, resource, is_surface, &unused) ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

static cxu_result check_request(const char *call, const cx_emu_context *context,
                                const cx_emu_texture_request *request)
{
    cx_ptx_texture whole;

    if (!describe_valid(context, request->resource, request->texture == NULL, &whole))
        return CXU_INVALID_VALUE;
    return request->texture != NULL ? check_texture(call, request, &whole) : CXU_SUCCESS;
}

/* ---- objects ---- */

cxu_result cx_emu_texture_create(const char *call, cx_emu_context *context,
                                 const cx_emu_texture_request *request,
                                 unsigned long long *out_object)
{
    cx_emu_texture *made;
    cxu_result result = check_request(call, context, request);

    if (result != CXU_SUCCESS)
        return result;
    made = cx_emu_handle_take(&handles);
    if (made == NULL)
        return CXU_OUT_OF_MEMORY;
    made->context = context;
    made->resource = *request->resource;
    made->is_surface = request->texture == NULL;
    if (request->texture != NULL)
        made->texture = *request->texture;
    made->has_view = request->view != NULL;
    if (request->view != NULL)
        made->view = *request->view;
    made->next = all;
    if (all != NULL)
        all->previous = made;
    all = made;
    *out_object = (unsigned long long)(uintptr_t)made;
    return CXU_SUCCESS;
}

static cx_emu_texture *find_known(unsigned long long object, bool is_surface)
{
    cx_emu_texture *found = (cx_emu_texture *)(uintptr_t)object;

    return cx_emu_handle_live(&handles, found) && found->is_surface == is_surface ? found : NULL;
}

cxu_result cx_emu_texture_find(unsigned long long object, bool is_surface,
                               cx_emu_texture **out_texture)
{
    cx_emu_texture *found = find_known(object, is_surface);

    if (found == NULL || found->destroyed)
        return CXU_INVALID_VALUE;
    *out_texture = found;
    return CXU_SUCCESS;
}

static void forget(cx_emu_texture *texture)
{
    *(texture->previous != NULL ? &texture->previous->next : &all) = texture->next;
    if (texture->next != NULL)
        texture->next->previous = texture->previous;
    if (texture->destroyed)
        destroyed_count--;
    cx_emu_handle_return(&handles, texture);
}

void cx_emu_texture_destroy(cx_emu_texture *texture)
{
    if (oldest == NULL) {
        forget(texture);
        return;
    }
    texture->destroyed = users_begun;
    destroyed_count++;
}

/* ---- users ---- */

void cx_emu_texture_user_begin(cx_emu_texture_user *user)
{
    *user = (cx_emu_texture_user){.since = ++users_begun, .previous = newest};
    *(newest != NULL ? &newest->next : &oldest) = user;
    newest = user;
}

void cx_emu_texture_user_end(cx_emu_texture_user *user)
{
    bool was_oldest = user == oldest;

    if (user->since == 0)
        return;
    *(user->previous != NULL ? &user->previous->next : &oldest) = user->next;
    *(user->next != NULL ? &user->next->previous : &newest) = user->previous;
    user->since = 0;
    if (!was_oldest || destroyed_count == 0)
        return;
    for (cx_emu_texture *each = all, *next; each != NULL; each = next) {
        next = each->next;
        if (each->destroyed && (oldest == NULL || each->destroyed < oldest->since))
            forget(each);
    }
}

/* ---- descriptions of objects ---- */

bool cx_emu_texture_describe(unsigned long long object, bool is_surface,
                             const cx_emu_context *context, const cx_emu_texture_user *user,
                             cx_ptx_texture *out_description, cx_emu_use *out_memory)
{
    const cx_emu_texture *texture = find_known(object, is_surface);

    if (texture == NULL || texture->context != context ||
        (texture->destroyed && (user->since == 0 || user->since > texture->destroyed)) ||
        !describe_resource(&texture->resource, out_description, out_memory))
        return false;
    if (texture->has_view)
        apply_view(&texture->view, out_description);
    if (!is_surface)
        apply_texture(&texture->texture, out_description);
    return cx_emu_allocation_reachable(out_memory->allocation, context);
}

bool cx_emu_texture_describe_parts(const cxu_resource_descriptor *resource,
                                   const cxu_texture_descriptor *texture,
                                   const cx_emu_context *context,
                                   cx_ptx_texture *out_description, cx_emu_use *out_memory)
{
    if (!describe_resource(resource, out_description, out_memory))
        return false;
    if (texture != NULL)
        apply_texture(texture, out_description);
    return cx_emu_allocation_reachable(out_memory->allocation, context);
}

void cx_emu_textures_release(const cx_emu_context *context)
{
    for (cx_emu_texture *each = all, *next; each != NULL; each = next) {
        next = each->next;
        if (each->context == context)
            forget(each);
    }
}
