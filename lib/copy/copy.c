#include "copy/copy.h"

#include "base/error.h"
#include "copy/copy_fast_path.h"
#include <string.h>

/* ---- plans ---- */

static bool by_default_device(const cx_pointer_view *view)
{
    return view->driver != NULL && view->kind != CTXRT_MEMORY_PINNED;
}

/* True if the kind calls an end device memory. */
static bool to_device(ctxrt_copy_kind kind)
{
    return kind == CTXRT_COPY_HOST_TO_DEVICE || kind == CTXRT_COPY_DEVICE_TO_DEVICE;
}

static bool from_device(ctxrt_copy_kind kind)
{
    return kind == CTXRT_COPY_DEVICE_TO_HOST || kind == CTXRT_COPY_DEVICE_TO_DEVICE;
}

static ctxrt_status check_end(const char *call, const char *noun, const void *pointer, size_t bytes,
                              const cx_copy_end *end)
{
    ctxrt_status status = cx_pointer_check(call, noun, pointer, bytes, &end->view);
    if (status != CTXRT_SUCCESS)
        return status;
    if (end->device ? end->view.driver != NULL : cx_pointer_of_host(&end->view))
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "the kind of copy says that the %s is memory of %s, but %p is %s", noun,
                    end->device ? "a device" : "the host", pointer, cx_pointer_text(&end->view));
}

/* No one driver copies for both; but one of them sees the other's memory if the host may touch
 * that. */
static ctxrt_status choose_driver(cx_copy_plan *plan)
{
    cx_copy_end *to = &plan->destination, *from = &plan->source;
    plan->devices = to->device && from->device;
    plan->across = plan->devices && to->view.driver != from->view.driver;
    if (plan->across) {
        if (cx_pointer_of_host(&from->view))
            from->device = false;
        else if (cx_pointer_of_host(&to->view))
            to->device = false;
        else
            return cx_error(
                CTXRT_ERROR_NOT_SUPPORTED,
                "the two ends belong to different drivers, %s and %s, and the host may touch "
                "neither",
                to->view.driver->name, from->view.driver->name);
    }
    plan->end = to->device ? &to->view : from->device ? &from->view : NULL;
    plan->peers = to->device && from->device && to->view.kind == CTXRT_MEMORY_DEVICE &&
                  from->view.kind == CTXRT_MEMORY_DEVICE && to->view.device != from->view.device;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_copy_plan_make(const char *call, const cx_copy_box *box, ctxrt_copy_kind kind,
                               cx_copy_plan *out_plan)
{
    cx_copy_end *to = &out_plan->destination, *from = &out_plan->source;
    const void *to_begin = box->destination.begin, *from_begin = box->source.begin;
    size_t to_bytes = cx_copy_extent(box, &box->destination);
    size_t from_bytes = cx_copy_extent(box, &box->source);
    ctxrt_status status = cx_pointer_look(to_begin, to_bytes, &to->view);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_look(from_begin, from_bytes, &from->view);
    if (status != CTXRT_SUCCESS)
        return status;
    bool any = kind == CTXRT_COPY_ANY;
    to->device = any ? by_default_device(&to->view) : to_device(kind);
    from->device = any ? by_default_device(&from->view) : from_device(kind);
    status = check_end(call, "destination", to_begin, to_bytes, to);
    if (status == CTXRT_SUCCESS)
        status = check_end(call, "source", from_begin, from_bytes, from);
    return status == CTXRT_SUCCESS ? choose_driver(out_plan) : status;
}

ctxrt_status cx_copy_check_range(const char *call, const char *noun, const void *pointer,
                                 size_t size_bytes)
{
    uintptr_t end;
    if (pointer == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: the %s is NULL", call, noun);
    if (__builtin_add_overflow((uintptr_t)pointer, size_bytes, &end))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: %zu bytes at the %s %p wrap around",
                        call, size_bytes, noun, pointer);
    return CTXRT_SUCCESS;
}

/* ---- routes ---- */

static ctxrt_status wait_for_work(const cx_stream_target *target)
{
    bool capturing;
    ctxrt_status status = cx_stream_is_capturing(target, &capturing);
    if (status == CTXRT_SUCCESS && !capturing)
        status = CX_DRIVER_CALL(target->driver, stream_synchronize, (target->native));
    return status;
}

/* The end that the route must reach: mapped memory is out of reach for most devices. A copy between
 * two devices names both contexts, and each reaches its end. */
static const cx_pointer_view *reach_of(const cx_copy_plan *plan)
{
    const cx_pointer_view *source = &plan->source.view;
    bool mapped = !plan->peers && plan->source.device && source->block.mapped;
    return mapped && source->driver == plan->end->driver ? source : plan->end;
}

/* Drivers read host memory when the call is made (T13). Device memory has the contents that earlier
 * work leaves. */
static ctxrt_status begin_copy(const cx_copy_plan *plan, ctxrt_stream *stream, cx_route *out_route)
{
    ctxrt_status status = cx_route_begin(stream, reach_of(plan), &plan->destination.view,
                                         &plan->source.view, out_route);
    if (status != CTXRT_SUCCESS)
        return status;
    if (plan->across && !plan->source.device)
        status = wait_for_work(&out_route->target);
    if (status != CTXRT_SUCCESS)
        return cx_route_end(out_route, status, false);
    cx_route_touch(out_route, &plan->destination.view, &plan->source.view);
    return status;
}

/* ---- copies of all kinds ---- */

/* CTXRT_ERROR_CONTEXT_DESTROYED: a reset has ended one of the ends. */
static ctxrt_status copy_on_host(const cx_copy_plan *plan, const cx_copy_box *box)
{
    cx_copy_pins pins;
    size_t bytes = box->height == 1 && box->depth == 1 ? box->width : SIZE_MAX;
    ctxrt_status status =
        cx_copy_pin_ends(&plan->destination.view, &plan->source.view, bytes, &pins);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_copy_box_on_host(box);
    cx_copy_unpin(&pins);
    return status;
}

ctxrt_status cx_copy_run(const char *call, const cx_copy_plan *plan, const cx_copy_box *box,
                         ctxrt_stream *stream, bool wait)
{
    cx_route route;
    bool taken = false;
    ctxrt_status status = CTXRT_SUCCESS;
    if (plan->end == NULL && (wait || !cx_route_wanted(stream)))
        return copy_on_host(plan, box);
    if (plan->devices && !wait)
        status = cx_copy_across(call, plan, box, stream, &taken);
    if (status != CTXRT_SUCCESS || taken)
        return status;
    status = begin_copy(plan, stream, &route);
    return status == CTXRT_SUCCESS
               ? cx_route_end(&route, cx_copy_submit(plan, &route.target, box), wait)
               : status;
}

static ctxrt_status check_kind(const char *call, ctxrt_copy_kind kind)
{
    return (unsigned int)kind > CTXRT_COPY_DEVICE_TO_DEVICE
               ? cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: there is no kind of copy %d", call,
                          (int)kind)
               : CTXRT_SUCCESS;
}

/* ---- plain bytes ---- */

/* False: take the slow path. */
static bool copy_on_fast_path(void *destination, const void *source, size_t size_bytes,
                              ctxrt_stream *stream, ctxrt_status *out_status)
{
    cx_fast_copy fast;
    if (!cx_fast_copy_begin(destination, source, size_bytes, stream, &fast, out_status))
        return false;
    if (*out_status == CTXRT_SUCCESS) {
        *out_status = CX_DRIVER_CALL(
            fast.target.driver, memcpy_dtod_async,
            ((uintptr_t)destination, (uintptr_t)source, size_bytes, fast.target.native));
        cx_fast_copy_end(&fast);
    }
    return true;
}

static ctxrt_status copy_bytes(const char *call, void *destination, const void *source,
                               size_t size_bytes, ctxrt_copy_kind kind, ctxrt_stream *stream,
                               bool wait)
{
    cx_copy_plan plan;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_kind(call, kind);
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status;
    bool between = kind == CTXRT_COPY_ANY || kind == CTXRT_COPY_DEVICE_TO_DEVICE;
    if (between && !wait && copy_on_fast_path(destination, source, size_bytes, stream, &status))
        return status;
    status = cx_copy_check_range(call, "destination", destination, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_check_range(call, "source", source, size_bytes);
    const cx_copy_box box = cx_copy_box_of_bytes(destination, source, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_plan_make(call, &box, kind, &plan);
    return status == CTXRT_SUCCESS ? cx_copy_run(call, &plan, &box, stream, wait) : status;
}

ctxrt_status ctxrt_copy(void *destination, const void *source, size_t size_bytes,
                        ctxrt_copy_kind kind)
{
    return copy_bytes("ctxrt_copy", destination, source, size_bytes, kind, NULL, true);
}

ctxrt_status ctxrt_copy_async(void *destination, const void *source, size_t size_bytes,
                              ctxrt_copy_kind kind, ctxrt_stream *stream)
{
    return copy_bytes("ctxrt_copy_async", destination, source, size_bytes, kind, stream, false);
}

/* ---- regions ---- */

/* A single row or slice needs no pitch or height: any value that the driver accepts will do. */
static ctxrt_status check_rows(const char *call, const char *noun, cx_copy_box *box,
                               cx_copy_rows *end)
{
    size_t slice, slices, extent;
    if (box->height == 1 && box->depth == 1 && end->pitch < box->width)
        end->pitch = box->width;
    if (box->depth == 1)
        end->rows = box->height;
    if (end->pitch < box->width)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: the pitch of the %s is %zu bytes, and a row has %zu", call, noun,
                        end->pitch, box->width);
    if (end->rows < box->height)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: a slice of the %s has %zu rows, and %zu are to be copied", call, noun,
                        end->rows, box->height);
    if (__builtin_mul_overflow(end->pitch, end->rows, &slice) ||
        __builtin_mul_overflow(slice, box->depth - 1, &slices) ||
        __builtin_mul_overflow(end->pitch, box->height - 1, &extent) ||
        __builtin_add_overflow(extent, slices, &extent) ||
        __builtin_add_overflow(extent, box->width, &extent))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the size of the %s overflows", call,
                        noun);
    return cx_copy_check_range(call, noun, end->begin, extent);
}

static ctxrt_status copy_region(const char *call, const ctxrt_copy_region *region, bool slices,
                                ctxrt_stream *stream, bool wait)
{
    cx_copy_plan plan;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (region == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: region is NULL", call);
    cx_copy_box box = {
        .destination = {region->destination, region->destination_pitch_bytes,
                        region->destination_slice_height},
        .source = {(unsigned char *)(uintptr_t)region->source, region->source_pitch_bytes,
                   region->source_slice_height},
        .width = region->width_bytes,
        .height = region->height,
        .depth = slices ? region->depth : 1,
    };
    status = check_kind(call, region->kind);
    if (status != CTXRT_SUCCESS || box.width == 0 || box.height == 0 || box.depth == 0)
        return status;
    status = check_rows(call, "destination", &box, &box.destination);
    if (status == CTXRT_SUCCESS)
        status = check_rows(call, "source", &box, &box.source);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_plan_make(call, &box, region->kind, &plan);
    return status == CTXRT_SUCCESS ? cx_copy_run(call, &plan, &box, stream, wait) : status;
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
