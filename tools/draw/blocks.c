#include "draw/draw.h"
#include "draw/svg.h"

#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 960.0
#define NARROWEST 0.25 /* keeps a small block visible */

enum {
    MARGIN = 12,
    BAR_HEIGHT = 22,
    STEP = BAR_HEIGHT + SVG_LINE_HEIGHT + 8,
    HEAD = 80,
    BARS_MOST = 1000,
    COLUMNS = 130,
    TEXT_MAX = 512
};

/* Live blocks are dark, thread caches' have the fill of their context's device and a pattern,
 * quarantined ones a red pattern, free ones nothing. */
typedef struct look {
    const char *state, *class, *text;
} look;

static const look looks[] = {
    {"live", "live", "live"},
    {"cached", "cached", "cached: freed, kept by a thread"},
    {"quarantined", "quarantined", "quarantined: freed, in debug mode"},
    {"free", "free", "free"},
};

static const look *look_of(const char *state)
{
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (strcmp(state, looks[i].state) == 0)
            return &looks[i];
    return &looks[3];
}

/* The attributes of a block or of its key; `hue` is the device's. */
static void draw_look(FILE *file, const look *of, int hue)
{
    char edge[32];
    snprintf(edge, sizeof edge, "%s-edge", svg_hue_name(hue));
    fprintf(file, "class=\"block %s %s\" ", svg_hue_name(hue), of->class);
    if (strcmp(of->class, "cached") == 0)
        svg_fill(file, hue, 1);
    else if (strcmp(of->class, "quarantined") == 0)
        fputs("fill=\"url(#gone)\"", file);
    else
        fprintf(file, "fill=\"%s\"", svg_light(strcmp(of->class, "live") == 0 ? edge : "paper"));
    fprintf(file, " stroke=\"%s\" stroke-width=\"0.4\"", svg_light("ink"));
}

static void define_looks(FILE *file, int hue)
{
    svg_fills fills = {0};
    fills.used[hue][0] = fills.used[hue][1] = true;
    svg_fills_define(&fills, file);
    fprintf(file,
            "<defs>\n<pattern id=\"gone\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\">\n<path class=\"gone\" fill=\"%s\" "
            "d=\"M0 0H6V6H0z\"/>\n<path class=\"gone-hatch\" fill=\"none\" stroke=\"%s\" "
            "d=\"M0 0L6 6M0 6L6 0\"/>\n</pattern>\n</defs>\n",
            svg_light("paper"), svg_light("wrong"));
}

static double address_of(const json_t *object)
{
    return (double)strtoull(draw_text(object, "address"), NULL, 16);
}

typedef struct bar {
    double start, scale; /* the first address, and pixels of a byte */
    int y, hue;
} bar;

/* The size, where there is room for it. */
static void draw_size(FILE *file, const look *of, json_int_t bytes, double left, double width,
                      int y)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%lld", (long long)bytes);
    bool live = strcmp(of->class, "live") == 0;
    if (strcmp(of->class, "quarantined") != 0 && width > length * SVG_FONT_SIZE * 0.6 + 8)
        svg_line(file, (int)(left + 4), y + 15, length,
                 live ? " class=\"on\" fill=\"#ffffff\" pointer-events=\"none\""
                      : " pointer-events=\"none\"",
                 text);
}

/* Viewers show a title where the pointer rests. */
static void draw_block(FILE *file, const json_t *block, const bar *in)
{
    json_int_t bytes = draw_number(block, "bytes");
    const look *of = look_of(draw_text(block, "state"));
    double left = MARGIN + (address_of(block) - in->start) * in->scale;
    double width = (double)bytes * in->scale;
    fprintf(file, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" ", left, in->y,
            width < NARROWEST ? NARROWEST : width, BAR_HEIGHT);
    draw_look(file, of, in->hue);
    fputs("><title>", file);
    svg_escape(file, draw_text(block, "address"));
    fputc(' ', file);
    svg_escape(file, draw_text(block, "state"));
    fprintf(file, " %lld bytes", (long long)bytes);
    if (*draw_text(block, "place") != '\0') {
        fputs(", ", file);
        svg_escape(file, draw_text(block, "place"));
    }
    fputs("</title></rect>\n", file);
    draw_size(file, of, bytes, left, width, in->y);
}

static void draw_segment(FILE *file, const json_t *segment, double scale, int hue, int y)
{
    const bar in = {address_of(segment), scale, y + SVG_LINE_HEIGHT, hue};
    char text[TEXT_MAX];
    const json_t *blocks = json_object_get(segment, "blocks");
    snprintf(text, sizeof text, "%s  %lld bytes", draw_text(segment, "address"),
             (long long)draw_number(segment, "bytes"));
    svg_line(file, MARGIN, y + SVG_LINE_HEIGHT - 4, COLUMNS, "", text);
    for (size_t i = 0; i < json_array_size(blocks); i++)
        draw_block(file, json_array_get(blocks, i), &in);
}

/* "primary context 1 of cuda:0": the device is the last word. */
static int hue_of(const json_t *snapshot)
{
    const char *context = draw_text(snapshot, "context"), *space = strrchr(context, ' ');
    return svg_hue(space != NULL ? space + 1 : context);
}

static void draw_legend(FILE *file, int hue, int y)
{
    int x = MARGIN;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"28\" height=\"14\" ", x, y - 11);
        draw_look(file, &looks[i], hue);
        fputs("/>\n", file);
        svg_line(file, x + 34, y, COLUMNS, "", looks[i].text);
        x += 34 + ((int)strlen(looks[i].text) + 3) * SVG_FONT_SIZE * 6 / 10;
    }
}

static void draw_head(FILE *file, const json_t *snapshot, int hue)
{
    char text[TEXT_MAX];
    const json_t *bytes = json_object_get(snapshot, "bytes");
    const json_t *count = json_object_get(snapshot, "count");
    snprintf(text, sizeof text, "%s allocator of %s", draw_text(snapshot, "kind"),
             draw_text(snapshot, "context"));
    svg_line(file, MARGIN, 20, COLUMNS, " font-weight=\"bold\"", text);
    snprintf(text, sizeof text, "in use %lld bytes in %lld blocks, at most %lld",
             (long long)draw_number(bytes, "current"), (long long)draw_number(count, "current"),
             (long long)draw_number(bytes, "peak"));
    svg_line(file, MARGIN, 38, COLUMNS, "", text);
    draw_legend(file, hue, 58);
}

static json_int_t largest_segment(const json_t *segments)
{
    json_int_t largest = 1;
    for (size_t i = 0; i < json_array_size(segments); i++) {
        json_int_t bytes = draw_number(json_array_get(segments, i), "bytes");
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

void draw_blocks(FILE *file, const json_t *snapshot)
{
    char text[TEXT_MAX];
    const json_t *segments = json_object_get(snapshot, "segments");
    size_t count = json_array_size(segments), bars = count < BARS_MOST ? count : BARS_MOST;
    double scale = BAR_WIDTH / (double)largest_segment(segments);
    int hue = hue_of(snapshot);
    svg_begin(file, (int)BAR_WIDTH + 2 * MARGIN, HEAD + (int)bars * STEP + SVG_LINE_HEIGHT);
    define_looks(file, hue);
    draw_head(file, snapshot, hue);
    for (size_t i = 0; i < bars; i++)
        draw_segment(file, json_array_get(segments, i), scale, hue, HEAD + (int)i * STEP);
    if (bars < count) {
        snprintf(text, sizeof text, "and %zu segments more", count - bars);
        svg_line(file, MARGIN, HEAD + (int)bars * STEP, COLUMNS, "", text);
    }
    svg_end(file);
}
