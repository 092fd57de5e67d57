/* How much memory a heap has. */
#ifndef CX_TEST_HEAP_BYTES_H
#define CX_TEST_HEAP_BYTES_H

#include "alloc/heap.h"

/* Of all segments where there is memory. */
static inline uint64_t reserved_bytes(const cx_heap *heap)
{
    return (heap->large.units - cx_heap_owned_units(heap, CX_FIT_NOWHERE)) << CX_FIT_UNIT_BITS;
}

#endif
