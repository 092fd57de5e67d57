/*
 * A program for `ctxrt run --report`: contexts and memory of two devices, calls that fail, calls
 * that are not supported, 8 threads, and then the end that the argument names.
 */
#include "../standin/client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, CALLS = 1000 };

static const size_t mib = (size_t)1 << 20;
static int gate[2];

static void must(cxu_result result)
{
    if (result == CXU_SUCCESS)
        return;
    printf("result %d\n", (int)result);
    exit(99);
}

static void wait_for_byte(void *argument)
{
    char byte;
    (void)argument;
    if (read(gate[0], &byte, 1) != 1)
        abort();
}

static void use_memory(void)
{
    CUdeviceptr one, other;
    must(cuMemAlloc_v2(&one, 2 * mib));
    must(cuMemAlloc_v2(&other, 3 * mib));
    must(cuMemFree_v2(one));
    must(cuMemAlloc_v2(&one, mib));
    for (int i = 0; i < 2; i++)
        (void)cuMemAlloc_v2(&one, (size_t)1 << 50);
}

static void use_devices(void)
{
    CUcontext context, primary, popped;
    must(cuInit(0));
    must(cuCtxCreate_v2(&context, 0, 0));
    use_memory();
    must(cuDevicePrimaryCtxRetain(&primary, 1));
    must(cuDevicePrimaryCtxRetain(&primary, 1));
    must(cuCtxPushCurrent_v2(primary));
    must(cuMemAlloc_v2(&(CUdeviceptr){0}, 4 * mib));
    must(cuCtxPopCurrent_v2(&popped));
}

/* A query that is not ready is no failure. */
static void ask_too_early(void)
{
    must(cuLaunchHostFunc(NULL, wait_for_byte, NULL));
    if (cuStreamQuery(NULL) != CXU_NOT_READY || write(gate[1], "x", 1) != 1)
        exit(99);
    must(cuStreamSynchronize(NULL));
}

static void ask_too_much(void)
{
    CUcontext context;
    cxu_ctx_create_params params = {.cig = (void *)&params};
    if (cuCtxCreate_v4(&context, &params, 0, 0) != CXU_NOT_SUPPORTED)
        exit(99);
    for (int i = 0; i < 3; i++)
        if (cuTexRefCreate(NULL) != CXU_NOT_SUPPORTED)
            exit(99);
    (void)cuStreamDestroy_v2((CUstream)&context);
}

static void *call_often(void *argument)
{
    CUcontext current;
    for (int i = 0; i < CALLS; i++)
        must(cuCtxGetCurrent(&current));
    return argument;
}

static void use_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, call_often, NULL) != 0)
            exit(99);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
}

static void fork_child(void)
{
    int status;
    CUcontext current;
    pid_t child = fork();
    if (child == 0) {
        (void)cuCtxGetCurrent(&current);
        (void)cuCtxGetCurrent(&current);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        exit(99);
}

/* The command is told to end while this program waits. */
static void say_ready(void)
{
    puts("ready");
    fflush(stdout);
    wait_for_byte(NULL);
}

static int end(const char *how)
{
    if (strcmp(how, "fork") == 0)
        fork_child();
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "kill") == 0)
        (void)kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "hang") == 0)
        say_ready();
    if (strcmp(how, "exec") == 0)
        (void)execl("/proc/self/exe", "counted", "return", (char *)NULL);
    return 0;
}

int main(int argc, char **argv)
{
    if (pipe(gate) != 0)
        return 99;
    use_devices();
    ask_too_early();
    ask_too_much();
    use_threads();
    return end(argc > 1 ? argv[1] : "return");
}
