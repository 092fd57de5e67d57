/*
 * The stack of frames kept in step with the driver's stack of contexts.
 */
#ifndef CX_CONTEXT_STACK_H
#define CX_CONTEXT_STACK_H

#include "context/driver_stack_entry.h"
#include "context/frame_kind.h"
#include "context/use.h"

/*
 * Asks the driver and returns the top frame, which work goes to. Comes first in every call that
 * works in the current context; not in a section. Adds or drops foreign frames as the policy says.
 * CTXRT_ERROR_NO_DEVICE if nothing is current, CTXRT_ERROR_STACK_MISMATCH.
 */
__attribute__((cold)) ctxrt_status cx_stack_settle_slowly(cx_thread *thread, cx_frame **out_frame);

/* True if the context current under the native handle of a foreign frame is the frame's own, and
 * not a later one: its owner destroys it without asking, and handles are reused (C4). */
static inline bool cx_frame_is_same(const cx_frame *frame)
{
    return __builtin_expect(cx_frame_kind_of(frame)->has_entry, 1) ||
           !cx_context_replaced(cx_frame_context(frame));
}

/* True if the driver's current context is the frame's. */
static inline bool cx_frame_is_current(const cx_frame *frame)
{
    const cx_context *context = cx_frame_context(frame);
    CUcontext current;
    return __builtin_expect(context->driver->table.ctx_get_current(&current) == CXU_SUCCESS &&
                                current == context->native && cx_frame_is_same(frame), 1);
}

__attribute__((always_inline)) static inline ctxrt_status cx_stack_settle(cx_thread *thread,
                                                                          cx_frame **out_frame)
{
    cx_frame *top = cx_thread_top(thread);
    if (__builtin_expect(top != NULL && cx_frame_is_current(top), 1)) {
        *out_frame = top;
        return CTXRT_SUCCESS;
    }
    cx_frame *settled = NULL; /* keeps the caller's in a register */
    ctxrt_status status = cx_stack_settle_slowly(thread, &settled);
    *out_frame = settled;
    return status;
}

/* cx_runtime_enter, cx_thread_self and cx_stack_settle in one. */
__attribute__((always_inline)) static inline ctxrt_status cx_stack_enter(cx_thread **out_thread,
                                                                         cx_frame **out_frame)
{
    ctxrt_status status = cx_runtime_enter();
    if (__builtin_expect(status == CTXRT_SUCCESS, 1))
        status = cx_thread_self(out_thread);
    if (__builtin_expect(status == CTXRT_SUCCESS, 1))
        status = cx_stack_settle(*out_thread, out_frame);
    return status;
}

/* A context that is about to be put into a frame, with the means to check that it has not ended
 * meanwhile. */
typedef struct cx_target {
    cx_context *context;
    const ctxrt_context *handle; /* the caller's; checked if device is NULL */
    cx_device *device;           /* context is the primary context of this device */
} cx_target;

static inline ctxrt_status cx_target_device(ctxrt_device id, cx_target *out_target)
{
    out_target->handle = NULL;
    ctxrt_status status = cx_device_find(id, &out_target->device);
    return status == CTXRT_SUCCESS ? cx_context_primary(out_target->device, &out_target->context)
                                   : status;
}

static inline ctxrt_status cx_target_context(const ctxrt_context *handle, cx_target *out_target)
{
    out_target->handle = handle;
    out_target->device = NULL;
    return cx_context_find(handle, &out_target->context);
}

/* The properties of a new frame besides its context. */
typedef struct cx_frame_place {
    ctxrt_frame_origin origin;
    uint64_t serial; /* of a scope; else 0 */
    const char *file;
    int line;
    ctxrt_stream *stream;       /* of a frame that comes from another thread; else NULL */
    ctxrt_allocator *allocator; /* likewise */
} cx_frame_place;

/* Fills a frame's fields, between cx_thread_begin and cx_thread_end, in a section. */
static inline void cx_frame_fill(cx_frame *frame, cx_context *context, const cx_frame_place *place)
{
    atomic_store_explicit(&frame->stream, place->stream, memory_order_release);
    atomic_store_explicit(&frame->allocator, place->allocator, memory_order_release);
    atomic_store_explicit(&frame->context, context, memory_order_release);
    atomic_store_explicit(&frame->device, context->device, memory_order_release);
    atomic_store_explicit(&frame->context_id,
                          atomic_load_explicit(&context->id, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&frame->file, place->file, memory_order_release);
    atomic_store_explicit(&frame->tag, cx_frame_tag(place->origin, context->kind, place->line),
                          memory_order_release);
    frame->serial = place->serial;
    frame->token = 0;
    frame->current_stream = NULL;
    frame->stream_came_along = false;
}

/* In a section: true if the target has not ended, and is not being reset. */
static inline bool cx_target_good(const cx_target *target)
{
    bool live = target->device != NULL
                    ? atomic_load_explicit(&target->device->primary, memory_order_acquire) ==
                          target->context
                    : cx_pool_is(target->context, target->handle);
    return live && cx_epoch_is_settled(
                       atomic_load_explicit(&target->context->epoch, memory_order_relaxed));
}

__attribute__((cold)) ctxrt_status cx_target_enter_slowly(cx_target *target);

/*
 * Enters a section in which the target's context is live and not being reset: waits for a reset,
 * and replaces a primary context that another thread has released by the device's present one. On
 * failure the section is left: CTXRT_ERROR_INVALID_HANDLE for a context that was ended.
 */
static inline ctxrt_status cx_target_enter(cx_target *target)
{
    cx_section_enter();
    if (__builtin_expect(cx_target_good(target), 1))
        return CTXRT_SUCCESS;
    cx_target other = *target; /* keeps the caller's in registers */
    ctxrt_status status = cx_target_enter_slowly(&other);
    *target = other;
    return status;
}

/* Enters a section in which no context of the frames from level `lowest` up is being reset. */
void cx_stack_enter_frames(const cx_thread *thread, uint32_t lowest);

/* Lowers the depth. No driver call. */
static inline void cx_stack_drop(cx_thread *thread, uint32_t depth)
{
    atomic_store_explicit(&thread->depth, depth, memory_order_release);
}

/* Moves the frame at `from` down to `to`, and drops the frames between and above. No driver
 * call. */
void cx_stack_move(cx_thread *thread, uint32_t from, uint32_t to);

/* Index of the highest frame that is not foreign, or -1. */
int cx_stack_top_own(const cx_thread *thread);

/* Records CTXRT_ERROR_STACK_MISMATCH; the message names both contexts and the remedy. */
ctxrt_status cx_stack_mismatch(const cx_frame *frame, CUcontext current);

/* Pops the top level as ctxrt_stack_pop does; with `scopes`, a scope's level too. In a section. */
ctxrt_status cx_stack_pop_level(cx_thread *thread, bool scopes);

/* CTXRT_ERROR_STACK_FULL; and the check before a push: having no frame is no error. */
__attribute__((cold)) ctxrt_status cx_stack_full(void);
__attribute__((cold)) ctxrt_status cx_stack_settle_for_push(cx_thread *thread);

/* Reads the driver's current context, which the new frame's entry will stand on; the top frame is
 * settled. */
static inline ctxrt_status cx_stack_look_beneath(const cx_thread *thread, uint32_t depth,
                                                 const cx_driver *driver, CUcontext *out_beneath)
{
    const cx_context *top = depth != 0 ? cx_frame_context(&thread->frames[depth - 1]) : NULL;
    if (top == NULL || top->driver != driver)
        return CX_DRIVER_CALL(driver, ctx_get_current, (out_beneath));
    *out_beneath = top->native;
    return CTXRT_SUCCESS;
}

/* Brings the top frame in step with the driver. Not in a section. */
static inline ctxrt_status cx_stack_prepare_push(cx_thread *thread)
{
    uint32_t depth = cx_thread_depth(thread);
    return depth != 0 && __builtin_expect(!cx_frame_is_current(&thread->frames[depth - 1]), 0)
               ? cx_stack_settle_for_push(thread)
               : CTXRT_SUCCESS;
}

/* Pushes the context of an entered target as a new frame; the top frame is settled. In its section,
 * which stays entered. */
__attribute__((always_inline)) static inline ctxrt_status
cx_stack_push_entered(cx_thread *thread, cx_context *context, const cx_frame_place *place)
{
    uint32_t depth = cx_thread_depth(thread);
    if (__builtin_expect(depth == CTXRT_STACK_DEPTH_MAX, 0))
        return cx_stack_full();
    const cx_driver *driver = context->driver;
    cx_frame *frame = &thread->frames[depth];
    CUcontext beneath;
    ctxrt_status status = cx_stack_look_beneath(thread, depth, driver, &beneath);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    status = CX_DRIVER_CALL(driver, ctx_push, (context->native));
    if (__builtin_expect(status != CTXRT_SUCCESS, 0) &&
        !cx_driver_stack_entry_is_made(driver, context->native, beneath))
        return cx_context_map_error(context, "context", status);
    cx_thread_begin(thread);
    cx_frame_fill(frame, context, place);
    frame->beneath = beneath;
    cx_thread_end(thread);
    atomic_store_explicit(&thread->depth, depth + 1, memory_order_release);
    return CTXRT_SUCCESS;
}

/* Pushes a context as a new frame, in a section of its own. Inlined into each public call, so that
 * target and place stay in registers. */
__attribute__((always_inline)) static inline ctxrt_status
cx_stack_push(cx_thread *thread, cx_target *target, const cx_frame_place *place)
{
    ctxrt_status status = cx_stack_prepare_push(thread);
    if (__builtin_expect(status == CTXRT_SUCCESS, 1))
        status = cx_target_enter(target);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    status = cx_stack_push_entered(thread, target->context, place);
    cx_section_leave();
    return status;
}

/* Pops the top frame, which is a level by itself, if the driver's stack is as expected before and
 * after. False: it is not, and nothing has changed. Needs no section: a driver pops any entry (S3),
 * and the frame is dropped after it. */
static inline bool cx_stack_pop_top(cx_thread *thread, cx_frame *top)
{
    const cx_context *context = cx_frame_context(top);
    const cx_driver_table *table = &context->driver->table;
    CUcontext popped, current;
    cxu_result result = table->ctx_pop(&popped);
    if (__builtin_expect(result != CXU_SUCCESS, 0)) {
        if (result == CXU_INVALID_CONTEXT ||
            !cx_driver_stack_entry_is_made(context->driver, top->beneath, context->native))
            return false;
        popped = context->native;
    }
    if (__builtin_expect(popped != context->native ||
                             table->ctx_get_current(&current) != CXU_SUCCESS ||
                             current != top->beneath,
                         0)) {
        (void)cx_driver_stack_entry_restore(context->driver, popped);
        return false;
    }
    cx_stack_drop(thread, cx_thread_depth(thread) - 1);
    return true;
}

#endif
