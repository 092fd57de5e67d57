#include "trace/spans.h"

#include "check/names.h"
#include "driver/work_timestamps.h"
#include "trace/calls.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tracks ---- */

/* The index of the track; SIZE_MAX: no memory. */
static size_t find_track(trace_tracks *self, uint64_t key, uint64_t handle, uint64_t context,
                         uint64_t time)
{
    for (size_t i = self->count; i-- > 0;)
        if (self->all[i].key == key && self->all[i].handle == handle &&
            self->all[i].context == context)
            return i;
    if (self->count == self->capacity) {
        size_t more = self->capacity != 0 ? 2 * self->capacity : 16;
        trace_track *all = reallocarray(self->all, more, sizeof *all);
        if (all == NULL)
            return SIZE_MAX;
        self->all = all;
        self->capacity = more;
    }
    self->all[self->count] =
        (trace_track){.key = key, .handle = handle, .context = context, .first = time};
    return self->count++;
}

static bool add_piece(trace_tracks *self, size_t track, const trace_piece *piece)
{
    if (track == SIZE_MAX)
        return false;
    if (self->piece_count == self->piece_capacity) {
        size_t more = self->piece_capacity != 0 ? 2 * self->piece_capacity : 64;
        trace_piece *pieces = reallocarray(self->pieces, more, sizeof *pieces);
        if (pieces == NULL)
            return false;
        self->pieces = pieces;
        self->piece_capacity = more;
    }
    self->pieces[self->piece_count] = *piece;
    self->pieces[self->piece_count++].track = (unsigned)track;
    return true;
}

static bool add_work(const trace_process *process, trace_tracks *self)
{
    for (size_t i = 0; i < process->work_count; i++) {
        const cx_trace_work *work = process->work[i];
        const trace_piece piece = {.work = work,
                                   .call = trace_call_of(process, work->ticket),
                                   .start = work->start,
                                   .end = work->end};
        if (!add_piece(self, find_track(self, work->stream_id, work->stream, work->context,
                                        work->start),
                       &piece))
            return false;
    }
    return true;
}

/* A call that gives work to a stream; questions and the stream's own life do not. */
static bool submits(const cx_trace_call *call)
{
    const char *name = call_name(call->slot);
    return trace_call_end(call) != 0 && call->result == CXU_SUCCESS &&
           (strstr(name, "Async") != NULL || strstr(name, "Launch") != NULL ||
            strstr(name, "EventRecord") != NULL || strstr(name, "StreamWait") != NULL ||
            strstr(name, "StreamWrite") != NULL || strstr(name, "StreamBatch") != NULL ||
            strstr(name, "StreamAddCallback") != NULL);
}

static int by_start(const void *one, const void *other)
{
    const trace_piece *first = one, *second = other;
    if (first->start != second->start)
        return first->start < second->start ? -1 : 1;
    return (first->end > second->end) - (first->end < second->end);
}

static bool add_submissions(const trace_process *process, trace_tracks *self)
{
    uint64_t stream;
    for (size_t i = 0; i < process->thread_count; i++)
        for (size_t j = 0; j < process->threads[i].count; j++) {
            const cx_trace_call *call = process->threads[i].calls[j];
            if (!submits(call) || !trace_stream_of(call, &stream))
                continue;
            const trace_piece piece = {
                .call = call, .start = call->start, .end = trace_call_end(call)};
            const trace_object *object =
                trace_object_at(process, CX_HANDLE_STREAM, stream, call->start);
            uint64_t key = object != NULL ? object->number : 0;
            uint64_t context = object != NULL ? 0 : call->before;
            if (!add_piece(self, find_track(self, key, stream, context, call->start), &piece))
                return false;
        }
    return true;
}

/* ---- order ---- */

typedef struct placed_track {
    trace_track track;
    int device; /* INT_MAX: unknown */
    size_t before;
} placed_track;

static int device_of(const trace_process *process, const trace_track *track)
{
    const trace_object *context =
        trace_object_at(process, CX_HANDLE_CONTEXT, track->context, track->first);
    return context != NULL && context->device >= 0 ? context->device : INT_MAX;
}

static int by_device(const void *one, const void *other)
{
    const placed_track *first = one, *second = other;
    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->before > second->before) - (first->before < second->before);
}

/* Streams of one GPU stand together, in the order in which they began to work. */
static bool group_by_device(const trace_process *process, trace_tracks *self)
{
    placed_track *all = calloc(self->count + 1, sizeof *all);
    unsigned *places = calloc(self->count + 1, sizeof *places);
    bool good = all != NULL && places != NULL;
    for (size_t i = 0; good && i < self->count; i++)
        all[i] = (placed_track){self->all[i], device_of(process, &self->all[i]), i};
    if (good && self->count > 1)
        qsort(all, self->count, sizeof *all, by_device);
    for (size_t i = 0; good && i < self->count; i++) {
        self->all[i] = all[i].track;
        places[all[i].before] = (unsigned)i;
    }
    for (size_t i = 0; good && i < self->piece_count; i++)
        self->pieces[i].track = places[self->pieces[i].track];
    free(all);
    free(places);
    return good;
}

/* ---- lanes ---- */

enum { LANES_MOST = 16 };

/* Puts each piece into the first lane of its track that is free; beyond some the last one. */
static bool choose_lanes(trace_tracks *self)
{
    uint64_t(*busy)[LANES_MOST] = calloc(self->count + 1, sizeof *busy);
    if (busy == NULL)
        return false;
    for (size_t i = 0; i < self->piece_count; i++) {
        trace_piece *piece = &self->pieces[i];
        trace_track *track = &self->all[piece->track];
        unsigned lane = 0;
        while (lane + 1 < LANES_MOST && busy[piece->track][lane] > piece->start)
            lane++;
        piece->lane = lane;
        if (piece->end > busy[piece->track][lane])
            busy[piece->track][lane] = piece->end;
        if (lane + 1 > track->lanes)
            track->lanes = lane + 1;
    }
    free(busy);
    return true;
}

bool trace_tracks_of(const trace_process *process, trace_tracks *out)
{
    *out = (trace_tracks){.count = 0};
    bool good = process->work_count > 0 ? add_work(process, out) : add_submissions(process, out);
    if (good && out->piece_count > 0)
        qsort(out->pieces, out->piece_count, sizeof *out->pieces, by_start);
    if (good && group_by_device(process, out) && choose_lanes(out))
        return true;
    trace_tracks_free(out);
    return false;
}

void trace_tracks_free(trace_tracks *self)
{
    free(self->all);
    free(self->pieces);
    *self = (trace_tracks){.count = 0};
}

void trace_track_text(const trace_process *process, const trace_track *track, char *text,
                      size_t size)
{
    char stream[64], context[64];
    const trace_object *object =
        trace_object_at(process, CX_HANDLE_STREAM, track->handle, track->first);
    if (object != NULL)
        trace_object_text(process, object, stream, sizeof stream);
    else if (track->handle == (uintptr_t)CXU_STREAM_LEGACY)
        strcpy(stream, "legacy default stream");
    else if (track->handle == (uintptr_t)CXU_STREAM_PER_THREAD)
        strcpy(stream, "a thread's default stream");
    else
        strcpy(stream, track->handle != 0 ? "an unknown stream" : "work in no stream");
    if (track->context == 0) {
        snprintf(text, size, "%s", stream);
        return;
    }
    trace_context_text(process, track->context, track->first, context, sizeof context);
    snprintf(text, size, "%s of %s", stream, context);
}

/* ---- arrows ---- */

/* The first piece of each call, found by its ticket. */
typedef struct place {
    uint64_t ticket;
    size_t piece;
} place;

typedef struct record {
    uint64_t event, time;
    const cx_trace_call *call;
} record;

typedef struct finder {
    const trace_process *process;
    const trace_tracks *tracks;
    place *places;
    size_t place_count;
    record *records;
    size_t record_count, record_capacity;
    trace_arrows *out;
} finder;

static int by_ticket(const void *one, const void *other)
{
    const place *first = one, *second = other;
    if (first->ticket != second->ticket)
        return first->ticket < second->ticket ? -1 : 1;
    return (first->piece > second->piece) - (first->piece < second->piece);
}

static int by_event(const void *one, const void *other)
{
    const record *first = one, *second = other;
    if (first->event != second->event)
        return first->event < second->event ? -1 : 1;
    return (first->time > second->time) - (first->time < second->time);
}

static size_t place_of(const finder *self, const cx_trace_call *call)
{
    size_t low = 0, high = self->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->places[middle].ticket < call->ticket)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->place_count && self->places[low].ticket == call->ticket
               ? self->places[low].piece
               : SIZE_MAX;
}

static bool add_arrow(finder *self, const trace_arrow *arrow)
{
    trace_arrows *out = self->out;
    if (out->count == out->capacity) {
        size_t more = out->capacity != 0 ? 2 * out->capacity : 64;
        trace_arrow *all = reallocarray(out->all, more, sizeof *all);
        if (all == NULL)
            return false;
        out->all = all;
        out->capacity = more;
    }
    out->all[out->count++] = *arrow;
    return true;
}

static bool is_record(const cx_trace_call *call)
{
    return (call->slot == CX_SLOT_event_record || call->slot == CX_SLOT_event_record_with_flags ||
            call->slot == CX_SLOT_ctx_record_event) &&
           call->result == CXU_SUCCESS && trace_call_end(call) != 0;
}

static bool is_wait(const cx_trace_call *call)
{
    return (call->slot == CX_SLOT_stream_wait_event || call->slot == CX_SLOT_ctx_wait_event ||
            call->slot == CX_SLOT_event_synchronize) &&
           call->result == CXU_SUCCESS && trace_call_end(call) != 0;
}

static bool add_record(finder *self, const cx_trace_call *call)
{
    if (self->record_count == self->record_capacity) {
        size_t more = self->record_capacity != 0 ? 2 * self->record_capacity : 64;
        record *records = reallocarray(self->records, more, sizeof *records);
        if (records == NULL)
            return false;
        self->records = records;
        self->record_capacity = more;
    }
    self->records[self->record_count++] =
        (record){trace_argument(call, "event"), call->start, call};
    return true;
}

/* The last record of the event before the call; NULL: there is none of this event. */
static const cx_trace_call *record_before(const finder *self, const cx_trace_call *wait)
{
    const record wanted = {trace_argument(wait, "event"), wait->start, NULL};
    size_t low = 0, high = self->record_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_event(&self->records[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || self->records[low - 1].event != wanted.event)
        return NULL;
    const cx_trace_call *found = self->records[low - 1].call;
    const trace_object *event =
        trace_object_at(self->process, CX_HANDLE_EVENT, wanted.event, wait->start);
    return event == NULL || event->from <= found->start ? found : NULL;
}

/* Work that only takes its place in the order has no arrow of its own. */
static bool arrow_of_work(finder *self, size_t index)
{
    const trace_piece *piece = &self->tracks->pieces[index];
    if (piece->work == NULL || piece->call == NULL ||
        piece->work->record.detail == CX_TIMED_ORDER || piece->start < piece->call->start)
        return true;
    const trace_arrow arrow = {.from = piece->call, .to = piece->call, .from_piece = SIZE_MAX,
                               .to_piece = index};
    return add_arrow(self, &arrow);
}

static uint64_t end_of_record(const finder *self, const trace_arrow *arrow)
{
    return arrow->from_piece != SIZE_MAX ? self->tracks->pieces[arrow->from_piece].start
                                         : arrow->from->start;
}

static uint64_t begin_of_wait(const finder *self, const trace_arrow *arrow)
{
    return arrow->to_piece != SIZE_MAX ? self->tracks->pieces[arrow->to_piece].start
                                       : trace_call_end(arrow->to);
}

static bool arrow_of_wait(finder *self, const cx_trace_call *wait)
{
    const cx_trace_call *from = record_before(self, wait);
    if (from == NULL)
        return true;
    const trace_arrow arrow = {.of_event = true, .from = from, .to = wait,
                               .from_piece = place_of(self, from),
                               .to_piece = place_of(self, wait)};
    /* A capture has no work. */
    return end_of_record(self, &arrow) > begin_of_wait(self, &arrow) || add_arrow(self, &arrow);
}

static bool find_places(finder *self)
{
    self->places = calloc(self->tracks->piece_count + 1, sizeof *self->places);
    if (self->places == NULL)
        return false;
    for (size_t i = 0; i < self->tracks->piece_count; i++)
        if (self->tracks->pieces[i].call != NULL)
            self->places[self->place_count++] =
                (place){self->tracks->pieces[i].call->ticket, i};
    qsort(self->places, self->place_count, sizeof *self->places, by_ticket);
    return true;
}

static bool each_call(finder *self, bool (*is_it)(const cx_trace_call *call),
                      bool (*take)(finder *self, const cx_trace_call *call))
{
    for (size_t i = 0; i < self->process->thread_count; i++)
        for (size_t j = 0; j < self->process->threads[i].count; j++)
            if (is_it(self->process->threads[i].calls[j]) &&
                !take(self, self->process->threads[i].calls[j]))
                return false;
    return true;
}

bool trace_arrows_of(const trace_process *process, const trace_tracks *tracks, trace_arrows *out)
{
    finder self = {.process = process, .tracks = tracks, .out = out};
    *out = (trace_arrows){.count = 0};
    bool good = find_places(&self) && each_call(&self, is_record, add_record);
    if (good && self.record_count > 0)
        qsort(self.records, self.record_count, sizeof *self.records, by_event);
    for (size_t i = 0; good && i < tracks->piece_count; i++)
        good = arrow_of_work(&self, i);
    good = good && each_call(&self, is_wait, arrow_of_wait);
    free(self.places);
    free(self.records);
    if (!good)
        free(out->all);
    return good;
}
