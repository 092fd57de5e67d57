/*
 * A text that grows up to the size of its buffer.
 */
#ifndef CX_BASE_TEXT_H
#define CX_BASE_TEXT_H

#include <stddef.h>

typedef struct cx_text {
    char *text;    /* always ends with a zero byte */
    size_t size;   /* of the buffer, with that byte; at least 1 */
    size_t length; /* less than size */
} cx_text;

/* Adds to the end as much as fits. */
__attribute__((format(printf, 2, 3))) void cx_text_add(cx_text *self, const char *format, ...);

#endif
