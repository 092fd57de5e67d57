/* SPDX-License-Identifier: MIT */
/* The program cleans up before it returns from main. */
#include "gpu.h"

static CUstream stream;

NAMED void clean_up(void)
{
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
}

int main(void)
{
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    clean_up();
    return 0;
}
