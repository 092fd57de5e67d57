/*
 * Blocks: device memory from the allocator of a frame, counted and limited; what counted objects
 * and raw pointers both stand on.
 */
#ifndef CX_MEMORY_BLOCK_H
#define CX_MEMORY_BLOCK_H

#include "memory/allocator.h"

typedef struct cx_pooled cx_pooled;

struct cx_block {
    void *pointer;
    size_t size_bytes;
    cx_context *context;
    uint32_t epoch; /* the context's; another one now: a reset has freed the memory */
    cx_allocator *allocator;
    uint32_t piece; /* of an allocator that has a cache: piece.h; else 0 */
    cx_pooled *pooled; /* it belongs to a private pool: private_pool.h. NULL: to none */
};

/* From the allocator of the calling thread's top frame. Counts as memory of the context. */
ctxrt_status cx_block_alloc(size_t size_bytes, cx_block *out_block);

/* The same of pinned host memory of the frame's context. */
ctxrt_status cx_block_alloc_pinned(size_t size_bytes, cx_block *out_block);

/* The same of the frame's context, from its direct allocator. */
ctxrt_status cx_block_alloc_direct(size_t size_bytes, cx_block *out_block);

/* From any thread. The block is gone in any case; an error says what its allocator or the driver
 * reported. */
ctxrt_status cx_block_free(const cx_block *block);

/* A block whose memory is gone, since its address was given out anew. */
void cx_block_forget(const cx_block *block);

/* Beneath private pools: straight from the block's allocator, whose memory it fills in, and
 * straight back. */
ctxrt_status cx_block_take(cx_block *block, ctxrt_stream *stream);
ctxrt_status cx_block_give_back(const cx_block *block);

/* Enters a section in which the context is of this epoch, on any thread. False: it has been reset
 * since, and nothing was entered. */
bool cx_block_enter(const cx_context *context, uint32_t epoch);

/* CTXRT_ERROR_CONTEXT_DESTROYED: a request was overtaken by a reset. */
ctxrt_status cx_block_overtaken(const cx_context *context);

/* The status of a call of the driver's that freed memory of this context: that other code destroyed
 * or reset the context, and the memory with it, is no error. */
ctxrt_status cx_block_check_freed(const cx_context *context, cx_slot slot, cxu_result result);

/* The device of a context, for descriptions. */
ctxrt_device cx_block_device(const cx_context *context);

/* A size of 0 and a NULL out-parameter are refused in the name of `call`. Enters the runtime. */
ctxrt_status cx_block_check_request(const char *call, size_t size_bytes, const void *out);

#endif
