/*
 * Which live piece of pinned memory an address is in: a tree of extents that do not overlap, in the
 * order of their addresses.
 */
#ifndef CX_MEMORY_EXTENTS_H
#define CX_MEMORY_EXTENTS_H

#include "memory/piece.h"

/* Enters a piece that nobody has yet. What overlaps it goes out: its memory is gone. False: no
 * memory for the entry. */
bool cx_extents_put(uint32_t piece);

/* Takes a piece out, unless another's put has. */
void cx_extents_drop(uint32_t piece);

/* The piece that an address is in, and its generation; 0: none. It may be gone at once. */
uint32_t cx_extents_find(const void *pointer, uint32_t *out_generation);

#endif
