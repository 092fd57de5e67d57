#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

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
