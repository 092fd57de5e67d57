/* Two histograms of bytes: atomic additions in global memory, and in each block's own shared memory
 * first. */
#include "program.cuh"

__global__ void count_global(const unsigned char *bytes, int count, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(bins + bytes[i], 1u);
}

__global__ void count_shared(const unsigned char *bytes, int count, unsigned *bins)
{
    extern __shared__ unsigned mine[];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(mine + bytes[i], 1u);
    __syncthreads();
    if (mine[threadIdx.x] > 0)
        atomicAdd(bins + threadIdx.x, mine[threadIdx.x]);
}

int main()
{
    const int count = 40000;
    std::vector<unsigned char> bytes(count);
    std::vector<unsigned> expected(256);
    random_numbers random(4);
    for (unsigned char &byte : bytes) {
        byte = (unsigned char)(random.below(16) * random.below(16));
        expected[byte]++;
    }
    on_device<unsigned char> there(bytes);
    on_device<unsigned> global(256), shared(256);
    count_global<<<8, 256>>>(there, count, global);
    LAUNCHED();
    count_shared<<<8, 256, 256 * sizeof(unsigned)>>>(there, count, shared);
    LAUNCHED();
    same(global.read(), expected, "bins in global memory");
    same(shared.read(), expected, "bins in shared memory");
    return 0;
}
