/*
 * The memory that an allocator has handed out, counted exactly with any number of threads.
 *
 * A request is reserved first, so that no two threads pass a limit together, and counted as in use
 * only once it was served: the peak never includes a failed request.
 */
#ifndef CX_MEMORY_COUNTERS_H
#define CX_MEMORY_COUNTERS_H

#include <ctxrt/allocator.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cx_counters {
    _Atomic uint64_t limit_bytes;    /* 0: none */
    _Atomic uint64_t reserved_bytes; /* in use, or requested and not served yet */
    _Atomic uint64_t current_bytes;
    _Atomic uint64_t peak_bytes;
    _Atomic uint64_t total_bytes;
    _Atomic uint64_t current_count;
    _Atomic uint64_t peak_count;
    _Atomic uint64_t total_count;
    _Atomic uint64_t failures;
} cx_counters;

void cx_counters_reset(cx_counters *figures, uint64_t limit_bytes);

/* Reserves a request. False: the limit forbids it, and it counts as a failure. After true the
 * caller calls one of the next two functions. */
bool cx_counters_reserve(cx_counters *figures, size_t bytes);
void cx_counters_served(cx_counters *figures, size_t bytes);
void cx_counters_failed(cx_counters *figures, size_t bytes);

void cx_counters_freed(cx_counters *figures, size_t bytes);

/* Each figure is exact; while other threads allocate, figures may be of different moments. */
void cx_counters_read(const cx_counters *figures, ctxrt_allocator_figures *out_figures);

#endif
