/*
 * Streams: created ones, each context's legacy stream, and per-thread default streams, one for each
 * thread and context that used it. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_STREAM_H
#define CX_EMU_STREAM_H

#include "emu/base/handle.h"
#include "emu/schedule/work.h"

struct cx_emu_branch;

/* As the user set them; zeroes at first. */
typedef struct cx_emu_stream_attributes {
    cxu_access_policy_window window;
    int policy; /* 0: never set */
    int domain;
    char domain_map[2];
} cx_emu_stream_attributes;

struct cx_emu_stream {
    cx_emu_handle_slot slot;
    uint64_t id; /* never used twice */
    uint64_t opening; /* id of its context's legacy stream: tells the generations of a context slot
                       * apart */
    cx_emu_context *context;
    unsigned int flags;
    int priority;
    cx_emu_stream_attributes attributes;
    struct cx_emu_branch *branch; /* its part in a capture (capture.h), or NULL */
    uint64_t thread;              /* the owner of a per-thread default stream; else 0 */
    struct cx_emu_green *green;   /* the green context that it was made in, or NULL */
    bool orphan;     /* that one is gone: the handle is CONTEXT_IS_DESTROYED */
    bool destroyed;  /* the handle is stale; the slot is returned when the work is done (T12) */
    cx_emu_work *head, *tail; /* unfinished work, oldest first */
    cx_emu_work *barrier;     /* legacy: all later work of the context waits for this piece; a
                               * reference */
    cx_emu_stream *previous, *next;                       /* in context->streams */
    cx_emu_stream *previous_of_threads, *next_of_threads; /* per-thread streams of all contexts */
};

static inline bool cx_emu_stream_blocking(const cx_emu_stream *stream)
{
    return !(stream->flags & CXU_STREAM_NON_BLOCKING);
}

/*
 * Finds the stream of a user's handle. CXU_INVALID_HANDLE; for default streams the errors of
 * cx_emu_context_current, and CXU_OUT_OF_MEMORY if a per-thread one cannot be made.
 */
cxu_result cx_emu_stream_find(CUstream handle, cx_emu_stream **out_stream);

/* Makes a stream of a context; NULL: out of memory. */
cx_emu_stream *cx_emu_stream_make(cx_emu_context *context, unsigned int flags, int priority);

/* True for default streams: the context's legacy one, a green context's. */
bool cx_emu_stream_is_default(const cx_emu_stream *stream);

/* True if a context is still in the generation that `opening` names. */
static inline bool cx_emu_context_opened(const cx_emu_context *context, uint64_t opening)
{
    return context->legacy != NULL && context->legacy->opening == opening;
}

/* Adds a piece of work to its stream, and removes it; for work.c. */
void cx_emu_stream_append(cx_emu_stream *stream, cx_emu_work *work);
void cx_emu_stream_finished(cx_emu_stream *stream, cx_emu_work *work);

#endif
