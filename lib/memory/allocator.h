/*
 * Allocators of device memory: what a frame's memory comes from.
 *
 * An allocator belongs to one context. What kind it is stands behind a table of functions; figures
 * and limits are kept for all kinds alike, above the table (block.c).
 */
#ifndef CX_MEMORY_ALLOCATOR_H
#define CX_MEMORY_ALLOCATOR_H

#include "context/stack.h"
#include "memory/figures.h"
#include "memory/trace.h"

typedef struct cx_allocator cx_allocator;
typedef struct cx_block cx_block;

typedef struct cx_allocation {
    cx_context *context;
    uint32_t epoch;       /* of the context: the stream is of it */
    size_t size_bytes;    /* never 0 */
    ctxrt_stream *stream; /* the frame's current one, resolved: never NULL */
    cx_thread *thread;    /* the calling one */
} cx_allocation;

typedef struct cx_allocator_kind {
    /* The context is current. Fills in the block's memory; records the error. */
    ctxrt_status (*alloc)(cx_allocator *allocator, const cx_allocation *request, cx_block *block);
    /* On any thread, whatever is current there. The memory is gone even if it fails. Not called for
     * memory that went with a reset of the context. */
    ctxrt_status (*free)(cx_allocator *allocator, const cx_block *block);
    /* Bytes given back to the driver. NULL: caches none. */
    uint64_t (*trim)(cx_allocator *allocator);
    /* Before the allocator goes; nothing of it is live. NULL: nothing to do. */
    void (*destroy)(cx_allocator *allocator);
} cx_allocator_kind;

struct cx_allocator {
    const cx_allocator_kind *kind; /* beneath the guard, if there is one */
    cx_context *context;
    struct cx_cache *cache; /* of the caching kind; else NULL, and the figures are those below */
    /* in debug mode: then `cache` is NULL, and it has an allocator of its own. NULL: none */
    _Atomic(struct cx_guard *) guard;
    /* of pinned memory that was in debug mode: whoever looked then may still do. To change both
     * `live` is closed */
    struct cx_guard *spare_guard;
    /* of pinned memory: then `cache` is NULL; under the guard too. NULL: it is of device memory */
    struct cx_cache *pinned;
    bool is_default;      /* the context's own; else the user's, and an object of the context */
    /* requests being served, and memory not freed; CX_ALLOCATOR_CLOSED: requests wait */
    _Atomic uint64_t live;
    cx_figures figures;
    cx_trace trace;
    ctxrt_allocator_options options; /* of the caching and the direct kind */
    /* in debug mode: the driver is said to have no memory once; 0: not */
    _Atomic uint64_t growths_until_refusal;
    ctxrt_allocator_vtable vtable; /* custom.c */
    void *user_data;
};

#define CX_ALLOCATOR_CLOSED ((uint64_t)1 << 63)

/* Until the allocator is no longer closed to requests. While it is, its quarantine may wait for
 * work. */
void cx_allocator_wait_open(const cx_allocator *allocator);

/* Before a context's first memory: from then on this room is told of ends and resets. */
void cx_memory_watch_contexts(void);

extern cx_pool cx_allocators;

/* Keeps what was freed and gives it out again. It has a cache, which counts and limits what it
 * gives out by itself and knows what a reset took away. */
extern const cx_allocator_kind cx_caching_allocator;

/* Asks the driver for each request, and gives back at once what is freed: it has no cache. */
extern const cx_allocator_kind cx_direct_allocator;

/* The same as the caching one, of pinned host memory; its cache is `pinned`. */
extern const cx_allocator_kind cx_pinned_allocator;

/* Any of these with a guard around it: guard.h. */
extern const cx_allocator_kind cx_guarded_allocator;

static inline const cx_allocator_kind *cx_allocator_kind_of(const cx_allocator *allocator)
{
    return atomic_load(&allocator->guard) != NULL ? &cx_guarded_allocator : allocator->kind;
}

/* In debug mode: whether the driver is said to have no memory for this call. */
bool cx_allocator_refuses_call(cx_allocator *allocator);

/* The context's allocator with the source DIRECT, made on first use. */
ctxrt_status cx_allocator_direct(cx_context *context, cx_allocator **out_allocator);

/* The context's allocator of pinned memory, made on first use. */
ctxrt_status cx_allocator_pinned(cx_context *context, cx_allocator **out_allocator);

/* The allocator that a frame's memory comes from. The frame is the calling thread's and its context
 * is current; the allocator lives as long as it stands in the frame. */
ctxrt_status cx_allocator_of_frame(cx_frame *frame, cx_allocator **out_allocator);

/* The allocator of a handle; NULL: that of the top frame. Enters the runtime. */
ctxrt_status cx_allocator_resolve(const ctxrt_allocator *handle, cx_allocator **out_allocator);

/* Makes an allocator of the user's in the calling thread's current context. */
ctxrt_status cx_allocator_make(const cx_allocator *model, ctxrt_allocator **out_allocator);

#endif
