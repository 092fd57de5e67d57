/* A ring of GPUs: each adds its number to an array and copies it to the next; then a kernel reads
 * another GPU's memory. */
#include "program.cuh"

__global__ void add(int *values, int number)
{
    values[threadIdx.x] += number + (int)threadIdx.x;
}

__global__ void take(int *mine, const int *theirs)
{
    mine[threadIdx.x] = theirs[threadIdx.x] * 2;
}

int main()
{
    int devices, can;
    const size_t bytes = 256 * sizeof(int);
    MUST(cudaGetDeviceCount(&devices));
    HOLDS(devices >= 2);
    std::vector<int *> arrays(devices);
    for (int i = 0; i < devices; i++) {
        MUST(cudaSetDevice(i));
        MUST(cudaMalloc(&arrays[i], bytes));
        MUST(cudaMemset(arrays[i], 0, bytes));
        MUST(cudaDeviceSynchronize());
    }
    std::vector<int> expected(256), found(256);
    for (int i = 0; i < devices; i++) {
        MUST(cudaSetDevice(i));
        add<<<1, 256>>>(arrays[i], i + 1);
        LAUNCHED();
        MUST(cudaMemcpyPeer(arrays[(i + 1) % devices], (i + 1) % devices, arrays[i], i, bytes));
        MUST(cudaDeviceSynchronize());
        for (int j = 0; j < 256; j++)
            expected[j] += i + 1 + j;
    }
    MUST(cudaMemcpy(found.data(), arrays[0], bytes, cudaMemcpyDefault));
    same(found, expected, "sums around the ring");

    MUST(cudaSetDevice(1));
    MUST(cudaDeviceCanAccessPeer(&can, 1, 0));
    HOLDS(can);
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    HOLDS(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
    HOLDS(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled);
    take<<<1, 256>>>(arrays[1], arrays[0]);
    LAUNCHED();
    MUST(cudaMemcpy(found.data(), arrays[1], bytes, cudaMemcpyDeviceToHost));
    for (int &value : expected)
        value *= 2;
    same(found, expected, "read from a peer");
    MUST(cudaDeviceDisablePeerAccess(0));
    for (int i = 0; i < devices; i++) {
        MUST(cudaSetDevice(i));
        MUST(cudaFree(arrays[i]));
    }
    return 0;
}
