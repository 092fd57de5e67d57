/* SPDX-License-Identifier: MIT */
/*
 * A worker is to use the sixth GPU of its machine and sets CUDA_VISIBLE_DEVICES for it, after the
 * driver has begun, goes by the old number, and does not look at what comes back.
 *
 * expect: PROCESS-VISIBLE
 * at: open_gpu
 * origin: first main
 * says: it was "" when the driver began
 * expect: IGNORED-ERROR
 * at: open_gpu
 * origin: next open_gpu
 * exit: 0
 * options: --notes
 */
#include "misuse.h"

NAMED CUcontext open_gpu(int number)
{
    CUcontext context;
    CUdevice gpu = 0;
    setenv("CUDA_VISIBLE_DEVICES", "5", 1);
    (void)cuDeviceGet(&gpu, number);
    MUST(cuDevicePrimaryCtxRetain(&context, gpu));
    return context;
}

int main(void)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    MUST(cuInit(0));
    puts(open_gpu(500) != NULL ? "open" : "not open");
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
