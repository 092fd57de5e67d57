/* An array that grows in place: addresses are reserved by the driver's calls, and the runtime's
 * kernels use them. */
// nvcc: -lcuda
#include "program.cuh"

#include <cuda.h>

#define DRIVER(call) HOLDS((call) == CUDA_SUCCESS)

__global__ void fill(int *values, int from, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        values[from + i] = 3 * (from + i);
}

int main()
{
    MUST(cudaFree(0));
    CUmemAllocationProp how{};
    how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    how.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t unit;
    DRIVER(cuMemGetAllocationGranularity(&unit, &how, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    const int parts = 3, each = (int)(unit / sizeof(int));
    CUdeviceptr room;
    DRIVER(cuMemAddressReserve(&room, parts * unit, 0, 0, 0));
    CUmemAccessDesc access{};
    access.location = how.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < parts; i++) {
        CUmemGenericAllocationHandle memory;
        DRIVER(cuMemCreate(&memory, unit, &how, 0));
        DRIVER(cuMemMap(room + i * unit, unit, 0, memory, 0));
        DRIVER(cuMemSetAccess(room + i * unit, unit, &access, 1));
        DRIVER(cuMemRelease(memory));
        fill<<<4, 64>>>((int *)room, i * each + each - 1000, 1000); /* the end of each part */
        LAUNCHED();
    }
    std::vector<int> found(1000), expected(1000);
    for (int i = 0; i < parts; i++) {
        int from = i * each + each - 1000;
        MUST(cudaMemcpy(found.data(), (int *)room + from, 1000 * sizeof(int), cudaMemcpyDefault));
        for (int j = 0; j < 1000; j++)
            expected[j] = 3 * (from + j);
        same(found, expected, "a part's end");
    }
    MUST(cudaDeviceSynchronize());
    DRIVER(cuMemUnmap(room, parts * unit));
    DRIVER(cuMemAddressFree(room, parts * unit));
    return 0;
}
