/**
 * Graphs: work that was captured once and is launched any number of times.
 *
 * A graph belongs to one context, that of the stream it was captured in, and is launched there whatever is
 * current on the calling thread, which finds its stack as it was. A graph is counted: whoever made it has one
 * count, ctxrt_graph_retain adds one, ctxrt_graph_release gives one back, and with the last the graph goes; what
 * was launched goes on to its end. Thread-safe. Handles as in context.h: a graph that is gone is recognised and
 * refused. A graph keeps its context from being destroyed or released.
 *
 * A stream argument means what stream.h says. Besides what is said at each function: CTXRT_ERROR_NULL_POINTER if
 * the graph is NULL, CTXRT_ERROR_INVALID_HANDLE if it is gone or never was one, CTXRT_ERROR_CONTEXT_DESTROYED if
 * its context was reset.
 */
#ifndef CTXRT_GRAPH_H
#define CTXRT_GRAPH_H

#include <ctxrt/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctxrt_graph ctxrt_graph;

/** Which calls that no capture sees (allocating, waiting, copies that wait) a capture forbids. A forbidden call
 * fails and invalidates the capture. */
typedef enum ctxrt_capture_mode {
    CTXRT_CAPTURE_GLOBAL = 0,       /**< those of any thread */
    CTXRT_CAPTURE_THREAD_LOCAL = 1, /**< those of the thread that began it */
    CTXRT_CAPTURE_RELAXED = 2       /**< none; and any thread may end it */
} ctxrt_capture_mode;

typedef enum ctxrt_capture_state {
    CTXRT_CAPTURE_NONE = 0,       /**< the stream runs its work */
    CTXRT_CAPTURE_ACTIVE = 1,     /**< the stream captures its work */
    CTXRT_CAPTURE_INVALIDATED = 2 /**< something went wrong; the capture must be ended */
} ctxrt_capture_state;

/**
 * Begins a capture: work submitted to the stream from now on does not run, but is noted. Other streams of the
 * driver join through events. The legacy stream cannot capture.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such mode
 * @retval CTXRT_ERROR_DRIVER            the stream captures already, or is the legacy one
 */
CTXRT_API ctxrt_status ctxrt_stream_capture_begin(ctxrt_stream *stream,
                                                  ctxrt_capture_mode mode) CTXRT_CHECK_RESULT;

/**
 * Ends the capture of a stream, with the graph of what was captured, of which the caller gets one count. The
 * driver instantiates it in its first launch. Memory that the work names is the caller's to keep alive while
 * the graph is launched and runs.
 *
 * @retval CTXRT_ERROR_DRIVER  the stream does not capture, or the capture is another thread's: nothing
 *                             changed; or it was invalidated or has work that was not joined: it is over
 */
CTXRT_API ctxrt_status ctxrt_stream_capture_end(ctxrt_stream *stream,
                                                ctxrt_graph **out_graph) CTXRT_CHECK_RESULT;

/** Whether the stream captures. The legacy stream is refused while a blocking stream of its context captures. */
CTXRT_API ctxrt_status ctxrt_stream_capture_status(ctxrt_stream *stream,
                                                   ctxrt_capture_state *out_state) CTXRT_CHECK_RESULT;

/**
 * Submits the work of a graph to a stream of its context. NULL: the current stream, if the top frame is of the
 * graph's context, else the calling thread's default stream there. Launches of one graph run one behind the other,
 * in whichever streams and from whichever threads. In a stream that captures, the graph's work becomes part of
 * that capture.
 *
 * @retval CTXRT_ERROR_WRONG_CONTEXT  the stream is of another context
 * @retval CTXRT_ERROR_NOT_PERMITTED  the graph is being launched further up on the calling thread
 */
CTXRT_API ctxrt_status ctxrt_graph_launch(ctxrt_graph *graph, ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Another graph of the same work, instantiated anew, with one count for the caller. Each is launched, ordered and
 * released by itself, in any order; what they name (memory, events) is the same. So one captured graph can
 * serve as the template of any number.
 */
CTXRT_API ctxrt_status ctxrt_graph_clone(ctxrt_graph *graph, ctxrt_graph **out_clone) CTXRT_CHECK_RESULT;

/** Adds a count. */
CTXRT_API ctxrt_status ctxrt_graph_retain(ctxrt_graph *graph) CTXRT_CHECK_RESULT;

/**
 * Gives a count back; with the last one the graph goes. Does not wait: what was launched goes on. NULL is
 * harmless. A graph whose context was reset is released like any other.
 *
 * @retval CTXRT_ERROR_DRIVER  the driver reported an error, maybe of earlier work; the count is given back all
 *                             the same
 */
CTXRT_API ctxrt_status ctxrt_graph_release(ctxrt_graph *graph) CTXRT_CHECK_RESULT;

/** The context of a graph. Borrowed. */
CTXRT_API ctxrt_status ctxrt_graph_context(ctxrt_graph *graph, ctxrt_context **out_context) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
