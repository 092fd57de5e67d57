/* SPDX-License-Identifier: MIT */
/*
 * A program asks and goes on with either answer: whether a pointer is the driver's, and whether
 * access to a peer was given before. Calls that fail in this way are no errors.
 */
#include "misuse.h"

NAMED int is_of_a_gpu(void *pointer)
{
    int device;
    CUresult result = cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                            (CUdeviceptr)(size_t)pointer);
    MUST(cuCtxSynchronize());
    return result == CUDA_SUCCESS;
}

NAMED void reach(CUcontext peer, CUdeviceptr memory)
{
    CUresult result = cuCtxEnablePeerAccess(peer, 0);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        exit(1);
    MUST(cuMemsetD8(memory, 0, 64));
    MUST(cuCtxSynchronize());
}

int main(void)
{
    CUcontext contexts[2];
    CUdeviceptr memory;
    char local[64];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuCtxCreate(&contexts[i], 0, i));
    MUST(cuMemAlloc(&memory, 64)); /* on the second GPU */
    printf("%d\n", is_of_a_gpu(local));
    MUST(cuCtxPushCurrent(contexts[0]));
    for (int i = 0; i < 2; i++)
        reach(contexts[1], memory);
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuMemFree(memory));
    for (int i = 2; i-- > 0;)
        MUST(cuCtxDestroy(contexts[i]));
    return 0;
}
