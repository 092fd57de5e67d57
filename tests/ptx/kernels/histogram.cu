/* Histograms. */
extern "C" __global__ void count_globally(const unsigned char *in, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}

extern "C" __global__ void count_in_blocks(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (mine[b])
            atomicAdd(&bins[b], mine[b]);
}

/* Each thread counts 16 bins for itself, in an array that it indexes. */
extern "C" __global__ void count_privately(const unsigned char *in, unsigned *bins, int n)
{
    unsigned short mine[16] = {0};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine[in[i] & 15]++;
    for (int b = 0; b < 16; b++)
        atomicAdd(&bins[b], mine[b]);
}

/* The first lane of those with the same value counts for all of them. */
extern "C" __global__ void count_by_match(const unsigned char *in, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned same = __match_any_sync(__activemask(), in[i] >> 4);
    if (threadIdx.x % 32 == (unsigned)__ffs(same) - 1)
        atomicAdd(&bins[in[i] >> 4], __popc(same));
}

/* The value below which so many are: a search over the sums of bins. */
extern "C" __global__ void find_quantiles(const unsigned *bins, const unsigned *ranks,
                                          int *quantiles, int n)
{
    __shared__ unsigned sums[257];
    if (threadIdx.x == 0) {
        sums[0] = 0;
        for (int b = 0; b < 256; b++)
            sums[b + 1] = sums[b] + bins[b];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int low = 0, high = 256;
        while (low < high) {
            int middle = (low + high) / 2;
            if (sums[middle + 1] > ranks[i])
                high = middle;
            else
                low = middle + 1;
        }
        quantiles[i] = low;
    }
}
