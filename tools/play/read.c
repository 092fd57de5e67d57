#include "base/utf8.h"
#include "play/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 160

static char *read_all(FILE *from, size_t *out_length)
{
    size_t size = 64 << 10, length = 0;
    char *text = malloc(size);
    while (text != NULL) {
        length += fread(text + length, 1, size - length, from);
        if (length < size)
            break;
        if (length > CX_TEXT_MAX)
            break;
        char *more = realloc(text, size *= 2);
        if (more == NULL)
            free(text);
        text = more;
    }
    *out_length = length;
    return text;
}

/* Finds the line of the text that an error names. */
static const char *find_line(const char *text, const char *end, int number, size_t *out_length)
{
    for (; number > 1; number--) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (newline == NULL)
            break;
        text = newline + 1;
    }
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    *out_length = (size_t)((newline != NULL ? newline : end) - text);
    return text;
}

/* The bytes of the character of UTF-8 at the beginning, if it is one to print; else 0. */
static size_t printable_length(const char *text, size_t left)
{
    char begin[5] = {0};
    memcpy(begin, text, left < 4 ? left : 4);
    size_t length = cx_utf8_length(begin);
    return length > 0 && !cx_utf8_is_control(begin, length) ? length : 0;
}

/* Prints only printable characters, so that the terminal is safe; before the caret one for each
 * byte, so that it stays in place. */
static void print_source(const char *line, size_t length, int column, FILE *to)
{
    size_t from = column > SHOWN_BYTES ? (size_t)column - SHOWN_BYTES / 2 : 0;
    size_t upto = length - from > SHOWN_BYTES ? from + SHOWN_BYTES : length;
    for (size_t i = from, bytes; i < upto; i += bytes) {
        bytes = (int)i >= column ? printable_length(line + i, upto - i) : 0;
        if (bytes > 1) {
            fwrite(line + i, 1, bytes, to);
            continue;
        }
        fputc(line[i] >= ' ' && line[i] <= '~' ? line[i] : line[i] == '\t' ? ' ' : '?', to);
        bytes = 1;
    }
    fprintf(to, "\n%*s^\n", column - 1 - (int)from, "");
}

void cx_parse_error_print(const cx_parse_error *error, const char *file, const char *text,
                          size_t length, FILE *to)
{
    if (error->line == 0) {
        fprintf(to, "%s: %s\n", file, error->message);
        return;
    }
    fprintf(to, "%s:%d:%d: %s\n", file, error->line, error->column, error->message);
    if (text == NULL)
        return;
    size_t line_length;
    const char *line = find_line(text, text + length, error->line, &line_length);
    print_source(line, line_length, error->column, to);
}

cx_scenario *cx_scenario_read(const char *file, FILE *errors)
{
    cx_parse_error error = {0};
    size_t length = 0;
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    char *text = from != NULL ? read_all(from, &length) : NULL;
    bool failed = text == NULL || ferror(from);
    cx_scenario *scenario = NULL;
    if (failed)
        snprintf(error.message, sizeof error.message, "cannot be read: %s",
                 strerror(errno != 0 ? errno : EIO));
    else
        scenario = cx_scenario_parse(file, text, length, &error);
    if (scenario == NULL)
        cx_parse_error_print(&error, file, failed ? NULL : text, length, errors);
    if (from != NULL && from != stdin)
        fclose(from);
    free(text);
    return scenario;
}
