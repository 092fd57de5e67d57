#include "context/stack.h"

#include "base/error.h"
#include "context/driver_stack_entry.h"
#include <stdio.h>

static bool is_live(const cx_target *target)
{
    return target->device != NULL ? atomic_load(&target->device->primary) == target->context
                                  : cx_pool_is(target->context, target->handle);
}

ctxrt_status cx_target_enter_slowly(cx_target *target)
{
    for (;;) {
        ctxrt_status status;
        bool live = is_live(target);
        if (live && !cx_context_is_resetting(target->context))
            return CTXRT_SUCCESS;
        if (live) {
            status = cx_context_step_aside(target->context);
            if (status != CTXRT_SUCCESS)
                return status;
            continue;
        }
        cx_section_leave();
        if (target->device == NULL)
            return cx_error(CTXRT_ERROR_INVALID_HANDLE,
                            "the context is being destroyed by another thread");
        status = cx_context_first_primary(target->device, &target->context);
        if (status != CTXRT_SUCCESS)
            return status;
        cx_section_enter();
    }
}

void cx_stack_enter_frames(const cx_thread *thread, uint32_t lowest)
{
    cx_section_enter();
    uint32_t index = lowest;
    while (index < cx_thread_depth(thread))
        index = cx_context_give_way(cx_frame_context(&thread->frames[index])) ? lowest : index + 1;
}

ctxrt_status cx_stack_full(void)
{
    return cx_error(CTXRT_ERROR_STACK_FULL,
                    "the calling thread has %d frames, and may have no more: pop some first",
                    CTXRT_STACK_DEPTH_MAX);
}

void cx_stack_move(cx_thread *thread, uint32_t from, uint32_t to)
{
    const cx_frame *source = &thread->frames[from];
    cx_frame *target = &thread->frames[to];
    const uint64_t tag = atomic_load(&source->tag);
    const cx_frame_place place = {
        .origin = cx_frame_origin(source),
        .serial = source->serial,
        .file = atomic_load(&source->file),
        .line = (int)(tag >> 16),
        .stream = atomic_load(&source->stream),
        .allocator = atomic_load(&source->allocator),
    };
    cx_thread_begin(thread);
    cx_frame_fill(target, cx_frame_context(source), &place);
    target->beneath = source->beneath;
    target->token = source->token;
    cx_stack_drop(thread, to + 1);
    cx_thread_end(thread);
}

int cx_stack_top_own(const cx_thread *thread)
{
    int index = (int)cx_thread_depth(thread) - 1;
    while (index >= 0 && !cx_frame_kind_of(&thread->frames[index])->has_entry)
        index--;
    return index;
}

typedef struct native_text {
    char text[40];
} native_text;

/* A driver's current context, as messages name it. */
static native_text name_native(CUcontext native)
{
    native_text name = {"no context"};
    if (native != NULL)
        snprintf(name.text, sizeof name.text, "context %p", (void *)native);
    return name;
}

ctxrt_status cx_stack_mismatch(const cx_frame *frame, CUcontext current)
{
    if (frame == NULL)
        return cx_error(CTXRT_ERROR_STACK_MISMATCH,
                        "other code made context %p current on the calling thread, which has no "
                        "frame: CTXRT_FOREIGN=error "
                        "does not follow it",
                        (void *)current);
    const cx_context *context = cx_frame_context(frame);
    return cx_error(
        CTXRT_ERROR_STACK_MISMATCH,
        "the top frame is %s (%p), but the driver has %s current: other code changed that; "
        "ctxrt_stack_resync brings them back in step",
        cx_context_text(context), (void *)context->native, name_native(current).text);
}

/* Adds a foreign frame, unless the context has ended since it was found. */
static bool add_foreign(cx_thread *thread, cx_context *context, const ctxrt_context *handle)
{
    static const cx_frame_place place = {.origin = CTXRT_FRAME_FOREIGN, .file = ""};
    uint32_t depth = cx_thread_depth(thread);
    cx_section_enter();
    bool live = cx_pool_is(context, handle);
    if (live) {
        cx_thread_begin(thread);
        cx_frame_fill(&thread->frames[depth], context, &place);
        cx_thread_end(thread);
        atomic_store_explicit(&thread->depth, depth + 1, memory_order_release);
    }
    cx_section_leave();
    return live;
}

/* Adds a frame for a context that other code made current; it has no entry of ours. */
static ctxrt_status borrow_context(cx_thread *thread, cx_driver *driver, CUcontext current)
{
    cx_context *context;
    ctxrt_context *handle;
    if (cx_thread_depth(thread) == CTXRT_STACK_DEPTH_MAX)
        return cx_stack_full();
    do {
        ctxrt_status status = cx_context_adopt(driver, current, &context, &handle);
        if (status != CTXRT_SUCCESS)
            return status;
    } while (!add_foreign(thread, context, handle));
    return CTXRT_SUCCESS;
}

/* Handles an empty stack: finds a context that other code made current at some driver. */
static ctxrt_status settle_empty(cx_thread *thread)
{
    for (int i = cx_driver_count() - 1; i >= 0; i--) {
        CUcontext current = NULL;
        cx_driver *driver = &cx_drivers[i];
        if (!driver->loaded)
            continue;
        ctxrt_status status = CX_DRIVER_CALL(driver, ctx_get_current, (&current));
        if (status != CTXRT_SUCCESS)
            return status;
        if (current == NULL)
            continue;
        if (cx_runtime_foreign_policy() == CTXRT_FOREIGN_ERROR)
            return cx_stack_mismatch(NULL, current);
        return borrow_context(thread, driver, current);
    }
    return cx_error(CTXRT_ERROR_NO_DEVICE,
                    "the calling thread has set no device and no context is current: "
                    "call ctxrt_device_set first");
}

/* A foreign frame lasts while its context is current; then the frame beneath it is checked. */
ctxrt_status cx_stack_settle_slowly(cx_thread *thread, cx_frame **out_frame)
{
    for (;;) {
        cx_frame *top = cx_thread_top(thread);
        if (top == NULL) {
            ctxrt_status status = settle_empty(thread);
            *out_frame = cx_thread_top(thread);
            return status;
        }
        CUcontext current;
        cx_context *context = cx_frame_context(top);
        ctxrt_status status = CX_DRIVER_CALL(context->driver, ctx_get_current, (&current));
        if (status != CTXRT_SUCCESS)
            return status;
        if (current == context->native && cx_frame_is_same(top)) {
            *out_frame = top;
            return CTXRT_SUCCESS;
        }
        if (!cx_frame_kind_of(top)->has_entry) {
            cx_stack_drop(thread, cx_thread_depth(thread) - 1);
            continue;
        }
        if (current == NULL || cx_runtime_foreign_policy() == CTXRT_FOREIGN_ERROR)
            return cx_stack_mismatch(top, current);
        status = borrow_context(thread, context->driver, current);
        if (status != CTXRT_SUCCESS)
            return status;
    }
}

ctxrt_status cx_stack_settle_for_push(cx_thread *thread)
{
    cx_frame *top;
    ctxrt_status status = cx_stack_settle_slowly(thread, &top);
    return status == CTXRT_ERROR_NO_DEVICE ? CTXRT_SUCCESS : status;
}

/* ---- pop ---- */

/* Index of the lowest frame of the top level: the explicit frame under its override, or the
 * override of the bottom. CTXRT_ERROR_STACK_EMPTY. */
static ctxrt_status find_level(const cx_thread *thread, bool scopes, int *out_index)
{
    int index = cx_stack_top_own(thread);
    if (index >= 0 && cx_frame_kind_of(&thread->frames[index])->is_override) {
        int below = index - 1;
        while (below >= 0 && !cx_frame_kind_of(&thread->frames[below])->has_entry)
            below--;
        index = below >= 0 ? below : index;
    }
    if (index < 0)
        return cx_error(CTXRT_ERROR_STACK_EMPTY, "the calling thread's stack has no frame to pop");
    if (!scopes && !cx_frame_kind_of(&thread->frames[index])->can_be_popped)
        return cx_error(CTXRT_ERROR_NOT_PERMITTED,
                        "the top level belongs to a scope: only ctxrt_scope_leave closes it");
    *out_index = index;
    return CTXRT_SUCCESS;
}

/* Entries popped from the driver's stack, to be put back if it is not as expected. */
typedef struct popped_entries {
    int count;
    struct {
        const cx_driver *driver;
        CUcontext native;
    } entries[2];
} popped_entries;

static ctxrt_status pop_entry(const cx_driver *driver, popped_entries *popped)
{
    CUcontext native;
    ctxrt_status status = cx_driver_stack_entry_take(driver, &native);
    if (status == CTXRT_SUCCESS) {
        popped->entries[popped->count].driver = driver;
        popped->entries[popped->count].native = native;
        popped->count++;
    }
    return status;
}

static void push_back(const popped_entries *popped)
{
    for (int i = popped->count - 1; i >= 0; i--)
        (void)cx_driver_stack_entry_restore(popped->entries[i].driver, popped->entries[i].native);
}

/* After the entries above `index` were popped, each driver must show the context beneath its lowest
 * entry. */
static ctxrt_status verify_beneath(const cx_thread *thread, int index)
{
    const cx_frame *lower = &thread->frames[index];
    for (int i = index; i < (int)cx_thread_depth(thread); i++) {
        const cx_frame *frame = &thread->frames[i];
        const cx_driver *driver = cx_frame_context(frame)->driver;
        CUcontext current;
        if (!cx_frame_kind_of(frame)->has_entry ||
            (i > index && driver == cx_frame_context(lower)->driver))
            continue;
        ctxrt_status status = CX_DRIVER_CALL(driver, ctx_get_current, (&current));
        if (status != CTXRT_SUCCESS)
            return status;
        if (current != frame->beneath)
            return cx_error(CTXRT_ERROR_STACK_MISMATCH,
                            "popping %s uncovered %s where %s should be: other code left the "
                            "driver's stack changed; "
                            "nothing was popped; ctxrt_stack_resync brings it back in step",
                            cx_context_text(cx_frame_context(frame)), name_native(current).text,
                            name_native(frame->beneath).text);
    }
    return CTXRT_SUCCESS;
}

/* Under the policy `error` the top entry must be ours before anything is popped. */
static ctxrt_status verify_top(const cx_thread *thread)
{
    const cx_frame *top = cx_thread_top(thread);
    CUcontext current;
    if (cx_runtime_foreign_policy() != CTXRT_FOREIGN_ERROR)
        return CTXRT_SUCCESS;
    ctxrt_status status =
        CX_DRIVER_CALL(cx_frame_context(top)->driver, ctx_get_current, (&current));
    if (status == CTXRT_SUCCESS && current != cx_frame_context(top)->native)
        return cx_stack_mismatch(top, current);
    return status;
}

ctxrt_status cx_stack_pop_level(cx_thread *thread, bool scopes)
{
    int lowest = 0;
    popped_entries popped = {0};
    ctxrt_status status = find_level(thread, scopes, &lowest);
    if (status == CTXRT_SUCCESS)
        status = verify_top(thread);
    if (status != CTXRT_SUCCESS)
        return status;
    for (int i = (int)cx_thread_depth(thread) - 1; i >= lowest && status == CTXRT_SUCCESS; i--)
        if (cx_frame_kind_of(&thread->frames[i])->has_entry)
            status = pop_entry(cx_frame_context(&thread->frames[i])->driver, &popped);
    if (status == CTXRT_SUCCESS)
        status = verify_beneath(thread, lowest);
    else if (ctxrt_last_error()->driver_result == CXU_INVALID_CONTEXT)
        status =
            cx_error(CTXRT_ERROR_STACK_MISMATCH,
                     "the driver's stack has fewer entries than ctxrt pushed: "
                     "other code popped them; nothing was popped; ctxrt_stack_resync brings them "
                     "back in step");
    if (status != CTXRT_SUCCESS) {
        push_back(&popped);
        return status;
    }
    cx_stack_drop(thread, (uint32_t)lowest);
    return CTXRT_SUCCESS;
}
