/* SPDX-License-Identifier: MIT */
/* The program sets CUDA_VISIBLE_DEVICES before it calls cuInit. */
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
    choose_gpu("1");
    MUST(cuInit(0));
    count_gpus();
    return 0;
}
