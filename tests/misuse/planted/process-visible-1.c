/* SPDX-License-Identifier: MIT */
/*
 * A program initialises the driver and then hides GPU 0 from it. The driver reads
 * CUDA_VISIBLE_DEVICES once, in cuInit: the program still sees all GPUs, and works on the first.
 *
 * expect: PROCESS-VISIBLE
 * at: count_gpus
 * origin: first main
 * exit: 0
 */
#include "misuse.h"

NAMED void choose_gpu(const char *option)
{
    setenv("CUDA_VISIBLE_DEVICES", option, 1);
}

NAMED void count_gpus(void)
{
    int count;
    MUST(cuDeviceGetCount(&count));
    printf("%d GPUs\n", count);
}

int main(void)
{
    MUST(cuInit(0));
    choose_gpu("1");
    count_gpus();
    return 0;
}
