/* SPDX-License-Identifier: MIT */
/* The program forks first, and each process initialises a driver of its own. */
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
    MUST(cuInit(0));
    return cuDeviceGet(&gpu, 0) == CUDA_SUCCESS ? 0 : 1;
}

int main(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    count_gpus();
    waitpid(child, &status, 0);
    return status;
}
