/* T1 to T4, T6, T10: streams, events, callbacks. */
#include "probes.h"
#include "steps.h"

static void across_contexts(void)
{
    init();
    create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    CUevent of_a = event(EVENT_DEFAULT);
    create("b");
    CUevent of_b = event(EVENT_DEFAULT);
    CUstream in_b = stream(STREAM_BLOCKING);
    see_result("record-other-context", cuEventRecord(of_b, in_a));
    see_result("record-own-context", cuEventRecord(of_b, in_b));
    see_result("record-null-stream", cuEventRecord(of_b, NULL));
    see_result("record-null-stream-other-event", cuEventRecord(of_a, NULL));
    see_result("record-not-current", cuEventRecord(of_a, in_a));
    see_result("wait-other-context", cuStreamWaitEvent(in_a, of_b, 0));
    see_result("wait-null-stream-other-event", cuStreamWaitEvent(NULL, of_a, 0));
    see_result("wait-never-recorded", cuStreamWaitEvent(in_a, event(EVENT_DEFAULT), 0));
    see_result("wait-flags-2", cuStreamWaitEvent(in_a, of_b, 2));
    see_result("query-other-context", cuEventQuery(of_a));
    see_result("stream-query-other-context", cuStreamQuery(in_a));
    see_result("stream-synchronize-other-context", cuStreamSynchronize(in_a));
    pop_all();
    see_result("record-none-current", cuEventRecord(of_a, in_a));
    see_result("record-null-stream-none-current", cuEventRecord(of_a, NULL));
    see_result("wait-none-current", cuStreamWaitEvent(in_a, of_b, 0));
    see_result("synchronize-none-current", cuEventSynchronize(of_a));
}

static void across_devices(void)
{
    CUcontext b = NULL;
    init();
    need_devices(2);
    create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    CUevent of_b = event(EVENT_DEFAULT);
    see_result("record", cuEventRecord(of_b, in_a));
    see_result("record-own", cuEventRecord(of_b, NULL));
    see_result("wait", cuStreamWaitEvent(in_a, of_b, 0));
    see_result("synchronize", cuStreamSynchronize(in_a));
}

static void see_context_of(const char *word, CUstream of)
{
    CUcontext context = NULL;
    CUresult code = cuStreamGetCtx(of, &context);
    if (code == SUCCESS)
        see(word, "%s", who(context));
    else
        see_result(word, code);
}

static void stream_context(void)
{
    CUdevice device = -7;
    init();
    create("a");
    CUstream in_a = stream(STREAM_BLOCKING);
    create("b");
    see_context_of("stream-of-a", in_a);
    see_context_of("null", NULL);
    see_context_of("legacy", STREAM_LEGACY);
    see_context_of("per-thread", STREAM_PER_THREAD);
    see_result("device", cuStreamGetDevice(in_a, &device));
    see_result("device-null", cuStreamGetDevice(NULL, &device));
    see_result("null-pointer", cuStreamGetCtx(in_a, NULL));
    pop_all();
    see_context_of("none-current-stream-of-a", in_a);
    see_context_of("none-current-null", NULL);
    see_context_of("none-current-legacy", STREAM_LEGACY);
    see_context_of("none-current-per-thread", STREAM_PER_THREAD);
    see_result("none-current-device", cuStreamGetDevice(in_a, &device));
    see_result("none-current-device-null", cuStreamGetDevice(NULL, &device));
}

static void context_events(void)
{
    init();
    CUcontext a = create("a");
    CUevent of_a = event(EVENT_DEFAULT);
    CUcontext b = create("b");
    CUevent of_b = event(EVENT_DEFAULT);
    see_result("record-own", cuCtxRecordEvent(a, of_a));
    see_result("record-other", cuCtxRecordEvent(a, of_b));
    see_result("record-null-context", cuCtxRecordEvent(NULL, of_b));
    see_result("wait-own", cuCtxWaitEvent(a, of_a));
    see_result("wait-other", cuCtxWaitEvent(a, of_b));
    see_result("wait-null-context", cuCtxWaitEvent(NULL, of_a));
    pop_all();
    see_result("record-none-current", cuCtxRecordEvent(b, of_b));
    see_result("wait-none-current", cuCtxWaitEvent(b, of_a));
    see_result("record-null-none-current", cuCtxRecordEvent(NULL, of_b));
}

static void context_events_capturing(void)
{
    CUgraph graph = NULL;
    int status = -1;
    init();
    CUcontext a = create("a");
    CUstream capturing = stream(STREAM_NON_BLOCKING);
    CUevent of_a = event(EVENT_DEFAULT);
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(capturing, CAPTURE_RELAXED));
    see_result("record", cuCtxRecordEvent(a, of_a));
    cuStreamIsCapturing(capturing, &status);
    see("record-status", "%d", status);
    see_result("record-end", cuStreamEndCapture(capturing, &graph));
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(capturing, CAPTURE_RELAXED));
    see_result("wait", cuCtxWaitEvent(a, of_a));
    cuStreamIsCapturing(capturing, &status);
    see("wait-status", "%d", status);
    see_result("wait-end", cuStreamEndCapture(capturing, &graph));
}

static void elapsed(void)
{
    float ms = -7;
    init();
    create("a");
    CUstream in_a = stream(STREAM_NON_BLOCKING);
    CUevent first = event(EVENT_DEFAULT), second = event(EVENT_DEFAULT),
            untimed = event(EVENT_DISABLE_TIMING);
    see_result("never-recorded", cuEventElapsedTime(&ms, first, second));
    see("never-recorded-out", "%s", ms == -7 ? "untouched" : "written");
    see_result("query-never-recorded", cuEventQuery(first));
    see_result("synchronize-never-recorded", cuEventSynchronize(first));
    cuEventRecord(first, in_a);
    cuStreamSynchronize(in_a);
    see_result("second-never-recorded", cuEventElapsedTime(&ms, first, second));
    cuEventRecord(untimed, in_a);
    cuEventRecord(second, in_a);
    cuStreamSynchronize(in_a);
    see_result("both", cuEventElapsedTime(&ms, first, second));
    see("both-out", "%s", ms >= 0 ? "not negative" : "negative");
    see_result("reversed", cuEventElapsedTime(&ms, second, first));
    see("reversed-out", "%s", ms <= 0 ? "not positive" : "positive");
    see_result("same-event", cuEventElapsedTime(&ms, first, first));
    see_result("timing-disabled", cuEventElapsedTime(&ms, first, untimed));
    see_result("null-pointer", cuEventElapsedTime(NULL, first, second));
    gate_close(in_a);
    cuEventRecord(second, in_a);
    see_result("not-finished", cuEventElapsedTime(&ms, first, second));
    see_result("not-finished-query", cuEventQuery(second));
    cuEventRecord(untimed, in_a);
    see_result("not-finished-timing-disabled", cuEventElapsedTime(&ms, first, untimed));
    gate_open();
    cuStreamSynchronize(in_a);
    see_result("finished", cuEventElapsedTime(&ms, first, second));
    see_result("create-flags-0x80", cuEventCreate(&second, 0x80));
    see_result("create-interprocess-timed", cuEventCreate(&second, 4));
}

static void elapsed_across_contexts(void)
{
    float ms = -7;
    init();
    create("a");
    CUevent first = event(EVENT_DEFAULT);
    cuEventRecord(first, NULL);
    cuCtxSynchronize();
    create("b");
    CUevent second = event(EVENT_DEFAULT);
    cuEventRecord(second, NULL);
    cuCtxSynchronize();
    see_result("two-contexts", cuEventElapsedTime(&ms, first, second));
    pop_all();
    see_result("none-current", cuEventElapsedTime(&ms, second, second));
}

static void elapsed_across_devices(void)
{
    float ms = -7;
    CUcontext b = NULL;
    init();
    need_devices(2);
    create("a");
    CUevent first = event(EVENT_DEFAULT);
    cuEventRecord(first, NULL);
    cuCtxSynchronize();
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    CUevent second = event(EVENT_DEFAULT);
    cuEventRecord(second, NULL);
    cuCtxSynchronize();
    see_result("forward", cuEventElapsedTime(&ms, first, second));
    see_result("backward", cuEventElapsedTime(&ms, second, first));
}

static void destroy_none_current(void)
{
    init();
    create("a");
    CUstream first = stream(STREAM_BLOCKING), second = stream(STREAM_BLOCKING);
    CUevent one = event(EVENT_DEFAULT), two = event(EVENT_DEFAULT);
    pop_all();
    see_result("stream", cuStreamDestroy_v2(first));
    see_result("event", cuEventDestroy_v2(one));
    create("b");
    see_result("stream-other-current", cuStreamDestroy_v2(second));
    see_result("event-other-current", cuEventDestroy_v2(two));
    see("current", "%s", who(current()));
}

static void destroy_default_streams(void)
{
    init();
    create("a");
    see_result("stream-null", cuStreamDestroy_v2(NULL));
    see_result("event-null", cuEventDestroy_v2(NULL));
    see_result("legacy", cuStreamDestroy_v2(STREAM_LEGACY));
    see_result("per-thread", cuStreamDestroy_v2(STREAM_PER_THREAD));
    see_result("alloc-after", cuStreamSynchronize(NULL));
}

static CUevent inside_event;
static CUcontext inside_context;
static CUstream inside_stream;
static void (*inside_calls)(void);

static void quick_calls(void)
{
    CUcontext context = (CUcontext)&context;
    CUevent made = NULL;
    CUdeviceptr allocated = 0;
    int version = 0, count = 0;
    know(context, "untouched");
    see_result("get-current", cuCtxGetCurrent(&context));
    see("get-current-out", "%s", who(context));
    see_result("driver-version", cuDriverGetVersion(&version));
    see_result("init", cuInit(0));
    see_result("device-count", cuDeviceGetCount(&count));
    see_result("event-query", cuEventQuery(inside_event));
    see_result("push", cuCtxPushCurrent_v2(inside_context));
    see_result("event-create", cuEventCreate(&made, 0));
    see_result("alloc", cuMemAlloc_v2(&allocated, 64));
    see_result("pop", cuCtxPopCurrent_v2(NULL));
}

static void stream_query(void)
{
    see_result("result", cuStreamQuery(inside_stream));
}

static void stream_synchronize(void)
{
    see_result("result", cuStreamSynchronize(inside_stream));
}

static void context_synchronize(void)
{
    see_result("push", cuCtxPushCurrent_v2(inside_context));
    see_result("result", cuCtxSynchronize());
}

static void host_function(void *unused)
{
    (void)unused;
    inside_calls();
}

static void callback(CUstream on, CUresult status, void *unused)
{
    (void)on;
    (void)unused;
    see_result("status", status);
    inside_calls();
}

/* A call that waits for the function it is made from waits for ever: each such call is alone. */
static void prepare_inside(void (*calls)(void))
{
    init();
    names_ask();
    inside_calls = calls;
    inside_context = create("a");
    inside_event = event(EVENT_DEFAULT);
    inside_stream = stream(STREAM_NON_BLOCKING);
}

static void see_host_function(void (*calls)(void))
{
    prepare_inside(calls);
    need("cuLaunchHostFunc", cuLaunchHostFunc(inside_stream, host_function, NULL));
    see_result("stream-after", cuStreamSynchronize(inside_stream));
}

static void see_callback(void (*calls)(void))
{
    prepare_inside(calls);
    need("cuStreamAddCallback", cuStreamAddCallback(inside_stream, callback, NULL, 0));
    see_result("stream-after", cuStreamSynchronize(inside_stream));
}

static void in_host_function(void)
{
    see_host_function(quick_calls);
}

static void query_in_host_function(void)
{
    see_host_function(stream_query);
}

static void stream_waits_in_host_function(void)
{
    see_host_function(stream_synchronize);
}

static void context_waits_in_host_function(void)
{
    see_host_function(context_synchronize);
}

static void in_callback(void)
{
    see_callback(quick_calls);
}

static void stream_waits_in_callback(void)
{
    see_callback(stream_synchronize);
}

static void context_waits_in_callback(void)
{
    see_callback(context_synchronize);
}

static void callback_arguments(void)
{
    prepare_inside(stream_query);
    see_result("flags-1", cuStreamAddCallback(inside_stream, callback, NULL, 1));
    see_result("null-callback", cuStreamAddCallback(inside_stream, NULL, NULL, 0));
    see_result("null-host-function", cuLaunchHostFunc(inside_stream, NULL, NULL));
}

#define INSIDE_WORDS                                                                              \
    "get-current get-current-out driver-version init device-count event-query push event-create " \
    "alloc pop stream-after"

const struct experiment stream_experiments[] = {
    {"T1.across-contexts", across_contexts,
     "record-other-context record-own-context record-null-stream record-null-stream-other-event "
     "record-not-current "
     "wait-other-context wait-null-stream-other-event wait-never-recorded wait-flags-2 "
     "query-other-context "
     "stream-query-other-context stream-synchronize-other-context record-none-current "
     "record-null-stream-none-current wait-none-current synchronize-none-current"},
    {"T1.across-devices", across_devices, "record record-own wait synchronize"},
    {"T2.context", stream_context,
     "stream-of-a null legacy per-thread device device-null null-pointer none-current-stream-of-a "
     "none-current-null "
     "none-current-legacy none-current-per-thread none-current-device none-current-device-null"},
    {"T3.context-events", context_events,
     "record-own record-other record-null-context wait-own wait-other wait-null-context "
     "record-none-current "
     "wait-none-current record-null-none-current"},
    {"T3.capturing", context_events_capturing,
     "record record-status record-end wait wait-status wait-end"},
    {"T4.elapsed", elapsed,
     "never-recorded never-recorded-out query-never-recorded synchronize-never-recorded "
     "second-never-recorded both "
     "both-out reversed reversed-out same-event timing-disabled null-pointer not-finished "
     "not-finished-query "
     "not-finished-timing-disabled finished create-flags-0x80 create-interprocess-timed"},
    {"T4.across-contexts", elapsed_across_contexts, "two-contexts none-current"},
    {"T4.across-devices", elapsed_across_devices, "forward backward"},
    {"T6.none-current", destroy_none_current,
     "stream event stream-other-current event-other-current current"},
    {"T6.default-streams", destroy_default_streams,
     "stream-null event-null legacy per-thread alloc-after"},
    {"T10.callback", in_callback, "status " INSIDE_WORDS},
    {"T10.callback-waits-for-stream", stream_waits_in_callback, "status result stream-after"},
    {"T10.callback-waits-for-context", context_waits_in_callback,
     "status push result stream-after"},
    {"T10.host-function", in_host_function, INSIDE_WORDS},
    {"T10.host-function-queries-stream", query_in_host_function, "result stream-after"},
    {"T10.host-function-waits-for-stream", stream_waits_in_host_function, "result stream-after"},
    {"T10.host-function-waits-for-context", context_waits_in_host_function,
     "push result stream-after"},
    {"T10.arguments", callback_arguments, "flags-1 null-callback null-host-function"},
    {NULL, NULL, NULL},
};
