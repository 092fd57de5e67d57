/*
 * Private pools: device memory that belongs together and to nobody else, such as that of a recorded
 * graph.
 *
 * A thread opens a pool in one of its frames. While that is its top frame, every block it allocates
 * belongs to the pool, and so does every block it frees, wherever that was from. A block of a pool
 * that is freed, then or later and by any thread, is not given back to its allocator but kept: for
 * later allocations where the pool is open, of the same context, allocator and stream, and for
 * nothing else. So memory is used again only behind the work that used it before, by the order of
 * its stream. What is captured is ordered by its graph: memory of captures serves captures. Memory
 * of another stream than the frame's, which may still be using it, serves no allocation at all.
 *
 * When the last owner of the pool goes, what is kept goes back to its allocators; blocks that are
 * still in somebody's hands are from then on ordinary ones. Two owners share what is kept.
 */
#ifndef CX_MEMORY_PRIVATE_POOL_H
#define CX_MEMORY_PRIVATE_POOL_H

#include "memory/block.h"

typedef struct cx_private_pool cx_private_pool;

#define CX_PRIVATE_POOL_STREAMS_MAX 8

/* A pool that is open on a thread; a part of what opened it. */
typedef struct cx_private_pool_use {
    cx_private_pool *pool;
    uint64_t mark; /* of the frame that it is open in, cx_frame.mark: never the same twice */
    struct cx_private_pool_use *outer; /* on the thread */
    const ctxrt_stream *capture;       /* that only captures meanwhile; NULL: none */
    /* Other streams in which the frame allocated or freed, in no order; beyond the most there are
     * more. */
    const ctxrt_stream *streams[CX_PRIVATE_POOL_STREAMS_MAX];
    uint32_t stream_count;
} cx_private_pool_use;

struct cx_private_pool {
    pthread_mutex_t lock; /* "private pool": all below; no driver is called under it */
    int owners;
    size_t live_count,
        live_bytes; /* blocks in users' hands; bytes as they came from the allocator */
    cx_pooled **kept; /* by size, the smallest first; there is room for the live ones too */
    size_t kept_count, kept_capacity, kept_bytes;
};

/* What is behind a block of a pool. */
struct cx_pooled {
    cx_private_pool *pool;
    cx_block block; /* as its allocator gave it: may be larger than what its user asked for */
    /* of the allocations that it serves; CX_PRIVATE_POOL_CAPTURE: those of captures; NULL: none */
    const ctxrt_stream *stream;
};

#define CX_PRIVATE_POOL_CAPTURE ((const ctxrt_stream *)1)

/* The innermost; initial-exec: looked at in every allocation. */
extern _Thread_local cx_private_pool_use *cx_private_pools
    __attribute__((tls_model("initial-exec")));

/* One owner. NULL: no memory, and the error recorded. */
cx_private_pool *cx_private_pool_make(void);
void cx_private_pool_retain(cx_private_pool *pool);

/* The last owner: gives back what is kept. The first error of the driver. */
ctxrt_status cx_private_pool_release(cx_private_pool *pool);

/* Opens a pool on the calling thread, in the frame with this mark, and closes it again: in any
 * order, also for a thread that has ended, and harmlessly a second time. Its owner still is one. */
void cx_private_pool_open(cx_private_pool_use *use, cx_private_pool *pool, uint64_t mark);
void cx_private_pool_close(cx_private_pool_use *use);

typedef struct cx_private_pool_figures {
    size_t live_count, live_bytes, kept_count, kept_bytes;
} cx_private_pool_figures;
void cx_private_pool_look(cx_private_pool *pool, cx_private_pool_figures *out_figures);

/* The use of a pool that is open in a frame of the calling thread; NULL: none. */
static inline cx_private_pool_use *cx_private_pool_in_frame(const cx_frame *frame)
{
    cx_private_pool_use *use = cx_private_pools;
    while (__builtin_expect(use != NULL, 0) && use->mark != frame->mark)
        use = use->outer;
    return use;
}

/* ---- for block.c ---- */

/* Fills in the block's memory, from what is kept or from its allocator. */
ctxrt_status cx_private_pool_alloc(cx_private_pool_use *use, cx_block *block, ctxrt_stream *stream);

/* A block of a pool is freed: kept, or given back if the pool has no owner any more. */
ctxrt_status cx_private_pool_free(const cx_block *block);

/* A block of no pool is freed in the frame, whose stream is `stream`: kept.
 * CTXRT_ERROR_OUT_OF_MEMORY: nobody has it any more, and it cannot be given back. */
ctxrt_status cx_private_pool_keep(cx_private_pool_use *use, const cx_block *block,
                                  const ctxrt_stream *stream);

/* A block of a pool is gone with its memory. */
void cx_private_pool_forget(const cx_block *block);

#endif
