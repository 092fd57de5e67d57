/* SPDX-License-Identifier: MIT */
/*
 * Lesson 13, exercise: write cudaSetDevice yourself, with calls of the Driver API. The threads do
 * the rest of their work with the Runtime API, which uses the context that you make current.
 *
 * Write between the comments only, in three places. Check it: ctxrt lesson 13 --check
 */
#include "lesson_cudart.h"

#include <pthread.h>

enum { GPUS = 3, BYTES = 4096 };

typedef struct worker {
    pthread_t thread;
    int gpu, value;
    int own_gpu, visited_gpu, device, depth; /* what came of it */
} worker;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[GPUS]; /* NULL: not retained yet */

/* The primary context of the GPU is current afterwards, in the place of what was current before. It
 * is retained once for the process, however many threads and calls there are. */
static void set_device(int gpu)
{
    pthread_mutex_lock(&lock);
    /* ---- your lines begin ---- */
    if (contexts[gpu] == NULL)
        MUST(cuDevicePrimaryCtxRetain(&contexts[gpu], gpu));
    MUST(cuCtxSetCurrent(contexts[gpu]));
    /* ---- your lines end ---- */
    pthread_mutex_unlock(&lock);
}

/* Fills a buffer of the thread's device and reads it; returns the GPU that it was on. */
static int fill_buffer(int value)
{
    void *buffer;
    unsigned char byte = 0;
    MUST(cudaMalloc(&buffer, BYTES));
    MUST(cudaMemset(buffer, value, BYTES));
    MUST(cudaMemcpy(&byte, buffer, 1, cudaMemcpyDeviceToHost));
    int gpu = gpu_of_pointer(buffer);
    MUST(cudaFree(buffer));
    return byte == value ? gpu : -1;
}

/* Does the same on another GPU. The caller's device is afterwards what it was. */
static int visit(int gpu, int value)
{
    /* ---- your lines begin ---- */
    int before = -1;
    MUST(cudaGetDevice(&before));
    set_device(gpu);
    /* ---- your lines end ---- */
    int visited = fill_buffer(value);
    /* ---- your lines begin ---- */
    set_device(before);
    /* ---- your lines end ---- */
    return visited;
}

/* Counts the entries of the thread's stack, and takes them away: the thread is about to end. */
static int count_entries(void)
{
    CUcontext current = NULL;
    int count = 0;
    for (MUST(cuCtxGetCurrent(&current)); current != NULL; MUST(cuCtxGetCurrent(&current))) {
        MUST(cuCtxPopCurrent(NULL));
        count++;
    }
    return count;
}

static void *work(void *argument)
{
    worker *self = argument;
    set_device(self->gpu);
    self->own_gpu = fill_buffer(self->value);
    self->visited_gpu = visit((self->gpu + 1) % GPUS, self->value);
    MUST(cudaGetDevice(&self->device));
    self->depth = count_entries();
    return NULL;
}

int main(int argc, char **argv)
{
    worker workers[GPUS];
    int value = number_of(argc, argv);
    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++) {
        workers[i] = (worker){.gpu = i, .value = value};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < GPUS; i++) {
        worker *one = &workers[i];
        pthread_join(one->thread, NULL);
        printf("thread %d filled a buffer with %d on GPU %d and then on GPU %d, ", i, value,
               one->own_gpu, one->visited_gpu);
        printf("its device is %d, entries: %d\n", one->device, one->depth);
    }
    for (int i = 0; i < GPUS; i++)
        if (contexts[i] != NULL)
            MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
