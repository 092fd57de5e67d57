#include "memory/counters.h"

void cx_counters_reset(cx_counters *figures, uint64_t limit_bytes)
{
    atomic_store(&figures->limit_bytes, limit_bytes);
    atomic_store(&figures->live_bytes, 0);
    atomic_store(&figures->live_count, 0);
    atomic_store(&figures->total_bytes, 0);
    atomic_store(&figures->total_count, 0);
    atomic_store(&figures->peak_bytes, 0);
    atomic_store(&figures->peak_count, 0);
    atomic_store(&figures->failures, 0);
}

bool cx_counters_reserve(cx_counters *figures, size_t bytes)
{
    uint64_t live = atomic_load(&figures->live_bytes), sum, limit;
    do {
        limit = atomic_load(&figures->limit_bytes);
        if (__builtin_add_overflow(live, bytes, &sum) || (limit != 0 && sum > limit)) {
            atomic_fetch_add(&figures->failures, 1);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&figures->live_bytes, &live, sum));
    atomic_fetch_add(&figures->live_count, 1);
    return true;
}

void cx_counters_raise(_Atomic uint64_t *peak, uint64_t value)
{
    uint64_t seen = atomic_load(peak);
    while (seen < value && !atomic_compare_exchange_weak(peak, &seen, value))
        ;
}

void cx_counters_served(cx_counters *figures, size_t bytes)
{
    atomic_fetch_add(&figures->total_bytes, bytes);
    atomic_fetch_add(&figures->total_count, 1);
    cx_counters_raise(&figures->peak_bytes, atomic_load(&figures->live_bytes));
    cx_counters_raise(&figures->peak_count, atomic_load(&figures->live_count));
}

void cx_counters_failed(cx_counters *figures, size_t bytes)
{
    cx_counters_freed(figures, bytes);
    atomic_fetch_add(&figures->failures, 1);
}

void cx_counters_read(const cx_counters *figures, ctxrt_allocator_figures *out_figures)
{
    *out_figures = (ctxrt_allocator_figures){
        .current_bytes = atomic_load(&figures->live_bytes),
        .peak_bytes = atomic_load(&figures->peak_bytes),
        .total_bytes = atomic_load(&figures->total_bytes),
        .current_count = atomic_load(&figures->live_count),
        .peak_count = atomic_load(&figures->peak_count),
        .total_count = atomic_load(&figures->total_count),
        .failures = atomic_load(&figures->failures),
        .limit_bytes = atomic_load(&figures->limit_bytes),
    };
}
