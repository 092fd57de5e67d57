#include "trace/json.h"

#include "check/names.h"
#include "driver/work_timestamps.h"
#include "theme/write.h"
#include "trace/calls.h"
#include "trace/origins.h"
#include "trace/pieces.h"
#include "trace/spans.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Streams are threads of the process here, with numbers that no thread of the system has. */
enum { FIRST_STREAM = 100000000 };

typedef struct writer {
    const trace *all;
    const trace_process *process;
    FILE *to;
    bool begun; /* an event was written */
    uint64_t flows;
    trace_tracks tracks;
    unsigned *first_lane; /* of each track: lanes are numbered through */
} writer;

/* Times are microseconds since the first process began. */
static void write_time(const writer *self, const char *name, uint64_t time)
{
    fprintf(self->to, ",\"%s\":%" PRIu64 ".%03" PRIu64, name, time / 1000, time % 1000);
}

static void begin_event(writer *self, const char *phase, int64_t tid)
{
    fputs(self->begun ? ",\n" : "\n", self->to);
    self->begun = true;
    fprintf(self->to, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRId64, phase, self->process->head->pid,
            tid);
}

static void begin_slice(writer *self, int64_t tid, uint64_t start, uint64_t end)
{
    begin_event(self, "X", tid);
    write_time(self, "ts", start - self->all->begun);
    write_time(self, "dur", end > start ? end - start : 0);
}

static void write_text(writer *self, const char *name, const char *text)
{
    fprintf(self->to, "\"%s\":", name);
    look_write_quoted(text, self->to);
}

/* ---- names ---- */

static void write_name(writer *self, const char *what, int64_t tid, const char *name)
{
    begin_event(self, "M", tid);
    fprintf(self->to, ",\"name\":\"%s\",\"args\":{", what);
    write_text(self, "name", name);
    fputs("}}", self->to);
}

static void write_order(writer *self, int64_t tid, unsigned order)
{
    begin_event(self, "M", tid);
    fprintf(self->to, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", order);
}

/* ---- threads ---- */

static void write_call(writer *self, const trace_thread *thread, const cx_trace_call *call)
{
    static char arguments[TRACE_TEXT];
    char result[64], context[128];
    uint64_t over = trace_call_over(self->process, call);
    begin_slice(self, thread->tid, call->start, over);
    fputs(",\"cat\":\"call\",", self->to);
    write_text(self, "name", call_name(call->slot));
    fputs(",\"args\":{", self->to);
    trace_arguments_text(self->process, call, arguments, sizeof arguments);
    write_text(self, "arguments", arguments);
    trace_result_text(call, result, sizeof result);
    fputc(',', self->to);
    write_text(self, "result", result);
    trace_context_text(self->process, call->before, call->start, context, sizeof context);
    fputc(',', self->to);
    write_text(self, "before", context);
    if (trace_call_end(call) != 0) {
        trace_context_text(self->process, call->after, over, context, sizeof context);
        fputc(',', self->to);
        write_text(self, "after", context);
        fprintf(self->to, ",\"depth\":%u", call->depth_after);
    }
    const char *origin = trace_origin_text(self->process, call);
    if (*origin != '\0') {
        fputc(',', self->to);
        write_text(self, "origin", origin);
    }
    fputs("}}", self->to);
}

/* Its calls of the driver lie within it. */
static void write_api(writer *self, const trace_thread *thread, const cx_trace_api *api)
{
    begin_slice(self, thread->tid, api->start, trace_api_over(self->process, api));
    fputs(",\"cat\":\"runtime\",", self->to);
    write_text(self, "name", api->name);
    fputc('}', self->to);
}

static void write_depth(writer *self, const trace_thread *thread, uint64_t time, unsigned depth)
{
    begin_event(self, "C", thread->tid);
    write_time(self, "ts", time - self->all->begun);
    fprintf(self->to, ",\"name\":\"stack depth of %d\",\"args\":{\"depth\":%u}}", thread->tid,
            depth);
}

static void write_depths(writer *self, const trace_thread *thread)
{
    unsigned depth = thread->calls[0]->depth_before;
    write_depth(self, thread, thread->calls[0]->start, depth);
    for (size_t i = 0; i < thread->count; i++) {
        const cx_trace_call *call = thread->calls[i];
        if (call->depth_before != depth)
            write_depth(self, thread, call->start, depth = call->depth_before);
        if (trace_call_end(call) != 0 && call->depth_after != depth)
            write_depth(self, thread, trace_call_end(call), depth = call->depth_after);
    }
}

static bool write_stack(writer *self, const trace_thread *thread)
{
    char name[128];
    trace_spans spans;
    if (!trace_spans_of(self->process, thread, &spans))
        return false;
    for (size_t i = 0; i < spans.count; i++) {
        const trace_span *span = &spans.all[i];
        if (span->handle != 0)
            trace_context_text(self->process, span->handle, span->start, name, sizeof name);
        else
            strcpy(name, "an unknown context");
        begin_slice(self, thread->tid, span->start, span->end);
        fputs(",\"cat\":\"context\",", self->to);
        write_text(self, "name", name);
        fprintf(self->to, ",\"args\":{\"level\":%u}}", span->level + 1);
    }
    free(spans.all);
    return true;
}

static bool write_thread(writer *self, const trace_thread *thread)
{
    char name[64];
    if (thread->count == 0) /* it ran work of the driver */
        return true;
    trace_thread_text(self->process, thread, name, sizeof name);
    write_name(self, "thread_name", thread->tid, name);
    write_order(self, thread->tid, thread->number);
    if (!write_stack(self, thread))
        return false;
    for (size_t i = 0; i < thread->api_count; i++)
        write_api(self, thread, thread->apis[i]);
    for (size_t i = 0; i < thread->count; i++)
        write_call(self, thread, thread->calls[i]);
    write_depths(self, thread);
    return true;
}

/* ---- streams ---- */

static int64_t tid_of(const writer *self, const trace_piece *piece)
{
    return FIRST_STREAM + self->first_lane[piece->track] + piece->lane;
}

static void write_track(writer *self, size_t index)
{
    char name[160], lane[192];
    const trace_track *track = &self->tracks.all[index];
    trace_track_text(self->process, track, name, sizeof name);
    for (unsigned i = 0; i < track->lanes; i++) {
        int64_t tid = FIRST_STREAM + self->first_lane[index] + i;
        snprintf(lane, sizeof lane, i == 0 ? "%s" : "%s (%u)", name, i + 1);
        write_name(self, "thread_name", tid, lane);
        write_order(self, tid, (unsigned)FIRST_STREAM + self->first_lane[index] + i);
    }
}

/* Bytes in a nanosecond are GB in a second. */
static void write_move(writer *self, const trace_piece *piece)
{
    const uint64_t bytes = trace_call_bytes(piece->call), ns = piece->end - piece->start;
    if (piece->work == NULL || piece->work->record.detail != CX_TIMED_MOVE || bytes == 0)
        return;
    fputc(',', self->to);
    write_text(self, "way", trace_call_way(piece->call));
    fprintf(self->to, ",\"bytes\":%" PRIu64, bytes);
    if (ns > 0)
        fprintf(self->to, ",\"gb_per_s\":%.3f", (double)bytes / (double)ns);
}

static void write_piece(writer *self, const trace_piece *piece)
{
    static char arguments[TRACE_TEXT];
    char name[160];
    trace_piece_text(self->process, piece, name, sizeof name);
    begin_slice(self, tid_of(self, piece), piece->start, piece->end);
    fprintf(self->to, ",\"cat\":\"%s\",", trace_piece_kind(piece));
    write_text(self, "name", name);
    fputs(",\"args\":{", self->to);
    if (piece->call != NULL) {
        trace_arguments_text(self->process, piece->call, arguments, sizeof arguments);
        write_text(self, "call", call_name(piece->call->slot));
        fputc(',', self->to);
        write_text(self, "arguments", arguments);
        write_move(self, piece);
    }
    fputs("}}", self->to);
}

/* ---- arrows ---- */

/* An end of an arrow, on a slice. */
typedef struct arrow_end {
    int64_t tid;
    uint64_t half_ns;
} arrow_end;

/* Viewers look for the slice at the time of the end. Its first and last moments may be another
 * slice's too, or, where they add in floating point, no slice's: the end is half a ns within. */
static arrow_end at_begin(int64_t tid, uint64_t start, uint64_t end)
{
    return (arrow_end){tid, 2 * start + (end > start)};
}

static arrow_end at_end(int64_t tid, uint64_t start, uint64_t end)
{
    return (arrow_end){tid, 2 * end - (end > start)};
}

static arrow_end at_piece(const writer *self, size_t index)
{
    const trace_piece *piece = &self->tracks.pieces[index];
    return at_begin(tid_of(self, piece), piece->start, piece->end);
}

static int64_t tid_of_call(const writer *self, const cx_trace_call *call)
{
    for (size_t i = 0; i < self->process->thread_count; i++)
        if (self->process->threads[i].number == call->ticket >> 40)
            return self->process->threads[i].tid;
    return 0;
}

static void write_end(writer *self, const char *phase, const trace_arrow *arrow, arrow_end end)
{
    const uint64_t time = end.half_ns - 2 * self->all->begun;
    begin_event(self, phase, end.tid);
    write_time(self, "ts", time / 2);
    fprintf(self->to, "%s,\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 "%s}",
            time % 2 != 0 ? "5" : "", arrow->of_event ? "event" : "work",
            arrow->of_event ? "event" : "work", self->flows,
            *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void write_arrow(writer *self, const trace_arrow *arrow)
{
    const cx_trace_call *from = arrow->from, *to = arrow->to;
    arrow_end begin = arrow->from_piece != SIZE_MAX
                          ? at_piece(self, arrow->from_piece)
                          : at_begin(tid_of_call(self, from), from->start,
                                     trace_call_over(self->process, from));
    const arrow_end end = arrow->to_piece != SIZE_MAX
                              ? at_piece(self, arrow->to_piece)
                              : at_end(tid_of_call(self, to), to->start, trace_call_end(to));
    if (begin.half_ns > end.half_ns) /* both at the same ns */
        begin.half_ns = end.half_ns;
    self->flows++;
    write_end(self, "s", arrow, begin);
    write_end(self, "f", arrow, end);
}

static bool write_arrows(writer *self)
{
    trace_arrows arrows;
    if (!trace_arrows_of(self->process, &self->tracks, &arrows))
        return false;
    for (size_t i = 0; i < arrows.count; i++)
        write_arrow(self, &arrows.all[i]);
    free(arrows.all);
    return true;
}

static bool write_streams(writer *self)
{
    unsigned lanes = 0;
    self->first_lane = calloc(self->tracks.count + 1, sizeof *self->first_lane);
    if (self->first_lane == NULL)
        return false;
    for (size_t i = 0; i < self->tracks.count; i++) {
        self->first_lane[i] = lanes;
        lanes += self->tracks.all[i].lanes;
        write_track(self, i);
    }
    for (size_t i = 0; i < self->tracks.piece_count; i++)
        write_piece(self, &self->tracks.pieces[i]);
    bool good = write_arrows(self);
    free(self->first_lane);
    return good;
}

/* ---- marks ---- */

static void write_marks(writer *self, const trace_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++) {
        const trace_mark *mark = &marks->all[i];
        if (mark->pid != self->process->head->pid || mark->time < self->process->head->begun)
            continue;
        begin_event(self, "i", mark->tid);
        write_time(self, "ts", mark->time - self->all->begun);
        fputs(",\"s\":\"t\",\"cat\":\"finding\",", self->to);
        write_text(self, "name", mark->kind);
        fputs(",\"args\":{", self->to);
        write_text(self, "severity", mark->severity);
        fputc(',', self->to);
        write_text(self, "finding", mark->text);
        fputs("}}", self->to);
    }
}

/* ---- processes ---- */

static bool write_process(writer *self, const trace_marks *marks)
{
    bool good = trace_tracks_of(self->process, &self->tracks);
    if (!good)
        return false;
    write_name(self, "process_name", self->process->head->pid,
               trace_file_name(self->process->head->program));
    for (size_t i = 0; good && i < self->process->thread_count; i++)
        good = write_thread(self, &self->process->threads[i]);
    good = good && write_streams(self);
    write_marks(self, marks);
    trace_tracks_free(&self->tracks);
    return good;
}

bool trace_write_json(const trace *self, const trace_marks *marks, FILE *to)
{
    writer json = {.all = self, .to = to};
    bool good = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", to);
    for (size_t i = 0; good && i < self->count; i++) {
        json.process = &self->processes[i];
        good = write_process(&json, marks);
    }
    fprintf(to, "\n],\"otherData\":{\"lost_processes\":%u,\"lost_calls\":%" PRIu64 "}}\n",
            self->lost, trace_lost_of_all(self));
    return good && fflush(to) == 0 && ferror(to) == 0;
}
