/* I1 to I5: before cuInit, cuInit, the end of the process, forks, ordinals. */
#include "probes.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void before_init(void)
{
    int count = -7;
    CUcontext context = (CUcontext)&count;
    see_result("device-count", cuDeviceGetCount(&count));
    see("device-count-out", "%s", count == -7 ? "untouched" : "written");
    see_result("get-current", cuCtxGetCurrent(&context));
    see("get-current-out", "%s", context == (CUcontext)&count ? "untouched" : "written");
    see_result("set-null", cuCtxSetCurrent(NULL));
    see_result("push-null", cuCtxPushCurrent_v2(NULL));
    see_result("pop", cuCtxPopCurrent_v2(&context));
    see_result("pop-null", cuCtxPopCurrent_v2(NULL));
    see_result("free-0", cuMemFree_v2(0));
    see_result("retain", cuDevicePrimaryCtxRetain(&context, 0));
    see_result("get-current-null-pointer", cuCtxGetCurrent(NULL));
    see_result("stream-synchronize", cuStreamSynchronize(NULL));
}

static void before_init_known(void)
{
    int version = 0, status = -7;
    const char *text = NULL;
    void *function = NULL;
    see_result("driver-version", cuDriverGetVersion(&version));
    see("driver-version-out", "%s", version > 0 ? "positive" : "not positive");
    see_result("error-name", cuGetErrorName(1, &text));
    see_result("error-string", cuGetErrorString(1, &text));
    see_result("error-name-unknown", cuGetErrorName(123456, &text));
    see("error-name-unknown-out", "%s", text == NULL ? "NULL" : "a text");
    see_result("proc-address", cuGetProcAddress_v2("cuInit", &function, 12000, 0, &status));
    see("proc-address-out", "%s", function != NULL ? "a function" : "NULL");
    see_result("proc-address-unknown",
               cuGetProcAddress_v2("cuNoSuchCall", &function, 12000, 0, &status));
}

static void init_flags(void)
{
    int count = 0;
    see_result("flags-1", cuInit(1));
    see_result("device-count-after-flags-1", cuDeviceGetCount(&count));
    see_result("flags-0", cuInit(0));
    see_result("device-count", cuDeviceGetCount(&count));
    see_result("again", cuInit(0));
    see_result("flags-1-after", cuInit(1));
    see_result("device-count-after", cuDeviceGetCount(&count));
}

static CUcontext left;
static CUstream left_stream;

static void late_calls(void)
{
    int count = -7;
    CUcontext context = (CUcontext)&count;
    know(context, "untouched");
    see_result("device-count", cuDeviceGetCount(&count));
    see("device-count-out", "%s", count == -7 ? "untouched" : "written");
    see_result("get-current", cuCtxGetCurrent(&context));
    see("get-current-out", "%s", who(context));
    see_alloc("alloc");
    see_result("stream-destroy", cuStreamDestroy_v2(left_stream));
    see_result("pop", cuCtxPopCurrent_v2(&context));
    see_result("destroy", cuCtxDestroy_v2(left));
    see_result("init", cuInit(0));
}

static void leave_context(void)
{
    init();
    names_ask();
    left = create("left");
    left_stream = stream(STREAM_BLOCKING);
}

static void last_handler(void)
{
    leave_context();
    atexit(late_calls);
}

static void first_handler(void)
{
    leave_context();
    last_words = late_calls;
}

static void in_destructor(void)
{
    leave_context();
    destructor = late_calls;
}

/* Runs a function in a forked child, and says how that child ended. */
static void fork_and(void (*run)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        run();
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        continue;
    if (WIFSIGNALED(status))
        see("child-end", "signal %d", WTERMSIG(status));
    else
        see("child-end", "exit %d", WEXITSTATUS(status));
}

static void calls_of_child(void)
{
    int count = 0, version = 0;
    CUcontext context = (CUcontext)&count;
    see_result("device-count", cuDeviceGetCount(&count));
    see_result("get-current", cuCtxGetCurrent(&context));
    see("get-current-out", "%s", context == (CUcontext)&count ? "untouched" : "written");
    see_alloc("alloc");
    see_result("free-0", cuMemFree_v2(0));
    see_result("set-null", cuCtxSetCurrent(NULL));
    see_result("retain", cuDevicePrimaryCtxRetain(&context, 0));
    see_result("driver-version", cuDriverGetVersion(&version));
    see_result("init", cuInit(0));
    see_result("device-count-after-init", cuDeviceGetCount(&count));
}

static void fork_after_init(void)
{
    init();
    names_ask();
    create("a");
    fork_and(calls_of_child);
    see_alloc("parent-alloc");
}

static void init_and_count(void)
{
    int count = 0;
    see_result("child-init", cuInit(0));
    see_result("child-device-count", cuDeviceGetCount(&count));
}

static void fork_before_init(void)
{
    fork_and(init_and_count);
    see_result("parent-init", cuInit(0));
}

static void ordinals(int bad)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    unsigned int flags = 0;
    int value = 0;
    char name[64];
    size_t bytes = 0;
    init();
    see_result("get", cuDeviceGet(&device, bad));
    see_result("retain", cuDevicePrimaryCtxRetain(&context, bad));
    see_result("release", cuDevicePrimaryCtxRelease_v2(bad));
    see_result("reset", cuDevicePrimaryCtxReset_v2(bad));
    see_result("set-flags", cuDevicePrimaryCtxSetFlags_v2(bad, 0));
    see_result("state", cuDevicePrimaryCtxGetState(bad, &flags, &value));
    see_result("peer", cuDeviceCanAccessPeer(&value, 0, bad));
    see_result("peer-first", cuDeviceCanAccessPeer(&value, bad, 0));
    see_result("peer-itself", cuDeviceCanAccessPeer(&value, 0, 0));
    see_result("name", cuDeviceGetName(name, sizeof name, bad));
    see_result("total-memory", cuDeviceTotalMem_v2(&bytes, bad));
    see_result("attribute", cuDeviceGetAttribute(&value, ATTRIBUTE_CAPABILITY_MAJOR, bad));
    see_result("create", cuCtxCreate_v2(&context, 0, bad));
    see_result("retain-null-pointer", cuDevicePrimaryCtxRetain(NULL, bad));
}

static void too_large(void)
{
    ordinals(9999);
}

static void negative(void)
{
    ordinals(-1);
}

#define LATE_WORDS                                                                                \
    "device-count device-count-out get-current get-current-out alloc stream-destroy pop destroy " \
    "init"
#define ORDINAL_WORDS                                                                         \
    "get retain release reset set-flags state peer peer-first peer-itself name total-memory " \
    "attribute create "                                                                       \
    "retain-null-pointer"

const struct experiment life_experiments[] = {
    {"I1.before-init", before_init,
     "device-count device-count-out get-current get-current-out set-null push-null pop pop-null "
     "free-0 retain "
     "get-current-null-pointer stream-synchronize"},
    {"I1.before-init-known", before_init_known,
     "driver-version driver-version-out error-name error-string error-name-unknown "
     "error-name-unknown-out "
     "proc-address proc-address-out proc-address-unknown"},
    {"I2.init", init_flags,
     "flags-1 device-count-after-flags-1 flags-0 device-count again flags-1-after "
     "device-count-after"},
    {"I3.last-handler", last_handler, LATE_WORDS},
    {"I3.first-handler", first_handler, LATE_WORDS},
    {"I3.destructor", in_destructor, LATE_WORDS},
    {"I4.fork-after-init", fork_after_init,
     "device-count get-current get-current-out alloc free-0 set-null retain driver-version init "
     "device-count-after-init child-end parent-alloc"},
    {"I4.fork-before-init", fork_before_init,
     "child-init child-device-count child-end parent-init"},
    {"I5.ordinal-too-large", too_large, ORDINAL_WORDS},
    {"I5.ordinal-negative", negative, ORDINAL_WORDS},
    {NULL, NULL, NULL},
};
