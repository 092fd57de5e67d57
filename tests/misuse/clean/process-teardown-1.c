/* SPDX-License-Identifier: MIT */
/*
 * The program calls the function that frees the cache before main returns.
 *
 * module: yes
 */
#include "gpu.h"

void fill_cache(void);
void free_cache(void);

#ifdef MODULE
static CUdeviceptr cache;

void fill_cache(void)
{
    MUST(cuMemAlloc(&cache, 4096));
    MUST(cuMemsetD8(cache, 0, 4096));
}

void free_cache(void)
{
    (void)cuMemFree(cache);
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
