/* Handing a frame from one thread to another. */
#include "base/error.h"
#include "base/handle.h"
#include "context/stack.h"
#include "context/view.h"
#include "work/default_stream.h"

struct ctxrt_detached_frame {
    int unused; /* never set: handles are no addresses */
};

typedef struct cx_detached {
    cx_context *_Atomic context;
    ctxrt_context *_Atomic handle;
    cx_kept kept;
    bool default_stream; /* the stream was one of the thread's default streams */
    bool came_along;     /* it was, but went on with another frame */
    uint32_t epoch;
} cx_detached;

/* A thread that attaches or discards a frame first makes its handle stale, so the frame is its own
 * alone; if it cannot attach it, the handle lives again. */
static cx_pool detached_frames = CX_POOL_INIT("detached frame", 6, cx_detached);

/* ---- detaching and attaching ---- */

static ctxrt_status find_top(cx_thread **out_thread, cx_frame **out_top)
{
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(out_thread);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_frame *top = cx_thread_top(*out_thread);
    if (top == NULL)
        return cx_error(CTXRT_ERROR_STACK_EMPTY,
                        "the calling thread's stack has no frame to detach");
    if (!cx_frame_kind_of(top)->can_be_detached)
        return cx_error(CTXRT_ERROR_NOT_PERMITTED,
                        "only a pushed frame can be detached; the top one is an "
                        "override, a scope's or a foreign one");
    *out_top = top;
    return CTXRT_SUCCESS;
}

static void let_go(cx_detached *detached, cx_thread *thread, ctxrt_stream *stream)
{
    cx_threads_let_go(&detached->kept, thread, stream);
    cx_context_object_drop(detached->context, CX_OBJECT_DETACHED_FRAME);
}

/* In a section. The default stream that the frame used goes along; the thread makes another one
 * when it returns to that context. */
static ctxrt_status detach_frame(cx_thread *thread, cx_frame *top, cx_detached *detached)
{
    cx_context *context = cx_frame_context(top);
    (void)cx_frame_own_stream(thread, top);
    atomic_store(&detached->context, context);
    atomic_store(&detached->handle, cx_context_handle(context));
    detached->kept = (cx_kept){.frame = cx_frame_look(top), .number = atomic_load(&thread->number)};
    detached->epoch = atomic_load(&context->epoch);
    ctxrt_stream *own = cx_default_stream_of_thread(thread, context, detached->kept.frame.stream);
    if (own != NULL)
        detached->kept.frame.stream = own;
    detached->default_stream = own != NULL;
    detached->came_along = own == NULL && top->stream_came_along;
    cx_context_object_add(context, CX_OBJECT_DETACHED_FRAME);
    cx_threads_keep(&detached->kept);
    ctxrt_status status = cx_stack_pop_level(thread, false);
    if (status != CTXRT_SUCCESS)
        let_go(detached, NULL, NULL);
    else if (detached->default_stream)
        cx_default_stream_give_up(thread, context, own);
    return status;
}

ctxrt_status ctxrt_stack_detach(ctxrt_detached_frame **out_frame)
{
    cx_thread *thread = NULL;
    cx_frame *top = NULL;
    if (out_frame == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stack_detach: out_frame is NULL");
    ctxrt_status status = find_top(&thread, &top);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_detached *detached = cx_pool_take(&detached_frames);
    if (detached == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a detached frame");
    cx_stack_enter_frames(thread, 0);
    status = detach_frame(thread, top, detached);
    cx_section_leave();
    if (status == CTXRT_SUCCESS)
        *out_frame = cx_pool_publish(&detached_frames, detached);
    else
        cx_pool_put_back(&detached_frames, detached);
    return status;
}

static bool went_with_a_reset(const cx_detached *detached)
{
    return detached->epoch != atomic_load(&detached->context->epoch);
}

/* Gives the thread the default stream that came along. If the thread already has one in that
 * context, its other frames keep that, and the frame gets the stream as its own. */
static ctxrt_stream *stream_for_frame(cx_thread *thread, const cx_detached *detached)
{
    ctxrt_stream *stream = detached->kept.frame.stream;
    if (!detached->default_stream && !detached->came_along)
        return stream;
    if (went_with_a_reset(detached))
        return NULL;
    if (detached->came_along)
        return stream;
    return cx_default_stream_take_over(thread, detached->context, stream) ? NULL : stream;
}

/* In a section, with the context entered, by the thread that made the frame's handle stale. */
static ctxrt_status attach_frame(cx_thread *thread, cx_detached *detached)
{
    const cx_frame_view *before = &detached->kept.frame;
    const cx_frame_place place = {
        .origin = CTXRT_FRAME_ATTACH,
        .file = before->file,
        .line = before->line,
        .stream = detached->default_stream ? NULL : before->stream,
        .allocator = before->allocator,
    };
    if (!cx_context_holds_what_is_of(detached->context, detached->epoch) &&
        detached->context->kind != CX_CONTEXT_PRIMARY)
        return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                        "other code destroyed %s, the context of the frame: discard the frame",
                        cx_context_text(detached->context));
    ctxrt_status status = cx_stack_push_entered(thread, detached->context, &place);
    if (status == CTXRT_SUCCESS) {
        ctxrt_stream *stream = stream_for_frame(thread, detached);
        let_go(detached, thread, stream);
        cx_thread_top(thread)->stream_came_along =
            (detached->default_stream || detached->came_along) && stream != NULL;
    }
    return status;
}

static ctxrt_status no_such_frame(const ctxrt_detached_frame *handle)
{
    return cx_handle_error("detached frame", handle,
                           "it was attached or discarded, or never was one");
}

static ctxrt_status find_target(const ctxrt_detached_frame *handle, cx_target *out_target)
{
    const cx_detached *detached = cx_pool_find(&detached_frames, handle);
    if (detached == NULL)
        return no_such_frame(handle);
    out_target->device = NULL;
    out_target->context = atomic_load(&detached->context);
    out_target->handle = atomic_load(&detached->handle);
    /* Another thread may have attached the frame, and a third one detached another in its slot. */
    return cx_pool_is(detached, handle) ? CTXRT_SUCCESS : no_such_frame(handle);
}

/* In a section. */
static ctxrt_status attach_if_there(cx_thread *thread, const ctxrt_detached_frame *handle)
{
    cx_detached *detached = cx_pool_retire(&detached_frames, handle);
    if (detached == NULL)
        return no_such_frame(handle);
    ctxrt_status status = attach_frame(thread, detached);
    if (status == CTXRT_SUCCESS)
        cx_pool_put_back(&detached_frames, detached);
    else
        cx_pool_revive(&detached_frames, detached);
    return status;
}

ctxrt_status ctxrt_stack_attach(ctxrt_detached_frame *handle)
{
    cx_thread *thread;
    cx_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS)
        status = find_target(handle, &target);
    if (status == CTXRT_SUCCESS)
        status = cx_thread_reserve_default_stream(thread);
    if (status == CTXRT_SUCCESS)
        status = cx_stack_prepare_push(thread);
    if (status == CTXRT_SUCCESS)
        status = cx_target_enter(&target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = attach_if_there(thread, handle);
    cx_section_leave();
    return status;
}

ctxrt_status ctxrt_stack_discard(ctxrt_detached_frame *handle)
{
    cx_thread *thread;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_thread_reserve_default_stream(thread);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_section_enter();
    cx_detached *detached = cx_pool_retire(&detached_frames, handle);
    if (detached != NULL) {
        if (detached->default_stream && !went_with_a_reset(detached))
            (void)cx_default_stream_take_over(thread, detached->context,
                                              detached->kept.frame.stream);
        let_go(detached, NULL, NULL);
        cx_pool_put_back(&detached_frames, detached);
    }
    cx_section_leave();
    return detached != NULL ? CTXRT_SUCCESS : no_such_frame(handle);
}
