/* Atomic operations. */

/* Every operation on 32 bits, one word for each. */
extern "C" __global__ void change_words(const unsigned *in, unsigned *words, int *numbers, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&words[0], in[i]);
    atomicSub(&words[1], in[i]);
    atomicMin(&words[2], in[i]);
    atomicMax(&words[3], in[i]);
    atomicAnd(&words[4], in[i] | 0xff00ff);
    atomicOr(&words[5], in[i] & 0xf0f0f0);
    atomicXor(&words[6], in[i]);
    atomicInc(&words[7], 36);
    atomicDec(&words[8], 40);
    atomicMin(&numbers[0], (int)in[i]);
    atomicMax(&numbers[1], (int)in[i]);
    atomicAdd(&numbers[2], -(int)(in[i] % 100));
}

extern "C" __global__ void change_long_words(const unsigned long long *in, unsigned long long *words,
                                             long long *numbers, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&words[0], in[i]);
    atomicMin(&words[1], in[i]);
    atomicMax(&words[2], in[i]);
    atomicAnd(&words[3], in[i] | 0xff00ff00ff00ffull);
    atomicOr(&words[4], in[i] & 0xf0f0f0f0f0f0ull);
    atomicXor(&words[5], in[i]);
    atomicMin(&numbers[0], (long long)in[i]);
    atomicMax(&numbers[1], (long long)in[i]);
}

/* Sums of floats: small whole numbers are exact in any order. */
extern "C" __global__ void add_floats(const int *in, float *sum, double *double_sum, int n)
{
    __shared__ float part;
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&part, (float)in[i]);
        atomicAdd(double_sum, in[i] * 0.5);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, part);
}

/* What atomicMax does not know, by compare-and-swap. */
extern "C" __global__ void find_largest_product(const double *in, unsigned long long *best, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + 1 < n; i += gridDim.x * blockDim.x) {
        double product = in[i] * in[i + 1];
        unsigned long long old = *best, seen;
        do {
            seen = old;
            if (__longlong_as_double(seen) >= product)
                break;
            old = atomicCAS(best, seen, __double_as_longlong(product));
        } while (old != seen);
    }
}

/* Lanes of a warp wait for each other: since sm_70 each makes progress. */
__device__ int lock_word;

extern "C" __global__ void take_turns(volatile int *guarded, int *order)
{
    int done = 0;
    while (!done)
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            __threadfence();
            order[*guarded] = blockIdx.x * blockDim.x + threadIdx.x;
            *guarded = *guarded + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = 1;
        }
}

/* The lock is waited for in a loop of its own. */
extern "C" __global__ void wait_in_loop(int *lock, int *sum)
{
    while (atomicExch(lock, 1) != 0)
        ;
    *(volatile int *)sum += threadIdx.x + 1;
    __threadfence();
    atomicExch(lock, 0);
}

/* Tickets are served in order. */
extern "C" __global__ void serve_tickets(unsigned *next, volatile unsigned *serving, int *order)
{
    unsigned ticket = atomicAdd(next, 1u);
    bool served = false;
    while (!served)
        if (*serving == ticket) {
            order[ticket] = threadIdx.x;
            __threadfence();
            *serving = ticket + 1;
            served = true;
        }
}

/* A queue with a ring: half of the lanes put in, half take out. */
extern "C" __global__ void pass_through_queue(int *ring, unsigned *ends, int *taken)
{
    int i = threadIdx.x / 2;
    if (threadIdx.x % 2 == 0) {
        unsigned at = atomicAdd(&ends[0], 1u);
        atomicExch(&ring[at], i * i + 1);
    } else {
        unsigned at = atomicAdd(&ends[1], 1u);
        int value;
        do
            value = atomicExch(&ring[at], 0);
        while (value == 0);
        taken[at] = value;
    }
}

/* Scopes, and 16 bits. */
extern "C" __global__ void change_scoped(unsigned *words, unsigned short *half)
{
    atomicAdd_block(&words[0], 2u);
    atomicMax_system(&words[1], threadIdx.x);
    atomicOr_block(&words[2], 1u << (threadIdx.x % 32));
    unsigned short old = *half, seen;
    do {
        seen = old;
        old = atomicCAS(half, seen, (unsigned short)(seen + 3));
    } while (old != seen);
}
