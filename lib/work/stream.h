/*
 * Streams behind handles, and what a stream argument means.
 */
#ifndef CX_WORK_STREAM_H
#define CX_WORK_STREAM_H

#include "context/stack.h"
#include <ctxrt/stream.h>

typedef enum cx_stream_kind {
    CX_STREAM_CREATED, /* ctxrt_stream_create: the user's */
    CX_STREAM_WRAPPED, /* ctxrt_stream_from_native: other code's */
    CX_STREAM_DEFAULT  /* some thread's default stream, or an idle one: default_stream.h */
} cx_stream_kind;

/* Whoever uses a handle while another thread destroys it may read these of the stream that took its
 * slot: hence atomic. Streams but those of the kind DEFAULT count as objects of their context. */
typedef struct cx_stream {
    _Atomic(CUstream) native;
    _Atomic(cx_context *) context;
    _Atomic uint32_t epoch; /* the context's when the stream was made */
    _Atomic int kind;       /* cx_stream_kind */
    struct cx_stream *next; /* default_stream.c */
} cx_stream;

#define CX_STREAM_POOL_KIND 2
extern cx_pool cx_streams;

/*
 * Where the work of a call goes: what a stream argument means, resolved once when the call begins.
 * Below that nothing sees a NULL that means "the current stream". `stream` names the stream for
 * good: a handle has a generation, and a stream made later never gets the same one.
 */
typedef struct cx_stream_target {
    cx_driver *driver;
    cx_context *context;
    uint32_t epoch;       /* the context's that the stream is of */
    ctxrt_stream *stream; /* the handle, or CTXRT_STREAM_LEGACY; never NULL */
    CUstream native;
} cx_stream_target;

/* Makes a stream of this kind in a context that is current at its driver. In a section. */
ctxrt_status cx_stream_make(cx_context *context, cx_stream_kind kind, unsigned int flags,
                            int priority, ctxrt_stream **out_stream);

/* The same for CTXRT_STREAM_LEGACY, for a context that is being reset, which is waited for outside
 * of a section, and for what is refused: bad handles, and those of a context that was reset. */
__attribute__((cold)) ctxrt_status cx_stream_resolve_slowly(const ctxrt_stream *stream,
                                                            cx_stream_target *out_target);

/* The legacy stream of a context. */
cx_stream_target cx_stream_legacy_of(cx_context *context);

/* The same for a frame whose current stream is not resolved yet; keeps it in the frame. */
ctxrt_status cx_stream_resolve_current(cx_thread *thread, cx_frame *frame,
                                       cx_stream_target *out_target);

/* Whether work given to the stream becomes part of a capture; false where the driver has none. */
ctxrt_status cx_stream_is_capturing(const cx_stream_target *target, bool *out_capturing);

/* Whether the handle, which is not NULL, is a stream's whose context was not reset since. */
__attribute__((always_inline)) static inline bool
cx_stream_look(const ctxrt_stream *stream, cx_stream_target *out_target)
{
    const cx_stream *found =
        cx_pool_find_known(&cx_streams, CX_STREAM_POOL_KIND, CX_POOL_STRIDE(cx_stream), stream);
    cx_context *context = __builtin_expect(found != NULL, 1)
                              ? atomic_load_explicit(&found->context, memory_order_relaxed)
                              : NULL;
    if (__builtin_expect(context == NULL ||
                             atomic_load_explicit(&found->epoch, memory_order_relaxed) !=
                                 atomic_load_explicit(&context->epoch, memory_order_relaxed),
                         0))
        return false;
    *out_target = (cx_stream_target){
        .driver = context->driver,
        .context = context,
        .epoch = atomic_load_explicit(&found->epoch, memory_order_relaxed),
        .stream = (ctxrt_stream *)(uintptr_t)stream,
        .native = atomic_load_explicit(&found->native, memory_order_relaxed),
    };
    return true;
}

/* Whether the current stream of the frame was resolved before and is still good. */
__attribute__((always_inline)) static inline bool
cx_stream_look_in_frame(const cx_frame *frame, cx_stream_target *out_target)
{
    cx_context *context = cx_frame_context(frame);
    if (__builtin_expect(frame->current_stream == NULL ||
                             frame->stream_epoch !=
                                 atomic_load_explicit(&context->epoch, memory_order_relaxed),
                         0))
        return false;
    *out_target = (cx_stream_target){.driver = context->driver,
                                     .context = context,
                                     .epoch = frame->stream_epoch,
                                     .stream = frame->current_stream,
                                     .native = frame->native_stream};
    return true;
}

/* The live stream of a handle other than NULL and CTXRT_STREAM_LEGACY. Needs no frame. */
__attribute__((always_inline)) static inline ctxrt_status cx_stream_resolve_handle(
    const ctxrt_stream *stream, cx_stream_target *out_target)
{
    cx_stream_target slow; /* so that the caller's stays in registers */
    if (__builtin_expect(cx_stream_look(stream, out_target), 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_stream_resolve_slowly(stream, &slow);
    *out_target = slow;
    return status;
}

/* The current stream of the calling thread's settled top frame. */
__attribute__((always_inline)) static inline ctxrt_status
cx_stream_of_frame(cx_thread *thread, cx_frame *frame, cx_stream_target *out_target)
{
    cx_stream_target slow; /* so that the caller's stays in registers */
    if (__builtin_expect(cx_stream_look_in_frame(frame, out_target), 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_stream_resolve_current(thread, frame, &slow);
    *out_target = slow;
    return status;
}

/*
 * What a stream argument of a public call means: NULL the current stream of the top frame, LEGACY
 * the legacy stream of the current context, else the stream itself, for which nothing need be
 * current. Enters the runtime. No lock and no atomic read-modify-write, but for the first use of a
 * frame's stream. The native handle may be gone by the time it is used: calls that give it to a
 * driver begin with cx_work_begin (work.h).
 */
__attribute__((always_inline)) static inline ctxrt_status
cx_stream_resolve(const ctxrt_stream *stream, cx_stream_target *out_target)
{
    cx_thread *thread;
    cx_frame *frame;
    if (stream != NULL) {
        ctxrt_status status = cx_runtime_enter();
        return __builtin_expect(status == CTXRT_SUCCESS, 1)
                   ? cx_stream_resolve_handle(stream, out_target)
                   : status;
    }
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    return __builtin_expect(status == CTXRT_SUCCESS, 1)
               ? cx_stream_of_frame(thread, frame, out_target)
               : status;
}

#endif
