/* A1 to A3: arguments that are nothing. */
#include "probes.h"
#include "steps.h"

#include <stdlib.h>

static void nowhere_for_answers(void)
{
    unsigned int flags = 7;
    init();
    see_result("count", cuDeviceGetCount(NULL));
    see_result("state", cuDevicePrimaryCtxGetState(0, &flags, NULL));
    see("state-flags", "%s", flags == 7 ? "untouched" : "written");
    create("a");
    see_result("current", cuCtxGetCurrent(NULL));
    see_result("flags", cuCtxGetFlags(NULL));
    see_result("stream-flags", cuStreamGetFlags(stream(STREAM_BLOCKING), NULL));
}

static void nowhere_for_things(void)
{
    init();
    create("a");
    see_result("context", cuCtxCreate_v2(NULL, 0, 0));
    see("current", "%s", who(current()));
    see_result("retain", cuDevicePrimaryCtxRetain(NULL, 0));
    see_result("memory", cuMemAlloc_v2(NULL, 64));
    see_result("pinned", cuMemAllocHost_v2(NULL, 64));
    see_result("stream", cuStreamCreate(NULL, 0));
    see_result("event", cuEventCreate(NULL, 0));
}

static void sizes(void)
{
    CUdeviceptr at = 7;
    void *host = NULL;
    size_t pitch = 7;
    init();
    create("a");
    see_result("memory", cuMemAlloc_v2(&at, 0));
    see_result("pitched-width", cuMemAllocPitch_v2(&at, &pitch, 0, 10, 4));
    see_result("pitched-element", cuMemAllocPitch_v2(&at, &pitch, 10, 10, 3));
    see_result("managed", cuMemAllocManaged(&at, 0, 1));
    see_result("pinned", cuMemAllocHost_v2(&host, 0));
    see("out", "%s", at == 7 && pitch == 7 && host == NULL ? "untouched" : "written");
}

static void flags(void)
{
    CUstream made = NULL;
    CUevent recorded = NULL;
    CUdeviceptr at = 0;
    void *host = NULL;
    init();
    create("a");
    see_result("stream", cuStreamCreate(&made, 2));
    see_result("event", cuEventCreate(&recorded, 0x40));
    see_result("event-interprocess-timing", cuEventCreate(&recorded, 4));
    see_result("managed", cuMemAllocManaged(&at, 64, 0));
    see_result("pinned", cuMemHostAlloc(&host, 64, 0x40));
    see_result("wait", cuStreamWaitEvent(stream(STREAM_BLOCKING), event(0), 7));
}

static void host_memory(void)
{
    CUdeviceptr at = 0;
    void *pageable = NULL;
    init();
    create("a");
    if (posix_memalign(&pageable, 4096, 4096) != 0)
        give_up("not reached: no memory");
    see_result("free", cuMemFreeHost(pageable));
    see_result("device-pointer", cuMemHostGetDevicePointer_v2(&at, pageable, 0));
    see_result("unregister", cuMemHostUnregister(pageable));
    see_result("register-nothing", cuMemHostRegister_v2(pageable, 0, 0));
    see_result("register", cuMemHostRegister_v2(pageable, 4096, 0));
    see_result("register-again", cuMemHostRegister_v2(pageable, 4096, 0));
    see_result("free-registered", cuMemFreeHost(pageable));
    see_result("unregister-registered", cuMemHostUnregister(pageable));
}

const struct experiment argument_experiments[] = {
    {"A1.answers", nowhere_for_answers, "count state state-flags current flags stream-flags"},
    {"A1.things", nowhere_for_things, "context current retain memory pinned stream event"},
    {"A2.sizes", sizes, "memory pitched-width pitched-element managed pinned out"},
    {"A2.flags", flags, "stream event event-interprocess-timing managed pinned wait"},
    {"A3.host", host_memory,
     "free device-pointer unregister register-nothing register register-again free-registered "
     "unregister-registered"},
    {NULL, NULL, NULL},
};
