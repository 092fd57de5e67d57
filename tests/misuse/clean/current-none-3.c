/* SPDX-License-Identifier: MIT */
/*
 * A library asks whether its caller has a context current, by the call for the device of the
 * current one, and makes the primary context of GPU 0 current where the answer is no.
 */
#include "gpu.h"

NAMED int current_device(CUdevice *device)
{
    CUresult result = cuCtxGetDevice(device);
    if (result != CUDA_SUCCESS)
        MUST(cuDeviceGet(device, 0)); /* in the same function: the failure was an answer */
    return result == CUDA_SUCCESS;
}

NAMED CUdeviceptr allocate(size_t bytes)
{
    CUdevice device;
    CUdeviceptr memory;
    if (!current_device(&device))
        use_gpu(device);
    MUST(cuMemAlloc(&memory, bytes));
    return memory;
}

int main(void)
{
    CUdeviceptr memory[2];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        memory[i] = allocate(4096);
    for (int i = 0; i < 2; i++)
        MUST(cuMemFree(memory[i]));
    leave_gpu(0);
    return 0;
}
