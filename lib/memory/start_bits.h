/*
 * Which units of a segment a piece starts at: a bit for each, above these a bit for each word that
 * is not empty, and so on. No lock.
 */
#ifndef CX_MEMORY_START_BITS_H
#define CX_MEMORY_START_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CX_START_LEVELS 6 /* 64 ^ 6 units are more than a segment has */

typedef struct cx_start_bits {
    uint32_t levels; /* 0: not open */
    uint64_t *words[CX_START_LEVELS];
} cx_start_bits;

/* False: no memory. */
bool cx_start_bits_open(cx_start_bits *bits, uint64_t units);
void cx_start_bits_close(cx_start_bits *bits);

void cx_start_bits_set(cx_start_bits *bits, uint64_t unit);
void cx_start_bits_clear(cx_start_bits *bits, uint64_t unit);

/* The last unit up to this one that is set; false: none. */
bool cx_start_bits_find(const cx_start_bits *bits, uint64_t unit, uint64_t *out_unit);

#endif
