/* SPDX-License-Identifier: MIT */
/* The pointer that the allocation gave stays as it is until it is freed. */
#include "gpu.h"

enum { HEADER = 4, COUNT = 1000, BYTES = (HEADER + COUNT) * sizeof(int) };

NAMED void send(CUdeviceptr to)
{
    int *message;
    MUST(cuMemAllocHost((void **)&message, BYTES));
    int *squares = message + HEADER;
    message[0] = COUNT;
    for (int i = 0; i < COUNT; i++)
        squares[i] = i * i;
    MUST(cuMemcpyHtoD(to, message, BYTES));
    MUST(cuMemFreeHost(message));
}

int main(void)
{
    CUdeviceptr squares;
    use_gpu(0);
    MUST(cuMemAlloc(&squares, BYTES));
    send(squares);
    MUST(cuMemFree(squares));
    leave_gpu(0);
    return 0;
}
