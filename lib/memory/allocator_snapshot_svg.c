/* A snapshot of an allocator as a picture: a bar for each segment, as wide as it is large beside
 * the largest. */
#include "memory/allocator_snapshot.h"

#include <inttypes.h>

#define BAR_WIDTH 960.0
#define NARROWEST 0.25 /* so that a small block can be seen */

enum {
    MARGIN = 12,
    LINE_HEIGHT = 16,
    BAR_HEIGHT = 22,
    STEP = BAR_HEIGHT + LINE_HEIGHT + 8,
    HEAD = 64,
    BARS_MOST = 1000
};

static const char *colour(cx_block_state state)
{
    static const char *const colours[] = {
        [CX_BLOCK_LIVE] = "#6aa6e0", [CX_BLOCK_CACHED] = "#f3c969",
        [CX_BLOCK_QUARANTINED] = "#d98ca3", [CX_BLOCK_FREE] = "#f4f4f4"};
    return colours[state];
}

static void write_escaped(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            fputc((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f ? '?' : *text, file);
    }
}

/* A title is shown where the pointer rests. */
static void write_block(FILE *file, const cx_block_shot *block, const cx_segment_shot *segment,
                        double scale, int y)
{
    char place[256];
    double x = MARGIN + (double)(block->address - segment->address) * scale,
           width = (double)block->bytes * scale;
    cx_place_text(block->place, place, sizeof place);
    fprintf(file,
            "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" stroke=\"#333\" "
            "stroke-width=\"0.2\"><title>%#" PRIxPTR " %s %" PRIu64 " bytes",
            x, y, width < NARROWEST ? NARROWEST : width, BAR_HEIGHT, colour(block->state),
            block->address, cx_block_state_name(block->state), block->bytes);
    if (place[0] != '\0')
        fputs(", ", file);
    write_escaped(file, place);
    fputs("</title></rect>\n", file);
}

static void write_segment(FILE *file, const cx_allocator_shot *shot, const cx_segment_shot *segment,
                          double scale, int y)
{
    fprintf(file, "<text x=\"%d\" y=\"%d\">%#" PRIxPTR "  %" PRIu64 " bytes</text>\n", MARGIN,
            y + LINE_HEIGHT - 4, segment->address, segment->bytes);
    for (size_t i = 0; i < segment->count; i++)
        write_block(file, &shot->blocks[segment->first + i], segment, scale, y + LINE_HEIGHT);
}

static void write_head(FILE *file, const cx_allocator_shot *shot, int height)
{
    const ctxrt_allocator_figures *figures = &shot->figures;
    int width = (int)BAR_WIDTH + 2 * MARGIN;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" "
            "font-family=\"monospace\" font-size=\"12\">\n"
            "<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"20\" font-weight=\"bold\">%s allocator of ",
            width, height, width, height, width, height, MARGIN, shot->kind);
    write_escaped(file, shot->context);
    fprintf(file,
            "</text>\n<text x=\"%d\" y=\"38\">in use %" PRIu64 " bytes in %" PRIu64
            " blocks, at most %" PRIu64
            "; blue: live, yellow: kept by a thread, white: free</text>\n",
            MARGIN, figures->current_bytes, figures->current_count, figures->peak_bytes);
}

void cx_allocator_shot_svg(FILE *file, const cx_allocator_shot *shot)
{
    size_t bars = shot->segment_count < BARS_MOST ? shot->segment_count : BARS_MOST;
    uint64_t largest = 1;
    for (size_t i = 0; i < shot->segment_count; i++)
        if (shot->segments[i].bytes > largest)
            largest = shot->segments[i].bytes;
    write_head(file, shot, HEAD + (int)bars * STEP + LINE_HEIGHT);
    for (size_t i = 0; i < bars; i++)
        write_segment(file, shot, &shot->segments[i], BAR_WIDTH / (double)largest,
                      HEAD + (int)i * STEP);
    if (bars < shot->segment_count)
        fprintf(file, "<text x=\"%d\" y=\"%d\">and %zu segments more</text>\n", MARGIN,
                HEAD + (int)bars * STEP, shot->segment_count - bars);
    fputs("</svg>\n", file);
}
