/*
 * Streams behind handles, and the meaning of stream arguments.
 */
#ifndef CX_WORK_STREAM_H
#define CX_WORK_STREAM_H

#include "context/stack.h"
#include <ctxrt/stream.h>

typedef enum cx_stream_kind {
    CX_STREAM_CREATED, /* ctxrt_stream_create; the user's */
    CX_STREAM_WRAPPED, /* ctxrt_stream_from_native; other code's */
    CX_STREAM_DEFAULT  /* a default stream of some thread, or an idle one: default_stream.h */
} cx_stream_kind;

/* The fields are atomic: a thread that uses a handle while another thread destroys it may read
 * those of the next stream in the slot. Streams except those of the kind DEFAULT count as objects
 * of their context. */
typedef struct cx_stream {
    _Atomic(CUstream) native;
    _Atomic(cx_context *) context;
    _Atomic uint32_t epoch; /* of the context when the stream was made */
    _Atomic int kind;       /* cx_stream_kind */
    struct cx_stream *next; /* default_stream.c */
} cx_stream;

#define CX_STREAM_POOL_KIND 2
extern cx_pool cx_streams;

/*
 * A stream argument, resolved once when the call begins. The code below sees no NULL that means
 * "the current stream". `stream` names the stream for good: a handle has a generation, so a later
 * stream never gets the same one.
 */
typedef struct cx_stream_target {
    cx_driver *driver;
    cx_context *context;
    uint32_t epoch;       /* of the context when the stream was made */
    ctxrt_stream *stream; /* the handle, or CTXRT_STREAM_LEGACY; never NULL */
    CUstream native;
} cx_stream_target;

/* Makes a stream of this kind in a context that is current at its driver. In a section. */
ctxrt_status cx_stream_make(cx_context *context, cx_stream_kind kind, unsigned int flags,
                            int priority, ctxrt_stream **out_stream);

/* Resolves the rest: CTXRT_STREAM_LEGACY, streams of contexts being reset, for which it waits
 * outside of a section, and refused handles: bad ones, and those of contexts that were reset. */
__attribute__((cold)) ctxrt_status cx_stream_resolve_slowly(const ctxrt_stream *stream,
                                                            cx_stream_target *out_target);

/* The legacy stream of a context. */
cx_stream_target cx_stream_legacy_of(cx_context *context);

/* Resolves the current stream of a frame for the first time, and keeps it in the frame. */
ctxrt_status cx_stream_resolve_current(cx_thread *thread, cx_frame *frame,
                                       cx_stream_target *out_target);

/* True if work given to the stream becomes part of a capture; false if the driver has no
 * captures. */
ctxrt_status cx_stream_is_capturing(const cx_stream_target *target, bool *out_capturing);

/* True if the handle, which is not NULL, names a stream whose context was not reset since. */
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

/* True if the current stream of the frame was resolved before and is still valid. */
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

/* True unless the frame's context is being reset. */
__attribute__((always_inline)) static inline bool
cx_stream_look_legacy(const cx_frame *frame, cx_stream_target *out_target)
{
    cx_context *context = cx_frame_context(frame);
    uint32_t epoch = atomic_load_explicit(&context->epoch, memory_order_relaxed);
    if (__builtin_expect(!cx_epoch_is_settled(epoch), 0))
        return false;
    *out_target = (cx_stream_target){.driver = context->driver,
                                     .context = context,
                                     .epoch = epoch,
                                     .stream = CTXRT_STREAM_LEGACY,
                                     .native = CXU_STREAM_LEGACY};
    return true;
}

/* Resolves a handle other than NULL and CTXRT_STREAM_LEGACY. Needs no frame. */
__attribute__((always_inline)) static inline ctxrt_status cx_stream_resolve_handle(
    const ctxrt_stream *stream, cx_stream_target *out_target)
{
    cx_stream_target slow; /* keeps the caller's in registers */
    if (__builtin_expect(cx_stream_look(stream, out_target), 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_stream_resolve_slowly(stream, &slow);
    *out_target = slow;
    return status;
}

/* Resolves the current stream of the calling thread's settled top frame. */
__attribute__((always_inline)) static inline ctxrt_status
cx_stream_of_frame(cx_thread *thread, cx_frame *frame, cx_stream_target *out_target)
{
    cx_stream_target slow; /* keeps the caller's in registers */
    if (__builtin_expect(cx_stream_look_in_frame(frame, out_target), 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_stream_resolve_current(thread, frame, &slow);
    *out_target = slow;
    return status;
}

/*
 * Resolves a stream argument of a public call: NULL is the current stream of the top frame, LEGACY
 * the legacy stream of the current context; any other stream needs no current context. Enters the
 * runtime. Takes no lock and makes no atomic read-modify-write, except on the first use of a
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
