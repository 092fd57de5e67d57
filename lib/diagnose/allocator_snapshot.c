/* An allocator's segments and blocks, written out while threads go on. */
#include "diagnose/allocator_snapshot.h"

#include "diagnose/origin.h"
#include "diagnose/watch.h"
#include "memory/cache.h"
#include "memory/mapped_heap.h"
#include "memory/memory.h"
#include "memory/address_index.h"
#include <stdlib.h>

/* ---- taking ---- */

/* Makes room for one more item in the array; NULL: out of memory. It grows when its count is a
 * power of two. */
static void *grow_array(void *items, size_t count, size_t item_bytes)
{
    return (count & (count - 1)) == 0 ? realloc(items, (count != 0 ? 2 * count : 1) * item_bytes)
                                      : items;
}

static void add_segment(cx_allocator_shot *shot, uintptr_t address, uint64_t bytes)
{
    cx_segment_shot *grown = grow_array(shot->segments, shot->segment_count, sizeof *grown);
    shot->out_of_memory = shot->out_of_memory || grown == NULL;
    if (grown == NULL)
        return;
    shot->segments = grown;
    grown[shot->segment_count++] = (cx_segment_shot){.address = address, .bytes = bytes};
}

static void add_block(cx_allocator_shot *shot, const cx_block_shot *block)
{
    cx_block_shot *grown = grow_array(shot->blocks, shot->block_count, sizeof *grown);
    shot->out_of_memory = shot->out_of_memory || grown == NULL;
    if (grown == NULL)
        return;
    shot->blocks = grown;
    grown[shot->block_count++] = *block;
}

/* ---- the segments and blocks of a cache ---- */

/* A taken block that no user has is in a magazine. */
static void take_cached(uint32_t index, uintptr_t address, void *shot)
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
    add_block(shot, &block);
}

static void take_mapped(uintptr_t address, uint64_t bytes, void *shot)
{
    add_segment(shot, address, bytes);
}

static void take_cache(cx_cache *cache, cx_allocator_shot *shot)
{
    const cx_heap *heap = &cache->heap;
    cx_lock_enter(&cache->lock);
    if (cache->has_range)
        cx_mapped_heap_each(heap, take_mapped, shot);
    for (uint32_t i = 0; !cache->has_range && i < heap->segment_count; i++)
        if (heap->segments[i].address != 0)
            add_segment(shot, heap->segments[i].address,
                        (uint64_t)heap->segments[i].units << CX_FIT_UNIT_BITS);
    cx_heap_each_block(heap, take_cached, shot);
    cx_lock_leave(&cache->lock);
}

/* ---- allocators ---- */

typedef struct taking {
    const cx_allocator *allocator;
    cx_allocator_shot *shot;
} taking;

/* Each block is its own segment. */
static void take_block(const taking *take, const cx_block *block)
{
    const cx_block_shot shot = {.address = (uintptr_t)block->pointer,
                                .bytes = block->size_bytes,
                                .asked_bytes = block->size_bytes,
                                .state = CX_BLOCK_LIVE};
    if (block->allocator != take->allocator)
        return;
    add_block(take->shot, &shot);
    add_segment(take->shot, shot.address, shot.bytes);
}

static bool take_memory(void *object, void *argument)
{
    const cx_memory *memory = object;
    if (memory->kind == CTXRT_MEMORY_DEVICE)
        take_block(argument, &memory->block);
    return true;
}

static void take_record(const cx_pointer_record *record, void *argument)
{
    if (record->kind == CX_POINTER_DEVICE)
        take_block(argument, &record->block);
}

static int by_address(const void *left, const void *right)
{
    uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
    return (a > b) - (a < b);
}

_Static_assert(offsetof(cx_block_shot, address) == 0 && offsetof(cx_segment_shot, address) == 0,
               "both are sorted by what they begin with");

static void add_free(cx_allocator_shot *shot, uintptr_t begin, uintptr_t end)
{
    if (begin < end)
        add_block(
            shot, &(cx_block_shot){.address = begin, .bytes = end - begin, .state = CX_BLOCK_FREE});
}

/* Memory outside of all blocks is free. A block that the snapshot found twice, at two moments,
 * counts once. */
static void fill_gaps(cx_allocator_shot *shot)
{
    const size_t taken = shot->block_count;
    size_t next = 0;
    for (size_t i = 0; i < shot->segment_count; i++) {
        const cx_segment_shot segment = shot->segments[i];
        uintptr_t here = segment.address, end = segment.address + segment.bytes;
        for (; next < taken && shot->blocks[next].address < end; next++) {
            const cx_block_shot block = shot->blocks[next];
            add_free(shot, here, block.address);
            if (block.address + block.bytes > here)
                here = block.address + block.bytes;
        }
        add_free(shot, here, end);
    }
}

static void sort_shot(cx_allocator_shot *shot)
{
    if (shot->segment_count != 0)
        qsort(shot->segments, shot->segment_count, sizeof *shot->segments, by_address);
    if (shot->block_count != 0)
        qsort(shot->blocks, shot->block_count, sizeof *shot->blocks, by_address);
}

static cx_block_shot *find_block(const cx_allocator_shot *shot, const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    return shot->block_count != 0 ? bsearch(&address, shot->blocks, shot->block_count,
                                            sizeof *shot->blocks, by_address)
                                  : NULL;
}

/* The latest allocation at an address is the block's. */
static void take_places(const cx_trace *trace, cx_allocator_shot *shot)
{
    size_t count;
    cx_trace_operation *operations = cx_trace_take(trace, &count);
    for (size_t i = 0; operations != NULL && i < count; i++) {
        cx_block_shot *block = find_block(shot, operations[i].pointer);
        if (block != NULL && block->state == CX_BLOCK_LIVE && !cx_origin_is_one(block->place))
            block->place = operations[i].is_free ? NULL : operations[i].place;
    }
    free(operations);
}

static const char *kind_of(const cx_allocator *allocator)
{
    if (allocator->vtable.alloc != NULL)
        return "custom";
    if (allocator->pinned != NULL)
        return "pinned";
    if (allocator->kind == &cx_direct_allocator)
        return "direct";
    return allocator->is_default ? "default" : "created";
}

/* A guard knows the state of a block, and the place of its allocation. */
static void take_guarded(cx_guard *guard, cx_allocator_shot *shot)
{
    cx_cache *cache = cx_guard_cache(guard);
    uint32_t epoch = cache->epoch;
    take_cache(cache, shot);
    for (size_t i = 0; i < shot->block_count; i++) {
        cx_guarded cached;
        cx_block_shot *block = &shot->blocks[i];
        if (block->state != CX_BLOCK_LIVE)
            continue;
        bool live = cx_guard_find(guard, (const void *)block->address, epoch, &cached);
        block->state = live ? CX_BLOCK_LIVE : CX_BLOCK_QUARANTINED;
        block->asked_bytes = live ? cached.size_bytes : 0;
        block->place = live ? cached.place : NULL;
    }
}

void cx_allocator_shot_take(cx_allocator *allocator, cx_allocator_shot *shot)
{
    taking take = {allocator, shot};
    cx_guard *guard = cx_guard_of(allocator);
    shot->kind = kind_of(allocator);
    shot->context = cx_context_text(allocator->context);
    shot->device = cx_block_device(allocator->context);
    cx_counters_read(&allocator->figures, &shot->figures);
    if (allocator->cache != NULL) {
        take_cache(allocator->cache, shot);
    } else if (guard != NULL && cx_guard_cache(guard) != NULL) {
        take_guarded(guard, shot);
    } else if (allocator->pinned != NULL) {
        take_cache(allocator->pinned, shot);
    } else {
        cx_pool_each_held(&cx_memories, take_memory, &take);
        cx_pointers_each_record(take_record, &take);
    }
    sort_shot(shot);
    fill_gaps(shot);
    sort_shot(shot);
    take_places(&allocator->watch->trace, shot);
}

void cx_allocator_shot_drop(cx_allocator_shot *shot)
{
    free(shot->segments);
    free(shot->blocks);
}
