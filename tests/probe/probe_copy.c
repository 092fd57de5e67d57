/* T13, T20: which copies and fills return while the work before them is held, and batches. */
#include "probes.h"
#include "steps.h"

#include <stdlib.h>

enum { SMALL = 64, LARGE = 1024 * 1024 };

static CUdeviceptr to, from;
static void *pinned;
static unsigned char *pageable;
static CUstream on;
static CUcontext owner;

/* Each call is made once before the gate closes. */
static void see_held(const char *word, CUresult (*call)(void))
{
    CUresult code = call();
    if (code != SUCCESS) {
        see_result(word, code);
        return;
    }
    cuCtxSynchronize();
    gate_close(on);
    see_returns(word, owner, call);
    cuCtxSynchronize();
}

static void prepare(unsigned int flags)
{
    init();
    owner = create("a");
    to = memory(LARGE);
    from = memory(LARGE);
    need("cuMemAllocHost", cuMemAllocHost_v2(&pinned, LARGE));
    pageable = calloc(1, LARGE);
    if (pageable == NULL)
        give_up("not reached: no memory");
    on = stream(flags);
}

static CUresult host_to_device_small(void)
{
    return cuMemcpyHtoD_v2(to, pageable, SMALL);
}

static CUresult host_to_device_large(void)
{
    return cuMemcpyHtoD_v2(to, pageable, LARGE);
}

static CUresult pinned_to_device_small(void)
{
    return cuMemcpyHtoD_v2(to, pinned, SMALL);
}

static CUcontext source_owner;
static unsigned char filled;

static CUresult between_contexts(void)
{
    return cuMemcpyPeer(to, owner, from, source_owner, SMALL);
}

static CUresult fill_source(void)
{
    cuCtxPushCurrent_v2(source_owner);
    CUresult code = cuMemsetD8Async(from, ++filled, SMALL, on);
    cuCtxPopCurrent_v2(NULL);
    return code;
}

static CUresult device_to_host(void)
{
    return cuMemcpyDtoH_v2(pageable, from, SMALL);
}

static CUresult device_to_device(void)
{
    return cuMemcpyDtoD_v2(to, from, SMALL);
}

static CUresult host_to_host(void)
{
    return cuMemcpy((CUdeviceptr)(size_t)pageable, (CUdeviceptr)(size_t)(pageable + SMALL), SMALL);
}

static CUresult fill(void)
{
    return cuMemsetD8_v2(to, 1, SMALL);
}

static CUresult fill_pinned(void)
{
    return cuMemsetD8_v2((CUdeviceptr)(size_t)pinned, 1, SMALL);
}

/* The synchronous calls go to the legacy stream, which waits for the held blocking one. */
static void synchronous(void)
{
    prepare(STREAM_BLOCKING);
    see_held("host-to-device-64", host_to_device_small);
    see_held("host-to-device-1m", host_to_device_large);
    see_held("pinned-to-device-64", pinned_to_device_small);
    see_held("device-to-host", device_to_host);
    see_held("device-to-device", device_to_device);
    see_held("host-to-host", host_to_host);
    see_held("memset", fill);
    see_held("memset-pinned", fill_pinned);
    free(pageable);
}

static CUresult host_to_device_async_small(void)
{
    return cuMemcpyHtoDAsync_v2(to, pageable, SMALL, on);
}

static CUresult host_to_device_async_large(void)
{
    return cuMemcpyHtoDAsync_v2(to, pageable, LARGE, on);
}

static CUresult pinned_to_device_async(void)
{
    return cuMemcpyHtoDAsync_v2(to, pinned, LARGE, on);
}

static CUresult device_to_host_async(void)
{
    return cuMemcpyDtoHAsync_v2(pageable, from, SMALL, on);
}

static CUresult device_to_pinned_async(void)
{
    return cuMemcpyDtoHAsync_v2(pinned, from, LARGE, on);
}

static CUresult device_to_device_async(void)
{
    return cuMemcpyDtoDAsync_v2(to, from, LARGE, on);
}

static CUresult fill_async(void)
{
    return cuMemsetD8Async(to, 1, SMALL, on);
}

static CUresult fill_pinned_async(void)
{
    return cuMemsetD8Async((CUdeviceptr)(size_t)pinned, 1, SMALL, on);
}

static void asynchronous(void)
{
    prepare(STREAM_NON_BLOCKING);
    see_held("host-to-device-64", host_to_device_async_small);
    see_held("host-to-device-1m", host_to_device_async_large);
    see_held("pinned-to-device-1m", pinned_to_device_async);
    see_held("device-to-host", device_to_host_async);
    see_held("device-to-pinned", device_to_pinned_async);
    see_held("device-to-device", device_to_device_async);
    see_held("memset", fill_async);
    see_held("memset-pinned", fill_pinned_async);
    free(pageable);
}

static void staged(void)
{
    unsigned char byte = 0;
    prepare(STREAM_NON_BLOCKING);
    need("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2(to, pageable, SMALL, on));
    need("cuStreamSynchronize", cuStreamSynchronize(on));
    pageable[0] = 1;
    see_result("copy", cuMemcpyHtoD_v2(to, pageable, SMALL));
    pageable[0] = 2;
    cuCtxSynchronize();
    cuMemcpyDtoH_v2(&byte, to, 1);
    see("synchronous-reads-source", "%s", byte == 1 ? "before it returns" : "later");
    ((unsigned char *)pinned)[0] = 1;
    gate_close(on);
    see_result("pinned-async", cuMemcpyHtoDAsync_v2(to, pinned, SMALL, on));
    ((unsigned char *)pinned)[0] = 2;
    gate_open();
    cuStreamSynchronize(on);
    cuMemcpyDtoH_v2(&byte, to, 1);
    see("pinned-async-reads-source", "%s", byte == 1 ? "before it returns" : "later");
    see_result("zero-bytes", cuMemcpyHtoD_v2(to, pageable, 0));
    see_result("too-many-bytes", cuMemcpyDtoD_v2(to, from, (size_t)LARGE * 1024));
    see_result("unknown-address", cuMemsetD8_v2(16, 1, SMALL));
    free(pageable);
}

enum { ORDER_NONE, ORDER_STREAM };

static CUresult batch(CUdeviceptr target, CUdeviceptr source, size_t second_bytes, size_t count,
                      int order, CUstream queue)
{
    CUdeviceptr ends[] = {target, target + 64}, begins[] = {source, source + 64};
    size_t sizes[] = {64, second_bytes}, first = 0;
    CUmemcpyAttributes attributes = {.order = order};
    return cuMemcpyBatchAsync_v2(ends, begins, sizes, count, &attributes, &first, 1, queue);
}

static void batches(void)
{
    CUgraph graph = NULL;
    size_t nodes = 77;
    init();
    create("a");
    CUdeviceptr target = memory(128), source = memory(128);
    CUstream queue = stream(STREAM_NON_BLOCKING);
    see_result("two", batch(target, source, 64, 2, ORDER_STREAM, queue));
    see_result("none", batch(target, source, 64, 0, ORDER_STREAM, queue));
    see_result("no-order", batch(target, source, 64, 2, ORDER_NONE, queue));
    see_result("second-of-nothing", batch(target, source, 0, 2, ORDER_STREAM, queue));
    see_result("past-the-end", batch(target, source, 65, 2, ORDER_STREAM, queue));
    see_result("legacy", batch(target, source, 64, 2, ORDER_STREAM, NULL));
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(queue, 0));
    see_result("captured", batch(target, source, 64, 2, ORDER_STREAM, queue));
    see_result("end", cuStreamEndCapture(queue, &graph));
    if (graph != NULL)
        cuGraphGetNodes(graph, NULL, &nodes);
    see("nodes", "%zu", nodes);
    see_result("synchronize", cuCtxSynchronize());
}

/* Work of the source's context is held in a stream that waits for nothing else. */
static void between(void)
{
    unsigned char copied = 0;
    init();
    need_devices(2);
    need("cuCtxCreate", cuCtxCreate_v2(&source_owner, 0, 1));
    from = memory(SMALL);
    on = stream(STREAM_NON_BLOCKING);
    owner = create("a");
    to = memory(SMALL);
    need("cuMemcpyPeer", between_contexts());
    need("cuMemsetD8Async", fill_source());
    cuStreamSynchronize(on);
    gate_close(on);
    need("cuMemsetD8Async", fill_source());
    see_returns("source-held", owner, between_contexts);
    see_result("synchronize", cuCtxSynchronize());
    cuMemcpyDtoH_v2(&copied, to, 1);
    see("copied", "%u", copied);
}

const struct experiment copy_experiments[] = {
    {"T13.synchronous", synchronous,
     "host-to-device-64 host-to-device-1m pinned-to-device-64 device-to-host device-to-device "
     "host-to-host memset "
     "memset-pinned"},
    {"T13.asynchronous", asynchronous,
     "host-to-device-64 host-to-device-1m pinned-to-device-1m device-to-host device-to-pinned "
     "device-to-device "
     "memset memset-pinned"},
    {"T13.staged", staged,
     "copy synchronous-reads-source pinned-async pinned-async-reads-source zero-bytes "
     "too-many-bytes "
     "unknown-address"},
    {"T13.between-contexts", between, "source-held synchronize copied"},
    {"T20.batch", batches,
     "two none no-order second-of-nothing past-the-end legacy captured end nodes synchronize"},
    {NULL, NULL, NULL},
};
