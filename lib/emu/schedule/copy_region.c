/* Copies of 2D and 3D regions: the user's descriptors, checked and turned into copies. */
#include "emu/base/refusal.h"
#include "emu/device/device.h"
#include "emu/schedule/copy.h"

/* One side of a descriptor, 2D or 3D. */
typedef struct region {
    cxu_memory_type type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x_bytes, y, z;
    size_t pitch_bytes;
    size_t slice_rows;
} region;

static cxu_result base_of(const region *side, uintptr_t *out_base)
{
    switch (side->type) {
    case CXU_MEMORYTYPE_HOST:
        *out_base = (uintptr_t)side->host;
        return CXU_SUCCESS;
    case CXU_MEMORYTYPE_DEVICE:
    case CXU_MEMORYTYPE_UNIFIED:
        *out_base = (uintptr_t)side->device;
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

/* True if rows and slices of the region fit into its pitches. */
static bool region_fits(const region *side, const cx_emu_copy *shape)
{
    size_t row_end, slice_end;

    if (side->pitch_bytes > CX_EMU_MAX_PITCH ||
        __builtin_add_overflow(side->x_bytes, shape->width_bytes, &row_end) ||
        __builtin_add_overflow(side->y, shape->height, &slice_end))
        return false;
    return (shape->height == 1 || side->pitch_bytes >= row_end) &&
           (shape->depth == 1 || side->slice_rows >= slice_end);
}

/* NULL stays NULL, whatever the offsets, so that the copy refuses it. */
static bool locate_region(const region *side, uintptr_t base, cx_emu_copy_side *out_side)
{
    size_t rows, slices, slice_bytes, offset;

    if (__builtin_mul_overflow(side->pitch_bytes, side->slice_rows, &slice_bytes) ||
        __builtin_mul_overflow(side->pitch_bytes, side->y, &rows) ||
        __builtin_mul_overflow(slice_bytes, side->z, &slices) ||
        __builtin_add_overflow(rows, slices, &offset) ||
        __builtin_add_overflow(offset, side->x_bytes, &offset) ||
        __builtin_add_overflow(base, offset, &offset))
        return false;
    *out_side = (cx_emu_copy_side){.type = side->type,
                                   .address = base ? offset : 0,
                                   .pitch_bytes = side->pitch_bytes,
                                   .slice_bytes = slice_bytes};
    return true;
}

static cxu_result convert_region(const region *side, const cx_emu_copy *shape,
                                 cx_emu_copy_side *out_side)
{
    bool empty = shape->width_bytes == 0 || shape->height == 0 || shape->depth == 0;
    uintptr_t base = 0;
    cxu_result result;

    if (side->type == CXU_MEMORYTYPE_ARRAY) {
        *out_side = (cx_emu_copy_side){.type = CXU_MEMORYTYPE_ARRAY,
                                       .array = side->array,
                                       .x_bytes = side->x_bytes,
                                       .y = side->y,
                                       .z = side->z};
        return CXU_SUCCESS;
    }
    result = base_of(side, &base);
    if (result != CXU_SUCCESS || empty)
        return result;
    return region_fits(side, shape) && locate_region(side, base, out_side)
               ? CXU_SUCCESS
               : cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                       "rows of # bytes, with their begin, do not fit into a pitch "
                                       "of #",
                                       shape->width_bytes, side->pitch_bytes);
}

static cxu_result convert_both(const region *destination, const region *source, cx_emu_copy *shape)
{
    cxu_result result = convert_region(source, shape, &shape->source);

    return result == CXU_SUCCESS ? convert_region(destination, shape, &shape->destination)
                                 : result;
}

/* ---- 2D ---- */

cxu_result cx_emu_copy_of_2d(const cxu_memcpy_2d *copy, cx_emu_copy *out_copy)
{
    region destination, source;

    if (copy == NULL)
        return CXU_INVALID_VALUE;
    *out_copy = (cx_emu_copy){.width_bytes = copy->width_bytes, .height = copy->height, .depth = 1};
    source = (region){.type = copy->source_type,
                      .host = copy->source_host,
                      .device = copy->source_device,
                      .array = copy->source_array,
                      .x_bytes = copy->source_x_bytes,
                      .y = copy->source_y,
                      .pitch_bytes = copy->source_pitch_bytes};
    destination = (region){.type = copy->destination_type,
                           .host = copy->destination_host,
                           .device = copy->destination_device,
                           .array = copy->destination_array,
                           .x_bytes = copy->destination_x_bytes,
                           .y = copy->destination_y,
                           .pitch_bytes = copy->destination_pitch_bytes};
    return convert_both(&destination, &source, out_copy);
}

/* ---- 3D ---- */

/* A pitch or a number of rows of 0 means tight; fits() detects an overflow of the sum. */
static void make_tight(region *side, const cx_emu_copy *shape)
{
    if (side->pitch_bytes == 0)
        side->pitch_bytes = side->x_bytes + shape->width_bytes;
    if (side->slice_rows == 0)
        side->slice_rows = side->y + shape->height;
}

cxu_result cx_emu_copy_of_3d(const cxu_memcpy_3d *copy, cx_emu_copy *out_copy)
{
    cx_emu_copy shape = {0};
    region destination, source;
    cxu_result result;

    if (copy == NULL || copy->source_lod || copy->destination_lod ||
        copy->source_reserved != NULL || copy->destination_reserved != NULL)
        return CXU_INVALID_VALUE;
    shape.width_bytes = copy->width_bytes;
    shape.height = copy->height;
    shape.depth = copy->depth;
    source = (region){.type = copy->source_type,
                      .host = copy->source_host,
                      .device = copy->source_device,
                      .array = copy->source_array,
                      .x_bytes = copy->source_x_bytes,
                      .y = copy->source_y,
                      .z = copy->source_z,
                      .pitch_bytes = copy->source_pitch_bytes,
                      .slice_rows = copy->source_height};
    destination = (region){.type = copy->destination_type,
                           .host = copy->destination_host,
                           .device = copy->destination_device,
                           .array = copy->destination_array,
                           .x_bytes = copy->destination_x_bytes,
                           .y = copy->destination_y,
                           .z = copy->destination_z,
                           .pitch_bytes = copy->destination_pitch_bytes,
                           .slice_rows = copy->destination_height};
    make_tight(&source, &shape);
    make_tight(&destination, &shape);
    result = convert_both(&destination, &source, &shape);
    if (result == CXU_SUCCESS)
        *out_copy = shape;
    return result;
}

static size_t rows_of(const cx_emu_copy_side *side)
{
    return side->pitch_bytes > 0 ? side->slice_bytes / side->pitch_bytes : 0;
}

cxu_memcpy_3d cx_emu_copy_describe(const cx_emu_copy *copy)
{
    const cx_emu_copy_side *to = &copy->destination, *from = &copy->source;
    cxu_memcpy_3d descriptor = {.source_type = from->type,
                                .source_pitch_bytes = from->pitch_bytes,
                                .source_height = rows_of(from),
                                .destination_type = to->type,
                                .destination_pitch_bytes = to->pitch_bytes,
                                .destination_height = rows_of(to),
                                .width_bytes = copy->width_bytes,
                                .height = copy->height,
                                .depth = copy->depth};

    if (from->type == CXU_MEMORYTYPE_HOST) {
        descriptor.source_host = (const void *)from->address;
    } else if (from->type == CXU_MEMORYTYPE_ARRAY) {
        descriptor.source_array = from->array;
        descriptor.source_x_bytes = from->x_bytes;
        descriptor.source_y = from->y;
        descriptor.source_z = from->z;
    } else {
        descriptor.source_device = from->address;
    }
    if (to->type == CXU_MEMORYTYPE_HOST) {
        descriptor.destination_host = (void *)to->address;
    } else if (to->type == CXU_MEMORYTYPE_ARRAY) {
        descriptor.destination_array = to->array;
        descriptor.destination_x_bytes = to->x_bytes;
        descriptor.destination_y = to->y;
        descriptor.destination_z = to->z;
    } else {
        descriptor.destination_device = to->address;
    }
    return descriptor;
}
