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

/* Limited or watched allocators take the slow path. */
static inline bool cx_fast_path_suits(const cx_allocator *allocator)
{
    return atomic_load_explicit(&allocator->figures.limit_bytes, memory_order_relaxed) == 0 &&
           !atomic_load_explicit(&allocator->watched, memory_order_relaxed);
}

/* In a section. True if a frame's requests are for this stream. The frame keeps its allocator and
 * its stream alive. */
static inline bool cx_fast_path_serves(const cx_cache_stream *stream, const cx_frame *frame)
{
    const ctxrt_allocator *named = atomic_load_explicit(&frame->allocator, memory_order_relaxed);
    const cx_allocator *allocator =
        named != NULL ? cx_pool_find(&cx_allocators, named)
                      : atomic_load_explicit(&cx_frame_context(frame)->allocator,
                                             memory_order_acquire);
    const ctxrt_stream *wanted = frame->current_stream; /* NULL: not looked up yet */
    bool serves = allocator != NULL && allocator->cache == stream->cache && wanted != NULL &&
                  atomic_load_explicit(&stream->stream, memory_order_acquire) == wanted;
    return __builtin_expect(serves, 1) && cx_fast_path_suits(allocator);
}

/* Lock "magazine" held. True if the cache's memory is there: its epoch is not the context's during
 * a reset. */
static inline bool cx_fast_path_is_there(const cx_cache *cache)
{
    const cx_context *context = atomic_load_explicit(&cache->context, memory_order_relaxed);
    return atomic_load_explicit(&cache->epoch, memory_order_acquire) ==
           atomic_load_explicit(&context->epoch, memory_order_acquire);
}

/* A block as it was handed out. After a reset another thread may free a raw pointer that has its
 * address, and get this one. */
typedef struct cx_fast_block {
    uint32_t index, generation;
    uint32_t epoch; /* of the frame's context */
    void *pointer;
} cx_fast_block;

/* Takes a block of a stream and begins its count. False: there is none. Lock "magazine" held. */
static inline bool cx_fast_path_take(cx_cache_stream *stream, size_t size_bytes, uint32_t flags,
                                     cx_fast_block *out_block)
{
    cx_cache *cache = stream->cache;
    uint32_t units = (uint32_t)((size_bytes + CX_FIT_UNIT_BYTES - 1) >> CX_FIT_UNIT_BITS);
    uint32_t index = cx_cache_take_at_hand(cache, stream, units);
    if (index == 0)
        return false;
    cx_cache_block *cached = cx_cache_block_at(index);
    out_block->index = index;
    out_block->generation = cx_cache_block_generation(cached) + 1;
    out_block->epoch = atomic_load_explicit(&cache->epoch, memory_order_relaxed);
    out_block->pointer = atomic_load_explicit(&cached->pointer, memory_order_relaxed);
    cx_cache_block_begin(cached, size_bytes, out_block->generation, flags);
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
    cx_cache_stream *stream = cx_thread_current->memory_stream;
    const cx_frame *frame = cx_thread_top(cx_thread_current);
    if (stream == NULL || frame == NULL || !cx_frame_is_current(frame))
        return false;
    cx_section_enter();
    if (__builtin_expect(cx_fast_path_serves(stream, frame), 1)) {
        cx_lock_enter(&stream->lock);
        taken = cx_fast_path_is_there(stream->cache) &&
                cx_fast_path_take(stream, size_bytes, flags, out_block);
        cx_lock_leave(&stream->lock);
        if (taken)
            cx_counters_add(&stream->cache->allocator->figures, size_bytes);
    }
    cx_section_leave();
    return taken;
}

/* Lock "magazine" held. Memory that the host may write to at once is free only when its stream's
 * work is done. */
static inline bool cx_fast_path_is_plain(const cx_cache_stream *stream)
{
    const cx_driver *driver = atomic_load_explicit(&stream->cache->context,
                                                   memory_order_relaxed)->driver;
    return __builtin_expect(stream->plain, 1) &&
           (!stream->cache->host_accessible ||
            (driver->stream_is_idle != NULL && driver->stream_is_idle(stream->native)));
}

/* Frees a block whose last count the caller has taken: nothing else refers to it, and the block
 * keeps its allocator alive. No stream was recorded. False: take the slow path. */
static inline bool cx_fast_path_free(uint32_t index, cx_cache_block *cached)
{
    cx_cache *cache = cx_cache_of(index);
    cx_allocator *allocator = cache->allocator;
    if (!cx_fast_path_is_open() || !cx_fast_path_suits(allocator) ||
        atomic_load_explicit(&cache->pinned, memory_order_relaxed))
        return false;
    size_t size_bytes = cx_cache_block_size(cached);
    cx_section_enter();
    cx_cache_stream *stream = cx_cache_stream_at(cache, cached->node.owner);
    cx_lock_enter(&stream->lock);
    bool freed = cx_fast_path_is_there(cache) && !cx_cache_block_is_gone(cached) &&
                 !stream->closed && cx_fast_path_is_plain(stream);
    if (__builtin_expect(freed, 1))
        cx_cache_put_at_hand(cache, stream, index);
    cx_lock_leave(&stream->lock);
    if (freed)
        cx_counters_freed(&allocator->figures, size_bytes);
    cx_section_leave();
    return freed;
}

#endif
