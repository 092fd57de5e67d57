/* Managed memory: a list that host and device walk by the same pointers, advice, prefetches, and a
 * managed variable. */
#include "program.cuh"

#include <new>

struct managed {
    static void *operator new(size_t bytes)
    {
        void *memory;
        MUST(cudaMallocManaged(&memory, bytes));
        return memory;
    }
    static void operator delete(void *memory)
    {
        MUST(cudaFree(memory));
    }
};

struct link : managed {
    int value;
    link *next;
    link(int value, link *next) : value(value), next(next)
    {
    }
};

__managed__ int sum = 5;

__global__ void walk(link *list)
{
    for (; list != nullptr; list = list->next) {
        sum += list->value;
        list->value = -list->value;
    }
}

__global__ void raise(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i]++;
}

static cudaError_t prefetch(void *memory, size_t bytes, int device)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation location{};
    location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device < 0 ? 0 : device;
    return cudaMemPrefetchAsync(memory, bytes, location, 0, 0);
#else
    return cudaMemPrefetchAsync(memory, bytes, device, 0);
#endif
}

int main()
{
    link *list = nullptr;
    int expected = sum;
    for (int i = 0; i < 40; i++) {
        list = new link(i * i, list);
        expected += i * i;
    }
    walk<<<1, 1>>>(list);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    HOLDS(sum == expected);
    while (list != nullptr) {
        link *next = list->next;
        sum += list->value;
        delete list;
        list = next;
    }
    HOLDS(sum == 5);

    const int count = 5000;
    int *values;
    MUST(cudaMallocManaged(&values, count * sizeof *values));
    for (int i = 0; i < count; i++)
        values[i] = i;
    MUST(prefetch(values, count * sizeof *values, 0));
    raise<<<blocks_for(count, 256), 256>>>(values, count);
    LAUNCHED();
    MUST(prefetch(values, count * sizeof *values, cudaCpuDeviceId));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        HOLDS(values[i] == i + 1);
    MUST(cudaFree(values));
    return 0;
}
