/* The kind of allocator that has a cache. */
#include "memory/cache.h"

static ctxrt_status alloc_cached(cx_allocator *allocator, const cx_allocation *request,
                                 cx_block *block)
{
    return cx_cache_alloc(allocator->cache, request, block);
}

static ctxrt_status free_block(cx_allocator *allocator, const cx_block *block)
{
    return cx_cache_free(allocator->cache, block->cached);
}

static uint64_t trim_cached(cx_allocator *allocator)
{
    return cx_cache_trim(allocator->cache);
}

static void destroy_cached(cx_allocator *allocator)
{
    cx_cache_close(allocator->cache, true);
}

const cx_allocator_kind cx_caching_allocator = {
    .alloc = alloc_cached, .free = free_block, .trim = trim_cached, .destroy = destroy_cached};
