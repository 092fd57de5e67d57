/*
 * Stream capture (rules G1 to G5). A capture has a branch for each stream that takes part: the
 * frontier nodes, which the stream's next node depends on. All functions: lock "emu.state" held.
 *
 * Every call that uses a stream first asks cx_emu_capture_check. If the stream then has a branch,
 * nothing may be submitted to it.
 */
#ifndef CX_EMU_CAPTURE_H
#define CX_EMU_CAPTURE_H

#include "emu/schedule/event.h"
#include "emu/graph/graph.h"
#include "emu/schedule/stream.h"

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

struct cx_emu_capture {
    uint64_t id;
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
    return cx_emu_captures ? cx_emu_capture_check_slowly(stream) : CXU_SUCCESS;
}

/* Checks that a call that is not captured is allowed (G2). CXU_STREAM_CAPTURE_UNSUPPORTED: the
 * captures that forbid it are invalidated. */
static inline cxu_result cx_emu_capture_check_unsafe(void)
{
    return cx_emu_captures ? cx_emu_capture_check_unsafe_slowly() : CXU_SUCCESS;
}

/* Checks the same for a call that waits for a device; captures on other devices go on. */
static inline cxu_result cx_emu_capture_check_wait(const cx_emu_device *device)
{
    return cx_emu_captures ? cx_emu_capture_check_wait_slowly(device) : CXU_SUCCESS;
}

/* Checks the same for a call that waits for a context, where the thread must not capture. */
static inline cxu_result cx_emu_capture_check_context_wait(const cx_emu_context *context)
{
    return cx_emu_captures ? cx_emu_capture_check_context_wait_slowly(context) : CXU_SUCCESS;
}

/* Checks the same for freeing in stream order, which only GLOBAL captures forbid. */
static inline cxu_result cx_emu_capture_check_free(void)
{
    return cx_emu_captures ? cx_emu_capture_check_free_slowly() : CXU_SUCCESS;
}

/* Checks that a copy or fill that waits may work in a stream: a capturing one refuses it. */
static inline cxu_result cx_emu_capture_check_synchronous(const cx_emu_stream *stream)
{
    return cx_emu_captures ? cx_emu_capture_check_synchronous_slowly(stream) : CXU_SUCCESS;
}

/* Checks that a call may use all streams of a context. CXU_STREAM_CAPTURE_UNSUPPORTED: one of them
 * captures, and its capture is invalidated (T3). */
static inline cxu_result cx_emu_capture_check_context(const cx_emu_context *context)
{
    return cx_emu_captures ? cx_emu_capture_check_context_slowly(context) : CXU_SUCCESS;
}

/* True for the legacy stream while a blocking stream of its context captures. */
bool cx_emu_capture_conflicts(const cx_emu_stream *stream);

/* ---- calls of capturing streams ---- */

/* Adds a node, in the stream's context. CXU_OUT_OF_MEMORY: nothing changed. */
cxu_result cx_emu_capture_add(cx_emu_stream *stream, const cx_emu_operation *operation);

/* Refuses work that cannot be captured: CXU_STREAM_CAPTURE_UNSUPPORTED, and the capture is
 * invalidated. */
cxu_result cx_emu_capture_refuse(const cx_emu_stream *stream);

/* Records the stream's frontier in the event. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_capture_record(const cx_emu_stream *stream, cx_emu_event *event);

/*
 * Lets a stream wait for an event if one of the two is captured (G4). The stream joins the event's
 * capture if need be. CXU_STREAM_CAPTURE_MERGE, _ISOLATION, _INVALIDATED, _UNSUPPORTED,
 * CXU_CAPTURED_EVENT, CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_capture_wait(cx_emu_stream *stream, cx_emu_event *event);

/* ---- captured events ---- */

/* Refuses a query or wait of a captured event: CXU_CAPTURED_EVENT; its capture is invalidated. */
cxu_result cx_emu_capture_refuse_event(const cx_emu_event *event);

/* The event is recorded anew, or destroyed. */
void cx_emu_capture_forget_event(cx_emu_event *event);

/* ---- beginning and ending ---- */

/* Begins in a stream that does not capture. `graph`: add to it, behind `frontier`; NULL: a new
 * one. */
cxu_result cx_emu_capture_begin(cx_emu_stream *stream, cxu_stream_capture_mode mode,
                                cx_emu_graph *graph, cx_emu_nodes *frontier);

/* Returns the graph if all went well. CXU_STREAM_CAPTURE_UNMATCHED, _WRONG_THREAD: the capture goes
 * on, invalidated. CXU_STREAM_CAPTURE_INVALIDATED, _UNJOINED: it has ended without a graph. */
cxu_result cx_emu_capture_end(cx_emu_stream *stream, cx_emu_graph **out_graph);

/* The stream is being destroyed. If the capture began in it, the capture ends. */
void cx_emu_capture_leave(cx_emu_stream *stream);

/* Exchanges the thread's mode with *mode. */
cxu_result cx_emu_capture_exchange_mode(cxu_stream_capture_mode *mode);

#endif
