/* SPDX-License-Identifier: MIT */
/*
 * A program registers its clean-up with atexit before it opens the GPU. Exit handlers run in
 * reverse, so that the clean-up comes after those of the driver.
 *
 * expect: PROCESS-TEARDOWN
 * at: clean_up
 * origin: first use_gpu
 * says: the driver was initialised, by process-teardown-2
 * exit: 0
 */
#include "gpu.h"

#include <stdlib.h>

static CUstream stream;

NAMED void clean_up(void)
{
    (void)cuStreamDestroy(stream);
}

int main(void)
{
    atexit(clean_up);
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return 0;
}
