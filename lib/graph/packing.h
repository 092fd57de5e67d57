/*
 * Finding places for tensors whose lifetimes are all known: those that live together must not
 * overlap, and the end of the highest is to be as low as possible.
 */
#ifndef CX_GRAPH_PACKING_H
#define CX_GRAPH_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lives from `begin` up to and without `end`. */
typedef struct cx_packed {
    size_t size; /* more than 0 */
    size_t offset;
    uint32_t begin, end; /* begin < end */
} cx_packed;

typedef struct cx_packing {
    cx_packed *tensors; /* in the order of their begin */
    size_t count;
    uint32_t moments; /* every end is at most this */
    size_t alignment; /* of every size */
    size_t peak;      /* of the offsets there are */
    /* a peak that is good enough; cx_packing_improve makes it `least` if it is below that */
    size_t goal;
    size_t least;     /* the most that lives together: no peak is below it */
    uint64_t effort;  /* what is left of it */
} cx_packing;

/* Improves the offsets and the peak until the effort is used up or the peak is the goal;
 * deterministic. The offsets that are there must be valid. False: no memory for it; what was found
 * so far stays. */
bool cx_packing_improve(cx_packing *packing);

/* One way to do so: tensors in several orders, each at the lowest place left (packing.c). */
bool cx_packing_first_fit(cx_packing *packing);

/* Another: tensors from the bottom up, taking steps back where no room is left, in many orders
 * (search.c). */
bool cx_packing_search(cx_packing *packing);

#endif
