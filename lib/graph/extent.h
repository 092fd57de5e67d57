/*
 * An imagined range of addresses that begins at 0 and grows at its end. Blocks are taken and given
 * back by offset.
 *
 * A block takes the best fit: the smallest free extent that holds it, the lowest of several; else
 * the end, beginning in the last extent if that is free. Free neighbours are one extent. Each call
 * is O(log n) in the number of free extents. One thread at a time.
 */
#ifndef CX_GRAPH_EXTENT_H
#define CX_GRAPH_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_extent {
    size_t offset;
    size_t size;
    uint32_t before, after; /* neighbours by offset; 0: none */
    /* free: the tree of free extents, by size and then offset; unused: `less` is the next unused */
    uint32_t less, more;
    uint32_t priority;      /* free: a heap in that tree */
    bool free;
} cx_extent;

/* All zero: an empty range. */
typedef struct cx_extents {
    cx_extent *extents; /* from 1 on */
    uint32_t count;     /* ever used, including number 0 */
    uint32_t capacity;
    uint32_t unused;    /* 0: none */
    uint32_t root;      /* of the tree of free extents */
    uint32_t last;      /* by offset */
    uint32_t seed;      /* of the priorities: the same calls give the same tree */
    size_t end;         /* the most that was ever in use */
} cx_extents;

typedef enum cx_extents_result {
    CX_EXTENTS_OK,
    CX_EXTENTS_TOO_LONG,
    CX_EXTENTS_NO_MEMORY
} cx_extents_result;

/* Takes `size` > 0. The extent keeps its number until it is given back. On failure nothing
 * changed. */
cx_extents_result cx_extents_take(cx_extents *range, size_t size, uint32_t *out_extent);

/* Gives back an extent that was taken. Never fails. */
void cx_extents_give(cx_extents *range, uint32_t extent);

/* Frees the range's own memory. */
void cx_extents_end(cx_extents *range);

#endif
