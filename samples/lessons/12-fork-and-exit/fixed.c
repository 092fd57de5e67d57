/* SPDX-License-Identifier: MIT */
/*
 * Lesson 12: a program starts the driver, forks, and lets the child do the work. Each process
 * starts the driver for itself, after the fork.
 */
#include "lesson.h"

#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 64 };

static void work(const char *process)
{
    CUcontext context;
    CUdeviceptr buffer;
    CUresult result = cuCtxCreate(&context, 0, 0);
    printf("%s: creating a context gives %s\n", process, name_of(result));
    if (result != CUDA_SUCCESS)
        return;
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    pid_t child = fork();
    if (child == 0) {
        MUST(cuInit(0));
        work("child");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    MUST(cuInit(0));
    work("parent");
    return 0;
}
