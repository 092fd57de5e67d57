/*
 * Stream clocks: vector clocks of the streams, default ones too. Every function needs the lock
 * "check".
 *
 * A stream is a line of work, which counts its pieces. Each piece of work has a clock: for each
 * line, the number of pieces that are done before this piece begins. It is ordered after these
 * pieces. The host has a clock too, for the work that it has waited for. Later calls are ordered
 * after that work, whatever thread makes them.
 */
#ifndef CX_LAYER_CHECK_STREAM_CLOCK_H
#define CX_LAYER_CHECK_STREAM_CLOCK_H

#include "layer/check/check.h"

/* More streams than lines: what the least used one did counts as waited for. */
enum { CX_STREAM_CLOCK_LINES = 64 };

typedef struct cx_stream_clock {
    uint64_t pieces[CX_STREAM_CLOCK_LINES];
} cx_stream_clock;

/* A clock that is kept; the caller frees it. */
typedef struct cx_stream_clock_kept {
    unsigned count;
    uint64_t pieces[];
} cx_stream_clock_kept;

typedef struct cx_stream_clock_stream {
    uint32_t number; /* 0: a default stream, or one that is unknown */
    int thread;      /* whose default stream it is; 0: the legacy stream, -1: of no thread */
} cx_stream_clock_stream;

/* The line of a stream, of the thread's current context for default ones; never fails. */
int cx_stream_clock_line(cx_check_call *call, CUstream stream);

/* The line's stream, for texts. */
cx_stream_clock_stream cx_stream_clock_stream_of(int line);

/* "stream 3", "the legacy stream", "the default stream of thread 2" */
void cx_stream_clock_stream_text(cx_stream_clock_stream stream, char *text, size_t size);

/* The stream is about to end, while it is still known. */
void cx_stream_clock_line_end(CUstream stream);

/* Brings the line's clock up to date, before its next work: that is ordered after the host's clock,
 * and in the legacy stream and in the blocking streams of a context after each other's work (T11).
 */
void cx_stream_clock_reach(int line);

/* Counts a piece of work. Returns its number; the CX_STREAM_CLOCK_PARTS - 1 numbers below it are
 * those of its parts, which are over before it is. */
enum { CX_STREAM_CLOCK_PARTS = 1 << 16 };
uint64_t cx_stream_clock_count(int line);

const cx_stream_clock *cx_stream_clock_of(int line);
const cx_stream_clock *cx_stream_clock_host(void);

/* NULL: no memory. */
cx_stream_clock_kept *cx_stream_clock_keep(const cx_stream_clock *clock);
/* Of what both have; NULL: no memory, or the first one is NULL. The other one may be NULL. */
cx_stream_clock_kept *cx_stream_clock_keep_both(const cx_stream_clock_kept *kept,
                                                const cx_stream_clock_kept *other);
/* Of the work of a context; NULL: of all work. */
cx_stream_clock_kept *cx_stream_clock_keep_context(const cx_object *context);

/* The line's next work, or the host's next call, is ordered after the kept clock; NULL is
 * harmless. */
void cx_stream_clock_wait(int line, const cx_stream_clock_kept *kept);
void cx_stream_clock_wait_context(const cx_object *context, const cx_stream_clock_kept *kept);
void cx_stream_clock_host_wait(const cx_stream_clock_kept *kept);

/* The line's next work is ordered after all work of all lines. */
void cx_stream_clock_wait_all(int line);

/* The host has waited for the work of a line, of a context's lines, or for all work. */
void cx_stream_clock_host_wait_line(int line);
void cx_stream_clock_host_wait_context(const cx_object *context);
void cx_stream_clock_host_wait_all(void);

/* Work of a line that is captured is not done: the number of its capture, 0: none. */
uint64_t cx_stream_clock_capture(int line);
void cx_stream_clock_set_capture(int line, uint64_t capture);
void cx_stream_clock_end_capture(uint64_t capture);

#endif
