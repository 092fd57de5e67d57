/*
 * The fast path: a block for the frame's stream from the thread's cache or its heap, and back
 * again. Everything unusual takes the slow path, by block.h; then nothing has changed.
 */
#ifndef CX_MEMORY_FAST_PATH_H
#define CX_MEMORY_FAST_PATH_H

#include "memory/cache.h"
#include "memory/private_pool.h"

static inline bool cx_fast_path_is_open(void)
{
    return __builtin_expect(atomic_load_explicit(&cx_current_phase, memory_order_acquire) ==
                                    CX_PHASE_RUNNING &&
                                cx_thread_current != NULL && cx_private_pools == NULL,
                            1);
}

/* Limited or traced allocators take the slow path. */
static inline bool cx_fast_path_suits(const cx_cache *cache)
{
    const cx_allocator *allocator = cache->allocator;
    return atomic_load_explicit(&allocator->figures.limit_bytes, memory_order_relaxed) == 0 &&
           atomic_load_explicit(&allocator->trace.recording, memory_order_relaxed) == NULL;
}

/* In a section. The cache of the frame's memory; NULL: take the slow path. The frame keeps the
 * allocator alive, and an equal epoch means that the cached blocks still exist. */
static inline cx_cache *cx_fast_path_cache(const cx_thread_cache *self, const cx_frame *frame)
{
    cx_cache *cache = atomic_load_explicit(&self->cache, memory_order_acquire);
    const cx_context *context = cx_frame_context(frame);
    bool serves = cache != NULL && self->recent != NULL && self->recent_context == context &&
                  self->recent_allocator ==
                      atomic_load_explicit(&frame->allocator, memory_order_relaxed) &&
                  self->recent->handle == frame->current_stream &&
                  self->epoch == atomic_load_explicit(&context->epoch, memory_order_acquire);
    return __builtin_expect(serves, 1) && cx_fast_path_suits(cache) ? cache : NULL;
}

/* A block as it was handed out. After a reset another thread may free a raw pointer that has its
 * address, and get this one. */
typedef struct cx_fast_block {
    uint32_t index, generation;
    uint32_t epoch; /* of the frame's context */
    void *pointer;
} cx_fast_block;

/* In a section. Takes a block and begins its count. False: there is none. */
static inline bool cx_fast_path_take(cx_cache *cache, cx_thread_cache *self, size_t size_bytes,
                                     uint32_t flags, cx_fast_block *out_block)
{
    uint32_t units = (uint32_t)((size_bytes + CX_FIT_UNIT_BYTES - 1) >> CX_FIT_UNIT_BITS);
    cx_kept_block taken = cx_magazines_take(self->recent, units, cx_cache_slack(cache, units));
    if (__builtin_expect(taken.units == 0, 0)) {
        taken = cx_cache_refill(cache, self->recent, units);
        if (taken.units == 0)
            return false;
    }
    cx_cache_block *cached = cx_cache_block_at(taken.cached);
    out_block->index = taken.cached;
    out_block->generation = taken.generation + 1;
    out_block->epoch = self->epoch;
    out_block->pointer = atomic_load_explicit(&cached->pointer, memory_order_relaxed);
    cx_cache_block_begin(cached, size_bytes, taken.generation + 1, flags);
    cx_thread_statistics *own = &self->statistics;
    cx_statistics_served(cache, own, cx_statistics_add(&own->allocated_bytes, size_bytes),
                         cx_statistics_add(&own->allocated_count, 1));
    return true;
}

/* Allocates a block of the calling thread's frame; `flags`: CX_CACHE_BLOCK_RAW or 0. False: take
 * the slow path. */
static inline bool cx_fast_path_alloc(size_t size_bytes, uint32_t flags, cx_fast_block *out_block)
{
    bool taken = false;
    if (!cx_fast_path_is_open() ||
        __builtin_expect(size_bytes - 1 >= (size_t)CX_MAGAZINE_UNITS_MAX << CX_FIT_UNIT_BITS, 0))
        return false;
    cx_thread_cache *self = cx_thread_current->thread_caches;
    const cx_frame *frame = cx_thread_top(cx_thread_current);
    if (self == NULL || frame == NULL || !cx_frame_is_current(frame))
        return false;
    cx_section_enter();
    cx_cache *cache = cx_fast_path_cache(self, frame);
    if (__builtin_expect(cache != NULL, 1))
        taken = cx_fast_path_take(cache, self, size_bytes, flags, out_block);
    cx_section_leave();
    return taken;
}

/* In a section of the cache's epoch, in which the stream is not destroyed. Memory that the host may
 * write to at once is free only when its stream's work is done. */
static inline bool cx_fast_path_is_plain(const cx_cache *cache, const cx_magazines *magazines)
{
    const cx_driver *driver = cache->context->driver;
    if (__builtin_expect(magazines->plain, 1))
        return true;
    return magazines->plain_when_idle && driver->stream_is_idle != NULL &&
           driver->stream_is_idle(magazines->stream->native);
}

/* In a section. The cache that takes the caller's block back directly; NULL: take the slow path.
 * The block keeps the allocator alive. */
static inline cx_cache *cx_fast_path_cache_of(const cx_thread_cache *self, uint32_t index)
{
    const cx_cache_generation *generation = cx_cache_generation_of(index);
    const cx_magazines *magazines = self->recent;
    if (__builtin_expect(generation != self->generation || magazines == NULL, 0))
        return NULL;
    cx_cache *cache = atomic_load_explicit(&self->cache, memory_order_acquire);
    bool plain =
        cache != NULL && magazines->id == cx_cache_block_at(index)->node.owner &&
        self->epoch == atomic_load_explicit(&cache->context->epoch, memory_order_acquire) &&
        cx_fast_path_is_plain(cache, magazines);
    return __builtin_expect(plain, 1) && cx_fast_path_suits(cache) ? cache : NULL;
}

/* Frees a block whose last count the caller has taken: nothing else refers to it. No stream was
 * recorded. False: take the slow path. */
static inline bool cx_fast_path_free(uint32_t index, cx_cache_block *cached)
{
    cx_thread_cache *self = cx_fast_path_is_open() ? cx_thread_current->thread_caches : NULL;
    if (self == NULL)
        return false;
    cx_section_enter();
    cx_cache *cache = cx_fast_path_cache_of(self, index);
    if (__builtin_expect(cache != NULL, 1)) {
        size_t size_bytes = cx_cache_block_size(cached);
        const cx_kept_block kept = {cached->node.units, index, cx_cache_block_generation(cached)};
        if (__builtin_expect(!cx_magazines_put(self->recent, &cache->keep, kept), 0))
            cx_cache_put_over(cache, self->recent, kept);
        cx_statistics_freed(cache, &self->statistics, size_bytes);
    }
    cx_section_leave();
    return cache != NULL;
}

#endif
