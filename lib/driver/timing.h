/*
 * The times at which work runs: a driver that runs the work itself tells them to the one watcher.
 * A driver of a real GPU tells nothing.
 */
#ifndef CX_DRIVER_TIMING_H
#define CX_DRIVER_TIMING_H

#include <stdint.h>

typedef enum cx_timing_kind {
    CX_TIMING_MOVE,   /* a copy or a fill */
    CX_TIMING_ORDER,  /* takes its place in the order, and moves nothing: records, waits, frees */
    CX_TIMING_HOST,   /* a host function */
    CX_TIMING_KERNEL,
    CX_TIMING_WAIT,   /* for a value in memory */
    CX_TIMING_KINDS
} cx_timing_kind;

/* A piece of work that is done. Times are ns of CLOCK_MONOTONIC. */
typedef struct cx_timing {
    uint64_t ticket;    /* of the call that submitted it; 0: none was watched */
    uint64_t stream_id; /* never used twice in a process; 0: it is in no stream */
    uint64_t stream;    /* the handle, a default stream's is 1 or 2 */
    uint64_t context;   /* the handle of the stream's context; 0: none */
    uint64_t submitted_ns, began_ns, ended_ns;
    cx_timing_kind kind;
} cx_timing;

/* Called by any thread, with locks of the driver held: it calls no driver. */
typedef void cx_timing_watcher(const cx_timing *done);

/* The work that this thread's calls submit has this number; 0: the call is not watched. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local uint64_t cx_timing_ticket;

/* Before the first call, once in a process. */
void cx_timing_watch(cx_timing_watcher *watcher);

/* NULL: there is none. */
cx_timing_watcher *cx_timing_watched(void);

#endif
