/* SPDX-License-Identifier: MIT */
/*
 * A program asks for the number of GPUs and then forks a worker. The driver of the parent is of no
 * use in the child: each call of the worker fails.
 *
 * expect: PROCESS-FORKED
 * at: work
 * origin: first count_gpus
 */
#include "gpu.h"

#include <sys/wait.h>
#include <unistd.h>

NAMED int count_gpus(void)
{
    int count;
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&count));
    return count;
}

NAMED int work(void)
{
    CUdevice gpu;
    return cuDeviceGet(&gpu, 0) == CUDA_SUCCESS ? 0 : 3;
}

int main(void)
{
    int status;
    printf("%d GPUs\n", count_gpus());
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    waitpid(child, &status, 0);
    return 0;
}
