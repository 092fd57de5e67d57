/* Handing a frame from one thread to another. */
#include "base/error.h"
#include "base/handle.h"
#include "context/stack.h"
#include "context/view.h"
#include <stdlib.h>

struct ctxrt_detached_frame {
    int unused; /* never made: handles are no addresses */
};

typedef struct cx_detached {
    cx_context *context;
    ctxrt_context *handle;
    cx_kept kept;
    bool default_stream; /* the stream was a default one of the thread */
    uint32_t epoch;
} cx_detached;

static cx_pool detached_frames = CX_POOL_INIT("detached frame", 6, cx_detached);

/* ---- default streams on their way ---- */

/* The thread's default stream in the context, or the one that is `stream`; or NULL. */
static cx_default_stream *find_default_stream(cx_thread *thread, const cx_context *context,
                                              const ctxrt_stream *stream)
{
    for (size_t i = 0; i < thread->default_stream_count; i++) {
        cx_default_stream *entry = &thread->default_streams[i];
        if (entry->context == context && entry->context_handle == cx_context_handle(context) &&
            entry->epoch == atomic_load(&context->epoch) &&
            (stream == NULL || entry->stream == stream))
            return entry;
    }
    return NULL;
}

/* The default stream that the frame was using goes along; the thread makes itself another if it
 * comes back to that context. */
static void give_default_stream(cx_thread *thread, const cx_detached *detached)
{
    cx_default_stream *entry =
        find_default_stream(thread, detached->context, detached->kept.frame.stream);
    *entry = thread->default_streams[--thread->default_stream_count];
    for (uint32_t i = 0; i < cx_thread_depth(thread); i++)
        if (cx_frame_context(&thread->frames[i]) == detached->context)
            thread->frames[i].current_stream = NULL;
}

/* The stream that came along is the thread's now. If the thread had a default one in that context
 * already, that stays what its other frames use. Whether it had none. */
static bool keep_default_stream(cx_thread *thread, const cx_detached *detached)
{
    cx_context *context = detached->context;
    bool first = find_default_stream(thread, context, NULL) == NULL;
    thread->default_streams[thread->default_stream_count++] = (cx_default_stream){
        .context = context,
        .context_handle = cx_context_handle(context),
        .epoch = atomic_load(&context->epoch),
        .stream = detached->kept.frame.stream,
    };
    return first;
}

/* ---- detaching and attaching ---- */

static ctxrt_status find_top(cx_thread **out_thread, const cx_frame **out_top)
{
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(out_thread);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_frame *top = cx_thread_top(*out_thread);
    if (top == NULL)
        return cx_error(CTXRT_ERROR_STACK_EMPTY,
                        "the calling thread's stack has no frame to detach");
    if (cx_frame_origin(top) != CTXRT_FRAME_PUSH && cx_frame_origin(top) != CTXRT_FRAME_ATTACH)
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

static ctxrt_status detach(cx_thread *thread, const cx_frame *top, cx_detached *detached)
{
    *detached = (cx_detached){
        .context = cx_frame_context(top),
        .handle = cx_context_handle(cx_frame_context(top)),
        .kept = {.frame = cx_frame_look(top), .number = atomic_load(&thread->number)},
        .epoch = atomic_load(&cx_frame_context(top)->epoch),
    };
    const cx_default_stream *entry =
        find_default_stream(thread, detached->context, detached->kept.frame.stream);
    if (entry != NULL) {
        detached->kept.frame.stream = entry->stream;
        detached->default_stream = true;
    }
    cx_context_object_add(detached->context, CX_OBJECT_DETACHED_FRAME);
    cx_threads_keep(&detached->kept);
    ctxrt_status status = cx_stack_pop_level(thread, false);
    if (status == CTXRT_SUCCESS && detached->default_stream)
        give_default_stream(thread, detached);
    if (status != CTXRT_SUCCESS)
        let_go(detached, NULL, NULL);
    return status;
}

ctxrt_status ctxrt_stack_detach(ctxrt_detached_frame **out_frame)
{
    cx_thread *thread = NULL;
    const cx_frame *top = NULL;
    if (out_frame == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stack_detach: out_frame is NULL");
    ctxrt_status status = find_top(&thread, &top);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_detached *detached = cx_pool_take(&detached_frames);
    if (detached == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a detached frame");
    status = detach(thread, top, detached);
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

static ctxrt_status attach(cx_thread *thread, cx_detached *detached)
{
    cx_target target = {.context = detached->context, .handle = detached->handle};
    const cx_frame_view *before = &detached->kept.frame;
    const cx_frame_place place = {
        .origin = CTXRT_FRAME_ATTACH,
        .file = before->file,
        .line = before->line,
        .stream = detached->default_stream ? NULL : before->stream,
        .allocator = before->allocator,
    };
    ctxrt_status status =
        detached->default_stream ? cx_thread_reserve_default_stream(thread) : CTXRT_SUCCESS;
    if (status == CTXRT_SUCCESS &&
        !cx_context_holds_what_is_of(detached->context, detached->epoch) &&
        detached->context->kind != CX_CONTEXT_PRIMARY)
        status = cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                          "other code destroyed %s, which the frame is of: discard it",
                          cx_context_text(detached->context));
    if (status == CTXRT_SUCCESS)
        status = cx_stack_push(thread, &target, &place);
    if (status != CTXRT_SUCCESS)
        return status;
    ctxrt_stream *stream = before->stream;
    if (detached->default_stream &&
        (went_with_a_reset(detached) || keep_default_stream(thread, detached)))
        stream = NULL;
    let_go(detached, thread, stream);
    return CTXRT_SUCCESS;
}

static ctxrt_status no_such_frame(const ctxrt_detached_frame *handle)
{
    return cx_handle_error("detached frame", handle,
                           "it was attached or discarded, or never was one");
}

ctxrt_status ctxrt_stack_attach(ctxrt_detached_frame *handle)
{
    cx_thread *thread;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_detached *detached = cx_pool_retire(&detached_frames, handle);
    if (detached == NULL)
        return no_such_frame(handle);
    status = attach(thread, detached);
    if (status == CTXRT_SUCCESS)
        cx_pool_put_back(&detached_frames, detached);
    else
        cx_pool_revive(&detached_frames, detached);
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
    cx_detached *detached = cx_pool_retire(&detached_frames, handle);
    if (detached == NULL)
        return no_such_frame(handle);
    if (detached->default_stream && !went_with_a_reset(detached))
        (void)keep_default_stream(thread, detached);
    let_go(detached, NULL, NULL);
    cx_pool_put_back(&detached_frames, detached);
    return CTXRT_SUCCESS;
}
