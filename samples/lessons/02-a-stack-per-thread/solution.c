/* SPDX-License-Identifier: MIT */
/*
 * Lesson 2, exercise: one worker thread does three jobs, each in a context of its own. The second
 * job is empty. After each job the worker's stack has to be as it was before.
 *
 * Write between the two comments only. Check it: ctxrt lesson 2 --check
 */
#include "lesson.h"

#include <pthread.h>

enum { JOBS = 3 };

typedef struct job {
    CUcontext context;
    size_t bytes;
    unsigned char value;
} job;

/* Works in the current context. */
static void fill_buffer(const job *self)
{
    unsigned char byte = 0;
    CUdeviceptr buffer;
    MUST(cuMemAlloc(&buffer, self->bytes));
    MUST(cuMemsetD8(buffer, self->value, self->bytes));
    MUST(cuMemcpyDtoH(&byte, buffer, 1));
    printf("a buffer on GPU %d holds %d\n", gpu_of(buffer), byte);
    MUST(cuMemFree(buffer));
}

static void do_job(const job *self)
{
    /* ---- your lines begin ---- */
    MUST(cuCtxPushCurrent(self->context));
    if (self->bytes != 0)
        fill_buffer(self);
    MUST(cuCtxPopCurrent(NULL));
    /* ---- your lines end ---- */
}

static void *work(void *argument)
{
    const job *jobs = argument;
    CUcontext current;
    for (int i = 0; i < JOBS; i++) {
        do_job(&jobs[i]);
        MUST(cuCtxGetCurrent(&current));
        printf("after job %d the worker has %s\n", i, current == NULL ? "none" : "a context");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned char number = (unsigned char)number_of(argc, argv);
    job jobs[JOBS] = {{NULL, 64, number}, {NULL, 0, 0}, {NULL, 4096, number}};
    pthread_t worker;

    MUST(cuInit(0));
    for (int i = 0; i < JOBS; i++) {
        MUST(cuCtxCreate(&jobs[i].context, 0, i));
        MUST(cuCtxPopCurrent(NULL));
    }
    if (pthread_create(&worker, NULL, work, jobs) != 0)
        return 1;
    pthread_join(worker, NULL);
    for (int i = 0; i < JOBS; i++)
        MUST(cuCtxDestroy(jobs[i].context));
    return 0;
}
