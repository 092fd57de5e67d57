/* X: what no rule says, and an emulation must choose. */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

static void null_arguments(void)
{
    int value = 0;
    unsigned int flags = 0;
    init();
    see_result("get-current", cuCtxGetCurrent(NULL));
    see_result("get-device-none-current", cuCtxGetDevice(NULL));
    see_result("alloc-none-current", cuMemAlloc_v2(NULL, 64));
    see_result("stream-create-none-current", cuStreamCreate(NULL, 0));
    see_result("event-create-none-current", cuEventCreate(NULL, 0));
    see_result("device-count", cuDeviceGetCount(NULL));
    see_result("driver-version", cuDriverGetVersion(NULL));
    see_result("device-get", cuDeviceGet(NULL, 0));
    see_result("destroy-context-none-current", cuCtxDestroy_v2(NULL));
    see_result("priority-range-none-current", cuCtxGetStreamPriorityRange(NULL, NULL));
    see_result("state-both-null", cuDevicePrimaryCtxGetState(0, NULL, NULL));
    create("a");
    see_result("destroy-context", cuCtxDestroy_v2(NULL));
    see("current-after", "%s", who(current()));
    see_result("get-device", cuCtxGetDevice(NULL));
    see_result("alloc", cuMemAlloc_v2(NULL, 64));
    see_result("alloc-zero-bytes", cuMemAlloc_v2(&(CUdeviceptr){0}, 0));
    see_result("alloc-null-zero-bytes", cuMemAlloc_v2(NULL, 0));
    see_result("alloc-host-zero-bytes", cuMemAllocHost_v2(&(void *){NULL}, 0));
    see_result("managed-flags-0", cuMemAllocManaged(&(CUdeviceptr){0}, 64, 0));
    see_result("stream-create", cuStreamCreate(NULL, 0));
    see_result("stream-create-flags-0x80", cuStreamCreate(&(CUstream){NULL}, 0x80));
    see_result("get-flags-of-null-stream", cuStreamGetFlags(NULL, &flags));
    see_result("memory-info", cuMemGetInfo_v2(NULL, NULL));
    see_result("capturing-null-pointer", cuStreamIsCapturing(NULL, NULL));
    see_result("error-name", cuGetErrorName(1, NULL));
    see_result("attribute", cuDeviceGetAttribute(NULL, ATTRIBUTE_CAPABILITY_MAJOR, 0));
    see_result("attribute-0", cuDeviceGetAttribute(&value, 0, 0));
    see_result("attribute-9999", cuDeviceGetAttribute(&value, 9999, 0));
}

static void primary_calls(void)
{
    CUcontext out = NULL;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    see_result("attach", cuCtxAttach(&out, 0));
    see_result("detach", cuCtxDetach(primary));
    see("current", "%s", who(current()));
    see_alloc("alloc");
}

static void affinity(void)
{
    CUexecAffinity multiprocessors = {.type = 0, .multiprocessors = 1};
    CUcontext context = NULL;
    init();
    see_result("one-multiprocessor", cuCtxCreate_v3(&context, &multiprocessors, 1, 0, 0));
    see("current", "%s", who(current()));
}

static void stale_stream(void)
{
    init();
    create("a");
    CUstream was = stream(STREAM_BLOCKING);
    see_result("destroy", cuStreamDestroy_v2(was));
    see_result("query", cuStreamQuery(was));
}

static void stale_stream_destroyed(void)
{
    init();
    create("a");
    CUstream was = stream(STREAM_BLOCKING);
    see_result("destroy", cuStreamDestroy_v2(was));
    see_result("destroy-again", cuStreamDestroy_v2(was));
}

static void stale_event(void)
{
    init();
    create("a");
    CUevent was = event(EVENT_DEFAULT);
    see_result("destroy", cuEventDestroy_v2(was));
    see_result("query", cuEventQuery(was));
}

static void stale_event_destroyed(void)
{
    init();
    create("a");
    CUevent was = event(EVENT_DEFAULT);
    see_result("destroy", cuEventDestroy_v2(was));
    see_result("destroy-again", cuEventDestroy_v2(was));
}

static void destroy_capturing_stream(void)
{
    init();
    create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(on, 2));
    see_result("destroy", cuStreamDestroy_v2(on));
    see_alloc("alloc");
}

static void destroy_capturing_context(void)
{
    init();
    create("b");
    CUcontext a = create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(on, 0));
    see_result("destroy", cuCtxDestroy_v2(a));
    see("current", "%s", who(current()));
    see_alloc("alloc");
}

static void memory_of_another(void)
{
    init();
    create("a");
    CUdeviceptr of_a = memory(4 * KIB);
    CUstream in_a = stream(STREAM_NON_BLOCKING);
    create("b");
    CUdeviceptr of_b = memory(4 * KIB);
    see_result("memset", cuMemsetD8_v2(of_a, 1, 64));
    see_result("copy", cuMemcpyDtoD_v2(of_b, of_a, 64));
    see_result("copy-on-stream-of-a", cuMemcpyDtoDAsync_v2(of_b, of_a, 64, in_a));
    see_result("stream-synchronize", cuStreamSynchronize(in_a));
    pop_all();
    see_result("memset-none-current", cuMemsetD8_v2(of_a, 1, 64));
    see_result("memset-on-stream-none-current", cuMemsetD8Async(of_a, 1, 64, in_a));
    see_result("stream-synchronize-none-current", cuStreamSynchronize(in_a));
    see_result("stream-query-none-current", cuStreamQuery(in_a));
}

static void pinned_memory(void)
{
    void *host = NULL;
    CUdeviceptr mapped = 0;
    init();
    create("a");
    see_result("alloc", cuMemHostAlloc(&host, 4 * KIB, 2));
    see_result("device-pointer", cuMemHostGetDevicePointer_v2(&mapped, host, 0));
    see("device-pointer-out", "%s", mapped == (CUdeviceptr)(size_t)host ? "same" : "other");
    see_result("device-pointer-flags-1", cuMemHostGetDevicePointer_v2(&mapped, host, 1));
    see_result("flags-8", cuMemHostAlloc(&host, 4 * KIB, 8));
}

static void flags_of_host_memory(void)
{
    CUdeviceptr managed = 0;
    unsigned int flags = 77;
    init();
    create("a");
    need("cuMemAllocManaged", cuMemAllocManaged(&managed, 4 * KIB, 1));
    see_result("managed", cuMemHostGetFlags(&flags, (void *)(size_t)managed));
    see("managed-out", "%u", flags);
    see_result("device", cuMemHostGetFlags(&flags, (void *)(size_t)memory(64)));
}

/* As CUlaunchConfig; the one attribute is a cluster's size. */
struct configuration {
    unsigned int grid[3], block[3], shared_bytes;
    CUstream stream;
    const struct {
        int id;
        char pad[4];
        unsigned int size[16];
    } *attribute;
    unsigned int count;
};

static void clusters(void)
{
    const struct {
        int id;
        char pad[4];
        unsigned int size[16];
    } two = {.id = 4, .size = {2, 1, 1}};
    struct configuration plain = {.grid = {4, 1, 1}, .block = {32, 1, 1}}, clustered = plain;
    int number = -7;
    init();
    create("a");
    CUdeviceptr at = memory(4 * KIB);
    void *parameters[] = {&at};
    CUfunction fill = kernel(kernel_fill, "fill");
    clustered.attribute = (void *)(size_t)&two;
    clustered.count = 1;
    see_result("potential", cuOccupancyMaxPotentialClusterSize(&number, fill, &plain));
    see("potential-out", "%d", number);
    number = -7;
    see_result("active", cuOccupancyMaxActiveClusters(&number, fill, &plain));
    see("active-out", "%d", number);
    number = -7;
    see_result("active-of-two", cuOccupancyMaxActiveClusters(&number, fill, &clustered));
    see("active-of-two-out", "%s", number == -7 ? "untouched" : number > 0 ? "some" : "none");
    see_result("launch", cuLaunchKernelEx(&clustered, fill, parameters, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

const struct experiment choice_experiments[] = {
    {"X1.null-arguments", null_arguments,
     "get-current get-device-none-current alloc-none-current stream-create-none-current "
     "event-create-none-current "
     "device-count driver-version device-get destroy-context-none-current "
     "priority-range-none-current "
     "state-both-null destroy-context current-after get-device alloc alloc-zero-bytes "
     "alloc-null-zero-bytes "
     "alloc-host-zero-bytes managed-flags-0 stream-create stream-create-flags-0x80 "
     "get-flags-of-null-stream "
     "memory-info capturing-null-pointer error-name attribute attribute-0 attribute-9999"},
    {"X2.primary", primary_calls, "attach detach current alloc"},
    {"X3.affinity", affinity, "one-multiprocessor current"},
    {"X4.stale-stream", stale_stream, "destroy query"},
    {"X4.stale-stream-destroy", stale_stream_destroyed, "destroy destroy-again"},
    {"X4.stale-event", stale_event, "destroy query"},
    {"X4.stale-event-destroy", stale_event_destroyed, "destroy destroy-again"},
    {"X5.destroy-capturing-stream", destroy_capturing_stream, "destroy alloc"},
    {"X5.destroy-capturing-context", destroy_capturing_context, "destroy current alloc"},
    {"X6.memory-of-another", memory_of_another,
     "memset copy copy-on-stream-of-a stream-synchronize memset-none-current "
     "memset-on-stream-none-current "
     "stream-synchronize-none-current stream-query-none-current"},
    {"X7.pinned", pinned_memory,
     "alloc device-pointer device-pointer-out device-pointer-flags-1 flags-8"},
    {"X8.host-flags", flags_of_host_memory, "managed managed-out device"},
    {"X9.clusters", clusters,
     "potential potential-out active active-out active-of-two active-of-two-out launch "
     "synchronize"},
    {NULL, NULL, NULL},
};
