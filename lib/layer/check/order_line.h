/*
 * Lines: the streams, default ones too, as orders of work; and what each piece is behind. Every
 * function needs the lock "check".
 *
 * A line counts its pieces of work. What a piece is behind is a clock: the number of pieces of each
 * line that are done before it begins. The host has a clock too: the work that it has waited for,
 * which later calls are behind, whatever thread makes them.
 */
#ifndef CX_LAYER_CHECK_ORDER_LINE_H
#define CX_LAYER_CHECK_ORDER_LINE_H

#include "layer/check/check.h"

/* More streams than lines: what the least used one did counts as waited for. */
enum { CX_ORDER_LINES = 64 };

typedef struct cx_order_clock {
    uint64_t pieces[CX_ORDER_LINES];
} cx_order_clock;

/* A clock that is kept; the caller frees it. */
typedef struct cx_order_kept {
    unsigned count;
    uint64_t pieces[];
} cx_order_kept;

typedef struct cx_order_stream {
    uint32_t number; /* 0: a default stream, or one that is unknown */
    int thread;      /* whose default stream it is; 0: the legacy stream, -1: of no thread */
} cx_order_stream;

/* The line of a stream, of the thread's current context for default ones; never fails. */
int cx_order_line(cx_check_call *call, CUstream stream);

/* The line's stream, for texts. */
cx_order_stream cx_order_stream_of(int line);

/* "stream 3", "the legacy stream", "the default stream of thread 2" */
void cx_order_stream_text(cx_order_stream stream, char *text, size_t size);

/* The stream is about to end, while it is still known. */
void cx_order_line_end(CUstream stream);

/* Gets the clock up to date with what the line's next work will be behind: the host, and the
 * legacy stream and the blocking streams of the context each other (T11). */
void cx_order_reach(int line);

/* Counts a piece of work. Returns its number. */
uint64_t cx_order_count(int line);

const cx_order_clock *cx_order_clock_of(int line);
const cx_order_clock *cx_order_host(void);

/* NULL: no memory, or `kept` was NULL. */
cx_order_kept *cx_order_keep(const cx_order_clock *clock);
cx_order_kept *cx_order_keep_context(const cx_object *context);

/* The line's next work, or the host's next call, is behind what is kept; NULL is harmless. */
void cx_order_wait(int line, const cx_order_kept *kept);
void cx_order_wait_context(const cx_object *context, const cx_order_kept *kept);
void cx_order_host_wait(const cx_order_kept *kept);

/* The line's next work is behind all work of all lines. */
void cx_order_wait_all(int line);

/* The host has waited for the work of a line, of a context's lines, or for all work. */
void cx_order_host_wait_line(int line);
void cx_order_host_wait_context(const cx_object *context);
void cx_order_host_wait_all(void);

/* Work of a line that is captured is not done: the number of its capture, 0: none. */
uint64_t cx_order_capture(int line);
void cx_order_set_capture(int line, uint64_t capture);
void cx_order_end_capture(uint64_t capture);

#endif
