/*
 * UTF-8: telling characters from bytes that are none.
 */
#ifndef CX_BASE_UTF8_H
#define CX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character that `text` begins with, up to its NUL; 0 at the end, and for
 * a byte that begins none. */
size_t cx_utf8_length(const char *text);

/* Whether these bytes, a well-formed character, are a control character, or one that XML does not
 * allow. */
bool cx_utf8_is_control(const char *text, size_t length);

/* Takes off the end of a text that was cut the first bytes of a character whose others are
 * missing. */
void cx_utf8_trim(char *text);

#endif
