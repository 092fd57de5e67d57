/*
 * Segments of device memory with their free ranges: two fits, one within the other. Small blocks
 * are in spans, which are blocks of the large fit, so that a long-lived small block does not split
 * large ranges. No lock and no driver.
 */
#ifndef CX_ALLOC_HEAP_H
#define CX_ALLOC_HEAP_H

#include "alloc/fit.h"

/* The sizes of the largest small block, and of a span. */
#define CX_HEAP_SMALL_UNITS ((16u << 10) >> CX_FIT_UNIT_BITS)
#define CX_HEAP_SPAN_UNITS ((2u << 20) >> CX_FIT_UNIT_BITS)

typedef struct cx_heap_segment {
    uintptr_t address; /* 0: the number is unused */
    uint32_t units;
    uint32_t first; /* the first range, always; of a span its node in the large fit */
} cx_heap_segment;

typedef struct cx_heap {
    cx_fit large;
    cx_fit small;
    cx_heap_segment *segments, *spans; /* spans: with no address; `first` 0: unused */
    uint32_t segment_count, segment_capacity, span_count, span_capacity;
} cx_heap;

/* `user`: as in cx_fit_open. */
void cx_heap_open(cx_heap *heap, cx_fit_store *store, void *user);

/* Closes the heap; taken ranges are no longer known to it. */
void cx_heap_close(cx_heap *heap);

/* Adds free memory, a multiple of a unit, that belongs to the owner. False: no memory for its
 * record. */
bool cx_heap_add(cx_heap *heap, uintptr_t address, uint32_t units, uint32_t owner);

/* As cx_fit_take and cx_fit_give. */
uint32_t cx_heap_take(cx_heap *heap, uint32_t owner, uint32_t units);
void cx_heap_give(cx_heap *heap, uint32_t index);

/* As cx_fit_narrow, to the first units of a block. */
uint32_t cx_heap_narrow(cx_heap *heap, uint32_t index, uint32_t units);

/* As cx_fit_transfer. */
bool cx_heap_transfer(cx_heap *heap, uint32_t index, uint32_t owner);

uintptr_t cx_heap_address(const cx_heap *heap, uint32_t index);

/* cx_fit_move in both fits. */
bool cx_heap_move(cx_heap *heap, uint32_t from, uint32_t to);

/* Removes a wholly free segment of any owner: returns its units, or 0 if there is none. */
uint32_t cx_heap_remove_free(cx_heap *heap, uintptr_t *out_address);

/* Removes any segment: returns its units, or 0 if none is left. For a heap that is about to be
 * closed. */
uint32_t cx_heap_remove_any(cx_heap *heap, uintptr_t *out_address);

/* As cx_fit_abandon and cx_fit_drop: the memory of all segments is gone. */
void cx_heap_abandon(cx_heap *heap, void (*visit)(uint32_t index, void *argument), void *argument);
void cx_heap_drop(cx_heap *heap, uint32_t index);

/* The number of free ranges, including those in spans. */
static inline uint64_t cx_heap_free_count(const cx_heap *heap)
{
    return heap->large.free_count + heap->small.free_count;
}

/* True if an address is in a segment. */
bool cx_heap_has(const cx_heap *heap, uintptr_t address);

/* Calls visit for every taken range except spans. */
void cx_heap_each_block(const cx_heap *heap,
                        void (*visit)(uint32_t index, uintptr_t address, void *argument),
                        void *argument);

/* The free units that only this owner may use. */
uint64_t cx_heap_owned_units(const cx_heap *heap, uint32_t owner);

/* Forgets an owner without any ranges, taken or free. */
void cx_heap_forget(cx_heap *heap, uint32_t owner);

#endif
