/* Values of 16 bytes: loads, stores and atomic operations on all of them at once (sm_90). */

struct __align__(16) pair {
    unsigned long long low, high;
};

/* Each thread adds to both halves, by compare-and-swap. */
extern "C" __global__ void add_pairs(pair *sum, const pair *in, int n)
{
#if __CUDA_ARCH__ >= 900
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    pair old = {0, 0};
    for (;;) {
        pair next = {old.low + in[i].low, old.high ^ in[i].high}, found = atomicCAS(sum, old, next);
        if (found.low == old.low && found.high == old.high)
            break;
        old = found;
    }
#endif
}

/* A pair goes from thread to thread: each gets one that another has left. */
extern "C" __global__ void pass_pairs(pair *place, const pair *in, pair *out, int n)
{
#if __CUDA_ARCH__ >= 900
    __shared__ pair own;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        own = pair{blockIdx.x, 0};
    __syncthreads();
    if (i < n) {
        out[i] = atomicExch(&own, in[i]);
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[n + blockIdx.x] = atomicExch(place, own);
#endif
}

/* Readers never see halves of two writers. */
extern "C" __global__ void watch_pairs(pair *place, int *wrong, int rounds)
{
#if __CUDA_ARCH__ >= 900
    for (int round = 0; round < rounds; round++) {
        unsigned long long low = (blockIdx.x * blockDim.x + threadIdx.x) * 1000 + round, high = ~low;
        asm volatile("{\n\t.reg .b128 q;\n\tmov.b128 q, {%1, %2};\n\tst.relaxed.gpu.global.b128 [%0], q;\n\t}" ::"l"(place),
                     "l"(low), "l"(high)
                     : "memory");
        asm volatile("{\n\t.reg .b128 q;\n\tld.relaxed.gpu.global.b128 q, [%2];\n\tmov.b128 {%0, %1}, q;\n\t}"
                     : "=l"(low), "=l"(high)
                     : "l"(place)
                     : "memory");
        if (low != ~high)
            atomicAdd(wrong, 1);
    }
#endif
}

/* Sums and products of 128 bits, and copies through registers of that size. */
extern "C" __global__ void compute_pairs(const unsigned __int128 *a, const unsigned __int128 *b, unsigned __int128 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned __int128 x = a[i], y = b[i];
#if __CUDA_ARCH__ >= 900
    asm("{\n\t.reg .b64 l, h;\n\tmov.b128 {l, h}, %1;\n\tmov.b128 %0, {h, l};\n\t}" : "=q"(x) : "q"(x));
    asm("ld.global.nc.b128 %0, [%1];" : "=q"(y) : "l"(b + i));
#else
    x = x << 64 | x >> 64;
#endif
    out[i] = x * y + (x ^ y) / 3;
}
