/*
 * Work: the pieces that a stream does one after the other. A piece is ready when all its
 * dependencies are done; the workers run ready work (schedule.c), or it runs at once if it is tiny.
 *
 * Order inside a stream, between the legacy stream and the blocking streams of its context (T11),
 * and through events is all expressed as dependencies, added when the work is submitted.
 *
 * All of it is guarded by "emu.state": every function here is called with the lock held. Comments
 * name those that may release it meanwhile; then check every handle, stream or context again before
 * using it.
 */
#ifndef CX_EMU_WORK_H
#define CX_EMU_WORK_H

#include "emu/memory/allocation.h"

typedef struct cx_emu_work cx_emu_work;

typedef enum cx_emu_work_kind {
    CX_EMU_WORK_CALL,   /* copies, fills: runs without the lock */
    CX_EMU_WORK_LOCKED, /* short, must not wait: runs with the lock held */
    CX_EMU_WORK_HOST,   /* the user's code: runs without the lock, as a callback (T10) */
    CX_EMU_WORK_KERNEL, /* runs without the lock, perhaps for long: it may wait for other work */
    CX_EMU_WORK_WAIT    /* as a kernel, but reaches no memory */
} cx_emu_work_kind;

#define CX_EMU_WORK_USES 2
#define CX_EMU_WORK_AFTER 2

/* An edge between two pieces, stored in the later one. */
typedef struct cx_emu_dependency {
    cx_emu_work *before; /* NULL once that is done */
    cx_emu_work *after;
    struct cx_emu_dependency *next; /* the next one that waits for the same piece */
} cx_emu_dependency;

struct cx_emu_work {
    uint64_t sequence; /* order of submission */
    uint64_t done_ns;  /* CLOCK_MONOTONIC */
    struct cx_emu_work_timestamps *timed; /* NULL: no one wants its times (timed.h) */
    int references;    /* its own until it is done, and those of events and waits */
    bool done;
    int slot;         /* the call that submitted it, or -1 */
    cxu_result fault; /* the error that it will fail with, or CXU_SUCCESS */
    bool again;       /* its call must be made again: it waits for a value (value_op.h) */
    bool demanded; /* something waits for it, or runs it (schedule.c) */
    bool retained; /* the argument's references are kept until `release` */
    bool held; /* for wait.c: it is a kernel that runs, or behind one */
    cx_emu_work_kind kind;
    size_t unfinished; /* dependencies that are not done */
    void (*call)(void *argument);
    void (*fail)(void *argument, cxu_result error);
    void (*release)(void *argument);
    void *argument;
    cx_emu_use uses[CX_EMU_WORK_USES];
    cx_emu_stream *stream;        /* NULL: in no stream, or done */
    cx_emu_context *context;      /* the owner of the work, in the generation that `opening` names;
                                   * or NULL */
    uint64_t opening;
    cx_emu_context *doer; /* as in the request, in the generation that `doer_opening` names */
    uint64_t doer_opening;
    cx_emu_work *next_in_stream;  /* younger */
    cx_emu_work *older, *younger; /* all existing work */
    cx_emu_work *next_queued;     /* schedule.c */
    cx_emu_dependency *successors;
    size_t dependency_count;
    cx_emu_dependency *dependencies;
};

/* A request for a piece: its function, and its dependencies besides the order of its stream. */
typedef struct cx_emu_work_request {
    cx_emu_work_kind kind;
    void (*call)(void *argument); /* NULL: only the order */
    /* Called instead of `call` in a context that an error has made useless. Other work does not run
     * there, except LOCKED. May be NULL. */
    void (*fail)(void *argument, cxu_result error);
    void (*release)(void *argument); /* called once the work is done, lock held; may be NULL */
    /* Keeps the argument's references when the piece is made, lock held; `release` drops them, even
     * if the piece is never submitted. May be NULL. */
    void (*retain)(void *argument);
    void *argument;
    size_t argument_bytes; /* above 0: the argument is copied; 0: the pointer is passed */
    size_t cost_bytes;     /* the bytes that it moves */
    bool waited;           /* the caller will wait for it at once */
    cx_emu_use uses[CX_EMU_WORK_USES]; /* held until the work is done */
    /* The context in which a kernel runs, or another piece that looks for memory as it runs: a
     * graph may be launched in a stream of another one. NULL for the rest. */
    cx_emu_context *doer;
    uint64_t function; /* the handle of a kernel's, for who wants its times; 0: it is none */
    cx_emu_work *after[CX_EMU_WORK_AFTER];     /* behind these pieces; each may be NULL or done */
    cx_emu_context *after_context;             /* behind all work of this context; may be NULL */
    const struct cx_emu_green *after_green;    /* only behind the work of this part of it */
} cx_emu_work_request;

/*
 * Submits a piece of work to a stream, or to none (NULL). The lock is released if the work runs at
 * once. `out_work` may be NULL; else the caller gets a reference.
 *
 * CXU_OUT_OF_MEMORY, also for a worker thread: nothing is done, nothing released.
 */
cxu_result cx_emu_work_submit(cx_emu_stream *stream, const cx_emu_work_request *request,
                              cx_emu_work **out_work);

/* Submits a piece of no stream, behind the one that is a barrier so far, or NULL; it becomes the
 * barrier, for which later work is made to wait. `request` has room for one more piece to come
 * after. As cx_emu_work_submit. */
cxu_result cx_emu_work_put_barrier(cx_emu_work **barrier, const cx_emu_work_request *request);

/* Submits a piece each to streams of different contexts: all of them or none. `out_works` has room
 * for them. Errors as of cx_emu_work_submit. */
cxu_result cx_emu_work_submit_each(cx_emu_stream *const *streams,
                                   const cx_emu_work_request *requests, size_t count,
                                   cx_emu_work **out_works);

/* A piece of a batch: its request, and its dependencies on earlier pieces of the batch. */
typedef struct cx_emu_work_piece {
    cx_emu_work_request request;
    size_t first_after, after_count; /* in the batch's `after`; none: behind the stream only */
} cx_emu_work_piece;

/* Pieces that are ordered in a stream like one: behind earlier work, before later work. */
typedef struct cx_emu_work_batch {
    const cx_emu_work_piece *pieces;
    size_t count;
    const size_t *after;     /* indexes of pieces */
    cx_emu_work *after_work; /* all of the batch is behind this piece too; may be NULL */
    void (*begin)(void *argument); /* called before any piece, lock held; may be NULL */
    void *argument;
} cx_emu_work_batch;

/*
 * Submits a batch to a stream. The caller gets a reference to the piece that is done last, and one
 * to each piece in `out_works`, which has room for them. The lock is not released.
 *
 * Errors as of cx_emu_work_submit: nothing at all is done.
 */
cxu_result cx_emu_work_submit_batch(cx_emu_stream *stream, const cx_emu_work_batch *batch,
                                    cx_emu_work **out_works, cx_emu_work **out_end);

/* True if a batch submitted to the stream now, behind `after` (or NULL), would have no unfinished
 * dependencies. */
bool cx_emu_work_nothing_before(const cx_emu_stream *stream, cx_emu_work *after);

/* If a piece without a call, submitted to the stream, would be done at once, reuses `work` for it:
 * an earlier such piece that is done and that only the caller holds. False: it cannot, and nothing
 * changed. */
bool cx_emu_work_repeat(cx_emu_work *work, const cx_emu_stream *stream);

void cx_emu_work_retain(cx_emu_work *work);
void cx_emu_work_drop(cx_emu_work *work); /* NULL is harmless */

/* Waits for a piece that the caller has a reference to, with the lock released. Returns the error
 * of its context (F5), if that is still open. */
cxu_result cx_emu_work_wait(cx_emu_work *work);

/* True if the piece is done. Polling makes progress under every schedule: a piece may run here,
 * with the lock released. */
bool cx_emu_work_poll(cx_emu_work *work);

/* Visits all pieces, including done ones that are still referenced, oldest first. */
void cx_emu_work_each(void (*visit)(const cx_emu_work *work, void *argument), void *argument);

/* Called in the call of a piece, without the lock: the piece must be called again after others,
 * because it waits for something. Under schedules of one piece at a time it must not hold the
 * others up. */
void cx_emu_work_call_again(void);

/* Runs a ready piece in this thread: the lock is released meanwhile. For schedule.c. */
void cx_emu_work_run(cx_emu_work *work);

/* ---- between work.c and wait.c ---- */

cx_emu_work *cx_emu_work_oldest(void); /* NULL: there is none */
uint64_t cx_emu_work_latest(void);     /* the sequence of the youngest so far */
bool cx_emu_work_kernels(void);        /* whether any is not done */

/* Runs all LOCKED work that is ready. */
void cx_emu_work_run_locked(void);

/* Wakes the threads whose wait is over. */
void cx_emu_work_end_waits(void);

/* ---- waiting ---- */

/* Waits, with the lock released, until another process has done something. That process may need
 * any work of this one first, so all of it runs meanwhile. */
void cx_emu_work_wait_outside(bool (*over)(const void *subject), const void *subject);

/* For a call that asks whether another process has done something: as cx_emu_work_poll of all work.
 */
void cx_emu_work_poll_outside(void);

/* The number of threads that wait for unfinished work. For schedule.c. */
int cx_emu_work_waits(void);

/*
 * Waits with the lock released; it is held again on return. Other threads may destroy the context
 * during a wait: check live_id again afterwards.
 */
void cx_emu_work_wait_context(
    cx_emu_context *context); /* all work of its streams submitted so far */
cxu_result cx_emu_work_wait_stream(
    cx_emu_stream *stream); /* the legacy stream: also its blocking streams (T11); the error as
                               cx_emu_work_wait */
void cx_emu_work_wait_allocation(
    cx_emu_allocation *allocation); /* until users is 0; it must not be freed meanwhile */

/* Waits for all kernels submitted so far that can reach memory of the device: the memory that they
 * will use is unknown. NULL: memory that all kernels reach. Look everything up again afterwards. */
void cx_emu_work_wait_kernels(const cx_emu_device *device);

/* Waits until no running work reaches memory that work no longer finds. */
void cx_emu_work_wait_unreached(const cx_emu_allocation *allocation);

/* Waits for all work of a context that is being closed, and for what runs in it of other streams;
 * its legacy stream was `legacy`. */
void cx_emu_work_wait_closing(cx_emu_context *context, cx_emu_stream *legacy);

/* Drops a use of an allocation that a call took for itself, and wakes those who wait for it. */
void cx_emu_work_drop_allocation(cx_emu_use use);

/* True if a stream is idle; a query, like cx_emu_work_poll: the lock may be released. */
bool cx_emu_work_poll_stream(cx_emu_stream *stream);

/*
 * Makes the context's legacy stream (false: out of memory); and ends all its streams and events
 * when it is destroyed (C3). Closing makes every handle stale first, then finishes pending work
 * with the lock released meanwhile; the context must not be opened again before it returns. live_id
 * may be set before or after either. Closing a context that is not open does nothing.
 */
bool cx_emu_streams_open(cx_emu_context *context);
void cx_emu_streams_close(cx_emu_context *context);

/*
 * Queues `call(argument)` as a piece of work in a stream, given by the user's handle (NULL, legacy,
 * per-thread or created), behind everything it must follow. Memory is freed in stream order with
 * it. `allocation` may be NULL, else it counts as used until the work is done, after `call`, if
 * any, has returned. CXU_INVALID_HANDLE, CXU_INVALID_CONTEXT, CXU_CONTEXT_IS_DESTROYED,
 * CXU_OUT_OF_MEMORY: `call` will not run. `call` runs with the lock held,
 * perhaps before this returns; it must not wait.
 */
cxu_result cx_emu_work_submit_locked_call(CUstream stream, cx_emu_allocation *allocation,
                                          void (*call)(void *argument), void *argument);

/* The context of a stream handle: its own, or the current one for the default streams (T2, T8). */
cxu_result cx_emu_stream_context(CUstream stream, cx_emu_context **out_context);

#endif
