/*
 * The reference of verbs and words, as Markdown: docs/scenarios.md has it, and a test compares.
 */
#ifndef CX_PLAY_REFERENCE_H
#define CX_PLAY_REFERENCE_H

#include <stdbool.h>
#include <stdio.h>

/* False: it could not be written. */
bool cx_reference_print(FILE *to);

#endif
