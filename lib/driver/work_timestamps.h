/*
 * The times at which work runs: a driver that runs the work itself tells them to the one watcher.
 * A driver of a real GPU tells nothing.
 */
#ifndef CX_DRIVER_WORK_TIMESTAMPS_H
#define CX_DRIVER_WORK_TIMESTAMPS_H

#include <stdint.h>

typedef enum cx_timed_kind {
    CX_TIMED_MOVE,  /* a copy or a fill */
    CX_TIMED_ORDER, /* takes its place in the order, and moves nothing: records, waits, frees */
    CX_TIMED_HOST,  /* a host function */
    CX_TIMED_KERNEL,
    CX_TIMED_WAIT, /* for a value in memory */
    CX_TIMED_KINDS
} cx_timed_kind;

/* A piece of work that is done. Times are ns of CLOCK_MONOTONIC. */
typedef struct cx_work_timestamps {
    uint64_t ticket;    /* of the call that submitted it; 0: none was watched */
    uint64_t stream_id; /* never used twice in a process; 0: it is in no stream */
    uint64_t stream;    /* the handle, a default stream's is 1 or 2 */
    uint64_t context;   /* the handle of the stream's context; 0: none */
    uint64_t function;  /* the handle of a kernel's function; 0: it is none, or unknown */
    uint64_t submitted_ns, began_ns, ended_ns;
    cx_timed_kind kind;
} cx_work_timestamps;

/* Called by any thread, with locks of the driver held: it calls no driver. */
typedef void cx_work_timestamps_watcher(const cx_work_timestamps *done);

/* The work that this thread's calls submit has this number; 0: the call is not watched. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local uint64_t cx_work_timestamps_ticket;

/* Before the first call, once in a process. */
void cx_work_timestamps_watch(cx_work_timestamps_watcher *watcher);

/* NULL: there is none. */
cx_work_timestamps_watcher *cx_work_timestamps_watched(void);

#endif
