/* SPDX-License-Identifier: MIT */
/*
 * A plug-in makes a stream and an event in the primary context and leaves them to its last release,
 * which ends them. If another module retains the context too, they stay as long as that does.
 *
 * options: --leaks
 * expect: LIFE-STREAM
 * at: open_all
 * origin: made open_all
 * origin: ended leave_gpu
 * says: stream 1 of GPU 0
 * says: it ended with its primary context, at the last release
 * expect: LIFE-EVENT
 * at: open_all
 * origin: made open_all
 * origin: ended leave_gpu
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
    leave_gpu(0);
}

int main(void)
{
    use_gpu(0);
    open_all();
    close_all();
    return 0;
}
