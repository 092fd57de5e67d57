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
    HEAD = 64,
    BARS_MOST = 1000,
    COLUMNS = 130,
    TEXT_MAX = 512
};

static const char *state_colour(const char *state)
{
    static const char *const colours[][2] = {
        {"live", "#6aa6e0"}, {"cached", "#f3c969"}, {"quarantined", "#d98ca3"}};
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        if (strcmp(state, colours[i][0]) == 0)
            return colours[i][1];
    return "#f4f4f4";
}

static double address_of(const json_t *object)
{
    return (double)strtoull(draw_text(object, "address"), NULL, 16);
}

/* Viewers show a title where the pointer rests. */
static void draw_block(FILE *file, const json_t *block, double start, double scale, int y)
{
    json_int_t bytes = draw_number(block, "bytes");
    double width = (double)bytes * scale;
    fprintf(file,
            "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" stroke=\"#333\" "
            "stroke-width=\"0.2\"><title>",
            MARGIN + (address_of(block) - start) * scale, y, width < NARROWEST ? NARROWEST : width,
            BAR_HEIGHT, state_colour(draw_text(block, "state")));
    svg_escape(file, draw_text(block, "address"));
    fputc(' ', file);
    svg_escape(file, draw_text(block, "state"));
    fprintf(file, " %lld bytes", (long long)bytes);
    if (*draw_text(block, "place") != '\0') {
        fputs(", ", file);
        svg_escape(file, draw_text(block, "place"));
    }
    fputs("</title></rect>\n", file);
}

static void draw_segment(FILE *file, const json_t *segment, double scale, int y)
{
    char text[TEXT_MAX];
    const json_t *blocks = json_object_get(segment, "blocks");
    snprintf(text, sizeof text, "%s  %lld bytes", draw_text(segment, "address"),
             (long long)draw_number(segment, "bytes"));
    svg_line(file, MARGIN, y + SVG_LINE_HEIGHT - 4, COLUMNS, "", text);
    for (size_t i = 0; i < json_array_size(blocks); i++)
        draw_block(file, json_array_get(blocks, i), address_of(segment), scale,
                   y + SVG_LINE_HEIGHT);
}

static void draw_head(FILE *file, const json_t *snapshot)
{
    char text[TEXT_MAX];
    const json_t *bytes = json_object_get(snapshot, "bytes");
    const json_t *count = json_object_get(snapshot, "count");
    snprintf(text, sizeof text, "%s allocator of %s", draw_text(snapshot, "kind"),
             draw_text(snapshot, "context"));
    svg_line(file, MARGIN, 20, COLUMNS, " font-weight=\"bold\"", text);
    snprintf(text, sizeof text,
             "in use %lld bytes in %lld blocks, at most %lld; blue: live, yellow: kept by a "
             "thread, white: free",
             (long long)draw_number(bytes, "current"), (long long)draw_number(count, "current"),
             (long long)draw_number(bytes, "peak"));
    svg_line(file, MARGIN, 38, COLUMNS, "", text);
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
    svg_begin(file, (int)BAR_WIDTH + 2 * MARGIN, HEAD + (int)bars * STEP + SVG_LINE_HEIGHT);
    draw_head(file, snapshot);
    for (size_t i = 0; i < bars; i++)
        draw_segment(file, json_array_get(segments, i), scale, HEAD + (int)i * STEP);
    if (bars < count) {
        snprintf(text, sizeof text, "and %zu segments more", count - bars);
        svg_line(file, MARGIN, HEAD + (int)bars * STEP, COLUMNS, "", text);
    }
    svg_end(file);
}
