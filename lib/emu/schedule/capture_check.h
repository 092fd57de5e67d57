/*
 * Captures in progress, and the refusals of calls that they do not allow (rules G1 to G5). A
 * capture has a branch for each stream that takes part: the frontier nodes, which the stream's next
 * node depends on. All functions: lock "emu.state" held.
 *
 * Every call that uses a stream first asks cx_emu_capture_check. If the stream then has a branch,
 * nothing may be submitted to it.
 */
#ifndef CX_EMU_CAPTURE_CHECK_H
#define CX_EMU_CAPTURE_CHECK_H

#include "emu/schedule/event.h"
#include "emu/schedule/stream.h"

typedef struct cx_emu_graph cx_emu_graph;
typedef struct cx_emu_node cx_emu_node;
typedef struct cx_emu_capture cx_emu_capture;

/* A list of nodes that grows; graph.h has its functions. All zeroes: empty. */
typedef struct cx_emu_nodes {
    cx_emu_node **items;
    size_t count, capacity;
} cx_emu_nodes;

typedef struct cx_emu_branch cx_emu_branch;

struct cx_emu_branch {
    cx_emu_capture *capture;
    cx_emu_stream *stream; /* NULL: the stream was destroyed; its nodes must be joined
                            * nevertheless */
    cx_emu_nodes frontier;
    CUgraphNode *handles; /* the frontier's handles, as the user got them */
    cxu_graph_edge_data *edges;
    cx_emu_branch *next;
};

/* A record of an event in a capture in progress. */
struct cx_emu_captured_event {
    cx_emu_capture *capture;
    cx_emu_event *event;
    cx_emu_nodes frontier;
    cx_emu_captured_event *previous, *next;
};

/* The functions of graph/capture.c that end parts of a capture. */
typedef struct cx_emu_capture_ends {
    void (*stream_leaves)(cx_emu_stream *stream);
    void (*event_leaves)(cx_emu_captured_event *captured_event);
} cx_emu_capture_ends;

struct cx_emu_capture {
    uint64_t id;
    const cx_emu_capture_ends *ends;
    cx_emu_graph *graph;
    bool owns_graph; /* until the capture ends without an error */
    bool invalidated;
    cx_emu_stream *origin;
    cxu_stream_capture_mode mode;
    uint64_t thread;         /* of the thread that began it */
    cx_emu_branch *branches; /* the origin's is the last */
    cx_emu_captured_event *captured_events;
    cx_emu_capture *previous, *next;
};

/* All captures in progress. */
extern cx_emu_capture *cx_emu_captures;

/* ---- checks at the beginning of calls ---- */

cxu_result cx_emu_capture_check_slowly(const cx_emu_stream *stream);
cxu_result cx_emu_capture_check_unsafe_slowly(void);
cxu_result cx_emu_capture_check_synchronous_slowly(const cx_emu_stream *stream);
cxu_result cx_emu_capture_check_context_slowly(const cx_emu_context *context);
cxu_result cx_emu_capture_check_context_wait_slowly(const cx_emu_context *context);
cxu_result cx_emu_capture_check_wait_slowly(const cx_emu_device *device);
cxu_result cx_emu_capture_check_free_slowly(void);

/* Checks that a call may use a stream. CXU_STREAM_CAPTURE_IMPLICIT: the legacy stream, while a
 * blocking stream of its context captures (G3); CXU_STREAM_CAPTURE_INVALIDATED. */
static inline cxu_result cx_emu_capture_check(const cx_emu_stream *stream)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_slowly(stream) : CXU_SUCCESS;
}

/* Checks that a call that is not captured is allowed (G2). CXU_STREAM_CAPTURE_UNSUPPORTED: the
 * captures that forbid it are invalidated. */
static inline cxu_result cx_emu_capture_check_unsafe(void)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_unsafe_slowly() : CXU_SUCCESS;
}

/* Checks the same for a call that waits for a device; captures on other devices go on. */
static inline cxu_result cx_emu_capture_check_wait(const cx_emu_device *device)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_wait_slowly(device) : CXU_SUCCESS;
}

/* Checks the same for a call that waits for a context, where the thread must not capture. */
static inline cxu_result cx_emu_capture_check_context_wait(const cx_emu_context *context)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_context_wait_slowly(context)
                                   : CXU_SUCCESS;
}

/* Checks the same for freeing in stream order, which only GLOBAL captures forbid. */
static inline cxu_result cx_emu_capture_check_free(void)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_free_slowly() : CXU_SUCCESS;
}

/* Checks that a copy or fill that waits may work in a stream: a capturing one refuses it. */
static inline cxu_result cx_emu_capture_check_synchronous(const cx_emu_stream *stream)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_synchronous_slowly(stream) : CXU_SUCCESS;
}

/* Checks that a call may use all streams of a context. CXU_STREAM_CAPTURE_UNSUPPORTED: one of them
 * captures, and its capture is invalidated (T3). */
static inline cxu_result cx_emu_capture_check_context(const cx_emu_context *context)
{
    return cx_emu_captures != NULL ? cx_emu_capture_check_context_slowly(context) : CXU_SUCCESS;
}

/* True for the legacy stream while a blocking stream of its context captures. */
bool cx_emu_capture_conflicts(const cx_emu_stream *stream);

/* ---- refusals ---- */

/* Refuses work that cannot be captured: CXU_STREAM_CAPTURE_UNSUPPORTED, and the capture is
 * invalidated. */
cxu_result cx_emu_capture_refuse(const cx_emu_stream *stream);

/* Refuses a query or wait of a captured event: CXU_CAPTURED_EVENT; its capture is invalidated. */
cxu_result cx_emu_capture_refuse_event(const cx_emu_event *event);

/* The event is recorded anew, or destroyed. */
void cx_emu_capture_forget_event(cx_emu_event *event);

/* The stream is being destroyed. If its capture began in it, the capture ends. */
void cx_emu_capture_leave(cx_emu_stream *stream);

/* ---- threads ---- */

/* The number of the calling thread, as in cx_emu_capture.thread. */
uint64_t cx_emu_capture_thread(void);

/* Exchanges the thread's mode with *mode. */
cxu_result cx_emu_capture_exchange_mode(cxu_stream_capture_mode *mode);

#endif
