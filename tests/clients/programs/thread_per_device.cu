/* A thread of the host for each GPU: each has its own device and streams, and they meet to add up
 * their parts. */
#include "program.cuh"

#include <thread>

enum { COUNT = 6000 };

__global__ void square_sum(const int *values, int count, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        mine += (unsigned long long)values[i] * values[i];
    atomicAdd(sum, mine);
}

static void work(int device, const int *values, int count, unsigned long long *result)
{
    int current;
    MUST(cudaSetDevice(device));
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    {
        on_device<int> there(std::vector<int>(values, values + count));
        on_device<unsigned long long> sum(1);
        MUST(cudaDeviceSynchronize());
        square_sum<<<4, 64, 0, stream>>>(there, count, sum);
        LAUNCHED();
        MUST(cudaStreamSynchronize(stream));
        *result = sum.read()[0];
    }
    MUST(cudaStreamDestroy(stream));
    MUST(cudaGetDevice(&current));
    HOLDS(current == device);
}

int main()
{
    int devices, current;
    MUST(cudaGetDeviceCount(&devices));
    std::vector<int> values = random_numbers(63).ints(COUNT, 10000);
    std::vector<unsigned long long> results(devices);
    std::vector<std::thread> threads;
    unsigned long long sum = 0, expected = 0;
    for (int value : values)
        expected += (unsigned long long)value * value;
    for (int i = 0; i < devices; i++) {
        int from = i * COUNT / devices, to = (i + 1) * COUNT / devices;
        threads.emplace_back(work, i, &values[from], to - from, &results[i]);
    }
    for (std::thread &thread : threads)
        thread.join();
    for (unsigned long long result : results)
        sum += result;
    same<unsigned long long>({sum}, {expected}, "sum of squares");
    MUST(cudaGetDevice(&current));
    HOLDS(current == 0);
    return 0;
}
