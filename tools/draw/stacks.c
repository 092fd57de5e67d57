#include "draw/draw.h"
#include "draw/svg.h"

#include <string.h>

/* The width of a monospaced character is 0.6 of its size. */
enum {
    COLUMNS = 32, /* characters that fit in a box */
    MARGIN = 8,
    BOX_WIDTH = COLUMNS * SVG_FONT_SIZE * 6 / 10 + 2 * MARGIN + 1,
    BOX_LINES = 5,
    BOX_HEIGHT = BOX_LINES * SVG_LINE_HEIGHT + MARGIN,
    STEP = BOX_HEIGHT + 4,
    GAP = 12,
    HEAD = 2 * SVG_LINE_HEIGHT + GAP,
    UPWARDS = 8, /* contexts in a column */
    FOOT = 2 * SVG_LINE_HEIGHT,
    TEXT_MAX = 256
};

static const char bold[] = " font-weight=\"bold\"";

static int hue_of(const json_t *object)
{
    return svg_hue(draw_text(object, "device"));
}

static int pattern_of(const json_t *object)
{
    return svg_pattern((long long)draw_number(object, "context"));
}

/* The box of a frame or a context: its text is in the same group, so that it knows the fill behind
 * it. */
static void begin_box(FILE *file, int x, int y, const char *class, const json_t *of,
                      const char *style)
{
    fprintf(file,
            "<g class=\"%s\">\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"box %s\" ",
            svg_hue_name(hue_of(of)), x, y, BOX_WIDTH, BOX_HEIGHT, class);
    svg_fill(file, hue_of(of), pattern_of(of));
    fprintf(file, " stroke=\"%s\"%s/>\n", svg_light("ink"), style);
}

static void end_box(FILE *file)
{
    fputs("</g>\n", file);
}

static void draw_named(FILE *file, int x, int *line, const json_t *frame, const char *name)
{
    char text[TEXT_MAX];
    if (*draw_text(frame, name) == '\0')
        return;
    snprintf(text, sizeof text, "%s %s", name, draw_text(frame, name));
    svg_line(file, x, *line += SVG_LINE_HEIGHT, COLUMNS, "", text);
}

/* The end of a file name says most. */
static void draw_place(FILE *file, int x, int line, const json_t *frame)
{
    char text[TEXT_MAX];
    const char *name = draw_text(frame, "file");
    size_t length = strlen(name), most = sizeof text - 16;
    const char *end = length > most ? name + length - most : name;
    while (((unsigned char)*end & 0xc0) == 0x80)
        end++;
    snprintf(text, sizeof text, "%s:%d", end, (int)draw_number(frame, "line"));
    svg_line(file, x, line, COLUMNS, "", text);
}

static void draw_frame(FILE *file, const json_t *frame, int x, int y, const char *origin, int top)
{
    char text[TEXT_MAX];
    int left = x + MARGIN, line = y + SVG_LINE_HEIGHT;
    begin_box(file, x, y, "frame", frame,
              strcmp(origin, "foreign") == 0 ? " stroke-dasharray=\"4 3\""
              : top                          ? " stroke-width=\"3\""
                                             : "");
    snprintf(text, sizeof text, "%s  %s", draw_text(frame, "device"), origin);
    svg_line(file, left, line, COLUMNS, bold, text);
    snprintf(text, sizeof text, "%s context %lld", draw_text(frame, "context_kind"),
             (long long)draw_number(frame, "context"));
    svg_line(file, left, line += SVG_LINE_HEIGHT, COLUMNS, "", text);
    draw_named(file, left, &line, frame, "stream");
    draw_named(file, left, &line, frame, "allocator");
    if (*draw_text(frame, "file") != '\0')
        draw_place(file, left, line + SVG_LINE_HEIGHT, frame);
    end_box(file);
}

static void draw_head(FILE *file, int x, int y, const char *first, const char *second)
{
    svg_line(file, x, y + GAP + SVG_LINE_HEIGHT / 2, COLUMNS, bold, first);
    svg_line(file, x, y + GAP + SVG_LINE_HEIGHT / 2 + SVG_LINE_HEIGHT, COLUMNS, "", second);
}

/* ---- columns ---- */

/* `frames` has the top one first, as in the snapshot. */
static void draw_thread(FILE *file, const json_t *thread, int x, int y, int bottom)
{
    char text[TEXT_MAX];
    const json_t *frames = json_object_get(thread, "frames");
    size_t depth = json_array_size(frames);
    snprintf(text, sizeof text, "thread %lld", (long long)draw_number(thread, "thread"));
    draw_head(file, x, y, text, draw_text(thread, "name"));
    for (size_t i = 0; i < depth; i++) {
        const json_t *frame = json_array_get(frames, i);
        draw_frame(file, frame, x, bottom - (int)(depth - i) * STEP, draw_text(frame, "origin"),
                   i == 0);
    }
}

static void draw_detached(FILE *file, const json_t *detached, int x, int y, int bottom)
{
    char text[TEXT_MAX];
    draw_head(file, x, y, "detached frames", "");
    for (size_t i = 0; i < json_array_size(detached); i++) {
        const json_t *frame = json_array_get(detached, i);
        snprintf(text, sizeof text, "by thread %lld", (long long)draw_number(frame, "thread"));
        draw_frame(file, frame, x, bottom - (int)(i + 1) * STEP, text, 0);
    }
}

static void draw_context(FILE *file, const json_t *context, int x, int y)
{
    char text[TEXT_MAX];
    int left = x + MARGIN;
    begin_box(file, x, y, "context", context, "");
    snprintf(text, sizeof text, "%s  %s context %lld", draw_text(context, "device"),
             draw_text(context, "context_kind"), (long long)draw_number(context, "context"));
    svg_line(file, left, y + SVG_LINE_HEIGHT, COLUMNS, bold, text);
    snprintf(text, sizeof text, "%lld bytes in %lld",
             (long long)draw_number(context, "memory_bytes"),
             (long long)draw_number(context, "memory_count"));
    svg_line(file, left, y + 2 * SVG_LINE_HEIGHT, COLUMNS, "", text);
    snprintf(text, sizeof text, "streams %lld, events %lld",
             (long long)draw_number(context, "streams"), (long long)draw_number(context, "events"));
    svg_line(file, left, y + 3 * SVG_LINE_HEIGHT, COLUMNS, "", text);
    snprintf(text, sizeof text, "allocators %lld, holds %lld",
             (long long)draw_number(context, "allocators"),
             (long long)draw_number(context, "holds"));
    svg_line(file, left, y + 4 * SVG_LINE_HEIGHT, COLUMNS, "", text);
    end_box(file);
}

/* The contexts from the one of number `first` on, as many as a column has. */
static void draw_contexts(FILE *file, const json_t *snapshot, size_t first, int x, int y,
                          int bottom)
{
    char text[TEXT_MAX];
    const json_t *contexts = json_object_get(snapshot, "contexts");
    const json_t *host = json_object_get(snapshot, "host");
    snprintf(text, sizeof text, "host: %lld bytes", (long long)draw_number(host, "memory_bytes"));
    draw_head(file, x, y, first == 0 ? "contexts" : "more contexts", first == 0 ? text : "");
    for (size_t i = 0; i < UPWARDS && first + i < json_array_size(contexts); i++)
        draw_context(file, json_array_get(contexts, first + i), x, bottom - (int)(i + 1) * STEP);
}

/* ---- fills and legend ---- */

static void use_fills(svg_fills *fills, const json_t *objects)
{
    for (size_t i = 0; i < json_array_size(objects); i++) {
        const json_t *object = json_array_get(objects, i);
        fills->used[hue_of(object)][pattern_of(object)] = true;
    }
}

static void define_fills(FILE *file, const json_t *snapshot)
{
    svg_fills fills = {0};
    const json_t *threads = json_object_get(snapshot, "threads");
    for (size_t i = 0; i < json_array_size(threads); i++)
        use_fills(&fills, json_object_get(json_array_get(threads, i), "frames"));
    use_fills(&fills, json_object_get(snapshot, "detached"));
    use_fills(&fills, json_object_get(snapshot, "contexts"));
    svg_fills_define(&fills, file);
}

static int draw_key(FILE *file, int x, int y, const char *style, const char *text)
{
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"28\" height=\"14\" rx=\"3\" class=\"box key\" "
            "fill=\"none\" stroke=\"%s\"%s/>\n",
            x, y - 11, svg_light("ink"), style);
    svg_line(file, x + 34, y, COLUMNS * 2, "", text);
    return x + 34 + ((int)strlen(text) + 3) * SVG_FONT_SIZE * 6 / 10;
}

/* Below each other, so that they fit a picture of one column. */
static void draw_legend(FILE *file, int width, int y)
{
    int x = draw_key(file, GAP, y, " stroke-width=\"3\"", "current");
    draw_key(file, x, y, " stroke-dasharray=\"4 3\"", "foreign");
    svg_line(file, GAP, y + SVG_LINE_HEIGHT, (width - 2 * GAP) * 10 / (SVG_FONT_SIZE * 6), "",
             "colour: device, pattern: context");
}

/* ---- the whole ---- */

typedef struct layout {
    const json_t *snapshot, *threads, *detached;
    /* Columns: those of threads, of detached frames if there are any, of contexts. */
    size_t thread_count, first_context, column_count;
    size_t across; /* columns side by side in a row */
} layout;

static layout lay_out(const json_t *snapshot, size_t columns)
{
    layout self = {.snapshot = snapshot,
                   .across = columns,
                   .threads = json_object_get(snapshot, "threads"),
                   .detached = json_object_get(snapshot, "detached")};
    size_t contexts = json_array_size(json_object_get(snapshot, "contexts"));
    self.thread_count = json_array_size(self.threads);
    self.first_context = self.thread_count + (json_array_size(self.detached) != 0);
    self.column_count =
        self.first_context + 1 + (contexts > UPWARDS ? (contexts - 1) / UPWARDS : 0);
    return self;
}

static size_t column_depth(const layout *self, size_t column)
{
    if (column < self->thread_count)
        return json_array_size(json_object_get(json_array_get(self->threads, column), "frames"));
    if (column < self->first_context)
        return json_array_size(self->detached);
    size_t left = json_array_size(json_object_get(self->snapshot, "contexts")) -
                  (column - self->first_context) * UPWARDS;
    return left < UPWARDS ? left : UPWARDS;
}

static int row_height(const layout *self, size_t first)
{
    size_t depth = 0;
    for (size_t i = first; i < first + self->across && i < self->column_count; i++)
        if (column_depth(self, i) > depth)
            depth = column_depth(self, i);
    return HEAD + (int)depth * STEP + 4;
}

static void draw_column(FILE *file, const layout *self, size_t column, int y, int bottom)
{
    int x = GAP + (int)(column % self->across) * (BOX_WIDTH + GAP);
    if (column < self->thread_count)
        draw_thread(file, json_array_get(self->threads, column), x, y, bottom);
    else if (column < self->first_context)
        draw_detached(file, self->detached, x, y, bottom);
    else
        draw_contexts(file, self->snapshot, (column - self->first_context) * UPWARDS, x, y, bottom);
}

void draw_stacks(FILE *file, const json_t *snapshot, size_t columns)
{
    const layout self = lay_out(snapshot, columns);
    size_t across = self.column_count < columns ? self.column_count : columns;
    int width = GAP + (int)across * (BOX_WIDTH + GAP), height = GAP + FOOT, y = 0;
    for (size_t first = 0; first < self.column_count; first += columns)
        height += row_height(&self, first);
    svg_begin(file, width, height);
    define_fills(file, snapshot);
    for (size_t first = 0; first < self.column_count; first += columns) {
        int bottom = y + row_height(&self, first);
        for (size_t i = first; i < first + columns && i < self.column_count; i++)
            draw_column(file, &self, i, y, bottom);
        y = bottom;
    }
    draw_legend(file, width, y + SVG_LINE_HEIGHT);
    svg_end(file);
}
