/* SPDX-License-Identifier: MIT */
/* A flag lies in registered memory; the program asks whether its copy is done, and never waits. */
#include "gpu.h"

static int flag_of_host;

NAMED int poll_flag(CUstream stream)
{
    return cuStreamQuery(stream) == CUDA_SUCCESS ? flag_of_host : -1;
}

int main(void)
{
    CUdeviceptr flag;
    CUstream stream;
    int value;
    use_gpu(0);
    MUST(cuMemHostRegister(&flag_of_host, sizeof flag_of_host, 0));
    MUST(cuMemAlloc(&flag, sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD32Async(flag, 1, 1, stream));
    MUST(cuMemcpyDtoHAsync(&flag_of_host, flag, sizeof(int), stream));
    do
        value = poll_flag(stream);
    while (value < 0);
    printf("the flag is %d\n", value);
    MUST(cuMemHostUnregister(&flag_of_host));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(flag));
    leave_gpu(0);
    return 0;
}
