/* SPDX-License-Identifier: MIT */
/*
 * The library has a function that frees its cache, and the program calls it before main returns.
 *
 * module: yes
 */
#include "gpu.h"

void fill_cache(void);
void free_cache(void);

#ifdef MODULE
static CUdeviceptr cache;

void free_cache(void)
{
    MUST(cuMemFree(cache));
    cache = 0;
}

void fill_cache(void)
{
    MUST(cuMemAlloc(&cache, 4096));
    MUST(cuMemsetD8(cache, 0, 4096));
}
#else
int main(void)
{
    use_gpu(0);
    fill_cache();
    free_cache();
    leave_gpu(0);
    return 0;
}
#endif
