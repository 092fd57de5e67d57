/* SPDX-License-Identifier: MIT */
/*
 * A library frees its cache in a destructor, which runs after main has returned. The driver may
 * have ended before: whether the call works depends on the order in which libraries end.
 *
 * module: yes
 * expect: PROCESS-TEARDOWN
 * at: free_cache
 * exit: 0
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

__attribute__((destructor)) void free_cache(void)
{
    (void)cuMemFree(cache);
}
#else
int main(void)
{
    use_gpu(0);
    fill_cache();
    return 0;
}
#endif
