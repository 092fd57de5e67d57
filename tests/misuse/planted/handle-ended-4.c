/* SPDX-License-Identifier: MIT */
/*
 * A scheduler waits for the events of two stages at one place. Each stage has destroyed its own:
 * that these are two mistakes, at two places, is what its reader has to know.
 *
 * expect: HANDLE-ENDED
 * at: wait_for
 * origin: made read_stage
 * origin: ended end_reading
 * expect: HANDLE-ENDED
 * at: wait_for
 * origin: made write_stage
 * origin: ended end_writing
 */
#include "gpu.h"

static CUevent read, written;

NAMED void read_stage(void)
{
    MUST(cuEventCreate(&read, CU_EVENT_DISABLE_TIMING));
}

NAMED void write_stage(void)
{
    MUST(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
}

NAMED void end_reading(void)
{
    MUST(cuEventDestroy(read));
}

NAMED void end_writing(void)
{
    MUST(cuEventDestroy(written));
}

NAMED int wait_for(CUevent event)
{
    return cuEventSynchronize(event) == CUDA_SUCCESS;
}

int main(void)
{
    CUevent *events[] = {&read, &written};
    int over = 0;
    use_gpu(0);
    read_stage();
    write_stage();
    end_reading();
    end_writing();
    for (int i = 0; i < 2; i++)
        over += wait_for(*events[i]);
    printf("%d of 2 are over\n", over);
    leave_gpu(0);
    return 0;
}
