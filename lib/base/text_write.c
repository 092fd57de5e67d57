/* Texts that are written to the user's files. */
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

ctxrt_status cx_text_write(const char *call, const char *noun, char *text, size_t length,
                           FILE *file)
{
    if (text == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "%s: the host has no memory for the %s", call,
                        noun);
    errno = 0;
    bool written = fwrite(text, 1, length, file) == length && fflush(file) == 0;
    int reason = errno;
    free(text);
    return written ? CTXRT_SUCCESS
                   : cx_error(CTXRT_ERROR_SYSTEM, "%s: the file could not be written: %s", call,
                              reason != 0 ? strerror(reason) : "it took only a part");
}

void cx_text_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text != '\0') {
        size_t length = cx_utf8_length(text);
        unsigned char first = (unsigned char)*text;
        if (length == 0)
            fputs("\\ufffd", file);
        else if (first < ' ' || first == 0x7f)
            fprintf(file, "\\u%04x", first);
        else if (first == '"' || first == '\\')
            fprintf(file, "\\%c", first);
        else
            fwrite(text, 1, length, file);
        text += length != 0 ? length : 1;
    }
    fputc('"', file);
}
