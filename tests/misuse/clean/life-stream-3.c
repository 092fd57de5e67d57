/* SPDX-License-Identifier: MIT */
/*
 * A plug-in ends what it made in the primary context before it releases that.
 */
#include "gpu.h"

static CUstream stream;
static CUevent done;

NAMED void open_all(void)
{
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
}

NAMED void close_all(void)
{
    MUST(cuEventDestroy(done));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
}

int main(void)
{
    use_gpu(0);
    open_all();
    close_all();
    return 0;
}
