/* Copies in two dimensions, and of bytes in a row, from, to and between arrays. */
#include "runtime/calls.h"
#include "runtime/copy.h"
#include "runtime/driver.h"

#include <stdbool.h>
#include <stddef.h>

/* One side of such a copy. */
typedef struct side {
    CUarray array; /* NULL: memory */
    size_t x_bytes, y;
    const void *memory;
    size_t pitch_bytes;
} side;

static cxr_error find_type(const side *of, cxr_copy_kind kind, bool is_source,
                           cxu_memory_type *out_type)
{
    static const cxu_memory_type sources[] = {CXU_MEMORYTYPE_HOST, CXU_MEMORYTYPE_HOST,
                                              CXU_MEMORYTYPE_DEVICE, CXU_MEMORYTYPE_DEVICE,
                                              CXU_MEMORYTYPE_UNIFIED};
    static const cxu_memory_type destinations[] = {CXU_MEMORYTYPE_HOST, CXU_MEMORYTYPE_DEVICE,
                                                   CXU_MEMORYTYPE_HOST, CXU_MEMORYTYPE_DEVICE,
                                                   CXU_MEMORYTYPE_UNIFIED};
    if ((unsigned int)kind > CXR_COPY_DEFAULT)
        return CXR_INVALID_MEMCPY_DIRECTION;
    *out_type = is_source ? sources[kind] : destinations[kind];
    if (of->array == NULL)
        return CXR_SUCCESS;
    /* An array is a device's. */
    if (*out_type == CXU_MEMORYTYPE_HOST)
        return CXR_INVALID_MEMCPY_DIRECTION;
    *out_type = CXU_MEMORYTYPE_ARRAY;
    return CXR_SUCCESS;
}

static cxr_error describe(const side *to, const side *from, size_t width, size_t height,
                          cxr_copy_kind kind, cxu_memcpy_2d *out_copy)
{
    *out_copy = (cxu_memcpy_2d){.source_x_bytes = from->x_bytes,
                                .source_y = from->y,
                                .source_host = from->memory,
                                .source_device = cx_cudart_address(from->memory),
                                .source_array = from->array,
                                .source_pitch_bytes = from->pitch_bytes,
                                .destination_x_bytes = to->x_bytes,
                                .destination_y = to->y,
                                .destination_host = (void *)(uintptr_t)to->memory,
                                .destination_device = cx_cudart_address(to->memory),
                                .destination_array = to->array,
                                .destination_pitch_bytes = to->pitch_bytes,
                                .width_bytes = width,
                                .height = height};
    if ((to->array == NULL && width > to->pitch_bytes) ||
        (from->array == NULL && width > from->pitch_bytes))
        return CXR_INVALID_PITCH_VALUE;
    cxr_error error = find_type(from, kind, true, &out_copy->source_type);
    return error == CXR_SUCCESS ? find_type(to, kind, false, &out_copy->destination_type) : error;
}

/* `stream` NULL: the call returns when the copy is done, as far as the driver waits. */
static cxr_error copy_box(const side *to, const side *from, size_t width, size_t height,
                          cxr_copy_kind kind, const CUstream *stream)
{
    const cx_driver_table *driver;
    cxu_memcpy_2d copy;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = describe(to, from, width, height, kind, &copy);
    if (error != CXR_SUCCESS || width == 0 || height == 0)
        return error;
    return stream == NULL ? (cxr_error)driver->memcpy_2d_unaligned(&copy)
                          : (cxr_error)driver->memcpy_2d_async(&copy, *stream);
}

cxr_error cxr_cudaMemcpy2DToArray(CUarray to, size_t x, size_t y, const void *source, size_t pitch,
                                  size_t width, size_t height, cxr_copy_kind kind)
{
    if (to == NULL)
        return CXR_INVALID_VALUE;
    return copy_box(&(side){to, x, y, NULL, 0}, &(side){NULL, 0, 0, source, pitch}, width, height,
                    kind, NULL);
}

cxr_error cxr_cudaMemcpy2DToArrayAsync(CUarray to, size_t x, size_t y, const void *source,
                                       size_t pitch, size_t width, size_t height,
                                       cxr_copy_kind kind, CUstream stream)
{
    if (to == NULL)
        return CXR_INVALID_VALUE;
    return copy_box(&(side){to, x, y, NULL, 0}, &(side){NULL, 0, 0, source, pitch}, width, height,
                    kind, &stream);
}

cxr_error cxr_cudaMemcpy2DFromArray(void *destination, size_t pitch, CUarray from, size_t x,
                                    size_t y, size_t width, size_t height, cxr_copy_kind kind)
{
    if (from == NULL)
        return CXR_INVALID_VALUE;
    return copy_box(&(side){NULL, 0, 0, destination, pitch}, &(side){from, x, y, NULL, 0}, width,
                    height, kind, NULL);
}

cxr_error cxr_cudaMemcpy2DFromArrayAsync(void *destination, size_t pitch, CUarray from, size_t x,
                                         size_t y, size_t width, size_t height, cxr_copy_kind kind,
                                         CUstream stream)
{
    if (from == NULL)
        return CXR_INVALID_VALUE;
    return copy_box(&(side){NULL, 0, 0, destination, pitch}, &(side){from, x, y, NULL, 0}, width,
                    height, kind, &stream);
}

cxr_error cxr_cudaMemcpy2DArrayToArray(CUarray to, size_t to_x, size_t to_y, CUarray from,
                                       size_t from_x, size_t from_y, size_t width, size_t height,
                                       cxr_copy_kind kind)
{
    if (to == NULL || from == NULL)
        return CXR_INVALID_VALUE;
    return copy_box(&(side){to, to_x, to_y, NULL, 0}, &(side){from, from_x, from_y, NULL, 0},
                    width, height, kind, NULL);
}

/* ---- bytes in a row ---- */

static cxr_error find_row(CUarray array, size_t *out_bytes)
{
    cxr_channel_format channels;
    cxr_extent extent;
    cxr_error error = cxr_cudaArrayGetInfo(&channels, &extent, NULL, array);
    if (error == CXR_SUCCESS)
        *out_bytes = extent.width *
                     (size_t)(channels.x + channels.y + channels.z + channels.w) / 8;
    return error;
}

static size_t left_in_row(const side *of, size_t row, size_t count)
{
    if (of->array == NULL)
        return count;
    return of->x_bytes < row ? row - of->x_bytes : 0;
}

static void advance(side *of, size_t row, size_t bytes)
{
    if (of->array == NULL) {
        of->memory = (const char *)of->memory + bytes;
        return;
    }
    of->x_bytes += bytes;
    of->y += of->x_bytes / row;
    of->x_bytes %= row;
}

/* Bytes go on in the next row of an array. */
static cxr_error copy_bytes(side to, side from, size_t count, cxr_copy_kind kind,
                            const CUstream *stream)
{
    size_t to_row = SIZE_MAX, from_row = SIZE_MAX;
    cxr_error error = CXR_SUCCESS;
    if (to.array == NULL && from.array == NULL)
        return CXR_INVALID_VALUE;
    if (to.array != NULL)
        error = find_row(to.array, &to_row);
    if (error == CXR_SUCCESS && from.array != NULL)
        error = find_row(from.array, &from_row);
    while (error == CXR_SUCCESS && count > 0) {
        size_t bytes = left_in_row(&to, to_row, count), other = left_in_row(&from, from_row, count);
        bytes = bytes < other ? bytes : other;
        bytes = bytes < count ? bytes : count;
        if (bytes == 0)
            return CXR_INVALID_VALUE;
        to.pitch_bytes = from.pitch_bytes = bytes;
        error = copy_box(&to, &from, bytes, 1, kind, stream);
        advance(&to, to_row, bytes);
        advance(&from, from_row, bytes);
        count -= bytes;
    }
    return error;
}

cxr_error cxr_cudaMemcpyToArray(CUarray to, size_t x, size_t y, const void *source, size_t bytes,
                                cxr_copy_kind kind)
{
    return copy_bytes((side){.array = to, .x_bytes = x, .y = y}, (side){.memory = source}, bytes,
                      kind, NULL);
}

cxr_error cxr_cudaMemcpyToArrayAsync(CUarray to, size_t x, size_t y, const void *source,
                                     size_t bytes, cxr_copy_kind kind, CUstream stream)
{
    return copy_bytes((side){.array = to, .x_bytes = x, .y = y}, (side){.memory = source}, bytes,
                      kind, &stream);
}

cxr_error cxr_cudaMemcpyFromArray(void *destination, CUarray from, size_t x, size_t y,
                                  size_t bytes, cxr_copy_kind kind)
{
    return copy_bytes((side){.memory = destination}, (side){.array = from, .x_bytes = x, .y = y},
                      bytes, kind, NULL);
}

cxr_error cxr_cudaMemcpyFromArrayAsync(void *destination, CUarray from, size_t x, size_t y,
                                       size_t bytes, cxr_copy_kind kind, CUstream stream)
{
    return copy_bytes((side){.memory = destination}, (side){.array = from, .x_bytes = x, .y = y},
                      bytes, kind, &stream);
}

cxr_error cxr_cudaMemcpyArrayToArray(CUarray to, size_t to_x, size_t to_y, CUarray from,
                                     size_t from_x, size_t from_y, size_t bytes,
                                     cxr_copy_kind kind)
{
    return copy_bytes((side){.array = to, .x_bytes = to_x, .y = to_y},
                      (side){.array = from, .x_bytes = from_x, .y = from_y}, bytes, kind, NULL);
}
