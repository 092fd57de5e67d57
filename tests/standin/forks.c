/* Forks beside threads that work, with whatever layers and library behind the environment names.
 * Prints how many children were well. */
#include "client.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2, FORKS = 40, FILLS = 40 };

static CUcontext context;
static atomic_long rounds;
static atomic_bool stop;

static void must(cxu_result result)
{
    if (result == CXU_SUCCESS)
        return;
    printf("result %d\n", (int)result);
    exit(99);
}

static void *work(void *unused)
{
    CUdeviceptr memory;
    CUstream stream;
    must(cuCtxSetCurrent(context));
    must(cuMemAlloc_v2(&memory, 4096));
    must(cuStreamCreate(&stream, CXU_STREAM_NON_BLOCKING));
    while (!atomic_load(&stop)) {
        for (int i = 0; i < FILLS; i++)
            must(cuMemsetD8Async(memory, 1, 16, stream));
        must(cuStreamSynchronize(stream));
        atomic_fetch_add(&rounds, 1);
    }
    must(cuStreamDestroy_v2(stream));
    must(cuMemFree_v2(memory));
    return unused;
}

/* Each fork finds the threads further on. */
static bool fork_once(void)
{
    CUcontext current;
    int status = -1;
    long before = atomic_load(&rounds);
    while (atomic_load(&rounds) < before + WORKERS)
        sched_yield();
    pid_t child = fork();
    if (child == 0)
        _exit(cuCtxGetCurrent(&current) == CXU_NOT_INITIALIZED ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    pthread_t threads[WORKERS];
    int well = 0;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 99;
    for (int i = 0; i < FORKS; i++)
        well += fork_once();
    atomic_store(&stop, true);
    for (int i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    must(cuDevicePrimaryCtxRelease_v2(0));
    printf("%d of %d children were well\n", well, FORKS);
    return well == FORKS ? 0 : 1;
}
