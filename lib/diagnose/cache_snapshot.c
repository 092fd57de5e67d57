/* The segments and blocks of a caching allocator, for its snapshot. */
#include "diagnose/allocator_snapshot.h"
#include "memory/cache.h"
#include "memory/mapped_heap.h"
#include "diagnose/origin.h"

/* A taken block that no user has is in a magazine. */
static void add_block(uint32_t index, uintptr_t address, void *shot)
{
    const cx_cache_block *cached = cx_cache_block_at(index);
    bool live = cx_cache_block_is_live(cached);
    const cx_block_shot block = {
        .address = address,
        .bytes = (uint64_t)cached->node.units << CX_FIT_UNIT_BITS,
        .asked_bytes = live ? cx_cache_block_size(cached) : 0,
        .state = live ? CX_BLOCK_LIVE : CX_BLOCK_CACHED,
        .place = live ? cx_origin_of(index) : NULL,
    };
    cx_shot_add_block(shot, &block);
}

static void add_mapped(uintptr_t address, uint64_t bytes, void *shot)
{
    cx_shot_add_segment(shot, address, bytes);
}

static void add_segments(const cx_heap *heap, cx_allocator_shot *shot)
{
    for (uint32_t i = 0; i < heap->segment_count; i++)
        if (heap->segments[i].address != 0)
            cx_shot_add_segment(shot, heap->segments[i].address,
                                (uint64_t)heap->segments[i].units << CX_FIT_UNIT_BITS);
}

void cx_cache_shot(cx_cache *cache, cx_allocator_shot *shot)
{
    cx_lock_enter(&cache->lock);
    if (cache->has_range)
        cx_mapped_heap_each(&cache->heap, add_mapped, shot);
    else
        add_segments(&cache->heap, shot);
    cx_heap_each_block(&cache->heap, add_block, shot);
    cx_lock_leave(&cache->lock);
}
