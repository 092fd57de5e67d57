/* SPDX-License-Identifier: MIT */
/*
 * A loop over all GPUs fetches the result of each in the context of that GPU. The last sum is
 * made on one GPU, which has been given access to the memory of the other.
 */
#include "misuse.h"

enum { GPUS = 2 };
static CUcontext contexts[GPUS];
static CUdeviceptr results[GPUS];

NAMED void prepare(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAlloc(&results[device], sizeof(int)));
    MUST(cuMemsetD32(results[device], (unsigned)device, 1));
    MUST(cuCtxSynchronize());
}

NAMED int fetch(int device)
{
    int result;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemcpyDtoH(&result, results[device], sizeof result));
    MUST(cuCtxPopCurrent(NULL));
    return result;
}

NAMED void end(int device)
{
    MUST(cuMemFree(results[device]));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(device));
}

int main(void)
{
    int sum = 0;
    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        prepare(i);
    }
    for (int i = 0; i < GPUS; i++)
        sum += fetch(i);
    MUST(cuCtxEnablePeerAccess(contexts[0], 0));
    MUST(cuMemsetD32(results[0], (unsigned)sum, 1));
    MUST(cuCtxSynchronize());
    for (int i = GPUS; i-- > 0;)
        end(i);
    printf("%d\n", sum);
    return 0;
}
