#include "memory/cache.h"

#include "base/error.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"
#include "work/work.h"

/* ---- making and destroying ---- */

static void open_fields(cx_cache *cache, cx_allocator *allocator)
{
    cx_context *context = allocator->context;
    cache->allocator = allocator;
    cache->context = context;
    atomic_store(&cache->epoch, cx_context_next_epoch(context));
    cache->pinned = allocator->kind == &cx_pinned_allocator;
    cache->mapped = allocator->options.source == CTXRT_ALLOCATOR_SOURCE_VMM;
    cache->host_accessible = context->device != NULL && context->device->host_accessible;
    cache->amounts = (cx_cache_amounts){0};
    cache->deferred = cache->withheld = 0;
    cache->has_range = false;
    cache->left_bytes = cache->left_at_look = 0;
    atomic_store(&cache->reserved_bytes, 0);
    atomic_store(&cache->peak_reserved_bytes, 0);
    atomic_store(&cache->shortage, CX_SHORTAGE_NONE);
    atomic_store(&cache->keeps_large, false);
    atomic_store(&cache->dense, false);
    atomic_store(&cache->misses, 0);
    atomic_store(&cache->retries, 0);
    atomic_store(&cache->misses_unserved, 0);
    atomic_store(&cache->refusals, 0);
}

ctxrt_status cx_cache_open(cx_allocator *allocator, cx_cache **out_cache)
{
    cx_cache *cache = cx_caches_take_record();
    if (cache != NULL && !cx_cache_open_streams(cache)) {
        cx_caches_put_record(cache);
        cache = NULL;
    }
    if (cache == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an allocator of %s",
                        cx_context_text(allocator->context));
    open_fields(cache, allocator);
    cx_heap_open(&cache->heap, &cx_cache_blocks, cache);
    cx_cache_set_keep(cache);
    cx_lock_init(&cache->lock, CX_RANK_CACHE);
    cx_lock_init(&cache->range_lock, CX_RANK_RANGE);
    pthread_cond_init(&cache->answered, NULL);
    cx_caches_enlist(cache);
    *out_cache = cache;
    return CTXRT_SUCCESS;
}

static void free_segments(cx_cache *cache)
{
    uintptr_t address;
    while (cx_heap_remove_any(&cache->heap, &address) != 0)
        cx_cache_free_segment(cache, address);
}

static void retire_block(uint32_t index, uintptr_t address, void *argument)
{
    (void)address, (void)argument;
    cx_pointers_retire(index);
}

/* Mapped memory is unmapped, since it belongs to no context. */
static void close_heap(cx_cache *cache)
{
    const cx_heap *heap = &cache->heap;
    cx_heap_each_block(heap, retire_block, NULL);
    for (uint32_t i = 0; i < heap->segment_count; i++)
        if (heap->segments[i].address != 0)
            cx_cache_leave_range(cache, heap->segments[i].address);
    if (cache->has_range)
        cx_cache_close_range(cache);
    cx_heap_close(&cache->heap);
}

void cx_cache_close(cx_cache *cache, bool native)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(cache->context->driver);
    cx_cache_drop_deferred(cache);
    native = native && cx_context_holds_what_is_of(cache->context, cache->epoch);
    /* cuMemUnmap waits for no kernel, as cuMemFree does. The cache is still found: a stream that
     * ends meanwhile closes in it, and leaves an event to wait for. */
    if (native && cache->mapped)
        cx_cache_await_streams(cache);
    cx_caches_unlist(cache);
    cx_cache_flush(cache);
    if (native && !cache->mapped)
        free_segments(cache);
    cx_cache_drop_streams(cache, native);
    close_heap(cache);
    cx_lock_destroy(&cache->lock);
    cx_lock_destroy(&cache->range_lock);
    pthread_cond_destroy(&cache->answered);
    cx_caches_put_record(cache);
    cx_relaxed_capture_end(&relaxed);
}

/* ---- resets ---- */

/* The user still has the block, or a thread is about to free it. */
static void end_block(uint32_t index, void *argument)
{
    const cx_cache *cache = argument;
    cx_cache_block *cached = cx_cache_block_at(index);
    cached->node.offset_units = atomic_load(&cache->epoch);
    atomic_fetch_or(&cached->state, CX_CACHE_BLOCK_GONE);
    cx_pointers_retire(index);
}

/* What no user has returns to the heap first. */
static void forget_memory(cx_cache *cache, uint32_t epoch)
{
    cx_cache_drop_deferred(cache);
    (void)cx_cache_give_withheld(cache, true);
    cx_lock_enter(&cache->range_lock);
    cx_cache_flush(cache);
    cx_lock_enter(&cache->lock);
    bool has_range = cache->has_range;
    cache->has_range = false;
    cx_heap_abandon(&cache->heap, end_block, cache);
    cx_amount_set(&cache->amounts.allocated, 0, 0);
    cx_amount_set(&cache->amounts.reserved, 0, 0);
    cx_amount_set(&cache->amounts.inactive, 0, 0);
    cx_lock_leave(&cache->lock);
    /* A driver does not unmap it on a reset: mapped memory belongs to no context. */
    if (has_range)
        cx_cache_close_range(cache);
    cache->left_bytes = cache->left_at_look = 0;
    atomic_store(&cache->epoch, epoch);
    cx_lock_leave(&cache->range_lock);
    cx_cache_drop_streams(cache, false);
    atomic_store(&cache->reserved_bytes, 0);
    cx_cache_set_shortage(cache, CX_SHORTAGE_NONE);
}

void cx_caches_forget(cx_context *context)
{
    uint32_t epoch = cx_context_next_epoch(context);
    cx_ranges_forget(context);
    for (cx_cache *cache = cx_caches_next(NULL); cache != NULL; cache = cx_caches_next(cache))
        if (cache->context == context && atomic_load(&cache->epoch) != epoch)
            forget_memory(cache, epoch);
}

void cx_cache_sync_epoch(cx_cache *cache)
{
    uint32_t epoch = atomic_load(&cache->context->epoch);
    if (atomic_load(&cache->epoch) == epoch)
        return;
    cx_lock_enter(&cache->lock);
    if (cache->heap.segment_count == 0 && !cache->has_range)
        atomic_store(&cache->epoch, epoch);
    cx_lock_leave(&cache->lock);
}

/* ---- allocating ---- */

static void note_inactive(cx_cache *cache)
{
    cx_cache_amounts *amounts = &cache->amounts;
    uint64_t reserved = amounts->reserved.current_bytes,
             allocated = amounts->allocated.current_bytes;
    cx_amount_set(&amounts->inactive, reserved > allocated ? reserved - allocated : 0,
                  cx_heap_free_count(&cache->heap));
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
                          (void *)cx_heap_address(&cache->heap, index),
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
        index = cx_heap_take(&cache->heap, id, units);
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

/* Tries in this order: large blocks in magazines; memory of other streams whose work is done;
 * more from the driver; all magazines; memory whose work the host can wait for, since the
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

/* In a section. The stream's record, which the thread remembers; NULL with the error recorded. */
static cx_cache_stream *find_stream(cx_cache *cache, const cx_allocation *request)
{
    cx_cache_stream *stream = request->thread->memory_stream;
    if (stream == NULL || stream->cache != cache ||
        atomic_load(&stream->stream) != request->stream)
        stream = cx_cache_stream_find(cache, request->stream);
    if (stream != NULL)
        request->thread->memory_stream = stream;
    return stream;
}

/* Takes a block from the stream's magazine or the heap; 0: none. */
static uint32_t take_at_hand(cx_cache *cache, cx_cache_stream *stream, uint32_t units)
{
    if (units == 0)
        return 0;
    cx_lock_enter(&stream->lock);
    bool none = stream->magazine == NULL;
    uint32_t index = cx_cache_take_at_hand(cache, stream, units);
    cx_lock_leave(&stream->lock);
    if (none && atomic_load(&cache->magazines) >= CX_CACHE_MAGAZINES_MAX)
        cx_cache_flush(cache);
    return index;
}

/* In a section, which is left while the driver is asked. */
static ctxrt_status serve_in_section(cx_cache *cache, const cx_allocation *request,
                                     uint32_t *out_cached)
{
    cx_cache_sync_epoch(cache);
    cx_cache_stream *stream = find_stream(cache, request);
    if (stream == NULL)
        return ctxrt_last_error()->status;
    *out_cached = take_at_hand(cache, stream, cx_fit_units(request->size_bytes));
    if (*out_cached != 0)
        return CTXRT_SUCCESS;
    int cancel = cx_work_begin_wait(cache->context);
    ctxrt_status status = cx_cache_serve(cache, stream->id, request->size_bytes, out_cached);
    cx_section_enter();
    cx_work_end_wait(cache->context, cancel);
    return status;
}

/* Begins the block's count in the section: a reset then finds the block with its user. */
static ctxrt_status alloc_cached(cx_cache *cache, const cx_allocation *request,
                                 cx_block *out_block)
{
    uint32_t index = 0;
    if (!cx_block_enter(cache->context, request->epoch))
        return cx_block_overtaken(cache->context);
    ctxrt_status status = serve_in_section(cache, request, &index);
    if (status == CTXRT_SUCCESS) {
        cx_cache_block *cached = cx_cache_block_at(index);
        cx_cache_block_begin(cached, request->size_bytes, cx_cache_block_generation(cached) + 1, 0);
        out_block->pointer = atomic_load_explicit(&cached->pointer, memory_order_relaxed);
        out_block->cached = index;
    }
    cx_section_leave();
    return status;
}

void cx_cache_give(cx_cache *cache, uint32_t cached)
{
    cx_fit_node *node = &cx_cache_block_at(cached)->node;
    cx_cache_stream *stream = cx_cache_stream_at(cache, node->owner);
    uint64_t bytes = (uint64_t)node->units << CX_FIT_UNIT_BITS;
    stream->gives++;
    stream->taken--;
    if (stream->over)
        (void)cx_heap_transfer(&cache->heap, cached, 0);
    cx_pointers_leave(cached);
    cx_heap_give(&cache->heap, cached);
    cx_amount_drop(&cache->amounts.allocated, bytes);
    cache->amounts.inactive.total_bytes += bytes;
    cache->amounts.inactive.total_count++;
    note_inactive(cache);
    if (stream->closed)
        cx_cache_stream_settle(cache, stream);
}

/* ---- flushing ---- */

/* Lock "cache" held. */
static void give_large(cx_cache *cache, cx_magazine *magazine)
{
    if (magazine->large.units != 0)
        cx_cache_give(cache, magazine->large.cached);
    magazine->large.units = 0;
}

/* An empty magazine is larger than many a block, and its stream may never be used again. Both locks
 * held. */
static void end_magazine(cx_cache *cache, cx_cache_stream *stream)
{
    uint32_t blocks[CX_MAGAZINE_BLOCKS];
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        for (uint32_t i = cx_magazine_empty(stream->magazine, class, blocks); i-- > 0;)
            cx_cache_give(cache, blocks[i]);
    give_large(cache, stream->magazine);
    cx_magazine_free(stream->magazine);
    stream->magazine = NULL;
    atomic_fetch_sub(&cache->magazines, 1);
}

void cx_cache_flush_stream(cx_cache *cache, cx_cache_stream *stream)
{
    cx_lock_enter(&stream->lock);
    cx_lock_enter(&cache->lock);
    if (stream->magazine != NULL)
        end_magazine(cache, stream);
    cx_cache_stream_forget_lists(cache, stream);
    cx_lock_leave(&cache->lock);
    cx_lock_leave(&stream->lock);
}

void cx_cache_flush(cx_cache *cache)
{
    uint32_t count = cx_cache_stream_count(cache);
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < count; id++)
        cx_cache_flush_stream(cache, cx_cache_stream_at(cache, id));
}

void cx_cache_flush_large(cx_cache *cache)
{
    uint32_t count = cx_cache_stream_count(cache);
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < count; id++) {
        cx_cache_stream *stream = cx_cache_stream_at(cache, id);
        cx_lock_enter(&stream->lock);
        cx_lock_enter(&cache->lock);
        if (stream->magazine != NULL)
            give_large(cache, stream->magazine);
        cx_lock_leave(&cache->lock);
        cx_lock_leave(&stream->lock);
    }
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

/* ---- the kind of allocator ---- */

static ctxrt_status alloc_block(cx_allocator *allocator, const cx_allocation *request,
                                cx_block *block)
{
    return alloc_cached(allocator->cache, request, block);
}

static ctxrt_status free_block(cx_allocator *allocator, const cx_block *block)
{
    return cx_cache_free(allocator->cache, block->cached);
}

static uint64_t trim_cache(cx_allocator *allocator)
{
    return cx_cache_trim(allocator->cache);
}

static void destroy_cache(cx_allocator *allocator)
{
    cx_cache_close(allocator->cache, true);
}

const cx_allocator_kind cx_caching_allocator = {
    .alloc = alloc_block, .free = free_block, .trim = trim_cache, .destroy = destroy_cache};
