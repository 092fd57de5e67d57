/* Batches of copies. The copies of a batch are in no order among each other. */
#include "emu/call/batch.h"
#include "emu/graph/capture.h"
#include "emu/schedule/copy.h"
#include "emu/device/device.h"
#include "emu/memory/array.h"
#include "emu/base/state.h"
#include <stdlib.h>

#define NO_COPY SIZE_MAX /* the index of an error that is of no copy */

/* The copies of a batch, and when the source of each may be read. */
typedef struct batch {
    size_t count;
    cx_emu_copy *copies;
    cxu_memcpy_src_access_order *orders;
    size_t fail; /* the index of the copy that is wrong */
} batch;

/* The pieces of work that a batch becomes. */
typedef struct pieces {
    cx_emu_work_piece *pieces;
    cx_emu_transfer *transfers;
    cx_emu_work **works;
} pieces;

static bool order_valid(cxu_memcpy_src_access_order order)
{
    return order >= CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CXU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static bool way_valid(cxu_memcpy_src_access_order order, unsigned int flags)
{
    return order_valid(order) && flags <= CXU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}

static bool open_batch(batch *all, size_t count)
{
    *all = (batch){.count = count, .fail = NO_COPY};
    all->copies = calloc(count, sizeof *all->copies);
    all->orders = calloc(count, sizeof *all->orders);
    return all->copies != NULL && all->orders != NULL;
}

static void free_batch(batch *all)
{
    free(all->copies);
    free(all->orders);
}

static bool open_pieces(pieces *made, size_t count)
{
    made->pieces = calloc(count, sizeof *made->pieces);
    made->transfers = calloc(count, sizeof *made->transfers);
    made->works = calloc(count, sizeof(cx_emu_work *));
    return made->pieces != NULL && made->transfers != NULL && made->works != NULL;
}

static void free_pieces(pieces *made)
{
    free(made->pieces);
    free(made->transfers);
    free(made->works);
}

/* ---- submitting ---- */

/* A source that is read before the call returns is read now: the caller says that no earlier work
 * writes it. */
static cxu_result make_pieces(batch *all, const cx_emu_device *device, pieces *made)
{
    for (size_t i = 0; i < all->count; i++) {
        cxu_result result = cx_emu_copy_request(&all->copies[i], device, 0, &made->transfers[i],
                                                &made->pieces[i].request);

        if (result == CXU_SUCCESS && all->orders[i] == CXU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
            result = cx_emu_copy_stage(&made->pieces[i].request);
        if (result == CXU_SUCCESS)
            continue;
        all->fail = i;
        while (i > 0)
            cx_emu_copy_unstage(&made->pieces[--i].request);
        return result;
    }
    return CXU_SUCCESS;
}

static cxu_result submit_pieces(cx_emu_stream *stream, const batch *all, pieces *made)
{
    const cx_emu_work_batch work = {.pieces = made->pieces, .count = all->count};
    cx_emu_work *end;
    cxu_result result = cx_emu_work_submit_batch(stream, &work, made->works, &end);

    if (result != CXU_SUCCESS) {
        for (size_t i = 0; i < all->count; i++)
            cx_emu_copy_unstage(&made->pieces[i].request);
        return result;
    }
    for (size_t i = 0; i < all->count; i++)
        cx_emu_work_drop(made->works[i]);
    cx_emu_work_drop(end);
    return CXU_SUCCESS;
}

static cxu_result submit_batch(CUstream handle, batch *all, pieces *made)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    if (result == CXU_SUCCESS)
        result = make_pieces(all, stream->context->device, made);
    return result == CXU_SUCCESS ? submit_pieces(stream, all, made) : result;
}

/* A batch is not captured, and its refusal does not end a capture. */
static cxu_result check_stream(CUstream handle)
{
    cx_emu_stream *stream;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS && cx_emu_stream_is_default(stream))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS && stream->branch != NULL)
        result = CXU_STREAM_CAPTURE_UNSUPPORTED;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The index of the wrong copy is written only if the stream takes batches. */
static cxu_result begin_batch(CUstream stream, size_t *out_fail)
{
    cxu_result result = cx_emu_enter();

    if (result == CXU_SUCCESS)
        result = check_stream(stream);
    if (result == CXU_SUCCESS && out_fail != NULL)
        *out_fail = NO_COPY;
    return result;
}

static cxu_result run_batch(CUstream stream, batch *all)
{
    pieces made = {0};
    cxu_result result = CXU_OUT_OF_MEMORY;

    if (open_pieces(&made, all->count)) {
        cx_lock_enter(&cx_emu_lock);
        result = submit_batch(stream, all, &made);
        cx_lock_leave(&cx_emu_lock);
    }
    free_pieces(&made);
    return result;
}

/* Runs a batch whose reading returned `result`, and frees it. */
static cxu_result end_batch(CUstream stream, batch *all, cxu_result result, size_t *out_fail)
{
    if (result == CXU_SUCCESS)
        result = run_batch(stream, all);
    if (out_fail != NULL)
        *out_fail = all->fail;
    free_batch(all);
    return result;
}

/* ---- rows of bytes ---- */

/* The caller's arrays of a batch. */
typedef struct lists {
    const CUdeviceptr *destinations, *sources;
    const size_t *sizes;
    size_t count;
    const cxu_memcpy_attributes *attributes;
    const size_t *first_copies; /* of each attribute: rising, from 0 on */
    size_t attribute_count;
} lists;

static bool lists_valid(const lists *given)
{
    if (given->count == 0 || given->destinations == NULL || given->sources == NULL ||
        given->sizes == NULL || given->attributes == NULL ||
        !cx_emu_batch_firsts_valid(given->first_copies, given->attribute_count, given->count))
        return false;
    for (size_t i = 0; i < given->attribute_count; i++)
        if (!way_valid(given->attributes[i].order, given->attributes[i].flags))
            return false;
    return true;
}

static cx_emu_copy copy_of_bytes(CUdeviceptr destination, CUdeviceptr source, size_t bytes)
{
    return (cx_emu_copy){
        .destination = {.type = CXU_MEMORYTYPE_UNIFIED, .address = destination},
        .source = {.type = CXU_MEMORYTYPE_UNIFIED, .address = source},
        .width_bytes = bytes,
        .height = 1,
        .depth = 1};
}

static cxu_result read_lists(const lists *given, batch *all)
{
    size_t attribute = 0;

    for (size_t i = 0; i < given->count; i++) {
        if (given->sizes[i] == 0) {
            all->fail = i;
            return CXU_INVALID_VALUE;
        }
        if (attribute + 1 < given->attribute_count && given->first_copies[attribute + 1] == i)
            attribute++;
        all->orders[i] = given->attributes[attribute].order;
        all->copies[i] =
            copy_of_bytes(given->destinations[i], given->sources[i], given->sizes[i]);
    }
    return CXU_SUCCESS;
}

static cxu_result copy_lists(const lists *given, size_t *out_fail, CUstream stream)
{
    batch all;
    cxu_result result = begin_batch(stream, out_fail);

    if (result != CXU_SUCCESS)
        return result;
    if (!lists_valid(given))
        return CXU_INVALID_VALUE;
    result = CXU_OUT_OF_MEMORY;
    if (open_batch(&all, given->count))
        result = read_lists(given, &all);
    return end_batch(stream, &all, result, out_fail);
}

cxu_result cx_emu_call_memcpy_batch_async_v1(CUdeviceptr *destinations, CUdeviceptr *sources,
                                             size_t *sizes, size_t count,
                                             cxu_memcpy_attributes *attributes,
                                             size_t *first_copies, size_t attribute_count,
                                             size_t *out_fail, CUstream stream)
{
    const lists given = {destinations, sources,      sizes,          count,
                         attributes,   first_copies, attribute_count};

    return copy_lists(&given, out_fail, stream);
}

cxu_result cx_emu_call_memcpy_batch_async(CUdeviceptr *destinations, CUdeviceptr *sources,
                                          size_t *sizes, size_t count,
                                          cxu_memcpy_attributes *attributes, size_t *first_copies,
                                          size_t attribute_count, CUstream stream)
{
    return cx_emu_call_memcpy_batch_async_v1(destinations, sources, sizes, count, attributes,
                                             first_copies, attribute_count, NULL, stream);
}

/* ---- boxes ---- */

/* Sizes are in elements of the arrays, of one byte without one. */
static cxu_result find_element(const cxu_memcpy_operand *operand, size_t *inout_bytes)
{
    cx_emu_array *array;
    cxu_result result;

    if (operand->type != CXU_MEMCPY_OPERAND_TYPE_ARRAY)
        return CXU_SUCCESS;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_array_find(operand->of.array.array, &array);
    if (result == CXU_SUCCESS && *inout_bytes != 0 && *inout_bytes != array->element_bytes)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *inout_bytes = array->element_bytes;
    cx_lock_leave(&cx_emu_lock);
    return result == CXU_INVALID_HANDLE ? CXU_INVALID_VALUE : result;
}

static cxu_result read_operand(const cxu_memcpy_operand *operand,
                               const cxu_memcpy_3d_batch_op *given, size_t element,
                               cx_emu_copy_side *out_side)
{
    size_t row = operand->of.pointer.row_length, rows = operand->of.pointer.layer_height;

    if (operand->type == CXU_MEMCPY_OPERAND_TYPE_ARRAY) {
        *out_side = (cx_emu_copy_side){.type = CXU_MEMORYTYPE_ARRAY,
                                       .array = operand->of.array.array,
                                       .y = operand->of.array.y,
                                       .z = operand->of.array.z};
        return __builtin_mul_overflow(operand->of.array.x, element, &out_side->x_bytes)
                   ? CXU_INVALID_VALUE
                   : CXU_SUCCESS;
    }
    if (operand->type != CXU_MEMCPY_OPERAND_TYPE_POINTER)
        return CXU_INVALID_VALUE;
    row = row ? row : given->width;
    rows = rows ? rows : given->height;
    if (row < given->width || rows < given->height || row > CX_EMU_MAX_PITCH)
        return CXU_INVALID_VALUE;
    *out_side = (cx_emu_copy_side){.type = CXU_MEMORYTYPE_UNIFIED,
                                   .address = operand->of.pointer.address,
                                   .pitch_bytes = row * element};
    return row * element > CX_EMU_MAX_PITCH ||
                   __builtin_mul_overflow(row * element, rows, &out_side->slice_bytes)
               ? CXU_INVALID_VALUE
               : CXU_SUCCESS;
}

static cxu_result read_box(const cxu_memcpy_3d_batch_op *given, cx_emu_copy *out_copy)
{
    size_t element = 0;
    cxu_result result;

    if (given->width == 0 || given->height == 0 || given->depth == 0 ||
        !way_valid(given->order, given->flags))
        return CXU_INVALID_VALUE;
    *out_copy = (cx_emu_copy){.height = given->height, .depth = given->depth};
    result = find_element(&given->source, &element);
    if (result == CXU_SUCCESS)
        result = find_element(&given->destination, &element);
    if (result != CXU_SUCCESS)
        return result;
    element = element != 0 ? element : 1;
    if (__builtin_mul_overflow(given->width, element, &out_copy->width_bytes))
        return CXU_INVALID_VALUE;
    result = read_operand(&given->source, given, element, &out_copy->source);
    return result == CXU_SUCCESS
               ? read_operand(&given->destination, given, element, &out_copy->destination)
               : result;
}

static cxu_result read_boxes(const cxu_memcpy_3d_batch_op *given, batch *all)
{
    for (size_t i = 0; i < all->count; i++) {
        cxu_result result = read_box(&given[i], &all->copies[i]);

        if (result != CXU_SUCCESS) {
            all->fail = i;
            return result;
        }
        all->orders[i] = given[i].order;
    }
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_memcpy_3d_batch_async_v1(size_t count, cxu_memcpy_3d_batch_op *given,
                                                size_t *out_fail, unsigned long long flags,
                                                CUstream stream)
{
    batch all;
    cxu_result result = begin_batch(stream, out_fail);

    if (result != CXU_SUCCESS)
        return result;
    if (count == 0 || given == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    result = CXU_OUT_OF_MEMORY;
    if (open_batch(&all, count))
        result = read_boxes(given, &all);
    return end_batch(stream, &all, result, out_fail);
}

cxu_result cx_emu_call_memcpy_3d_batch_async(size_t count, cxu_memcpy_3d_batch_op *given,
                                             unsigned long long flags, CUstream stream)
{
    return cx_emu_call_memcpy_3d_batch_async_v1(count, given, NULL, flags, stream);
}

/* ---- one copy ---- */

cxu_result cx_emu_call_memcpy_with_attributes_async(CUdeviceptr destination, CUdeviceptr source,
                                                    size_t bytes,
                                                    cxu_memcpy_attributes *attributes,
                                                    CUstream stream)
{
    size_t first = 0;

    return cx_emu_call_memcpy_batch_async(&destination, &source, &bytes, 1, attributes, &first, 1,
                                          stream);
}

cxu_result cx_emu_call_memcpy_3d_with_attributes_async(cxu_memcpy_3d_batch_op *copy,
                                                       unsigned long long flags, CUstream stream)
{
    return cx_emu_call_memcpy_3d_batch_async(1, copy, flags, stream);
}
