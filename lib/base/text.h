/*
 * Texts: one that grows up to the size of its buffer, and one that is written as a file.
 */
#ifndef CX_BASE_TEXT_H
#define CX_BASE_TEXT_H

#include <ctxrt/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct cx_text {
    char *text;    /* always ends with a zero byte */
    size_t size;   /* of the buffer, with that byte; at least 1 */
    size_t length; /* less than size */
} cx_text;

/* Adds to the end as much as fits. */
__attribute__((format(printf, 2, 3))) void cx_text_add(cx_text *self, const char *format, ...);

/* A file in memory. The one of open_memstream() loses text without a word if memory runs out. */
typedef struct cx_text_file {
    FILE *file;
    char *text;
    size_t length, capacity;
    bool failed;
} cx_text_file;

/* Opens the file for writing. NULL: out of memory. */
FILE *cx_text_open(cx_text_file *self);

/* Closes the file, and returns the text, which the caller frees. It ends with a zero byte, which
 * does not count. NULL: memory ran out. */
char *cx_text_close(cx_text_file *self, size_t *out_length);

/* Writes a closed text to a file, in one piece, and frees it. NULL: memory ran out. `call` and
 * `noun` ("snapshot") are for messages. */
ctxrt_status cx_text_write(const char *call, const char *noun, char *text, size_t length,
                           FILE *file);

/* Writes a string of JSON. Control characters are escaped; only malformed bytes are replaced. */
void cx_text_json_string(FILE *file, const char *text);

#endif
