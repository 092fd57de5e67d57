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
#include "memory/trace.h"

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
    /* Called before the allocator goes; none of its memory is live. NULL: nothing to do. */
    void (*destroy)(cx_allocator *allocator);
    /* A reset of the context does not end its memory: `free` is called for that, too. */
    bool outlives_reset;
} cx_allocator_kind;

struct cx_allocator {
    const cx_allocator_kind *kind; /* beneath the guard, if any */
    cx_context *context;
    struct cx_cache *cache; /* of the caching kind; NULL: the figures are those below */
    /* in debug mode: then `cache` is NULL, and the guard has an allocator of its own. NULL: none */
    _Atomic(struct cx_guard *) guard;
    /* of pinned memory that was in debug mode before: a thread may still look at it. Both change
     * only while `live` is closed */
    struct cx_guard *spare_guard;
    /* of pinned memory: then `cache` is NULL; under the guard too. NULL: of device memory */
    struct cx_cache *pinned;
    bool is_default;      /* the context's own; else the user's, and an object of the context */
    /* requests being served, plus live blocks; CX_ALLOCATOR_CLOSED: requests wait */
    _Atomic uint64_t live;
    cx_counters figures;
    cx_trace trace;
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

#define CX_ALLOCATOR_CLOSED ((uint64_t)1 << 63)

/* Waits until the allocator is open to requests. While it is closed, its quarantine may wait for
 * work. */
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

/* Any of these with a guard around it: guard.h. */
extern const cx_allocator_kind cx_guarded_allocator;

static inline const cx_allocator_kind *cx_allocator_kind_of(const cx_allocator *allocator)
{
    return atomic_load(&allocator->guard) != NULL ? &cx_guarded_allocator : allocator->kind;
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
