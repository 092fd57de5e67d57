/*
 * The memory that an allocator has handed out, counted by any number of threads.
 *
 * A request is counted before it is served, so that no two threads pass a limit together, and
 * raises the peaks only once it was served: they include no failed request.
 */
#ifndef CX_MEMORY_COUNTERS_H
#define CX_MEMORY_COUNTERS_H

#include <ctxrt/allocator.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CX_COUNTERS_CLOSED ((uint64_t)1 << 63)

typedef struct cx_counters {
    _Atomic uint64_t limit_bytes; /* 0: none */
    /* with requests being served; CX_COUNTERS_CLOSED in the count: those wait */
    _Atomic uint64_t live_bytes, live_count;
    _Atomic uint64_t total_bytes, total_count;
    _Atomic uint64_t peak_bytes, peak_count;
    _Atomic uint64_t failures;
} cx_counters;

void cx_counters_reset(cx_counters *figures, uint64_t limit_bytes);

/* Counts a request. False: the limit forbids it, and it counts as a failure. After true the caller
 * calls one of the next two functions. */
bool cx_counters_reserve(cx_counters *figures, size_t bytes);
void cx_counters_served(cx_counters *figures, size_t bytes);
void cx_counters_failed(cx_counters *figures, size_t bytes);

void cx_counters_raise(_Atomic uint64_t *peak, uint64_t value);

/* Counts a served request of an allocator without a limit. What is live is one number, so that a
 * peak is what was live at one moment, whatever other threads free in between. */
static inline void cx_counters_add(cx_counters *figures, size_t bytes)
{
    uint64_t live_bytes = atomic_fetch_add(&figures->live_bytes, bytes) + bytes;
    uint64_t live_count = atomic_fetch_add(&figures->live_count, 1) + 1;
    atomic_fetch_add_explicit(&figures->total_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&figures->total_count, 1, memory_order_relaxed);
    if (live_bytes > atomic_load_explicit(&figures->peak_bytes, memory_order_relaxed))
        cx_counters_raise(&figures->peak_bytes, live_bytes);
    if (live_count > atomic_load_explicit(&figures->peak_count, memory_order_relaxed))
        cx_counters_raise(&figures->peak_count, live_count);
}

/* The last step of a free: once it is counted, the allocator may be destroyed. */
static inline void cx_counters_freed(cx_counters *figures, size_t bytes)
{
    atomic_fetch_sub_explicit(&figures->live_bytes, bytes, memory_order_release);
    atomic_fetch_sub_explicit(&figures->live_count, 1, memory_order_release);
}

/* While other threads allocate, figures may be of different moments. */
void cx_counters_read(const cx_counters *figures, ctxrt_allocator_figures *out_figures);

#endif
