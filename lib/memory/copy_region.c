/* Copies of rectangles and boxes. */
#include "base/error.h"
#include "memory/copy.h"

#include <string.h>

/* One end: where it is, and the bytes from its first to its last. */
typedef struct region_end {
    const void *pointer;
    size_t pitch_bytes, slice_height;
    cx_place place;
} region_end;

typedef struct region_copy {
    const ctxrt_copy_region *region;
    size_t depth;
    region_end to, from;
} region_copy;

static ctxrt_status check_end(region_end *end, const region_copy *copy, const char *what)
{
    const ctxrt_copy_region *region = copy->region;
    size_t slice_bytes, rows, last;
    if (end->pointer == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "the %s of a copy is NULL", what);
    if (end->pitch_bytes < region->width_bytes)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the %s: a pitch of %zu bytes is less than the width of %zu",
                        what, end->pitch_bytes, region->width_bytes);
    if (copy->depth > 1 && end->slice_height < region->height)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the %s: a slice of %zu rows is less than the height of %zu",
                        what, end->slice_height, region->height);
    if (__builtin_mul_overflow(end->slice_height, copy->depth - 1, &slice_bytes) ||
        __builtin_add_overflow(slice_bytes, region->height - 1, &rows) ||
        __builtin_mul_overflow(rows, end->pitch_bytes, &last) ||
        __builtin_add_overflow(last, region->width_bytes, &last))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the %s of a copy is larger than the address space", what);
    end->place = cx_place_of(end->pointer);
    return cx_place_check(&end->place, end->pointer, last, what);
}

static ctxrt_status prepare(const ctxrt_copy_region *region, size_t depth, region_copy *out_copy)
{
    *out_copy = (region_copy){
        .region = region,
        .depth = depth,
        .to = {.pointer = region->destination, .pitch_bytes = region->destination_pitch_bytes,
               .slice_height = depth > 1 ? region->destination_slice_height : 0},
        .from = {.pointer = region->source, .pitch_bytes = region->source_pitch_bytes,
                 .slice_height = depth > 1 ? region->source_slice_height : 0},
    };
    ctxrt_status status = check_end(&out_copy->to, out_copy, "destination");
    if (status == CTXRT_SUCCESS)
        status = check_end(&out_copy->from, out_copy, "source");
    if (status == CTXRT_SUCCESS)
        status = cx_copy_check_kind(&out_copy->to.place, &out_copy->from.place, region->kind);
    return status;
}

/* Row by row by the host, each end through its own driver. */
static ctxrt_status copy_rows(const region_copy *copy)
{
    const ctxrt_copy_region *region = copy->region;
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < region->height && status == CTXRT_SUCCESS; y++)
            status = cx_copy_staged(
                (unsigned char *)region->destination + (z * copy->to.slice_height + y) * copy->to.pitch_bytes,
                &copy->to.place,
                (const unsigned char *)region->source + (z * copy->from.slice_height + y) * copy->from.pitch_bytes,
                &copy->from.place, region->width_bytes);
    return status;
}

static cxu_memory_type type_for(const cx_place *place, const cx_driver *driver)
{
    return place->device != NULL && place->device->driver == driver ? CXU_MEMORYTYPE_UNIFIED : CXU_MEMORYTYPE_HOST;
}

/* A box of depth 1 is what the 3D call takes as well, but older drivers and 2D pitches prefer the 2D one. */
static ctxrt_status copy_by_driver(const region_copy *copy, const cx_stream_target *target)
{
    const ctxrt_copy_region *region = copy->region;
    const cxu_memcpy_2d flat = {
        .source_type = type_for(&copy->from.place, target->driver),
        .source_host = region->source,
        .source_device = (CUdeviceptr)(uintptr_t)region->source,
        .source_pitch_bytes = region->source_pitch_bytes,
        .destination_type = type_for(&copy->to.place, target->driver),
        .destination_host = region->destination,
        .destination_device = (CUdeviceptr)(uintptr_t)region->destination,
        .destination_pitch_bytes = region->destination_pitch_bytes,
        .width_bytes = region->width_bytes,
        .height = region->height,
    };
    if (copy->depth == 1)
        return CX_DRIVER_CALL(target->driver, memcpy_2d_async, (&flat, target->native));
    const cxu_memcpy_3d box = {
        .source_type = flat.source_type,
        .source_host = flat.source_host,
        .source_device = flat.source_device,
        .source_pitch_bytes = flat.source_pitch_bytes,
        .source_height = region->source_slice_height,
        .destination_type = flat.destination_type,
        .destination_host = flat.destination_host,
        .destination_device = flat.destination_device,
        .destination_pitch_bytes = flat.destination_pitch_bytes,
        .destination_height = region->destination_slice_height,
        .width_bytes = region->width_bytes,
        .height = region->height,
        .depth = copy->depth,
    };
    return CX_DRIVER_CALL(target->driver, memcpy_3d_async, (&box, target->native));
}

static ctxrt_status submit(const region_copy *copy, const cx_stream_target *target)
{
    cx_excursion excursion;
    ctxrt_status status;
    if (cx_copy_route(&copy->to.place, &copy->from.place, target->driver) == CX_ROUTE_STAGED) {
        status = CX_DRIVER_CALL(target->driver, stream_synchronize, (target->native));
        return status == CTXRT_SUCCESS ? copy_rows(copy) : status;
    }
    status = cx_excursion_begin(target->context, &excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    status = copy_by_driver(copy, target);
    cx_excursion_end(&excursion);
    return status;
}

static bool empty(const ctxrt_copy_region *region, size_t depth)
{
    return region->width_bytes == 0 || region->height == 0 || depth == 0;
}

static ctxrt_status check_region(const ctxrt_copy_region *region)
{
    if (region == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "region is NULL");
    if ((unsigned int)region->kind > CTXRT_COPY_DEVICE_TO_DEVICE)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "there is no kind of copy %d", (int)region->kind);
    return cx_runtime_enter();
}

static ctxrt_status copy_and_wait(const ctxrt_copy_region *region, bool flat)
{
    region_copy copy;
    cx_stream_target target;
    ctxrt_status status = check_region(region);
    size_t depth = status == CTXRT_SUCCESS && !flat ? region->depth : 1;
    if (status != CTXRT_SUCCESS || empty(region, depth))
        return status;
    status = prepare(region, depth, &copy);
    if (status != CTXRT_SUCCESS)
        return status;
    if (cx_copy_host_only(&copy.to.place, &copy.from.place, region->kind))
        return copy_rows(&copy);
    status = cx_stream_resolve(NULL, &target);
    if (status == CTXRT_SUCCESS)
        status = submit(&copy, &target);
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(target.driver, stream_synchronize, (target.native));
    return status;
}

static ctxrt_status copy_in_stream(const ctxrt_copy_region *region, bool flat, ctxrt_stream *stream)
{
    region_copy copy;
    cx_stream_target target;
    ctxrt_status status = check_region(region);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve(stream, &target);
    size_t depth = status == CTXRT_SUCCESS && !flat ? region->depth : 1;
    if (status != CTXRT_SUCCESS || empty(region, depth))
        return status;
    status = prepare(region, depth, &copy);
    return status == CTXRT_SUCCESS ? submit(&copy, &target) : status;
}

ctxrt_status ctxrt_copy_2d(const ctxrt_copy_region *region)
{
    return copy_and_wait(region, true);
}

ctxrt_status ctxrt_copy_3d(const ctxrt_copy_region *region)
{
    return copy_and_wait(region, false);
}

ctxrt_status ctxrt_copy_2d_async(const ctxrt_copy_region *region, ctxrt_stream *stream)
{
    return copy_in_stream(region, true, stream);
}

ctxrt_status ctxrt_copy_3d_async(const ctxrt_copy_region *region, ctxrt_stream *stream)
{
    return copy_in_stream(region, false, stream);
}
