/* SPDX-License-Identifier: MIT */
/*
 * A program registers memory that malloc gave, and ends this with cuMemFreeHost. That call frees
 * only what cuMemAllocHost allocated: it fails, the memory stays pinned, and it is never freed.
 *
 * expect: MEMORY-FOREIGN
 * at: drop_samples
 * origin: made make_samples
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void *make_samples(void)
{
    void *samples = malloc(BYTES);
    MUST(cuMemHostRegister(samples, BYTES, 0));
    return samples;
}

NAMED void drop_samples(void *samples)
{
    if (cuMemFreeHost(samples) != CUDA_SUCCESS)
        fputs("the samples stay\n", stderr);
}

int main(void)
{
    use_gpu(0);
    drop_samples(make_samples());
    leave_gpu(0);
    return 0;
}
