/*
 * The pictures of a trace show this besides calls: each thread's stack over time, the tracks of
 * streams, and arrows from one to the other.
 */
#ifndef CX_TOOLS_TRACE_SPANS_H
#define CX_TOOLS_TRACE_SPANS_H

#include "trace/objects.h"

/* An entry of a thread's stack, from the call that brought it to the one that takes it away. */
typedef struct trace_span {
    const trace_object *context; /* NULL: unknown */
    uint64_t handle;
    uint64_t start, end;
    unsigned level; /* 0: the lowest entry */
} trace_span;

typedef struct trace_spans {
    trace_span *all; /* by start; at the same time the lower one first */
    size_t count, capacity;
} trace_spans;

/* False: no memory. The caller frees out->all. */
bool trace_spans_of(const trace_process *process, const trace_thread *thread, trace_spans *out);

/* Work in a stream, in a lane: work of one lane does not overlap. */
typedef struct trace_piece {
    const cx_trace_work *work;  /* NULL: only the submission is known */
    const cx_trace_call *call;  /* that submitted it; NULL: unknown */
    uint64_t start, end;
    unsigned track, lane;
} trace_piece;

/* A stream, or work of a context that is in none. */
typedef struct trace_track {
    uint64_t key;         /* of the driver: tells streams with one handle apart */
    uint64_t handle, context; /* handles */
    uint64_t first;       /* the time of its first work */
    unsigned lanes;
} trace_track;

typedef struct trace_tracks {
    trace_track *all;
    size_t count, capacity;
    trace_piece *pieces; /* by start */
    size_t piece_count, piece_capacity;
} trace_tracks;

/* Streams of a process whose driver tells no times have what was submitted to them. False: no
 * memory. */
bool trace_tracks_of(const trace_process *process, trace_tracks *out);
void trace_tracks_free(trace_tracks *self);

/* "stream 3 of context 1 of GPU 0" */
void trace_track_text(const trace_process *process, const trace_track *track, char *text,
                      size_t size);

/* An arrow: a call that submits and its work, or a record of an event and what waited for it. */
typedef struct trace_arrow {
    bool of_event;
    const cx_trace_call *from, *to; /* calls */
    size_t from_piece, to_piece; /* in the tracks; SIZE_MAX: the arrow is at the call itself */
} trace_arrow;

typedef struct trace_arrows {
    trace_arrow *all;
    size_t count, capacity;
} trace_arrows;

/* False: no memory. The caller frees out->all. */
bool trace_arrows_of(const trace_process *process, const trace_tracks *tracks, trace_arrows *out);

#endif
