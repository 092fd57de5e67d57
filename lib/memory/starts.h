/*
 * Where pieces start that were given out as raw pointers: an address names a piece. Four bytes and
 * a little room for each, since the piece itself says its address. Of several threads that take the
 * same one exactly one wins.
 */
#ifndef CX_MEMORY_STARTS_H
#define CX_MEMORY_STARTS_H

#include "memory/piece.h"

/* Notes a piece under its address. A piece that was there comes back in *out_before, else 0: its
 * memory is gone. False: no memory for the note. */
bool cx_starts_put(uint32_t piece, uint32_t *out_before);

/* Takes the note of an address out: the piece, or 0. */
uint32_t cx_starts_take(const void *pointer);

/* The piece that is noted under an address, or 0; it may be gone at once. */
uint32_t cx_starts_find(const void *pointer);

#endif
