/* SPDX-License-Identifier: MIT */
/*
 * The program initialises the driver, reads its options, and then hides all GPUs but the second.
 * The driver reads CUDA_VISIBLE_DEVICES once, in cuInit: the program works on the first GPU.
 *
 * expect: PROCESS-VISIBLE
 * at: count_gpus
 * origin: first main
 * exit: 0
 */
#include "gpu.h"

#include <stdlib.h>

NAMED void choose_gpu(const char *option)
{
    setenv("CUDA_VISIBLE_DEVICES", option, 1);
}

NAMED int count_gpus(void)
{
    int count;
    MUST(cuDeviceGetCount(&count));
    return count;
}

int main(void)
{
    MUST(cuInit(0));
    choose_gpu("1");
    printf("%d GPUs\n", count_gpus());
    return 0;
}
