/* A library with kernels that a program opens, uses, closes and opens again: its variables are then
 * new. */
// plugin: yes
#include "program.cuh"

#include <dlfcn.h>

typedef int work(int *values, int count);

__device__ int calls = 100;

__global__ void add_one(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i]++;
    if (i == 0)
        calls++;
}

int main()
{
    const int count = 200;
    std::vector<int> values = random_numbers(76).ints(count, 100);
    on_device<int> there(values);
    for (int round = 0; round < 2; round++) {
        void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            fprintf(stderr, "%s\n", dlerror());
        HOLDS(library != NULL);
        work *triple = (work *)dlsym(library, "triple");
        HOLDS(triple != NULL && triple(there, count) == 1 && triple(there, count) == 2);
        add_one<<<2, 128>>>(there, count);
        LAUNCHED();
        MUST(cudaDeviceSynchronize());
        HOLDS(dlclose(library) == 0);
    }
    for (int &value : values)
        value = (value * 9 + 1) * 9 + 1;
    same(there.read(), values, "values");
    int counted;
    MUST(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    HOLDS(counted == 102);
    return 0;
}
