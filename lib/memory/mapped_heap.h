/*
 * A heap whose one segment is a mapped range: addresses without memory are free ranges of
 * CX_FIT_NOWHERE, in whole chunks, which serve no request before memory is mapped there.
 *
 * There are three steps: a place is taken out of the heap, driver calls map memory there, and then
 * the heap gets the place back, or loses it. Only the first and the last step touch the heap; in
 * between the place belongs to the caller.
 */
#ifndef CX_MEMORY_MAPPED_HEAP_H
#define CX_MEMORY_MAPPED_HEAP_H

#include "alloc/heap.h"
#include "memory/mapped_range.h"

/* Adjacent ranges of the large fit, taken out of its free memory: each keeps its owner. */
typedef struct cx_mapped_place {
    uint32_t first, last;
    uint32_t offset_units, units; /* the needed part, in the segment */
} cx_mapped_place;

/* Makes the range the heap's segment, with nothing mapped. False: out of memory. */
bool cx_mapped_heap_add(cx_heap *heap, const cx_mapped_range *range);

/*
 * Takes a place of `units` units out of addresses without memory, together with adjacent free
 * memory, the owner's or unowned. It prefers places that touch the fewest empty chunks, then those
 * that lack the least memory. `densely`: also out of free memory, while there are not too many free
 * ranges to look at. False: there is no such place.
 */
bool cx_mapped_heap_find(cx_heap *heap, const cx_mapped_range *range, uint32_t owner,
                         uint32_t units, bool densely, cx_mapped_place *out_place);

/* The place has memory now: makes it one taken range of the owner's, and free ones. Returns the
 * taken one; 0: no memory for a node, and all of it is free. */
uint32_t cx_mapped_heap_settle(cx_heap *heap, const cx_mapped_place *place, uint32_t owner);

/* Undoes cx_mapped_heap_find. */
void cx_mapped_heap_give_up(cx_heap *heap, const cx_mapped_place *place);

/* The bytes of the chunks that a place still needs; and cx_mapped_range_map and _unmap for a
 * place. */
size_t cx_mapped_place_lacks(const cx_mapped_range *range, const cx_mapped_place *place);
cxu_result cx_mapped_place_map(cx_mapped_range *range, const cx_mapped_place *place);
void cx_mapped_place_unmap(cx_mapped_range *range, const cx_mapped_place *place);

/* Takes a place out of unowned free memory that consists of whole chunks, up to `wanted_bytes`.
 * False: there is none. The caller then unmaps it, and it becomes CX_FIT_NOWHERE. */
bool cx_mapped_heap_find_spare(cx_heap *heap, const cx_mapped_range *range, uint64_t wanted_bytes,
                               cx_mapped_place *out_place);
void cx_mapped_heap_remove(cx_heap *heap, const cx_mapped_place *place);

/* Calls visit for each stretch of mapped memory. */
void cx_mapped_heap_each(const cx_heap *heap,
                         void (*visit)(uintptr_t address, uint64_t bytes, void *argument),
                         void *argument);

#endif
