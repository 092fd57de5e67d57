#include "memory/pointer_table.h"

#include "base/error.h"
#include "base/lock.h"
#include "memory/cache.h"
#include "memory/ranges.h"

/* Lock "pointers". */
static cx_lock lock = CX_LOCK_INIT(POINTERS);
_Atomic uint32_t cx_pointers_custom;
_Atomic bool cx_pointers_may_be_owed;

/* ---- entries ---- */

static uint64_t slot_of(const void *pointer, uint32_t entry)
{
    return cx_pointer_key(pointer) << 25 | entry;
}

static uint64_t slot_of_cached(uint32_t cached)
{
    return slot_of(atomic_load_explicit(&cx_cache_block_at(cached)->pointer, memory_order_relaxed),
                   cached);
}

static uint64_t slot_of_record(const cx_pointer_record *record)
{
    return slot_of(record->block.pointer, CX_POINTER_IS_RECORD | cx_pointer_record_index(record));
}

static cx_block block_of(uint64_t slot)
{
    return cx_pointer_slot_is_record(slot)
               ? cx_pointer_slot_record(slot)->block
               : cx_cache_block_as_block(cx_pointer_slot_index(slot));
}

/* The kind of raw pointer of an entry; 0: none. */
static int kind_of(uint64_t slot)
{
    if (cx_pointer_slot_is_record(slot))
        return (int)cx_pointer_slot_record(slot)->kind;
    uint64_t state = atomic_load(&cx_cache_block_at(cx_pointer_slot_index(slot))->state);
    return (state & CX_CACHE_BLOCK_RAW) != 0 ? CX_POINTER_DEVICE : 0;
}

static bool is_stale(uint64_t slot)
{
    const cx_block block = block_of(slot);
    return atomic_load(&block.context->epoch) != block.epoch;
}

static bool is_of_one_epoch(uint64_t slot, uint64_t other)
{
    const cx_block block = block_of(slot), before = block_of(other);
    return block.context == before.context && block.epoch == before.epoch;
}

/* ---- entries of an address; lock held ---- */

static bool is_custom(const cx_allocator *allocator)
{
    return allocator != NULL && allocator->vtable.alloc != NULL;
}

/* Finds the youngest entry at an address that is a cache's block, or a custom allocator's record if
 * `custom`. */
static bool find_youngest(const void *pointer, bool custom, uint64_t *out_slot)
{
    uint64_t place;
    bool any = false;
    for (bool found = cx_pointers_first(pointer, &place); found;
         found = cx_pointers_next(pointer, &place)) {
        uint64_t slot = cx_pointers_read(cx_pointers_table(), place);
        if (cx_pointer_slot_is_record(slot) != custom ||
            (custom && (is_stale(slot) || !is_custom(block_of(slot).allocator))))
            continue;
        *out_slot = slot;
        any = true;
    }
    return any;
}

/* ---- blocks of caches ---- */

bool cx_pointers_enter(uint32_t cached)
{
    cx_lock_enter(&lock);
    uint64_t slot = slot_of_cached(cached);
    bool entered = cx_pointers_insert(slot);
    if (entered)
        cx_ranges_set_start((uintptr_t)cx_pointer_slot_address(slot));
    cx_lock_leave(&lock);
    return entered;
}

void cx_pointers_leave(uint32_t cached)
{
    uint64_t slot = slot_of_cached(cached);
    cx_lock_enter(&lock);
    cx_pointers_erase_slot(cx_pointer_slot_address(slot), slot);
    cx_lock_leave(&lock);
}

uint32_t cx_pointers_cached_at(const void *pointer)
{
    uint64_t slot;
    cx_lock_enter(&lock);
    bool found = find_youngest(pointer, false, &slot);
    cx_lock_leave(&lock);
    return found ? cx_pointer_slot_index(slot) : 0;
}

/* ---- records ---- */

/* Lock held. */
static bool insert_record(cx_pointer_record *record)
{
    bool added = cx_pointers_insert(slot_of_record(record));
    if (added && is_custom(record->block.allocator))
        atomic_fetch_add(&cx_pointers_custom, 1);
    return added;
}

ctxrt_status cx_pointers_put(cx_pointer_record *record)
{
    ctxrt_status status = cx_pointer_record_enter(record);
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

/* Lock held. Takes the block's entry out of the table, and puts the record in if the block was a
 * raw pointer. False: the block was a raw pointer, and the caller has made no record. The record
 * goes in first. The address of a raw pointer that is still to be freed must never have the entry
 * of another block alone, or cx_pointers_take_cached would free that block. */
static bool retire_as(uint32_t cached, cx_pointer_record **record)
{
    _Atomic uint64_t *state = &cx_cache_block_at(cached)->state;
    uint64_t slot = slot_of_cached(cached);
    bool raw = (atomic_load(state) & CX_CACHE_BLOCK_RAW) != 0;
    if (raw && *record == NULL)
        return false;
    bool kept = raw && insert_record(*record);
    cx_pointers_erase_slot(cx_pointer_slot_address(slot), slot);
    raw = (atomic_fetch_and(state, ~(uint64_t)CX_CACHE_BLOCK_RAW) & CX_CACHE_BLOCK_RAW) != 0;
    if (kept && raw)
        *record = NULL;
    else if (kept)
        cx_pointers_erase_slot((*record)->block.pointer, slot_of_record(*record));
    return true;
}

void cx_pointers_retire(uint32_t cached)
{
    cx_pointer_record *record = NULL;
    for (;;) {
        cx_lock_enter(&lock);
        bool retired = retire_as(cached, &record);
        cx_lock_leave(&lock);
        if (retired)
            break;
        record = cx_pointer_record_make(CX_POINTER_DEVICE);
        if (record == NULL)
            return; /* the block stays in the table */
        record->block = cx_cache_block_as_block(cached);
    }
    if (record != NULL)
        cx_pointer_record_drop(record);
}

bool cx_pointers_make_raw(uint32_t cached)
{
    uint64_t place, slot = slot_of_cached(cached);
    cx_lock_enter(&lock);
    bool found = cx_pointers_first(cx_pointer_slot_address(slot), &place);
    while (found && cx_pointers_read(cx_pointers_table(), place) != slot)
        found = cx_pointers_next(cx_pointer_slot_address(slot), &place);
    if (found)
        atomic_fetch_or(&cx_cache_block_at(cached)->state, CX_CACHE_BLOCK_RAW);
    cx_lock_leave(&lock);
    return found;
}

void cx_pointers_each_record(void (*visit)(const cx_pointer_record *record, void *argument),
                             void *argument)
{
    cx_lock_enter(&lock);
    const cx_pointer_slots *table = cx_pointers_table();
    for (uint64_t i = 0; table != NULL && i <= table->mask; i++) {
        uint64_t slot = cx_pointers_read(table, i);
        if (slot != 0 && cx_pointer_slot_is_record(slot))
            visit(cx_pointer_slot_record(slot), argument);
    }
    cx_lock_leave(&lock);
}

/* ---- taking; lock held ---- */

/* False: another thread has taken the block meanwhile. */
static bool take_at(uint64_t place, cx_pointer_taken *out_taken)
{
    uint64_t slot = cx_pointers_read(cx_pointers_table(), place);
    if (cx_pointer_slot_is_record(slot)) {
        *out_taken = (cx_pointer_taken){.record = cx_pointer_slot_record(slot)};
        if (is_custom(cx_pointer_slot_record(slot)->block.allocator))
            atomic_fetch_sub(&cx_pointers_custom, 1);
        cx_pointers_erase(place);
        return true;
    }
    *out_taken = (cx_pointer_taken){.cached = cx_pointer_slot_index(slot)};
    _Atomic uint64_t *state = &cx_cache_block_at(cx_pointer_slot_index(slot))->state;
    return (atomic_fetch_and(state, ~(uint64_t)CX_CACHE_BLOCK_RAW) & CX_CACHE_BLOCK_RAW) != 0;
}

static bool is_custom_slot(uint64_t slot)
{
    return cx_pointer_slot_is_record(slot) &&
           is_custom(cx_pointer_slot_record(slot)->block.allocator);
}

/* Chooses memory of the oldest epoch if a reset ended that, and of that, or of all, the youngest. A
 * former block came into the table as a record when it was retired, and is still older than memory
 * that a custom allocator placed in it. *out_other: the kind of another raw pointer there. */
static bool choose_entry(const void *pointer, int kinds, uint64_t *out_place, int *out_other)
{
    uint64_t place, oldest = 0;
    bool chosen = false;
    *out_other = 0;
    for (bool found = cx_pointers_first(pointer, &place); found;
         found = cx_pointers_next(pointer, &place)) {
        uint64_t slot = cx_pointers_read(cx_pointers_table(), place);
        int kind = kind_of(slot);
        if ((kind & kinds) == 0) {
            *out_other |= kind;
            continue;
        }
        if (oldest != 0 && (!is_of_one_epoch(slot, oldest) ||
                            (is_custom_slot(oldest) && !is_custom_slot(slot))))
            continue;
        if (is_stale(slot))
            oldest = slot;
        *out_place = place;
        chosen = true;
    }
    return chosen;
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
                              cx_pointer_taken *out_taken)
{
    uint64_t place;
    int other = 0;
    bool taken = false;
    cx_lock_enter(&lock);
    while (!taken && choose_entry(pointer, kinds, &place, &other))
        taken = take_at(place, out_taken);
    cx_lock_leave(&lock);
    return taken ? CTXRT_SUCCESS : refuse_pointer(call, pointer, other);
}

/* ---- memory that is gone ---- */

bool cx_pointers_take_gone(const cx_pointer_new *newest, cx_pointer_taken *out_taken)
{
    bool taken = false;
    uint64_t place, own = slot_of(newest->pointer, newest->entry);
    cx_lock_enter(&lock);
    bool found = atomic_load(&newest->context->epoch) == newest->epoch &&
                 cx_pointers_first(newest->pointer, &place);
    while (found && !taken) {
        uint64_t slot = cx_pointers_read(cx_pointers_table(), place);
        bool gone =
            slot != own && kind_of(slot) != 0 && !is_stale(slot) &&
            (!is_custom(newest->allocator) || block_of(slot).allocator == newest->allocator);
        if (gone)
            taken = take_at(place, out_taken);
        if (!taken)
            found = cx_pointers_next(newest->pointer, &place);
    }
    cx_lock_leave(&lock);
    return taken;
}

/* Lock held. Finds the oldest raw pointer of one of `kinds` at an address that is from before a
 * reset, or that is not. */
static bool find_raw(const void *pointer, int kinds, bool stale, uint64_t *out_place)
{
    bool found = cx_pointers_first(pointer, out_place);
    for (; found; found = cx_pointers_next(pointer, out_place)) {
        uint64_t slot = cx_pointers_read(cx_pointers_table(), *out_place);
        if ((kind_of(slot) & kinds) != 0 && is_stale(slot) == stale)
            return true;
    }
    return false;
}

bool cx_pointers_take_stale(const void *pointer, cx_pointer_kind kind, cx_pointer_taken *out_taken)
{
    uint64_t place;
    bool taken = false;
    cx_lock_enter(&lock);
    while (!taken && find_raw(pointer, (int)kind, true, &place))
        taken = take_at(place, out_taken);
    cx_lock_leave(&lock);
    return taken;
}

/* Memory in stream order outlives a reset, and registered pages are freed by a call of their own.
 */
bool cx_pointers_search_owed(const void *pointer)
{
    uint64_t place;
    cx_lock_enter(&lock);
    bool owed = find_raw(pointer, CX_POINTER_DEVICE | CX_POINTER_MANAGED | CX_POINTER_PINNED, true,
                         &place);
    cx_lock_leave(&lock);
    return owed;
}

bool cx_pointers_has(const void *pointer, const cx_context **out_context)
{
    uint64_t place;
    cx_lock_enter(&lock);
    bool has = find_raw(pointer, ~0, false, &place);
    if (has)
        *out_context = block_of(cx_pointers_read(cx_pointers_table(), place)).context;
    cx_lock_leave(&lock);
    return has;
}

/* ---- queries ---- */

void cx_pointers_lock(void)
{
    cx_lock_enter(&lock);
}

void cx_pointers_unlock(void)
{
    cx_lock_leave(&lock);
}

static void describe_cached(uint32_t index, uint64_t state, const void *start,
                            cx_pointer_block *out_block)
{
    out_block->state = (state & CX_CACHE_BLOCK_COUNT_MAX) != 0 ? CX_POINTER_LIVE : CX_POINTER_FREED;
    out_block->begin = (uintptr_t)start;
    out_block->size_bytes = cx_cache_block_size(cx_cache_block_at(index));
    out_block->cached = index;
    out_block->generation = (uint32_t)(state >> 32);
}

/* True if the block is of the range that *range tells. Blocks from before a reset are in the table
 * until their cache learns of it, while other blocks may have their addresses. */
static bool is_of_range(uint32_t index, const cx_pointer_block *range)
{
    const cx_cache *cache = cx_cache_of(index);
    return atomic_load_explicit(&cache->epoch, memory_order_acquire) == range->epoch &&
           atomic_load_explicit(&cache->context, memory_order_acquire) == range->context &&
           !cx_cache_block_is_gone(cx_cache_block_at(index));
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
    if (index == 0 || atomic_load_explicit(&cx_address_collisions, memory_order_relaxed) != 0)
        return false;
    const cx_cache_block *head = cx_cache_block_at(index);
    uint64_t state = atomic_load_explicit(&head->state, memory_order_acquire);
    bool live = (state & CX_CACHE_BLOCK_GONE) == 0 && describe_cache(index, out_block);
    describe_cached(index, state, pointer, out_block);
    return live && out_block->state == CX_POINTER_LIVE &&
           atomic_load_explicit(&head->pointer, memory_order_acquire) == pointer &&
           atomic_load_explicit(&head->state, memory_order_acquire) == state;
}

/* Lock held. Finds the block of a range that starts at an address. */
static bool find_in_range(const void *pointer, const cx_pointer_block *range, uint32_t *out_cached)
{
    uint64_t place;
    bool any = false;
    for (bool found = cx_pointers_first(pointer, &place); found;
         found = cx_pointers_next(pointer, &place)) {
        uint64_t slot = cx_pointers_read(cx_pointers_table(), place);
        if (cx_pointer_slot_is_record(slot) || !is_of_range(cx_pointer_slot_index(slot), range))
            continue;
        *out_cached = cx_pointer_slot_index(slot);
        any = true;
    }
    return any;
}

static bool piece_starts_at(const void *range, uintptr_t address)
{
    uint32_t cached;
    return find_in_range((const void *)address, range, &cached);
}

/* Lock held. Finds the block that contains an address, of the segment that *out_block tells. */
static void find_cached(const void *pointer, cx_pointer_block *out_block)
{
    uint32_t index;
    uintptr_t start = cx_ranges_start((uintptr_t)pointer, piece_starts_at, out_block);
    out_block->state = CX_POINTER_FREED;
    out_block->size_bytes = 0;
    if (start == 0 || !find_in_range((const void *)start, out_block, &index))
        return;
    const cx_cache_block *cached = cx_cache_block_at(index);
    uint64_t state = atomic_load(&cached->state);
    if (((uintptr_t)pointer - start) >> CX_FIT_UNIT_BITS < cached->node.units)
        describe_cached(index, state, (const void *)start, out_block);
}

/* Lock held. Finds a custom allocator's memory at an address, wherever that is. */
static void find_custom(const void *pointer, cx_pointer_block *out_block)
{
    uint64_t slot;
    if (!find_youngest(pointer, true, &slot))
        return;
    const cx_block block = block_of(slot);
    bool within = out_block->state != CX_POINTER_UNKNOWN;
    if (within && out_block->begin + out_block->size_bytes <
                      (uintptr_t)pointer + block.size_bytes)
        return;
    if (!within)
        out_block->state = CX_POINTER_CUSTOM;
    out_block->begin = (uintptr_t)pointer;
    out_block->size_bytes = block.size_bytes;
    out_block->cached = 0;
}

/* Lock held. Describes the range at an address; true if it is a segment. */
static bool describe_range(const void *pointer, cx_pointer_block *out_block)
{
    cx_range_view range;
    if (!cx_ranges_find(pointer, &range)) {
        *out_block = (cx_pointer_block){.state = CX_POINTER_UNKNOWN};
        return false;
    }
    *out_block = (cx_pointer_block){
        .state = CX_POINTER_LIVE,
        .begin = range.begin,
        .size_bytes = range.size_bytes,
        .context = range.context,
        .epoch = range.epoch,
        .stays = range.stays,
        .kind = range.kind,
        .mapped = range.mapped,
    };
    return range.segment;
}

void cx_pointers_find(const void *pointer, cx_pointer_block *out_block)
{
    bool custom = atomic_load_explicit(&cx_pointers_custom, memory_order_relaxed) != 0;
    if (__builtin_expect(!custom && find_quickly(pointer, out_block), 1))
        return;
    cx_lock_enter(&lock);
    if (describe_range(pointer, out_block))
        find_cached(pointer, out_block);
    if (custom)
        find_custom(pointer, out_block);
    cx_lock_leave(&lock);
}
