/* T22, T23: memory and events with handles for other processes. */
#include "probes.h"
#include "steps.h"

#include <sys/wait.h>
#include <unistd.h>

enum { TIMELESS = 2, INTERPROCESS = 4, LAZY_ACCESS = 1 };

static void share_memory(void)
{
    CUipcHandle handle, none = {{0}};
    CUdeviceptr made = 0, ordered = 0, opened = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    need("cuMemAlloc", cuMemAlloc_v2(&made, 64 * KIB));
    see_result("null", cuIpcGetMemHandle(NULL, made));
    see_result("export", cuIpcGetMemHandle(&handle, made));
    see_result("export-inside", cuIpcGetMemHandle(&handle, made + 64));
    see_result("open", cuIpcOpenMemHandle_v2(&opened, handle, LAZY_ACCESS));
    see_result("open-flags", cuIpcOpenMemHandle_v2(&opened, handle, 0));
    see_result("open-none", cuIpcOpenMemHandle_v2(&opened, none, LAZY_ACCESS));
    see_result("close", cuIpcCloseMemHandle(made));
    cuMemFree_v2(made);
    see_result("freed", cuIpcGetMemHandle(&handle, made));
    need("cuMemAllocAsync", cuMemAllocAsync(&ordered, 64 * KIB, on));
    see_result("ordered", cuIpcGetMemHandle(&handle, ordered));
}

/* Another process has the memory until the pipe closes. */
static void export_to(int to, int until)
{
    CUipcHandle handle;
    CUdeviceptr made = 0;
    char end;
    if (cuInit(0) == SUCCESS && cuCtxCreate_v2(&(CUcontext){NULL}, 0, 0) == SUCCESS &&
        cuMemAlloc_v2(&made, 64 * KIB) == SUCCESS &&
        cuIpcGetMemHandle(&handle, made) == SUCCESS &&
        write(to, &handle, sizeof handle) == (ssize_t)sizeof handle)
        (void)!read(until, &end, 1);
    _exit(0);
}

static void close_twice(void)
{
    int told[2], until[2];
    CUipcHandle handle;
    CUdeviceptr opened = 0;
    if (pipe(told) != 0 || pipe(until) != 0)
        give_up("no pipe");
    pid_t other = fork();
    if (other == 0) {
        close(told[0]);
        close(until[1]);
        export_to(told[1], until[0]);
    }
    close(told[1]);
    close(until[0]);
    if (other < 0 || read(told[0], &handle, sizeof handle) != (ssize_t)sizeof handle)
        give_up("no other process exports memory");
    init();
    create("a");
    see_result("open", cuIpcOpenMemHandle_v2(&opened, handle, LAZY_ACCESS));
    see_result("close", cuIpcCloseMemHandle(opened));
    see_result("close-again", cuIpcCloseMemHandle(opened));
    close(until[1]);
    (void)waitpid(other, NULL, 0);
}

static void share_event(void)
{
    CUipcHandle handle, none = {{0}};
    CUevent plain = NULL, shared = NULL, opened = NULL;
    init();
    create("a");
    see_result("timed", cuEventCreate(&shared, INTERPROCESS));
    need("cuEventCreate", cuEventCreate(&plain, TIMELESS));
    need("cuEventCreate", cuEventCreate(&shared, INTERPROCESS | TIMELESS));
    see_result("plain", cuIpcGetEventHandle(&handle, plain));
    see_result("null", cuIpcGetEventHandle(NULL, shared));
    see_result("export", cuIpcGetEventHandle(&handle, shared));
    see_result("open", cuIpcOpenEventHandle(&opened, handle));
    see_result("open-none", cuIpcOpenEventHandle(&opened, none));
}

const struct experiment share_experiments[] = {
    {"T22.memory", share_memory,
     "null export export-inside open open-flags open-none close freed ordered"},
    {"T22.closed-twice", close_twice, "open close close-again"},
    {"T23.event", share_event, "timed plain null export open open-none"},
    {0},
};
