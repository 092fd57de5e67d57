#include "memory/pinned.h"

#include "base/error.h"
#include "memory/cache.h"
#include "memory/across.h"

#include <sched.h>

static void give(cx_cache *cache, uint32_t index)
{
    pthread_mutex_lock(&cache->lock);
    cx_cache_give(cache, index);
    pthread_mutex_unlock(&cache->lock);
}

static ctxrt_status alloc(cx_allocator *allocator, const cx_allocation *request, cx_block *block)
{
    uint32_t index;
    cx_cache *cache = allocator->pinned;
    ctxrt_status status = cx_cache_serve(cache, 0, request->size_bytes, &index);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_piece *piece = cx_piece_at(index);
    cx_piece_head *head = cx_piece_head_at(index);
    const cx_piece_start start = {.size_bytes = request->size_bytes,
                                  .slack = piece->node.units - cx_fit_units(request->size_bytes),
                                  .generation = cx_piece_generation(head) + 1};
    cx_piece_begin(head, &start);
    block->pointer = atomic_load_explicit(&piece->pointer, memory_order_relaxed);
    block->piece = index;
    return CTXRT_SUCCESS;
}

static void end_piece(uint32_t index)
{
    cx_piece_head *head = cx_piece_head_at(index);
    cx_piece_end(head, cx_piece_generation(head));
}

static ctxrt_status free_block(cx_allocator *allocator, const cx_block *block)
{
    bool parked;
    end_piece(block->piece);
    ctxrt_status status = cx_cache_park(allocator->pinned, block->piece, &parked);
    if (!parked)
        give(allocator->pinned, block->piece);
    return status;
}

/* A call that has found it by its address has a count of it while it submits work. */
ctxrt_status cx_pinned_wait(const cx_block *block)
{
    const cx_piece_head *head = cx_piece_head_at(block->piece);
    while ((atomic_load(&head->state) & CX_PIECE_COUNT_MAX) > 1)
        sched_yield();
    return cx_use_finish(&cx_piece_at(block->piece)->uses);
}

ctxrt_status cx_pinned_forget(const cx_block *block)
{
    end_piece(block->piece);
    return cx_use_finish(&cx_piece_at(block->piece)->uses);
}

static uint64_t trim(cx_allocator *allocator)
{
    return cx_cache_trim(allocator->pinned) + cx_across_trim(allocator->context);
}

const cx_allocator_kind cx_pinned_allocator = {.alloc = alloc, .free = free_block, .trim = trim};
