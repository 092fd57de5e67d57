#include "copy/submit.h"

#include <string.h>

/* ---- plain bytes ---- */

static ctxrt_status submit_unified(const cx_stream_target *target, uintptr_t destination,
                                   uintptr_t source, size_t size_bytes)
{
    return CX_DRIVER_CALL(target->driver, memcpy_unified_async,
                          (destination, source, size_bytes, target->native));
}

static ctxrt_status submit_device_to_device(const cx_copy_plan *plan,
                                            const cx_stream_target *target, uintptr_t destination,
                                            uintptr_t source, size_t size_bytes)
{
    const cx_driver *driver = target->driver;
    CUcontext to = plan->destination.view.owner, from = plan->source.view.owner;
    if (plan->peers && to != NULL && from != NULL && !driver->missing[CX_SLOT_memcpy_peer_async])
        return CX_DRIVER_CALL(driver, memcpy_peer_async,
                              (destination, to, source, from, size_bytes, target->native));
    if (plan->peers || plan->destination.view.kind != CTXRT_MEMORY_DEVICE ||
        plan->source.view.kind != CTXRT_MEMORY_DEVICE)
        return submit_unified(target, destination, source, size_bytes);
    return CX_DRIVER_CALL(driver, memcpy_dtod_async,
                          (destination, source, size_bytes, target->native));
}

ctxrt_status cx_copy_submit(const cx_copy_plan *plan, const cx_route *route, void *destination,
                            const void *source, size_t size_bytes)
{
    const cx_stream_target *target = &route->target;
    uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;
    if (plan->destination.device && plan->source.device)
        return submit_device_to_device(plan, target, to, from, size_bytes);
    if (plan->destination.device)
        return CX_DRIVER_CALL(target->driver, memcpy_htod_async,
                              (to, source, size_bytes, target->native));
    if (plan->source.device)
        return CX_DRIVER_CALL(target->driver, memcpy_dtoh_async,
                              (destination, from, size_bytes, target->native));
    return submit_unified(target, to, from, size_bytes);
}

/* ---- row by row ---- */

void cx_copy_box_on_host(const cx_copy_box *shape)
{
    for (size_t z = 0; z < shape->depth; z++)
        for (size_t y = 0; y < shape->height; y++)
            memmove(cx_copy_destination_row(shape, y, z), cx_copy_source_row(shape, y, z),
                    shape->width);
}

static ctxrt_status submit_rows(const cx_copy_plan *plan, const cx_route *route,
                                const cx_copy_box *shape)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t z = 0; z < shape->depth && status == CTXRT_SUCCESS; z++)
        for (size_t y = 0; y < shape->height && status == CTXRT_SUCCESS; y++)
            status = cx_copy_submit(plan, route, cx_copy_destination_row(shape, y, z),
                                    cx_copy_source_row(shape, y, z), shape->width);
    return status;
}

/* ---- by one driver call ---- */

static cxu_memory_type type_of(const cx_copy_end *end)
{
    if (!end->device)
        return CXU_MEMORYTYPE_HOST;
    return end->view.kind == CTXRT_MEMORY_DEVICE ? CXU_MEMORYTYPE_DEVICE : CXU_MEMORYTYPE_UNIFIED;
}

static ctxrt_status submit_2d(const cx_copy_plan *plan, const cx_route *route,
                              const cx_copy_box *shape)
{
    const cxu_memcpy_2d copy = {
        .source_type = type_of(&plan->source),
        .source_host = shape->source,
        .source_device = (uintptr_t)shape->source,
        .source_pitch_bytes = shape->source_pitch,
        .destination_type = type_of(&plan->destination),
        .destination_host = shape->destination,
        .destination_device = (uintptr_t)shape->destination,
        .destination_pitch_bytes = shape->destination_pitch,
        .width_bytes = shape->width,
        .height = shape->height,
    };
    return CX_DRIVER_CALL(route->target.driver, memcpy_2d_async, (&copy, route->target.native));
}

static ctxrt_status submit_3d(const cx_copy_plan *plan, const cx_route *route,
                              const cx_copy_box *shape)
{
    const cxu_memcpy_3d copy = {
        .source_type = type_of(&plan->source),
        .source_host = shape->source,
        .source_device = (uintptr_t)shape->source,
        .source_pitch_bytes = shape->source_pitch,
        .source_height = shape->source_rows,
        .destination_type = type_of(&plan->destination),
        .destination_host = shape->destination,
        .destination_device = (uintptr_t)shape->destination,
        .destination_pitch_bytes = shape->destination_pitch,
        .destination_height = shape->destination_rows,
        .width_bytes = shape->width,
        .height = shape->height,
        .depth = shape->depth,
    };
    return CX_DRIVER_CALL(route->target.driver, memcpy_3d_async, (&copy, route->target.native));
}

/* The driver's region copies are of one context; between two devices each row is its own copy. */
ctxrt_status cx_copy_submit_box(const cx_copy_plan *plan, const cx_route *route,
                                const cx_copy_box *shape)
{
    cx_slot slot = shape->depth == 1 ? CX_SLOT_memcpy_2d_async : CX_SLOT_memcpy_3d_async;
    if (plan->peers || route->target.driver->missing[slot])
        return submit_rows(plan, route, shape);
    return shape->depth == 1 ? submit_2d(plan, route, shape) : submit_3d(plan, route, shape);
}
