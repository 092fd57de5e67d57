#include "context/resync.h"

#include "base/error.h"
#include "base/log.h"
#include "context/driver_stack_entry.h"
#include <string.h>

/* Other code may have changed the stack above our frames, within the top level, and in a level that
 * mending uncovers. */
enum { RESYNC_ROUNDS = 4 };

static bool is_poppable(const cx_driver *driver, CUcontext native)
{
    return native != NULL && cx_context_native_known(driver, native);
}

/* Pushes the first `count` entries, the last one first. */
static void push_back(const cx_driver *driver, const cx_entries *entries, int count)
{
    for (int i = count - 1; i >= 0; i--)
        (void)cx_driver_stack_entry_restore(driver, entries->natives[i]);
}

/* Pops an entry and appends it. */
static ctxrt_status pop_onto(const cx_driver *driver, cx_entries *entries)
{
    ctxrt_status status = cx_driver_stack_entry_take(driver, &entries->natives[entries->count]);
    entries->count += status == CTXRT_SUCCESS;
    return status;
}

ctxrt_status cx_resync_read(const cx_driver *driver, cx_entries *out_actual)
{
    cx_entries actual = {0};
    ctxrt_status status = CTXRT_SUCCESS;
    CUcontext current = NULL;
    while (actual.count < CX_RESYNC_DEPTH) {
        status = CX_DRIVER_CALL(driver, ctx_get_current, (&current));
        if (status != CTXRT_SUCCESS || !is_poppable(driver, current))
            break;
        status = pop_onto(driver, &actual);
        if (status != CTXRT_SUCCESS)
            break;
    }
    push_back(driver, &actual, actual.count);
    if (status != CTXRT_SUCCESS)
        return status;
    if (actual.count < CX_RESYNC_DEPTH && current != NULL)
        actual.natives[actual.count++] = current;
    else
        actual.complete = current == NULL;
    *out_actual = actual;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_resync_extract(const cx_driver *driver, int above)
{
    cx_entries popped = {0};
    ctxrt_status status = CTXRT_SUCCESS;
    while (popped.count < above + 1 && status == CTXRT_SUCCESS)
        status = pop_onto(driver, &popped);
    push_back(driver, &popped, status == CTXRT_SUCCESS ? above : popped.count);
    return status;
}

int cx_resync_force(const cx_driver *driver, CUcontext wanted)
{
    cx_entries popped = {0};
    CUcontext current;
    bool known = false;
    while (popped.count < CX_RESYNC_DEPTH) {
        known = driver->table.ctx_get_current(&current) == CXU_SUCCESS;
        if (!known || current == wanted)
            break;
        if (!is_poppable(driver, current) || pop_onto(driver, &popped) != CTXRT_SUCCESS)
            break;
    }
    if (known && current == wanted)
        return popped.count;
    push_back(driver, &popped, popped.count);
    if (wanted == NULL || !cx_driver_stack_entry_restore(driver, wanted))
        cx_log(CTXRT_LOG_ERROR, "the driver's stack could not be restored to context %p",
               (void *)wanted);
    return -1;
}

/* ---- the expected stack ---- */

static bool own_frame_of(const cx_frame *frame, const cx_driver *driver)
{
    return cx_frame_kind_of(frame)->has_entry && cx_frame_context(frame)->driver == driver;
}

/* Our next frame of this driver at or below `index`, or -1. */
static int own_frame_below(const cx_thread *thread, int index, const cx_driver *driver)
{
    while (index >= 0 && !own_frame_of(&thread->frames[index], driver))
        index--;
    return index;
}

static int own_frame_count(const cx_thread *thread, const cx_driver *driver)
{
    int count = 0;
    for (uint32_t i = 0; i < cx_thread_depth(thread); i++)
        count += own_frame_of(&thread->frames[i], driver);
    return count;
}

static void append_entry(cx_entries *entries, CUcontext native)
{
    if (entries->count < CX_RESYNC_DEPTH)
        entries->natives[entries->count++] = native;
}

/* Appends the entries from the frame at `index` down, then the one beneath them all. Stops where
 * other code has entries between two frames of ours. */
static void append_expected(const cx_thread *thread, int index, cx_entries *ours)
{
    const cx_driver *driver = cx_frame_context(&thread->frames[index])->driver;
    while (ours->count < CX_RESYNC_DEPTH) {
        const cx_frame *frame = &thread->frames[index];
        append_entry(ours, cx_frame_context(frame)->native);
        index = own_frame_below(thread, index - 1, driver);
        if (index >= 0 && frame->beneath == cx_frame_context(&thread->frames[index])->native)
            continue;
        ours->complete = frame->beneath == NULL;
        if (frame->beneath != NULL)
            append_entry(ours, frame->beneath);
        break;
    }
}

/* The explicit frame under the override at `top` if both form the top level and have one driver;
 * else -1. */
static int frame_of_override(const cx_thread *thread, int top)
{
    const cx_driver *driver = cx_frame_context(&thread->frames[top])->driver;
    int index = top - 1;
    if (top != cx_stack_top_own(thread) || !cx_frame_kind_of(&thread->frames[top])->is_override)
        return -1;
    while (index >= 0 && !cx_frame_kind_of(&thread->frames[index])->has_entry)
        index--;
    return index >= 0 && own_frame_of(&thread->frames[index], driver) ? index : -1;
}

/*
 * Other code changed something beneath an override before the override was pushed. Either the entry
 * of its explicit frame was replaced, and the level counts as unharmed; or that entry is gone,
 * maybe with others; or foreign entries stand within the level. False if the override's own entry
 * is not on top.
 */
static bool explain_split_level(const cx_thread *thread, int top, int lower,
                                const cx_entries *actual, cx_stack_finding *out_finding)
{
    cx_entries beneath = *actual, ours = {0};
    if (actual->count == 0 || actual->natives[0] != cx_frame_context(&thread->frames[top])->native)
        return false;
    beneath.count--;
    memmove(beneath.natives, beneath.natives + 1,
            (size_t)beneath.count * sizeof beneath.natives[0]);
    append_expected(thread, lower, &ours);
    *out_finding = cx_explain(&beneath, &ours);
    out_finding->level = 2;
    out_finding->on_top = false;
    if (out_finding->report.finding == CTXRT_RESYNC_SET)
        out_finding->report = (ctxrt_resync_report){CTXRT_RESYNC_IN_STEP, 0};
    return true;
}

static cx_stack_finding explain_stack(const cx_thread *thread, int top, const cx_entries *actual)
{
    const cx_frame *frame = &thread->frames[top];
    const cx_driver *driver = cx_frame_context(frame)->driver;
    cx_stack_finding finding = {{CTXRT_RESYNC_POPPED, own_frame_count(thread, driver)}, 1, false};
    cx_entries ours = {0};
    if (actual->count == 0 && actual->complete)
        return finding;
    int lower = frame_of_override(thread, top);
    bool split = lower >= 0 && frame->beneath != cx_frame_context(&thread->frames[lower])->native;
    if (split && explain_split_level(thread, top, lower, actual, &finding))
        return finding;
    append_expected(thread, top, &ours);
    return cx_explain(actual, &ours);
}

ctxrt_status cx_resync_examine(const cx_thread *thread, int top, cx_stack_finding *out_finding)
{
    cx_entries actual;
    ctxrt_status status = cx_resync_read(cx_frame_context(&thread->frames[top])->driver, &actual);
    if (status == CTXRT_SUCCESS)
        *out_finding = explain_stack(thread, top, &actual);
    return status;
}

/* ---- mending ---- */

/* The override's level is gone, so its entry is removed too. */
static ctxrt_status drop_override(cx_thread *thread, int top)
{
    CUcontext popped;
    ctxrt_status status =
        cx_driver_stack_entry_take(cx_frame_context(&thread->frames[top])->driver, &popped);
    if (status == CTXRT_SUCCESS)
        cx_stack_drop(thread, (uint32_t)top);
    return status;
}

/* Drops our top `count` frames of the driver; also drops frames of other drivers above the lowest
 * of them, with their entries. */
static ctxrt_status drop_frames(cx_thread *thread, const cx_driver *driver, int count)
{
    int lowest = (int)cx_thread_depth(thread);
    for (int i = lowest - 1; i >= 0 && count > 0; i--)
        if (own_frame_of(&thread->frames[i], driver)) {
            lowest = i;
            count--;
        }
    ctxrt_status status = CTXRT_SUCCESS;
    for (int i = (int)cx_thread_depth(thread) - 1; i >= lowest && status == CTXRT_SUCCESS; i--) {
        const cx_driver *other = cx_frame_context(&thread->frames[i])->driver;
        CUcontext popped;
        if (other != driver && own_frame_of(&thread->frames[i], other))
            status = cx_driver_stack_entry_take(other, &popped);
        if (status == CTXRT_SUCCESS)
            cx_stack_drop(thread, (uint32_t)i);
    }
    return status;
}

/* Removes the entries that other code pushed above and within the top level. */
static ctxrt_status take_off(cx_thread *thread, int top, const cx_stack_finding *finding)
{
    const cx_frame *frame = &thread->frames[top];
    const cx_driver *driver = cx_frame_context(frame)->driver;
    int lower = finding->level == 2 ? frame_of_override(thread, top) : -1;
    int kept = finding->on_top ? 0 : finding->level;
    cx_entries popped = {0}, ours = {0};
    ctxrt_status status = CTXRT_SUCCESS;
    while (popped.count < finding->report.count + kept && status == CTXRT_SUCCESS)
        status = pop_onto(driver, &popped);
    if (status != CTXRT_SUCCESS) {
        push_back(driver, &popped, popped.count);
        return status;
    }
    append_entry(&ours, cx_frame_context(frame)->native);
    if (lower >= 0)
        append_entry(&ours, cx_frame_context(&thread->frames[lower])->native);
    push_back(driver, &ours, kept);
    return CTXRT_SUCCESS;
}

/* The override's entry stands directly on the explicit frame's again. */
static void close_level(cx_thread *thread, int top)
{
    int lower = frame_of_override(thread, top);
    if (lower < 0)
        return;
    cx_stack_drop(thread, (uint32_t)top + 1);
    if (lower < top - 1)
        cx_stack_move(thread, (uint32_t)top, (uint32_t)lower + 1);
    thread->frames[lower + 1].beneath = cx_frame_context(&thread->frames[lower])->native;
}

static ctxrt_status mend_stack(cx_thread *thread, int top, const cx_stack_finding *finding)
{
    const cx_context *context = cx_frame_context(&thread->frames[top]);
    ctxrt_status status = CTXRT_SUCCESS;
    switch (finding->report.finding) {
    case CTXRT_RESYNC_IN_STEP:
        break;
    case CTXRT_RESYNC_PUSHED:
        status = take_off(thread, top, finding);
        if (status == CTXRT_SUCCESS && !finding->on_top)
            close_level(thread, top);
        break;
    case CTXRT_RESYNC_SET:
        status = CX_DRIVER_CALL(context->driver, ctx_set_current, (context->native));
        if (status != CTXRT_SUCCESS &&
            cx_driver_stack_entry_is_made(context->driver, context->native, NULL))
            status = CTXRT_SUCCESS;
        break;
    case CTXRT_RESYNC_POPPED:
        if (finding->level == 2)
            status = drop_override(thread, top);
        if (status == CTXRT_SUCCESS)
            status = drop_frames(thread, context->driver, finding->report.count);
        break;
    case CTXRT_RESYNC_AMBIGUOUS:
        status = cx_error(
            CTXRT_ERROR_STACK_MISMATCH,
            "the frames of ctxrt were not found among the top %d entries of the driver's stack, or "
            "in more than one way; nothing was changed",
            CX_RESYNC_DEPTH);
        break;
    }
    return status;
}

/* Mends the driver's stack from our highest frame at `top`: first above it, and then within its
 * level. Reports the first finding. */
static ctxrt_status resync_driver(cx_thread *thread, int top, ctxrt_resync_report *report)
{
    const cx_driver *driver = cx_frame_context(&thread->frames[top])->driver;
    for (int round = 0; top >= 0 && round < RESYNC_ROUNDS; round++) {
        cx_stack_finding finding;
        ctxrt_status status = cx_resync_examine(thread, top, &finding);
        /* the next call reports the rest */
        bool mended = report->finding != CTXRT_RESYNC_IN_STEP;
        if (status != CTXRT_SUCCESS || (mended && finding.report.finding == CTXRT_RESYNC_AMBIGUOUS))
            return mended ? CTXRT_SUCCESS : status;
        if (!mended)
            *report = finding.report;
        status = mend_stack(thread, top, &finding);
        if (status != CTXRT_SUCCESS || finding.report.finding == CTXRT_RESYNC_IN_STEP)
            return status;
        top = own_frame_below(thread, (int)cx_thread_depth(thread) - 1, driver);
    }
    return CTXRT_SUCCESS;
}

/* Foreign frames above our highest frame are outdated after any finding. */
static void drop_foreign(cx_thread *thread)
{
    cx_stack_drop(thread, (uint32_t)(cx_stack_top_own(thread) + 1));
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

    ctxrt_resync_report report = {CTXRT_RESYNC_IN_STEP, 0};
    cx_stack_enter_frames(thread, 0);
    int top = cx_stack_top_own(thread);
    const cx_driver *first = top >= 0 ? cx_frame_context(&thread->frames[top])->driver : NULL;
    if (top >= 0)
        status = resync_driver(thread, top, &report);
    for (int i = 0; i < cx_driver_count() && status == CTXRT_SUCCESS; i++) {
        int other = own_frame_below(thread, (int)cx_thread_depth(thread) - 1, &cx_drivers[i]);
        if (&cx_drivers[i] != first && other >= 0)
            status = resync_driver(thread, other, &report);
    }
    if (status == CTXRT_SUCCESS)
        drop_foreign(thread);
    cx_section_leave();
    if (status == CTXRT_SUCCESS || report.finding == CTXRT_RESYNC_AMBIGUOUS)
        *out_report = report;
    return status;
}
