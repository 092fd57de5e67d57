#include "context/resync.h"

#include "base/error.h"
#include "base/log.h"
#include <string.h>

static bool poppable(const cx_driver *driver, CUcontext native)
{
    return native != NULL && cx_context_native_known(driver, native);
}

static void push_back(const cx_driver *driver, const cx_entries *entries)
{
    for (int i = entries->count - 1; i >= 0; i--)
        if (driver->table.ctx_push(entries->natives[i]) != CXU_SUCCESS)
            cx_log(CTXRT_LOG_ERROR, "context %p could not be pushed back", (void *)entries->natives[i]);
}

ctxrt_status cx_resync_read(const cx_driver *driver, cx_entries *out_actual)
{
    cx_entries actual = {0};
    ctxrt_status status = CTXRT_SUCCESS;
    while (actual.count < CX_RESYNC_DEPTH) {
        CUcontext current, popped;
        status = CX_DRIVER_CALL(driver, ctx_get_current, (&current));
        if (status != CTXRT_SUCCESS)
            break;
        actual.complete = current == NULL;
        if (!poppable(driver, current))
            break;
        status = CX_DRIVER_CALL(driver, ctx_pop, (&popped));
        if (status != CTXRT_SUCCESS)
            break;
        actual.natives[actual.count++] = popped;
    }
    push_back(driver, &actual);
    if (status == CTXRT_SUCCESS)
        *out_actual = actual;
    return status;
}

/* Whether actual[a...] is ours[o...], as far down as both are known. At least one entry must agree, or both
 * must end there. */
static bool agree(const cx_entries *actual, int a, const cx_entries *ours, int o)
{
    int compared = 0;
    for (; a < actual->count && o < ours->count; a++, o++, compared++)
        if (actual->natives[a] != ours->natives[o])
            return false;
    if (a >= actual->count && o < ours->count)
        return !actual->complete && compared > 0;
    if (o >= ours->count && a < actual->count)
        return !ours->complete && compared > 0;
    return compared > 0 || (actual->complete && ours->complete);
}

ctxrt_resync_report cx_resync_explain(const cx_entries *actual, const cx_entries *ours)
{
    ctxrt_resync_report report = {CTXRT_RESYNC_AMBIGUOUS, 0};
    int explanations = 0;
    if (agree(actual, 0, ours, 0))
        return (ctxrt_resync_report){CTXRT_RESYNC_IN_STEP, 0};
    for (int n = 1; n < actual->count; n++)
        if (agree(actual, n, ours, 0) && explanations++ == 0)
            report = (ctxrt_resync_report){CTXRT_RESYNC_PUSHED, n};
    for (int n = 1; n <= ours->count; n++)
        if (agree(actual, 0, ours, n) && explanations++ == 0)
            report = (ctxrt_resync_report){CTXRT_RESYNC_POPPED, n};
    if (actual->count > 0 && ours->count > 0 && agree(actual, 1, ours, 1) && explanations++ == 0)
        report = (ctxrt_resync_report){CTXRT_RESYNC_SET, 1};
    if (explanations != 1)
        report = (ctxrt_resync_report){CTXRT_RESYNC_AMBIGUOUS, 0};
    return report;
}

int cx_resync_force(const cx_driver *driver, CUcontext wanted)
{
    cx_entries popped = {0};
    CUcontext current = NULL;
    while (popped.count < CX_RESYNC_DEPTH) {
        if (driver->table.ctx_get_current(&current) != CXU_SUCCESS || current == wanted)
            break;
        if (!poppable(driver, current) || driver->table.ctx_pop(&popped.natives[popped.count]) != CXU_SUCCESS)
            break;
        popped.count++;
    }
    if (current == wanted)
        return popped.count;
    push_back(driver, &popped);
    if (wanted == NULL || driver->table.ctx_push(wanted) != CXU_SUCCESS)
        cx_log(CTXRT_LOG_ERROR, "the driver's stack could not be restored to context %p", (void *)wanted);
    return -1;
}

/* The next frame of ours of this driver at or below `index`, or -1. */
static int own_frame_below(const cx_thread *thread, int index, const cx_driver *driver)
{
    while (index >= 0 && (cx_frame_origin(&thread->frames[index]) == CTXRT_FRAME_FOREIGN ||
                          cx_frame_context(&thread->frames[index])->driver != driver))
        index--;
    return index;
}

/* The entries that the driver of the frame at `top` should have, top first, then what is beneath them all.
 * Known only down to where other code has entries between two frames of ours. */
static void expected_entries(const cx_thread *thread, int top, cx_entries *out_ours)
{
    const cx_driver *driver = cx_frame_context(&thread->frames[top])->driver;
    *out_ours = (cx_entries){0};
    for (int i = top; i >= 0 && out_ours->count < CX_RESYNC_DEPTH;) {
        const cx_frame *frame = &thread->frames[i];
        out_ours->natives[out_ours->count++] = cx_frame_context(frame)->native;
        i = own_frame_below(thread, i - 1, driver);
        if (i >= 0 && frame->beneath == cx_frame_context(&thread->frames[i])->native)
            continue;
        out_ours->complete = frame->beneath == NULL;
        if (frame->beneath != NULL && out_ours->count < CX_RESYNC_DEPTH)
            out_ours->natives[out_ours->count++] = frame->beneath;
        break;
    }
}

ctxrt_status cx_resync_examine(const cx_thread *thread, int top, ctxrt_resync_report *out_report)
{
    cx_entries actual, ours;
    ctxrt_status status = cx_resync_read(cx_frame_context(&thread->frames[top])->driver, &actual);
    if (status != CTXRT_SUCCESS)
        return status;
    expected_entries(thread, top, &ours);
    *out_report = cx_resync_explain(&actual, &ours);
    return CTXRT_SUCCESS;
}

/* Drops our top `count` frames of the driver, and the others above the lowest of them. */
static void drop_frames(cx_thread *thread, int top, int count)
{
    const cx_driver *driver = cx_frame_context(&thread->frames[top])->driver;
    int lowest = top;
    for (int i = top; i >= 0 && count > 0; i--)
        if (cx_frame_origin(&thread->frames[i]) != CTXRT_FRAME_FOREIGN &&
            cx_frame_context(&thread->frames[i])->driver == driver) {
            lowest = i;
            count--;
        }
    cx_stack_drop(thread, (uint32_t)lowest);
}

static ctxrt_status mend(cx_thread *thread, int top, const ctxrt_resync_report *report)
{
    const cx_context *context = cx_frame_context(&thread->frames[top]);
    CUcontext popped;
    ctxrt_status status = CTXRT_SUCCESS;
    switch (report->finding) {
    case CTXRT_RESYNC_IN_STEP:
        break;
    case CTXRT_RESYNC_PUSHED:
        for (int i = 0; i < report->count && status == CTXRT_SUCCESS; i++)
            status = CX_DRIVER_CALL(context->driver, ctx_pop, (&popped));
        break;
    case CTXRT_RESYNC_SET:
        status = CX_DRIVER_CALL(context->driver, ctx_set_current, (context->native));
        break;
    case CTXRT_RESYNC_POPPED:
        drop_frames(thread, top, report->count);
        break;
    case CTXRT_RESYNC_AMBIGUOUS:
        status = cx_error(CTXRT_ERROR_STACK_MISMATCH,
                          "the frames of ctxrt were not found among the top %d entries of the driver's stack, or "
                          "in more than one way; nothing was changed",
                          CX_RESYNC_DEPTH);
        break;
    }
    return status;
}

ctxrt_status ctxrt_stack_resync(ctxrt_resync_report *out_report)
{
    cx_thread *thread;
    if (out_report == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stack_resync: out_report is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;

    int top = cx_stack_top_own(thread);
    ctxrt_resync_report report = {CTXRT_RESYNC_IN_STEP, 0};
    if (top >= 0) {
        status = cx_resync_examine(thread, top, &report);
        if (status != CTXRT_SUCCESS)
            return status;
        status = mend(thread, top, &report);
    }
    if (status == CTXRT_SUCCESS && report.finding != CTXRT_RESYNC_POPPED)
        cx_stack_drop(thread, (uint32_t)(top + 1));
    *out_report = report;
    return status;
}
