/* SPDX-License-Identifier: MIT */
/*
 * A thread makes a context on each GPU, asks for its memory and destroys them in the order in
 * which they were made. Only a context that is current leaves the stack when it is destroyed:
 * that of the first GPU stays below, and every later call of this thread would fail.
 *
 * expect: STACK-CREATE-LEFT
 * at: create
 * origin: pushed create
 * says: context 1 of GPU 0, pushed by stack-create-left-2
 */
#include "misuse.h"

#include <pthread.h>

enum { GPUS = 2 };
static CUcontext contexts[GPUS];

NAMED void create(int device)
{
    size_t unused, total;
    MUST(cuCtxCreate(&contexts[device], 0, device));
    MUST(cuMemGetInfo(&unused, &total));
    printf("GPU %d has %zu MiB\n", device, total >> 20);
}

NAMED void destroy(int device)
{
    MUST(cuCtxDestroy(contexts[device]));
}

NAMED void *survey(void *unused)
{
    for (int i = 0; i < GPUS; i++)
        create(i);
    for (int i = 0; i < GPUS; i++)
        destroy(i);
    return unused;
}

int main(void)
{
    pthread_t thread;
    MUST(cuInit(0));
    if (pthread_create(&thread, NULL, survey, NULL) == 0)
        pthread_join(thread, NULL);
    return 0;
}
