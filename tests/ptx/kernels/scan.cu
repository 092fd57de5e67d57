/* Scans and what is made of them. */

/* Inclusive, of a block of whole warps. */
extern "C" __global__ void scan_warps(const int *in, int *out)
{
    __shared__ int totals[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, value = in[i];
    for (int by = 1; by < 32; by *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, by);
        if (lane >= by)
            value += other;
    }
    if (lane == 31)
        totals[threadIdx.x / 32] = value;
    __syncthreads();
    for (unsigned warp = 0; warp < threadIdx.x / 32; warp++)
        value += totals[warp];
    out[i] = value;
}

/* Exclusive, of a power of two, two values for each thread. */
extern "C" __global__ void scan_tree(const unsigned *in, unsigned *out, int n)
{
    extern __shared__ unsigned tree[];
    int thread = threadIdx.x, offset = 1;
    tree[2 * thread] = in[2 * thread];
    tree[2 * thread + 1] = in[2 * thread + 1];
    for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (thread < d)
            tree[offset * (2 * thread + 2) - 1] += tree[offset * (2 * thread + 1) - 1];
    }
    if (thread == 0)
        tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (thread < d) {
            int left = offset * (2 * thread + 1) - 1, right = offset * (2 * thread + 2) - 1;
            unsigned value = tree[left];
            tree[left] = tree[right];
            tree[right] += value;
        }
    }
    __syncthreads();
    out[2 * thread] = tree[2 * thread];
    out[2 * thread + 1] = tree[2 * thread + 1];
}

/* Over all blocks: each waits for the sum that the block before it publishes. */
extern "C" __global__ void scan_chained(const int *in, int *out, volatile int *sums,
                                        volatile int *ready, int n)
{
    __shared__ int before;
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = blockIdx.x * blockDim.x; k <= i && k < n; k++)
        sum += in[k];
    if (threadIdx.x == blockDim.x - 1) {
        before = 0;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0)
                ;
            before = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = before + sum;
        __threadfence();
        ready[blockIdx.x] = 1;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + sum;
}

/* Keeps what is positive, in order within a warp. */
extern "C" __global__ void compact(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
    bool keep = i < n && in[i] > 0;
    unsigned kept = __ballot_sync(__activemask(), keep);
    if (lane == __ffs(kept) - 1)
        base = atomicAdd(count, __popc(kept));
    base = __shfl_sync(__activemask(), base, kept ? __ffs(kept) - 1 : 0);
    if (keep)
        out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}

/* Lengths of runs: each thread that begins one walks to its end. */
extern "C" __global__ void find_runs(const unsigned char *in, int *lengths, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (i > 0 && in[i - 1] == in[i]))
        return;
    int end = i + 1;
    while (end < n && in[end] == in[i])
        end++;
    lengths[i] = end - i;
}
