/**
 * Graphs: work that was captured or recorded once and is launched any number of times; operators
 * and their implementations.
 *
 * A graph belongs to one context, that of the stream it was captured in, and is launched there,
 * with any context current on the calling thread, whose stack stays as it was. A graph is counted:
 * it starts with one count, ctxrt_graph_retain adds one, ctxrt_graph_release gives one back, and
 * the last release destroys the graph; launched work goes on to its end. Thread-safe. Handles as in
 * context.h: a graph that is gone is recognised and refused. A graph keeps its context from being
 * destroyed or released.
 *
 * A stream argument means what stream.h says. Besides the errors named at each function:
 * CTXRT_ERROR_NULL_POINTER if the graph is NULL, CTXRT_ERROR_INVALID_HANDLE if it is gone or never
 * was one, CTXRT_ERROR_CONTEXT_DESTROYED if its context was reset.
 */
#ifndef CTXRT_GRAPH_H
#define CTXRT_GRAPH_H

#include <ctxrt/device.h>
#include <ctxrt/stream.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctxrt_graph ctxrt_graph;

/** The calls that a capture forbids, among those that are not captured (allocating, waiting, copies
 * that wait). A forbidden call fails and invalidates the capture. */
typedef enum ctxrt_capture_mode {
    CTXRT_CAPTURE_GLOBAL = 0,       /**< calls of any thread */
    CTXRT_CAPTURE_THREAD_LOCAL = 1, /**< calls of the thread that began the capture */
    CTXRT_CAPTURE_RELAXED = 2       /**< none; any thread may end the capture */
} ctxrt_capture_mode;

typedef enum ctxrt_capture_state {
    CTXRT_CAPTURE_NONE = 0,       /**< the stream runs its work */
    CTXRT_CAPTURE_ACTIVE = 1,     /**< the stream captures its work */
    CTXRT_CAPTURE_INVALIDATED = 2 /**< something went wrong; the capture must be ended */
} ctxrt_capture_state;

/**
 * Begins a capture: work submitted to the stream from now on is recorded and does not run. Other
 * streams of the driver join through events. The legacy stream cannot capture.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such mode
 * @retval CTXRT_ERROR_DRIVER            the stream captures already, or is the legacy one
 */
CTXRT_API ctxrt_status ctxrt_stream_capture_begin(ctxrt_stream *stream,
                                                  ctxrt_capture_mode mode) CTXRT_CHECK_RESULT;

/**
 * Ends the capture of a stream and makes a graph of the captured work, with one count for the
 * caller. The driver instantiates it in its first launch. The caller keeps the memory that the work
 * names alive while the graph is launched and runs; the graph itself keeps the code of its kernels.
 *
 * @retval CTXRT_ERROR_DRIVER  the stream does not capture: nothing changed; or the capture is not
 *     RELAXED and another thread began it, or it began in another stream: it goes on, but is
 *     invalidated; or it was invalidated, or has work that was not joined: it is over
 * @retval CTXRT_ERROR_OUT_OF_MEMORY  the host's: the capture goes on, unless only the list of the
 *     kernels' modules found no room: then it is over (ctxrt_stream_capture_status tells)
 */
CTXRT_API ctxrt_status ctxrt_stream_capture_end(ctxrt_stream *stream,
                                                ctxrt_graph **out_graph) CTXRT_CHECK_RESULT;

/**
 * Tells whether the stream captures. Fails for the legacy stream while a blocking stream of its
 * context captures.
 *
 * @param out_state  whether it runs its work, captures it, or has to end a capture
 */
CTXRT_API ctxrt_status ctxrt_stream_capture_status(
    ctxrt_stream *stream, ctxrt_capture_state *out_state) CTXRT_CHECK_RESULT;

/**
 * Submits the work of a graph to a stream. NULL: the current stream, if the top frame is of the
 * graph's context, else the calling thread's default stream there. Launches of one graph run one
 * behind the other, in whichever streams and from whichever threads. For a stream of another
 * context or device of the same driver the work is done in the graph's own context, behind the
 * stream's earlier work and before its later work. In a stream that captures, the graph's work
 * becomes part of that capture, and waits for nothing outside of it.
 *
 * Operators that were not captured are called on the calling thread. If one of them or a driver
 * call fails, the work before it has been submitted and the work behind it has not. The next launch
 * waits for the submitted part; until then the stream may not.
 *
 * @retval CTXRT_ERROR_WRONG_CONTEXT  the stream is another driver's, as the CPU's may be; or it is
 *     of another context and captures, and there are operators to call
 * @retval CTXRT_ERROR_NOT_PERMITTED  the graph is being launched further up on the calling thread;
 *     or its recording had memory in a stream that was destroyed, or captured, when it stopped: the
 *     first launch waits for that, which is impossible while a stream of its context captures
 * @retval CTXRT_ERROR_STACK_LEFTOVER an operator left frames on the stack; it has been restored
 */
CTXRT_API ctxrt_status ctxrt_graph_launch(ctxrt_graph *graph,
                                          ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Makes another graph of the same work, instantiated anew, with one count for the caller. The two
 * are launched, ordered and released independently; they use the same memory and events. So one
 * captured graph can be a template for any number of graphs.
 */
CTXRT_API ctxrt_status ctxrt_graph_clone(ctxrt_graph *graph,
                                         ctxrt_graph **out_clone) CTXRT_CHECK_RESULT;

/* ---- operators ---- */

/**
 * An operator: a function that submits to the current stream of the calling thread's top frame
 * (NULL), with the context and the stream that it is meant for current. It leaves the stack as it
 * found it.
 */
typedef struct ctxrt_operator {
    size_t struct_size; /**< sizeof(ctxrt_operator) */
    /** "matmul": messages name it, and its implementation is found by it. Copied. May be NULL where
     * there is a `run`. */
    const char *type;
    /** Does the work. NULL: the implementation of the type does it, for the device of the top
     * frame. */
    ctxrt_status (*run)(void *user_data);
    /** Called once when the operator is not needed any more, on any thread; may be NULL. */
    void (*destroy)(void *user_data);
    void *user_data;
    /** For `run`: 1 if it only submits work to streams, so that it can be captured once; 0 if each
     * launch of the graph must call it, because it does something on the host or waits. */
    int capturable;
} ctxrt_operator;

#ifdef __cplusplus
#define CTXRT_OPERATOR_INIT \
    {sizeof(ctxrt_operator), NULL, NULL, NULL, NULL, 0}
#else
#define CTXRT_OPERATOR_INIT {.struct_size = sizeof(ctxrt_operator)}
#endif

/** The implementation of an operator type on devices of one type. */
typedef struct ctxrt_operator_implementation {
    size_t struct_size; /**< sizeof(ctxrt_operator_implementation) */
    ctxrt_status (*run)(
        void *user_data); /**< gets the operator's user data; as ctxrt_operator.run */
    int capturable;       /**< likewise */
} ctxrt_operator_implementation;

/**
 * Registers the implementation of an operator type on a device type, for the life of the process.
 * The device type need not have a device.
 *
 * @param operator_type  a name of 1 to 63 bytes, copied
 * @retval CTXRT_ERROR_ALREADY           there is one
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such device type, no such name, or a wrong struct_size
 */
CTXRT_API ctxrt_status
ctxrt_operator_register(ctxrt_device_type device_type, const char *operator_type,
                        const ctxrt_operator_implementation *implementation) CTXRT_CHECK_RESULT;

/**
 * Finds the implementation of an operator type on a device type.
 *
 * @retval CTXRT_ERROR_NOT_SUPPORTED  there is none
 */
CTXRT_API ctxrt_status
ctxrt_operator_find(ctxrt_device_type device_type, const char *operator_type,
                    ctxrt_operator_implementation *out_implementation) CTXRT_CHECK_RESULT;

/**
 * Submits an operator. If the top frame is being recorded, it becomes the next operator of the
 * recording and does not run; else it runs at once and is then destroyed. On failure the caller
 * still owns the operator: `destroy` is not called.
 *
 * @retval CTXRT_ERROR_NULL_POINTER      `operation` is NULL, or has neither `run` nor a type
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  a wrong struct_size
 * @retval CTXRT_ERROR_NOT_SUPPORTED     there is no implementation of its type for the device
 * @retval CTXRT_ERROR_NOT_PERMITTED     the calling thread's recording is over: its frame is gone
 * Other errors are those of `run`, with the operator named.
 */
CTXRT_API ctxrt_status ctxrt_operator_submit(const ctxrt_operator *operation) CTXRT_CHECK_RESULT;

/* ---- recordings ---- */

typedef struct ctxrt_recording_options {
    size_t struct_size; /**< sizeof(ctxrt_recording_options) */
    /** A recorded graph of the same context whose scratch memory this recording may use. The graphs
     * that share memory must never run at the same time. None of them may have results, in memory
     * allocated while recording, that are used after another one ran. NULL: none. */
    ctxrt_graph *share_memory_with;
} ctxrt_recording_options;

#ifdef __cplusplus
#define CTXRT_RECORDING_OPTIONS_INIT \
    {sizeof(ctxrt_recording_options), NULL}
#else
#define CTXRT_RECORDING_OPTIONS_INIT {.struct_size = sizeof(ctxrt_recording_options)}
#endif

/**
 * Starts to record the operators submitted in the calling thread's top frame, and in no other: a
 * frame pushed above is not recorded, and other threads are not. Memory of any context that is
 * allocated or freed in the frame until the stop belongs to the recording and then to its graph:
 * memory freed then or later is used again only in the recording, until the graph is gone. Until
 * then it keeps its allocator and its context in use (CTXRT_ERROR_IN_USE), and so the contexts of
 * streams that were recorded with it. To free memory for other uses, push a frame above.
 *
 * The recording is over, without a graph, if its frame is popped, detached, or set to another
 * device, or its thread ends.
 *
 * @param options  NULL: no sharing
 * @retval CTXRT_ERROR_ALREADY           the frame is being recorded
 * @retval CTXRT_ERROR_WRONG_CONTEXT     the graph to share with is of another context
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it was not recorded; or a wrong struct_size
 */
CTXRT_API ctxrt_status ctxrt_recording_start(const ctxrt_recording_options *options)
    CTXRT_CHECK_RESULT;

/**
 * Ends the recording of the top frame with a graph of it, of which the caller gets one count. Runs
 * of capturable operators are captured: their functions are called once, with the capturing stream
 * current. Each launch calls the others, in their order between the captured runs, under a lock of
 * the graph. Operators are destroyed with the last graph of this work, its clones included.
 *
 * If an operator fails, or makes a call that captures forbid, the recording is over all the same:
 * the capture is ended, stream and frame are what they were, the operators are destroyed and their
 * memory is given back.
 *
 * @retval CTXRT_ERROR_NOT_PERMITTED      the top frame is not being recorded, or the recording is
 *                                        over: its frame is gone
 * @retval CTXRT_ERROR_CONTEXT_DESTROYED  the device was reset since the start
 * @retval CTXRT_ERROR_STACK_LEFTOVER     an operator left frames on the stack
 * Other errors are those of the driver and of the operators, which the message names.
 */
CTXRT_API ctxrt_status ctxrt_recording_stop(ctxrt_graph **out_graph) CTXRT_CHECK_RESULT;

/**
 * Ends the recording of the top frame without a graph; its operators are destroyed and its memory
 * is given back. Without a recording it does nothing. It also drops recordings left by ended
 * threads, and recordings of the calling thread whose frame is gone.
 */
CTXRT_API ctxrt_status ctxrt_recording_cancel(void) CTXRT_CHECK_RESULT;

/** Tells whether the top frame of the calling thread is being recorded: 1 or 0. */
CTXRT_API ctxrt_status ctxrt_recording_active(int *out_active) CTXRT_CHECK_RESULT;

/* ---- counts ---- */

/** Adds a count. */
CTXRT_API ctxrt_status ctxrt_graph_retain(ctxrt_graph *graph) CTXRT_CHECK_RESULT;

/**
 * Gives a count back; with the last one the graph goes. Launched work goes on; only the release of
 * a recorded graph, which frees its memory, waits for it. Before the release of the last graph with
 * a kernel of an unloaded module, wait for the graph's work (module.h). NULL is harmless. A graph
 * whose context was reset is released like any other.
 *
 * @retval CTXRT_ERROR_DRIVER  the driver reported an error, maybe of earlier work; the count is
 *     given back all the same
 */
CTXRT_API ctxrt_status ctxrt_graph_release(ctxrt_graph *graph) CTXRT_CHECK_RESULT;

typedef enum ctxrt_graph_format {
    CTXRT_GRAPH_TEXT = 0, /**< for people */
    CTXRT_GRAPH_DOT = 1   /**< for dot(1) of Graphviz */
} ctxrt_graph_format;

/**
 * Describes a graph: its pieces in order, with the number of captured nodes (0 if the driver does
 * not tell) and the operators they came from; the memory it holds, and the graphs that share it.
 * Makes no driver call. Written in one piece and flushed. Works after a reset, too.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such format
 * @retval CTXRT_ERROR_SYSTEM            the file could not be written, or not to its end
 */
CTXRT_API ctxrt_status ctxrt_graph_describe(ctxrt_graph *graph, FILE *file,
                                            ctxrt_graph_format format) CTXRT_CHECK_RESULT;

/** The context of a graph. Borrowed. */
CTXRT_API ctxrt_status ctxrt_graph_context(ctxrt_graph *graph,
                                           ctxrt_context **out_context) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
