/* Copies between two named devices. */
#include "base/error.h"
#include "copy/copy.h"

typedef struct side {
    const char *noun;
    const void *pointer;
    cx_device *device;
    cx_context *context; /* its primary context */
} side;

static ctxrt_status find_side(ctxrt_device id, side *out_side)
{
    ctxrt_status status = cx_device_find(id, &out_side->device);
    return status == CTXRT_SUCCESS ? cx_context_primary(out_side->device, &out_side->context)
                                   : status;
}

static ctxrt_status check_side(const side *checked, const cx_pointer_view *view)
{
    if (view->device == checked->device)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "ctxrt_copy_peer: the %s %p is %s, not memory of %s", checked->noun,
                    checked->pointer, cx_pointer_text(view), cx_device_text(checked->device->id));
}

static ctxrt_status check_stream(const cx_stream_target *target, const side *to, const side *from)
{
    if (target->context->device == to->device || target->context->device == from->device)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_WRONG_CONTEXT,
                    "ctxrt_copy_peer: the stream is of %s, not of %s or %s",
                    cx_context_text(target->context), cx_device_text(to->device->id),
                    cx_device_text(from->device->id));
}

static ctxrt_status submit_peer(const cx_copy_plan *plan, const side *to, const side *from,
                                size_t size_bytes, ctxrt_stream *stream)
{
    cx_route route;
    ctxrt_status status = cx_route_begin(stream, NULL, &plan->destination.view,
                                         &plan->source.view, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_stream_target *target = &route.target;
    cx_route_touch(&route, &plan->destination.view, &plan->source.view);
    status = CX_DRIVER_CALL(target->driver, memcpy_peer_async,
                            ((uintptr_t)to->pointer, to->context->native, (uintptr_t)from->pointer,
                             from->context->native, size_bytes, target->native));
    return cx_route_end(&route, status, false);
}

/* A device of another driver is the CPU, whose memory is host memory to the first driver. */
static ctxrt_status copy_between(const side *to, const side *from, size_t size_bytes,
                                 ctxrt_stream *stream)
{
    cx_copy_plan plan;
    cx_stream_target target;
    const cx_copy_box box =
        cx_copy_box_of_bytes((void *)(uintptr_t)to->pointer, from->pointer, size_bytes);
    ctxrt_status status =
        cx_copy_plan_make("ctxrt_copy_peer", &box, CTXRT_COPY_DEVICE_TO_DEVICE, &plan);
    if (status == CTXRT_SUCCESS)
        status = check_side(to, &plan.destination.view);
    if (status == CTXRT_SUCCESS)
        status = check_side(from, &plan.source.view);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = check_stream(&target, to, from);
    if (status != CTXRT_SUCCESS)
        return status;
    if (to->device->driver == from->device->driver)
        return submit_peer(&plan, to, from, size_bytes, stream);
    return cx_copy_run("ctxrt_copy_peer", &plan, &box, stream, false);
}

ctxrt_status ctxrt_copy_peer(void *destination, ctxrt_device destination_device, const void *source,
                             ctxrt_device source_device, size_t size_bytes, ctxrt_stream *stream)
{
    side to = {.noun = "destination", .pointer = destination};
    side from = {.noun = "source", .pointer = source};
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = find_side(destination_device, &to);
    if (status == CTXRT_SUCCESS)
        status = find_side(source_device, &from);
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status;
    status = cx_copy_check_range("ctxrt_copy_peer", "destination", destination, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_check_range("ctxrt_copy_peer", "source", source, size_bytes);
    return status == CTXRT_SUCCESS ? copy_between(&to, &from, size_bytes, stream) : status;
}
