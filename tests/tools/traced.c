/*
 * A program for `ctxrt trace`: two contexts on two threads, work in two streams with an event
 * between them, and then the end that the argument names.
 */
#include "../standin/client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext first, second;
static CUstream one, other;
static CUevent event;
static CUdeviceptr memory;
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

static void begin(void)
{
    CUcontext popped;
    if (pipe(gate) != 0)
        exit(99);
    must(cuInit(0));
    must(cuCtxCreate_v2(&second, 0, 1));
    must(cuCtxPopCurrent_v2(&popped));
    must(cuCtxCreate_v2(&first, 0, 0));
    must(cuMemAlloc_v2(&memory, 4096));
    must(cuStreamCreate(&one, 1));
    must(cuStreamCreate(&other, 1));
    must(cuEventCreate(&event, 0));
}

/* The fill waits for the copy, which waits for the gate. */
static void work(void)
{
    char text[4096] = "";
    must(cuLaunchHostFunc(one, wait_for_byte, NULL));
    must(cuMemcpyHtoDAsync_v2(memory, text, sizeof text, one));
    must(cuEventRecord(event, one));
    must(cuStreamWaitEvent(other, event, 0));
    must(cuMemsetD8Async(memory, 7, 4096, other));
    if (write(gate[1], "x", 1) != 1)
        exit(99);
    must(cuStreamSynchronize(other));
    must(cuEventSynchronize(event));
}

static void *use_second(void *argument)
{
    CUcontext popped;
    (void)argument;
    (void)pthread_setname_np(pthread_self(), "worker");
    must(cuCtxPushCurrent_v2(second));
    must(cuCtxPushCurrent_v2(first));
    must(cuCtxPopCurrent_v2(&popped));
    must(cuCtxSetCurrent(first));
    must(cuCtxSetCurrent(NULL));
    (void)cuCtxSynchronize();
    return NULL;
}

static void use_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_second, NULL) != 0 || pthread_join(thread, NULL) != 0)
        exit(99);
}

static void misuse(void)
{
    must(cuStreamDestroy_v2(other));
    (void)cuStreamSynchronize(other);
}

static void fork_child(void)
{
    int status;
    CUcontext current;
    pid_t child = fork();
    if (child == 0) {
        (void)cuCtxGetCurrent(&current);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        exit(99);
}

static void say_ready(void *argument)
{
    puts("ready");
    fflush(stdout);
    wait_for_byte(argument);
}

/* Under CTXRT_EMU_SCHEDULE=lazy the function runs within the last call, which does not return. */
static void never_return(void)
{
    must(cuLaunchHostFunc(one, say_ready, NULL));
    must(cuStreamSynchronize(one));
}

static void call_often(const char *times)
{
    CUcontext current;
    for (long i = strtol(times, NULL, 10); i > 0; i--)
        must(cuCtxGetCurrent(&current));
}

static int end(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "kill") == 0)
        (void)kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "exec") == 0)
        (void)execl("/proc/self/exe", "traced", "return", (char *)NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    begin();
    work();
    use_thread();
    if (strcmp(how, "misuse") == 0)
        misuse();
    if (strcmp(how, "fork") == 0)
        fork_child();
    if (strcmp(how, "hang") == 0)
        never_return();
    if (argc > 2)
        call_often(argv[2]);
    return end(how);
}
