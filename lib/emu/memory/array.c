#include "emu/memory/array.h"

static cx_emu_handles array_handles = {.slot_bytes = sizeof(cx_emu_array)};
static cx_emu_handles mipmapped_handles = {.slot_bytes = sizeof(cx_emu_mipmapped_array)};
static cx_emu_array *all_arrays;
static cx_emu_mipmapped_array *all_mipmapped;

/* ---- formats ---- */

/* The channels that a format of normalised integers has; 0: it is none. */
static unsigned int channels_in_format(unsigned int format)
{
    static const unsigned int channels[] = {1, 2, 4};

    if (format < CXU_AD_FORMAT_UNORM_INT8X1 || format > CXU_AD_FORMAT_SNORM_INT16X4)
        return 0;
    return channels[(format - CXU_AD_FORMAT_UNORM_INT8X1) % 3];
}

static size_t channel_bytes(unsigned int format)
{
    switch (format) {
    case CXU_AD_FORMAT_UNSIGNED_INT8:
    case CXU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CXU_AD_FORMAT_UNSIGNED_INT16:
    case CXU_AD_FORMAT_SIGNED_INT16:
    case CXU_AD_FORMAT_HALF:
        return 2;
    case CXU_AD_FORMAT_UNSIGNED_INT32:
    case CXU_AD_FORMAT_SIGNED_INT32:
    case CXU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return (format - CXU_AD_FORMAT_UNORM_INT8X1) / 3 % 2 == 0 ? 1 : 2;
    }
}

size_t cx_emu_array_element_bytes(cxu_array_format format, unsigned int channels)
{
    unsigned int own = channels_in_format((unsigned int)format);

    switch ((unsigned int)format) {
    case CXU_AD_FORMAT_UNSIGNED_INT8:
    case CXU_AD_FORMAT_SIGNED_INT8:
    case CXU_AD_FORMAT_UNSIGNED_INT16:
    case CXU_AD_FORMAT_SIGNED_INT16:
    case CXU_AD_FORMAT_HALF:
    case CXU_AD_FORMAT_UNSIGNED_INT32:
    case CXU_AD_FORMAT_SIGNED_INT32:
    case CXU_AD_FORMAT_FLOAT:
        own = channels == 1 || channels == 2 || channels == 4 ? channels : 0;
        break;
    default:
        break;
    }
    return own == channels ? own * channel_bytes((unsigned int)format) : 0;
}

bool cx_emu_array_format_is_foreign(cxu_array_format format)
{
    unsigned int number = (unsigned int)format;

    return number == CXU_AD_FORMAT_UNORM_INT_101010_2 ||
           (number >= CXU_AD_FORMAT_BC1_UNORM &&
            number <= CXU_AD_FORMAT_YUV444_16BIT_SEMI_PLANAR);
}

/* ---- shapes ---- */

static size_t at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

static void set_shape(cx_emu_array *array, const cxu_array_3d_descriptor *descriptor)
{
    array->descriptor = *descriptor;
    array->element_bytes = cx_emu_array_element_bytes(descriptor->format, descriptor->channels);
    array->width_bytes = descriptor->width * array->element_bytes;
    array->height = at_least_one(descriptor->height);
    array->depth = at_least_one(descriptor->depth);
}

static size_t bytes_of(const cx_emu_array *array)
{
    return cx_emu_array_slice_bytes(array) * array->depth;
}

static size_t halved(size_t size, unsigned int times)
{
    return size > 0 ? at_least_one(size >> times) : 0;
}

/* All levels have all layers. */
static cxu_array_3d_descriptor level_of(const cxu_array_3d_descriptor *whole, unsigned int level)
{
    cxu_array_3d_descriptor descriptor = *whole;

    descriptor.width = halved(whole->width, level);
    descriptor.height = halved(whole->height, level);
    if (!(whole->flags & (CXU_ARRAY3D_LAYERED | CXU_ARRAY3D_CUBEMAP)))
        descriptor.depth = halved(whole->depth, level);
    return descriptor;
}

static unsigned int levels_of(const cxu_array_3d_descriptor *whole, unsigned int wanted)
{
    unsigned int count = 1;

    for (;; count++) {
        cxu_array_3d_descriptor last = level_of(whole, count - 1);
        bool layered = whole->flags & (CXU_ARRAY3D_LAYERED | CXU_ARRAY3D_CUBEMAP);

        if (last.width <= 1 && last.height <= 1 && (layered || last.depth <= 1))
            break;
    }
    return wanted < count ? wanted : count;
}

/* ---- arrays ---- */

static cxu_result take_memory(cx_emu_context *owner, size_t bytes, cx_emu_allocation **out_memory)
{
    cxu_result result =
        cx_emu_allocation_create(owner->device, owner, CX_EMU_MEMORY_DEVICE, bytes, 0, out_memory);

    if (result == CXU_SUCCESS)
        (*out_memory)->of_array = true;
    return result;
}

cxu_result cx_emu_array_create(cx_emu_context *owner, const cxu_array_3d_descriptor *descriptor,
                               cx_emu_array **out_array)
{
    cx_emu_array shape, *array;
    cx_emu_allocation *memory;
    cxu_result result;

    set_shape(&shape, descriptor);
    result = take_memory(owner, bytes_of(&shape), &memory);
    if (result != CXU_SUCCESS)
        return result;
    array = cx_emu_handle_take(&array_handles);
    if (array == NULL) {
        cx_emu_allocation_free(memory);
        return CXU_OUT_OF_MEMORY;
    }
    set_shape(array, descriptor);
    array->memory = memory;
    array->next = all_arrays;
    if (all_arrays != NULL)
        all_arrays->previous = array;
    all_arrays = array;
    *out_array = array;
    return CXU_SUCCESS;
}

cxu_result cx_emu_array_find(CUarray handle, cx_emu_array **out_array)
{
    if (!cx_emu_handle_live(&array_handles, handle))
        return CXU_INVALID_HANDLE;
    *out_array = (cx_emu_array *)(void *)handle;
    return cx_emu_allocation_error((*out_array)->memory);
}

static void close_array(cx_emu_array *array)
{
    *(array->previous != NULL ? &array->previous->next : &all_arrays) = array->next;
    if (array->next != NULL)
        array->next->previous = array->previous;
    cx_emu_handle_return(&array_handles, array);
}

void cx_emu_array_destroy(cx_emu_array *array)
{
    cx_emu_allocation *memory = array->memory;

    close_array(array);
    cx_emu_allocation_free_and_wait(memory);
}

/* ---- mipmapped arrays ---- */

static void close_levels(cx_emu_mipmapped_array *mipmapped)
{
    for (unsigned int i = 0; i < mipmapped->level_count; i++)
        cx_emu_handle_return(&array_handles, mipmapped->levels[i]);
    mipmapped->level_count = 0;
}

static bool open_levels(cx_emu_mipmapped_array *mipmapped, unsigned int count)
{
    size_t offset = 0;

    for (unsigned int i = 0; i < count; i++) {
        const cxu_array_3d_descriptor descriptor = level_of(&mipmapped->descriptor, i);
        cx_emu_array *level = cx_emu_handle_take(&array_handles);

        if (level == NULL)
            return false;
        set_shape(level, &descriptor);
        level->memory = mipmapped->memory;
        level->offset = offset;
        level->whole = mipmapped;
        offset += bytes_of(level);
        mipmapped->levels[mipmapped->level_count++] = level;
    }
    return true;
}

static size_t bytes_of_levels(const cxu_array_3d_descriptor *descriptor, unsigned int count)
{
    size_t bytes = 0;

    for (unsigned int i = 0; i < count; i++) {
        const cxu_array_3d_descriptor level = level_of(descriptor, i);
        cx_emu_array shape;

        set_shape(&shape, &level);
        bytes += bytes_of(&shape);
    }
    return bytes;
}

static void close_mipmapped(cx_emu_mipmapped_array *mipmapped)
{
    close_levels(mipmapped);
    *(mipmapped->previous != NULL ? &mipmapped->previous->next : &all_mipmapped) = mipmapped->next;
    if (mipmapped->next != NULL)
        mipmapped->next->previous = mipmapped->previous;
    cx_emu_handle_return(&mipmapped_handles, mipmapped);
}

cxu_result cx_emu_mipmapped_array_create(cx_emu_context *owner,
                                         const cxu_array_3d_descriptor *descriptor,
                                         unsigned int levels,
                                         cx_emu_mipmapped_array **out_mipmapped)
{
    unsigned int count = levels_of(descriptor, levels);
    cx_emu_mipmapped_array *mipmapped;
    cx_emu_allocation *memory;
    cxu_result result = take_memory(owner, bytes_of_levels(descriptor, count), &memory);

    if (result != CXU_SUCCESS)
        return result;
    mipmapped = cx_emu_handle_take(&mipmapped_handles);
    if (mipmapped == NULL) {
        cx_emu_allocation_free(memory);
        return CXU_OUT_OF_MEMORY;
    }
    mipmapped->descriptor = *descriptor;
    mipmapped->memory = memory;
    mipmapped->next = all_mipmapped;
    if (all_mipmapped != NULL)
        all_mipmapped->previous = mipmapped;
    all_mipmapped = mipmapped;
    if (!open_levels(mipmapped, count)) {
        close_mipmapped(mipmapped);
        cx_emu_allocation_free(memory);
        return CXU_OUT_OF_MEMORY;
    }
    *out_mipmapped = mipmapped;
    return CXU_SUCCESS;
}

cxu_result cx_emu_mipmapped_array_find(CUmipmappedArray handle,
                                       cx_emu_mipmapped_array **out_mipmapped)
{
    if (!cx_emu_handle_live(&mipmapped_handles, handle))
        return CXU_INVALID_HANDLE;
    *out_mipmapped = (cx_emu_mipmapped_array *)(void *)handle;
    return cx_emu_allocation_error((*out_mipmapped)->memory);
}

void cx_emu_mipmapped_array_destroy(cx_emu_mipmapped_array *mipmapped)
{
    cx_emu_allocation *memory = mipmapped->memory;

    close_mipmapped(mipmapped);
    cx_emu_allocation_free_and_wait(memory);
}

void cx_emu_arrays_release(cx_emu_context *context)
{
    for (cx_emu_array *each = all_arrays, *next; each != NULL; each = next) {
        next = each->next;
        if (each->memory->context == context)
            close_array(each);
    }
    for (cx_emu_mipmapped_array *each = all_mipmapped, *next; each != NULL; each = next) {
        next = each->next;
        if (each->memory->context == context)
            close_mipmapped(each);
    }
}
