/* SPDX-License-Identifier: MIT */
/*
 * A thread counts what it has done in a record that was in managed memory once and is in
 * stream-ordered memory now.
 *
 * expect: MEMORY-HOST-FAULT
 * origin: fault count_one
 * origin: made make_record
 */
#include "gpu.h"

#include <pthread.h>

typedef struct record {
    int done, failed;
} record;

NAMED record *make_record(void)
{
    CUdeviceptr memory;
    MUST(cuMemAllocAsync(&memory, sizeof(record), NULL));
    MUST(cuMemsetD8(memory, 0, sizeof(record)));
    return (record *)memory;
}

NAMED void *count_one(void *argument)
{
    ((volatile record *)argument)->done = 1;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    use_gpu(0);
    record *one = make_record();
    if (pthread_create(&thread, NULL, count_one, one) != 0)
        return MISUSE_CANNOT;
    pthread_join(thread, NULL);
    MUST(cuMemFree((CUdeviceptr)one));
    leave_gpu(0);
    return 0;
}
