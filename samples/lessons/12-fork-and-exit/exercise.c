/* SPDX-License-Identifier: MIT */
/*
 * Lesson 12, exercise: main is to let a child process work, work itself, and leave nothing to the
 * end of the process: destructors and exit handlers come too late for calls of the driver. Put the
 * calls into an order that is right in both processes.
 *
 * Write between the two comments only. Check it: ctxrt lesson 12 --check
 */
#include "lesson.h"

#include <sys/wait.h>
#include <unistd.h>

static CUcontext context;

static void start(void)
{
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
}

static void stop(void)
{
    MUST(cuCtxDestroy(context));
    context = NULL;
}

static void work(const char *process, int number)
{
    unsigned char byte = 0;
    CUdeviceptr buffer;
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemsetD8(buffer, (unsigned char)number, 64));
    MUST(cuMemcpyDtoH(&byte, buffer, 1));
    MUST(cuMemFree(buffer));
    printf("%s: the buffer holds %d\n", process, byte);
}

/* Forks, lets the child do everything, and waits for its end; the child does not return. */
static void run_child(int number)
{
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        start();
        work("child", number);
        stop();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("parent: the child ended %s\n", status == 0 ? "well" : "badly");
}

int main(int argc, char **argv)
{
    int number = number_of(argc, argv);
    /* ---- your lines begin ---- */
    start();
    (void)atexit(stop);
    run_child(number);
    work("parent", number);
    /* ---- your lines end ---- */
    printf("main ends with %s\n", context == NULL ? "nothing left" : "a context left");
    return 0;
}
