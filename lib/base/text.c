#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void cx_text_add(cx_text *self, const char *format, ...)
{
    const size_t room = self->size - self->length;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(self->text + self->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        self->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* ---- files in memory ---- */

static bool make_room(cx_text_file *self, size_t bytes)
{
    size_t capacity = self->capacity != 0 ? self->capacity : 1024;
    while (capacity - self->length <= bytes)
        if (__builtin_mul_overflow(capacity, 2, &capacity))
            return false;
    if (capacity == self->capacity)
        return true;
    char *grown = realloc(self->text, capacity);
    if (grown == NULL)
        return false;
    self->text = grown;
    self->capacity = capacity;
    return true;
}

static ssize_t write_bytes(void *cookie, const char *bytes, size_t count)
{
    cx_text_file *self = cookie;
    self->failed = self->failed || !make_room(self, count);
    if (self->failed)
        return 0;
    memcpy(self->text + self->length, bytes, count);
    self->length += count;
    return (ssize_t)count;
}

FILE *cx_text_open(cx_text_file *self)
{
    *self = (cx_text_file){.failed = false};
    self->file = fopencookie(self, "w", (cookie_io_functions_t){.write = write_bytes});
    return self->file;
}

char *cx_text_close(cx_text_file *self, size_t *out_length)
{
    bool closed = fclose(self->file) == 0;
    if (!closed || self->failed || !make_room(self, 0)) {
        free(self->text);
        return NULL;
    }
    self->text[self->length] = '\0';
    *out_length = self->length;
    return self->text;
}
