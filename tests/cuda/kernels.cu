/* Six kernels, as people write them. tests/cuda/check_nvcc.c runs them and looks at the results. */
#define TILE 16

extern "C" __global__ void vector_add(const float *a, const float *b, float *sum, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sum[i] = a[i] + b[i];
}

/* Any number of blocks: each thread goes on at a distance of all of them. */
extern "C" __global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y,
                                 int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

/* The sum of each block, in shared memory. */
extern "C" __global__ void reduce(const int *values, int *sums, int count)
{
    extern __shared__ int part[];
    unsigned int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    part[thread] = i < (unsigned int)count ? values[i] : 0;
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half)
            part[thread] += part[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = part[0];
}

/* Counts bytes: in the block's own bins first. */
extern "C" __global__ void histogram(const unsigned char *bytes, unsigned int *bins, int count)
{
    __shared__ unsigned int own[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&own[bytes[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (own[bin] != 0)
            atomicAdd(&bins[bin], own[bin]);
}

/* c = a b, square, tile by tile; n need not be a multiple of the tile. */
extern "C" __global__ void matrix_product(const float *a, const float *b, float *c, int n)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += TILE) {
        int k = tile + threadIdx.x, l = tile + threadIdx.y;
        of_a[threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0.0f;
        of_b[threadIdx.y][threadIdx.x] = l < n && column < n ? b[l * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += of_a[threadIdx.y][i] * of_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

static __device__ unsigned int collatz(unsigned int value)
{
    unsigned int steps = 0;
    while (value > 1) {
        value = value % 2 != 0 ? 3 * value + 1 : value / 2;
        steps++;
    }
    return steps;
}

/* Lanes that go their own ways, and meet: of each warp the sum, the most, and who voted. */
extern "C" __global__ void warps(unsigned int *sums, unsigned int *most, unsigned int *votes,
                                 int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int steps = i < (unsigned int)count ? collatz(i + 1) : 0, sum = steps, highest = steps;
    unsigned int lane = threadIdx.x % warpSize, warp = i / warpSize;
    for (int distance = warpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
        highest = max(highest, __shfl_xor_sync(0xffffffffu, highest, distance));
    }
    unsigned int odd = __ballot_sync(0xffffffffu, steps % 2);
    if (lane == 0) {
        sums[warp] = sum;
        most[warp] = highest;
        votes[warp] = __popc(odd);
    }
}
