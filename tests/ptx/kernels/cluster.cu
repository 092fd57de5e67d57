/* Blocks of a cluster: barriers, and each other's shared memory. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* A histogram whose bins are spread over the blocks of a cluster; each cluster adds its own to `bins`. */
extern "C" __global__ void spread_bins(const unsigned *in, int *bins, int n, int bins_of_block)
{
    extern __shared__ int own[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x)
        own[i] = 0;
    cluster.sync();
    int stride = gridDim.x * blockDim.x, count = bins_of_block * cluster.num_blocks();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int bin = in[i] % count;
        atomicAdd(cluster.map_shared_rank(own, bin / bins_of_block) + bin % bins_of_block, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * bins_of_block + i], own[i]);
}

/* Values go around: each block reads those of the next one. The barrier is in two halves. */
extern "C" __global__ void __cluster_dims__(3, 1, 1) go_around(int *values, int rounds)
{
    __shared__ int stages[2][64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, done = 0;
    stages[0][t] = values[i];
    cluster.sync();
    for (int round = 0; round < rounds; round++) {
        const int *other = cluster.map_shared_rank(stages[round % 2], (cluster.block_rank() + 1) % 3);
        stages[1 - round % 2][t] = other[(t + 1) % blockDim.x] + 1;
        auto token = cluster.barrier_arrive();
        done = done * 3 + round;
        cluster.barrier_wait(static_cast<decltype(token) &&>(token));
    }
    values[i] = stages[rounds % 2][t] + done;
    cluster.sync();
}

/* Sums of tiles: the first block of each cluster collects them. */
extern "C" __global__ void sum_tiles(const float *in, float *out, int width, int height)
{
    __shared__ float sums[128];
    cg::cluster_group cluster = cg::this_cluster();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int t = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    sums[t] = x < width && y < height ? in[y * width + x] : 0;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step && t + step < threads)
            sums[t] += sums[t + step];
        __syncthreads();
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && t == 0) {
        float sum = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
            sum += *cluster.map_shared_rank(sums, rank);
        dim3 size = cluster.dim_blocks();
        out[blockIdx.y / size.y * (gridDim.x / size.x) + blockIdx.x / size.x] = sum;
    }
    cluster.sync();
}

/* The places of threads and blocks in their cluster. */
extern "C" __global__ void tell_places(unsigned *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    dim3 block = cluster.block_index(), size = cluster.dim_blocks(), thread = cluster.thread_index();
    unsigned at = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned *own = out + (at * blockDim.x + threadIdx.x) * 12, cx, cy, cz, nx;
    __shared__ unsigned anchor;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(cy));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(cz));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
    own[0] = block.x;
    own[1] = block.y;
    own[2] = block.z;
    own[3] = size.x * 100 + size.y * 10 + size.z;
    own[4] = cluster.block_rank();
    own[5] = cluster.num_blocks() * 1000 + cluster.num_threads();
    own[6] = cluster.thread_rank();
    own[7] = thread.x;
    own[8] = cx * 10000 + cy * 100 + cz;
    own[9] = nx * 10 + __clusterDimIsSpecified();
    unsigned *last = cluster.map_shared_rank(&anchor, cluster.num_blocks() - 1);
    own[10] = cluster.query_shared_rank(last) * 10 + cluster.query_shared_rank(&anchor);
    own[11] = __isClusterShared(last) * 1000 + __isClusterShared(&anchor) * 100 + __isShared(last) * 10 + __isShared(&anchor);
    cluster.sync();
}

static __device__ unsigned shared_address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

/* Each block writes into the next one's memory and arrives at its mbarrier. */
extern "C" __global__ void hand_on(int *out, int rounds)
{
    __shared__ unsigned long long full[2];
    __shared__ int box[2][48];
    int t = threadIdx.x, sum = 0;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks(), rank = cluster.block_rank();
    if (t < 2)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&full[t])), "r"(blockDim.x));
    asm volatile("fence.mbarrier_init.release.cluster;");
    cluster.sync();
    for (int round = 0; round < rounds; round++) {
        unsigned to, barrier, done = 0;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(&box[round % 2][t])), "r"(next));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_address(&full[round % 2])), "r"(next));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"((int)(rank * 100 + t + round)) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
        while (!done)
            asm volatile("{\n\t.reg .pred p;\n\t"
                         "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(done) : "r"(shared_address(&full[round % 2])), "r"(round / 2 & 1) : "memory");
        sum = sum * 3 + ((volatile int *)box[round % 2])[(t + 1) % blockDim.x];
        cluster.sync();
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}

/* Threads that have ended are waited for by nobody. */
extern "C" __global__ void leave_early(int *out)
{
    __shared__ int value;
    if (threadIdx.x % 3 == 2)
        return;
    if (threadIdx.x == 0)
        value = blockIdx.x * 7 + 1;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    unsigned rank = __clusterRelativeBlockRank(), count = __clusterSizeInBlocks();
    int *other = (int *)__cluster_map_shared_rank(&value, count - 1 - rank);
    out[blockIdx.x * blockDim.x + threadIdx.x] = *other;
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
}
