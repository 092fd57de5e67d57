/*
 * Private pools: device memory set apart from other uses, such as that of a recorded graph.
 *
 * A thread opens a pool in one of its frames. While that is its top frame, every block it allocates
 * belongs to the pool, and so does every block it frees, wherever that was from. A block of a pool
 * that is freed, then or later and by any thread, is kept in the pool. It serves only later
 * allocations of the same context, allocator and stream while the pool is open. So memory is reused
 * only behind its earlier work, in the order of its stream. A graph orders captured work: memory of
 * captures serves captures. Memory of a stream other than the frame's may still be in use, and
 * serves no allocation at all.
 *
 * When the last owner of the pool goes, kept blocks return to their allocators; blocks that users
 * still have become ordinary ones. Owners share the kept blocks.
 */
#ifndef CX_MEMORY_PRIVATE_POOL_H
#define CX_MEMORY_PRIVATE_POOL_H

#include "base/lock.h"
#include "memory/block.h"

typedef struct cx_private_pool cx_private_pool;

#define CX_PRIVATE_POOL_STREAMS_MAX 8

/* A pool that is open on a thread; part of the object that opened it. */
typedef struct cx_private_pool_use {
    cx_private_pool *pool;
    uint64_t token; /* of the frame that it is open in, cx_frame.token: never the same twice */
    struct cx_private_pool_use *outer; /* on the thread */
    const ctxrt_stream *capture;       /* the stream that captures meanwhile; NULL: none */
    /* Other streams in which the frame allocated or freed, unordered; a count beyond the maximum
     * means that there are more. */
    const ctxrt_stream *streams[CX_PRIVATE_POOL_STREAMS_MAX];
    uint32_t stream_count;
} cx_private_pool_use;

struct cx_private_pool {
    cx_lock lock; /* "private pool": all below; no driver is called under it */
    int owners;
    size_t live_count, live_bytes; /* blocks that users have; bytes as the allocator gave them */
    cx_pooled *kept; /* the last kept one first */
    size_t kept_count, kept_bytes;
};

/* The pool's record of a block. */
struct cx_pooled {
    cx_private_pool *pool;
    cx_pooled *next; /* kept */
    cx_block block; /* as its allocator gave it: may be larger than requested */
    /* serves allocations of this stream; CX_PRIVATE_POOL_CAPTURE: those of captures; NULL: none */
    const ctxrt_stream *stream;
};

#define CX_PRIVATE_POOL_CAPTURE ((const ctxrt_stream *)1)

/* The innermost one; initial-exec, because every allocation reads it. */
extern _Thread_local cx_private_pool_use *cx_private_pools
    __attribute__((tls_model("initial-exec")));

/* Makes a pool with one owner. NULL with the error recorded: out of memory. */
cx_private_pool *cx_private_pool_make(void);
void cx_private_pool_retain(cx_private_pool *pool);

/* Drops an owner; the last one gives the kept blocks back. Returns the driver's first error. */
ctxrt_status cx_private_pool_release(cx_private_pool *pool);

/* Opens a pool on the calling thread, in the frame with this token, and closes it: in any order,
 * also for an ended thread, and harmlessly a second time. The pool needs an owner meanwhile. */
void cx_private_pool_open(cx_private_pool_use *use, cx_private_pool *pool, uint64_t token);
void cx_private_pool_close(cx_private_pool_use *use);

typedef struct cx_private_pool_figures {
    size_t live_count, live_bytes, kept_count, kept_bytes;
} cx_private_pool_figures;
void cx_private_pool_look(cx_private_pool *pool, cx_private_pool_figures *out_figures);

/* Finds the use of a pool that is open in a frame of the calling thread; NULL: none. */
static inline cx_private_pool_use *cx_private_pool_in_frame(const cx_frame *frame)
{
    cx_private_pool_use *use = cx_private_pools;
    while (__builtin_expect(use != NULL, 0) && use->token != frame->token)
        use = use->outer;
    return use;
}

/* ---- for block.c ---- */

/* Fills in the block's memory, from the kept blocks or from its allocator. */
ctxrt_status cx_private_pool_alloc(cx_private_pool_use *use, cx_block *block, ctxrt_stream *stream);

/* Frees a block of a pool: keeps it, or gives it back if the pool has no owner any more. */
ctxrt_status cx_private_pool_free(const cx_block *block);

/* Keeps a block of no pool that is freed in the frame, whose stream is `stream`.
 * CTXRT_ERROR_OUT_OF_MEMORY: the block is lost, and cannot be given back. */
ctxrt_status cx_private_pool_keep(cx_private_pool_use *use, const cx_block *block,
                                  const ctxrt_stream *stream);

/* Forgets a block of a pool whose memory is gone. */
void cx_private_pool_forget(const cx_block *block);

#endif
