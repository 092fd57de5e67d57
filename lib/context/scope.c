#include "base/error.h"
#include "context/resync.h"
#include "context/stack.h"

__attribute__((always_inline)) static inline ctxrt_status
enter(cx_thread *thread, cx_target *target, ctxrt_scope *scope, const char *file, int line)
{
    if (__builtin_expect(scope->serial != 0, 0))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the scope is open already, or was not zero-initialised");
    const cx_frame_place place = {.origin = CTXRT_FRAME_SCOPE,
                                  .serial = cx_thread_next_serial(thread),
                                  .file = file,
                                  .line = line};
    ctxrt_status status = cx_stack_push(thread, target, &place);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    scope->serial = place.serial;
    scope->depth = cx_thread_depth(thread);
    return CTXRT_SUCCESS;
}

static inline ctxrt_status begin_scope(const ctxrt_scope *scope, cx_thread **out_thread)
{
    if (scope == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "the scope is NULL");
    ctxrt_status status = cx_runtime_enter();
    return status == CTXRT_SUCCESS ? cx_thread_self(out_thread) : status;
}

static inline ctxrt_status enter_device(ctxrt_device device, ctxrt_scope *scope, const char *file,
                                        int line)
{
    cx_thread *thread = NULL;
    cx_target target;
    ctxrt_status status = begin_scope(scope, &thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_device(device, &target);
    return status == CTXRT_SUCCESS ? enter(thread, &target, scope, file, line) : status;
}

ctxrt_status ctxrt_scope_enter_at(ctxrt_device device, ctxrt_scope *scope, const char *file,
                                  int line)
{
    return enter_device(device, scope, file != NULL ? file : "", line);
}

ctxrt_status ctxrt_scope_enter(ctxrt_device device, ctxrt_scope *scope)
{
    return enter_device(device, scope, "", 0);
}

ctxrt_status ctxrt_scope_enter_context(ctxrt_context *context, ctxrt_scope *scope)
{
    cx_thread *thread = NULL;
    cx_target target;
    ctxrt_status status = begin_scope(scope, &thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_context(context, &target);
    return status == CTXRT_SUCCESS ? enter(thread, &target, scope, "", 0) : status;
}

/* Index of the scope's frame, or -1. Usually it is where it was when the scope was entered. */
static int find_frame(const cx_thread *thread, const ctxrt_scope *scope)
{
    uint32_t depth = cx_thread_depth(thread);
    if (scope->depth != 0 && scope->depth <= depth &&
        thread->frames[scope->depth - 1].serial == scope->serial)
        return (int)scope->depth - 1;
    for (int i = (int)depth - 1; i >= 0; i--)
        if (thread->frames[i].serial == scope->serial)
            return i;
    return -1;
}

/* The number of frames above the scope's own level. */
static int count_leftovers(const cx_thread *thread, int index)
{
    int count = 0;
    for (uint32_t i = (uint32_t)index + 1; i < cx_thread_depth(thread); i++)
        count += cx_frame_kind_of(&thread->frames[i])->is_explicit;
    return count;
}

/* True if the frame has an entry of its own on the stack of `driver`. */
static bool own_entry(const cx_frame *frame, const cx_driver *driver)
{
    return cx_frame_context(frame)->driver == driver && cx_frame_kind_of(frame)->has_entry;
}

/* Asks a refusing driver again: a scope always ends. */
static ctxrt_status take_entry(const cx_driver *driver, CUcontext *out_native)
{
    ctxrt_status status = cx_driver_stack_entry_take(driver, out_native);
    return status == CTXRT_SUCCESS ? status : cx_driver_stack_entry_take(driver, out_native);
}

/* Asks a refusing driver again, too. */
static bool is_current(const cx_driver *driver, CUcontext native)
{
    CUcontext current;
    bool known = driver->table.ctx_get_current(&current) == CXU_SUCCESS ||
                 driver->table.ctx_get_current(&current) == CXU_SUCCESS;
    return known && current == native;
}

/*
 * Other code changed the driver's stack: `entries` of ours should be on its top. Pops foreign
 * entries above them, and returns how many of ours are left.
 */
static int mend_stack(const cx_thread *thread, int top, int entries)
{
    const cx_driver *driver = cx_frame_context(&thread->frames[top])->driver;
    cx_stack_finding finding;
    CUcontext popped;
    if (cx_resync_examine(thread, top, &finding) != CTXRT_SUCCESS)
        return entries;
    const ctxrt_resync_report *report = &finding.report;
    if (report->finding == CTXRT_RESYNC_PUSHED && finding.on_top)
        for (int i = 0; i < report->count; i++)
            (void)take_entry(driver, &popped);
    if (report->finding == CTXRT_RESYNC_POPPED)
        return report->count < entries ? entries - report->count : 0;
    return report->finding == CTXRT_RESYNC_AMBIGUOUS ? 0 : entries;
}

typedef struct restoration {
    bool in_order; /* the drivers' stacks were as expected */
    bool done;     /* the context that was current before the scope is current again */
} restoration;

/* Removes the entries of one driver from the scope's frame up, in whatever state its stack is. */
static void restore_driver(const cx_thread *thread, int index, const cx_driver *driver,
                           restoration *found)
{
    int lowest = -1, top = -1, entries = 0;
    for (int i = index; i < (int)cx_thread_depth(thread); i++)
        if (own_entry(&thread->frames[i], driver)) {
            lowest = lowest < 0 ? i : lowest;
            top = i;
            entries++;
        }
    if (lowest < 0)
        return;

    CUcontext popped;
    bool in_order = is_current(driver, cx_frame_context(&thread->frames[top])->native);
    if (!in_order)
        entries = mend_stack(thread, top, entries);
    for (; entries > 0; entries--)
        (void)take_entry(driver, &popped);
    found->in_order = found->in_order && in_order;
    if (is_current(driver, thread->frames[lowest].beneath))
        return;
    (void)cx_resync_force(driver, thread->frames[lowest].beneath);
    found->in_order = false;
    found->done = found->done && is_current(driver, thread->frames[lowest].beneath);
}

static restoration restore_drivers(const cx_thread *thread, int index)
{
    restoration found = {true, true};
    for (int number = 0; number < cx_driver_count(); number++)
        if (cx_drivers[number].loaded)
            restore_driver(thread, index, &cx_drivers[number], &found);
    return found;
}

/* Makes the frame under a scope current, if it belongs to another driver than the scope: that
 * driver's stack was not touched. */
__attribute__((cold, noinline)) static void uncover(const cx_thread *thread, const cx_driver *left,
                                                    restoration *found)
{
    const cx_frame *top = cx_thread_top(thread);
    if (top == NULL || cx_frame_context(top)->driver == left)
        return;
    if (cx_frame_is_current(top) || cx_frame_is_current(top)) /* asked again, as in take */
        return;
    const cx_context *context = cx_frame_context(top);
    cx_stack_finding finding;
    bool replaced =
        cx_frame_kind_of(top)->has_entry &&
        cx_resync_examine(thread, (int)cx_thread_depth(thread) - 1, &finding) == CTXRT_SUCCESS &&
        finding.report.finding == CTXRT_RESYNC_SET;
    if (!replaced || context->driver->table.ctx_set_current(context->native) != CXU_SUCCESS)
        (void)cx_resync_force(context->driver, context->native);
    found->in_order = false;
    found->done = found->done && is_current(context->driver, context->native);
}

static ctxrt_status say_what_was_left(int left, const restoration *found)
{
    if (left == 0 && found->in_order)
        return CTXRT_SUCCESS;
    if (!found->done)
        return cx_error(CTXRT_ERROR_STACK_LEFTOVER,
                        "the scope has ended, but the context that was current before it could not "
                        "be made so again: other code has destroyed it, or the driver failed");
    return cx_error(CTXRT_ERROR_STACK_LEFTOVER,
                    "%d frame%s left on the stack in a scope%s; it has been restored", left,
                    left == 1 ? " was" : "s were",
                    found->in_order ? "" : ", and other code had changed the driver's stack");
}

/* The slow path: other frames or other code are in the way. */
__attribute__((cold, noinline)) static ctxrt_status leave_slowly(cx_thread *thread,
                                                                 ctxrt_scope *scope)
{
    int index = find_frame(thread, scope);
    if (index < 0)
        return cx_error(CTXRT_ERROR_WRONG_THREAD,
                        "the scope is not open on the calling thread: another thread "
                        "entered it, or a scope around it was left before");
    const cx_driver *driver = cx_frame_context(&thread->frames[index])->driver;
    int left = count_leftovers(thread, index);
    restoration restored = restore_drivers(thread, index);
    cx_stack_drop(thread, (uint32_t)index);
    scope->serial = 0;
    uncover(thread, driver, &restored);
    return say_what_was_left(left, &restored);
}

/* The scope's own frame was on top and has been popped. */
static inline ctxrt_status leave_top(const cx_thread *thread, const cx_driver *driver)
{
    const cx_frame *top = cx_thread_top(thread);
    if (__builtin_expect(top == NULL || cx_frame_context(top)->driver == driver, 1))
        return CTXRT_SUCCESS;
    restoration restored = {true, true};
    uncover(thread, driver, &restored);
    return say_what_was_left(0, &restored);
}

ctxrt_status ctxrt_scope_leave(ctxrt_scope *scope)
{
    cx_thread *thread = NULL;
    if (scope != NULL && scope->serial == 0)
        return CTXRT_SUCCESS;
    ctxrt_status status = begin_scope(scope, &thread);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    cx_frame *top = cx_thread_top(thread);
    if (__builtin_expect(top != NULL && top->serial == scope->serial, 1)) {
        const cx_driver *driver = cx_frame_context(top)->driver;
        if (__builtin_expect(cx_stack_pop_top(thread, top), 1)) {
            scope->serial = 0;
            return leave_top(thread, driver);
        }
    }
    cx_stack_enter_frames(thread, 0);
    status = leave_slowly(thread, scope);
    cx_section_leave();
    return status;
}
