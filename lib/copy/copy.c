#include "copy/copy.h"

#include "base/error.h"
#include "copy/copy_fast_path.h"
#include "copy/submit.h"
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

ctxrt_status cx_copy_plan_make(const char *call, const cx_copy_extent *extent, ctxrt_copy_kind kind,
                               cx_copy_plan *out_plan)
{
    cx_copy_end *to = &out_plan->destination, *from = &out_plan->source;
    ctxrt_status status =
        cx_pointer_look(extent->destination, extent->destination_bytes, &to->view);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_look(extent->source, extent->source_bytes, &from->view);
    if (status != CTXRT_SUCCESS)
        return status;
    bool any = kind == CTXRT_COPY_ANY;
    to->device = any ? by_default_device(&to->view) : to_device(kind);
    from->device = any ? by_default_device(&from->view) : from_device(kind);
    status = check_end(call, "destination", extent->destination, extent->destination_bytes, to);
    if (status == CTXRT_SUCCESS)
        status = check_end(call, "source", extent->source, extent->source_bytes, from);
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
ctxrt_status cx_copy_begin(const cx_copy_plan *plan, ctxrt_stream *stream, cx_route *out_route)
{
    ctxrt_status status = cx_route_begin(stream, reach_of(plan), &plan->destination.view,
                                         &plan->source.view, out_route);
    if (status != CTXRT_SUCCESS || !plan->across || plan->source.device)
        return status;
    status = wait_for_work(&out_route->target);
    return status == CTXRT_SUCCESS ? status : cx_route_end(out_route, status, false);
}

void cx_copy_touch(const cx_copy_plan *plan, cx_route *route)
{
    cx_route_touch(route, &plan->destination.view);
    cx_route_touch(route, &plan->source.view);
}

/* ---- plain bytes ---- */

static cx_copy_box row_of(void *destination, const void *source, size_t size_bytes)
{
    return (cx_copy_box){.destination = destination,
                         .destination_pitch = size_bytes,
                         .destination_rows = 1,
                         .source = source,
                         .source_pitch = size_bytes,
                         .source_rows = 1,
                         .width = size_bytes,
                         .height = 1,
                         .depth = 1};
}

static ctxrt_status run_across(const char *call, const cx_copy_plan *plan, void *destination,
                               const void *source, size_t size_bytes, ctxrt_stream *stream,
                               bool *out_taken)
{
    const cx_copy_box row = row_of(destination, source, size_bytes);
    return cx_copy_across(call, plan, &row, stream, out_taken);
}

ctxrt_status cx_copy_on_host(const cx_copy_plan *plan, const cx_copy_box *shape)
{
    cx_copy_pins pins;
    bool row = shape->height == 1 && shape->depth == 1;
    ctxrt_status status = cx_copy_pin_ends(&plan->destination.view, &plan->source.view,
                                           row ? shape->width : SIZE_MAX, &pins);
    if (status != CTXRT_SUCCESS)
        return status;
    if (row)
        memmove(shape->destination, shape->source, shape->width);
    else
        cx_copy_box_on_host(shape);
    cx_copy_unpin(&pins);
    return status;
}

ctxrt_status cx_copy_run(const char *call, const cx_copy_plan *plan, void *destination,
                         const void *source, size_t size_bytes, ctxrt_stream *stream, bool wait)
{
    cx_route route;
    bool taken = false;
    ctxrt_status status = CTXRT_SUCCESS;
    if (plan->end == NULL && (wait || !cx_route_wanted(stream))) {
        const cx_copy_box row = row_of(destination, source, size_bytes);
        return cx_copy_on_host(plan, &row);
    }
    if (plan->devices && !wait && cx_driver_count() > 1)
        status = run_across(call, plan, destination, source, size_bytes, stream, &taken);
    if (status != CTXRT_SUCCESS || taken)
        return status;
    status = cx_copy_begin(plan, stream, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_copy_touch(plan, &route);
    return cx_route_end(&route, cx_copy_submit(plan, &route, destination, source, size_bytes),
                        wait);
}

/* The fast path, between blocks of one context. False: take the slow path. */
static bool copy_on_fast_path(void *destination, const void *source, size_t size_bytes,
                              ctxrt_stream *stream, ctxrt_status *out_status)
{
    cx_stream_target target;
    cx_context_guard guard;
    uint32_t to = cx_copy_may_take_fast_path() ? cx_copy_fast_path_block(destination) : 0;
    uint32_t from = to != 0 ? cx_copy_fast_path_block(source) : 0;
    if (from == 0 || cx_work_begin(stream, &target) != CTXRT_SUCCESS)
        return false;
    bool fast = cx_copy_is_on_fast_path(target.context, to, destination, size_bytes) &&
                cx_copy_is_on_fast_path(target.context, from, source, size_bytes);
    if (fast) {
        *out_status = cx_work_make_current(stream, &target, &guard);
        if (*out_status == CTXRT_SUCCESS) {
            *out_status = CX_DRIVER_CALL(
                target.driver, memcpy_dtod_async,
                ((uintptr_t)destination, (uintptr_t)source, size_bytes, target.native));
            cx_context_guard_leave(&guard);
        }
    }
    cx_work_end();
    return fast;
}

static ctxrt_status copy_bytes(const char *call, void *destination, const void *source,
                               size_t size_bytes, ctxrt_copy_kind kind, ctxrt_stream *stream,
                               bool wait)
{
    cx_copy_plan plan;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if ((unsigned int)kind > CTXRT_COPY_DEVICE_TO_DEVICE)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: there is no kind of copy %d", call,
                        (int)kind);
    if (size_bytes == 0)
        return CTXRT_SUCCESS;
    bool between = kind == CTXRT_COPY_ANY || kind == CTXRT_COPY_DEVICE_TO_DEVICE;
    if (between && !wait && copy_on_fast_path(destination, source, size_bytes, stream, &status))
        return status;
    status = cx_copy_check_range(call, "destination", destination, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_check_range(call, "source", source, size_bytes);
    const cx_copy_extent extent = {destination, source, size_bytes, size_bytes};
    if (status == CTXRT_SUCCESS)
        status = cx_copy_plan_make(call, &extent, kind, &plan);
    return status == CTXRT_SUCCESS
               ? cx_copy_run(call, &plan, destination, source, size_bytes, stream, wait)
               : status;
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
