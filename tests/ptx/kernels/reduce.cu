/* Reductions and votes. */
extern "C" __global__ void reduce_shared(const int *in, int *out, int n)
{
    extern __shared__ int parts[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    parts[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
        unsigned half = (left + 1) / 2;
        if (threadIdx.x < left / 2)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = parts[0];
}

static __device__ int add_warp(int value)
{
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_xor_sync(0xffffffff, value, by);
    return value;
}

/* Whole warps; the last thread of the last block sees all blocks done. */
extern "C" __global__ void reduce_shuffle(const int *in, int *out, unsigned *done, int n)
{
    __shared__ int parts[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = add_warp(sum);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = add_warp(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0);
        if (threadIdx.x == 0) {
            atomicAdd(&out[0], sum);
            __threadfence();
            if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1)
                out[1] = *(volatile int *)out * 2;
        }
    }
}

/* Tiles of 8 lanes, as cooperative groups divide a warp; the last warp is not full. */
extern "C" __global__ void reduce_tiles(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned mask = 0xffu << (lane / 8 * 8);
    int least = i < n ? in[i] : 0x7fffffff;
    for (int by = 4; by > 0; by /= 2)
        least = min(least, __shfl_down_sync(mask, least, by, 8));
    if (lane % 8 == 0 && i < n)
        out[i / 8] = least;
}

/* The largest value and the first place where it is. */
extern "C" __global__ void find_largest(const int *in, int *where, int n)
{
    __shared__ int values[128], places[128];
    int best = -0x7fffffff, place = -1;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] > best) {
            best = in[i];
            place = i;
        }
    values[threadIdx.x] = best;
    places[threadIdx.x] = place;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned t = 1; t < blockDim.x; t++)
        if (values[t] > best || (values[t] == best && places[t] < place)) {
            best = values[t];
            place = places[t];
        }
    where[0] = best;
    where[1] = place;
}

/* Votes of whole blocks. */
extern "C" __global__ void vote_blocks(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int positive = __syncthreads_count(i < n && in[i] > 0);
    int all = __syncthreads_and(i >= n || in[i] > -900);
    int any = __syncthreads_or(i < n && in[i] > 990);
    if (threadIdx.x == blockDim.x - 1) {
        out[3 * blockIdx.x] = positive;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = any != 0;
    }
}

/* Votes of warps in a loop that lanes leave at different times. */
extern "C" __global__ void vote_warps(const int *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned all = __ballot_sync(0xffffffff, i < n);
    unsigned found = 0;
    if (i < n) {
        unsigned odd = __ballot_sync(all, in[i] & 1);
        unsigned same = __match_any_sync(all, in[i] / 100);
        found = odd ^ same * 3;
        if (__all_sync(all, in[i] > -2000))
            found++;
        if (__any_sync(all, in[i] == in[0]))
            found += 5;
        out[i] = found;
    }
}

/* Largest and smallest by atomics, of floats as ordered integers. */
extern "C" __global__ void float_range(const float *in, int *range, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int bits = __float_as_int(in[i]);
    bits = bits < 0 ? bits ^ 0x7fffffff : bits;
    atomicMin(&range[0], bits);
    atomicMax(&range[1], bits);
}

#if __CUDA_ARCH__ >= 800
#define ADD_ALL(mask, value) __reduce_add_sync(mask, value)
#else
static __device__ int ADD_ALL(unsigned mask, int value)
{
    return add_warp(value);
}
#endif

/* redux on newer targets. */
extern "C" __global__ void reduce_warps(const int *in, int *out)
{
    int sum = ADD_ALL(0xffffffff, in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 31)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}
