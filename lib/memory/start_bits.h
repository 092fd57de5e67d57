/*
 * The starts of a segment's blocks: for each granule of 32 KiB the last start in it, and bits for
 * granules with any. Ended starts are not reported: a search asks the pointer table about each
 * start that it finds, and notes the last valid one. No lock.
 */
#ifndef CX_MEMORY_START_BITS_H
#define CX_MEMORY_START_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CX_START_GRANULE_BITS 7
#define CX_START_LEVELS 5 /* 64 ^ 5 granules are more than a segment has */

typedef struct cx_start_bits {
    uint32_t levels; /* 0: not open */
    uint64_t *words[CX_START_LEVELS];
    uint8_t *last; /* by granule with its bit set: no start is behind this unit of it */
} cx_start_bits;

/* True if a block starts at a unit. */
typedef bool cx_start_check(void *argument, uint64_t unit);

/* False: no memory. */
bool cx_start_bits_open(cx_start_bits *bits, uint64_t units);
void cx_start_bits_close(cx_start_bits *bits);

void cx_start_bits_set(cx_start_bits *bits, uint64_t unit);

/* Finds the last start up to this unit; false: none. */
bool cx_start_bits_find(cx_start_bits *bits, uint64_t unit, cx_start_check *check, void *argument,
                        uint64_t *out_unit);

#endif
