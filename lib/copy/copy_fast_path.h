/*
 * The fast path for a copy or a fill: its memory begins at the start of a block that a caching
 * allocator of the stream's own context gave, as most does. The stream's driver then does the work
 * by one call, and ctxrt needs to know nothing else of that memory.
 */
#ifndef CX_COPY_COPY_FAST_PATH_H
#define CX_COPY_COPY_FAST_PATH_H

#include "memory/cache.h"
#include "memory/diagnosis.h"
#include "memory/address_index.h"
#include "work/work.h"

/* The block of device memory that starts at an address; 0: none. Another thread may free the block
 * at any moment. Pinned memory counts as none: it needs no stream, whose look-up could fail.
 * Records no error. */
static inline uint32_t cx_copy_fast_path_block(const void *pointer)
{
    uint32_t index = cx_pointers_quick(pointer);
    bool pinned =
        index != 0 && atomic_load_explicit(&cx_cache_of(index)->pinned, memory_order_relaxed);
    return pinned ? 0 : index;
}

/* In a section. True if these bytes are in the block, and device memory of the context. */
static inline bool cx_copy_is_on_fast_path(const cx_context *context, uint32_t index,
                                           const void *pointer, size_t bytes)
{
    const cx_cache_block *cached = cx_cache_block_at(index);
    const cx_cache *cache = cx_cache_of(index);
    return cx_cache_block_is_live(cached) && !cx_cache_block_is_gone(cached) &&
           bytes <= cx_cache_block_size(cached) &&
           atomic_load_explicit(&cached->pointer, memory_order_relaxed) == pointer &&
           atomic_load_explicit(&cache->context, memory_order_relaxed) == context &&
           !atomic_load_explicit(&cache->pinned, memory_order_relaxed) &&
           atomic_load_explicit(&cache->epoch, memory_order_relaxed) ==
               atomic_load_explicit(&context->epoch, memory_order_relaxed);
}

typedef struct cx_fast_copy {
    cx_stream_target target;
    cx_context_guard guard;
} cx_fast_copy;

/* Begins a copy, or a fill if `source` is NULL. False: take the slow path. True: on success the
 * stream's context is current; balance with cx_fast_copy_end. */
static inline bool cx_fast_copy_begin(const void *destination, const void *source, size_t bytes,
                                      ctxrt_stream *stream, cx_fast_copy *out_copy,
                                      ctxrt_status *out_status)
{
    bool known = !atomic_load_explicit(&cx_diagnosis_narrows, memory_order_relaxed);
    uint32_t to = known ? cx_copy_fast_path_block(destination) : 0;
    uint32_t from = to != 0 && source != NULL ? cx_copy_fast_path_block(source) : to;
    if (from == 0 || cx_work_begin(stream, &out_copy->target) != CTXRT_SUCCESS)
        return false;
    const cx_context *context = out_copy->target.context;
    bool fast = cx_copy_is_on_fast_path(context, to, destination, bytes) &&
                (source == NULL || cx_copy_is_on_fast_path(context, from, source, bytes));
    if (fast)
        *out_status = cx_work_make_current(stream, &out_copy->target, &out_copy->guard);
    if (!fast || *out_status != CTXRT_SUCCESS)
        cx_work_end();
    return fast;
}

static inline void cx_fast_copy_end(cx_fast_copy *copy)
{
    cx_context_guard_leave(&copy->guard);
    cx_work_end();
}

#endif
