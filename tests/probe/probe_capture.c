/* G1 to G5, G7, G8: capturing streams, memory of graphs, and conditional nodes. */
#include "probes.h"
#include "steps.h"

#include <stdio.h>

static CUstream capturing;
static CUdeviceptr bytes;

static CUresult begin(int mode)
{
    return cuStreamBeginCapture_v2(capturing, mode);
}

static CUresult end(CUstream on)
{
    CUgraph graph = NULL;
    return cuStreamEndCapture(on, &graph);
}

static void see_end(const char *word)
{
    see_result(word, end(capturing));
}

static void see_status(const char *word, CUstream on)
{
    static const char *const names[] = {"none", "active", "invalidated"};
    int status = -1;
    CUresult code = cuStreamIsCapturing(on, &status);
    if (code == SUCCESS && status >= 0 && status < 3)
        see(word, "%s", names[status]);
    else
        see_result(word, code);
}

/* A context, a stream for captures, and memory that was already filled once. */
static void prepare(unsigned int flags)
{
    init();
    create("a");
    bytes = memory(4 * KIB);
    capturing = stream(flags);
    need("cuMemsetD8Async", cuMemsetD8Async(bytes, 0, 64, capturing));
    need("cuCtxSynchronize", cuCtxSynchronize());
}

static void which_streams(void)
{
    prepare(STREAM_BLOCKING);
    see_result("null", cuStreamBeginCapture_v2(NULL, CAPTURE_RELAXED));
    see_result("legacy", cuStreamBeginCapture_v2(STREAM_LEGACY, CAPTURE_RELAXED));
    see_result("legacy-status", cuStreamIsCapturing(STREAM_LEGACY, &(int){0}));
    see_result("per-thread", cuStreamBeginCapture_v2(STREAM_PER_THREAD, CAPTURE_RELAXED));
    see_result("per-thread-end", end(STREAM_PER_THREAD));
    see_result("blocking", begin(CAPTURE_RELAXED));
    see_result("blocking-again", begin(CAPTURE_RELAXED));
    see_status("blocking-status", capturing);
    see_end("blocking-end");
    see_status("blocking-status-after", capturing);
    see_end("end-without-begin");
    see_result("bad-mode", begin(3));
    see_result("negative-mode", begin(-1));
}

static CUresult on_thread_code;

static void end_on_thread(void *unused)
{
    (void)unused;
    on_thread_code = end(capturing);
}

/* Ends a capture on another thread, then on its own. */
static void see_end_elsewhere(const char *word, const char *word_after, int mode)
{
    need("cuStreamBeginCapture", begin(mode));
    elsewhere(end_on_thread, NULL);
    see_result(word, on_thread_code);
    see_end(word_after);
}

static void end_elsewhere(void)
{
    prepare(STREAM_NON_BLOCKING);
    see_end_elsewhere("global", "global-after", CAPTURE_GLOBAL);
    see_end_elsewhere("thread-local", "thread-local-after", CAPTURE_THREAD_LOCAL);
    see_end_elsewhere("relaxed", "relaxed-after", CAPTURE_RELAXED);
}

static void captured_work(void)
{
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    unsigned char byte = 0;
    size_t nodes = 0;
    prepare(STREAM_NON_BLOCKING);
    see_result("begin", begin(CAPTURE_GLOBAL));
    see_result("memset", cuMemsetD8Async(bytes, 0x5a, 64, capturing));
    see_result("memset-second", cuMemsetD8Async(bytes, 0x5b, 64, capturing));
    see_result("end", cuStreamEndCapture(capturing, &graph));
    cuMemcpyDtoH_v2(&byte, bytes, 1);
    see("ran-while-capturing", "%s", byte == 0 ? "no" : "yes");
    see_result("nodes", cuGraphGetNodes(graph, NULL, &nodes));
    see("nodes-out", "%zu", nodes);
    see_result("instantiate", cuGraphInstantiateWithFlags(&executable, graph, 0));
    see_result("launch", cuGraphLaunch(executable, capturing));
    see_result("synchronize", cuStreamSynchronize(capturing));
    cuMemcpyDtoH_v2(&byte, bytes, 1);
    see("launch-wrote", "0x%x", byte);
    see_result("destroy-executable", cuGraphExecDestroy(executable));
    see_result("destroy", cuGraphDestroy(graph));
}

static CUresult call_alloc(void)
{
    CUdeviceptr made = 0;
    return cuMemAlloc_v2(&made, 64);
}

static CUresult call_alloc_host(void)
{
    void *made = NULL;
    return cuMemAllocHost_v2(&made, 64);
}

static CUresult call_synchronize(void)
{
    return cuCtxSynchronize();
}

static CUresult call_stream_synchronize(void)
{
    return cuStreamSynchronize(capturing);
}

static CUresult call_stream_query(void)
{
    return cuStreamQuery(capturing);
}

static CUresult call_event_create(void)
{
    CUevent made = NULL;
    return cuEventCreate(&made, 0);
}

static CUresult call_memset(void)
{
    return cuMemsetD8_v2(bytes, 1, 64);
}

static const struct {
    const char *word;
    CUresult (*call)(void);
} unsafe_calls[] = {
    {"alloc", call_alloc},
    {"alloc-host", call_alloc_host},
    {"context-synchronize", call_synchronize},
    {"stream-synchronize", call_stream_synchronize},
    {"stream-query", call_stream_query},
    {"event-create", call_event_create},
    {"memset", call_memset},
};

static CUcontext shared_context;
static CUresult (*shared_call)(void);
static int shared_mode;

static void call_on_thread(void *unused)
{
    (void)unused;
    cuCtxPushCurrent_v2(shared_context);
    cuThreadExchangeStreamCaptureMode(&shared_mode);
    on_thread_code = shared_call();
}

/* Each call while this thread captures, on this thread; and on another, whose own mode is GLOBAL.
 */
static void see_unsafe(int mode)
{
    char word[64];
    prepare(STREAM_NON_BLOCKING);
    shared_context = current();
    for (size_t i = 0; i < sizeof unsafe_calls / sizeof *unsafe_calls; i++) {
        need("cuStreamBeginCapture", begin(mode));
        CUresult code = unsafe_calls[i].call();
        see(unsafe_calls[i].word, "%s, end %s", result_text(code), result_text(end(capturing)));

        need("cuStreamBeginCapture", begin(mode));
        shared_call = unsafe_calls[i].call;
        shared_mode = CAPTURE_GLOBAL;
        elsewhere(call_on_thread, NULL);
        snprintf(word, sizeof word, "%s-elsewhere", unsafe_calls[i].word);
        see(word, "%s, end %s", result_text(on_thread_code), result_text(end(capturing)));
    }
}

static void unsafe_global(void)
{
    see_unsafe(CAPTURE_GLOBAL);
}

static void unsafe_thread_local(void)
{
    see_unsafe(CAPTURE_THREAD_LOCAL);
}

static void unsafe_relaxed(void)
{
    see_unsafe(CAPTURE_RELAXED);
}

/* With a GLOBAL capture here, an allocation on another thread whose own mode is not GLOBAL. */
static void thread_modes(void)
{
    static const struct {
        const char *word;
        int mode;
    } modes[] = {{"global", CAPTURE_GLOBAL},
                 {"thread-local", CAPTURE_THREAD_LOCAL},
                 {"relaxed", CAPTURE_RELAXED}};
    prepare(STREAM_NON_BLOCKING);
    shared_context = current();
    for (size_t i = 0; i < 3; i++) {
        need("cuStreamBeginCapture", begin(CAPTURE_GLOBAL));
        shared_call = call_alloc;
        shared_mode = modes[i].mode;
        elsewhere(call_on_thread, NULL);
        see(modes[i].word, "%s, end %s", result_text(on_thread_code), result_text(end(capturing)));
    }
}

static void captured_event_relaxed(void)
{
    prepare(STREAM_NON_BLOCKING);
    CUevent captured = event(EVENT_DISABLE_TIMING);
    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    see_result("record", cuEventRecord(captured, capturing));
    see_result("query", cuEventQuery(captured));
    see_status("query-status", capturing);
    see_end("query-end");
    see_result("query-after", cuEventQuery(captured));
    see_result("synchronize-after", cuEventSynchronize(captured));
    see_result("wait-after", cuStreamWaitEvent(capturing, captured, 0));
}

/* What a call on the legacy stream says while `capturing` captures. */
static void see_legacy(const char *word, CUresult (*call)(void))
{
    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    CUresult code = call();
    see(word, "%s, end %s", result_text(code), result_text(end(capturing)));
}

static CUresult legacy_memset(void)
{
    return cuMemsetD8Async(bytes, 1, 64, NULL);
}

static CUresult legacy_query(void)
{
    return cuStreamQuery(NULL);
}

static CUresult legacy_synchronize(void)
{
    return cuStreamSynchronize(NULL);
}

static CUresult legacy_copy(void)
{
    unsigned char byte = 0;
    return cuMemcpyHtoD_v2(bytes, &byte, 1);
}

static CUresult legacy_record(void)
{
    return cuEventRecord(event(EVENT_DEFAULT), NULL);
}

static CUresult per_thread_memset(void)
{
    return cuMemsetD8Async(bytes, 1, 64, STREAM_PER_THREAD);
}

static void see_legacy_uses(unsigned int flags)
{
    prepare(flags);
    see_legacy("memset", legacy_memset);
    see_legacy("stream-query", legacy_query);
    see_legacy("stream-synchronize", legacy_synchronize);
    see_legacy("copy", legacy_copy);
    see_legacy("event-record", legacy_record);
    see_legacy("per-thread-memset", per_thread_memset);
}

static void legacy_blocking(void)
{
    see_legacy_uses(STREAM_BLOCKING);
}

static void legacy_non_blocking(void)
{
    see_legacy_uses(STREAM_NON_BLOCKING);
}

static void join(void)
{
    CUgraph graph = NULL;
    size_t nodes = 0;
    prepare(STREAM_NON_BLOCKING);
    CUstream second = stream(STREAM_NON_BLOCKING);
    CUevent fork = event(EVENT_DISABLE_TIMING), back = event(EVENT_DISABLE_TIMING);
    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    see_result("record", cuEventRecord(fork, capturing));
    see_result("wait", cuStreamWaitEvent(second, fork, 0));
    see_status("status-of-joined", second);
    see_result("memset-on-joined", cuMemsetD8Async(bytes, 1, 64, second));
    see_result("record-back", cuEventRecord(back, second));
    see_result("wait-back", cuStreamWaitEvent(capturing, back, 0));
    see_result("end", cuStreamEndCapture(capturing, &graph));
    see_status("status-of-joined-after", second);
    see_result("nodes", cuGraphGetNodes(graph, NULL, &nodes));
    see("nodes-out", "%zu", nodes);
}

static void wrong_end(void)
{
    prepare(STREAM_NON_BLOCKING);
    CUstream second = stream(STREAM_NON_BLOCKING);
    CUevent fork = event(EVENT_DISABLE_TIMING);
    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    cuEventRecord(fork, capturing);
    cuStreamWaitEvent(second, fork, 0);
    see_result("end-on-joined", end(second));
    see_status("end-on-joined-status", capturing);
    see_end("end-after");

    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    cuEventRecord(fork, capturing);
    cuStreamWaitEvent(second, fork, 0);
    cuMemsetD8Async(bytes, 1, 64, second);
    see_end("end-unjoined");
    see_status("end-unjoined-status", capturing);
    see_status("end-unjoined-status-of-second", second);
}

static void merge(void)
{
    prepare(STREAM_NON_BLOCKING);
    CUstream second = stream(STREAM_NON_BLOCKING);
    CUevent fork = event(EVENT_DISABLE_TIMING);
    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(second, CAPTURE_RELAXED));
    cuEventRecord(fork, capturing);
    see_result("wait", cuStreamWaitEvent(second, fork, 0));
    see_status("first-status", capturing);
    see_status("second-status", second);
    see_result("second-end", end(second));
    see_end("first-end");
}

static void isolation(void)
{
    prepare(STREAM_NON_BLOCKING);
    CUstream second = stream(STREAM_NON_BLOCKING);
    CUevent outside = event(EVENT_DISABLE_TIMING), inside = event(EVENT_DISABLE_TIMING);
    cuEventRecord(outside, second);
    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    see_result("wait-for-outside", cuStreamWaitEvent(capturing, outside, 0));
    see_status("wait-for-outside-status", capturing);
    see_end("wait-for-outside-end");

    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    cuEventRecord(inside, capturing);
    see_result("synchronize-inside", cuEventSynchronize(inside));
    see_end("synchronize-inside-end");

    need("cuStreamBeginCapture", begin(CAPTURE_RELAXED));
    cuEventRecord(inside, capturing);
    see_result("wait-on-legacy", cuStreamWaitEvent(NULL, inside, 0));
    see_end("wait-on-legacy-end");
}

static void modes(void)
{
    int mode = CAPTURE_RELAXED;
    prepare(STREAM_NON_BLOCKING);
    see_result("exchange", cuThreadExchangeStreamCaptureMode(&mode));
    see("exchange-out", "%d", mode);
    mode = CAPTURE_THREAD_LOCAL;
    see_result("exchange-again", cuThreadExchangeStreamCaptureMode(&mode));
    see("exchange-again-out", "%d", mode);
    mode = 3;
    see_result("bad-mode", cuThreadExchangeStreamCaptureMode(&mode));
    see("bad-mode-out", "%d", mode);
    see_result("null-pointer", cuThreadExchangeStreamCaptureMode(NULL));
    mode = CAPTURE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&mode);
    need("cuStreamBeginCapture", begin(CAPTURE_GLOBAL));
    see_result("relaxed-thread-global-capture", call_alloc());
    see_end("relaxed-thread-global-capture-end");
}

static void mode_on_thread(void *unused)
{
    int mode = CAPTURE_GLOBAL;
    (void)unused;
    see_result("new-thread", cuThreadExchangeStreamCaptureMode(&mode));
    see("new-thread-out", "%d", mode);
}

static void mode_per_thread(void)
{
    int mode = CAPTURE_RELAXED;
    init();
    see_result("none-current", cuThreadExchangeStreamCaptureMode(&mode));
    elsewhere(mode_on_thread, NULL);
}

#define UNSAFE_WORDS                                                                       \
    "alloc alloc-elsewhere alloc-host alloc-host-elsewhere context-synchronize "           \
    "context-synchronize-elsewhere "                                                       \
    "stream-synchronize stream-synchronize-elsewhere stream-query stream-query-elsewhere " \
    "event-create "                                                                        \
    "event-create-elsewhere memset memset-elsewhere"
#define LEGACY_WORDS "memset stream-query stream-synchronize copy event-record per-thread-memset"

static void memory_of_a_graph(void)
{
    CUgraph graph = NULL;
    CUgraphExec executable = NULL, second = NULL;
    CUdeviceptr at = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(on, 0));
    see_result("alloc", cuMemAllocAsync(&at, 64 * KIB, on));
    need("cuMemsetD8Async", cuMemsetD8Async(at, 1, 64, on));
    see_result("end", cuStreamEndCapture(on, &graph));
    see_result("free-before", cuMemFreeAsync(at, on));
    see_result("instantiate", cuGraphInstantiateWithFlags(&executable, graph, 0));
    see_result("instantiate-again", cuGraphInstantiateWithFlags(&second, graph, 0));
    see_result("launch", cuGraphLaunch(executable, on));
    see_result("launch-again", cuGraphLaunch(executable, on));
    see_result("free", cuMemFreeAsync(at, on));
    see_result("free-again", cuMemFreeAsync(at, on));
    see_result("launch-freed", cuGraphLaunch(executable, on));
    see_result("synchronize", cuStreamSynchronize(on));
}

enum { CONDITIONAL = 13, IF = 0, ASSIGN_DEFAULT = 1 };

static CUresult add_condition(CUgraph graph, int kind, unsigned int size, CUgraph *body)
{
    CUgraphNodeParams params = {
        .type = CONDITIONAL, .condition = kind, .size = size, .context = current()};
    CUgraphNode node = NULL;
    CUresult code = cuGraphConditionalHandleCreate(&params.handle, graph, params.context, 1,
                                                   ASSIGN_DEFAULT);
    if (code == SUCCESS)
        code = cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params);
    if (code == SUCCESS)
        *body = params.bodies[0];
    return code;
}

static void conditions(void)
{
    CUgraph graph = NULL, body = NULL, other = NULL;
    CUgraphExec executable = NULL;
    init();
    create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuGraphCreate", cuGraphCreate(&graph, 0));
    see_result("if", add_condition(graph, IF, 1, &body));
    see_result("no-kind", add_condition(graph, 7, 1, &other));
    see_result("in-a-body", add_condition(body, IF, 1, &other));
    see_result("destroy-body", cuGraphDestroy(body));
    need("cuGraphCreate", cuGraphCreate(&graph, 0));
    need("cuGraphAddNode", add_condition(graph, IF, 1, &body));
    see_result("instantiate", cuGraphInstantiateWithFlags(&executable, graph, 0));
    see_result("launch", cuGraphLaunch(executable, on));
    see_result("synchronize", cuStreamSynchronize(on));
}

const struct experiment capture_experiments[] = {
    {"G1.streams", which_streams,
     "null legacy legacy-status per-thread per-thread-end blocking blocking-again blocking-status "
     "blocking-end "
     "blocking-status-after end-without-begin bad-mode negative-mode"},
    {"G1.end-elsewhere", end_elsewhere,
     "global global-after thread-local thread-local-after relaxed relaxed-after"},
    {"G1.work", captured_work,
     "begin memset memset-second end ran-while-capturing nodes nodes-out instantiate launch "
     "synchronize launch-wrote "
     "destroy-executable destroy"},
    {"G2.global", unsafe_global, UNSAFE_WORDS},
    {"G2.thread-local", unsafe_thread_local, UNSAFE_WORDS},
    {"G2.relaxed", unsafe_relaxed, UNSAFE_WORDS},
    {"G2.other-threads-mode", thread_modes, "global thread-local relaxed"},
    {"G2.captured-event", captured_event_relaxed,
     "record query query-status query-end query-after synchronize-after wait-after"},
    {"G3.blocking", legacy_blocking, LEGACY_WORDS},
    {"G3.non-blocking", legacy_non_blocking, LEGACY_WORDS},
    {"G4.join", join,
     "record wait status-of-joined memset-on-joined record-back wait-back end "
     "status-of-joined-after nodes "
     "nodes-out"},
    {"G4.wrong-end", wrong_end,
     "end-on-joined end-on-joined-status end-after end-unjoined end-unjoined-status "
     "end-unjoined-status-of-second"},
    {"G4.merge", merge, "wait first-status second-status second-end first-end"},
    {"G4.isolation", isolation,
     "wait-for-outside wait-for-outside-status wait-for-outside-end synchronize-inside "
     "synchronize-inside-end "
     "wait-on-legacy wait-on-legacy-end"},
    {"G5.modes", modes,
     "exchange exchange-out exchange-again exchange-again-out bad-mode bad-mode-out null-pointer "
     "relaxed-thread-global-capture relaxed-thread-global-capture-end"},
    {"G5.per-thread", mode_per_thread, "none-current new-thread new-thread-out"},
    {"G7.memory", memory_of_a_graph,
     "alloc end free-before instantiate instantiate-again launch launch-again free free-again "
     "launch-freed synchronize"},
    {"G8.condition", conditions,
     "if no-kind in-a-body destroy-body instantiate launch synchronize"},
    {NULL, NULL, NULL},
};
