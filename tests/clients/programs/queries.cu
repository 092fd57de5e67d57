/* What a program asks before it works: devices, attributes, occupancy, functions and pointers; the
 * answers agree. */
#include "program.cuh"

#include <cstring>

__global__ __launch_bounds__(256) void scale(float *values, float factor)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
    values[blockIdx.x * blockDim.x + threadIdx.x] = factor * tile[threadIdx.x];
}

int main()
{
    int count, device, value, runtime, driver, blocks, size, least;
    MUST(cudaGetDeviceCount(&count));
    MUST(cudaRuntimeGetVersion(&runtime));
    MUST(cudaDriverGetVersion(&driver));
    HOLDS(count > 0 && runtime <= driver && runtime == CUDART_VERSION);
    cudaDeviceProp like{}, properties;
    MUST(cudaGetDeviceProperties(&properties, count - 1));
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, count - 1));
    HOLDS(value == properties.multiProcessorCount && properties.warpSize == 32);
    like.major = properties.major;
    MUST(cudaChooseDevice(&device, &like));
    MUST(cudaSetDevice(device));
    MUST(cudaGetDevice(&value));
    HOLDS(value == device);
    char name[20];
    MUST(cudaDeviceGetPCIBusId(name, sizeof name, device));
    MUST(cudaDeviceGetByPCIBusId(&value, name));
    HOLDS(value == device);

    cudaFuncAttributes of;
    MUST(cudaFuncGetAttributes(&of, scale));
    HOLDS(of.sharedSizeBytes == 256 * sizeof(float) && of.maxThreadsPerBlock == 256 &&
          of.ptxVersion >= 75);
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
    HOLDS(blocks > 0 && blocks * 256 <= properties.maxThreadsPerMultiProcessor);
    MUST(cudaOccupancyMaxPotentialBlockSize(&least, &size, scale, 0, 0));
    HOLDS(size > 0 && size <= 256 && least >= properties.multiProcessorCount);

    size_t available, all, less;
    MUST(cudaMemGetInfo(&available, &all));
    HOLDS(all == properties.totalGlobalMem);
    on_device<float> values(std::vector<float>(1 << 20, 2.f));
    MUST(cudaMemGetInfo(&less, &all));
    HOLDS(available - less >= 4 << 20);
    cudaPointerAttributes pointer;
    MUST(cudaPointerGetAttributes(&pointer, values + 100));
    HOLDS(pointer.type == cudaMemoryTypeDevice && pointer.device == device &&
          pointer.devicePointer == values + 100);
    MUST(cudaPointerGetAttributes(&pointer, &count));
    HOLDS(pointer.type == cudaMemoryTypeUnregistered);
    scale<<<16, 256>>>(values, 1.5f);
    LAUNCHED();
    std::vector<float> expected(1 << 20, 2.f);
    std::fill(expected.begin(), expected.begin() + 16 * 256, 3.f);
    same(values.read(), expected, "scaled");
    HOLDS(strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0);
    return 0;
}
