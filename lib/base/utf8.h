/*
 * UTF-8: tells characters from malformed bytes.
 */
#ifndef CX_BASE_UTF8_H
#define CX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes of the well-formed character at the start of `text`, up to its NUL; 0 at the
 * end, and for a malformed byte. */
size_t cx_utf8_length(const char *text);

/* True if these bytes, a well-formed character, are a control character or one that XML does not
 * allow. */
bool cx_utf8_is_control(const char *text, size_t length);

/* Removes an incomplete character from the end of a text that was cut. */
void cx_utf8_trim(char *text);

#endif
