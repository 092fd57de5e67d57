/* F1 to F5: errors that stick. Each kernel here faults, so each experiment has its process to
 * itself. */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A kernel that faults, and what it may be called where work is told to fail instead. */
struct fault {
    const char *body, *name, *error;
};

static const struct fault bad_store_fault = {kernel_bad_store, "bad_store", "ILLEGAL_ADDRESS"};
static const struct fault misaligned_fault = {kernel_misaligned, "misaligned",
                                              "MISALIGNED_ADDRESS"};
static const struct fault trap_fault = {kernel_trap, "trapping", "LAUNCH_FAILED"};
static const struct fault assert_fault = {kernel_assert, "asserting", "ASSERT"};

static CUcontext healthy, faulty;
static CUstream in_faulty;
static CUfunction faulting;
static CUdeviceptr healthy_bytes, faulty_bytes;

/* Before cuInit, which reads the environment. */
static void tell(const struct fault *which)
{
    static char told[400];
    const char *mark = fault_by != NULL ? strchr(fault_by, '%') : NULL;
    if (fault_by == NULL)
        return;
    if (mark == NULL)
        snprintf(told, sizeof told, "%s", fault_by);
    else
        snprintf(told, sizeof told, "%.*s%s%s", (int)(mark - fault_by), fault_by, which->error,
                 mark + 1);
    putenv(told);
}

/* In the current context. */
static void make_ready(const struct fault *which)
{
    faulty_bytes = memory(4 * KIB);
    in_faulty = stream(STREAM_NON_BLOCKING);
    if (fault_by == NULL)
        faulting = kernel(which->body, which->name);
}

static CUresult fault(void)
{
    void *parameters[] = {&faulty_bytes};
    if (fault_by != NULL)
        return cuMemsetD8Async(faulty_bytes, 1, 64, in_faulty);
    return launch(faulting, in_faulty, parameters);
}

/* Two contexts; the fault will be in the second, which is current. */
static void prepare(const struct fault *which)
{
    tell(which);
    init();
    healthy = create("healthy");
    healthy_bytes = memory(4 * KIB);
    faulty = create("faulty");
    make_ready(which);
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
    prepare(&bad_store_fault);
    see_consequences();
}

static void misaligned(void)
{
    prepare(&misaligned_fault);
    see_consequences();
}

static void trapping(void)
{
    prepare(&trap_fault);
    see_consequences();
}

static void asserting(void)
{
    prepare(&assert_fault);
    see_consequences();
}

static void reset_primary(const struct fault *which)
{
    CUcontext again = NULL;
    tell(which);
    init();
    CUcontext primary = retain();
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(primary));
    unsigned long long id = id_of(primary);
    make_ready(which);
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
    reset_primary(&bad_store_fault);
}

static void reset_after_assert(void)
{
    reset_primary(&assert_fault);
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
    prepare(&bad_store_fault);
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

static void surface_at_alloc(void)
{
    see_surface(call_alloc);
}

static void surface_at_launch(void)
{
    see_surface(fault);
}

static void surface_at_set_current(void)
{
    see_surface(call_set_current);
}

static void surface_at_get_device(void)
{
    see_surface(call_get_device);
}

static void surface_at_stream_query(void)
{
    see_surface(call_stream_query);
}

static void surface_at_memset(void)
{
    see_surface(call_memset);
}

static void surface_at_healthy_alloc(void)
{
    see_surface(call_healthy_alloc);
}

static void surface_at_free(void)
{
    see_surface(call_free);
}

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
