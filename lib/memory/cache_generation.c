#include "memory/cache.h"
#include "memory/pointer_table.h"

#include <stdlib.h>
#include <string.h>

/* Closed generations, to be used again; lock "thread caches". */
static cx_cache_generation *spare;

static cx_cache_generation *take_spare(void)
{
    cx_caches_lock();
    cx_cache_generation *generation = spare;
    if (generation != NULL)
        spare = generation->past;
    cx_caches_unlock();
    return generation != NULL ? generation : calloc(1, sizeof *generation);
}

static void keep_spare(cx_cache_generation *generation)
{
    cx_caches_lock();
    generation->past = spare;
    spare = generation;
    cx_caches_unlock();
}

cx_cache_generation *cx_cache_generation_open(cx_cache *cache)
{
    cx_cache_generation *generation = take_spare();
    if (generation == NULL)
        return NULL;
    generation->cache = cache;
    atomic_store(&generation->context, cache->context);
    atomic_store(&generation->pinned, cache->pinned);
    atomic_store(&generation->epoch, cx_context_next_epoch(cache->context));
    generation->has_range = generation->is_past = false;
    generation->past = NULL;
    generation->left = 1;
    cx_heap_open(&generation->heap, &cx_cache_blocks, generation);
    return generation;
}

static void leave_table(uint32_t index, uintptr_t address, void *argument)
{
    (void)address, (void)argument;
    cx_pointers_retire(index);
}

void cx_cache_generation_leave_table(const cx_cache_generation *generation)
{
    cx_heap_each_block(&generation->heap, leave_table, NULL);
}

/* The reset that ended an epoch took its segments out of the ranges. */
static void leave_ranges(const cx_cache_generation *generation)
{
    if (generation->is_past)
        return;
    const cx_heap *heap = &generation->heap;
    for (uint32_t i = 0; i < heap->segment_count; i++)
        if (heap->segments[i].address != 0)
            cx_cache_generation_leave_range(generation, heap->segments[i].address);
}

void cx_cache_generation_close(cx_cache_generation *generation)
{
    cx_cache_generation_leave_table(generation);
    leave_ranges(generation);
    cx_cache_generation_close_range(generation);
    cx_heap_close(&generation->heap);
    keep_spare(generation);
}
