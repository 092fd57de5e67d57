/* SPDX-License-Identifier: MIT */
/*
 * A loop over all GPUs fetches the result of each and forgets to make its context current. All
 * copies go by the GPU of the last one, and wait for that GPU alone.
 *
 * expect: CURRENT-OTHER-DEVICE
 * at: fetch
 * origin: made prepare
 * origin: pushed prepare
 * says: 4 bytes of device memory belongs to the primary context of GPU 0
 * says: current there: the primary context of GPU 1, pushed by current-other-device-2
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
    MUST(cuMemcpyDtoH(&result, results[device], sizeof result));
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
    for (int i = GPUS; i-- > 0;)
        end(i);
    printf("%d\n", sum);
    return 0;
}
