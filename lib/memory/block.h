/*
 * Blocks: device memory from the allocator of a frame, counted and limited. Memory objects and raw
 * pointers are built on them.
 */
#ifndef CX_MEMORY_BLOCK_H
#define CX_MEMORY_BLOCK_H

#include "memory/allocator.h"

typedef struct cx_pooled cx_pooled;

struct cx_block {
    void *pointer;
    size_t size_bytes;
    cx_context *context;
    uint32_t epoch; /* of the context; if that has another one now, a reset has freed the memory */
    cx_allocator *allocator;
    uint32_t cached;   /* for an allocator with a cache: cache_block.h; else 0 */
    cx_pooled *pooled; /* of a private pool: private_pool.h; NULL: none */
    ctxrt_stream *stream; /* of an allocator over a driver's pool: where it was allocated */
};

typedef struct cx_block_request {
    const char *call; /* the public call, for messages */
    size_t size_bytes;
    /* gets the context's own allocator for it; NULL: the frame's */
    ctxrt_status (*get_own)(cx_context *, cx_allocator **);
    /* of the context below, whatever is current, and of no recording, even if the thread records
     * there; else of the top frame's context */
    bool named;
    const ctxrt_context *context;
} cx_block_request;

/* Allocates a block, which counts as memory of its context. The runtime is entered. */
ctxrt_status cx_block_alloc(const cx_block_request *request, cx_block *out_block);

/* Frees on any thread. The block is gone in any case; the allocator's or driver's error is
 * returned. */
ctxrt_status cx_block_free(const cx_block *block);

/* Forgets a block whose memory is gone, since its address was handed out anew. */
void cx_block_forget(const cx_block *block);

/* For private pools: takes memory directly from the block's allocator, and gives it back. */
ctxrt_status cx_block_take(cx_block *block, ctxrt_stream *stream);
ctxrt_status cx_block_give_back(const cx_block *block);

/* Enters a section in which the context has this epoch, on any thread. False: it was reset since,
 * and no section was entered. */
bool cx_block_enter(const cx_context *context, uint32_t epoch);

/* CTXRT_ERROR_CONTEXT_DESTROYED: a reset came during the request. */
ctxrt_status cx_block_overtaken(const cx_context *context);

/* Before the driver frees memory of this epoch. False: it is gone. A reset waits if *out_pinned:
 * balance with cx_context_unpin. */
bool cx_block_begin_free(cx_context *context, uint32_t epoch, bool *out_pinned);

/* cuMemFree, in a capture too. */
cxu_result cx_block_free_natively(const cx_context *context, const void *pointer);

/* Frees memory of a driver's pool, which outlives a reset, behind all work of its context:
 * cuMemFree waits for none that uses such memory. */
ctxrt_status cx_block_free_of_pool(cx_context *context, uint32_t epoch, const void *pointer);

/* The status of a driver call that freed memory of this context: success if other code destroyed or
 * reset the context, and the memory with it. */
ctxrt_status cx_block_check_freed(const cx_context *context, cx_slot slot, cxu_result result);

/* The device of a context, for descriptions. */
static inline ctxrt_device cx_block_device(const cx_context *context)
{
    return context->device != NULL ? context->device->id : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1);
}

/* Refuses a size of 0 and a NULL out-parameter in the name of `call`. Enters the runtime. */
ctxrt_status cx_block_check_request(const char *call, size_t size_bytes, const void *out);

#endif
