/* SPDX-License-Identifier: MIT */
/* The program unregisters the memory and then frees it with free. */
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
    MUST(cuMemHostUnregister(samples));
    free(samples);
}

int main(void)
{
    use_gpu(0);
    drop_samples(make_samples());
    leave_gpu(0);
    return 0;
}
