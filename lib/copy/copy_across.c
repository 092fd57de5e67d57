/*
 * Copies between devices of two drivers, in the order of a stream of one of them.
 *
 * The driver of a stream reads and writes the other driver's memory in the order of that stream
 * only if that memory is pinned. So memory of its own device goes through pinned memory, and host
 * functions copy between that and the other driver's memory. If no end is its own, a host function
 * calls the other driver to copy.
 */
#include "base/cancel.h"
#include "base/error.h"
#include "copy/cross_copy.h"
#include "device/runtime.h"
#include "work/relaxed_capture.h"
#include <string.h>

/* ---- parts ---- */

/* Whole rows of a slice if a part has room for one, else a part of a row. */
typedef struct parts {
    size_t rows; /* in a part; 0: a row is several parts */
    size_t per_row;
    size_t per_slice;
} parts;

static parts divide_box(const cx_copy_box *box)
{
    parts self = {.rows = CX_STAGING_BYTES / box->width, .per_row = 1};
    if (self.rows == 0) {
        self.per_row = (box->width - 1) / CX_STAGING_BYTES + 1;
        self.per_slice = box->height * self.per_row;
    } else {
        self.per_slice = (box->height - 1) / self.rows + 1;
    }
    return self;
}

static size_t count_parts(const cx_copy_box *box)
{
    return box->depth * divide_box(box).per_slice;
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static cx_copy_box part_of(const cx_copy_box *box, size_t index)
{
    const parts all = divide_box(box);
    size_t z = index / all.per_slice, number = index % all.per_slice;
    size_t y = all.rows != 0 ? number * all.rows : number / all.per_row;
    size_t x = all.rows != 0 ? 0 : number % all.per_row * CX_STAGING_BYTES;
    cx_copy_box part = *box;
    part.destination.begin = cx_copy_row(&box->destination, y, z) + x;
    part.source.begin = cx_copy_row(&box->source, y, z) + x;
    part.width = smaller_of(box->width - x, CX_STAGING_BYTES);
    part.height = all.rows != 0 ? smaller_of(box->height - y, all.rows) : 1;
    part.depth = 1;
    return part;
}

/* Puts pinned memory in place of an end of a part; the rows lie one behind the other there. */
static void replace_end(const cx_copy_box *part, cx_copy_rows *end, unsigned char *pinned)
{
    *end = (cx_copy_rows){pinned, part->width, part->height};
}

/* ---- through pinned memory ---- */

static ctxrt_status move_part(const cx_cross_copy *self)
{
    cx_copy_box part = part_of(&self->box, self->next);
    replace_end(&part, self->plan.destination.device ? &part.destination : &part.source,
                self->pinned);
    cx_copy_box_on_host(&part);
    return CTXRT_SUCCESS;
}

static ctxrt_status submit_part(const cx_cross_copy *self, void *handle, size_t index)
{
    bool out = self->plan.source.device;
    ctxrt_status status = CTXRT_SUCCESS;
    cx_copy_box part = part_of(&self->box, index);
    replace_end(&part, out ? &part.destination : &part.source, self->pinned);
    if (!out)
        status = cx_cross_copy_submit(self, handle);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_submit(&self->plan, &self->target, &part);
    return status == CTXRT_SUCCESS && out ? cx_cross_copy_submit(self, handle) : status;
}

/* `staging`: NULL if host functions alone do the copy. */
static ctxrt_status submit_parts(const cx_cross_copy *model, cx_staging *staging)
{
    cx_cross_copy *self;
    void *handle;
    ctxrt_status given = CTXRT_SUCCESS;
    ctxrt_status status = cx_cross_copy_begin(model, &self, &handle);
    bool begun = status == CTXRT_SUCCESS;
    for (size_t i = 0; i < model->count && status == CTXRT_SUCCESS; i++)
        status = staging != NULL ? submit_part(self, handle, i)
                                 : cx_cross_copy_submit(self, handle);
    if (staging != NULL)
        given = cx_staging_give(staging, &model->target);
    return begun ? cx_cross_copy_end_submission(self, status == CTXRT_SUCCESS ? given : status)
                 : status;
}

static ctxrt_status stage_copy(cx_cross_copy *model)
{
    cx_staging *staging;
    ctxrt_status status = cx_staging_take(&model->target, model->target.stream, &staging);
    if (status != CTXRT_SUCCESS)
        return status;
    model->pinned = staging->pinned;
    model->part = move_part;
    model->count = count_parts(&model->box);
    model->ends[model->plan.destination.device ? 0 : 1].size_bytes = 0; /* its driver knows */
    return submit_parts(model, staging);
}

/* ---- by a host function alone, or by the other driver ---- */

static ctxrt_status copy_whole(const cx_cross_copy *self)
{
    cx_copy_box_on_host(&self->box);
    return CTXRT_SUCCESS;
}

static ctxrt_status copy_elsewhere(const cx_cross_copy *self)
{
    cx_context_guard guard;
    if (atomic_load(&cx_current_phase) == CX_PHASE_ENDING) /* no driver is called any more */
        return cx_error(CTXRT_ERROR_SHUTDOWN, "%s: the process is ending", self->call);
    ctxrt_status status = cx_context_guard_enter(self->inner.context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(self->inner.driver);
    status = cx_copy_submit(&self->plan, &self->inner, &self->box);
    ctxrt_status waited =
        CX_DRIVER_CALL(self->inner.driver, stream_synchronize, (self->inner.native));
    cx_relaxed_capture_end(&relaxed);
    cx_context_guard_leave(&guard);
    return status == CTXRT_SUCCESS ? waited : status;
}

static ctxrt_status find_inner(const cx_pointer_view *end, cx_stream_target *out_inner)
{
    cx_context_guard guard;
    out_inner->driver = end->driver;
    ctxrt_status status = cx_pointer_context(end, &out_inner->context);
    if (status == CTXRT_SUCCESS)
        status = cx_context_guard_enter(out_inner->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_cross_copy_watch_contexts();
    status = cx_staging_stream(out_inner->context, &out_inner->native);
    cx_context_guard_leave(&guard);
    return status;
}

/* If both drivers' host functions waited for each other, they would wait for ever: memory that the
 * host can reach is copied by the host itself. */
static ctxrt_status send_copy(cx_cross_copy *model, const cx_pointer_view *end)
{
    bool host = cx_pointer_of_host(&model->plan.destination.view) &&
                cx_pointer_of_host(&model->plan.source.view);
    model->part = host ? copy_whole : copy_elsewhere;
    model->count = 1;
    ctxrt_status status = host ? CTXRT_SUCCESS : find_inner(end, &model->inner);
    return status == CTXRT_SUCCESS ? submit_parts(model, NULL) : status;
}

/* ---- all ---- */

static ctxrt_status find_ends(cx_cross_copy *model)
{
    const cx_copy_rows *to = &model->box.destination, *from = &model->box.source;
    model->ends[0] = (cx_cross_copy_end){.start = (uintptr_t)to->begin,
                                         .size_bytes = cx_copy_extent(&model->box, to)};
    model->ends[1] = (cx_cross_copy_end){.start = (uintptr_t)from->begin,
                                         .size_bytes = cx_copy_extent(&model->box, from)};
    ctxrt_status status =
        cx_pointer_context(&model->plan.destination.view, &model->ends[0].context);
    return status == CTXRT_SUCCESS
               ? cx_pointer_context(&model->plan.source.view, &model->ends[1].context)
               : status;
}

static ctxrt_status refuse_capture(const char *call, const cx_stream_target *target,
                                   const cx_pointer_view *end)
{
    return cx_error(
        CTXRT_ERROR_NOT_SUPPORTED,
        "%s: the stream of %s captures, and a copy of %s is the work of another driver, "
        "which its graph cannot have; the capture goes on",
        call, cx_context_text(target->context), cx_pointer_text(end));
}

/* The contexts of the stream and of both ends are pinned. *out_taken: true if it is a cross-driver
 * copy. */
static ctxrt_status run_across(cx_cross_copy *model, const cx_pointer_view *end, bool *out_taken)
{
    cx_context_guard guard;
    bool capturing, own = end->driver == model->target.driver;
    if ((own && !model->plan.across) || model->target.driver->missing[CX_SLOT_launch_host_func])
        return CTXRT_SUCCESS;
    model->epoch = model->target.epoch;
    ctxrt_status status = cx_stream_is_capturing(&model->target, &capturing);
    if (status == CTXRT_SUCCESS && capturing && !own)
        return refuse_capture(model->call, &model->target, end);
    if (status == CTXRT_SUCCESS && !capturing)
        status = find_ends(model);
    if (status != CTXRT_SUCCESS || capturing)
        return status;
    *out_taken = true;
    status = cx_context_guard_enter(model->target.context, &guard);
    if (status == CTXRT_SUCCESS) {
        cx_relaxed_capture relaxed = cx_relaxed_capture_begin(model->target.driver);
        status = own ? stage_copy(model) : send_copy(model, end);
        cx_relaxed_capture_end(&relaxed);
        cx_context_guard_leave(&guard);
    }
    return cx_context_map_error(model->target.context, "stream", status);
}

ctxrt_status cx_copy_across(const char *call, const cx_copy_plan *plan, const cx_copy_box *box,
                            ctxrt_stream *stream, bool *out_taken)
{
    cx_copy_pins pins;
    cx_cross_copy model = {.call = call, .plan = *plan, .box = *box};
    model.plan.end = NULL; /* it points into the caller's plan */
    *out_taken = false;
    if (cx_driver_count() < 2)
        return CTXRT_SUCCESS;
    ctxrt_status status =
        cx_copy_pin(stream, &plan->destination.view, &plan->source.view, &model.target, &pins);
    if (status != CTXRT_SUCCESS)
        return status;
    status = run_across(&model, plan->end, out_taken);
    cx_copy_unpin(&pins);
    return status;
}
