/* SPDX-License-Identifier: MIT */
/*
 * cuMemHostRegister pins memory that malloc gave. The program ends it with cuMemFreeHost, which
 * frees what cuMemAllocHost gave and nothing else: the memory stays pinned, and is leaked.
 *
 * expect: MEMORY-FOREIGN
 * at: drop_samples
 * origin: made make_samples
 */
#include "gpu.h"

#include <stdlib.h>

enum { BYTES = 1 << 16 };

NAMED void *make_samples(void)
{
    void *samples = malloc(BYTES);
    MUST(cuMemHostRegister(samples, BYTES, 0));
    return samples;
}

NAMED void drop_samples(void *samples)
{
    (void)cuMemFreeHost(samples);
}

int main(void)
{
    use_gpu(0);
    drop_samples(make_samples());
    leave_gpu(0);
    return 0;
}
