/* SPDX-License-Identifier: MIT */
/* The program forks first; each process initialises a driver of its own. */
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
    MUST(cuInit(0));
    return cuDeviceGet(&gpu, 0) == CUDA_SUCCESS ? 0 : 3;
}

int main(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    printf("%d GPUs\n", count_gpus());
    waitpid(child, &status, 0);
    return status;
}
