/* A default stream for each thread of the host, by the compiler's option; threads of the host do
 * not wait for each other. */
// nvcc: -default-stream per-thread
#include "program.cuh"

#include <thread>

enum { COUNT = 1000 };

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        __nanosleep(1000);
}

__global__ void square(int *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        values[i] *= values[i];
}

static void work(int *values, std::vector<int> *results)
{
    square<<<blocks_for(COUNT, 128), 128>>>(values);
    LAUNCHED();
    results->resize(COUNT);
    MUST(cudaMemcpyAsync(results->data(), values, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    MUST(cudaStreamSynchronize(0));
}

int main()
{
    int *flag;
    MUST(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    *flag = 0;
    std::vector<int> values = random_numbers(83).ints(COUNT, 1000), results;
    on_device<int> there(values);
    MUST(cudaDeviceSynchronize());
    wait_for<<<1, 1>>>(flag);
    LAUNCHED();
    std::thread other(work, (int *)there, &results);
    other.join(); /* while the kernel of this thread still waits */
    HOLDS(cudaStreamQuery(0) == cudaErrorNotReady);
    *(volatile int *)flag = 1;
    MUST(cudaStreamSynchronize(0));
    for (int &value : values)
        value *= value;
    same(results, values, "squares");
    MUST(cudaFreeHost(flag));
    return 0;
}
