/*
 * Holds: device memory that belongs together and to nobody else, such as that of a recorded graph.
 *
 * A thread opens a hold in a frame of its. While that frame is its top frame, every block it
 * allocates belongs to the hold, and every block it frees too, wherever that was from. A block of a
 * hold that is freed, then or later and by any thread, is not given back to its allocator but kept:
 * for later allocations of a thread that has the hold open, of the same context and allocator, and
 * for nothing else. What a thread frees while it has the hold open is for it alone until it closes
 * it, and only for allocations with the same stream; memory of another stream, which may still
 * be using it, serves no allocation at all. When the last owner of the hold goes, what is
 * kept goes back to its allocators; blocks that are still in somebody's hands are from then on
 * ordinary ones. A hold with two owners is how two of them share what is kept.
 */
#ifndef CX_MEMORY_HOLD_H
#define CX_MEMORY_HOLD_H

#include "memory/block.h"

typedef struct cx_hold cx_hold;

#define CX_HOLD_STREAMS_MAX 8

/* A hold open on a thread; a part of what opened it. */
typedef struct cx_hold_use {
    cx_hold *hold;
    uint64_t mark; /* of the frame that it is open in, cx_frame.mark: never the same twice */
    struct cx_hold_use *outer; /* on the thread */
    struct cx_hold_use *next;  /* of the hold; lock held */
    /* The thread's: in which its frame allocated or freed, in no order; beyond the most there are
     * others. */
    const ctxrt_stream *streams[CX_HOLD_STREAMS_MAX];
    uint32_t stream_count;
} cx_hold_use;

struct cx_hold {
    pthread_mutex_t lock; /* "hold": all below; no driver is called under it */
    int owners;
    cx_hold_use *uses;
    size_t live_count,
        live_bytes; /* blocks in users' hands; bytes as they came from the allocator */
    cx_held **kept; /* by size, the smallest first; there is room for the live ones too */
    size_t kept_count, kept_capacity, kept_bytes;
};

/* What is behind a block of a hold. */
struct cx_held {
    cx_hold *hold;
    cx_block block; /* as its allocator gave it: may be larger than what its user asked for */
    uint64_t mark;  /* of the use that it is for alone; 0: for any */
    /* likewise: the frame's current one; NULL: its thread had not made that when it freed */
    const ctxrt_stream *stream;
    bool apart; /* of another stream than that of the frame it was freed in */
};

/* The innermost; initial-exec: looked at in every allocation. */
extern _Thread_local cx_hold_use *cx_hold_uses __attribute__((tls_model("initial-exec")));

/* One owner. NULL: no memory, and the error recorded. */
cx_hold *cx_hold_make(void);
void cx_hold_retain(cx_hold *hold);

/* The last owner: gives back what is kept. The first error of the driver. */
ctxrt_status cx_hold_release(cx_hold *hold);

/* Opens a hold on the calling thread, in the frame with this mark, and closes it again: in any
 * order, also for a thread that has ended, and harmlessly a second time. Its owner still is one. */
void cx_hold_open(cx_hold_use *use, cx_hold *hold, uint64_t mark);
void cx_hold_close(cx_hold_use *use);

typedef struct cx_hold_figures {
    size_t live_count, live_bytes, kept_count, kept_bytes;
} cx_hold_figures;
void cx_hold_look(cx_hold *hold, cx_hold_figures *out_figures);

/* The use of a hold that is open in a frame of the calling thread; NULL: none. */
static inline cx_hold_use *cx_hold_in_frame(const cx_frame *frame)
{
    cx_hold_use *use = cx_hold_uses;
    while (__builtin_expect(use != NULL, 0) && use->mark != frame->mark)
        use = use->outer;
    return use;
}

/* ---- for block.c ---- */

/* Fills in the block's memory, from what is kept or from its allocator. */
ctxrt_status cx_hold_alloc(cx_hold_use *use, cx_block *block, ctxrt_stream *stream);

/* A block of a hold is freed: kept, or given back if the hold has no owner any more. */
ctxrt_status cx_hold_free(const cx_block *block);

/* A block of no hold is freed in the frame: kept. CTXRT_ERROR_OUT_OF_MEMORY: nobody has it any
 * more, and it cannot be given back. */
ctxrt_status cx_hold_keep(cx_hold_use *use, const cx_block *block, const ctxrt_stream *stream);

/* A block of a hold is gone with its memory. */
void cx_hold_forget(const cx_block *block);

#endif
