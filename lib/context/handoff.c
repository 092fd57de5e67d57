/* Handing a frame from one thread to another. */
#include "base/error.h"
#include "context/stack.h"
#include <stdlib.h>

struct ctxrt_detached_frame {
    int unused; /* never made: handles are no addresses */
};

typedef struct cx_detached {
    cx_context *context;
    ctxrt_context *handle;
    ctxrt_stream *stream;
    bool default_stream; /* the stream was the thread's default one */
    uint32_t epoch;
    ctxrt_allocator *allocator;
    const char *file;
    int line;
} cx_detached;

static cx_pool detached_frames = CX_POOL_INIT("detached frame", 6, cx_detached);

static cx_default_stream *find_default_stream(cx_thread *thread, const cx_context *context)
{
    for (size_t i = 0; i < thread->default_stream_count; i++)
        if (thread->default_streams[i].context == context &&
            thread->default_streams[i].context_handle == cx_context_handle(context) &&
            thread->default_streams[i].epoch == atomic_load(&context->epoch))
            return &thread->default_streams[i];
    return NULL;
}

/* The thread's default stream in the frame's context, if it has made one, goes along; the thread makes itself
 * another if it comes back to that context. */
static ctxrt_stream *take_default_stream(cx_thread *thread, const cx_context *context)
{
    cx_default_stream *entry = find_default_stream(thread, context);
    if (entry == NULL)
        return NULL;
    ctxrt_stream *stream = entry->stream;
    *entry = thread->default_streams[--thread->default_stream_count];
    for (uint32_t i = 0; i < cx_thread_depth(thread); i++)
        if (cx_frame_context(&thread->frames[i]) == context)
            thread->frames[i].native_stream = NULL;
    return stream;
}

/* The stream that came along becomes the thread's default one, if it has none yet in that context. */
static bool keep_default_stream(cx_thread *thread, cx_context *context, ctxrt_stream *stream)
{
    if (find_default_stream(thread, context) != NULL)
        return false;
    if (thread->default_stream_count == thread->default_stream_capacity) {
        size_t capacity = thread->default_stream_capacity != 0 ? 2 * thread->default_stream_capacity : 16;
        cx_default_stream *grown = realloc(thread->default_streams, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        thread->default_streams = grown;
        thread->default_stream_capacity = capacity;
    }
    thread->default_streams[thread->default_stream_count++] = (cx_default_stream){
        .context = context,
        .context_handle = cx_context_handle(context),
        .epoch = atomic_load(&context->epoch),
        .stream = stream,
    };
    return true;
}

ctxrt_status ctxrt_stack_detach(ctxrt_detached_frame **out_frame)
{
    cx_thread *thread;
    if (out_frame == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stack_detach: out_frame is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_frame *top = cx_thread_top(thread);
    if (top == NULL)
        return cx_error(CTXRT_ERROR_STACK_EMPTY, "the calling thread's stack has no frame to detach");
    if (cx_frame_origin(top) != CTXRT_FRAME_PUSH && cx_frame_origin(top) != CTXRT_FRAME_ATTACH)
        return cx_error(CTXRT_ERROR_NOT_PERMITTED, "only a pushed frame can be detached; the top one is an "
                                                   "override, a scope's or a foreign one");
    cx_detached *detached = cx_pool_take(&detached_frames);
    if (detached == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a detached frame");
    *detached = (cx_detached){
        .context = cx_frame_context(top),
        .handle = cx_context_handle(cx_frame_context(top)),
        .stream = atomic_load(&top->stream),
        .epoch = atomic_load(&cx_frame_context(top)->epoch),
        .allocator = atomic_load(&top->allocator),
        .file = atomic_load(&top->file),
        .line = (int)(atomic_load(&top->tag) >> 16),
    };
    cx_context_object_add(detached->context, CX_OBJECT_DETACHED_FRAME);
    status = cx_stack_pop_level(thread, false);
    if (status != CTXRT_SUCCESS) {
        cx_context_object_drop(detached->context, CX_OBJECT_DETACHED_FRAME);
        cx_pool_put_back(&detached_frames, detached);
        return status;
    }
    if (detached->stream == NULL) {
        detached->stream = take_default_stream(thread, detached->context);
        detached->default_stream = detached->stream != NULL;
    }
    *out_frame = cx_pool_publish(&detached_frames, detached);
    return CTXRT_SUCCESS;
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
        return cx_error(CTXRT_ERROR_INVALID_HANDLE, "%p is no detached frame, or was attached already",
                        (void *)handle);
    cx_target target = {.context = detached->context, .handle = detached->handle};
    const cx_frame_place place = {CTXRT_FRAME_ATTACH, 0, detached->file, detached->line};
    status = cx_stack_push(thread, &target, &place);
    if (status != CTXRT_SUCCESS) {
        cx_pool_revive(&detached_frames, detached);
        return status;
    }
    cx_frame *top = cx_thread_top(thread);
    bool reset = detached->epoch != atomic_load(&detached->context->epoch);
    if (detached->default_stream &&
        (reset || keep_default_stream(thread, detached->context, detached->stream)))
        detached->stream = NULL;
    atomic_store(&top->stream, detached->stream);
    atomic_store(&top->allocator, detached->allocator);
    cx_context_object_drop(detached->context, CX_OBJECT_DETACHED_FRAME);
    cx_pool_put_back(&detached_frames, detached);
    return CTXRT_SUCCESS;
}
