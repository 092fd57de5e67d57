#include "play/scene.h"

#include "emu/emu.h"
#include "play/order.h"
#include "play/print.h"
#include "theme/write.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES_SHOWN = 4096, /* from the beginning of memory */
    RUNS_SHOWN = 6,
    PER_THREAD = -2, /* the stream of that name; the legacy one is -1 */
    STEP_TEXT = 1024
};

/* ---- bytes of memory ---- */

/* Work may be writing it: byte by byte, and never twice. */
static void read_host(const volatile unsigned char *from, size_t bytes, unsigned char *to)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

/* False: no contents can be shown. */
static bool read_memory(const cx_player *player, const cx_thing *thing, size_t bytes,
                        unsigned char *out)
{
    bool embedded = !player->options->cuda && player->options->libcuda == NULL;
    if (thing->end != CX_THING_ALIVE || bytes == 0)
        return false;
    if (embedded && cx_emu_debug_read(thing->cell.bits, bytes, out))
        return true;
    if (thing->kind != CX_KIND_HOST || (embedded && strcmp(thing->what, "pinned memory") == 0))
        return false;
    read_host(thing->cell.host, bytes, out);
    return true;
}

/* How many units in a row are alike from `at` on. */
static size_t count_alike(const unsigned char *bytes, size_t count, size_t at, size_t unit)
{
    size_t alike = 1;
    while (at + (alike + 1) * unit <= count &&
           memcmp(bytes + at, bytes + at + alike * unit, unit) == 0)
        alike++;
    return alike;
}

static size_t count_runs(const unsigned char *bytes, size_t count, size_t unit)
{
    size_t runs = 0;
    for (size_t at = 0; at + unit <= count; runs++)
        at += count_alike(bytes, count, at, unit) * unit;
    return runs;
}

/* The unit that makes few runs: single bytes, or else numbers of 4 or 8. */
static size_t choose_unit(const unsigned char *bytes, size_t count)
{
    static const size_t units[] = {1, 4, 8};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (count % units[i] == 0 && count_runs(bytes, count, units[i]) <= RUNS_SHOWN)
            return units[i];
    return 1;
}

static void write_runs(const unsigned char *bytes, size_t count, bool cut, FILE *to)
{
    size_t unit = choose_unit(bytes, count), at = 0;
    fputs(",\"runs\":[", to);
    for (int i = 0; i < RUNS_SHOWN && at + unit <= count; i++) {
        size_t alike = count_alike(bytes, count, at, unit);
        fputs(i > 0 ? ",[\"" : "[\"", to);
        for (size_t j = 0; j < unit; j++)
            fprintf(to, "%s%02x", j > 0 ? " " : "", bytes[at + j]);
        fprintf(to, "\",%zu]", alike);
        at += alike * unit;
    }
    fprintf(to, "],\"more\":%s", at < count || cut ? "true" : "false");
}

static void write_memory(const cx_player *player, const cx_thing *thing, FILE *to)
{
    unsigned char bytes[BYTES_SHOWN];
    size_t count = thing->bytes < sizeof bytes ? (size_t)thing->bytes : sizeof bytes;
    fputs(",\"what\":", to);
    look_write_quoted(thing->what, to);
    fprintf(to, ",\"bytes\":%" PRIu64, thing->bytes);
    if (read_memory(player, thing, count, bytes))
        write_runs(bytes, count, count < thing->bytes, to);
}

/* ---- things ---- */

static const char *kind_word(cx_kind kind)
{
    return kind == CX_KIND_HOST ? "memory" : kind == CX_KIND_MEMORY ? "memory" : cx_kind_word(kind);
}

static void write_event(const cx_player *player, const cx_thing *thing, FILE *to)
{
    if (thing->recorded == NULL)
        return;
    bool pending = player->order != NULL && cx_order_event_pending(player->order, thing->cell);
    fprintf(to, ",\"recorded\":%d,\"stream\":%d,\"pending\":%s", cx_line_shown(thing->recorded),
            thing->stream, pending ? "true" : "false");
}

static void write_thing(const cx_player *player, const cx_thing *thing, FILE *to)
{
    static const char *const ends[] = {[CX_THING_DESTROYED] = "destroyed",
                                       [CX_THING_WITH_CONTEXT] = "with its context",
                                       [CX_THING_RESET] = "reset"};
    fprintf(to, "{\"kind\":\"%s\",\"name\":", kind_word(thing->kind));
    look_write_quoted(thing->name, to);
    fprintf(to, ",\"made\":%d,\"device\":%d,\"context\":%d", cx_line_shown(thing->made),
            thing->device, thing->context);
    if (thing->end != CX_THING_ALIVE)
        fprintf(to, ",\"end\":\"%s\"", ends[thing->end]);
    if (thing->kind == CX_KIND_CONTEXT)
        fprintf(to, ",\"primary\":%s,\"holds\":%d", thing->primary ? "true" : "false",
                thing->holds);
    else if (thing->kind == CX_KIND_EVENT)
        write_event(player, thing, to);
    else if (thing->kind != CX_KIND_STREAM)
        write_memory(player, thing, to);
    else if (thing->capturing)
        fputs(",\"capturing\":true", to);
    fputc('}', to);
}

/* NULL: no memory. */
static char *print_thing(const cx_player *player, const cx_thing *thing)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    write_thing(player, thing, to);
    return fclose(to) == 0 ? text : NULL;
}

void cx_scene_write_changes(cx_player *player, FILE *to)
{
    bool begun = false;
    fputc('[', to);
    for (int i = 0; i < player->scene.count; i++) {
        cx_thing *thing = &player->scene.all[i];
        char *text = print_thing(player, thing);
        if (text == NULL || (thing->written != NULL && strcmp(text, thing->written) == 0)) {
            free(text);
            continue;
        }
        fprintf(to, "%s[%d,%s]", begun ? "," : "", i, text);
        begun = true;
        free(thing->written);
        thing->written = text;
    }
    fputc(']', to);
}

/* ---- work ---- */

typedef struct work_writer {
    const cx_player *player;
    FILE *to;
    bool begun;
} work_writer;

static void write_one(const cx_line *line, cx_cell stream, cx_cell context, void *argument)
{
    work_writer *self = argument;
    const cx_scene *scene = &self->player->scene;
    char text[STEP_TEXT];
    cx_step bare = line->step;
    bare.outcomes = NULL;
    cx_step_print(&bare, text, sizeof text);
    int index = stream.bits == (uintptr_t)CXU_STREAM_PER_THREAD
                    ? PER_THREAD
                    : cx_scene_find(scene, CX_KIND_STREAM, stream, true);
    fprintf(self->to, "%s[%d,%d,%d,", self->begun ? "," : "", cx_line_shown(line), index,
            cx_scene_find(scene, CX_KIND_CONTEXT, context, true));
    look_write_quoted(text, self->to);
    fputc(']', self->to);
    self->begun = true;
}

void cx_scene_write_work(const cx_player *player, FILE *to)
{
    work_writer self = {.player = player, .to = to};
    fputc('[', to);
    if (player->order != NULL)
        cx_order_pending(player->order, write_one, &self);
    fputc(']', to);
}
