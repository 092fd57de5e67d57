/* SPDX-License-Identifier: MIT */
/*
 * A cache that is filled late registers an exit handler that drops it. It comes before the handlers
 * of the driver; whether it comes before those of the modules that use the cache, nobody knows.
 *
 * expect: PROCESS-TEARDOWN
 * at: drop_cache
 * origin: first use_gpu
 * exit: 0
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
    atexit(drop_cache);
    return 0;
}
