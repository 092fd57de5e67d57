/* A snapshot as a picture: a column for each thread, stacks growing upwards. */
#include "context/snapshot.h"

#include <inttypes.h>
#include <string.h>

/* Every character of a monospaced font is 0.6 of its size wide. */
enum {
    FONT_SIZE = 12,
    COLUMNS = 32, /* characters that fit in a box */
    MARGIN = 8,
    BOX_WIDTH = COLUMNS * FONT_SIZE * 6 / 10 + 2 * MARGIN + 1,
    LINE_HEIGHT = 16,
    BOX_LINES = 5,
    BOX_HEIGHT = BOX_LINES * LINE_HEIGHT + MARGIN,
    STEP = BOX_HEIGHT + 4,
    GAP = 12,
    HEAD = 2 * LINE_HEIGHT + GAP,
    TEXT_MAX = 256
};

/* A colour for each device, so that switches are seen at a glance. */
static const char *colour(ctxrt_device device)
{
    static const char *const colours[] = {"#cfe8fc", "#d7f0d0", "#fde5c8", "#ecd9f5",
                                          "#fcd5d5", "#d5f2ef", "#f4f0c4", "#e2e2e2"};
    if (device.type == CTXRT_DEVICE_CPU)
        return "#f2f2f2";
    return colours[(unsigned int)device.index % (sizeof colours / sizeof colours[0])];
}

static void write_escaped(FILE *file, const char *character, size_t length)
{
    switch (*character) {
    case '<':
        fputs("&lt;", file);
        break;
    case '>':
        fputs("&gt;", file);
        break;
    case '&':
        fputs("&amp;", file);
        break;
    case '"':
        fputs("&quot;", file);
        break;
    default:
        fwrite(character, 1, length, file);
    }
}

/* Places that a character takes: East Asian and other wide ones two, generously. */
static int width_of(const char *character)
{
    return (unsigned char)*character >= 0xe1 ? 2 : 1;
}

static int width(const char *text)
{
    size_t length;
    int places = 0;
    for (const char *character = cx_shown_character(&text, &length); length != 0;
         character = cx_shown_character(&text, &length))
        places += width_of(character);
    return places;
}

/* What does not fit goes: the beginning of a place in the source, whose end says most. */
static void write_fitted(FILE *file, const char *text)
{
    size_t length;
    int places = width(text);
    if (places > COLUMNS) {
        fputs("..", file);
        while (places > COLUMNS - 2)
            places -= width_of(cx_shown_character(&text, &length));
    }
    for (const char *character = cx_shown_character(&text, &length); length != 0;
         character = cx_shown_character(&text, &length))
        write_escaped(file, character, length);
}

static void write_line(FILE *file, int x, int y, const char *style, const char *text)
{
    fprintf(file, "<text x=\"%d\" y=\"%d\"%s>", x, y, style);
    write_fitted(file, text);
    fputs("</text>\n", file);
}

static void write_rect(FILE *file, int x, int y, ctxrt_device device, const char *style)
{
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" "
            "stroke=\"#333\"%s/>\n",
            x, y, BOX_WIDTH, BOX_HEIGHT, colour(device), style);
}

/* The text of a place may be longer than any buffer: of its file, the end. */
static void place_text(const cx_frame_view *frame, char *out)
{
    const char *file = frame->file;
    size_t length = strlen(file);
    if (length > TEXT_MAX - 16)
        file += length - (TEXT_MAX - 16);
    snprintf(out, TEXT_MAX, "%s:%d", file, frame->line);
}

static void write_frame(FILE *file, const cx_frame_view *frame, int x, int y, const char *origin,
                        bool top)
{
    char text[TEXT_MAX];
    write_rect(file, x, y, frame->device,
               frame->origin == CTXRT_FRAME_FOREIGN ? " stroke-dasharray=\"4 3\""
               : top                                ? " stroke-width=\"3\""
                                                    : "");
    int left = x + MARGIN, line = y;
    snprintf(text, sizeof text, "%s  %s", cx_device_text(frame->device), origin);
    write_line(file, left, line += LINE_HEIGHT, " font-weight=\"bold\"", text);
    snprintf(text, sizeof text, "%s context %" PRIu64, cx_kind_name(frame->kind),
             frame->context_id);
    write_line(file, left, line += LINE_HEIGHT, "", text);
    if (frame->stream != NULL) {
        snprintf(text, sizeof text, "stream %p", (const void *)frame->stream);
        write_line(file, left, line += LINE_HEIGHT, "", text);
    }
    if (frame->allocator != NULL) {
        snprintf(text, sizeof text, "allocator %p", (const void *)frame->allocator);
        write_line(file, left, line += LINE_HEIGHT, "", text);
    }
    if (cx_frame_has_place(frame)) {
        place_text(frame, text);
        write_line(file, left, line + LINE_HEIGHT, "", text);
    }
}

static void write_head(FILE *file, int x, const char *first, const char *second)
{
    write_line(file, x, GAP + LINE_HEIGHT / 2, " font-weight=\"bold\"", first);
    write_line(file, x, GAP + LINE_HEIGHT / 2 + LINE_HEIGHT, "", second);
}

static void write_thread(FILE *file, const cx_thread_shot *thread, int x, int bottom)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "thread %d", thread->number);
    write_head(file, x, text, thread->name);
    for (uint32_t i = 0; i < thread->depth; i++)
        write_frame(file, &thread->frames[i], x, bottom - (int)(i + 1) * STEP,
                    cx_origin_name(thread->frames[i].origin), i + 1 == thread->depth);
}

static void write_detached(FILE *file, const cx_snapshot *shot, int x, int bottom)
{
    char text[TEXT_MAX];
    write_head(file, x, "detached frames", "");
    for (size_t i = 0; i < shot->detached_count; i++) {
        snprintf(text, sizeof text, "by thread %d", shot->detached[i].number);
        write_frame(file, &shot->detached[i].frame, x, bottom - (int)(i + 1) * STEP, text, false);
    }
}

static void write_contexts(FILE *file, const cx_snapshot *shot, int x, int bottom)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "host: %" PRIu64 " bytes", shot->loose_bytes);
    write_head(file, x, "contexts", text);
    for (size_t i = 0; i < shot->context_count; i++) {
        const cx_context_shot *context = &shot->contexts[i];
        int y = bottom - (int)(i + 1) * STEP, left = x + MARGIN;
        write_rect(file, x, y, context->device, "");
        snprintf(text, sizeof text, "%s  %s context %" PRIu64, cx_device_text(context->device),
                 cx_kind_name(context->kind), context->id);
        write_line(file, left, y + LINE_HEIGHT, " font-weight=\"bold\"", text);
        snprintf(text, sizeof text, "%" PRIu64 " bytes in %d", context->memory_bytes,
                 context->objects[CX_OBJECT_MEMORY]);
        write_line(file, left, y + 2 * LINE_HEIGHT, "", text);
        snprintf(text, sizeof text, "streams %d, events %d", context->objects[CX_OBJECT_STREAM],
                 context->objects[CX_OBJECT_EVENT]);
        write_line(file, left, y + 3 * LINE_HEIGHT, "", text);
        snprintf(text, sizeof text, "allocators %d, holds %d",
                 context->objects[CX_OBJECT_ALLOCATOR], context->holds);
        write_line(file, left, y + 4 * LINE_HEIGHT, "", text);
    }
}

static size_t deepest(const cx_snapshot *shot)
{
    size_t depth =
        shot->context_count > shot->detached_count ? shot->context_count : shot->detached_count;
    for (size_t i = 0; i < shot->thread_count; i++)
        if (shot->threads[i].depth > depth)
            depth = shot->threads[i].depth;
    return depth;
}

void cx_snapshot_svg(FILE *file, const cx_snapshot *shot)
{
    const int columns = (int)shot->thread_count + (shot->detached_count != 0) + 1;
    const int bottom = HEAD + (int)deepest(shot) * STEP + 4;
    const int height = bottom + GAP, width_px = GAP + columns * (BOX_WIDTH + GAP);
    int x = GAP;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" "
            "font-family=\"monospace\" font-size=\"%d\">\n"
            "<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            width_px, height, width_px, height, FONT_SIZE, width_px, height);
    for (size_t i = 0; i < shot->thread_count; i++, x += BOX_WIDTH + GAP)
        write_thread(file, &shot->threads[i], x, bottom);
    if (shot->detached_count != 0) {
        write_detached(file, shot, x, bottom);
        x += BOX_WIDTH + GAP;
    }
    write_contexts(file, shot, x, bottom);
    fputs("</svg>\n", file);
}
