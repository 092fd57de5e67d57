#include "memory/counters.h"

void cx_counters_reset(cx_counters *figures, uint64_t limit_bytes)
{
    *figures = (cx_counters){.limit_bytes = limit_bytes};
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

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What is live has requests in it that are not served yet, and so in no total. */
void cx_counters_read(const cx_counters *figures, ctxrt_allocator_figures *out_figures)
{
    uint64_t live_bytes = atomic_load(&figures->live_bytes),
             live_count = atomic_load(&figures->live_count) & ~CX_COUNTERS_CLOSED,
             total_bytes = atomic_load(&figures->total_bytes),
             total_count = atomic_load(&figures->total_count);
    *out_figures = (ctxrt_allocator_figures){
        .current_bytes = smaller_of(live_bytes, total_bytes),
        .peak_bytes = atomic_load(&figures->peak_bytes),
        .total_bytes = total_bytes,
        .current_count = smaller_of(live_count, total_count),
        .peak_count = atomic_load(&figures->peak_count),
        .total_count = total_count,
        .failures = atomic_load(&figures->failures),
        .limit_bytes = atomic_load(&figures->limit_bytes),
    };
}
