/*
 * Streams: created ones, each context's legacy stream, and the per-thread default streams, of which
 * there is one for each thread and context that used it. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_STREAM_H
#define CX_EMU_STREAM_H

#include "emu/handle.h"
#include "emu/work.h"

struct cx_emu_branch;

struct cx_emu_stream {
    cx_emu_handle_slot slot;
    uint64_t id; /* never used twice */
    uint64_t
        opening; /* id of its context's legacy stream: tells the lives of one context slot apart */
    cx_emu_context *context;
    unsigned int flags;
    int priority;
    struct cx_emu_branch *branch; /* its part in a capture (capture.h), else NULL */
    uint64_t thread; /* a per-thread default stream: whose; else 0 */
    bool destroyed;  /* the handle is stale; the slot is returned when the work is done (T12) */
    cx_emu_work *head, *tail; /* unfinished work, oldest first */
    cx_emu_work *barrier; /* legacy: what all later work of the context waits for; a reference */
    cx_emu_stream *previous, *next;                       /* in context->streams */
    cx_emu_stream *previous_of_threads, *next_of_threads; /* per-thread streams of all contexts */
};

static inline bool cx_emu_stream_blocking(const cx_emu_stream *stream)
{
    return !(stream->flags & CXU_STREAM_NON_BLOCKING);
}

/*
 * The stream that a user's handle means. CXU_INVALID_HANDLE if it is none; for default streams what
 * cx_emu_context_current returns, and CXU_OUT_OF_MEMORY if a per-thread one cannot be made.
 */
cxu_result cx_emu_stream_find(CUstream handle, cx_emu_stream **out_stream);

/* Whether a context still is in the life that `opening` names. */
static inline bool cx_emu_context_opened(const cx_emu_context *context, uint64_t opening)
{
    return context->legacy && context->legacy->opening == opening;
}

/* The first and the last moment of a piece of work in its stream; for work.c. */
void cx_emu_stream_append(cx_emu_stream *stream, cx_emu_work *work);
void cx_emu_stream_finished(cx_emu_stream *stream, cx_emu_work *work);

#endif
