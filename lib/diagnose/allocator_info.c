/* Descriptions of allocators. */
#include "base/error.h"
#include "memory/cache.h"
#include "diagnose/watch.h"

#include <string.h>

/* While other threads go on, each figure is exact by itself. */
static void describe_cache(cx_cache *cache, ctxrt_allocator_info *info)
{
    cx_lock_enter(&cache->lock);
    info->allocated = cache->amounts.allocated;
    info->reserved = cache->amounts.reserved;
    info->inactive = cache->amounts.inactive;
    info->inactive.current_count = cx_heap_free_count(&cache->heap);
    cx_lock_leave(&cache->lock);
    uint64_t unserved = atomic_load(&cache->misses_unserved);
    info->misses = atomic_load(&cache->misses);
    info->retries = atomic_load(&cache->retries);
    info->out_of_memory = atomic_load(&cache->refusals);
    info->hits = info->requested.total_count - (info->misses - unserved);
}

static void take_requested(const ctxrt_allocator_figures *figures, ctxrt_allocator_info *info)
{
    info->requested = (ctxrt_allocator_amount){
        .current_bytes = figures->current_bytes,
        .peak_bytes = figures->peak_bytes,
        .total_bytes = figures->total_bytes,
        .current_count = figures->current_count,
        .peak_count = figures->peak_count,
        .total_count = figures->total_count,
    };
    info->failures = figures->failures;
    info->limit_bytes = figures->limit_bytes;
}

/* Each served request counts as a segment. */
static void describe_direct(const cx_allocator *beneath, ctxrt_allocator_info *info)
{
    ctxrt_allocator_figures figures;
    ctxrt_allocator_info inner;
    cx_counters_read(&beneath->figures, &figures);
    take_requested(&figures, &inner);
    info->allocated = info->reserved = inner.requested;
    info->misses = inner.requested.total_count;
}

static void describe_allocator(cx_allocator *allocator, ctxrt_allocator_info *info)
{
    ctxrt_allocator_figures figures;
    const cx_guard *guard = cx_guard_of(allocator);
    info->context = cx_context_handle(allocator->context);
    info->device = cx_block_device(allocator->context);
    cx_counters_read(&allocator->figures, &figures);
    take_requested(&figures, info);
    if (allocator->cache != NULL)
        describe_cache(allocator->cache, info);
    else if (allocator->pinned != NULL)
        describe_cache(allocator->pinned, info);
    else if (guard != NULL && cx_guard_cache(guard) != NULL)
        describe_cache(cx_guard_cache(guard), info);
    else if (allocator->kind == &cx_direct_allocator)
        describe_direct(guard != NULL ? &guard->inner : allocator, info);
    else
        info->allocated = info->requested;
}

/* The size of the first version; later ones append fields. */
#define LEAST_SIZE sizeof(ctxrt_allocator_info)

ctxrt_status ctxrt_allocator_describe(ctxrt_allocator *handle, ctxrt_allocator_info *info)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_describe: info is NULL");
    if (info->struct_size < LEAST_SIZE)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_describe: struct_size is %zu, and at least %zu: start "
                        "from CTXRT_ALLOCATOR_INFO_INIT",
                        info->struct_size, LEAST_SIZE);
    status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    ctxrt_allocator_info found = {.struct_size = info->struct_size};
    if (found.struct_size > sizeof found)
        found.struct_size = sizeof found;
    describe_allocator(allocator, &found);
    memcpy(info, &found, found.struct_size);
    return CTXRT_SUCCESS;
}
