/*
 * The memory of a cache that maps it: one range of addresses for each epoch of the context.
 *
 * Mapping, unmapping and sharing hold the lock "range", also across driver calls: they change one
 * table of chunks, and drivers serialise these calls anyway. Other threads do not wait for it:
 * mapped memory is taken and given back under "cache" alone.
 */
#include "base/error.h"
#include "memory/cache.h"
#include "memory/mapped_heap.h"
#include "work/relaxed_capture.h"

/* The range is this many times as large as the device's memory: addresses cost nothing. */
#define ADDRESSES 4
/* A GiB less than the limit of a segment, since the range has whole chunks. */
#define UNITS_MAX ((uint64_t)UINT32_MAX + 1 - ((1u << 30) >> CX_FIT_UNIT_BITS))
/* The most chunks of a device's memory, roughly: it limits the number of driver calls. */
#define CHUNKS 8192

/* ---- the range ---- */

static ctxrt_status not_mapped(const cx_cache *cache, cxu_result result)
{
    return cx_driver_error(cache->context->driver, CX_SLOT_mem_address_reserve, result);
}

ctxrt_status cx_cache_check_mapping(const cx_context *context)
{
    cxu_result result = context->device != NULL
                            ? cx_mapped_range_check(context->driver, context->device->native, NULL)
                            : CXU_NOT_SUPPORTED;
    if (result == CXU_NOT_SUPPORTED)
        return cx_error_driver_call(
            CTXRT_ERROR_NOT_SUPPORTED, cx_symbols[CX_SLOT_mem_create].symbol, (int)result,
            cx_result_name(result),
            "%s has no virtual memory: an allocator there cannot map its segments",
            cx_context_text(context));
    return result == CXU_SUCCESS
               ? CTXRT_SUCCESS
               : cx_driver_error(context->driver, CX_SLOT_mem_get_allocation_granularity, result);
}

/* Lock "range" held. Adds the peers before anything is mapped: no driver call. */
static void share_with_peers(const cx_cache *cache, cx_mapped_range *range)
{
    for (int device = 0; device < CX_CONTEXT_PEERS; device++)
        if (atomic_load(&cache->context->reached_by[device]) > 0)
            (void)cx_mapped_range_share(range, device);
}

static ctxrt_status open_range(cx_cache *cache)
{
    const cx_context *context = cache->context;
    size_t free_bytes, total_bytes;
    ctxrt_status status =
        CX_DRIVER_CALL(context->driver, mem_get_info, (&free_bytes, &total_bytes));
    if (status != CTXRT_SUCCESS)
        return status;
    uint64_t units = ADDRESSES * (uint64_t)total_bytes >> CX_FIT_UNIT_BITS;
    cxu_result result = cx_mapped_range_open(
        &cache->range, context->driver, context->device->native,
        (size_t)(units < UNITS_MAX ? units : UNITS_MAX) << CX_FIT_UNIT_BITS, total_bytes / CHUNKS);
    if (result != CXU_SUCCESS)
        return not_mapped(cache, result);
    status = cx_cache_enter_range(cache, cache->range.address, cache->range.bytes);
    if (status != CTXRT_SUCCESS) {
        cx_mapped_range_close(&cache->range);
        return status;
    }
    share_with_peers(cache, &cache->range);
    cx_lock_enter(&cache->lock);
    cache->has_range = cx_mapped_heap_add(&cache->heap, &cache->range);
    cx_lock_leave(&cache->lock);
    if (cache->has_range)
        return CTXRT_SUCCESS;
    cx_cache_leave_range(cache, cache->range.address);
    cx_mapped_range_close(&cache->range);
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to remember the range of %s",
                    cx_context_text(context));
}

void cx_cache_close_range(cx_cache *cache)
{
    cx_cache_leave_range(cache, cache->range.address);
    cx_mapped_range_close(&cache->range);
}

/* ---- placing ---- */

uint32_t cx_cache_place_locked(cx_cache *cache, uint32_t owner, uint32_t units, bool *out_lacks)
{
    cx_mapped_place place;
    *out_lacks = false;
    if (!cache->has_range || units <= CX_HEAP_SMALL_UNITS ||
        !atomic_load_explicit(&cache->dense, memory_order_relaxed) ||
        !cx_mapped_heap_find(&cache->heap, &cache->range, owner, units, true, &place))
        return 0;
    if (cx_mapped_place_lacks(&cache->range, &place) == 0)
        return cx_mapped_heap_settle(&cache->heap, &place, owner);
    cx_mapped_heap_give_up(&cache->heap, &place);
    *out_lacks = true;
    return 0;
}

static bool find_place(cx_cache *cache, uint32_t owner, uint32_t units, cx_mapped_place *out_place)
{
    bool densely = atomic_load(&cache->dense) && units > CX_HEAP_SMALL_UNITS;
    cx_lock_enter(&cache->lock);
    bool found =
        (densely && cx_mapped_heap_find(&cache->heap, &cache->range, owner, units, true,
                                        out_place)) ||
        cx_mapped_heap_find(&cache->heap, &cache->range, owner, units, false, out_place);
    if (found)
        cx_cache_stream_at(cache, owner)->taken++;
    cx_lock_leave(&cache->lock);
    return found;
}

static void give_up(cx_cache *cache, const cx_mapped_place *place, uint32_t owner)
{
    cx_lock_enter(&cache->lock);
    cx_cache_stream_at(cache, owner)->taken--;
    cx_mapped_heap_give_up(&cache->heap, place);
    cx_lock_leave(&cache->lock);
}

/* Frees mapped memory beyond the block; the block may be of a span, or a part. 0: no memory for a
 * node. */
static uint32_t settle_place(cx_cache *cache, const cx_mapped_place *place, uint32_t owner,
                             uint32_t units)
{
    cx_heap *heap = &cache->heap;
    cx_lock_enter(&cache->lock);
    cx_cache_stream_at(cache, owner)->taken--;
    uint32_t index = cx_mapped_heap_settle(heap, place, owner);
    if (index != 0 && units != place->units) {
        cx_heap_give(heap, index);
        index = cx_heap_take(heap, owner, units);
    }
    if (index != 0)
        index = cx_cache_name_block(cache, index);
    cx_lock_leave(&cache->lock);
    return index;
}

/* ---- moving ---- */

/* Unmaps unused chunks, up to `wanted_bytes` of them. Lock "range" held. */
static uint64_t unmap_spare(cx_cache *cache, uint64_t wanted_bytes)
{
    cx_mapped_place place;
    uint64_t bytes = 0;
    while (bytes < wanted_bytes) {
        cx_lock_enter(&cache->lock);
        bool found = cx_mapped_heap_find_spare(&cache->heap, &cache->range,
                                               wanted_bytes - bytes, &place);
        cx_lock_leave(&cache->lock);
        if (!found)
            break;
        cx_mapped_place_unmap(&cache->range, &place);
        cx_lock_enter(&cache->lock);
        cx_mapped_heap_remove(&cache->heap, &place);
        cx_lock_leave(&cache->lock);
        bytes += (uint64_t)place.units << CX_FIT_UNIT_BITS;
    }
    return bytes;
}

/* Asks for the device's free memory now and then, and otherwise derives it from the mappings
 * since. */
static void look_at_device(cx_cache *cache)
{
    size_t free_bytes, total_bytes;
    if (cache->context->driver->table.mem_get_info(&free_bytes, &total_bytes) != CXU_SUCCESS)
        return;
    cache->left_bytes = cache->left_at_look = free_bytes;
    atomic_store(&cache->dense, free_bytes <= total_bytes / 2);
    cx_cache_set_shortage(cache,
                          free_bytes <= total_bytes / 2 ? CX_SHORTAGE_HERE : CX_SHORTAGE_NONE);
}

static void know_device(cx_cache *cache, uint64_t needed_bytes)
{
    if (cache->left_bytes < needed_bytes ||
        cache->left_at_look - cache->left_bytes > cache->left_at_look / 16)
        look_at_device(cache);
}

static void count_mapped(cx_cache *cache, size_t before_bytes)
{
    const cx_mapped_range *range = &cache->range;
    if (range->mapped_bytes >= before_bytes)
        cx_cache_count_reserved(cache, range->mapped_bytes - before_bytes);
    else
        atomic_fetch_sub(&cache->reserved_bytes, before_bytes - range->mapped_bytes);
    cx_lock_enter(&cache->lock);
    cx_cache_note_mapped(cache, range->mapped_bytes);
    cx_lock_leave(&cache->lock);
    uint64_t left = cache->left_bytes + before_bytes;
    cache->left_bytes = left > range->mapped_bytes ? left - range->mapped_bytes : 0;
}

/* Maps a place: with memory of the device while it has any, and then with memory that is free
 * elsewhere in the range. */
static cxu_result map_place(cx_cache *cache, const cx_mapped_place *place)
{
    cx_mapped_range *range = &cache->range;
    cxu_result result = CXU_OUT_OF_MEMORY;
    size_t lacking = cx_mapped_place_lacks(range, place);
    uint64_t moved = 1;
    for (int round = 0; result == CXU_OUT_OF_MEMORY && round < 2 && moved != 0; round++) {
        if (round > 0)
            look_at_device(cache);
        if (cache->left_bytes < lacking)
            moved = unmap_spare(cache, lacking - cache->left_bytes);
        if (cache->left_bytes + moved >= lacking)
            result = cx_mapped_place_map(range, place);
    }
    (void)cx_mapped_range_settle(range);
    return result;
}

/* ---- growing ---- */

/* The size that is mapped at once, in units: from the allocator's options while there is enough
 * memory. */
static uint64_t units_ahead(const cx_cache *cache, uint32_t least)
{
    const uint64_t bytes = cache->allocator->options.segment_bytes;
    const uint64_t units = bytes >> CX_FIT_UNIT_BITS;
    return units > least && units <= UINT32_MAX && bytes < cache->left_bytes ? units : least;
}

static cxu_result map_units(cx_cache *cache, uint32_t owner, uint32_t needed, uint32_t units,
                            uint32_t *out_cached)
{
    cx_mapped_place place;
    size_t before_bytes = cache->range.mapped_bytes;
    if (!find_place(cache, owner, needed, &place))
        return CXU_OUT_OF_MEMORY;
    cxu_result result = map_place(cache, &place);
    count_mapped(cache, before_bytes);
    if (result != CXU_SUCCESS) {
        give_up(cache, &place, owner);
        return result;
    }
    *out_cached = settle_place(cache, &place, owner, units);
    return CXU_SUCCESS;
}

/* The place with the fewest chunks may lack memory where another place has it. */
static bool take_what_there_is(cx_cache *cache, uint32_t owner, uint32_t units,
                               uint32_t *out_cached)
{
    cx_lock_enter(&cache->lock);
    *out_cached = cx_heap_take(&cache->heap, owner, units);
    if (*out_cached != 0)
        *out_cached = cx_cache_name_block(cache, *out_cached);
    cx_lock_leave(&cache->lock);
    return *out_cached != 0;
}

static ctxrt_status map_cached(cx_cache *cache, uint32_t owner, uint32_t units,
                               uint32_t *out_cached)
{
    uint32_t least = units > CX_HEAP_SMALL_UNITS ? units : CX_HEAP_SPAN_UNITS;
    know_device(cache, (uint64_t)least << CX_FIT_UNIT_BITS);
    uint64_t wanted = units_ahead(cache, least);
    cxu_result result = CXU_OUT_OF_MEMORY;
    if (wanted > least)
        result = map_units(cache, owner, (uint32_t)wanted, units, out_cached);
    if (result == CXU_OUT_OF_MEMORY)
        result = map_units(cache, owner, least, units, out_cached);
    if (result == CXU_OUT_OF_MEMORY && take_what_there_is(cache, owner, units, out_cached))
        return CTXRT_SUCCESS;
    return result == CXU_SUCCESS
               ? CTXRT_SUCCESS
               : cx_driver_error(cache->context->driver, CX_SLOT_mem_create, result);
}

static ctxrt_status map(cx_cache *cache, uint32_t owner, uint32_t units, uint32_t *out_cached)
{
    cx_lock_enter(&cache->range_lock);
    ctxrt_status status = cache->has_range ? CTXRT_SUCCESS : open_range(cache);
    if (status == CTXRT_SUCCESS)
        status = map_cached(cache, owner, units, out_cached);
    cx_lock_leave(&cache->range_lock);
    return status;
}

/* If nothing is left to map, and unowned free memory does not suffice, streams whose work is done
 * give up theirs. */
ctxrt_status cx_cache_map(cx_cache *cache, uint32_t owner, uint32_t units, uint32_t *out_cached)
{
    ctxrt_status status = map(cache, owner, units, out_cached);
    if (status == CTXRT_ERROR_OUT_OF_MEMORY && cx_cache_reclaim(cache, 0, CX_RECLAIM_ALL))
        status = map(cache, owner, units, out_cached);
    return status;
}

uint64_t cx_cache_unmap(cx_cache *cache, uint64_t wanted_bytes)
{
    uint64_t bytes = 0;
    cx_lock_enter(&cache->range_lock);
    if (cache->has_range) {
        size_t before_bytes = cache->range.mapped_bytes;
        bytes = unmap_spare(cache, wanted_bytes);
        (void)cx_mapped_range_settle(&cache->range);
        count_mapped(cache, before_bytes);
    }
    cx_lock_leave(&cache->range_lock);
    return bytes;
}

/* ---- peers ---- */

static cxu_result share_range(cx_cache *cache, CUdevice device, bool reaches)
{
    cxu_result result = CXU_SUCCESS;
    cx_lock_enter(&cache->range_lock);
    cx_mapped_range *range = &cache->range;
    if (cache->has_range)
        result = reaches ? cx_mapped_range_share(range, device)
                         : cx_mapped_range_withdraw(range, device);
    cx_lock_leave(&cache->range_lock);
    return result;
}

cxu_result cx_caches_share(const cx_context *context, CUdevice device, bool reaches)
{
    cxu_result first_error = CXU_SUCCESS;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(context->driver);
    for (cx_cache *cache = cx_caches_next(NULL); cache != NULL; cache = cx_caches_next(cache)) {
        if (cache->context != context || !cache->mapped)
            continue;
        cxu_result result = share_range(cache, device, reaches);
        if (first_error == CXU_SUCCESS)
            first_error = result;
    }
    cx_relaxed_capture_end(&relaxed);
    return first_error;
}
