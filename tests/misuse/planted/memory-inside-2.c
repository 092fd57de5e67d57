/* SPDX-License-Identifier: MIT */
/*
 * The program moves its pointer to pinned memory behind a header, and frees that pointer in the
 * end: it is no longer the address that the allocation gave. The memory stays allocated and pinned.
 *
 * expect: MEMORY-INSIDE
 * at: send
 * origin: made send
 * says: 4016 bytes of pinned memory belongs to the primary context of GPU 0
 */
#include "gpu.h"

enum { HEADER = 4, COUNT = 1000, BYTES = (HEADER + COUNT) * sizeof(int) };

NAMED void send(CUdeviceptr to)
{
    int *message;
    MUST(cuMemAllocHost((void **)&message, BYTES));
    message[0] = COUNT;
    message += HEADER;
    for (int i = 0; i < COUNT; i++)
        message[i] = i * i;
    MUST(cuMemcpyHtoD(to, message - HEADER, BYTES));
    (void)cuMemFreeHost(message);
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
