#include "memory/pinned.h"

#include "base/error.h"
#include "memory/cache.h"
#include "memory/cross_driver_copies.h"
#include "work/work.h"

/* The context is pinned. */
static ctxrt_status alloc_pinned(cx_cache *cache, const cx_allocation *request, cx_block *block)
{
    uint32_t index;
    ctxrt_status status = cx_cache_serve(cache, 0, request->size_bytes, &index);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_cache_block *cached = cx_cache_block_at(index);
    cx_cache_block_begin(cached, request->size_bytes, cx_cache_block_generation(cached) + 1, 0);
    block->pointer = atomic_load_explicit(&cached->pointer, memory_order_relaxed);
    block->cached = index;
    return CTXRT_SUCCESS;
}

static ctxrt_status alloc_pinned_block(cx_allocator *allocator, const cx_allocation *request,
                                       cx_block *block)
{
    cx_context *context = allocator->context;
    if (!cx_block_enter(context, request->epoch))
        return cx_block_overtaken(context);
    cx_cache_sync_epoch(allocator->pinned);
    int cancel = cx_work_begin_wait(context);
    ctxrt_status status = alloc_pinned(allocator->pinned, request, block);
    cx_work_end_wait(context, cancel);
    return status;
}

static ctxrt_status free_block(cx_allocator *allocator, const cx_block *block)
{
    return cx_cache_free(allocator->pinned, block->cached);
}

static bool has_one_count(const void *cached)
{
    return (atomic_load(&((const cx_cache_block *)cached)->state) & CX_CACHE_BLOCK_COUNT_MAX) <= 1;
}

/* A call that has found the block by its address has a count of it while it submits work. */
ctxrt_status cx_pinned_wait(const cx_block *block)
{
    cx_eventcount_wait(&cx_cache_block_counts, has_one_count, cx_cache_block_at(block->cached));
    return cx_stream_uses_finish(&cx_cache_block_at(block->cached)->uses);
}

static uint64_t trim_pinned(cx_allocator *allocator)
{
    return cx_cache_trim(allocator->pinned) + cx_cross_copies_trim(allocator->context);
}

const cx_allocator_kind cx_pinned_allocator = {
    .alloc = alloc_pinned_block, .free = free_block, .forget = free_block, .trim = trim_pinned};
