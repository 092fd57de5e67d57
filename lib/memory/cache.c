#include "memory/cache.h"

#include "base/error.h"
#include "context/use.h"
#include "memory/pointer_table.h"
#include "memory/ranges.h"
#include "work/stream.h"
#include "work/uncaptured.h"

#include <sched.h>
#include <stdlib.h>

cx_fit_store cx_pieces = {.stride = sizeof(cx_piece), .apart = sizeof(cx_piece_head)};

/* ---- life ---- */

static cx_region *open_region(cx_cache *cache)
{
    cx_region *region = calloc(1, sizeof *region);
    if (region == NULL)
        return NULL;
    region->cache = cache;
    region->epoch = cx_context_next_epoch(cache->context);
    cx_heap_open(&region->heap, &cx_pieces, region);
    return region;
}

static void leave_table(uint32_t index, uintptr_t address, void *argument)
{
    (void)address, (void)argument;
    cx_pointers_retire(index);
}

/* Takes the pieces of a region out of the pointer table. */
static void leave_pointers(const cx_region *region)
{
    cx_heap_each_block(&region->heap, leave_table, NULL);
}

static void leave_ranges(const cx_region *region)
{
    const cx_heap *heap = &region->heap;
    for (uint32_t i = 0; i < heap->segment_count; i++)
        if (heap->segments[i].address != 0)
            cx_region_leave_range(region, heap->segments[i].address);
}

static void close_regions(cx_region *region)
{
    while (region != NULL) {
        cx_region *past = region->past;
        leave_pointers(region);
        leave_ranges(region);
        cx_region_close_range(region);
        cx_cache_end_homes(region);
        cx_heap_close(&region->heap);
        free(region);
        region = past;
    }
}

ctxrt_status cx_cache_open(cx_allocator *allocator, cx_cache **out_cache)
{
    cx_cache *cache = calloc(1, sizeof *cache);
    if (cache != NULL) {
        cache->context = allocator->context;
        cache->region = open_region(cache);
        cache->spare = open_region(cache);
        cache->owners = calloc(CX_FIT_OWNERS_MAX, sizeof *cache->owners);
    }
    if (cache == NULL || cache->region == NULL || cache->spare == NULL || cache->owners == NULL) {
        if (cache != NULL) {
            close_regions(cache->region);
            close_regions(cache->spare);
            free(cache->owners);
        }
        free(cache);
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an allocator of %s",
                        cx_context_text(allocator->context));
    }
    cache->allocator = allocator;
    cache->owner_count = 1;
    cache->mapped = allocator->options.source == CTXRT_ALLOCATOR_SOURCE_VMM;
    cache->pinned = allocator->kind == &cx_pinned_allocator;
    cache->host_accessible =
        cache->context->device != NULL && cache->context->device->host_accessible;
    cx_cache_set_keep(cache);
    pthread_mutex_init(&cache->lock, NULL);
    pthread_mutex_init(&cache->range_lock, NULL);
    cx_cache_enlist(cache);
    *out_cache = cache;
    return CTXRT_SUCCESS;
}

/* ---- keeping ---- */

/* Threads may keep this part of what is held, all together, and each piece be that part. */
#define KEEP_PART 3
#define KEEP_PART_EACH 64
#define KEEP_UNITS_MIN ((16u << 20) >> CX_FIT_UNIT_BITS)
#define KEEP_UNITS_EACH_MIN ((1u << 20) >> CX_FIT_UNIT_BITS)
#define KEEP_UNITS_EACH_COMING ((256u << 10) >> CX_FIT_UNIT_BITS)

static uint64_t at_least(uint64_t value, uint64_t least)
{
    return value > least ? value : least;
}

void cx_cache_set_keep(cx_cache *cache)
{
    uint64_t held = atomic_load(&cache->reserved_bytes) >> CX_FIT_UNIT_BITS;
    uint32_t magazines = atomic_load(&cache->magazines);
    int shortage = atomic_load(&cache->shortage);
    bool sparing = shortage >= CX_SHORTAGE_HERE ||
                   cache->allocator->options.release_threshold_bytes != 0;
    uint64_t units = sparing ? 0 : held / KEEP_PART / (magazines != 0 ? magazines : 1);
    uint64_t each = at_least(held / KEEP_PART_EACH, KEEP_UNITS_EACH_MIN);
    if (sparing)
        each = shortage == CX_SHORTAGE_SPENT ? 0 : CX_HEAP_SMALL_UNITS;
    else if (shortage == CX_SHORTAGE_COMING)
        each = KEEP_UNITS_EACH_COMING;
    atomic_store(&cache->keep.units, at_least(units, KEEP_UNITS_MIN));
    atomic_store(&cache->keep.units_each,
                 (uint32_t)(each < CX_MAGAZINE_UNITS_MAX ? each : CX_MAGAZINE_UNITS_MAX));
}

void cx_cache_set_shortage(cx_cache *cache, cx_shortage shortage)
{
    if (shortage == CX_SHORTAGE_HERE && atomic_load(&cache->shortage) == CX_SHORTAGE_SPENT)
        return;
    atomic_store(&cache->shortage, (int)shortage);
    cx_cache_set_keep(cache);
}

static void free_segments(cx_cache *cache)
{
    uintptr_t address;
    while (cx_heap_remove_any(&cache->region->heap, &address) != 0)
        cx_cache_free_segment(cache, address);
}

void cx_cache_close(cx_cache *cache, bool native)
{
    cx_uncaptured uncaptured = {0};
    if (native)
        uncaptured = cx_uncaptured_begin(cache->context->driver);
    cx_cache_drop_parked(cache);
    cx_cache_drop_stashes(cache, true);
    native = native && cx_context_holds_what_is_of(cache->context, cache->region->epoch);
    if (native && !cache->mapped)
        free_segments(cache);
    cx_cache_drop_owners(cache, native);
    close_regions(cache->region);
    close_regions(cache->spare);
    cx_uncaptured_end(&uncaptured);
    pthread_mutex_destroy(&cache->lock);
    pthread_mutex_destroy(&cache->range_lock);
    free(cache->owners);
    free(cache);
}

/* Pieces of before are still to be freed: their region stays while any is. */
static void forget(cx_cache *cache, cx_region *region)
{
    cx_cache_drop_parked(cache);
    cx_cache_drop_stashes(cache, false);
    bool live = cx_cache_live(cache) != 0;
    pthread_mutex_lock(&cache->range_lock);
    pthread_mutex_lock(&cache->lock);
    region->past = cache->region;
    cache->region = region;
    leave_pointers(region->past);
    cx_amount_set(&cache->amounts.allocated, 0, 0);
    cx_amount_set(&cache->amounts.reserved, 0, 0);
    cx_amount_set(&cache->amounts.inactive, 0, 0);
    pthread_mutex_unlock(&cache->lock);
    /* A driver does not: such memory is not of a context. */
    cx_region_close_range(region->past);
    cache->left_bytes = cache->left_at_look = 0;
    pthread_mutex_unlock(&cache->range_lock);
    if (!live) {
        close_regions(region->past);
        region->past = NULL;
    }
    cx_cache_begin_life(cache);
    cx_cache_drop_owners(cache, false);
    atomic_store(&cache->reserved_bytes, 0);
    cx_cache_set_shortage(cache, CX_SHORTAGE_NONE);
}

typedef struct forgetting {
    const cx_context *context;
    cx_cache *found;
} forgetting;

static void find_stale(cx_cache *cache, void *argument)
{
    forgetting *search = argument;
    if (search->found == NULL && cache->context == search->context && cache->spare != NULL &&
        cache->region->epoch != cx_context_next_epoch(cache->context)) {
        search->found = cache;
        atomic_fetch_add(&cache->pins, 1);
    }
}

void cx_caches_forget(cx_context *context)
{
    forgetting search = {.context = context};
    cx_ranges_forget(context);
    for (cx_caches_each(find_stale, &search); search.found != NULL;
         cx_caches_each(find_stale, &search)) {
        cx_region *region = search.found->spare;
        region->epoch = cx_context_next_epoch(context);
        forget(search.found, region);
        search.found->spare = open_region(search.found);
        atomic_fetch_sub(&search.found->pins, 1);
        search.found = NULL;
    }
}

/* ---- allocating ---- */

static void note_inactive(cx_cache *cache)
{
    cx_cache_amounts *amounts = &cache->amounts;
    uint64_t reserved = amounts->reserved.current_bytes,
             allocated = amounts->allocated.current_bytes;
    cx_amount_set(&amounts->inactive, reserved > allocated ? reserved - allocated : 0,
                  cx_heap_free_count(&cache->region->heap));
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

bool cx_cache_name_piece(cx_cache *cache, uint32_t index)
{
    cx_piece *piece = cx_piece_at(index);
    piece->node.tag = cache->owners[piece->node.owner].foreign;
    atomic_store_explicit(&piece->pointer, (void *)cx_heap_address(&cache->region->heap, index),
                          memory_order_relaxed);
    if (!cx_pointers_enter(index)) {
        cx_heap_give(&cache->region->heap, index);
        return false;
    }
    cx_amount_add(&cache->amounts.allocated, (uint64_t)piece->node.units << CX_FIT_UNIT_BITS);
    note_inactive(cache);
    return true;
}

uint32_t cx_cache_take_locked(cx_cache *cache, uint32_t owner, uint32_t units)
{
    bool lacks = false;
    uint32_t index = cache->mapped ? cx_cache_place_locked(cache, owner, units, &lacks) : 0;
    if (index == 0 && !lacks)
        index = cx_heap_take(&cache->region->heap, owner, units);
    return index != 0 && cx_cache_name_piece(cache, index) ? index : 0;
}

uint32_t cx_cache_take(cx_cache *cache, uint32_t owner, uint32_t units)
{
    pthread_mutex_lock(&cache->lock);
    uint32_t index = cx_cache_take_locked(cache, owner, units);
    pthread_mutex_unlock(&cache->lock);
    return index;
}

/* Memory that is mapped can move once nobody's work uses it, its own stream's included. */
static bool reclaim_at_last(cx_cache *cache, uint32_t owner)
{
    bool unparked = cx_cache_unpark(cache, true);
    return cx_cache_reclaim(cache, cache->mapped ? 0 : owner, true) || unparked;
}

/* In this order: memory whose work is done elsewhere; more from the driver; what other threads
 * keep; memory for whose work the host can wait, since the request would fail otherwise; what can
 * be given back, to get it in one piece. */
static ctxrt_status take_at_any_cost(cx_cache *cache, uint32_t owner, uint32_t units,
                                     uint32_t *out_piece)
{
    atomic_fetch_add_explicit(&cache->misses, 1, memory_order_relaxed);
    if ((cx_cache_unpark(cache, false) | cx_cache_reclaim(cache, owner, false)) &&
        (*out_piece = cx_cache_take(cache, owner, units)) != 0)
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_cache_grow(cache, owner, units, out_piece);
    for (int round = 0; status == CTXRT_ERROR_OUT_OF_MEMORY; round++) {
        atomic_fetch_add_explicit(&cache->retries, 1, memory_order_relaxed);
        cx_cache_set_shortage(cache, CX_SHORTAGE_SPENT);
        cx_cache_flush(cache, 0);
        if ((*out_piece = cx_cache_take(cache, owner, units)) != 0)
            return CTXRT_SUCCESS;
        if (reclaim_at_last(cache, owner) && (*out_piece = cx_cache_take(cache, owner, units)) != 0)
            return CTXRT_SUCCESS;
        if ((cache->mapped || cx_cache_shrink(cache) == 0) && round > 0)
            break;
        status = cx_cache_grow(cache, owner, units, out_piece);
    }
    return status;
}

/* From the stash, or 0 with the number of the stream. */
static ctxrt_status take_stashed(cx_cache *cache, cx_stash *stash, const cx_allocation *request,
                                 uint32_t units, uint32_t *out_piece, uint32_t *out_owner)
{
    cx_taken taken = {0};
    for (int round = 0;; round++) {
        if (__builtin_expect(cx_stash_enter(stash), 1)) {
            cx_magazines *magazines = stash->recent;
            if (__builtin_expect(magazines != NULL && magazines->stream == request->stream, 1)) {
                *out_owner = magazines->owner;
                if (units <= CX_MAGAZINE_UNITS_MAX)
                    taken = cx_magazines_take(magazines, units, cx_cache_slack(cache, units));
                *out_piece = taken.slot.piece;
                cx_stash_leave(stash);
                return CTXRT_SUCCESS;
            }
            cx_stash_leave(stash);
        } else if (round > 0) {
            sched_yield();
        }
        ctxrt_status status = cx_cache_select(cache, stash, request);
        if (status != CTXRT_SUCCESS)
            return status;
    }
}

ctxrt_status cx_cache_serve(cx_cache *cache, uint32_t owner, size_t size_bytes, uint32_t *out_piece)
{
    uint32_t units = cx_fit_units(size_bytes);
    if (units == 0)
        return cx_cache_out_of_memory(cache, size_bytes, CTXRT_ERROR_OUT_OF_MEMORY);
    *out_piece = cx_cache_take(cache, owner, units);
    if (*out_piece != 0)
        return CTXRT_SUCCESS;
    ctxrt_status status = take_at_any_cost(cache, owner, units, out_piece);
    if (status == CTXRT_SUCCESS)
        return status;
    atomic_fetch_add_explicit(&cache->misses_unserved, 1, memory_order_relaxed);
    return cx_cache_out_of_memory(cache, size_bytes, status);
}

static ctxrt_status serve(cx_cache *cache, cx_stash *stash, const cx_allocation *request,
                          uint32_t *out_piece)
{
    uint32_t owner = 0;
    uint32_t units = cx_fit_units(request->size_bytes);
    ctxrt_status status = CTXRT_SUCCESS;
    if (units != 0)
        status = take_stashed(cache, stash, request, units, out_piece, &owner);
    if (status != CTXRT_SUCCESS || *out_piece != 0)
        return status;
    return cx_cache_serve(cache, owner, request->size_bytes, out_piece);
}

static ctxrt_status beyond_limit(const cx_cache *cache, size_t size_bytes,
                                 const ctxrt_allocator_figures *figures)
{
    return cx_error(
        CTXRT_ERROR_OUT_OF_MEMORY,
        "%zu bytes are beyond the limit of the allocator of %s: %llu of %llu bytes are in use",
        size_bytes, cx_context_text(cache->context), (unsigned long long)figures->current_bytes,
        (unsigned long long)figures->limit_bytes);
}

static ctxrt_status count_within_limit(cx_cache *cache, cx_stash *stash, size_t size_bytes)
{
    ctxrt_allocator_figures figures;
    if (cx_cache_count_within_limit(cache, stash, size_bytes))
        return CTXRT_SUCCESS;
    cx_cache_figures(cache, &figures);
    return beyond_limit(cache, size_bytes, &figures);
}

/* Where no limit is set the total is the thread's own to count. */
static inline void count_allocated(cx_tally *tally, size_t size_bytes)
{
    cx_tally_add(&tally->allocated_bytes, size_bytes);
    cx_tally_add(&tally->allocated_count, 1);
}

static void discount_allocated(cx_tally *tally, size_t size_bytes)
{
    cx_tally_add(&tally->allocated_bytes, -(uint64_t)size_bytes);
    cx_tally_add(&tally->allocated_count, UINT64_MAX);
}

ctxrt_status cx_cache_alloc(cx_cache *cache, const cx_allocation *request, cx_block *out_block)
{
    uint32_t index = 0;
    ctxrt_status status = CTXRT_SUCCESS;
    cx_stash *stash = cx_cache_stash(cache, request->thread);
    if (__builtin_expect(stash == NULL, 0))
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "no memory for the thread's part of an allocator");
    bool limited =
        atomic_load_explicit(&cache->allocator->figures.limit_bytes, memory_order_relaxed) != 0;
    if (__builtin_expect(limited, 0))
        status = count_within_limit(cache, stash, request->size_bytes);
    else
        count_allocated(&stash->tally, request->size_bytes);
    if (status == CTXRT_SUCCESS) {
        status = serve(cache, stash, request, &index);
        if (__builtin_expect(status != CTXRT_SUCCESS, 0))
            discount_allocated(&stash->tally, request->size_bytes);
    }
    if (__builtin_expect(status != CTXRT_SUCCESS, 0)) {
        atomic_fetch_add(&cache->failures, 1);
        return status;
    }
    const cx_piece *piece = cx_piece_at(index);
    cx_piece_head *head = cx_piece_head_at(index);
    uint32_t home = atomic_load_explicit(&stash->home, memory_order_relaxed);
    const cx_piece_start start = {request->size_bytes,
                                  piece->node.units - cx_fit_units(request->size_bytes),
                                  cx_piece_stamp(piece->node.owner, home),
                                  cx_piece_generation(head) + 1};
    cx_piece_begin(head, &start);
    out_block->pointer = atomic_load_explicit(&piece->pointer, memory_order_relaxed);
    out_block->piece = index;
    cx_tally_served(cache, &stash->tally, cx_tally_read(&stash->tally.allocated_bytes),
                    cx_tally_read(&stash->tally.allocated_count));
    return CTXRT_SUCCESS;
}

/* ---- freeing ---- */

void cx_cache_give(cx_cache *cache, uint32_t piece)
{
    cx_owner *owner = &cache->owners[cx_piece_at(piece)->node.owner];
    uint64_t bytes = (uint64_t)cx_piece_at(piece)->node.units << CX_FIT_UNIT_BITS;
    owner->gives++;
    cx_pointers_leave(piece);
    cx_heap_give(&cache->region->heap, piece);
    cx_amount_drop(&cache->amounts.allocated, bytes);
    cache->amounts.inactive.total_bytes += bytes;
    cache->amounts.inactive.total_count++;
    note_inactive(cache);
}

static void give(cx_cache *cache, const uint32_t *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(cx_piece_at(pieces[i]), 1);
    pthread_mutex_lock(&cache->lock);
    for (uint32_t i = 0; i < count; i++)
        cx_cache_give(cache, pieces[i]);
    pthread_mutex_unlock(&cache->lock);
}

static cx_magazines *magazines_of(cx_stash *stash, uint32_t owner)
{
    cx_magazines *magazines = stash->recent;
    if (__builtin_expect(magazines != NULL && magazines->owner == owner, 1))
        return magazines;
    for (magazines = stash->all; magazines != NULL && magazines->owner != owner;
         magazines = magazines->next)
        ;
    return magazines;
}

static uint32_t put_over(const cx_cache *cache, cx_magazines *magazines, uint32_t piece,
                         uint32_t generation, uint32_t over[CX_MAGAZINE_PIECES])
{
    uint32_t units = cx_piece_at(piece)->node.units, count = 0;
    if (units <= atomic_load_explicit(&cache->keep.units_each, memory_order_relaxed)) {
        uint32_t class = cx_magazine_class(units);
        if (!cx_magazines_set_aside(magazines, &cache->keep, class))
            count = cx_magazines_thin(magazines, class, over);
        if (cx_magazines_put(magazines, &cache->keep, units,
                             (cx_magazine_slot){piece, generation}))
            return count;
    }
    over[count++] = piece;
    return count;
}

void cx_cache_put_over(cx_cache *cache, cx_magazines *magazines, uint32_t piece,
                       uint32_t generation)
{
    uint32_t over[CX_MAGAZINE_PIECES];
    give(cache, over, put_over(cache, magazines, piece, generation, over));
}

/* A piece of a stream that the thread does not allocate for: whoever does finds it in the heap, to
 * which such pieces go many at once. How many go now. */
static uint32_t hand_on(const cx_cache *cache, cx_stash *stash, uint32_t index,
                        uint32_t over[CX_MAGAZINE_PIECES])
{
    cx_outgoing *outgoing = &stash->outgoing;
    outgoing->pieces[outgoing->count++] = index;
    outgoing->units += cx_piece_at(index)->node.units;
    if (outgoing->count < CX_MAGAZINE_PIECES &&
        outgoing->units <= atomic_load_explicit(&cache->keep.units, memory_order_relaxed))
        return 0;
    return cx_outgoing_empty(outgoing, over);
}

/* What does not fit goes to the heap: the piece, or others of its class. */
static uint32_t stash_piece(const cx_cache *cache, cx_stash *stash, uint32_t index,
                            uint32_t over[CX_MAGAZINE_PIECES])
{
    const cx_fit_node *node = &cx_piece_at(index)->node;
    uint32_t count = 0, generation = cx_piece_generation(cx_piece_head_at(index));
    over[0] = index;
    if (node->units > atomic_load_explicit(&cache->keep.units_each, memory_order_relaxed) ||
        !cx_stash_enter(stash))
        return 1;
    cx_magazines *magazines = magazines_of(stash, node->owner);
    if (magazines == NULL)
        count = hand_on(cache, stash, index, over);
    else if (!cx_magazines_put(magazines, &cache->keep, node->units,
                               (cx_magazine_slot){index, generation}))
        count = put_over(cache, magazines, index, generation, over);
    cx_stash_leave(stash);
    return count;
}

static void put_back(cx_cache *cache, cx_stash *stash, uint32_t index)
{
    uint32_t over[CX_MAGAZINE_PIECES] = {index};
    uint32_t count = stash != NULL ? stash_piece(cache, stash, index, over) : 1;
    if (count == 0)
        return;
    give(cache, over, count);
    cx_cache_release_beyond(cache);
}

ctxrt_status cx_cache_free(cx_cache *cache, const cx_block *block)
{
    cx_piece *piece = cx_piece_at(block->piece);
    cx_piece_head *head = cx_piece_head_at(block->piece);
    const cx_region *region = cx_fit_user(&cx_pieces, block->piece);
    size_t size_bytes = block->size_bytes;
    cx_thread *thread = cx_thread_current;
    cx_stash *stash = thread != NULL ? cx_cache_stash(cache, thread) : NULL;
    ctxrt_status status = CTXRT_SUCCESS;
    bool parked = false;
    cx_piece_end(head, cx_piece_generation(head));
    if (__builtin_expect(region->epoch ==
                             atomic_load_explicit(&cache->context->epoch, memory_order_relaxed),
                         1)) {
        if (__builtin_expect(piece->node.tag, 0))
            cx_cache_mark_foreign(cache, piece->node.owner);
        bool used = atomic_load_explicit(&piece->uses, memory_order_relaxed) != NULL;
        if (__builtin_expect(used | cache->host_accessible, 0))
            status = cx_cache_park(cache, block->piece, &parked);
        if (!parked)
            put_back(cache, stash, block->piece);
    } else {
        status = cx_use_finish(&piece->uses);
    }
    if (__builtin_expect(stash != NULL, 1)) {
        cx_tally_freed(cache, &stash->tally, size_bytes);
        return status;
    }
    atomic_fetch_sub(&cache->told_bytes, (int64_t)size_bytes);
    atomic_fetch_sub(&cache->told_count, 1);
    atomic_fetch_add(&cache->gone.freed_bytes, size_bytes);
    atomic_fetch_add(&cache->gone.freed_count, 1);
    return status;
}

uint64_t cx_cache_trim(cx_cache *cache)
{
    cx_cache_flush(cache, 0);
    (void)cx_cache_unpark(cache, false);
    (void)cx_cache_reclaim(cache, 0, false);
    return cx_cache_shrink(cache);
}
