/* F1 to F5: errors that stick. Each kernel here faults, so each experiment has its process to
 * itself. */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

#include <time.h>

static CUcontext healthy, faulty;
static CUstream in_faulty;
static CUfunction faulting;
static CUdeviceptr healthy_bytes, faulty_bytes;

/* Two contexts; the kernel is loaded in the second, which is current. */
static void prepare(const char *body, const char *name)
{
    init();
    healthy = create("healthy");
    healthy_bytes = memory(4 * KIB);
    faulty = create("faulty");
    faulty_bytes = memory(4 * KIB);
    in_faulty = stream(STREAM_NON_BLOCKING);
    faulting = kernel(body, name);
}

static CUresult fault(void)
{
    void *parameters[] = {&faulty_bytes};
    return launch(faulting, in_faulty, parameters);
}

static void see_consequences(void)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    CUevent made = NULL;
    int count = 0;
    size_t free_bytes = 0, total_bytes = 0;
    unsigned char byte = 0;

    see_result("launch", fault());
    see_result("synchronize", cuStreamSynchronize(in_faulty));
    see_result("synchronize-again", cuCtxSynchronize());
    see_alloc("alloc");
    see_result("copy", cuMemcpyDtoH_v2(&byte, faulty_bytes, 1));
    see_result("launch-again", fault());
    see_result("stream-query", cuStreamQuery(in_faulty));
    see_result("event-create", cuEventCreate(&made, 0));
    see_result("memory-info", cuMemGetInfo_v2(&free_bytes, &total_bytes));
    see_result("get-current", cuCtxGetCurrent(&context));
    see_result("get-device", cuCtxGetDevice(&device));
    see_result("device-count", cuDeviceGetCount(&count));
    see_result("free", cuMemFree_v2(faulty_bytes));
    see_result("set-healthy", cuCtxSetCurrent(healthy));
    see_alloc("healthy-alloc");
    see_result("healthy-memset", cuMemsetD8_v2(healthy_bytes, 1, 64));
    see_result("healthy-synchronize", cuCtxSynchronize());
    see_result("retain", cuDevicePrimaryCtxRetain(&context, 0));
    see_result("create", cuCtxCreate_v2(&context, 0, 0));
    see_alloc("created-alloc");
    see_result("stream-destroy", cuStreamDestroy_v2(in_faulty));
    see_result("destroy", cuCtxDestroy_v2(faulty));
    cuCtxSetCurrent(healthy);
    see_alloc("healthy-alloc-after-destroy");
    see_result("create-after-destroy", cuCtxCreate_v2(&context, 0, 0));
    see_alloc("created-alloc-after-destroy");
}

static void bad_store(void)
{
    prepare(kernel_bad_store, "bad_store");
    see_consequences();
}

static void misaligned(void)
{
    prepare(kernel_misaligned, "misaligned");
    see_consequences();
}

static void trapping(void)
{
    prepare(kernel_trap, "trapping");
    see_consequences();
}

static void asserting(void)
{
    prepare(kernel_assert, "asserting");
    see_consequences();
}

static void reset_primary(const char *body, const char *name)
{
    CUcontext again = NULL;
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    unsigned long long id = id_of(primary);
    in_faulty = stream(STREAM_NON_BLOCKING);
    faulty_bytes = memory(4 * KIB);
    faulting = kernel(body, name);
    see_result("launch", fault());
    see_result("synchronize", cuCtxSynchronize());
    see_result("reset", cuDevicePrimaryCtxReset_v2(0));
    see_result("retain", cuDevicePrimaryCtxRetain(&again, 0));
    see_id("retain-id", again, id);
    see_alloc("alloc");
    see_result("synchronize-after", cuCtxSynchronize());
    see_result("release", cuDevicePrimaryCtxRelease_v2(0));
}

static void reset_after_bad_store(void)
{
    reset_primary(kernel_bad_store, "bad_store");
}

static void reset_after_assert(void)
{
    reset_primary(kernel_assert, "asserting");
}

static void harmless(void)
{
    CUdeviceptr made = 0;
    CUstream bad = NULL;
    init();
    create("a");
    CUstream on = stream(STREAM_NON_BLOCKING);
    see_result("out-of-memory", cuMemAlloc_v2(&made, (size_t)1 << 50));
    see_alloc("out-of-memory-then-alloc");
    see_result("invalid-value", cuMemsetD8_v2(16, 1, 64));
    see_alloc("invalid-value-then-alloc");
    see_result("invalid-flags", cuStreamCreate(&bad, 0x80));
    see_result("invalid-flags-then-synchronize", cuCtxSynchronize());
    gate_close(on);
    see_result("not-ready", cuStreamQuery(on));
    see_alloc("not-ready-then-alloc");
    gate_open();
    see_result("then-synchronize", cuStreamSynchronize(on));
}

/* Which calls bring an error that no one has waited for? The fault is given time to happen. */
static void see_surface(CUresult (*call)(void))
{
    struct timespec pause = {0, 300000000};
    see_result("launch", fault());
    nanosleep(&pause, NULL);
    see_result("result", call());
    see_result("then-synchronize", cuCtxSynchronize());
}

static CUresult call_alloc(void)
{
    CUdeviceptr made = 0;
    return cuMemAlloc_v2(&made, 64);
}

static CUresult call_set_current(void)
{
    return cuCtxSetCurrent(faulty);
}

static CUresult call_get_device(void)
{
    CUdevice device = 0;
    return cuCtxGetDevice(&device);
}

static CUresult call_stream_query(void)
{
    return cuStreamQuery(in_faulty);
}

static CUresult call_memset(void)
{
    return cuMemsetD8Async(faulty_bytes, 1, 64, in_faulty);
}

static CUresult call_healthy_alloc(void)
{
    cuCtxPushCurrent_v2(healthy);
    CUresult code = call_alloc();
    cuCtxPopCurrent_v2(NULL);
    return code;
}

static CUresult call_free(void)
{
    return cuMemFree_v2(faulty_bytes);
}

#define SURFACE(name, call)                     \
    static void name(void)                      \
    {                                           \
        prepare(kernel_bad_store, "bad_store"); \
        see_surface(call);                      \
    }
SURFACE(surface_at_alloc, call_alloc)
SURFACE(surface_at_launch, fault)
SURFACE(surface_at_set_current, call_set_current)
SURFACE(surface_at_get_device, call_get_device)
SURFACE(surface_at_stream_query, call_stream_query)
SURFACE(surface_at_memset, call_memset)
SURFACE(surface_at_healthy_alloc, call_healthy_alloc)
SURFACE(surface_at_free, call_free)

#define CONSEQUENCES                                                                             \
    "launch synchronize synchronize-again alloc copy launch-again stream-query event-create "    \
    "memory-info get-current "                                                                   \
    "get-device device-count free set-healthy healthy-alloc healthy-memset healthy-synchronize " \
    "retain create "                                                                             \
    "created-alloc stream-destroy destroy healthy-alloc-after-destroy create-after-destroy "     \
    "created-alloc-after-destroy"
#define RESET_WORDS "launch synchronize reset retain retain-id alloc synchronize-after release"
#define SURFACE_WORDS "launch result then-synchronize"

const struct experiment error_experiments[] = {
    {"F1.bad-store", bad_store, CONSEQUENCES},
    {"F1.misaligned", misaligned, CONSEQUENCES},
    {"F1.trap", trapping, CONSEQUENCES},
    {"F2.assert", asserting, CONSEQUENCES},
    {"F3.reset-after-bad-store", reset_after_bad_store, RESET_WORDS},
    {"F3.reset-after-assert", reset_after_assert, RESET_WORDS},
    {"F4.harmless", harmless,
     "out-of-memory out-of-memory-then-alloc invalid-value invalid-value-then-alloc invalid-flags "
     "invalid-flags-then-synchronize not-ready not-ready-then-alloc then-synchronize"},
    {"F5.at-alloc", surface_at_alloc, SURFACE_WORDS},
    {"F5.at-launch", surface_at_launch, SURFACE_WORDS},
    {"F5.at-set-current", surface_at_set_current, SURFACE_WORDS},
    {"F5.at-get-device", surface_at_get_device, SURFACE_WORDS},
    {"F5.at-stream-query", surface_at_stream_query, SURFACE_WORDS},
    {"F5.at-memset", surface_at_memset, SURFACE_WORDS},
    {"F5.at-alloc-of-another", surface_at_healthy_alloc, SURFACE_WORDS},
    {"F5.at-free", surface_at_free, SURFACE_WORDS},
    {NULL, NULL, NULL},
};
