/* SPDX-License-Identifier: MIT */
/*
 * A library tests in its constructor whether there is a driver, and by that initialises it, before
 * main can choose the GPU of this worker with CUDA_VISIBLE_DEVICES.
 *
 * expect: PROCESS-VISIBLE
 * at: open_gpu
 * origin: first probe
 * says: it was "" when the driver began
 * exit: 0
 * module: yes
 */
#include "gpu.h"

#include <stdlib.h>

int has_driver(void);

#ifdef MODULE
static int found;

__attribute__((constructor)) static void probe(void)
{
    found = cuInit(0) == CUDA_SUCCESS;
}

int has_driver(void)
{
    return found;
}
#else
NAMED CUdevice open_gpu(const char *worker)
{
    CUdevice gpu;
    setenv("CUDA_VISIBLE_DEVICES", worker, 1);
    MUST(cuInit(0));
    MUST(cuDeviceGet(&gpu, 0));
    return gpu;
}

int main(void)
{
    if (!has_driver())
        return 2;
    printf("device %d\n", (int)open_gpu("1"));
    return 0;
}
#endif
