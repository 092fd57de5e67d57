#include "draw/svg.h"

#include "tools/draw/parts.h"

#include <stdlib.h>
#include <string.h>

static void write_lines(const char *const *lines, FILE *to)
{
    for (; *lines != NULL; lines++)
        fputs(*lines, to);
}

void svg_begin(FILE *file, int width, int height)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"%d\">\n<style>\n",
            width, height, width, height, SVG_FONT_SIZE);
    write_lines(palette_css, file);
    write_lines(picture_css, file);
    fprintf(file,
            "</style>\n<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\" class=\"paper\" "
            "fill=\"%s\"/>\n",
            width, height, svg_light("paper"));
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

const char *svg_light(const char *name)
{
    for (size_t i = 0; i < sizeof palette_light / sizeof palette_light[0]; i++)
        if (strcmp(palette_light[i][0], name) == 0)
            return palette_light[i][1];
    return "none";
}

int svg_hue(const char *device)
{
    const char *colon = strchr(device, ':');
    if (strncmp(device, "cpu", 3) == 0 || colon == NULL)
        return SVG_HUES - 1;
    return (int)(strtoul(colon + 1, NULL, 10) % (SVG_HUES - 1));
}

const char *svg_hue_name(int hue)
{
    static const char *const names[SVG_HUES] = {"gpu0", "gpu1", "gpu2", "gpu3", "gpu4",
                                                "gpu5", "gpu6", "gpu7", "cpu"};
    return names[hue];
}

int svg_pattern(long long context)
{
    return context > 0 ? (int)((context - 1) % SVG_PATTERNS) : 0;
}

/* The same shapes as in theme/theme.css and theme/theme.js; the first pattern is plain. */
static const char *const shapes[SVG_PATTERNS] = {"",         "M0 8L8 0", "M3 3h2v2h-2z", "M0 4H8",
                                                 "M0 0L8 8", "M4 0V8",   "M0 4H8M4 0V8"};

static void define_fill(FILE *file, int hue, int pattern)
{
    char edge[32];
    const char *name = svg_hue_name(hue);
    snprintf(edge, sizeof edge, "%s-edge", name);
    fprintf(file,
            "<pattern id=\"%s-%d\" class=\"%s\" width=\"8\" height=\"8\" "
            "patternUnits=\"userSpaceOnUse\">\n"
            "<path class=\"fill\" fill=\"%s\" d=\"M0 0H8V8H0z\"/>\n",
            name, pattern, name, svg_light(name));
    if (pattern > 0)
        fprintf(file,
                "<path class=\"hatch\" fill=\"none\" stroke=\"%s\" stroke-opacity=\"0.4\" "
                "d=\"%s\"/>\n",
                svg_light(edge), shapes[pattern]);
    fputs("</pattern>\n", file);
}

void svg_fills_define(const svg_fills *self, FILE *file)
{
    fputs("<defs>\n", file);
    for (int hue = 0; hue < SVG_HUES; hue++)
        for (int pattern = 0; pattern < SVG_PATTERNS; pattern++)
            if (self->used[hue][pattern])
                define_fill(file, hue, pattern);
    fputs("</defs>\n", file);
}

void svg_fill(FILE *file, int hue, int pattern)
{
    fprintf(file, "fill=\"url(#%s-%d)\"", svg_hue_name(hue), pattern);
}
