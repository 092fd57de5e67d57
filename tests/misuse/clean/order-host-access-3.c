/* SPDX-License-Identifier: MIT */
/*
 * The host reads what a copy reads, writes and fills the other half of the buffer meanwhile, and
 * leaves the rest to functions that the stream calls before and behind its copies.
 *
 * options: --host
 * driver: lazy threads random:1
 */
#include "gpu.h"

#include <fcntl.h>
#include <unistd.h>

enum { HALF = 65536 };

static void bring(void *buffer)
{
    int zero = open("/dev/zero", O_RDONLY);
    if (zero < 0 || read(zero, buffer, HALF) != HALF)
        exit(4);
    (void)close(zero);
}

static int sum(const unsigned char *buffer)
{
    int all = 0;
    for (int i = 0; i < HALF; i++)
        all += buffer[i];
    return all;
}

static void look(void *buffer)
{
    printf("%d\n", sum(buffer));
}

int main(void)
{
    CUdeviceptr memory;
    CUstream stream;
    void *buffer;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocHost(&buffer, 2 * HALF));
    MUST(cuMemAlloc(&memory, HALF));
    bring(buffer);
    MUST(cuMemcpyHtoDAsync(memory, buffer, HALF, stream));
    bring((char *)buffer + HALF);
    look(buffer);
    MUST(cuStreamSynchronize(stream));
    MUST(cuLaunchHostFunc(stream, bring, buffer));
    MUST(cuMemcpyHtoDAsync(memory, buffer, HALF, stream));
    MUST(cuMemcpyDtoHAsync(buffer, memory, HALF, stream));
    MUST(cuLaunchHostFunc(stream, look, buffer));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(memory));
    MUST(cuMemFreeHost(buffer));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
