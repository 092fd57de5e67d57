/*
 * A heap whose one segment is a mapped range: addresses without memory are free ranges of
 * CX_FIT_NOWHERE, whole chunks each, which serve no request before memory is mapped there.
 *
 * A place is found in the heap, memory is mapped there by calls of the driver, and then the heap
 * has it, or has it no more: of these steps only the first and the last touch the heap. What is in
 * between is nobody else's.
 */
#ifndef CX_MEMORY_MAPPED_HEAP_H
#define CX_MEMORY_MAPPED_HEAP_H

#include "alloc/heap.h"
#include "memory/mapped_range.h"

/* A row of ranges of the large fit, taken out of what is free: each still has its owner. */
typedef struct cx_mapped_place {
    uint32_t first, last;
    uint32_t offset_units, units; /* what is needed, in the segment */
} cx_mapped_place;

/* Makes the range the heap's segment, nothing of it mapped. False: no memory to remember it. */
bool cx_mapped_heap_add(cx_heap *heap, const cx_mapped_range *range);

/*
 * Takes a place of so many units out of addresses without memory, with free memory of the owner's
 * or nobody's beside it: where it touches the fewest chunks that nothing is in, and lacks the least
 * memory. `densely`: out of free memory as well, as long as there are not too many free ranges to
 * look at. False: there is no such place.
 */
bool cx_mapped_heap_find(cx_heap *heap, const cx_mapped_range *range, uint32_t owner,
                         uint32_t units, bool densely, cx_mapped_place *out_place);

/* The place has memory now: one taken range of the owner's, and free ones. The taken one; 0: no
 * memory for a node, and all is free. */
uint32_t cx_mapped_heap_settle(cx_heap *heap, const cx_mapped_place *place, uint32_t owner);

/* Undoes cx_mapped_heap_find. */
void cx_mapped_heap_give_up(cx_heap *heap, const cx_mapped_place *place);

/* Bytes of the chunks that a place still needs; and what cx_mapped_range_map and _unmap do for a
 * part. */
size_t cx_mapped_place_lacks(const cx_mapped_range *range, const cx_mapped_place *place);
cxu_result cx_mapped_place_map(cx_mapped_range *range, const cx_mapped_place *place);
void cx_mapped_place_unmap(cx_mapped_range *range, const cx_mapped_place *place);

/* Takes a place out of nobody's free memory that consists of whole chunks, up to `wanted_bytes` of
 * them. False: there is none. Afterwards its memory goes, and it is nowhere. */
bool cx_mapped_heap_find_spare(cx_heap *heap, const cx_mapped_range *range, uint64_t wanted_bytes,
                               cx_mapped_place *out_place);
void cx_mapped_heap_remove(cx_heap *heap, const cx_mapped_place *place);

/* Calls visit for each stretch of mapped memory. */
void cx_mapped_heap_each(const cx_heap *heap,
                         void (*visit)(uintptr_t address, uint64_t bytes, void *argument),
                         void *argument);

#endif
