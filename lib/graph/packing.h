/*
 * Places tensors whose lifetimes are all known: tensors that live together must not overlap, and
 * the highest end should be as low as possible.
 */
#ifndef CX_GRAPH_PACKING_H
#define CX_GRAPH_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lives from `begin` until just before `end`. */
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
    size_t peak;      /* of the present offsets */
    /* a peak that is good enough; cx_packing_improve makes it `least` if it is below that */
    size_t goal;
    size_t least;    /* the most memory in use at one time, a lower bound of all peaks */
    uint64_t effort; /* remaining steps */
} cx_packing;

/* Improves the offsets and the peak until the effort is used up or the goal is reached;
 * deterministic. The present offsets must be valid. False: out of memory; improvements so far
 * stay. */
bool cx_packing_improve(cx_packing *packing);

/* First fit: tensors in several orders, each at the lowest free place (packing.c). */
bool cx_packing_first_fit(cx_packing *packing);

/* Search: tensors from the bottom up, with backtracking, in many orders (search.c). */
bool cx_packing_search(cx_packing *packing);

#endif
