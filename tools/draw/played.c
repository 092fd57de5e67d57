#include "draw/draw.h"
#include "draw/svg.h"

#include <stdlib.h>
#include <string.h>

/* A panel for each step, in rows: the call, what came back, every thread's stack after it, and the
 * contexts with what they hold. */
enum {
    COLUMNS = 38, /* characters that fit in a panel */
    MARGIN = 8,
    GAP = 10,
    ACROSS = 3,     /* panels in a row */
    NAME_WIDTH = 9, /* characters of a context's name in a stack */
    ENTRY_WIDTH = NAME_WIDTH * SVG_FONT_SIZE * 6 / 10 + 12,
    ENTRY_HEIGHT = 20,
    STACK_WIDTH = ENTRY_WIDTH + GAP,
    HEAD = 2 * SVG_LINE_HEIGHT + MARGIN + GAP,
    FOOT = 3 * SVG_LINE_HEIGHT,
    TEXT_MAX = 1024
};

typedef struct moment {
    const json_t *step;
    json_t *state; /* the things after it */
    bool contents; /* of memory are told */
} moment;

typedef struct strip {
    moment *moments;
    size_t count;
    int width; /* of a panel */
    int depth; /* of the deepest stack */
    int lines; /* of the contexts, at most */
} strip;

/* ---- things ---- */

static int number_at(const json_t *array, size_t index)
{
    return (int)json_integer_value(json_array_get(array, index));
}

static const char *text_at(const json_t *array, size_t index)
{
    const char *text = json_string_value(json_array_get(array, index));
    return text != NULL ? text : "";
}

static bool is_kind(const json_t *thing, const char *kind)
{
    return strcmp(draw_text(thing, "kind"), kind) == 0;
}

static bool has_ended(const json_t *thing)
{
    return *draw_text(thing, "end") != '\0';
}

/* Returns the value that all bytes of the memory have, or "". */
static const char *only_run(const json_t *thing)
{
    const json_t *runs = json_object_get(thing, "runs");
    return json_array_size(runs) == 1 ? text_at(json_array_get(runs, 0), 0) : "";
}

static int hue_of(const json_t *context)
{
    int device = context != NULL ? (int)draw_number(context, "device") : -1;
    return device < 0 ? SVG_HUES - 1 : device % (SVG_HUES - 1);
}

/* By the number of the context among the contexts, as on the page of ctxrt play. */
static int pattern_of(const json_t *state, size_t index)
{
    long long number = 0;
    for (size_t i = 0; i <= index; i++)
        number += is_kind(json_array_get(state, i), "context");
    return svg_pattern(number);
}

/* Steps tell what has changed; each process of a scenario has things of its own. */
static json_t *change_state(json_t *states, const json_t *step)
{
    char process[32];
    const json_t *changes = json_object_get(step, "things");
    snprintf(process, sizeof process, "%lld", (long long)draw_number(step, "process"));
    json_t *state = json_object_get(states, process);
    state = state != NULL ? json_copy(state) : json_array();
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *pair = json_array_get(changes, i);
        size_t index = (size_t)number_at(pair, 0);
        while (json_array_size(state) <= index)
            if (json_array_append_new(state, json_object()) != 0)
                return state;
        json_array_set(state, index, json_array_get(pair, 1));
    }
    json_object_set(states, process, state);
    return state;
}

/* ---- words ---- */

static int count_work(const json_t *step, int stream, int context)
{
    const json_t *work = json_object_get(step, "work");
    int count = 0;
    for (size_t i = 0; i < json_array_size(work); i++)
        count += number_at(json_array_get(work, i), 1) == stream &&
                 number_at(json_array_get(work, i), 2) == context;
    return count;
}

/* Work that nothing has waited for: it may be done already, and nobody knows. */
static void write_pending(FILE *to, int count)
{
    if (count > 0)
        fprintf(to, " (%d not waited for)", count);
}

/* "p" or, where all bytes are alike, "p=07". */
static void write_memory(FILE *to, const json_t *thing, bool contents)
{
    fputs(draw_text(thing, "name"), to);
    if (contents && *only_run(thing) != '\0')
        fprintf(to, "=%s", only_run(thing));
}

/* Where the event was recorded last. */
static void write_record(FILE *to, const json_t *event, const json_t *state)
{
    int stream = (int)json_integer_value(json_object_get(event, "stream"));
    if (json_integer_value(json_object_get(event, "recorded")) == 0)
        return;
    fprintf(to, " (recorded in %s)",
            stream >= 0 ? draw_text(json_array_get(state, (size_t)stream), "name")
                        : "a default stream");
}

static void write_thing(FILE *to, const moment *at, size_t index, int context)
{
    const json_t *thing = json_array_get(at->state, index);
    if (is_kind(thing, "memory")) {
        write_memory(to, thing, at->contents);
        return;
    }
    fprintf(to, "%s %s%s", draw_text(thing, "kind"), draw_text(thing, "name"),
            json_is_true(json_object_get(thing, "capturing")) ? " captures" : "");
    if (is_kind(thing, "stream"))
        write_pending(to, count_work(at->step, (int)index, context));
    if (is_kind(thing, "event"))
        write_record(to, thing, at->state);
}

static void write_held(FILE *to, const moment *at, size_t context)
{
    const char *between = ": ";
    for (size_t i = 0; i < json_array_size(at->state); i++) {
        const json_t *thing = json_array_get(at->state, i);
        if (is_kind(thing, "context") || has_ended(thing) || *draw_text(thing, "kind") == '\0' ||
            (size_t)draw_number(thing, "context") != context)
            continue;
        fputs(between, to);
        write_thing(to, at, i, (int)context);
        between = ", ";
    }
    for (int stream = -1; stream >= -2; stream--) {
        int count = count_work(at->step, stream, (int)context);
        if (count == 0)
            continue;
        fprintf(to, "%s%s", between, stream == -1 ? "legacy stream" : "per-thread stream");
        write_pending(to, count);
        between = ", ";
    }
}

/* Describes a context and what it holds; "" if it has ended or is none. The caller frees the text.
 * NULL: no memory. */
static char *describe_context(const moment *at, size_t index)
{
    char *text = NULL;
    size_t size;
    const json_t *thing = json_array_get(at->state, index);
    FILE *to = is_kind(thing, "context") && !has_ended(thing) ? open_memstream(&text, &size) : NULL;
    if (to == NULL)
        return strdup("");
    fprintf(to, "%s on GPU %d", draw_text(thing, "name"), (int)draw_number(thing, "device"));
    if (json_is_true(json_object_get(thing, "primary")))
        fprintf(to, " (primary, %d held)", (int)draw_number(thing, "holds"));
    write_held(to, at, index);
    return fclose(to) == 0 ? text : NULL;
}

/* The length of the next line of a text, which ends behind a comma if it can. */
static int line_length(const char *text)
{
    const int most = COLUMNS - 2, whole = (int)strlen(text);
    int blank = 0;
    if (whole <= most)
        return whole;
    for (int i = most; i > 0; i--) {
        if (text[i] == ' ' && text[i - 1] == ',')
            return i;
        if (text[i] == ' ' && blank == 0)
            blank = i;
    }
    return blank > 0 ? blank : most;
}

/* Breaks a text into lines of a panel; draws them if there is a file. Returns how many. */
static int wrap(FILE *file, int x, int y, const char *text)
{
    int lines = 0;
    while (*text != '\0') {
        char line[TEXT_MAX];
        int length = line_length(text);
        snprintf(line, sizeof line, "%.*s", length, text);
        if (file != NULL)
            svg_line(file, x, y + lines * SVG_LINE_HEIGHT, COLUMNS, "", line);
        lines++;
        text += length + (text[length] == ' ');
    }
    return lines;
}

/* ---- a panel ---- */

static void draw_entry(FILE *file, const moment *at, const json_t *entry, int x, int y, bool top)
{
    char text[TEXT_MAX];
    int index = number_at(entry, 0);
    const json_t *thing = index >= 0 ? json_array_get(at->state, (size_t)index) : NULL;
    bool gone = thing == NULL || json_is_true(json_array_get(entry, 1)) || has_ended(thing);
    fprintf(file,
            "<g class=\"%s\">\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" "
            "class=\"box entry%s%s\" ",
            gone ? "none" : svg_hue_name(hue_of(thing)), x, y, ENTRY_WIDTH, ENTRY_HEIGHT - 3,
            top ? " current" : "", gone ? " ended" : "");
    if (gone)
        fputs("fill=\"none\"", file);
    else
        svg_fill(file, hue_of(thing), pattern_of(at->state, (size_t)index));
    fprintf(file, " stroke=\"%s\" stroke-width=\"%d\"%s/>\n", svg_light("ink"), top ? 3 : 1,
            gone ? " stroke-dasharray=\"4 3\"" : "");
    snprintf(text, sizeof text, "%s%s", text_at(entry, 2), gone ? " \xe2\x9c\x97" : "");
    svg_line(file, x + 6, y + 13, NAME_WIDTH, "", text);
    fputs("</g>\n", file);
}

/* `stack` is the thread's name and its entries from the top. */
static void draw_stack(FILE *file, const moment *at, const json_t *stack, int x, int ground)
{
    size_t depth = json_array_size(stack) - 1;
    for (size_t i = 0; i < depth; i++)
        draw_entry(file, at, json_array_get(stack, i + 1), x,
                   ground - (int)(depth - i) * ENTRY_HEIGHT, i == 0);
    fprintf(file, "<path d=\"M%d %dH%d\" class=\"ground\" stroke=\"%s\"/>\n", x - 2, ground,
            x + ENTRY_WIDTH + 2, svg_light("soft"));
    svg_line(file, x, ground + SVG_LINE_HEIGHT - 2, NAME_WIDTH + 1, "", text_at(stack, 0));
}

static void draw_contexts(FILE *file, const moment *at, int x, int y, int width)
{
    for (size_t i = 0; i < json_array_size(at->state); i++) {
        char *text = describe_context(at, i);
        int lines = text != NULL ? wrap(NULL, 0, 0, text) : 0;
        if (lines > 0) {
            const json_t *thing = json_array_get(at->state, i);
            fprintf(file,
                    "<g class=\"%s\">\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" "
                    "class=\"box held\" ",
                    svg_hue_name(hue_of(thing)), x, y, width, lines * SVG_LINE_HEIGHT + 4);
            svg_fill(file, hue_of(thing), pattern_of(at->state, i));
            fprintf(file, " stroke=\"%s\"/>\n", svg_light("ink"));
            wrap(file, x + 6, y + 13, text);
            fputs("</g>\n", file);
            y += lines * SVG_LINE_HEIGHT + MARGIN;
        }
        free(text);
    }
}

static int panel_height(const strip *self)
{
    return HEAD + self->depth * ENTRY_HEIGHT + SVG_LINE_HEIGHT + MARGIN + self->lines;
}

static void draw_panel(FILE *file, const strip *self, const moment *at, int x, int y)
{
    char text[TEXT_MAX];
    const char *came = draw_text(at->step, "came");
    const json_t *stacks = json_object_get(at->step, "stacks");
    bool good = strncmp(came, "SUCCESS", 7) == 0;
    int left = x + MARGIN, ground = y + HEAD + self->depth * ENTRY_HEIGHT;
    fprintf(file,
            "<g class=\"step\">\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" "
            "class=\"panel\" fill=\"%s\" stroke=\"%s\"/>\n",
            x, y, self->width, panel_height(self), svg_light("band"), svg_light("line"));
    snprintf(text, sizeof text, "%d  %s", (int)draw_number(at->step, "line"),
             draw_text(at->step, "text"));
    svg_line(file, left, y + SVG_LINE_HEIGHT, COLUMNS, " class=\"call\" font-weight=\"bold\"",
             text);
    snprintf(text, sizeof text, " class=\"%s\" fill=\"%s\"", good ? "good" : "wrong",
             svg_light(good ? "good" : "wrong"));
    char result[TEXT_MAX];
    snprintf(result, sizeof result, "-> %s", came);
    svg_line(file, left, y + 2 * SVG_LINE_HEIGHT, COLUMNS, text, result);
    for (size_t i = 0; i < json_array_size(stacks); i++)
        draw_stack(file, at, json_array_get(stacks, i), left + (int)i * STACK_WIDTH, ground);
    draw_contexts(file, at, left, ground + SVG_LINE_HEIGHT + MARGIN, self->width - 2 * MARGIN);
    fputs("</g>\n", file);
}

/* ---- a scenario ---- */

static int height_of_contexts(const moment *at)
{
    int height = 0;
    for (size_t i = 0; i < json_array_size(at->state); i++) {
        char *text = describe_context(at, i);
        if (text != NULL && *text != '\0')
            height += wrap(NULL, 0, 0, text) * SVG_LINE_HEIGHT + MARGIN;
        free(text);
    }
    return height;
}

/* Zeros alone tell nothing, for memory begins so. */
static void choose_contents(strip *self)
{
    bool contents = false;
    for (size_t i = 0; i < self->count; i++)
        for (size_t j = 0; j < json_array_size(self->moments[i].state); j++)
            if (strpbrk(only_run(json_array_get(self->moments[i].state, j)), "123456789abcdef"))
                contents = true;
    for (size_t i = 0; i < self->count; i++)
        self->moments[i].contents = contents;
}

static void measure(strip *self)
{
    int threads = 1;
    for (size_t i = 0; i < self->count; i++) {
        const json_t *stacks = json_object_get(self->moments[i].step, "stacks");
        int height = height_of_contexts(&self->moments[i]);
        if ((int)json_array_size(stacks) > threads)
            threads = (int)json_array_size(stacks);
        for (size_t j = 0; j < json_array_size(stacks); j++) {
            int depth = (int)json_array_size(json_array_get(stacks, j)) - 1;
            self->depth = depth > self->depth ? depth : self->depth;
        }
        self->lines = height > self->lines ? height : self->lines;
    }
    self->width = COLUMNS * SVG_FONT_SIZE * 6 / 10 + 2 * MARGIN;
    if (self->width < threads * STACK_WIDTH + 2 * MARGIN)
        self->width = threads * STACK_WIDTH + 2 * MARGIN;
}

/* The first element of `steps` is no step. */
static bool read_steps(const json_t *steps, strip *out)
{
    size_t count = json_array_size(steps);
    json_t *states = json_object();
    *out = (strip){.moments = calloc(count + 1, sizeof(moment))};
    for (size_t i = 1; i < count && out->moments != NULL && states != NULL; i++) {
        const json_t *step = json_array_get(steps, i);
        out->moments[out->count++] = (moment){step, change_state(states, step), false};
    }
    json_decref(states);
    return out->moments != NULL && states != NULL;
}

static void forget_steps(strip *self)
{
    for (size_t i = 0; i < self->count; i++)
        json_decref(self->moments[i].state);
    free(self->moments);
}

static void define_fills(FILE *file, const strip *self)
{
    svg_fills fills = {0};
    for (size_t i = 0; i < self->count; i++) {
        const json_t *state = self->moments[i].state;
        for (size_t j = 0; j < json_array_size(state); j++)
            if (is_kind(json_array_get(state, j), "context"))
                fills.used[hue_of(json_array_get(state, j))][pattern_of(state, j)] = true;
    }
    svg_fills_define(&fills, file);
}

static void draw_legend(FILE *file, bool contents, int y)
{
    static const char current[] =
        "thick border: current; \xe2\x9c\x97: destroyed, but still on the stack";
    svg_line(file, GAP, y, 80, "", current);
    svg_line(file, GAP, y + SVG_LINE_HEIGHT, 80, "",
             contents ? "colour: GPU; pattern: context; p=07: each byte of p is 07"
                      : "colour: GPU; pattern: context");
}

/* At least as wide as the legend. */
static int across(const strip *self)
{
    return self->count < ACROSS ? (int)self->count : ACROSS;
}

bool draw_played(FILE *file, const json_t *scenario)
{
    strip self;
    bool read = read_steps(json_object_get(scenario, "steps"), &self) && self.count > 0;
    if (read) {
        choose_contents(&self);
        measure(&self);
        int rows = (int)(self.count + ACROSS - 1) / ACROSS, step = panel_height(&self) + GAP;
        int width = GAP + across(&self) * (self.width + GAP), least = 64 * SVG_FONT_SIZE * 6 / 10;
        svg_begin(file, width > least ? width : least, GAP + rows * step + FOOT);
        define_fills(file, &self);
        for (size_t i = 0; i < self.count; i++)
            draw_panel(file, &self, &self.moments[i], GAP + (int)(i % ACROSS) * (self.width + GAP),
                       GAP + (int)(i / ACROSS) * step);
        draw_legend(file, self.moments[0].contents, GAP + rows * step + SVG_LINE_HEIGHT);
        svg_end(file);
    }
    forget_steps(&self);
    return read;
}
