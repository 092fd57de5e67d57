/* SPDX-License-Identifier: MIT */
/*
 * A program asks for the number of GPUs and then forks a worker. The driver that the parent has
 * initialised is of no use in the child: every call of the worker fails.
 *
 * expect: PROCESS-FORKED
 * at: work
 * origin: first count_gpus
 */
#include "misuse.h"

#include <sys/wait.h>
#include <unistd.h>

NAMED void count_gpus(void)
{
    int count;
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&count));
    printf("%d GPUs\n", count);
}

NAMED int work(void)
{
    CUdevice gpu;
    return cuDeviceGet(&gpu, 0) == CUDA_SUCCESS ? 0 : 1;
}

int main(void)
{
    int status;
    count_gpus();
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    waitpid(child, &status, 0);
    return status;
}
