/* Kernels that look at how the lanes of a warp run together; lockstep.ptx is made of this:
 * nvcc -arch=compute_75 -ptx. A kernel gets words of zeros; tests/ptx/check_lockstep.c knows what
 * it leaves there. Where hardware is free to choose, they leave nothing. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define LANE (threadIdx.x % 32)
#define KERNEL extern "C" __global__ void

/* The sum of 0 to 63 by one warp, as it was written before there was __syncwarp. */
KERNEL warp_sum(unsigned *out)
{
    __shared__ unsigned part[64];
    volatile unsigned *sums = part;
    unsigned t = threadIdx.x;

    sums[t] = t;
    __syncthreads();
    if (t < 32) {
        sums[t] += sums[t + 32];
        sums[t] += sums[t + 16];
        sums[t] += sums[t + 8];
        sums[t] += sums[t + 4];
        sums[t] += sums[t + 2];
        sums[t] += sums[t + 1];
    }
    if (t == 0)
        out[0] = sums[0];
}

KERNEL masks(unsigned *out)
{
    unsigned t = threadIdx.x, inside;

    if (t % 3 == 0)
        inside = __activemask();
    else
        inside = ~__activemask();
    out[t] = inside;
    out[64 + t] = __activemask();
}

KERNEL nested(unsigned *out)
{
    unsigned t = threadIdx.x, sum = 0;

    if (t < 20) {
        if (t % 2) {
            sum += __popc(__activemask());
            if (t > 10)
                sum += 100 * __popc(__activemask());
        } else {
            sum += 10000 * __popc(__activemask());
        }
        out[64 + t] = __activemask();
    } else if (t < 25) {
        out[64 + t] = __activemask();
    }
    out[t] = sum;
    out[128 + t] = __activemask();
}

KERNEL trips(unsigned *out)
{
    unsigned t = threadIdx.x, sum = 0;

#pragma unroll 1
    for (unsigned i = 0; i < t % 7; i++)
        sum = sum * 3 + __popc(__activemask());
    out[t] = sum;
    out[64 + t] = __activemask();
}

KERNEL leave_early(unsigned *out)
{
    unsigned t = threadIdx.x;

    if (t % 4 == 1)
        return;
    if (t > 24) {
        out[t] = 7;
        return;
    }
    out[t] = __activemask();
    out[64 + t] = __ballot_sync(__activemask(), t % 2);
}

__device__ __noinline__ unsigned one(unsigned x)
{
    return x + __popc(__activemask());
}

__device__ __noinline__ unsigned two(unsigned x)
{
    return x % 2 ? x * 100 + __popc(__activemask()) : 3;
}

__device__ __noinline__ unsigned three(unsigned x)
{
    return one(x) + two(x + 1);
}

__device__ unsigned (*const functions[])(unsigned) = {one, two, three};

KERNEL call_targets(unsigned *out)
{
    unsigned t = threadIdx.x;

    out[t] = functions[t % 3](t);
    out[64 + t] = __activemask();
}

__device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL recursion(unsigned *out)
{
    unsigned t = threadIdx.x;

    out[t] = fibonacci(t % 9);
    out[64 + t] = __activemask();
}

KERNEL cases(unsigned *out)
{
    unsigned t = threadIdx.x, found;

    switch (out[128 + t] + t % 6) {
    case 0: found = __popc(__activemask()); break;
    case 1: found = __activemask() * 3; break;
    case 2: found = ~__activemask(); break;
    case 3: found = __activemask() >> 1; break;
    case 4: found = __activemask() ^ t; break;
    default: found = t; break;
    }
    out[t] = found;
    out[64 + t] = __activemask();
}

/* Each lane's turn comes only when another one of the warp has gone on. */
KERNEL spin_lock(unsigned *out)
{
    while (atomicCAS(&out[1], 0, 1) != 0)
        ;
    volatile unsigned *sum = out;
    *sum = *sum + threadIdx.x + 1;
    __threadfence();
    atomicExch(&out[1], 0);
}

__device__ __noinline__ void lock(unsigned *word)
{
    while (atomicCAS(word, 0, 1) != 0)
        __nanosleep(20);
}

KERNEL spin_lock_called(unsigned *out)
{
    lock(&out[1]);
    volatile unsigned *sum = out;
    *sum = *sum + threadIdx.x + 1;
    __threadfence();
    atomicExch(&out[1], 0);
    __syncwarp();
    out[64 + threadIdx.x] = __activemask();
}

/* The lowest lane waits for the highest, and those between for both. */
KERNEL hand_over(unsigned *out)
{
    volatile unsigned *flags = out + 64;
    unsigned t = threadIdx.x;

    if (t == 0) {
        while (flags[0] == 0)
            ;
        flags[1] = 5;
        out[t] = 1;
    } else if (t == 31) {
        flags[0] = 1;
        while (flags[1] == 0)
            ;
        out[t] = 2;
    } else {
        while (flags[0] + flags[1] != 6)
            ;
        out[t] = 3;
    }
}

KERNEL coalesced(unsigned *out)
{
    unsigned t = threadIdx.x;

    if (t % 5 < 2) {
        cg::coalesced_group group = cg::coalesced_threads();
        unsigned sum = t;

        for (unsigned i = group.size() / 2; i > 0; i /= 2)
            sum += group.shfl_down(sum, i);
        out[t] = group.size() * 1000 + group.thread_rank();
        out[64 + t] = group.shfl(t, 1) * 100 + group.any(t == 30) + 2 * group.all(t < 32);
        out[128 + t] = sum;
        if (group.thread_rank() == 0)
            atomicAdd(&out[255], group.size());
    }
}

KERNEL shuffles(unsigned *out)
{
    unsigned t = threadIdx.x, x;

    if (t < 16)
        x = t * 10;
    else
        x = t * 1000 + __shfl_xor_sync(0xffff0000u, t, 3);
    out[t] = __shfl_xor_sync(~0u, x, 17);
    out[64 + t] = __ballot_sync(~0u, x % 3 == 0);
    if (t % 2)
        out[128 + t] = __shfl_sync(0xaaaaaaaau, x, 5);
    out[192 + t] = __match_any_sync(~0u, t % 3);
}

/* A warp's lanes come to the barrier after different times, and from different places. */
KERNEL barriers(unsigned *out)
{
    __shared__ unsigned words[64];
    unsigned t = threadIdx.x, x = t;

    for (unsigned i = 0; i < t % 9; i++)
        x = x * 5 + 1;
    words[t] = x;
    __syncthreads();
    x = words[63 - t];
    if (t % 2) {
        __syncthreads();
        words[t] = x + 1;
    } else {
        __syncthreads();
        words[t] = x + 2;
    }
    __syncthreads();
    out[t] = words[t ^ 1];
    out[64 + t] = __syncthreads_count(t % 3 == 0);
}

/* The lanes of a tile have their own turn of the loop, and their own masks. */
KERNEL tiles(unsigned *out)
{
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    unsigned t = threadIdx.x, sum = 0;

    for (unsigned i = 0; i <= t / 8; i++) {
        unsigned x = t + i;

        for (unsigned d = 4; d > 0; d /= 2)
            x += tile.shfl_xor(x, d);
        sum = sum * 7 + x;
        tile.sync();
    }
    out[t] = sum;
    out[64 + t] = __activemask();
}
