#include "trace/page.h"

#include "check/names.h"
#include "theme/write.h"
#include "trace/calls.h"
#include "trace/json.h"
#include "trace/origins.h"
#include "trace/pieces.h"
#include "trace/spans.h"
#include "trace/words.h"

#include "tools/trace/page_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * The page has the trace as JSON, in columns: an array for each field of calls and work. Texts are
 * numbers of one table, times are ns, and those of begins count from the item before.
 */
typedef struct writer {
    const trace *all;
    const trace_process *process;
    trace_words words;
    trace_tracks tracks;
    FILE *to;
} writer;

static uint64_t since_begin(const writer *self, uint64_t time)
{
    return time > self->all->begun ? time - self->all->begun : 0;
}

/* ---- columns ---- */

/* The value of a field of the item at an index. */
typedef uint64_t field(writer *self, const void *of, size_t index);

static void write_column(writer *self, const char *name, field *value, const void *of, size_t count)
{
    fprintf(self->to, "\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        fprintf(self->to, i > 0 ? ",%" PRIu64 : "%" PRIu64, value(self, of, i));
    fputs("]", self->to);
}

static const cx_trace_call *call_at(const void *of, size_t index)
{
    return ((const trace_thread *)of)->calls[index];
}

static uint64_t name_of_call(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = call_at(of, index);
    const cx_trace_api *api = trace_api_of(self->process, of, call);
    char text[128];
    if (api == NULL)
        return trace_word(&self->words, call_name(call->slot));
    snprintf(text, sizeof text, "%s: %s", api->name, call_name(call->slot));
    return trace_word(&self->words, text);
}

static uint64_t arguments_of_call(writer *self, const void *of, size_t index)
{
    static char text[TRACE_TEXT];
    trace_arguments_text(self->process, call_at(of, index), text, sizeof text);
    return trace_word(&self->words, text);
}

static uint64_t result_of_call(writer *self, const void *of, size_t index)
{
    char text[64];
    trace_result_text(call_at(of, index), text, sizeof text);
    return trace_word(&self->words, text);
}

static uint64_t origin_of(writer *self, const void *of, size_t index)
{
    return trace_word(&self->words, trace_origin_text(self->process, call_at(of, index)));
}

static uint64_t start_of_call(writer *self, const void *of, size_t index)
{
    uint64_t start = since_begin(self, call_at(of, index)->start);
    return index > 0 ? start - since_begin(self, call_at(of, index - 1)->start) : start;
}

static uint64_t time_of_call(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = call_at(of, index);
    return trace_call_over(self->process, call) - call->start;
}

static uint64_t depth_before(writer *self, const void *of, size_t index)
{
    (void)self;
    return call_at(of, index)->depth_before;
}

static uint64_t depth_after(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = call_at(of, index);
    (void)self;
    return trace_call_end(call) != 0 ? call->depth_after : call->depth_before;
}

static uint64_t word_of_context(writer *self, uint64_t handle, uint64_t time)
{
    char text[128];
    trace_context_text(self->process, handle, time, text, sizeof text);
    return trace_word(&self->words, text);
}

static uint64_t context_before(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = call_at(of, index);
    return word_of_context(self, call->before, call->start);
}

static uint64_t context_after(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = call_at(of, index);
    return trace_call_end(call) != 0 ? word_of_context(self, call->after, trace_call_end(call))
                                     : word_of_context(self, call->before, call->start);
}

typedef struct column {
    const char *name;
    field *value;
} column;

static void write_columns(writer *self, const column *columns, const void *of, size_t count)
{
    fputc('{', self->to);
    for (; columns->name != NULL; columns++) {
        write_column(self, columns->name, columns->value, of, count);
        if (columns[1].name != NULL)
            fputc(',', self->to);
    }
    fputc('}', self->to);
}

/* ---- threads ---- */

/* The context's number among the objects; -1: it is unknown. */
static long object_index(const writer *self, const trace_object *object)
{
    return object != NULL ? (long)(object - self->process->objects) : -1;
}

static bool write_spans(writer *self, const trace_thread *thread)
{
    trace_spans spans;
    if (!trace_spans_of(self->process, thread, &spans))
        return false;
    fputs("\"spans\":[", self->to);
    for (size_t i = 0; i < spans.count; i++) {
        const trace_span *span = &spans.all[i];
        uint64_t name = span->handle != 0 ? word_of_context(self, span->handle, span->start)
                                          : trace_word(&self->words, "an unknown context");
        fprintf(self->to, "%s[%ld,%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 "]", i > 0 ? "," : "",
                object_index(self, span->context), name, span->level,
                since_begin(self, span->start), since_begin(self, span->end));
    }
    fputs("],", self->to);
    free(spans.all);
    return true;
}

static bool write_thread(writer *self, const trace_thread *thread)
{
    static const column columns[] = {
        {"name", name_of_call},   {"arguments", arguments_of_call}, {"result", result_of_call},
        {"start", start_of_call}, {"time", time_of_call},           {"from", depth_before},
        {"to", depth_after},      {"before", context_before},       {"after", context_after},
        {"origin", origin_of},    {NULL, NULL},
    };
    char name[64];
    trace_thread_text(self->process, thread, name, sizeof name);
    fprintf(self->to, "{\"tid\":%d,\"name\":", thread->tid);
    look_write_quoted(name, self->to);
    fputc(',', self->to);
    if (!write_spans(self, thread))
        return false;
    fputs("\"calls\":", self->to);
    write_columns(self, columns, thread, thread->count);
    fputc('}', self->to);
    return true;
}

/* ---- streams ---- */

static const trace_piece *piece_at(const void *of, size_t index)
{
    return &((const trace_piece *)of)[index];
}

static uint64_t name_of_piece(writer *self, const void *of, size_t index)
{
    char text[160];
    trace_piece_text(self->process, piece_at(of, index), text, sizeof text);
    return trace_word(&self->words, text);
}

static uint64_t kind_of_piece(writer *self, const void *of, size_t index)
{
    return trace_word(&self->words, trace_piece_kind(piece_at(of, index)));
}

static uint64_t track_of_piece(writer *self, const void *of, size_t index)
{
    (void)self;
    return piece_at(of, index)->track;
}

static uint64_t lane_of_piece(writer *self, const void *of, size_t index)
{
    (void)self;
    return piece_at(of, index)->lane;
}

static uint64_t start_of_piece(writer *self, const void *of, size_t index)
{
    uint64_t start = since_begin(self, piece_at(of, index)->start);
    return index > 0 ? start - since_begin(self, piece_at(of, index - 1)->start) : start;
}

static uint64_t time_of_piece(writer *self, const void *of, size_t index)
{
    (void)self;
    return piece_at(of, index)->end - piece_at(of, index)->start;
}

/* The thread and the index of the call that submitted it, each one more; 0: it is unknown. */
static uint64_t thread_of_piece(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = piece_at(of, index)->call;
    uint64_t at = 0;
    for (size_t i = 0; call != NULL && i < self->process->thread_count; i++) {
        at += self->process->threads[i].count > 0; /* others have no lane */
        if (self->process->threads[i].number == call->ticket >> 40)
            return at;
    }
    return 0;
}

static uint64_t call_of_piece(writer *self, const void *of, size_t index)
{
    const cx_trace_call *call = piece_at(of, index)->call;
    for (size_t i = 0; call != NULL && i < self->process->thread_count; i++)
        if (self->process->threads[i].number == call->ticket >> 40)
            return call->ticket - self->process->threads[i].calls[0]->ticket + 1;
    return 0;
}

static void write_streams(writer *self)
{
    static const column columns[] = {
        {"name", name_of_piece},     {"kind", kind_of_piece},   {"track", track_of_piece},
        {"lane", lane_of_piece},     {"start", start_of_piece}, {"time", time_of_piece},
        {"thread", thread_of_piece}, {"call", call_of_piece},   {NULL, NULL},
    };
    char name[160];
    fputs("\"streams\":[", self->to);
    for (size_t i = 0; i < self->tracks.count; i++) {
        const trace_track *track = &self->tracks.all[i];
        const trace_object *context =
            trace_object_at(self->process, CX_HANDLE_CONTEXT, track->context, track->first);
        trace_track_text(self->process, track, name, sizeof name);
        fprintf(self->to, "%s{\"lanes\":%u,\"context\":%ld,\"name\":", i > 0 ? "," : "",
                track->lanes, object_index(self, context));
        look_write_quoted(name, self->to);
        fputc('}', self->to);
    }
    fputs("],\"work\":", self->to);
    write_columns(self, columns, self->tracks.pieces, self->tracks.piece_count);
}

/* ---- arrows ---- */

/* An end of an arrow at work is the work's number; at a call it is its thread and number. */
static void write_end(writer *self, const cx_trace_call *call, size_t piece)
{
    const trace_piece at = {.call = call};
    if (piece != SIZE_MAX)
        fprintf(self->to, ",%zu,-1", piece);
    else
        fprintf(self->to, ",%" PRIu64 ",%" PRIu64, call_of_piece(self, &at, 0) - 1,
                thread_of_piece(self, &at, 0) - 1);
}

static bool write_arrows(writer *self)
{
    trace_arrows arrows;
    if (!trace_arrows_of(self->process, &self->tracks, &arrows))
        return false;
    fputs("\"arrows\":[", self->to);
    for (size_t i = 0; i < arrows.count; i++) {
        const trace_arrow *arrow = &arrows.all[i];
        fprintf(self->to, "%s[%d", i > 0 ? "," : "", arrow->of_event);
        write_end(self, arrow->from, arrow->from_piece);
        write_end(self, arrow->to, arrow->to_piece);
        fputc(']', self->to);
    }
    fputs("],", self->to);
    free(arrows.all);
    return true;
}

/* ---- processes ---- */

/* When each context ended, by its number among the objects. */
static void write_ends(writer *self)
{
    bool begun = false;
    fputs("\"ended\":{", self->to);
    for (size_t i = 0; i < self->process->object_count; i++) {
        const trace_object *object = &self->process->objects[i];
        if (object->kind != CX_HANDLE_CONTEXT || object->until == 0)
            continue;
        fprintf(self->to, "%s\"%zu\":%" PRIu64, begun ? "," : "", i,
                since_begin(self, object->until));
        begun = true;
    }
    fputs("},", self->to);
}

/* The device and the number of each context, by its number among the objects. */
static void write_contexts(writer *self)
{
    bool begun = false;
    fputs("\"contexts\":{", self->to);
    for (size_t i = 0; i < self->process->object_count; i++) {
        const trace_object *object = &self->process->objects[i];
        if (object->kind != CX_HANDLE_CONTEXT)
            continue;
        fprintf(self->to, "%s\"%zu\":[%d,%u]", begun ? "," : "", i,
                object->device - (int)self->process->head->host_devices, object->number);
        begun = true;
    }
    fputs("},", self->to);
}

static void write_marks(writer *self, const trace_marks *marks)
{
    bool begun = false;
    fputs("\"marks\":[", self->to);
    for (size_t i = 0; i < marks->count; i++) {
        const trace_mark *mark = &marks->all[i];
        if (mark->pid != self->process->head->pid || mark->time < self->process->head->begun)
            continue;
        fprintf(self->to, "%s[%d,%" PRIu64 ",\"%s\",\"%s\",", begun ? "," : "", mark->tid,
                since_begin(self, mark->time), mark->kind, mark->severity);
        look_write_quoted(mark->text, self->to);
        fputc(']', self->to);
        begun = true;
    }
    fputc(']', self->to);
}

static bool write_threads(writer *self)
{
    bool good = true, begun = false;
    fputs("\"threads\":[", self->to);
    for (size_t i = 0; good && i < self->process->thread_count; i++) {
        if (self->process->threads[i].count == 0) /* it ran work of the driver */
            continue;
        fputs(begun ? ",\n" : "", self->to);
        begun = true;
        good = write_thread(self, &self->process->threads[i]);
    }
    fputs("],", self->to);
    return good;
}

static bool write_process(writer *self, const trace_marks *marks)
{
    if (!trace_tracks_of(self->process, &self->tracks))
        return false;
    fprintf(self->to, "{\"pid\":%d,\"forkedFrom\":%d,\"end\":%" PRIu64 ",\"program\":",
            self->process->head->pid, self->process->head->forked_from,
            since_begin(self, self->process->ended));
    look_write_quoted(trace_file_name(self->process->head->program), self->to);
    fprintf(self->to, ",\"timed\":%s,", self->process->work_count > 0 ? "true" : "false");
    bool good = write_threads(self) && write_arrows(self);
    write_contexts(self);
    write_ends(self);
    write_streams(self);
    fputs(",\n", self->to);
    write_marks(self, marks);
    fputc('}', self->to);
    trace_tracks_free(&self->tracks);
    return good;
}

static bool write_trace(const trace *self, const trace_marks *marks, FILE *to)
{
    writer page = {.all = self, .to = to};
    bool good = true;
    fputs("{\"processes\":[", to);
    for (size_t i = 0; good && i < self->count; i++) {
        fputs(i > 0 ? ",\n" : "", to);
        page.process = &self->processes[i];
        good = write_process(&page, marks);
    }
    fputs("],\n\"texts\":[", to);
    for (size_t i = 0; i < page.words.count; i++) {
        fputs(i > 0 ? ",\n" : "", to);
        look_write_quoted(page.words.all[i], to);
    }
    fputs("]}\n", to);
    good = good && !page.words.full;
    trace_words_free(&page.words);
    return good;
}

bool trace_write_page(const trace *self, const trace_marks *marks, FILE *to)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<title>ctxrt trace</title>\n<style>\n", to);
    look_write_lines(palette_css, to);
    look_write_lines(theme_css, to);
    look_write_lines(page_css, to);
    fputs("</style>\n</head>\n<body>\n", to);
    look_write_lines(page_html, to);
    fputs("<script type=\"application/json\" id=\"trace\">", to);
    bool good = write_trace(self, marks, to);
    fputs("</script>\n<script>\n", to);
    look_write_lines(theme_js, to);
    look_write_lines(page_js, to);
    look_write_lines(page_keys_js, to);
    fputs("</script>\n</body>\n</html>\n", to);
    return good && fflush(to) == 0 && ferror(to) == 0;
}
