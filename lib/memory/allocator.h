/*
 * Allocators of device memory: a frame's memory comes from one.
 *
 * An allocator belongs to one context. A table of functions makes its kind; figures and limits are
 * the same for all kinds, above the table (block.c).
 */
#ifndef CX_MEMORY_ALLOCATOR_H
#define CX_MEMORY_ALLOCATOR_H

#include "context/stack.h"
#include <ctxrt/allocator.h>
#include "memory/counters.h"

typedef struct cx_allocator cx_allocator;
typedef struct cx_block cx_block;

typedef struct cx_allocation {
    cx_context *context;
    uint32_t epoch;       /* of the context and of the stream */
    size_t size_bytes;    /* never 0 */
    ctxrt_stream *stream; /* the frame's current one, resolved; never NULL */
    cx_thread *thread;    /* the calling thread */
} cx_allocation;

typedef struct cx_allocator_kind {
    /* Fills in the block's memory, or records the error. The context is current. */
    ctxrt_status (*alloc)(cx_allocator *allocator, const cx_allocation *request, cx_block *block);
    /* Called on any thread, with any context current. The memory is gone even if it fails. Not
     * called for memory that went with a reset of the context. */
    ctxrt_status (*free)(cx_allocator *allocator, const cx_block *block);
    /* Returns the bytes given back to the driver. NULL: caches none. */
    uint64_t (*trim)(cx_allocator *allocator);
    /* Called instead of `free` for a block whose memory is gone. NULL: nothing to do. */
    ctxrt_status (*forget)(cx_allocator *allocator, const cx_block *block);
    /* Called before the allocator goes; none of its memory is live. NULL: nothing to do. */
    void (*destroy)(cx_allocator *allocator);
    /* A reset of the context does not end its memory: `free` is called for that, too. */
    bool outlives_reset;
} cx_allocator_kind;

struct cx_allocator {
    const cx_allocator_kind *kind;
    cx_context *context;
    struct cx_cache *cache; /* of the caching kind; NULL: the figures are those below */
    /* in debug mode, the kind in front of `kind`: then `cache` is NULL, and the memory is that of
     * an allocator beneath. Changes only while this one is closed to requests. NULL: none */
    _Atomic(const cx_allocator_kind *) front;
    /* of pinned memory: then `cache` is NULL; in debug mode too. NULL: of device memory */
    struct cx_cache *pinned;
    _Atomic bool watched;   /* each block is shown to the hook of diagnosis.h */
    struct cx_watch *watch; /* of the room behind that hook; stays with the slot */
    bool is_default;      /* the context's own; else the user's, and an object of the context */
    cx_counters figures;
    ctxrt_allocator_options options; /* of the caching and the direct kind */
    /* in debug mode: the driver counts as out of memory once; 0: never */
    _Atomic uint64_t growths_until_refusal;
    ctxrt_allocator_vtable vtable; /* custom.c */
    void *user_data;
    CUmemoryPool pool;                 /* pool_allocator.c */
    _Atomic(void *) deferred_frees;    /* likewise */
    /* called before a request is refused for want of memory; NULL: nothing is */
    _Atomic(ctxrt_out_of_memory) out_of_memory;
    _Atomic(void *) out_of_memory_data;
};

/* Closes an allocator to requests, which wait until it is open again. False: *out_live blocks are
 * live, and it stays open. */
bool cx_allocator_close_requests(cx_allocator *allocator, uint64_t *out_live);
void cx_allocator_open_requests(cx_allocator *allocator);
void cx_allocator_wait_open(const cx_allocator *allocator);

/* Called before a context's first memory: from then on this room hears of ends and resets. */
void cx_memory_watch_contexts(void);

extern cx_pool cx_allocators;

/* Caches freed memory. Its cache counts and limits the blocks by itself, and notices resets. */
extern const cx_allocator_kind cx_caching_allocator;

/* Asks the driver for each request, and frees at once: it has no cache. */
extern const cx_allocator_kind cx_direct_allocator;

/* A caching allocator of pinned host memory; its cache is `pinned`. */
extern const cx_allocator_kind cx_pinned_allocator;

static inline const cx_allocator_kind *cx_allocator_kind_of(const cx_allocator *allocator)
{
    const cx_allocator_kind *front = atomic_load(&allocator->front);
    return front != NULL ? front : allocator->kind;
}

/* In debug mode: true if this call counts as refused by the driver. */
bool cx_allocator_refuses_call(cx_allocator *allocator);

/* Gets the context's default allocator, made on first use. */
ctxrt_status cx_allocator_default(cx_context *context, cx_allocator **out_allocator);

/* Gets the context's allocator with the source DIRECT, made on first use. */
ctxrt_status cx_allocator_direct(cx_context *context, cx_allocator **out_allocator);

/* Gets the context's allocator of pinned memory, made on first use. */
ctxrt_status cx_allocator_pinned(cx_context *context, cx_allocator **out_allocator);

/* Gets the allocator of a frame of the calling thread, whose context is current. The allocator
 * lives as long as it is in the frame. */
ctxrt_status cx_allocator_of_frame(cx_frame *frame, cx_allocator **out_allocator);

/* Finds the allocator of a handle; NULL: that of the top frame. Enters the runtime. */
ctxrt_status cx_allocator_resolve(const ctxrt_allocator *handle, cx_allocator **out_allocator);

/* Makes one of the user's allocators in the calling thread's current context. */
ctxrt_status cx_allocator_make(const cx_allocator *model, ctxrt_allocator **out_allocator);

#endif
