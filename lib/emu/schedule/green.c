#include "emu/schedule/green.h"

#include "emu/base/slot.h"
#include "emu/base/state.h"
#include "emu/context/stack.h"
#include "emu/device/device.h"
#include "emu/schedule/capture_check.h"

static cx_emu_handles greens = {.slot_bytes = sizeof(cx_emu_green)};

bool cx_emu_green_exists(CUgreenCtx handle)
{
    const cx_emu_green *green = (const void *)handle;

    return cx_emu_handle_live(&greens, green) && cx_emu_context_id(green->context) != 0;
}

cxu_result cx_emu_green_find(CUgreenCtx handle, cx_emu_green **out_green)
{
    cx_emu_green *green = (void *)handle;
    cx_emu_context *primary;
    cxu_result result;

    if (!cx_emu_green_exists(handle))
        return CXU_INVALID_CONTEXT;
    result = cx_emu_context_find(cx_emu_context_handle(green->context), &primary);
    if (result == CXU_SUCCESS)
        *out_green = green;
    return result;
}

cx_emu_green *cx_emu_green_of(CUcontext handle)
{
    const cx_emu_entry *top = cx_emu_stack_top();
    const cx_emu_context *context = NULL;

    if (handle != NULL)
        context = cx_emu_slot_of(handle);
    else if (top != NULL && cx_emu_entry_usable(top))
        context = top->context;
    return context != NULL && cx_emu_context_id(context) != 0 ? context->green : NULL;
}

/* ---- making and ending ---- */

static bool open_parts(cx_emu_green *green, cx_emu_device *device)
{
    green->context = cx_emu_slot_take();
    if (green->context == NULL)
        return false;
    green->stream = cx_emu_stream_make(device->primary, CXU_STREAM_NON_BLOCKING, 0);
    if (green->stream == NULL) {
        cx_emu_slot_give(green->context);
        return false;
    }
    green->stream->green = green;
    cx_emu_context_open_green(green->context, device->primary, green);
    return true;
}

cxu_result cx_emu_green_create(cx_emu_device *device, const cx_emu_sm_range *range,
                               cx_emu_green **out_green)
{
    cx_emu_green *green;
    cxu_result result = cx_emu_primary_retain(device);

    if (result != CXU_SUCCESS)
        return result;
    green = cx_emu_handle_take(&greens);
    if (green != NULL)
        green->range = *range;
    if (green != NULL && open_parts(green, device)) {
        *out_green = green;
        return CXU_SUCCESS;
    }
    if (green != NULL)
        cx_emu_handle_return(&greens, green);
    cx_emu_primary_release(device);
    return CXU_OUT_OF_MEMORY;
}

static bool primary_is_open(const cx_emu_green *green)
{
    const cx_emu_context *context = green->context;

    return cx_emu_context_id(context->base) == context->base_id;
}

/* Its streams stay until their context ends; their handles say that the context is gone. */
static void leave_streams(cx_emu_green *green)
{
    for (cx_emu_stream *each = green->context->base->streams; each != NULL; each = each->next)
        if (each->green == green) {
            each->green = NULL;
            each->orphan = true;
        }
}

void cx_emu_green_destroy(cx_emu_green *green)
{
    cx_emu_context *context = green->context;
    cx_emu_device *device = context->base->device;

    cx_emu_context_hide_green(context);
    if (primary_is_open(green))
        (void)cx_emu_green_wait(green);
    if (primary_is_open(green))
        leave_streams(green);
    cx_emu_work_drop(green->barrier);
    cx_emu_work_drop(green->whole);
    cx_emu_context_close_green(context);
    cx_emu_slot_give(context);
    cx_emu_handle_return(&greens, green);
    cx_emu_primary_release(device);
}

/* ---- its work ---- */

cxu_result cx_emu_green_wait(cx_emu_green *green)
{
    const cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED,
                                         .after_context = green->context->base,
                                         .after_green = green};
    cx_emu_work *work;
    cxu_result result = cx_emu_work_submit(NULL, &request, &work);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_work_wait(work);
    cx_emu_work_drop(work);
    return result;
}

void cx_emu_green_add_record(cx_emu_green *green, cx_emu_work *record)
{
    cx_emu_work_retain(record);
    cx_emu_work_drop(green->whole);
    green->whole = record;
}

bool cx_emu_green_refuse_captures(const cx_emu_green *green)
{
    bool found = false;

    for (cx_emu_capture *capture = cx_emu_captures; capture != NULL; capture = capture->next)
        for (const cx_emu_branch *each = capture->branches; each != NULL; each = each->next)
            if (each->stream != NULL && each->stream->green == green)
                found = capture->invalidated = true;
    return found;
}
