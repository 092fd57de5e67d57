/* T11, T12: what waits for what, and which calls return while work is pending. */
#include "probes.h"
#include "steps.h"

static CUdeviceptr bytes;
static CUstream held; /* the stream that the gate stops */

/* First uses may load code and synchronise; afterwards the calls are themselves. */
static void warm(CUstream on, CUdeviceptr at)
{
    need("cuMemsetD8Async", cuMemsetD8Async(at, 0, 64, on));
    need("cuStreamSynchronize", cuStreamSynchronize(on));
    need("cuMemsetD8Async", cuMemsetD8Async(at, 0, 64, NULL));
    need("cuCtxSynchronize", cuCtxSynchronize());
}

/* Does an event recorded in `on` come to pass while the gate is closed on `held`? */
static void see_passes(const char *word, CUstream on, CUevent with)
{
    CUresult code = cuEventRecord(with, on);
    if (code == SUCCESS)
        see(word, "%s", settles(with));
    else
        see_result(word, code);
}

static void hold(CUstream on)
{
    held = on;
    gate_close(on);
}

static void release(void)
{
    gate_open();
    cuStreamSynchronize(held);
}

static void blocking(void)
{
    init();
    create("a");
    bytes = memory(4 * KIB);
    CUstream first = stream(STREAM_BLOCKING), second = stream(STREAM_BLOCKING);
    CUevent on_legacy = event(EVENT_DEFAULT), on_second = event(EVENT_DEFAULT),
            before = event(EVENT_DEFAULT);
    warm(first, bytes);
    hold(first);
    see_passes("second-blocking-stream", second, before);
    see_passes("legacy", NULL, on_legacy);
    see_passes("blocking-stream-after-legacy", second, on_second);
    see_result("stream-query-legacy", cuStreamQuery(NULL));
    release();
    see("legacy-after", "%s", settles(on_legacy));
    see("blocking-stream-after", "%s", settles(on_second));
}

static void legacy_holds(void)
{
    init();
    create("a");
    bytes = memory(4 * KIB);
    CUstream blocking_stream = stream(STREAM_BLOCKING), free_stream = stream(STREAM_NON_BLOCKING);
    CUevent one = event(EVENT_DEFAULT), two = event(EVENT_DEFAULT), three = event(EVENT_DEFAULT);
    warm(blocking_stream, bytes);
    hold(NULL);
    see_passes("blocking-stream", blocking_stream, one);
    see_passes("non-blocking-stream", free_stream, two);
    see_passes("per-thread-stream", STREAM_PER_THREAD, three);
    release();
    see("blocking-stream-after", "%s", settles(one));
}

static void non_blocking(void)
{
    init();
    create("a");
    bytes = memory(4 * KIB);
    CUstream free_stream = stream(STREAM_NON_BLOCKING), blocking_stream = stream(STREAM_BLOCKING);
    CUevent one = event(EVENT_DEFAULT), two = event(EVENT_DEFAULT);
    warm(free_stream, bytes);
    hold(free_stream);
    see_passes("legacy", NULL, one);
    see_passes("blocking-stream", blocking_stream, two);
    see_result("stream-query-legacy", cuStreamQuery(NULL));
    see_result("stream-query-held", cuStreamQuery(free_stream));
    release();
}

static void other_context(void)
{
    init();
    create("a");
    bytes = memory(4 * KIB);
    CUstream in_a = stream(STREAM_BLOCKING);
    warm(in_a, bytes);
    create("b");
    CUdeviceptr of_b = memory(4 * KIB);
    CUstream in_b = stream(STREAM_BLOCKING);
    CUevent one = event(EVENT_DEFAULT), two = event(EVENT_DEFAULT);
    warm(in_b, of_b);
    hold(in_a);
    see_passes("legacy-of-the-other", NULL, one);
    see_passes("blocking-stream-of-the-other", in_b, two);
    see_result("synchronize-of-the-other", cuCtxSynchronize());
    release();
}

static void per_thread(void)
{
    init();
    create("a");
    bytes = memory(4 * KIB);
    CUevent one = event(EVENT_DEFAULT);
    warm(STREAM_PER_THREAD, bytes);
    hold(STREAM_PER_THREAD);
    see_passes("legacy", NULL, one);
    release();
    see("legacy-after", "%s", settles(one));
}

static CUresult destroy_held(void)
{
    return cuStreamDestroy_v2(held);
}

static void stream_destroyed(void)
{
    unsigned char byte = 0;
    init();
    CUcontext a = create("a");
    bytes = memory(4 * KIB);
    CUevent last = event(EVENT_DEFAULT);
    CUstream on = stream(STREAM_NON_BLOCKING);
    warm(on, bytes);
    hold(on);
    need("cuMemsetD8Async", cuMemsetD8Async(bytes, 0x5a, 64, on));
    need("cuEventRecord", cuEventRecord(last, on));
    see_returns("stream-destroy", a, destroy_held);
    see("work-after", "%s", settles(last));
    cuMemcpyDtoH_v2(&byte, bytes, 1);
    see("work-done", "%s", byte == 0x5a ? "yes" : "no");
}

static CUevent pending;

static CUresult destroy_pending(void)
{
    return cuEventDestroy_v2(pending);
}

static void event_destroyed(void)
{
    init();
    CUcontext a = create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    CUstream waiting = stream(STREAM_NON_BLOCKING);
    pending = event(EVENT_DEFAULT);
    CUevent after = event(EVENT_DEFAULT);
    bytes = memory(4 * KIB);
    warm(on, bytes);
    hold(on);
    need("cuEventRecord", cuEventRecord(pending, on));
    need("cuStreamWaitEvent", cuStreamWaitEvent(waiting, pending, 0));
    need("cuEventRecord", cuEventRecord(after, waiting));
    see_result("before", cuEventQuery(after));
    see_returns("event-destroy", a, destroy_pending);
    see("waiting-stream-after", "%s", settles(after));
}

static CUresult free_bytes(void)
{
    return cuMemFree_v2(bytes);
}

static void memory_freed(void)
{
    init();
    CUcontext a = create("a");
    bytes = memory(4 * KIB);
    CUstream on = stream(STREAM_NON_BLOCKING);
    warm(on, bytes);
    hold(on);
    need("cuMemsetD8Async", cuMemsetD8Async(bytes, 1, 64, on));
    see_returns("used-by-pending-work", a, free_bytes);
    bytes = memory(4 * KIB);
    cuStreamSynchronize(on);
    hold(on);
    see_returns("not-used", a, free_bytes);
    cuStreamSynchronize(on);
}

static CUresult free_bytes_async(void)
{
    return cuMemFreeAsync(bytes, held);
}

static void memory_freed_async(void)
{
    CUevent after;
    init();
    CUcontext a = create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuMemAllocAsync", cuMemAllocAsync(&bytes, 4 * KIB, on));
    warm(on, bytes);
    after = event(EVENT_DEFAULT);
    hold(on);
    need("cuMemsetD8Async", cuMemsetD8Async(bytes, 1, 64, on));
    see_returns("free-async", a, free_bytes_async);
    need("cuEventRecord", cuEventRecord(after, on));
    see("stream-after", "%s", settles(after));
}

static CUresult free_async_memory(void)
{
    return cuMemFree_v2(bytes);
}

static void async_memory_freed(void)
{
    init();
    CUcontext a = create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuMemAllocAsync", cuMemAllocAsync(&bytes, 4 * KIB, on));
    warm(on, bytes);
    hold(on);
    see_returns("free-of-async-memory", a, free_async_memory);
    see_result("stream-after", cuStreamSynchronize(on));
}

static CUcontext held_context;

static CUresult destroy_held_context(void)
{
    return cuCtxDestroy_v2(held_context);
}

static void context_destroyed(void)
{
    init();
    CUcontext b = create("b");
    held_context = create("a");
    bytes = memory(4 * KIB);
    CUstream on = stream(STREAM_NON_BLOCKING);
    warm(on, bytes);
    cuCtxPopCurrent_v2(NULL);
    hold(on);
    see_returns("context-destroy", b, destroy_held_context);
}

const struct experiment order_experiments[] = {
    {"T11.blocking-stream-held", blocking,
     "second-blocking-stream legacy blocking-stream-after-legacy stream-query-legacy legacy-after "
     "blocking-stream-after"},
    {"T11.legacy-held", legacy_holds,
     "blocking-stream non-blocking-stream per-thread-stream blocking-stream-after"},
    {"T11.non-blocking-stream-held", non_blocking,
     "legacy blocking-stream stream-query-legacy stream-query-held"},
    {"T11.other-context-held", other_context,
     "legacy-of-the-other blocking-stream-of-the-other synchronize-of-the-other"},
    {"T11.per-thread-held", per_thread, "legacy legacy-after"},
    {"T12.stream", stream_destroyed, "stream-destroy work-after work-done"},
    {"T12.event", event_destroyed, "before event-destroy waiting-stream-after"},
    {"T12.memory", memory_freed, "used-by-pending-work not-used"},
    {"T12.memory-async", memory_freed_async, "free-async stream-after"},
    {"T12.memory-async-free", async_memory_freed, "free-of-async-memory stream-after"},
    {"T12.context", context_destroyed, "context-destroy"},
    {NULL, NULL, NULL},
};
