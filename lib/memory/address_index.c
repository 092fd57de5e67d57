#include "memory/address_index.h"

#include "base/error.h"
#include "base/lock.h"
#include "memory/address_list.h"
#include "memory/cache.h"

/* Lock "pointers". */
static cx_lock lock = CX_LOCK_INIT(POINTERS);
static cx_address_list ranges;  /* cx_range; none overlaps another */
static cx_address_list records; /* cx_pointer_record; of one address the last one came last */
static _Atomic uint64_t changes;
_Atomic bool cx_pointers_may_be_owed;

void cx_pointers_lock(void)
{
    cx_lock_enter(&lock);
}

void cx_pointers_unlock(void)
{
    cx_lock_leave(&lock);
}

/* ---- ranges; lock held ---- */

/* The last range with a byte in [begin, end); NULL: none. */
static cx_range *last_overlapping(uintptr_t begin, uintptr_t end, size_t *out_place)
{
    size_t place = cx_address_list_above(&ranges, end - 1);
    cx_range *range = place != 0 ? (cx_range *)(uintptr_t)ranges.items[place - 1] : NULL;
    *out_place = place - 1;
    return range != NULL && range->begin + range->size_bytes > begin ? range : NULL;
}

static cx_range *range_at(const void *pointer)
{
    size_t place;
    return last_overlapping((uintptr_t)pointer, (uintptr_t)pointer + 1, &place);
}

static void end_range(size_t place, cx_freed_how how)
{
    cx_range *range = (cx_range *)(uintptr_t)ranges.items[place];
    const cx_freed_range past = {
        .begin = range->begin,
        .end = range->begin + range->size_bytes,
        .device = cx_block_device(range->context),
        .kind = range->kind,
        .size_bytes = range->size_bytes,
        .how = how,
    };
    if (!range->callers)
        cx_freed_ranges_enter(&past);
    atomic_fetch_add(&changes, 1);
    cx_address_list_remove(&ranges, place);
    free(range);
}

/* Ranges that it overlaps are gone: other code freed their memory, or a reset did, which ctxrt has
 * not noticed yet. */
static bool add_range(const cx_range *range)
{
    size_t place;
    uintptr_t end = range->begin + range->size_bytes;
    if (range->callers && last_overlapping(range->begin, end, &place) != NULL)
        return true;
    while (last_overlapping(range->begin, end, &place) != NULL)
        end_range(place, CX_FREED_BY_USER);
    cx_freed_ranges_leave(range->begin, end);
    atomic_fetch_add(&changes, 1);
    cx_range *added = malloc(sizeof *added);
    if (added == NULL)
        return false;
    *added = *range;
    if (cx_address_list_insert(&ranges, added))
        return true;
    free(added);
    return false;
}

ctxrt_status cx_ranges_add(const cx_range *range)
{
    cx_lock_enter(&lock);
    bool added = add_range(range);
    cx_lock_leave(&lock);
    return added ? CTXRT_SUCCESS
                 : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the ranges of %s",
                            cx_context_text(range->context));
}

/* NULL: it is gone. */
static cx_range *find_own(const cx_context *context, uint32_t epoch, uintptr_t begin,
                          size_t *out_place)
{
    cx_range *range = last_overlapping(begin, begin + 1, out_place);
    return range != NULL && range->begin == begin && range->context == context &&
                   range->epoch == epoch
               ? range
               : NULL;
}

void cx_ranges_remove(const cx_context *context, uint32_t epoch, uintptr_t begin, cx_freed_how how)
{
    size_t place;
    cx_lock_enter(&lock);
    if (find_own(context, epoch, begin, &place) != NULL)
        end_range(place, how);
    cx_lock_leave(&lock);
}

void cx_ranges_set_size(const cx_context *context, uint32_t epoch, uintptr_t begin,
                        size_t size_bytes)
{
    size_t place;
    cx_lock_enter(&lock);
    cx_range *range = find_own(context, epoch, begin, &place);
    if (range != NULL)
        range->size_bytes = size_bytes;
    cx_lock_leave(&lock);
}

void cx_ranges_forget(const cx_context *context)
{
    cx_lock_enter(&lock);
    for (size_t place = ranges.count; place-- > 0;) {
        const cx_range *range = (const cx_range *)ranges.items[place];
        if (range->context == context && range->epoch != atomic_load(&context->epoch) &&
            !range->stays)
            end_range(place, CX_FREED_BY_RESET);
    }
    cx_lock_leave(&lock);
}

uint64_t cx_ranges_changes(void)
{
    return atomic_load_explicit(&changes, memory_order_acquire);
}

/* ---- records; lock held ---- */

static bool is_custom(const cx_allocator *allocator)
{
    return allocator != NULL && allocator->vtable.alloc != NULL;
}

static cx_pointer_record *record_at(size_t place)
{
    return (cx_pointer_record *)(uintptr_t)records.items[place];
}

/* The place of the first record of an address, and of the first one behind them. */
static size_t records_of(const void *pointer, size_t *out_end)
{
    *out_end = cx_address_list_above(&records, (uintptr_t)pointer);
    return pointer != NULL ? cx_address_list_above(&records, (uintptr_t)pointer - 1) : 0;
}

/* Marks the entry of a block whose first unit records have addresses in. */
static bool set_entry(uintptr_t address, uint32_t cached)
{
    uintptr_t last = address | (CX_FIT_UNIT_BYTES - 1);
    size_t place = cx_address_list_above(&records, last);
    bool shared =
        place != 0 && cx_address_of_item(records.items[place - 1]) > last - CX_FIT_UNIT_BYTES;
    return cx_start_set(address, cached != 0 && shared ? cached | CX_START_IS_SHARED : cached);
}

static uint32_t entry_of(const void *pointer)
{
    return cx_start_at((uintptr_t)pointer) & ~CX_START_IS_SHARED;
}

static bool insert_record(cx_pointer_record *record)
{
    bool added = cx_address_list_insert(&records, record);
    if (added)
        (void)set_entry((uintptr_t)record->block.pointer, entry_of(record->block.pointer));
    return added;
}

static void remove_record(cx_pointer_record *record)
{
    size_t end, place = records_of(record->block.pointer, &end);
    while (record_at(place) != record)
        place++;
    cx_address_list_remove(&records, place);
    (void)set_entry((uintptr_t)record->block.pointer, entry_of(record->block.pointer));
}

cx_pointer_record *cx_pointer_record_make(cx_pointer_kind kind)
{
    cx_pointer_record *record = calloc(1, sizeof *record);
    if (record == NULL)
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a pointer");
    else
        record->kind = kind;
    return record;
}

void cx_pointer_record_leave(const cx_pointer_record *record)
{
    const cx_block *block = &record->block;
    if (record->kind != CX_POINTER_DEVICE)
        cx_ranges_remove(block->context, block->epoch, (uintptr_t)block->pointer, CX_FREED_BY_USER);
}

ctxrt_status cx_pointers_put(cx_pointer_record *record)
{
    const cx_block *block = &record->block;
    const cx_range range = {
        .begin = (uintptr_t)block->pointer,
        .size_bytes = block->size_bytes,
        .context = block->context,
        .epoch = block->epoch,
        .kind = record->kind == CX_POINTER_MANAGED ? CTXRT_MEMORY_MANAGED
                : record->kind == CX_POINTER_ASYNC ? CTXRT_MEMORY_DEVICE
                                                   : CTXRT_MEMORY_PINNED,
        .stays = record->kind == CX_POINTER_ASYNC,
        .callers = record->kind == CX_POINTER_REGISTERED,
    };
    ctxrt_status status =
        record->kind == CX_POINTER_DEVICE ? CTXRT_SUCCESS : cx_ranges_add(&range);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_lock_enter(&lock);
    bool added = insert_record(record);
    cx_lock_leave(&lock);
    if (added)
        return CTXRT_SUCCESS;
    cx_pointer_record_leave(record);
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the table of pointers");
}

void cx_pointers_each_record(void (*visit)(const cx_pointer_record *record, void *argument),
                             void *argument)
{
    cx_lock_enter(&lock);
    for (size_t place = 0; place < records.count; place++)
        visit(record_at(place), argument);
    cx_lock_leave(&lock);
}

/* ---- blocks of caches ---- */

static const void *address_of(uint32_t cached)
{
    return atomic_load_explicit(&cx_cache_block_at(cached)->pointer, memory_order_relaxed);
}

/* Lock held. */
static void erase_start(uint32_t cached)
{
    if (entry_of(address_of(cached)) == cached)
        (void)cx_start_set((uintptr_t)address_of(cached), 0);
}

/* Lock held. Takes a block out of the index, and puts a record in if it was a raw pointer. False:
 * no memory, and it stays. The record goes in first. The address of a raw pointer that is still to
 * be freed must never have the entry of another block alone, or cx_pointers_take_cached would free
 * that block. */
static bool retire_block(uint32_t cached)
{
    _Atomic uint64_t *state = &cx_cache_block_at(cached)->state;
    cx_pointer_record *record = NULL;
    if ((atomic_load(state) & CX_CACHE_BLOCK_RAW) != 0) {
        record = cx_pointer_record_make(CX_POINTER_DEVICE);
        if (record == NULL)
            return false;
        record->block = cx_cache_block_as_block(cached);
        if (!insert_record(record)) {
            free(record);
            return false;
        }
    }
    erase_start(cached);
    bool raw = (atomic_fetch_and(state, ~(uint64_t)CX_CACHE_BLOCK_RAW) & CX_CACHE_BLOCK_RAW) != 0;
    if (record != NULL && !raw) {
        remove_record(record);
        free(record);
    }
    return true;
}

/* Another block that starts there is gone: its driver has handed its memory out anew. */
bool cx_pointers_enter(uint32_t cached)
{
    cx_lock_enter(&lock);
    uint32_t before = entry_of(address_of(cached));
    bool entered = (before == 0 || retire_block(before)) &&
                   set_entry((uintptr_t)address_of(cached), cached);
    cx_lock_leave(&lock);
    return entered;
}

void cx_pointers_leave(uint32_t cached)
{
    cx_lock_enter(&lock);
    erase_start(cached);
    cx_lock_leave(&lock);
}

void cx_pointers_retire(uint32_t cached)
{
    cx_lock_enter(&lock);
    (void)retire_block(cached);
    cx_lock_leave(&lock);
}

bool cx_pointers_make_raw(uint32_t cached)
{
    cx_lock_enter(&lock);
    bool found = entry_of(address_of(cached)) == cached;
    if (found)
        atomic_fetch_or(&cx_cache_block_at(cached)->state, CX_CACHE_BLOCK_RAW);
    cx_lock_leave(&lock);
    return found;
}

uint32_t cx_pointers_cached_at(const void *pointer)
{
    uint32_t cached = entry_of(pointer);
    return cached != 0 && address_of(cached) == pointer ? cached : 0;
}

/* ---- raw pointers; lock held ---- */

/* The cache's block that is a raw pointer with this address; 0: none. */
static uint32_t cached_raw(const void *pointer)
{
    uint32_t cached = cx_pointers_cached_at(pointer);
    bool raw = cached != 0 &&
               (atomic_load(&cx_cache_block_at(cached)->state) & CX_CACHE_BLOCK_RAW) != 0;
    return raw ? cached : 0;
}

static bool is_stale(const cx_block *block)
{
    return atomic_load(&block->context->epoch) != block->epoch;
}

static bool is_stale_cached(uint32_t cached)
{
    const cx_block block = cx_cache_block_as_block(cached);
    return is_stale(&block);
}

/* False: another thread has taken the block meanwhile. */
static bool take_raw(const cx_raw_pointer *raw)
{
    if (raw->cached == 0) {
        remove_record(raw->record);
        return true;
    }
    _Atomic uint64_t *state = &cx_cache_block_at(raw->cached)->state;
    return (atomic_fetch_and(state, ~(uint64_t)CX_CACHE_BLOCK_RAW) & CX_CACHE_BLOCK_RAW) != 0;
}

/* Chooses memory of the oldest epoch if a reset ended that, and of that, or of all, the youngest. A
 * former block became a record when it was retired, and is still older than memory that a custom
 * allocator placed in it. NULL: none. *out_other: the kind of another raw pointer there. */
static cx_pointer_record *choose_record(const void *pointer, int kinds, int *out_other)
{
    cx_pointer_record *chosen = NULL;
    const cx_block *oldest = NULL;
    size_t end;
    for (size_t place = records_of(pointer, &end); place < end; place++) {
        cx_pointer_record *record = record_at(place);
        const cx_block *block = &record->block;
        if (((int)record->kind & kinds) == 0) {
            *out_other |= (int)record->kind;
            continue;
        }
        if (oldest != NULL &&
            (block->context != oldest->context || block->epoch != oldest->epoch ||
             (is_custom(oldest->allocator) && !is_custom(block->allocator))))
            continue;
        if (is_stale(block))
            oldest = block;
        chosen = record;
    }
    return chosen;
}

/* A record is younger than a live block if a custom allocator placed its memory there. */
static bool choose_raw(const void *pointer, int kinds, cx_raw_pointer *out_raw, int *out_other)
{
    uint32_t cached = cached_raw(pointer);
    *out_other = cached != 0 ? CX_POINTER_DEVICE : 0;
    if ((kinds & CX_POINTER_DEVICE) == 0)
        cached = 0;
    cx_pointer_record *record = choose_record(pointer, kinds, out_other);
    bool first = record != NULL &&
                 (cached == 0 || is_stale(&record->block) ||
                  (is_custom(record->block.allocator) && !is_stale_cached(cached)));
    *out_raw = first ? (cx_raw_pointer){.record = record} : (cx_raw_pointer){.cached = cached};
    return first || cached != 0;
}

static ctxrt_status refuse_pointer(const char *call, const void *pointer, int kind)
{
    if (kind == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: %p was freed already, or is not the start of such memory", call,
                        pointer);
    const char *from = (kind & CX_POINTER_ASYNC) != 0        ? "ctxrt_alloc_async"
                       : (kind & CX_POINTER_REGISTERED) != 0 ? "ctxrt_host_register"
                                                             : "ctxrt_alloc or ctxrt_alloc_managed";
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: %p is from %s", call, pointer, from);
}

ctxrt_status cx_pointers_take(const char *call, const void *pointer, int kinds,
                              cx_raw_pointer *out_taken)
{
    int other;
    bool taken = false;
    cx_lock_enter(&lock);
    while (!taken && choose_raw(pointer, kinds, out_taken, &other))
        taken = take_raw(out_taken);
    cx_lock_leave(&lock);
    return taken ? CTXRT_SUCCESS : refuse_pointer(call, pointer, other);
}

/* Finds the oldest raw pointer of one of `kinds` that is from before a reset, or that is not.
 * Leaves one out, and those of other allocators if `allocator` is not NULL. */
static bool find_raw(const void *pointer, int kinds, bool stale, const cx_raw_pointer *except,
                     const cx_allocator *allocator, cx_raw_pointer *out_raw)
{
    size_t end;
    uint32_t cached = (kinds & CX_POINTER_DEVICE) != 0 ? cached_raw(pointer) : 0;
    for (size_t place = records_of(pointer, &end); place < end; place++) {
        cx_pointer_record *record = record_at(place);
        if (((int)record->kind & kinds) == 0 || is_stale(&record->block) != stale ||
            record == except->record || (allocator != NULL && record->block.allocator != allocator))
            continue;
        *out_raw = (cx_raw_pointer){.record = record};
        return true;
    }
    *out_raw = (cx_raw_pointer){.cached = cached};
    return cached != 0 && cached != except->cached && allocator == NULL &&
           is_stale_cached(cached) == stale;
}

bool cx_pointers_take_gone(const cx_pointer_new *newest, cx_raw_pointer *out_taken)
{
    bool taken = false;
    const cx_allocator *custom = is_custom(newest->allocator) ? newest->allocator : NULL;
    cx_lock_enter(&lock);
    while (!taken && atomic_load(&newest->context->epoch) == newest->epoch &&
           find_raw(newest->pointer, ~0, false, &newest->raw, custom, out_taken))
        taken = take_raw(out_taken);
    cx_lock_leave(&lock);
    return taken;
}

static const cx_raw_pointer none;

bool cx_pointers_take_stale(const void *pointer, cx_pointer_kind kind, cx_raw_pointer *out_taken)
{
    bool taken = false;
    cx_lock_enter(&lock);
    while (!taken && find_raw(pointer, (int)kind, true, &none, NULL, out_taken))
        taken = take_raw(out_taken);
    cx_lock_leave(&lock);
    return taken;
}

/* Memory in stream order outlives a reset, and registered pages are freed by a call of their own.
 */
bool cx_pointers_search_owed(const void *pointer)
{
    cx_raw_pointer raw;
    cx_lock_enter(&lock);
    bool owed = find_raw(pointer, CX_POINTER_DEVICE | CX_POINTER_MANAGED | CX_POINTER_PINNED, true,
                         &none, NULL, &raw);
    cx_lock_leave(&lock);
    return owed;
}

bool cx_pointers_has(const void *pointer, const cx_context **out_context)
{
    cx_raw_pointer raw;
    cx_lock_enter(&lock);
    bool has = find_raw(pointer, ~0, false, &none, NULL, &raw);
    if (has)
        *out_context = raw.cached != 0 ? cx_cache_of(raw.cached)->context
                                       : raw.record->block.context;
    cx_lock_leave(&lock);
    return has;
}

/* ---- queries ---- */

static void describe_cached(uint32_t index, uint64_t state, const void *start,
                            cx_pointer_block *out_block)
{
    out_block->state = (state & CX_CACHE_BLOCK_COUNT_MAX) != 0 ? CX_POINTER_LIVE : CX_POINTER_FREED;
    out_block->begin = (uintptr_t)start;
    out_block->size_bytes = cx_cache_block_size(cx_cache_block_at(index));
    out_block->cached = index;
    out_block->generation = (uint32_t)(state >> 32);
}

/* Fills in what is known of a block by its cache. False: its epoch has ended, or is ending. */
static bool describe_cache(uint32_t index, cx_pointer_block *out_block)
{
    const cx_cache *cache = cx_cache_of(index);
    cx_context *context = atomic_load_explicit(&cache->context, memory_order_acquire);
    *out_block = (cx_pointer_block){
        .context = context,
        .epoch = atomic_load_explicit(&cache->epoch, memory_order_acquire),
        .kind = atomic_load_explicit(&cache->pinned, memory_order_relaxed) ? CTXRT_MEMORY_PINNED
                                                                           : CTXRT_MEMORY_DEVICE,
        .mapped = atomic_load_explicit(&cache->mapped, memory_order_relaxed),
    };
    return context != NULL && atomic_load(&context->epoch) == out_block->epoch;
}

/* Finds the live block that starts at an address, without a lock, as cx_pointers_take_cached
 * does. */
static bool find_quickly(const void *pointer, cx_pointer_block *out_block)
{
    uint32_t index = cx_pointers_quick(pointer);
    if (index == 0)
        return false;
    const cx_cache_block *head = cx_cache_block_at(index);
    uint64_t state = atomic_load_explicit(&head->state, memory_order_acquire);
    bool live = (state & CX_CACHE_BLOCK_GONE) == 0 && describe_cache(index, out_block);
    describe_cached(index, state, pointer, out_block);
    return live && out_block->state == CX_POINTER_LIVE &&
           atomic_load_explicit(&head->pointer, memory_order_acquire) == pointer &&
           atomic_load_explicit(&head->state, memory_order_acquire) == state;
}

/* True if the block is of the range. Blocks from before a reset are in the index until their cache
 * learns of it, while other blocks may have their addresses. */
static bool is_of_range(uint32_t index, const cx_range *range)
{
    const cx_cache *cache = cx_cache_of(index);
    return atomic_load_explicit(&cache->epoch, memory_order_acquire) == range->epoch &&
           atomic_load_explicit(&cache->context, memory_order_acquire) == range->context &&
           !cx_cache_block_is_gone(cx_cache_block_at(index));
}

/* Lock held. Finds the block of a segment that contains an address. */
static void find_cached(const void *pointer, const cx_range *range, cx_pointer_block *out_block)
{
    uint32_t index = 0;
    uintptr_t start = (uintptr_t)pointer;
    out_block->state = CX_POINTER_FREED;
    out_block->size_bytes = 0;
    while (cx_start_find_last(&start, range->begin)) {
        index = entry_of((const void *)start);
        if (is_of_range(index, range))
            break;
        index = 0;
        if (start == range->begin)
            break;
        start--;
    }
    if (index == 0)
        return;
    const cx_cache_block *cached = cx_cache_block_at(index);
    uint64_t state = atomic_load(&cached->state);
    if (((uintptr_t)pointer - start) >> CX_FIT_UNIT_BITS < cached->node.units)
        describe_cached(index, state, (const void *)start, out_block);
}

/* Lock held. Finds a custom allocator's memory at an address, wherever that is. */
static void find_custom(const void *pointer, cx_pointer_block *out_block)
{
    size_t end, first = records_of(pointer, &end);
    while (end > first && (is_stale(&record_at(end - 1)->block) ||
                           !is_custom(record_at(end - 1)->block.allocator)))
        end--;
    if (end == first)
        return;
    const cx_block *block = &record_at(end - 1)->block;
    bool within = out_block->state != CX_POINTER_UNKNOWN;
    if (within && out_block->begin + out_block->size_bytes <
                      (uintptr_t)pointer + block->size_bytes)
        return;
    if (!within)
        out_block->state = CX_POINTER_CUSTOM;
    out_block->begin = (uintptr_t)pointer;
    out_block->size_bytes = block->size_bytes;
    out_block->cached = 0;
}

/* Lock held. */
static void find_slowly(const void *pointer, cx_pointer_block *out_block)
{
    const cx_range *range = range_at(pointer);
    *out_block = (cx_pointer_block){.state = CX_POINTER_UNKNOWN};
    if (range != NULL)
        *out_block = (cx_pointer_block){
            .state = CX_POINTER_LIVE,
            .begin = range->begin,
            .size_bytes = range->size_bytes,
            .context = range->context,
            .epoch = range->epoch,
            .stays = range->stays,
            .kind = range->kind,
            .mapped = range->mapped,
        };
    if (range != NULL && range->segment)
        find_cached(pointer, range, out_block);
    find_custom(pointer, out_block);
}

void cx_pointers_find(const void *pointer, cx_pointer_block *out_block)
{
    if (__builtin_expect(find_quickly(pointer, out_block), 1))
        return;
    cx_lock_enter(&lock);
    find_slowly(pointer, out_block);
    cx_lock_leave(&lock);
}
