/* What sm_80 and later add, written in PTX. */

/* Reductions of a warp in one instruction. */
extern "C" __global__ void reduce_all(const unsigned *in, unsigned *out)
{
    unsigned value = in[blockIdx.x * blockDim.x + threadIdx.x], mask = 0xffffffff, results[6];
    asm("redux.sync.add.u32 %0, %1, %2;" : "=r"(results[0]) : "r"(value), "r"(mask));
    asm("redux.sync.min.u32 %0, %1, %2;" : "=r"(results[1]) : "r"(value), "r"(mask));
    asm("redux.sync.max.s32 %0, %1, %2;" : "=r"(results[2]) : "r"(value), "r"(mask));
    asm("redux.sync.and.b32 %0, %1, %2;" : "=r"(results[3]) : "r"(value | 0xff0), "r"(mask));
    asm("redux.sync.or.b32 %0, %1, %2;" : "=r"(results[4]) : "r"(value & 0xff0), "r"(mask));
    asm("redux.sync.xor.b32 %0, %1, %2;" : "=r"(results[5]) : "r"(value), "r"(mask));
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < 6; k++)
            out[(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 6 + k] = results[k];
}

static __device__ unsigned shared_address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

/* Tiles come into shared memory while the one before is added: two stages. */
extern "C" __global__ void copy_ahead(const int *in, int *out, int tiles)
{
    __shared__ __align__(16) int stages[2][64 * 4];
    int t = threadIdx.x, sum = 0;
    const int *from = in + blockIdx.x * tiles * 256 + 4 * t;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;"
                 :: "r"(shared_address(&stages[0][4 * t])), "l"(from));
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                         :: "r"(shared_address(&stages[(tile + 1) % 2][4 * t])), "l"(from + (tile + 1) * 256));
        asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < 4; k++)
            sum = sum * 5 + stages[tile % 2][(4 * t + 4 + k) % 256];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}

static __device__ void arrive(unsigned long long *barrier)
{
    asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0];\n\t}"
                 :: "r"(shared_address(barrier)) : "memory");
}

static __device__ void await(unsigned long long *barrier, int parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
}

/* Barriers in shared memory: one half of the block produces, the other consumes. */
extern "C" __global__ void hand_over(int *out, int rounds)
{
    __shared__ unsigned long long full, empty;
    __shared__ int box[64];
    int half = blockDim.x / 2, t = threadIdx.x % half, sum = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(&full)), "r"(half));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(&empty)), "r"(half));
    }
    __syncthreads();
    for (int round = 0; round < rounds; round++)
        if (threadIdx.x < half) {
            if (round > 0)
                await(&empty, round - 1 & 1);
            box[t] = round * 100 + t;
            arrive(&full);
        } else {
            await(&full, round & 1);
            sum = sum * 3 + ((volatile int *)box)[(t + 1) % half];
            arrive(&empty);
        }
    if (threadIdx.x >= half)
        out[t] = sum;
}

/* bfloat16 in pairs. */
extern "C" __global__ void multiply_brains(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *out,
                                           int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(value) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    asm("max.bf16x2 %0, %0, %1;" : "+r"(value) : "r"(c[i]));
    out[i] = value;
}

/* Sums of halves by atomic operations, alone and in pairs; whole numbers up to 2048 are exact. */
extern "C" __global__ void add_small(unsigned short *half, unsigned *pair, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned short one;
    unsigned ones;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(one) : "r"(i % 5));
    asm volatile("red.global.add.noftz.f16 [%0], %1;" :: "l"(half), "h"(one) : "memory");
    asm("mov.b32 %0, {%1, %1};" : "=r"(ones) : "h"(one));
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(pair), "r"(ones) : "memory");
}

/* All blocks wait for each other, as grids of cooperative launches do. */
extern "C" __global__ void meet(int *values, unsigned *arrived, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; round++) {
        int next = ((volatile int *)values)[(round % 2) * n + (i + 1) % n] + 1;
        ((volatile int *)values)[(1 - round % 2) * n + i] = next;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1u);
            while (*(volatile unsigned *)arrived < gridDim.x * (round + 1))
                ;
        }
        __syncthreads();
    }
}

/* One lane of the warp is elected, and speaks for all. */
extern "C" __global__ void elect_one(unsigned *out)
{
#if __CUDA_ARCH__ >= 900
    unsigned leader, elected;
    asm volatile("{\n\t.reg .pred p;\n\telect.sync %0|p, %2;\n\tselp.u32 %1, 1, 0, p;\n\t}"
                 : "=r"(leader), "=r"(elected) : "r"(0xffffffffu));
    if (elected)
        atomicAdd(out, 1u);
    if (leader == threadIdx.x % 32 && !elected)
        atomicAdd(out + 1, 1u);
#else
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, 1u);
#endif
}
