#include "theme/write.h"

#include "base/utf8.h"

#include <string.h>

void look_write_lines(const char *const *lines, FILE *to)
{
    for (; *lines != NULL; lines++)
        fputs(*lines, to);
}

void look_write_quoted(const char *text, FILE *to)
{
    fputc('"', to);
    while (*text != '\0') {
        size_t length = cx_utf8_length(text);
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(to, "\\%c", byte);
        else if (byte < 0x20 || byte == '<' || byte == '&') /* XML has them as markup */
            fprintf(to, "\\u%04x", byte);
        else if (length == 0)
            fputc('?', to);
        else
            fwrite(text, 1, length, to);
        text += length != 0 ? length : 1;
    }
    fputc('"', to);
}
