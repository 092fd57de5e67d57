#include "emu/schedule/fill.h"
#include "emu/base/refusal.h"
#include "emu/device/device.h"
#include <string.h>

typedef cxu_memset_node_params fill;

static void fill_row(unsigned char *row, const fill *shape)
{
    uint16_t *halves = (void *)row;
    uint32_t *words = (void *)row;

    switch (shape->element_bytes) {
    case 1:
        memset(row, (int)shape->value, shape->width);
        break;
    case 2:
        for (size_t x = 0; x < shape->width; x++)
            halves[x] = (uint16_t)shape->value;
        break;
    default:
        for (size_t x = 0; x < shape->width; x++)
            words[x] = shape->value;
    }
}

static void run_painting(void *argument)
{
    const cx_emu_painting *work = argument;

    for (size_t y = 0; y < work->shape.height; y++)
        fill_row(work->bytes + y * work->shape.pitch_bytes, &work->shape);
}

/* The number of bytes from the first to the last element; false if the shape is invalid. */
static bool measure_fill(const fill *shape, size_t *out_bytes)
{
    size_t row_bytes;

    if (shape->element_bytes != 1 && shape->element_bytes != 2 && shape->element_bytes != 4)
        return false;
    if (__builtin_mul_overflow(shape->width, shape->element_bytes, &row_bytes) ||
        shape->destination % shape->element_bytes != 0)
        return false;
    if (shape->height > 1 &&
        (shape->pitch_bytes < row_bytes || shape->pitch_bytes > CX_EMU_MAX_PITCH ||
         shape->pitch_bytes % shape->element_bytes != 0))
        return false;
    return cx_emu_box_bytes(shape->pitch_bytes, 0, row_bytes, shape->height, 1, out_bytes);
}

static cxu_result refuse_shape(const fill *shape)
{
    if (shape->element_bytes > 1 && shape->destination % shape->element_bytes != 0)
        return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                     "the address is no multiple of the # bytes of an element",
                                     shape->element_bytes, 0);
    return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                 "rows of # elements do not fit into a pitch of # bytes, or the "
                                 "pitch is none",
                                 shape->width, shape->pitch_bytes);
}

/* The context fills by itself, as a kernel does: it needs access to memory of peers (E1). */
static cxu_result locate_fill(const fill *shape, const cx_emu_context *context, uint64_t latest,
                              cx_emu_span *out_span)
{
    size_t bytes;
    cxu_result result;

    if (!measure_fill(shape, &bytes))
        return refuse_shape(shape);
    result = cx_emu_span_find(CXU_MEMORYTYPE_DEVICE, shape->destination, bytes,
                              (cx_emu_reach){context->device, true, latest}, out_span);
    if (result == CXU_SUCCESS && !cx_emu_allocation_reachable(out_span->use.allocation, context))
        result = cx_emu_refuse(CXU_INVALID_VALUE, "the context has no access to memory of the "
                                                  "other device; cuCtxEnablePeerAccess gives it");
    return result;
}

static cx_emu_work_request request_for(cx_emu_painting *painting, const cx_emu_span *span)
{
    const fill *shape = &painting->shape;

    return (cx_emu_work_request){
        .kind = CX_EMU_WORK_CALL,
        .call = run_painting,
        .argument = painting,
        .argument_bytes = sizeof *painting,
        .cost_bytes = shape->width * shape->element_bytes * shape->height,
        .uses = {span->use},
    };
}

cxu_result cx_emu_fill_request(const cxu_memset_node_params *shape, const cx_emu_context *context,
                               uint64_t latest, cx_emu_painting *out_painting,
                               cx_emu_work_request *out_request)
{
    cx_emu_span span;
    cxu_result result = locate_fill(shape, context, latest, &span);

    if (result != CXU_SUCCESS)
        return result;
    *out_painting = (cx_emu_painting){*shape, span.bytes};
    *out_request = request_for(out_painting, &span);
    return CXU_SUCCESS;
}

static cxu_result submit_fill(cx_emu_stream *stream, const fill *shape, const cx_emu_span *span,
                              bool wait)
{
    cx_emu_painting painting = {*shape, span->bytes};
    cx_emu_work_request request = request_for(&painting, span);
    cx_emu_work *piece;
    cxu_result result;

    request.waited = wait;
    result = cx_emu_work_submit(stream, &request, wait ? &piece : NULL);
    if (result == CXU_SUCCESS && wait) {
        result = cx_emu_work_wait(piece);
        cx_emu_work_drop(piece);
    }
    return result;
}

/* Rule T13: the host goes on at once, unless the memory is host memory. */
static bool must_wait(const cx_emu_span *span, cx_emu_copy_mode mode)
{
    return span->use.allocation->sync_memops ||
           (mode == CX_EMU_COPY_SYNC && span->place != CX_EMU_PLACE_DEVICE);
}

cxu_result cx_emu_fill_submit(const cxu_memset_node_params *shape, cx_emu_stream *stream,
                              cx_emu_copy_mode mode)
{
    cx_emu_span span;
    cxu_result result = locate_fill(shape, stream->context, 0, &span);

    return result == CXU_SUCCESS ? submit_fill(stream, shape, &span, must_wait(&span, mode))
                                 : result;
}
