/* SPDX-License-Identifier: MIT */
/*
 * A cache that is filled late is dropped before main returns.
 */
#include "gpu.h"

#include <stdlib.h>

static CUdeviceptr cache;

NAMED void drop_cache(void)
{
    (void)cuMemFree(cache);
}

NAMED void fill_cache(void)
{
    MUST(cuMemAlloc(&cache, 4096));
    MUST(cuMemsetD8(cache, 0, 4096));
}

int main(void)
{
    use_gpu(0);
    fill_cache();
    drop_cache();
    leave_gpu(0);
    return 0;
}
