/* Copies of 2D and 3D regions. */
#include "base/error.h"
#include "copy/submit.h"

static ctxrt_status check_side(const char *call, const char *noun, const void *pointer,
                               size_t pitch, size_t rows, const cx_copy_box *shape,
                               size_t *out_extent)
{
    size_t slice, slices, extent = 0;
    if ((shape->height > 1 || shape->depth > 1) && pitch < shape->width)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: the pitch of the %s is %zu bytes, and a row has %zu", call, noun,
                        pitch, shape->width);
    if (shape->depth > 1 && rows < shape->height)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: a slice of the %s has %zu rows, and %zu are to be copied", call, noun,
                        rows, shape->height);
    if (__builtin_mul_overflow(pitch, rows, &slice) ||
        __builtin_mul_overflow(slice, shape->depth - 1, &slices) ||
        __builtin_mul_overflow(pitch, shape->height - 1, &extent) ||
        __builtin_add_overflow(extent, slices, &extent) ||
        __builtin_add_overflow(extent, shape->width, &extent))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the size of the %s overflows", call,
                        noun);
    *out_extent = extent;
    return cx_copy_check_range(call, noun, pointer, extent);
}

/* A single row or slice needs no pitch or height: any value that the driver accepts will do. */
static void normalise_pitch(size_t *pitch, size_t *rows, const cx_copy_box *shape)
{
    if (shape->height == 1 && shape->depth == 1 && *pitch < shape->width)
        *pitch = shape->width;
    if (shape->depth == 1)
        *rows = shape->height;
}

static ctxrt_status check_box(const char *call, cx_copy_box *shape, cx_copy_extent *out_extent)
{
    out_extent->destination = shape->destination;
    out_extent->source = shape->source;
    normalise_pitch(&shape->destination_pitch, &shape->destination_rows, shape);
    normalise_pitch(&shape->source_pitch, &shape->source_rows, shape);
    ctxrt_status status =
        check_side(call, "destination", shape->destination, shape->destination_pitch,
                   shape->destination_rows, shape, &out_extent->destination_bytes);
    if (status == CTXRT_SUCCESS)
        status = check_side(call, "source", shape->source, shape->source_pitch, shape->source_rows,
                            shape, &out_extent->source_bytes);
    return status;
}

static ctxrt_status run_region(const char *call, const cx_copy_plan *plan, const cx_copy_box *shape,
                               ctxrt_stream *stream, bool wait)
{
    cx_route route;
    bool taken = false;
    ctxrt_status status = CTXRT_SUCCESS;
    if (plan->end == NULL && (wait || !cx_route_wanted(stream)))
        return cx_copy_on_host(plan, shape);
    if (plan->devices && !wait)
        status = cx_copy_across(call, plan, shape, stream, &taken);
    if (status != CTXRT_SUCCESS || taken)
        return status;
    status = cx_copy_begin(plan, stream, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_copy_touch(plan, &route);
    return cx_route_end(&route, cx_copy_submit_box(plan, &route, shape), wait);
}

static ctxrt_status copy_region(const char *call, const ctxrt_copy_region *region, bool slices,
                                ctxrt_stream *stream, bool wait)
{
    cx_copy_plan plan;
    cx_copy_extent extent;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (region == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: region is NULL", call);
    if ((unsigned int)region->kind > CTXRT_COPY_DEVICE_TO_DEVICE)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: there is no kind of copy %d", call,
                        (int)region->kind);
    cx_copy_box shape = {
        .destination = region->destination,
        .source = region->source,
        .destination_pitch = region->destination_pitch_bytes,
        .destination_rows = region->destination_slice_height,
        .source_pitch = region->source_pitch_bytes,
        .source_rows = region->source_slice_height,
        .width = region->width_bytes,
        .height = region->height,
        .depth = slices ? region->depth : 1,
    };
    if (shape.width == 0 || shape.height == 0 || shape.depth == 0)
        return CTXRT_SUCCESS;
    status = check_box(call, &shape, &extent);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_plan_make(call, &extent, region->kind, &plan);
    return status == CTXRT_SUCCESS ? run_region(call, &plan, &shape, stream, wait) : status;
}

ctxrt_status ctxrt_copy_2d(const ctxrt_copy_region *region)
{
    return copy_region("ctxrt_copy_2d", region, false, NULL, true);
}

ctxrt_status ctxrt_copy_2d_async(const ctxrt_copy_region *region, ctxrt_stream *stream)
{
    return copy_region("ctxrt_copy_2d_async", region, false, stream, false);
}

ctxrt_status ctxrt_copy_3d(const ctxrt_copy_region *region)
{
    return copy_region("ctxrt_copy_3d", region, true, NULL, true);
}

ctxrt_status ctxrt_copy_3d_async(const ctxrt_copy_region *region, ctxrt_stream *stream)
{
    return copy_region("ctxrt_copy_3d_async", region, true, stream, false);
}
