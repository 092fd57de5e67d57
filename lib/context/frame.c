/* The public calls of the stack: push, pop, set, queries. */
#include "base/error.h"
#include "context/resync.h"

static inline ctxrt_status begin_call(cx_thread **out_thread)
{
    ctxrt_status status = cx_runtime_enter();
    return status == CTXRT_SUCCESS ? cx_thread_self(out_thread) : status;
}

static inline ctxrt_status push_context(const ctxrt_context *context, const char *file, int line)
{
    cx_thread *thread;
    cx_target target;
    const cx_frame_place place = {.origin = CTXRT_FRAME_PUSH, .file = file, .line = line};
    ctxrt_status status = begin_call(&thread);
    if (__builtin_expect(status == CTXRT_SUCCESS, 1))
        status = cx_target_context(context, &target);
    return __builtin_expect(status == CTXRT_SUCCESS, 1) ? cx_stack_push(thread, &target, &place)
                                                        : status;
}

ctxrt_status ctxrt_stack_push_at(ctxrt_context *context, const char *file, int line)
{
    return push_context(context, file != NULL ? file : "", line);
}

ctxrt_status ctxrt_stack_push(ctxrt_context *context)
{
    return push_context(context, "", 0);
}

ctxrt_status ctxrt_device_push_at(ctxrt_device device, const char *file, int line)
{
    cx_thread *thread;
    cx_target target;
    const cx_frame_place place = {
        .origin = CTXRT_FRAME_PUSH, .file = file != NULL ? file : "", .line = line};
    ctxrt_status status = begin_call(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_device(device, &target);
    return status == CTXRT_SUCCESS ? cx_stack_push(thread, &target, &place) : status;
}

ctxrt_status ctxrt_device_push(ctxrt_device device)
{
    return ctxrt_device_push_at(device, "", 0);
}

ctxrt_status ctxrt_stack_pop(void)
{
    cx_thread *thread;
    ctxrt_status status = begin_call(&thread);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    cx_frame *top = cx_thread_top(thread);
    if (__builtin_expect(top != NULL && cx_frame_kind_of(top)->is_explicit &&
                             cx_frame_kind_of(top)->can_be_popped && cx_stack_pop_top(thread, top),
                         1))
        return CTXRT_SUCCESS;
    cx_stack_enter_frames(thread, 0);
    status = cx_stack_pop_level(thread, false);
    cx_section_leave();
    return status;
}

size_t ctxrt_stack_depth(void)
{
    return cx_thread_current != NULL ? cx_thread_depth(cx_thread_current) : 0;
}

/* ---- set ---- */

/* The place of the override's entry on its driver's stack: the number of entries of other code
 * above it, or lost. */
enum { ENTRY_LOST = -1 };

static ctxrt_status set_current(const cx_driver *driver, CUcontext native, CUcontext before)
{
    ctxrt_status status = CX_DRIVER_CALL(driver, ctx_set_current, (native));
    return __builtin_expect(status == CTXRT_SUCCESS, 1) ||
                   cx_driver_stack_entry_is_made(driver, native, before)
               ? CTXRT_SUCCESS
               : status;
}

/* Makes the target current in place of the override's entry. If other code has pushed onto that
 * entry, or it belongs to another driver, it is not overwritten: the new context becomes current
 * first, then the old entry is removed. */
static ctxrt_status switch_entry(const cx_frame *frame, int above, const cx_context *context,
                                 CUcontext *out_beneath)
{
    const cx_driver *driver = context->driver;
    const cx_driver *before = cx_frame_context(frame)->driver;
    *out_beneath = frame->beneath;
    if (driver == before && above == 0)
        return set_current(driver, context->native, cx_frame_context(frame)->native);
    ctxrt_status status = CX_DRIVER_CALL(driver, ctx_get_current, (out_beneath));
    if (status != CTXRT_SUCCESS)
        return status;
    (void)cx_thread_hint(CX_LAYER_ENTRY_STAYS);
    status = CX_DRIVER_CALL(driver, ctx_push, (context->native));
    (void)cx_thread_hint(CX_LAYER_NO_HINT);
    if (status != CTXRT_SUCCESS &&
        !cx_driver_stack_entry_is_made(driver, context->native, *out_beneath))
        return status;
    if (above == ENTRY_LOST)
        return CTXRT_SUCCESS;
    status = cx_resync_extract(before, driver == before ? above + 1 : above);
    if (status != CTXRT_SUCCESS)
        (void)cx_driver_stack_entry_remove(driver, *out_beneath);
    return status;
}

static ctxrt_status replace_override(cx_thread *thread, uint32_t index, int above,
                                     cx_target *target, const cx_frame_place *place)
{
    cx_frame *frame = &thread->frames[index];
    CUcontext beneath;
    ctxrt_status status = cx_target_enter(target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = switch_entry(frame, above, target->context, &beneath);
    if (status == CTXRT_SUCCESS) {
        cx_thread_begin(thread);
        cx_stack_drop(thread, index + 1);
        cx_frame_fill(frame, target->context, place);
        cx_thread_end(thread);
        frame->beneath = beneath;
    }
    cx_section_leave();
    return status;
}

/* Other code changed something: finds the override's entry. Levels of ours that other code popped
 * are not dropped without the user asking. */
static ctxrt_status find_entry(const cx_thread *thread, int index, int *out_above)
{
    const cx_frame *frame = &thread->frames[index];
    const cx_context *context = cx_frame_context(frame);
    CUcontext current;
    cx_stack_finding finding;
    *out_above = 0;
    ctxrt_status status = CX_DRIVER_CALL(context->driver, ctx_get_current, (&current));
    if (status != CTXRT_SUCCESS || current == context->native)
        return status;
    if (cx_runtime_foreign_policy() == CTXRT_FOREIGN_ERROR)
        return cx_stack_mismatch(frame, current);
    status = cx_resync_examine(thread, index, &finding);
    if (status != CTXRT_SUCCESS)
        return status;
    const ctxrt_resync_report *report = &finding.report;
    if ((report->finding == CTXRT_RESYNC_POPPED && report->count > 1) ||
        (report->finding == CTXRT_RESYNC_PUSHED && !finding.on_top))
        return cx_stack_mismatch(frame, current);
    if (report->finding == CTXRT_RESYNC_PUSHED)
        *out_above = report->count;
    else if (report->finding == CTXRT_RESYNC_POPPED || report->finding == CTXRT_RESYNC_AMBIGUOUS)
        *out_above = ENTRY_LOST;
    return CTXRT_SUCCESS;
}

static ctxrt_status push_override(cx_thread *thread, cx_target *target, const cx_frame_place *place)
{
    (void)cx_thread_hint(CX_LAYER_ENTRY_STAYS);
    ctxrt_status status = cx_stack_push(thread, target, place);
    (void)cx_thread_hint(CX_LAYER_NO_HINT);
    return status;
}

/* For a top frame that is no override which can be replaced in place. */
static ctxrt_status set_slowly(cx_thread *thread, cx_target *target, const cx_frame_place *place)
{
    int above, top = cx_stack_top_own(thread);
    if (top < 0 || !cx_frame_kind_of(&thread->frames[top])->is_override)
        return push_override(thread, target, place);
    ctxrt_status status = find_entry(thread, top, &above);
    return status == CTXRT_SUCCESS ? replace_override(thread, (uint32_t)top, above, target, place)
                                   : status;
}

static inline ctxrt_status set_device(ctxrt_device id, const char *file, int line)
{
    cx_thread *thread;
    cx_target target;
    ctxrt_status status = begin_call(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_device(id, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_frame_place place = {.origin = CTXRT_FRAME_SET, .file = file, .line = line};
    const cx_frame *top = cx_thread_top(thread);
    if (top != NULL && cx_frame_kind_of(top)->is_override) {
        const cx_context *before = cx_frame_context(top);
        CUcontext current;
        if (before->driver->table.ctx_get_current(&current) == CXU_SUCCESS &&
            current == before->native)
            return before == target.context
                       ? CTXRT_SUCCESS
                       : replace_override(thread, cx_thread_depth(thread) - 1, 0, &target, &place);
    }
    return set_slowly(thread, &target, &place);
}

ctxrt_status ctxrt_device_set_at(ctxrt_device id, const char *file, int line)
{
    return set_device(id, file != NULL ? file : "", line);
}

ctxrt_status ctxrt_device_set(ctxrt_device device)
{
    return set_device(device, "", 0);
}

/* ---- queries ---- */

static ctxrt_status current_context(cx_context *(*out_context))
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        *out_context = cx_frame_context(frame);
    return status;
}

static ctxrt_status context_or_current(const ctxrt_context *handle, cx_context **out_context)
{
    if (handle == NULL)
        return current_context(out_context);
    ctxrt_status status = cx_runtime_enter();
    return status == CTXRT_SUCCESS ? cx_context_find(handle, out_context) : status;
}

static ctxrt_status device_of(const cx_context *context, ctxrt_device *out_device)
{
    if (context->device == NULL)
        return cx_error(CTXRT_ERROR_INVALID_DEVICE, "%s is of a device that ctxrt does not list",
                        cx_context_text(context));
    *out_device = context->device->id;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_device_get(ctxrt_device *out_device)
{
    cx_context *context;
    if (out_device == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_get: out_device is NULL");
    ctxrt_status status = current_context(&context);
    return status == CTXRT_SUCCESS ? device_of(context, out_device) : status;
}

ctxrt_status ctxrt_context_current(ctxrt_context **out_context)
{
    cx_context *context;
    if (out_context == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_current: out_context is NULL");
    ctxrt_status status = current_context(&context);
    if (status == CTXRT_SUCCESS)
        *out_context = cx_context_handle(context);
    return status;
}

ctxrt_status ctxrt_context_device(ctxrt_context *handle, ctxrt_device *out_device)
{
    cx_context *context;
    if (out_device == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_device: out_device is NULL");
    ctxrt_status status = context_or_current(handle, &context);
    return status == CTXRT_SUCCESS ? device_of(context, out_device) : status;
}

ctxrt_status ctxrt_context_id(ctxrt_context *handle, uint64_t *out_id)
{
    cx_context *context;
    if (out_id == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_id: out_id is NULL");
    ctxrt_status status = context_or_current(handle, &context);
    if (status == CTXRT_SUCCESS)
        *out_id = atomic_load(&context->id);
    return status;
}

ctxrt_status ctxrt_context_native(ctxrt_context *handle, CUcontext *out_native)
{
    cx_context *context;
    if (out_native == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_native: out_native is NULL");
    ctxrt_status status = context_or_current(handle, &context);
    if (status == CTXRT_SUCCESS)
        *out_native = context->native;
    return status;
}

ctxrt_status ctxrt_stack_peek(size_t level, ctxrt_frame_info *out_info)
{
    cx_thread *thread;
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stack_peek: out_info is NULL");
    ctxrt_status status = begin_call(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    uint32_t depth = cx_thread_depth(thread);
    if (level >= depth)
        return cx_error(CTXRT_ERROR_STACK_EMPTY,
                        "there is no frame at level %zu: the calling thread has %u", level, depth);
    const cx_frame *frame = &thread->frames[depth - 1 - level];
    const cx_context *context = cx_frame_context(frame);
    *out_info = (ctxrt_frame_info){
        .context = cx_context_handle(context),
        .device =
            context->device != NULL ? context->device->id : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .stream = atomic_load(&frame->stream),
        .allocator = atomic_load(&frame->allocator),
        .origin = cx_frame_origin(frame),
        .file = atomic_load(&frame->file),
        .line = (int)(atomic_load(&frame->tag) >> 16),
    };
    return CTXRT_SUCCESS;
}
