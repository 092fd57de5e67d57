/* SPDX-License-Identifier: MIT */
/*
 * Lesson 13: main chooses GPU 1 and makes a stream there. A worker thread chooses it, too, gets the
 * memory and fills it.
 */
#include "lesson_cudart.h"

#include <pthread.h>

enum { BYTES = 4096 };

static cudaStream_t stream; /* of GPU 1 */

static void *work(void *argument)
{
    void *picture;
    int device;
    (void)argument;
    MUST(cudaSetDevice(1));            /* each thread for itself */
    MUST(cudaMalloc(&picture, BYTES)); /* meant for GPU 1 */
    MUST(cudaGetDevice(&device));
    printf("the worker's device is %d\n", device);
    printf("the picture is on GPU %d\n", gpu_of_pointer(picture));
    cudaError_t error = cudaMemsetAsync(picture, 255, BYTES, stream);
    printf("making the picture white: %s\n", cudaGetErrorName(error));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaFree(picture));
    return NULL;
}

int main(void)
{
    pthread_t worker;
    int device;
    MUST(cudaSetDevice(1));
    MUST(cudaStreamCreate(&stream));
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    MUST(cudaGetDevice(&device));
    printf("main's device is %d\n", device);
    MUST(cudaStreamDestroy(stream));
    return 0;
}
