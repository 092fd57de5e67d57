/* SPDX-License-Identifier: MIT */
/*
 * The library tests for the driver when it is asked, which the program does once it has chosen.
 *
 * module: yes
 */
#include "gpu.h"

#include <stdlib.h>

int has_driver(void);

#ifdef MODULE
int has_driver(void)
{
    return cuInit(0) == CUDA_SUCCESS;
}
#else
NAMED CUdevice open_gpu(void)
{
    CUdevice gpu;
    MUST(cuDeviceGet(&gpu, 0));
    return gpu;
}

int main(void)
{
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    if (!has_driver())
        return 2;
    printf("device %d\n", (int)open_gpu());
    return 0;
}
#endif
