/* Flushes of thread statistics, and a cache's figures. */
#include "memory/cache.h"

static void raise_to(_Atomic int64_t *peak, int64_t value)
{
    int64_t seen = atomic_load_explicit(peak, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(peak, &seen, value))
        ;
}

static void write_signed(_Atomic int64_t *figure, int64_t value)
{
    atomic_store_explicit(figure, value, memory_order_relaxed);
}

static int64_t step_of(int64_t all, int64_t least)
{
    return all / CX_FLUSH_PART > least ? all / CX_FLUSH_PART : least;
}

/* Flushes a value, and returns the total of all threads. */
static int64_t flush_value(_Atomic int64_t *all, _Atomic int64_t *peak, _Atomic int64_t *told,
                           _Atomic int64_t *high, int64_t value)
{
    int64_t before = cx_statistics_read_signed(told);
    int64_t others = atomic_fetch_add(all, value - before) - before;
    raise_to(peak, others + cx_statistics_read_signed(high));
    write_signed(told, value);
    write_signed(high, value);
    return others + value;
}

void cx_statistics_flush(cx_cache *cache, cx_thread_statistics *own, int64_t bytes, int64_t count)
{
    int64_t all_bytes = flush_value(&cache->flushed_bytes, &cache->peak_bytes, &own->flushed_bytes,
                                    &own->high_bytes, bytes);
    int64_t all_count = flush_value(&cache->flushed_count, &cache->peak_count, &own->flushed_count,
                                    &own->high_count, count);
    own->low_bytes = bytes - step_of(all_bytes, CX_FLUSH_BYTES);
    own->low_count = count - step_of(all_count, CX_FLUSH_COUNT);
}

void cx_statistics_raise(cx_cache *cache, cx_thread_statistics *own, int64_t bytes, int64_t count)
{
    int64_t flushed_bytes = cx_statistics_read_signed(&own->flushed_bytes);
    int64_t flushed_count = cx_statistics_read_signed(&own->flushed_count);
    if (bytes > cx_statistics_read_signed(&own->high_bytes))
        write_signed(&own->high_bytes, bytes);
    if (count > cx_statistics_read_signed(&own->high_count))
        write_signed(&own->high_count, count);
    if (bytes - flushed_bytes >= flushed_bytes - own->low_bytes ||
        count - flushed_count >= flushed_count - own->low_count)
        cx_statistics_flush(cache, own, bytes, count);
}

uint64_t cx_cache_live(cx_cache *cache)
{
    cx_totals totals;
    cx_cache_sum(cache, &totals);
    return totals.allocated_count - totals.freed_count;
}

static uint64_t largest_of(int64_t a, int64_t b, uint64_t c)
{
    uint64_t most = a > 0 ? (uint64_t)a : 0;
    if (b > 0 && (uint64_t)b > most)
        most = (uint64_t)b;
    return c > most ? c : most;
}

void cx_cache_figures(cx_cache *cache, ctxrt_allocator_figures *out_figures)
{
    cx_totals totals;
    cx_cache_sum(cache, &totals);
    uint64_t bytes = totals.allocated_bytes - totals.freed_bytes;
    uint64_t count = totals.allocated_count - totals.freed_count;
    *out_figures = (ctxrt_allocator_figures){
        .current_bytes = bytes,
        .peak_bytes = largest_of(atomic_load(&cache->peak_bytes),
                                 atomic_load(&cache->flushed_bytes) + totals.high_bytes, bytes),
        .total_bytes = totals.allocated_bytes,
        .current_count = count,
        .peak_count = largest_of(atomic_load(&cache->peak_count),
                                 atomic_load(&cache->flushed_count) + totals.high_count, count),
        .total_count = totals.allocated_count,
        .failures = atomic_load(&cache->failures),
        .limit_bytes = atomic_load(&cache->allocator->figures.limit_bytes),
    };
}
