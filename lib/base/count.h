/*
 * Counts of objects behind handles. The state is {generation of the handle, count} in one word, so
 * that a stale handle counts nothing of the object that took its slot.
 */
#ifndef CX_BASE_COUNT_H
#define CX_BASE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

#define CX_COUNT_MAX 0xffffffffu

typedef _Atomic uint64_t cx_count;

typedef enum cx_count_result {
    CX_COUNT_DONE,
    CX_COUNT_LAST,  /* given back, and it was the last one */
    CX_COUNT_STALE, /* the object is another one now, or has no count left */
    CX_COUNT_FULL
} cx_count_result;

static inline uint64_t cx_count_generation(const void *handle)
{
    return (uint64_t)(uintptr_t)handle >> 24 << 32;
}

/* Sets one count, for a handle just published. */
static inline void cx_count_start(cx_count *count, const void *handle)
{
    atomic_store(count, cx_count_generation(handle) | 1);
}

static inline cx_count_result cx_count_add(cx_count *count, const void *handle)
{
    uint64_t state = atomic_load(count);
    do {
        uint32_t counted = (uint32_t)state;
        if (state - counted != cx_count_generation(handle) || counted == 0)
            return CX_COUNT_STALE;
        if (counted == CX_COUNT_MAX)
            return CX_COUNT_FULL;
    } while (!atomic_compare_exchange_weak(count, &state, state + 1));
    return CX_COUNT_DONE;
}

static inline cx_count_result cx_count_drop(cx_count *count, const void *handle)
{
    uint64_t state = atomic_load(count);
    do {
        uint32_t counted = (uint32_t)state;
        if (state - counted != cx_count_generation(handle) || counted == 0)
            return CX_COUNT_STALE;
    } while (!atomic_compare_exchange_weak(count, &state, state - 1));
    return (uint32_t)state == 1 ? CX_COUNT_LAST : CX_COUNT_DONE;
}

#endif
