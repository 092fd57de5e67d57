/* Memory of a cache from the driver, and back. */
#include "base/error.h"
#include "context/context_guard.h"
#include "memory/cache.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"

/* A segment is at least this large, and at least this part of the held memory. */
#define SEGMENT_UNITS_MIN ((2u << 20) >> CX_FIT_UNIT_BITS)
#define SEGMENT_PART 8
/* A block is large from this size on; several of its size are taken at once, up to the second
 * size. */
#define BLOCK_UNITS_LARGE ((1u << 20) >> CX_FIT_UNIT_BITS)
#define SEGMENT_UNITS_AHEAD ((32u << 20) >> CX_FIT_UNIT_BITS)

/* ---- limits of the magazines ---- */

/* All magazines together may keep this part of the held memory, and no block beyond the second
 * part. */
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
    atomic_store(&cache->keep.large, !sparing && shortage == CX_SHORTAGE_NONE);
}

void cx_cache_set_shortage(cx_cache *cache, cx_shortage shortage)
{
    if (shortage == CX_SHORTAGE_HERE && atomic_load(&cache->shortage) == CX_SHORTAGE_SPENT)
        return;
    atomic_store(&cache->shortage, (int)shortage);
    cx_cache_set_keep(cache);
}

/* ---- growing ---- */

/* Rounds up to whole steps; a sum that is no number of units any more stays as it is. */
static uint64_t round_up(uint64_t units)
{
    uint64_t rounded = (units + SEGMENT_UNITS_MIN - 1) / SEGMENT_UNITS_MIN * SEGMENT_UNITS_MIN;
    return rounded <= UINT32_MAX ? rounded : units;
}

static cx_slot slot_of(const cx_cache *cache)
{
    return cache->mapped   ? CX_SLOT_mem_create
           : cache->pinned ? CX_SLOT_mem_host_alloc
                           : CX_SLOT_mem_alloc;
}

static cxu_result take_segment(const cx_cache *cache, uint64_t units, uintptr_t *out_address)
{
    const cx_driver *driver = cache->context->driver;
    size_t size_bytes = (size_t)units << CX_FIT_UNIT_BITS;
    CUdeviceptr address;
    void *pointer;
    cxu_result result = cache->pinned ? driver->table.mem_host_alloc(&pointer, size_bytes,
                                                                     CXU_MEMHOSTALLOC_PORTABLE)
                                      : driver->table.mem_alloc(&address, size_bytes);
    if (result == CXU_SUCCESS)
        *out_address = cache->pinned ? (uintptr_t)pointer : (uintptr_t)address;
    return result;
}

ctxrt_status cx_cache_enter_range(const cx_cache *cache, uintptr_t address, size_t size_bytes)
{
    const cx_range view = {
        .begin = address,
        .size_bytes = size_bytes,
        .context = cache->context,
        .epoch = cache->epoch,
        .kind = cache->pinned ? CTXRT_MEMORY_PINNED : CTXRT_MEMORY_DEVICE,
        .segment = true,
        .mapped = cache->mapped,
    };
    return cx_ranges_add(&view);
}

void cx_cache_leave_range(const cx_cache *cache, uintptr_t address)
{
    cx_ranges_remove(cache->context, cache->epoch, address, CX_FREED_WHEN_UNUSED);
}

void cx_cache_free_segment(const cx_cache *cache, uintptr_t address)
{
    const cx_driver *driver = cache->context->driver;
    cx_cache_leave_range(cache, address);
    if (cache->pinned)
        (void)driver->table.mem_free_host((void *)address);
    else
        (void)driver->table.mem_free(address);
}

/* The device's free memory, in whole steps. No driver tells the host's free memory for pinning. */
static uint64_t units_left(const cx_cache *cache)
{
    size_t free_bytes, total_bytes;
    const cx_driver *driver = cache->context->driver;
    if (cache->pinned || driver->table.mem_get_info(&free_bytes, &total_bytes) != CXU_SUCCESS)
        return 0;
    return free_bytes / CX_FIT_UNIT_BYTES / SEGMENT_UNITS_MIN * SEGMENT_UNITS_MIN;
}

/* The least segment for large blocks that leaves no tail: in whole steps; for pinned memory, which
 * drivers give in small pages, at least a step. 0: the blocks are not large. */
static uint64_t whole_blocks(const cx_cache *cache, uint64_t units)
{
    uint64_t divisor = units, rest = SEGMENT_UNITS_MIN;
    if (units < BLOCK_UNITS_LARGE)
        return 0;
    if (cache->pinned)
        return (SEGMENT_UNITS_MIN + units - 1) / units * units;
    while (rest != 0) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return units / divisor * SEGMENT_UNITS_MIN;
}

/* The wanted size, in whole blocks of the request if these are large. */
static uint64_t segment_units(const cx_cache *cache, uint64_t units, uint64_t least)
{
    uint64_t held = atomic_load(&cache->reserved_bytes) >> CX_FIT_UNIT_BITS;
    uint64_t wanted = round_up(held / SEGMENT_PART), blocks = whole_blocks(cache, units);
    uint64_t asked = round_up(cache->allocator->options.segment_bytes >> CX_FIT_UNIT_BITS);
    uint64_t limit = atomic_load(&cache->allocator->figures.limit_bytes) >> CX_FIT_UNIT_BITS;
    if (blocks > SEGMENT_UNITS_AHEAD && wanted < blocks)
        blocks = units;
    if (blocks != 0)
        wanted = wanted > blocks ? wanted - wanted % blocks : blocks;
    if (limit != 0 && held + wanted > limit)
        wanted = 0;
    if (asked > wanted && asked <= UINT32_MAX)
        wanted = asked;
    return at_least(wanted, least);
}

/* If the driver refuses a segment, tries the device's free memory, and then ever smaller segments,
 * down to the request itself. */
static cxu_result take_some_segment(cx_cache *cache, uint32_t units, uint64_t *out_units,
                                    uintptr_t *out_address)
{
    /* A small block needs a span of its own. */
    uint64_t least = units >= BLOCK_UNITS_LARGE ? units : round_up(units);
    *out_units = segment_units(cache, units, least);
    cxu_result result = take_segment(cache, *out_units, out_address);
    uint64_t left = result == CXU_OUT_OF_MEMORY ? units_left(cache) : 0;
    if (left > least && left < *out_units) {
        *out_units = left;
        result = take_segment(cache, left, out_address);
    }
    while (result == CXU_OUT_OF_MEMORY && *out_units > least) {
        uint64_t half = *out_units / 2;
        *out_units = at_least(half - half % SEGMENT_UNITS_MIN, least);
        result = take_segment(cache, *out_units, out_address);
    }
    return result;
}

/* If half of the device is in use, large blocks are better merged than kept; if most of it is,
 * memory is short. */
static void look_at_device(cx_cache *cache)
{
    size_t free_bytes, total_bytes;
    if (!cache->pinned &&
        cache->context->driver->table.mem_get_info(&free_bytes, &total_bytes) == CXU_SUCCESS)
        cx_cache_set_shortage(cache, free_bytes < total_bytes / 4   ? CX_SHORTAGE_HERE
                                     : free_bytes < total_bytes / 2 ? CX_SHORTAGE_COMING
                                                                    : CX_SHORTAGE_NONE);
}

void cx_cache_count_reserved(cx_cache *cache, uint64_t bytes)
{
    cx_counters_raise(&cache->peak_reserved_bytes,
                      atomic_fetch_add(&cache->reserved_bytes, bytes) + bytes);
    cx_cache_set_keep(cache);
}

/* Takes the block before another thread sees the segment and takes all of it. 0: no memory for a
 * node. */
static bool add_segment(cx_cache *cache, uintptr_t address, uint64_t units, uint32_t owner,
                        uint32_t cached_units, uint32_t *out_cached)
{
    cx_lock_enter(&cache->lock);
    bool added = cx_heap_add(&cache->heap, address, (uint32_t)units, 0);
    if (added)
        cx_cache_note_segment(cache, (int64_t)(units << CX_FIT_UNIT_BITS));
    *out_cached = added ? cx_cache_take_locked(cache, owner, cached_units) : 0;
    cx_lock_leave(&cache->lock);
    if (!added)
        return false;
    cx_cache_count_reserved(cache, units << CX_FIT_UNIT_BITS);
    return true;
}

static ctxrt_status allocate_segment(cx_cache *cache, uint32_t owner, uint32_t units,
                                     uint32_t *out_cached)
{
    const cx_driver *driver = cache->context->driver;
    uintptr_t address;
    uint64_t taken;
    cxu_result result = take_some_segment(cache, units, &taken, &address);
    if (result == CXU_SUCCESS)
        look_at_device(cache);
    if (result != CXU_SUCCESS)
        return cx_driver_error(driver, slot_of(cache), result);
    ctxrt_status status =
        cx_cache_enter_range(cache, address, (size_t)taken << CX_FIT_UNIT_BITS);
    if (status != CTXRT_SUCCESS) {
        cx_cache_free_segment(cache, address);
        return status;
    }
    if (!add_segment(cache, address, taken, owner, units, out_cached)) {
        cx_cache_free_segment(cache, address);
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to remember a segment of %s",
                        cx_context_text(cache->context));
    }
    return CTXRT_SUCCESS;
}

/* If the new memory's address is withheld, there may be too little of it, and more is needed. */
static ctxrt_status grow_until_taken(cx_cache *cache, uint32_t owner, uint32_t units,
                                     uint32_t *out_cached)
{
    uint32_t withholdings;
    do {
        withholdings = atomic_load(&cache->withholdings);
        ctxrt_status status = cache->mapped ? cx_cache_map(cache, owner, units, out_cached)
                                            : allocate_segment(cache, owner, units, out_cached);
        if (status != CTXRT_SUCCESS || *out_cached != 0)
            return status;
    } while (withholdings != atomic_load(&cache->withholdings));
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a block");
}

ctxrt_status cx_cache_grow(cx_cache *cache, uint32_t owner, uint32_t units, uint32_t *out_cached)
{
    const cx_driver *driver = cache->context->driver;
    if (cx_allocator_refuses_call(cache->allocator))
        return cx_driver_error(driver, slot_of(cache), CXU_OUT_OF_MEMORY);
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    ctxrt_status status = grow_until_taken(cache, owner, units, out_cached);
    cx_relaxed_capture_end(&relaxed);
    return status;
}

/* For a thread that frees under any current context, or none. */
static void look_from_anywhere(cx_cache *cache)
{
    cx_context_guard guard;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (cx_context_guard_enter(cache->context, &guard) == CTXRT_SUCCESS) {
        look_at_device(cache);
        cx_context_guard_leave(&guard);
    }
    cx_error_restore(&saved);
}

/* Work may still use the free memory: the driver waits for that before it frees. */
static uint64_t free_segments(cx_cache *cache, uint64_t kept_bytes)
{
    uint64_t bytes = 0;
    while (atomic_load(&cache->reserved_bytes) > kept_bytes) {
        uintptr_t address = 0;
        cx_lock_enter(&cache->lock);
        uint64_t units = cx_heap_remove_free(&cache->heap, &address);
        if (units != 0)
            cx_cache_note_segment(cache, -(int64_t)(units << CX_FIT_UNIT_BITS));
        cx_lock_leave(&cache->lock);
        if (units == 0)
            break;
        cx_cache_free_segment(cache, address);
        bytes += units << CX_FIT_UNIT_BITS;
        atomic_fetch_sub(&cache->reserved_bytes, units << CX_FIT_UNIT_BITS);
    }
    if (bytes != 0)
        look_from_anywhere(cache);
    return bytes;
}

/* Mapped memory is unmapped once its work is done; this does not wait. */
static uint64_t unmap_segments(cx_cache *cache, uint64_t kept_bytes)
{
    uint64_t reserved_bytes = atomic_load(&cache->reserved_bytes);
    (void)cx_cache_reclaim(cache, 0, CX_RECLAIM_ALL);
    return reserved_bytes > kept_bytes ? cx_cache_unmap(cache, reserved_bytes - kept_bytes) : 0;
}

/* Host memory is unpinned in the context where it was pinned; any context may be current. */
static uint64_t unpin_segments(cx_cache *cache, uint64_t kept_bytes)
{
    cx_context_guard guard;
    if (cx_context_guard_enter(cache->context, &guard) != CTXRT_SUCCESS)
        return 0;
    uint64_t bytes = free_segments(cache, kept_bytes);
    cx_context_guard_leave(&guard);
    return bytes;
}

static uint64_t shrink_to(cx_cache *cache, uint64_t kept_bytes)
{
    const cx_driver *driver = cache->context->driver;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    uint64_t bytes = cache->mapped   ? unmap_segments(cache, kept_bytes)
                     : cache->pinned ? unpin_segments(cache, kept_bytes)
                                     : free_segments(cache, kept_bytes);
    cx_relaxed_capture_end(&relaxed);
    return bytes;
}

uint64_t cx_cache_shrink(cx_cache *cache)
{
    return shrink_to(cache, 0);
}

void cx_cache_release_beyond(cx_cache *cache)
{
    uint64_t threshold = cache->allocator->options.release_threshold_bytes;
    if (threshold != 0 &&
        atomic_load_explicit(&cache->reserved_bytes, memory_order_relaxed) > threshold)
        (void)shrink_to(cache, threshold);
}

/* ---- refusing ---- */

typedef struct others {
    const cx_cache *cache;
    uint64_t bytes;
} others;

static void add_other(cx_cache *cache, void *argument)
{
    others *sum = argument;
    bool shares = cache->pinned ? sum->cache->pinned
                                : !sum->cache->pinned &&
                                      cache->context->device == sum->cache->context->device;
    if (cache != sum->cache && shares)
        sum->bytes += atomic_load(&cache->reserved_bytes);
}

static void describe_holders(cx_cache *cache, size_t size_bytes, char *text, size_t size)
{
    others sum = {.cache = cache};
    unsigned long long held = atomic_load(&cache->reserved_bytes);
    cx_caches_each(add_other, &sum);
    text[0] = '\0';
    if (held + sum.bytes == 0)
        return;
    /* The request is counted already. */
    const cx_counters *figures = &cache->allocator->figures;
    uint64_t bytes = atomic_load(&figures->live_bytes) - size_bytes;
    uint64_t count = atomic_load(&figures->live_count) - 1;
    snprintf(text, size,
             "this allocator holds %llu, of which %llu are in use in %llu piece%s, and others of "
             "ctxrt's hold %llu",
             held, (unsigned long long)bytes, (unsigned long long)count, count == 1 ? "" : "s",
             (unsigned long long)sum.bytes);
}

static ctxrt_status refuse_pinned(cx_cache *cache, size_t size_bytes, const char *holders)
{
    const cx_driver *driver = cache->context->driver;
    char why[240];
    cx_driver_explain(driver, CXU_OUT_OF_MEMORY, why, sizeof why);
    return cx_error_driver_call(CTXRT_ERROR_OUT_OF_MEMORY, cx_symbols[slot_of(cache)].symbol,
                                CXU_OUT_OF_MEMORY, cx_driver_result_name(driver, CXU_OUT_OF_MEMORY),
                                "there are not %zu bytes of pinned memory for %s%s%s%s%s",
                                size_bytes, cx_context_text(cache->context),
                                why[0] != '\0' ? ": " : "", why, holders[0] != '\0' ? ": " : "",
                                holders);
}

ctxrt_status cx_cache_out_of_memory(cx_cache *cache, size_t size_bytes, ctxrt_status cause)
{
    const cx_driver *driver = cache->context->driver;
    char holders[160], room[256];
    if (cause != CTXRT_ERROR_OUT_OF_MEMORY)
        return cause;
    atomic_fetch_add_explicit(&cache->refusals, 1, memory_order_relaxed);
    describe_holders(cache, size_bytes, holders, sizeof holders);
    if (cache->pinned)
        return refuse_pinned(cache, size_bytes, holders);
    const char *advice = cx_driver_advice(driver, CXU_OUT_OF_MEMORY);
    cx_driver_room_text(driver, room, sizeof room);
    return cx_error_driver_call(
        CTXRT_ERROR_OUT_OF_MEMORY, cx_symbols[slot_of(cache)].symbol, CXU_OUT_OF_MEMORY,
        cx_driver_result_name(driver, CXU_OUT_OF_MEMORY),
        "there are not %zu bytes for %s: %s%s%s%s%s", size_bytes, cx_context_text(cache->context),
        room, holders[0] != '\0' ? "; " : "", holders, advice[0] != '\0' ? "; " : "", advice);
}
