/* The default stream and blocking ones wait for each other, others do not: counted by what each
 * kernel saw. */
#include "program.cuh"

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        __nanosleep(500);
}

__global__ void write_to(int *place, int value)
{
    *place = value;
}

__global__ void copy_from(const int *place, int *seen)
{
    *seen = *place;
}

int main()
{
    int *flag, *free_one;
    cudaStream_t blocking, other, free_stream;
    MUST(cudaHostAlloc(&flag, 2 * sizeof *flag, cudaHostAllocMapped));
    flag[0] = flag[1] = 0;
    free_one = flag + 1;
    MUST(cudaStreamCreate(&blocking));
    MUST(cudaStreamCreate(&other));
    MUST(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));
    {
        on_device<int> places(3);
        MUST(cudaDeviceSynchronize());
        wait_for<<<1, 1, 0, blocking>>>(flag);
        write_to<<<1, 1, 0, blocking>>>(places, 41);
        copy_from<<<1, 1>>>(places, places + 1);         /* waits for the blocking stream */
        write_to<<<1, 1, 0, other>>>(places, 42);        /* waits for the default stream */
        write_to<<<1, 1, 0, free_stream>>>(free_one, 7); /* waits for nobody */
        LAUNCHED();
        MUST(cudaStreamSynchronize(free_stream));
        HOLDS(*(volatile int *)free_one == 7);
        HOLDS(cudaStreamQuery(0) == cudaErrorNotReady &&
              cudaStreamQuery(other) == cudaErrorNotReady);
        HOLDS(cudaGetLastError() == cudaErrorNotReady);
        *(volatile int *)flag = 1;
        MUST(cudaStreamSynchronize(other));
        copy_from<<<1, 1>>>(places, places + 2);
        LAUNCHED();
        same(places.read(), {42, 41, 42}, "what was seen");
    }
    MUST(cudaStreamDestroy(blocking));
    MUST(cudaStreamDestroy(other));
    MUST(cudaStreamDestroy(free_stream));
    MUST(cudaFreeHost(flag));
    return 0;
}
