/* What the common calls cost. The best of several rounds: what the call costs when nothing disturbs
 * it. */
#include "probes.h"
#include "steps.h"

#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7 };

static CUcontext a, b, out;
static CUstream on;
static CUevent recorded;
static CUdeviceptr at, other;
static unsigned char *host;
static void *pinned;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* After each round what was queued is waited for, outside the measurement. */
static void see_time(const char *word, int count, void (*call)(int i))
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        for (int i = 0; i < count; i++)
            call(i);
        double each = (now_ns() - begin) / count;
        best = each < best ? each : best;
        cuCtxSynchronize();
    }
    see(word, "%.1f ns", best);
}

static void get_current(int i)
{
    (void)i;
    cuCtxGetCurrent(&out);
}

static void set_same(int i)
{
    (void)i;
    cuCtxSetCurrent(b);
}

static void set_alternating(int i)
{
    cuCtxSetCurrent(i % 2 == 0 ? a : b);
}

static void push_pop(int i)
{
    (void)i;
    cuCtxPushCurrent_v2(a);
    cuCtxPopCurrent_v2(&out);
}

static void get_device(int i)
{
    (void)i;
    cuCtxGetDevice(&(CUdevice){0});
}

static void get_id(int i)
{
    (void)i;
    cuCtxGetId(b, &(unsigned long long){0});
}

static void retain_release(int i)
{
    (void)i;
    cuDevicePrimaryCtxRetain(&out, 0);
    cuDevicePrimaryCtxRelease_v2(0);
}

static void get_state(int i)
{
    (void)i;
    cuDevicePrimaryCtxGetState(0, &(unsigned int){0}, &(int){0});
}

static void pointer_attribute(int i)
{
    (void)i;
    cuPointerGetAttribute(&out, POINTER_CONTEXT, at);
}

static void stream_context(int i)
{
    (void)i;
    cuStreamGetCtx(on, &out);
}

static void record(int i)
{
    (void)i;
    cuEventRecord(recorded, on);
}

static void query(int i)
{
    (void)i;
    cuEventQuery(recorded);
}

static void wait(int i)
{
    (void)i;
    cuStreamWaitEvent(on, recorded, 0);
}

static void stream_query(int i)
{
    (void)i;
    cuStreamQuery(on);
}

static void copy_to_device(int i)
{
    (void)i;
    cuMemcpyHtoD_v2(at, host, 64);
}

static void copy_to_host(int i)
{
    (void)i;
    cuMemcpyDtoH_v2(host, at, 64);
}

static void copy_on_device(int i)
{
    (void)i;
    cuMemcpyDtoDAsync_v2(other, at, 64, on);
}

static void copy_pinned(int i)
{
    (void)i;
    cuMemcpyHtoDAsync_v2(at, pinned, 64, on);
}

static void fill(int i)
{
    (void)i;
    cuMemsetD8Async(at, 1, 64, on);
}

static void allocate(int i)
{
    CUdeviceptr made = 0;
    (void)i;
    cuMemAlloc_v2(&made, 4 * KIB);
    cuMemFree_v2(made);
}

static void allocate_async(int i)
{
    CUdeviceptr made = 0;
    (void)i;
    cuMemAllocAsync(&made, 4 * KIB, on);
    cuMemFreeAsync(made, on);
}

static void create_stream(int i)
{
    CUstream made = NULL;
    (void)i;
    cuStreamCreate(&made, STREAM_NON_BLOCKING);
    cuStreamDestroy_v2(made);
}

static void create_event(int i)
{
    CUevent made = NULL;
    (void)i;
    cuEventCreate(&made, EVENT_DISABLE_TIMING);
    cuEventDestroy_v2(made);
}

static void create_context(int i)
{
    CUcontext made = NULL;
    (void)i;
    if (cuCtxCreate_v2(&made, 0, 0) == SUCCESS)
        cuCtxDestroy_v2(made);
}

static void times(void)
{
    init();
    a = create("a");
    b = create("b");
    on = stream(STREAM_NON_BLOCKING);
    recorded = event(EVENT_DISABLE_TIMING);
    at = memory(4 * KIB);
    other = memory(4 * KIB);
    host = calloc(1, 4 * KIB);
    need("cuMemAllocHost", cuMemAllocHost_v2(&pinned, 4 * KIB));
    retain();
    see_time("get-current", 100000, get_current);
    see_time("set-current-same", 100000, set_same);
    see_time("set-current-alternating", 100000, set_alternating);
    cuCtxSetCurrent(b);
    see_time("push-pop", 100000, push_pop);
    see_time("get-device", 100000, get_device);
    see_time("get-id", 100000, get_id);
    see_time("primary-retain-release", 100000, retain_release);
    see_time("primary-get-state", 20000, get_state);
    see_time("pointer-attribute", 100000, pointer_attribute);
    see_time("stream-context", 100000, stream_context);
    see_time("event-record", 2000, record);
    see_time("event-query", 20000, query);
    see_time("stream-wait-event", 2000, wait);
    see_time("stream-query", 20000, stream_query);
    see_time("copy-to-device-64", 2000, copy_to_device);
    see_time("copy-to-host-64", 2000, copy_to_host);
    see_time("copy-on-device-64-async", 500, copy_on_device);
    see_time("copy-pinned-64-async", 500, copy_pinned);
    see_time("memset-64-async", 500, fill);
    see_time("alloc-free-4k", 500, allocate);
    see_time("alloc-free-async-4k", 500, allocate_async);
    see_time("stream-create-destroy", 100, create_stream);
    see_time("event-create-destroy", 1000, create_event);
    see_time("context-create-destroy", 3, create_context);
    free(host);
}

const struct experiment times_experiments[] = {
    {"times", times,
     "get-current set-current-same set-current-alternating push-pop get-device get-id "
     "primary-retain-release "
     "primary-get-state pointer-attribute stream-context event-record event-query "
     "stream-wait-event stream-query "
     "copy-to-device-64 copy-to-host-64 copy-on-device-64-async copy-pinned-64-async "
     "memset-64-async alloc-free-4k "
     "alloc-free-async-4k stream-create-destroy event-create-destroy context-create-destroy"},
    {NULL, NULL, NULL},
};
