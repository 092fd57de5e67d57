/*
 * Segments of device memory and what of them is free: two fits, one within the other. Small blocks
 * live in spans of their own, which are blocks of the large fit, so that a small block that stays
 * does not stand between large ones. No lock and no driver.
 */
#ifndef CX_ALLOC_HEAP_H
#define CX_ALLOC_HEAP_H

#include "alloc/fit.h"

/* The largest small block, and a span. */
#define CX_HEAP_SMALL_UNITS ((16u << 10) >> CX_FIT_UNIT_BITS)
#define CX_HEAP_SPAN_UNITS ((2u << 20) >> CX_FIT_UNIT_BITS)

typedef struct cx_heap_segment {
    uintptr_t address; /* 0: the number is unused */
    uint32_t units;
    uint32_t first; /* range, which stays the first */
} cx_heap_segment;

typedef struct cx_heap {
    cx_fit large;
    cx_fit small;
    cx_heap_segment *segments;
    uint32_t segment_count, segment_capacity;
    uint32_t *spans; /* of each span: its node in the large fit; 0: the number is unused */
    uint32_t span_count, span_capacity;
} cx_heap;

/* `user` is what cx_fit_user says of every node. */
void cx_heap_open(cx_heap *heap, cx_fit_store *store, void *user);

/* What was taken stays where it is, and is nothing to the heap any more. */
void cx_heap_close(cx_heap *heap);

/* Adds memory, a multiple of a unit, that is free and the owner's. False: no memory to remember
 * it. */
bool cx_heap_add(cx_heap *heap, uintptr_t address, uint32_t units, uint32_t owner);

/* As cx_fit_take and cx_fit_give. */
uint32_t cx_heap_take(cx_heap *heap, uint32_t owner, uint32_t units);
void cx_heap_give(cx_heap *heap, uint32_t index);

/* As cx_fit_transfer. */
bool cx_heap_transfer(cx_heap *heap, uint32_t index, uint32_t owner);

uintptr_t cx_heap_address(const cx_heap *heap, uint32_t index);

/* cx_fit_move in both fits. */
bool cx_heap_move(cx_heap *heap, uint32_t from, uint32_t to);

/* Removes a segment that is free altogether, whoever freed it: its units, or 0 if there is none. */
uint32_t cx_heap_remove_free(cx_heap *heap, uintptr_t *out_address);

/* Removes any segment: its units, or 0 if there is none left. For a heap that is to be closed. */
uint32_t cx_heap_remove_any(cx_heap *heap, uintptr_t *out_address);

/* Ranges that are free: in spans too. */
static inline uint64_t cx_heap_free_count(const cx_heap *heap)
{
    return heap->large.free_count + heap->small.free_count;
}

/* Whether an address is in a segment. */
bool cx_heap_has(const cx_heap *heap, uintptr_t address);

/* The taken range that an address is in, not a span; 0: none. Looks at all of them. */
uint32_t cx_heap_find(const cx_heap *heap, uintptr_t address);

/* Calls visit for every taken range that is no span. */
void cx_heap_each_block(const cx_heap *heap,
                        void (*visit)(uint32_t index, uintptr_t address, void *argument),
                        void *argument);

/* Units that only this owner may have. */
uint64_t cx_heap_owned_units(const cx_heap *heap, uint32_t owner);

/* Neither a taken nor a free range is the owner's any more. */
void cx_heap_forget(cx_heap *heap, uint32_t owner);

#endif
