/*
 * How much two names differ, for messages that guess which one was meant.
 */
#ifndef CX_BASE_SPELLING_H
#define CX_BASE_SPELLING_H

#include <stddef.h>

/* Returns the number of letters to insert, leave out or change that makes one name of the other.
 * Only the first 64 letters of each count. */
size_t cx_spelling_distance(const char *left, const char *right);

#endif
