#include "draw/svg.h"

#include <stdlib.h>
#include <string.h>

void svg_begin(FILE *file, int width, int height)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"%d\">\n"
            "<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            width, height, width, height, SVG_FONT_SIZE, width, height);
}

void svg_end(FILE *file)
{
    fputs("</svg>\n", file);
}

/* ---- text ---- */

static size_t character_length(const char *text)
{
    unsigned char first = (unsigned char)*text;
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The columns that a character takes: two for East Asian and other wide ones, generously. */
static int character_columns(const char *text)
{
    return (unsigned char)*text >= 0xe1 ? 2 : 1;
}

static int count_columns(const char *text)
{
    int columns = 0;
    for (; *text != '\0'; text += character_length(text))
        columns += character_columns(text);
    return columns;
}

/* C1 control characters are C2 80 to C2 9F. */
static int is_control(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    return bytes[0] < ' ' || bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] < 0xa0) ||
           (bytes[0] == 0xef && bytes[1] == 0xbf && bytes[2] >= 0xbe);
}

static void escape_character(FILE *file, const char *text)
{
    if (*text == '<')
        fputs("&lt;", file);
    else if (*text == '>')
        fputs("&gt;", file);
    else if (*text == '&')
        fputs("&amp;", file);
    else if (*text == '"')
        fputs("&quot;", file);
    else if (is_control(text))
        fputs("\xef\xbf\xbd", file);
    else
        fwrite(text, 1, character_length(text), file);
}

void svg_escape(FILE *file, const char *text)
{
    for (; *text != '\0'; text += character_length(text))
        escape_character(file, text);
}

void svg_line(FILE *file, int x, int y, int columns, const char *style, const char *text)
{
    int width = count_columns(text);
    fprintf(file, "<text x=\"%d\" y=\"%d\"%s>", x, y, style);
    if (width > columns) {
        fputs("..", file);
        for (; width > columns - 2; text += character_length(text))
            width -= character_columns(text);
    }
    svg_escape(file, text);
    fputs("</text>\n", file);
}

/* ---- colours ---- */

const char *svg_device_colour(const char *device)
{
    static const char *const colours[] = {"#cfe8fc", "#d7f0d0", "#fde5c8", "#ecd9f5",
                                          "#fcd5d5", "#d5f2ef", "#f4f0c4", "#e2e2e2"};
    const char *colon = strchr(device, ':');
    if (strncmp(device, "cpu", 3) == 0 || colon == NULL)
        return "#f2f2f2";
    unsigned long index = strtoul(colon + 1, NULL, 10);
    return colours[index % (sizeof colours / sizeof colours[0])];
}
