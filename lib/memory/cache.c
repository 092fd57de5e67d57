#include "memory/cache.h"

#include "base/error.h"
#include "memory/pointer_table.h"
#include "memory/ranges.h"
#include "work/relaxed_capture.h"
#include "work/work.h"

#include <stdlib.h>

/* ---- making and destroying ---- */

static void close_generations(cx_cache_generation *generation)
{
    while (generation != NULL) {
        cx_cache_generation *past = generation->past;
        cx_cache_generation_close(generation);
        generation = past;
    }
}

static bool open_parts(cx_cache *cache)
{
    cache->generation = cx_cache_generation_open(cache);
    cache->spare = cx_cache_generation_open(cache);
    return cx_cache_open_streams(cache) && cache->generation != NULL && cache->spare != NULL;
}

static void close_parts(cx_cache *cache)
{
    close_generations(cache->generation);
    close_generations(cache->spare);
    cx_cache_free_streams(cache);
    free(cache);
}

ctxrt_status cx_cache_open(cx_allocator *allocator, cx_cache **out_cache)
{
    cx_cache *cache = calloc(1, sizeof *cache);
    if (cache != NULL) {
        cache->allocator = allocator;
        cache->context = allocator->context;
        cache->pinned = allocator->kind == &cx_pinned_allocator;
        if (!open_parts(cache)) {
            close_parts(cache);
            cache = NULL;
        }
    }
    if (cache == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an allocator of %s",
                        cx_context_text(allocator->context));
    cache->mapped = allocator->options.source == CTXRT_ALLOCATOR_SOURCE_VMM;
    cache->host_accessible =
        cache->context->device != NULL && cache->context->device->host_accessible;
    cx_cache_set_keep(cache);
    cx_lock_init(&cache->lock, CX_RANK_CACHE);
    cx_lock_init(&cache->range_lock, CX_RANK_RANGE);
    pthread_cond_init(&cache->answered, NULL);
    cx_cache_enlist(cache);
    *out_cache = cache;
    return CTXRT_SUCCESS;
}

static void free_segments(cx_cache *cache)
{
    uintptr_t address;
    while (cx_heap_remove_any(&cache->generation->heap, &address) != 0)
        cx_cache_free_segment(cache, address);
}

void cx_cache_close(cx_cache *cache, bool native)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(cache->context->driver);
    cx_cache_drop_deferred(cache);
    native = native && cx_context_holds_what_is_of(cache->context, cache->generation->epoch);
    /* cuMemUnmap waits for no kernel, as cuMemFree does. The cache is still found: a stream that
     * ends meanwhile closes in it, and leaves an event to wait for. */
    if (native && cache->mapped)
        cx_cache_await_streams(cache);
    cx_cache_detach_threads(cache);
    if (native && !cache->mapped)
        free_segments(cache);
    cx_cache_drop_streams(cache, native);
    cx_lock_destroy(&cache->lock);
    cx_lock_destroy(&cache->range_lock);
    pthread_cond_destroy(&cache->answered);
    /* Unmaps memory, which belongs to no context. */
    close_parts(cache);
    cx_relaxed_capture_end(&relaxed);
}

/* Thread caches drop their blocks themselves, once their threads see the new epoch. */
static void forget_memory(cx_cache *cache, cx_cache_generation *next)
{
    cx_cache_generation *ended = cache->generation;
    cx_cache_drop_deferred(cache);
    cx_caches_lock();
    cx_lock_enter(&cache->range_lock);
    cx_cache_make_past(cache, next);
    cx_caches_unlock();
    cx_lock_enter(&cache->lock);
    cx_cache_generation_leave_table(ended);
    cx_amount_set(&cache->amounts.allocated, 0, 0);
    cx_amount_set(&cache->amounts.reserved, 0, 0);
    cx_amount_set(&cache->amounts.inactive, 0, 0);
    cache->withheld = 0;
    cx_lock_leave(&cache->lock);
    /* A driver does not unmap it on a reset: mapped memory belongs to no context. */
    cx_cache_generation_close_range(ended);
    cache->left_bytes = cache->left_at_look = 0;
    cx_lock_leave(&cache->range_lock);
    if (cx_cache_generation_let_go(cache, ended, NULL))
        cx_cache_generation_close(ended);
    cx_cache_drop_streams(cache, false);
    atomic_store(&cache->reserved_bytes, 0);
    cx_cache_set_shortage(cache, CX_SHORTAGE_NONE);
}

void cx_caches_forget(cx_context *context)
{
    uint32_t epoch = cx_context_next_epoch(context);
    cx_ranges_forget(context);
    for (cx_cache *cache = cx_caches_next(NULL); cache != NULL; cache = cx_caches_next(cache)) {
        cx_cache_generation *generation = cache->spare;
        if (cache->context != context || generation == NULL || cache->generation->epoch == epoch)
            continue;
        generation->epoch = epoch;
        forget_memory(cache, generation);
        cache->spare = cx_cache_generation_open(cache);
    }
}

/* ---- allocating ---- */

static void note_inactive(cx_cache *cache)
{
    cx_cache_amounts *amounts = &cache->amounts;
    uint64_t reserved = amounts->reserved.current_bytes,
             allocated = amounts->allocated.current_bytes;
    cx_amount_set(&amounts->inactive, reserved > allocated ? reserved - allocated : 0,
                  cx_heap_free_count(&cache->generation->heap));
}

void cx_cache_note_segment(cx_cache *cache, int64_t bytes)
{
    if (bytes > 0)
        cx_amount_add(&cache->amounts.reserved, (uint64_t)bytes);
    else
        cx_amount_drop(&cache->amounts.reserved, (uint64_t)-bytes);
    note_inactive(cache);
}

void cx_cache_note_mapped(cx_cache *cache, uint64_t bytes)
{
    ctxrt_allocator_amount *reserved = &cache->amounts.reserved;
    if (bytes > reserved->current_bytes) {
        reserved->total_bytes += bytes - reserved->current_bytes;
        reserved->total_count++;
    }
    cx_amount_set(reserved, bytes, bytes != 0);
    note_inactive(cache);
}

void cx_cache_count_taken(cx_cache *cache, uint32_t index)
{
    cx_cache_block *cached = cx_cache_block_at(index);
    atomic_store_explicit(&cached->pointer,
                          (void *)cx_heap_address(&cache->generation->heap, index),
                          memory_order_relaxed);
    cx_cache_stream_at(cache, cached->node.owner)->taken++;
    cx_amount_add(&cache->amounts.allocated, (uint64_t)cached->node.units << CX_FIT_UNIT_BITS);
    note_inactive(cache);
}

uint32_t cx_cache_name_block(cx_cache *cache, uint32_t index)
{
    index = cx_cache_pass_owed(cache, index);
    if (index == 0)
        return 0;
    cx_cache_block *cached = cx_cache_block_at(index);
    cached->node.tag = cx_cache_stream_at(cache, cached->node.owner)->foreign;
    cx_cache_count_taken(cache, index);
    if (cx_pointers_enter(index))
        return index;
    cx_cache_give(cache, index);
    return 0;
}

uint32_t cx_cache_take_locked(cx_cache *cache, uint32_t id, uint32_t units)
{
    bool lacks = false;
    uint32_t index = cache->mapped ? cx_cache_place_locked(cache, id, units, &lacks) : 0;
    if (index == 0 && !lacks)
        index = cx_heap_take(&cache->generation->heap, id, units);
    return index != 0 ? cx_cache_name_block(cache, index) : 0;
}

uint32_t cx_cache_take(cx_cache *cache, uint32_t id, uint32_t units)
{
    cx_lock_enter(&cache->lock);
    uint32_t index = cx_cache_take_locked(cache, id, units);
    cx_lock_leave(&cache->lock);
    return index;
}

/* Mapped memory can move once no work uses it, its own stream's included. */
static bool reclaim_at_last(cx_cache *cache, uint32_t id)
{
    bool freed = cx_cache_free_deferred(cache, true);
    freed = cx_cache_give_withheld(cache, true) || freed;
    return cx_cache_reclaim(cache, cache->mapped ? 0 : id, CX_RECLAIM_WAIT) || freed;
}

/* Tries in this order: large blocks in thread caches; memory of other streams whose work is done;
 * more from the driver; all thread caches; memory whose work the host can wait for, since the
 * request would fail otherwise; freeing segments, to get their memory in one segment. */
static ctxrt_status take_at_any_cost(cx_cache *cache, uint32_t id, uint32_t units,
                                     uint32_t *out_cached)
{
    atomic_fetch_add_explicit(&cache->misses, 1, memory_order_relaxed);
    if (atomic_exchange(&cache->keeps_large, false)) {
        cx_cache_flush_large(cache);
        if ((*out_cached = cx_cache_take(cache, id, units)) != 0)
            return CTXRT_SUCCESS;
    }
    bool freed = cx_cache_free_deferred(cache, false);
    bool reclaimed = cx_cache_reclaim(cache, id, CX_RECLAIM_SOME);
    if ((freed || reclaimed) && (*out_cached = cx_cache_take(cache, id, units)) != 0)
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_cache_grow(cache, id, units, out_cached);
    for (int round = 0; status == CTXRT_ERROR_OUT_OF_MEMORY; round++) {
        atomic_fetch_add_explicit(&cache->retries, 1, memory_order_relaxed);
        cx_cache_set_shortage(cache, CX_SHORTAGE_SPENT);
        cx_cache_flush(cache);
        if ((*out_cached = cx_cache_take(cache, id, units)) != 0)
            return CTXRT_SUCCESS;
        if (reclaim_at_last(cache, id) && (*out_cached = cx_cache_take(cache, id, units)) != 0)
            return CTXRT_SUCCESS;
        if ((cache->mapped || cx_cache_shrink(cache) == 0) && round > 0)
            break;
        status = cx_cache_grow(cache, id, units, out_cached);
    }
    return status;
}

ctxrt_status cx_cache_serve(cx_cache *cache, uint32_t id, size_t size_bytes, uint32_t *out_cached)
{
    uint32_t units = cx_fit_units(size_bytes);
    if (units == 0)
        return cx_cache_out_of_memory(cache, size_bytes, CTXRT_ERROR_OUT_OF_MEMORY);
    *out_cached = cx_cache_take(cache, id, units);
    if (*out_cached != 0)
        return CTXRT_SUCCESS;
    ctxrt_status status = take_at_any_cost(cache, id, units, out_cached);
    if (status == CTXRT_SUCCESS)
        return status;
    atomic_fetch_add_explicit(&cache->misses_unserved, 1, memory_order_relaxed);
    return cx_cache_out_of_memory(cache, size_bytes, status);
}

static ctxrt_status beyond_limit(cx_cache *cache, size_t size_bytes)
{
    ctxrt_allocator_figures figures;
    cx_cache_figures(cache, &figures);
    return cx_error(
        CTXRT_ERROR_OUT_OF_MEMORY,
        "%zu bytes are beyond the limit of the allocator of %s: %llu of %llu bytes are in use",
        size_bytes, cx_context_text(cache->context), (unsigned long long)figures.current_bytes,
        (unsigned long long)figures.limit_bytes);
}

/* Without a limit, only the thread itself changes its total. */
static ctxrt_status count_allocated(cx_cache *cache, cx_thread_cache *self, size_t size_bytes)
{
    if (atomic_load_explicit(&cache->allocator->figures.limit_bytes, memory_order_relaxed) != 0)
        return cx_cache_count_within_limit(cache, self, size_bytes)
                   ? CTXRT_SUCCESS
                   : beyond_limit(cache, size_bytes);
    cx_statistics_add(&self->statistics.allocated_bytes, size_bytes);
    cx_statistics_add(&self->statistics.allocated_count, 1);
    return CTXRT_SUCCESS;
}

static void discount_allocated(cx_thread_statistics *own, size_t size_bytes)
{
    cx_statistics_add(&own->allocated_bytes, -(uint64_t)size_bytes);
    cx_statistics_add(&own->allocated_count, UINT64_MAX);
}

/* In a section, with the stream selected. Takes a block from the thread's cache or the heap; 0:
 * none. */
static uint32_t take_at_hand(cx_cache *cache, cx_magazines *magazines, uint32_t units)
{
    cx_kept_block taken = {0};
    if (units == 0)
        return 0;
    if (units <= CX_MAGAZINE_UNITS_MAX)
        taken = cx_magazines_take(magazines, units, cx_cache_slack(cache, units));
    if (taken.units == 0)
        taken = cx_cache_refill(cache, magazines, units);
    return taken.cached;
}

/* In a section, which is left while the driver is asked. */
static ctxrt_status serve_slowly(cx_cache *cache, cx_thread_cache *self,
                                 const cx_allocation *request, uint32_t *out_cached)
{
    ctxrt_status status = cx_cache_select(cache, self, request);
    if (status != CTXRT_SUCCESS)
        return status;
    uint32_t id = self->recent->id;
    *out_cached = take_at_hand(cache, self->recent, cx_fit_units(request->size_bytes));
    if (*out_cached == 0) {
        int cancel = cx_work_begin_wait(cache->context);
        status = cx_cache_serve(cache, id, request->size_bytes, out_cached);
        cx_section_enter();
        cx_work_end_wait(cache->context, cancel);
    }
    return status;
}

/* In a section. Its count keeps the context's epoch from ending unnoticed. */
static ctxrt_status alloc_cached(cx_cache *cache, const cx_allocation *request, cx_block *out_block)
{
    uint32_t index = 0;
    cx_thread_cache *self = cx_cache_of_thread(cache, request->thread);
    if (self == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "no memory for the thread's part of an allocator");
    ctxrt_status status = count_allocated(cache, self, request->size_bytes);
    if (status != CTXRT_SUCCESS)
        return status;
    status = serve_slowly(cache, self, request, &index);
    if (status != CTXRT_SUCCESS) {
        discount_allocated(&self->statistics, request->size_bytes);
        return status;
    }
    cx_cache_block *cached = cx_cache_block_at(index);
    cx_cache_block_begin(cached, request->size_bytes, cx_cache_block_generation(cached) + 1, 0);
    out_block->pointer = atomic_load_explicit(&cached->pointer, memory_order_relaxed);
    out_block->cached = index;
    cx_statistics_served(cache, &self->statistics,
                         cx_statistics_read(&self->statistics.allocated_bytes),
                         cx_statistics_read(&self->statistics.allocated_count));
    return CTXRT_SUCCESS;
}

ctxrt_status cx_cache_alloc(cx_cache *cache, const cx_allocation *request, cx_block *out_block)
{
    if (!cx_block_enter(cache->context, request->epoch))
        return cx_block_overtaken(cache->context);
    ctxrt_status status = alloc_cached(cache, request, out_block);
    cx_section_leave();
    if (status != CTXRT_SUCCESS)
        atomic_fetch_add(&cache->failures, 1);
    return status;
}

/* ---- freeing ---- */

void cx_cache_give(cx_cache *cache, uint32_t cached)
{
    cx_fit_node *node = &cx_cache_block_at(cached)->node;
    cx_cache_stream *stream = cx_cache_stream_at(cache, node->owner);
    uint64_t bytes = (uint64_t)node->units << CX_FIT_UNIT_BITS;
    stream->gives++;
    stream->taken--;
    if (stream->over)
        (void)cx_heap_transfer(&cache->generation->heap, cached, 0);
    cx_pointers_leave(cached);
    cx_heap_give(&cache->generation->heap, cached);
    cx_amount_drop(&cache->amounts.allocated, bytes);
    cache->amounts.inactive.total_bytes += bytes;
    cache->amounts.inactive.total_count++;
    note_inactive(cache);
    if (stream->closed)
        cx_cache_stream_settle(cache, stream);
}

static void give_all(cx_cache *cache, const uint32_t *blocks, uint32_t count)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(cx_cache_block_at(blocks[i]), 1);
    cx_lock_enter(&cache->lock);
    for (uint32_t i = 0; i < count; i++)
        cx_cache_give(cache, blocks[i]);
    cx_lock_leave(&cache->lock);
}

void cx_cache_put_over(cx_cache *cache, cx_magazines *magazines, cx_kept_block cached)
{
    uint32_t over[CX_MAGAZINE_BLOCKS + 1], count = 0;
    if (cached.units <= atomic_load_explicit(&cache->keep.units_each, memory_order_relaxed)) {
        count = cx_magazines_thin(magazines, cached.units, over);
    } else if (atomic_load_explicit(&cache->keep.large, memory_order_relaxed)) {
        const cx_kept_block before = magazines->large;
        magazines->large = cached;
        if (!atomic_load_explicit(&cache->keeps_large, memory_order_relaxed))
            atomic_store(&cache->keeps_large, true);
        if (before.units == 0)
            return;
        cached = before;
    }
    if (!cx_magazines_put(magazines, &cache->keep, cached))
        over[count++] = cached.cached;
    give_all(cache, over, count);
}

static cx_kept_block kept_cached(uint32_t index)
{
    const cx_cache_block *cached = cx_cache_block_at(index);
    return (cx_kept_block){cached->node.units, index, cx_cache_block_generation(cached)};
}

static void put_or_give(cx_cache *cache, cx_magazines *magazines, uint32_t index)
{
    const cx_kept_block cached = kept_cached(index);
    if (!cx_magazines_put(magazines, &cache->keep, cached))
        cx_cache_put_over(cache, magazines, cached);
}

/* ---- returned blocks ---- */

#define RETURNED_MOST 4096

void cx_cache_take_returned(cx_cache *cache, cx_cache_stream *stream)
{
    atomic_store_explicit(&stream->returned_units, 0, memory_order_relaxed);
    uint32_t next, index = atomic_exchange(&stream->returned, 0);
    for (; index != 0; index = next) {
        next = cx_cache_block_at(index)->node.next;
        cx_cache_give(cache, index);
    }
}

/* Returns a block to its stream, for a thread that allocates for that. All of them go to the heap
 * if they are more than one thread's magazines may keep, or too many. */
static void return_cached(cx_cache *cache, cx_cache_stream *stream, uint32_t index)
{
    cx_fit_node *node = &cx_cache_block_at(index)->node;
    uint64_t most = atomic_load_explicit(&cache->keep.units, memory_order_relaxed);
    uint64_t units = node->units > most / RETURNED_MOST ? node->units : most / RETURNED_MOST;
    uint32_t first = atomic_load_explicit(&stream->returned, memory_order_relaxed);
    do
        node->next = first;
    while (!atomic_compare_exchange_weak(&stream->returned, &first, index));
    if (atomic_fetch_add_explicit(&stream->returned_units, units, memory_order_relaxed) + units >
        most) {
        cx_lock_enter(&cache->lock);
        cx_cache_take_returned(cache, stream);
        cx_lock_leave(&cache->lock);
    }
}

/* Takes the blocks that other threads returned to the stream. True if there were any. */
static bool collect_returned(cx_cache *cache, cx_magazines *magazines)
{
    cx_cache_stream *stream = magazines->stream;
    if (atomic_load_explicit(&stream->returned, memory_order_relaxed) == 0)
        return false;
    atomic_store_explicit(&stream->returned_units, 0, memory_order_relaxed);
    uint32_t next, index = atomic_exchange(&stream->returned, 0);
    for (; index != 0; index = next) {
        next = cx_cache_block_at(index)->node.next;
        put_or_give(cache, magazines, index);
    }
    return true;
}

cx_kept_block cx_cache_refill(cx_cache *cache, cx_magazines *magazines, uint32_t units)
{
    cx_kept_block taken = {0};
    if (collect_returned(cache, magazines) && units <= CX_MAGAZINE_UNITS_MAX)
        taken = cx_magazines_take(magazines, units, cx_cache_slack(cache, units));
    if (taken.units != 0)
        return taken;
    uint32_t index = cx_cache_take(cache, magazines->id, units);
    if (index == 0 && magazines->large.units != 0) {
        give_all(cache, &magazines->large.cached, 1);
        magazines->large.units = 0;
        index = cx_cache_take(cache, magazines->id, units);
    }
    return index != 0 ? kept_cached(index) : taken;
}

/* In a section of the block's epoch. */
static void put_back(cx_cache *cache, cx_thread_cache *self, uint32_t index)
{
    const cx_fit_node *node = &cx_cache_block_at(index)->node;
    cx_magazines *magazines = NULL;
    if (self != NULL) {
        magazines = self->recent;
        if (magazines == NULL || magazines->id != node->owner)
            magazines = self->by_id[node->owner % CX_THREAD_CACHE_STREAMS];
    }
    if (magazines != NULL && magazines->id == node->owner)
        put_or_give(cache, magazines, index);
    else if (node->units <= atomic_load_explicit(&cache->keep.units_each, memory_order_relaxed))
        return_cached(cache, cx_cache_stream_at(cache, node->owner), index);
    else
        give_all(cache, &index, 1);
}

/* In a section, which is left while the driver is asked, with the context pinned. */
static ctxrt_status free_cached(cx_cache *cache, cx_thread_cache *self, uint32_t index)
{
    bool deferred = false;
    ctxrt_status status = CTXRT_SUCCESS;
    cx_cache_block *cached = cx_cache_block_at(index);
    bool used = atomic_load_explicit(&cached->uses, memory_order_relaxed) != NULL;
    if (__builtin_expect(cached->node.tag || used || cache->host_accessible, 0)) {
        cx_section_leave();
        if (cached->node.tag)
            cx_cache_record_foreign(cache, cached->node.owner);
        if (used || cache->host_accessible)
            status = cx_cache_defer(cache, index, &deferred);
        cx_section_enter();
    }
    if (!deferred)
        put_back(cache, self, index);
    return status;
}

void cx_cache_count_freed(cx_cache *cache, cx_thread_cache *self, size_t size_bytes)
{
    if (self != NULL) {
        cx_statistics_freed(cache, &self->statistics, size_bytes);
        return;
    }
    atomic_fetch_sub(&cache->flushed_bytes, (int64_t)size_bytes);
    atomic_fetch_sub(&cache->flushed_count, 1);
    atomic_fetch_add(&cache->gone.freed_bytes, size_bytes);
    atomic_fetch_add(&cache->gone.freed_count, 1);
}

/* The memory is gone, or the thread has no cache: only counts are left to do. */
static ctxrt_status forget_cached(cx_cache *cache, const cx_block *block)
{
    cx_cache_generation *generation = cx_cache_generation_of(block->cached);
    ctxrt_status status = cx_stream_uses_finish(&cx_cache_block_at(block->cached)->uses);
    if (cx_cache_generation_let_go(cache, generation, block))
        cx_cache_generation_close(generation);
    return status;
}

ctxrt_status cx_cache_free(cx_cache *cache, const cx_block *block)
{
    cx_context *context = cache->context;
    const cx_cache_generation *generation = cx_cache_generation_of(block->cached);
    cx_cache_block_clear(cx_cache_block_at(block->cached));
    if (!cx_block_enter(context, generation->epoch))
        return forget_cached(cache, block);
    int cancel = cx_cancel_hold();
    cx_context_pin(context);
    cx_thread_cache *self = cx_cache_of_thread(cache, cx_thread_current);
    ctxrt_status status = free_cached(cache, self, block->cached);
    cx_section_leave();
    cx_cache_release_beyond(cache);
    cx_cache_count_freed(cache, self, block->size_bytes);
    cx_work_end_wait(context, cancel);
    return status;
}

uint64_t cx_cache_trim(cx_cache *cache)
{
    cx_thread *thread;
    if (cx_thread_self(&thread) != CTXRT_SUCCESS ||
        cx_context_enter(cache->context) != CTXRT_SUCCESS)
        return 0;
    int cancel = cx_work_begin_wait(cache->context);
    cx_cache_flush(cache);
    (void)cx_cache_free_deferred(cache, false);
    (void)cx_cache_give_withheld(cache, false);
    (void)cx_cache_reclaim(cache, 0, CX_RECLAIM_ALL);
    uint64_t bytes = cx_cache_shrink(cache);
    cx_work_end_wait(cache->context, cancel);
    return bytes;
}
