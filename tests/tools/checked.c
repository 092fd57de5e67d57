/*
 * A program for `ctxrt check`: each argument is a thing to do, in this order. Each misuse is in a
 * function of its name.
 */
#include "../standin/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEED __attribute__((noinline, noclone)) static void

static volatile int results; /* behind each call, so that none is a jump */
static CUcontext context;
static char **rest;     /* what is to do after this */
static const char *own; /* this program */

DEED begin(void)
{
    if (cuInit(0) != CXU_SUCCESS || cuCtxCreate_v2(&context, 0, 0) != CXU_SUCCESS)
        _exit(99);
}

/* ---- memory ---- */

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void *__libc_calloc(size_t count, size_t bytes); /* the C library's own */
static _Thread_local bool lacks_memory;

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return lacks_memory ? NULL : __libc_calloc(count, bytes);
}
#else
static bool lacks_memory;
#endif

/* The driver needs no memory for this; a layer does for a thread's first call. */
static void *ask_version(void *unused)
{
    int version;
    lacks_memory = true;
    results += (int)cuDriverGetVersion(&version);
    lacks_memory = false;
    return unused;
}

DEED lack_memory(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, ask_version, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(97);
}

/* ---- misuse ---- */

/* As a service of root does before it works. */
DEED become_other_user(void)
{
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
        exit(5);
}

DEED pop_empty(void)
{
    CUcontext popped;
    results += (int)cuCtxPopCurrent_v2(&popped);
    results += (int)cuCtxPopCurrent_v2(&popped);
    results += (int)cuCtxPushCurrent_v2(context);
}

/* A pop of an empty stack, five times from one place. */
DEED pop_often(void)
{
    CUcontext popped;
    results += (int)cuCtxPopCurrent_v2(&popped);
    for (int i = 0; i < 5; i++)
        results += (int)cuCtxPopCurrent_v2(&popped);
    results += (int)cuCtxPushCurrent_v2(context);
}

DEED begin_stream(CUstream *out_stream)
{
    if (cuStreamCreate(out_stream, 0) != CXU_SUCCESS)
        _exit(98);
}

DEED use_ended(void)
{
    CUstream stream;
    begin_stream(&stream);
    results += (int)cuStreamDestroy_v2(stream);
    results += (int)cuStreamQuery(stream);
}

DEED use_ended_again(void)
{
    CUstream stream;
    begin_stream(&stream);
    results += (int)cuStreamDestroy_v2(stream);
    results += (int)cuStreamQuery(stream);
}

DEED leave_stream(void)
{
    CUstream stream;
    results += (int)cuStreamCreate(&stream, 0);
}

DEED leave_many_events(void)
{
    CUevent event;
    for (int i = 0; i < 60000; i++)
        if (cuEventCreate(&event, 0) != CXU_SUCCESS)
            _exit(92);
}

DEED copy_pageable(void)
{
    CUdeviceptr memory;
    char *host = calloc(1, 4096);
    if (host == NULL || cuMemAlloc_v2(&memory, 4096) != CXU_SUCCESS ||
        cuMemcpyHtoDAsync_v2(memory, host, 4096, NULL) != CXU_SUCCESS ||
        cuCtxSynchronize() != CXU_SUCCESS || cuMemFree_v2(memory) != CXU_SUCCESS)
        _exit(97);
    free(host);
}

DEED clean(void)
{
    results += (int)cuCtxDestroy_v2(context);
}

/* ---- ends ---- */

DEED crash(void)
{
    volatile int *closed =
        mmap(NULL, sizeof *closed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *closed = 1;
}

/* A signal other than the handlers of a sanitizer. */
DEED die_of(int number)
{
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void execute_rest(void)
{
    char *arguments[32] = {(char *)own};
    for (int i = 1; i < 31 && *rest != NULL; i++)
        arguments[i] = *rest++;
    (void)execv(own, arguments);
    _exit(96);
}

static void do_all(void);

/* A child does what is left, and its parent goes on when it has ended. */
static void fork_rest(bool executes)
{
    pid_t child = fork();
    if (child == 0 && executes)
        execute_rest();
    if (child == 0) {
        do_all();
        exit(0);
    }
    (void)waitpid(child, NULL, 0);
    static char *nothing[] = {NULL};
    rest = nothing;
}

/* ---- threads ---- */

static pthread_barrier_t together;

static void *call_until_the_end(void *argument)
{
    CUstream stream;
    (void)argument;
    if (cuCtxPushCurrent_v2(context) != CXU_SUCCESS)
        _exit(95);
    pthread_barrier_wait(&together);
    for (;;)
        if (cuStreamCreate(&stream, 0) == CXU_SUCCESS)
            results += (int)cuStreamDestroy_v2(stream);
}

static void *exit_here(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&together);
    results += (int)cuCtxPushCurrent_v2(context);
    pop_empty();
    exit(7);
}

static void start_callers(unsigned others)
{
    pthread_t thread;
    pthread_barrier_init(&together, NULL, 4 + others);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread, NULL, call_until_the_end, NULL) != 0)
            _exit(94);
}

static void exit_from_thread(void)
{
    pthread_t thread;
    start_callers(2);
    if (pthread_create(&thread, NULL, exit_here, NULL) != 0)
        _exit(94);
    (void)call_until_the_end(NULL);
}

static void fork_many(void)
{
    start_callers(1);
    pthread_barrier_wait(&together);
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (child == 0) {
            pop_empty();
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    }
    _exit(0);
}

static void leave_main(void)
{
    pthread_exit(NULL);
}

/* ---- libraries ---- */

/* The program itself uses libcuda; one more handle is taken, and more given back than that. */
static void close_library(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (int i = 0; library != NULL && i < 2; i++)
        (void)dlclose(library);
}

/* ---- the outside ---- */

/* Says that it is there, and waits for a signal. */
static void wait_for_signal(void)
{
    (void)puts("waiting");
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}

typedef struct deed {
    const char *name;
    void (*perform)(void);
} deed;

static void be_killed(void)
{
    die_of(SIGKILL);
}

static void be_terminated(void)
{
    die_of(SIGTERM);
}

static void segfault(void)
{
    (void)signal(SIGSEGV, SIG_DFL);
    crash();
}

static void quick(void)
{
    quick_exit(5);
}

static void come_back(void)
{
}

static void at_once(void)
{
    _exit(6);
}

static void normally(void)
{
    exit(3);
}

static void fork_child(void)
{
    fork_rest(false);
}

static void spawn_child(void)
{
    fork_rest(true);
}

static const deed deeds[] = {
    {"begin", begin},
    {"lack_memory", lack_memory},
    {"other_user", become_other_user},
    {"pop_empty", pop_empty},
    {"pop_often", pop_often},
    {"use_ended", use_ended},
    {"use_ended_again", use_ended_again},
    {"leave_stream", leave_stream},
    {"leave_many_events", leave_many_events},
    {"copy_pageable", copy_pageable},
    {"clean", clean},
    {"kill", be_killed},
    {"term", be_terminated},
    {"segv", segfault},
    {"abort", abort},
    {"return", come_back},
    {"exit", normally},
    {"quick_exit", quick},
    {"_exit", at_once},
    {"exec", execute_rest},
    {"fork", fork_child},
    {"spawn", spawn_child},
    {"fork_many", fork_many},
    {"pthread_exit", leave_main},
    {"exit_from_thread", exit_from_thread},
    {"dlclose", close_library},
    {"wait", wait_for_signal},
};

static void do_all(void)
{
    while (*rest != NULL) {
        const char *name = *rest++;
        size_t i = 0;
        while (i < sizeof deeds / sizeof *deeds && strcmp(deeds[i].name, name) != 0)
            i++;
        if (i == sizeof deeds / sizeof *deeds)
            _exit(93);
        deeds[i].perform();
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    own = argv[0];
    rest = argv + 1;
    do_all();
    return 0;
}
