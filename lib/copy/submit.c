/* How a copy is done once it has a plan: by calls of the stream's driver, or by the host. */
#include "copy/copy.h"

#include <string.h>

/* ---- plain bytes ---- */

static ctxrt_status submit_row(const cx_copy_plan *plan, const cx_stream_target *target,
                               void *destination, const void *source, size_t size_bytes)
{
    const cx_driver *driver = target->driver;
    const cx_copy_end *to_end = &plan->destination, *from_end = &plan->source;
    uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;
    CUcontext to_owner = to_end->view.owner, from_owner = from_end->view.owner;
    bool both = to_end->device && from_end->device;
    if (to_end->device && !both)
        return CX_DRIVER_CALL(driver, memcpy_htod_async, (to, source, size_bytes, target->native));
    if (from_end->device && !both)
        return CX_DRIVER_CALL(driver, memcpy_dtoh_async,
                              (destination, from, size_bytes, target->native));
    if (plan->peers && to_owner != NULL && from_owner != NULL &&
        !driver->missing[CX_SLOT_memcpy_peer_async])
        return CX_DRIVER_CALL(driver, memcpy_peer_async,
                              (to, to_owner, from, from_owner, size_bytes, target->native));
    if (both && !plan->peers && to_end->view.kind == CTXRT_MEMORY_DEVICE &&
        from_end->view.kind == CTXRT_MEMORY_DEVICE)
        return CX_DRIVER_CALL(driver, memcpy_dtod_async, (to, from, size_bytes, target->native));
    return CX_DRIVER_CALL(driver, memcpy_unified_async, (to, from, size_bytes, target->native));
}

/* ---- regions ---- */

void cx_copy_box_on_host(const cx_copy_box *box)
{
    for (size_t z = 0; z < box->depth; z++)
        for (size_t y = 0; y < box->height; y++)
            memmove(cx_copy_row(&box->destination, y, z), cx_copy_row(&box->source, y, z),
                    box->width);
}

static ctxrt_status submit_rows(const cx_copy_plan *plan, const cx_stream_target *target,
                                const cx_copy_box *box)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t z = 0; z < box->depth && status == CTXRT_SUCCESS; z++)
        for (size_t y = 0; y < box->height && status == CTXRT_SUCCESS; y++)
            status = submit_row(plan, target, cx_copy_row(&box->destination, y, z),
                                cx_copy_row(&box->source, y, z), box->width);
    return status;
}

static cxu_memory_type type_of(const cx_copy_end *end)
{
    if (!end->device)
        return CXU_MEMORYTYPE_HOST;
    return end->view.kind == CTXRT_MEMORY_DEVICE ? CXU_MEMORYTYPE_DEVICE : CXU_MEMORYTYPE_UNIFIED;
}

static ctxrt_status submit_2d(const cx_copy_plan *plan, const cx_stream_target *target,
                              const cx_copy_box *box)
{
    const cxu_memcpy_2d copy = {
        .source_type = type_of(&plan->source),
        .source_host = box->source.begin,
        .source_device = (uintptr_t)box->source.begin,
        .source_pitch_bytes = box->source.pitch,
        .destination_type = type_of(&plan->destination),
        .destination_host = box->destination.begin,
        .destination_device = (uintptr_t)box->destination.begin,
        .destination_pitch_bytes = box->destination.pitch,
        .width_bytes = box->width,
        .height = box->height,
    };
    return CX_DRIVER_CALL(target->driver, memcpy_2d_async, (&copy, target->native));
}

static ctxrt_status submit_3d(const cx_copy_plan *plan, const cx_stream_target *target,
                              const cx_copy_box *box)
{
    const cxu_memcpy_3d copy = {
        .source_type = type_of(&plan->source),
        .source_host = box->source.begin,
        .source_device = (uintptr_t)box->source.begin,
        .source_pitch_bytes = box->source.pitch,
        .source_height = box->source.rows,
        .destination_type = type_of(&plan->destination),
        .destination_host = box->destination.begin,
        .destination_device = (uintptr_t)box->destination.begin,
        .destination_pitch_bytes = box->destination.pitch,
        .destination_height = box->destination.rows,
        .width_bytes = box->width,
        .height = box->height,
        .depth = box->depth,
    };
    return CX_DRIVER_CALL(target->driver, memcpy_3d_async, (&copy, target->native));
}

/* The driver's region copies are of one context; between two devices each row is its own copy. */
ctxrt_status cx_copy_submit(const cx_copy_plan *plan, const cx_stream_target *target,
                            const cx_copy_box *box)
{
    bool flat = box->depth == 1;
    if (plan->peers || (flat && box->height == 1) ||
        target->driver->missing[flat ? CX_SLOT_memcpy_2d_async : CX_SLOT_memcpy_3d_async])
        return submit_rows(plan, target, box);
    return flat ? submit_2d(plan, target, box) : submit_3d(plan, target, box);
}
