/* Texts of unknown authors, as snapshots show them. */
#ifndef CX_CONTEXT_SHOWN_TEXT_H
#define CX_CONTEXT_SHOWN_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* The next character of a text by unknown authors: itself, or U+FFFD for a malformed byte or a
 * control character. The length is 0 at the end. */
const char *cx_shown_character(const char **text, size_t *out_length);

/* Writes the text, each character as cx_shown_character shows it. */
void cx_write_shown(FILE *file, const char *text);

#endif
