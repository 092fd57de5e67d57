/* SPDX-License-Identifier: MIT */
/* CUDA_VISIBLE_DEVICES is set before cuInit, which reads it. */
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
    choose_gpu("1");
    MUST(cuInit(0));
    printf("%d GPUs\n", count_gpus());
    return 0;
}
