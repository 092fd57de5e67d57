/* SPDX-License-Identifier: MIT */
/*
 * A library frees its cache in a destructor, which runs after main has returned. By then the
 * driver may be gone too: whether the call works depends on the order in which libraries end.
 *
 * expect: PROCESS-TEARDOWN
 * at: free_cache
 * exit: 0
 * module: yes
 */
#include "gpu.h"

void fill_cache(void);

#ifdef MODULE
static CUdeviceptr cache;

__attribute__((destructor)) static void free_cache(void)
{
    if (cache != 0)
        (void)cuMemFree(cache);
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
    return 0;
}
#endif
