/* The words of kernels.h that CUDA C and C have differently. */
#ifndef CX_BENCH_KERNELS_DIALECT_H
#define CX_BENCH_KERNELS_DIALECT_H

#define UNUSED __attribute__((unused))
#define PARAMETERS                                                                 \
    const float *RESTRICT a UNUSED, const float *RESTRICT b UNUSED,                \
        const unsigned *RESTRICT words UNUSED, float *RESTRICT out UNUSED,         \
        unsigned *counts UNUSED, int n UNUSED, unsigned block UNUSED, unsigned blocks UNUSED

#ifdef __CUDACC__

#define RESTRICT __restrict__
#include <cuda_fp16.h>

#define KERNEL(name, size)                                                             \
    static __device__ void do_##name(PARAMETERS);                                      \
    extern "C" __global__ void __launch_bounds__(size)                                 \
        name(const float *RESTRICT a, const float *RESTRICT b, const unsigned *RESTRICT words, \
             float *RESTRICT out, unsigned *counts, int n)                             \
    {                                                                                  \
        do_##name(a, b, words, out, counts, n, blockIdx.x, gridDim.x);                 \
    }                                                                                  \
    static __device__ void do_##name(PARAMETERS)
#define NESTED static __device__
#define SHARED __shared__
#define EACH_THREAD if (const unsigned thread = threadIdx.x; true)
#define BARRIER __syncthreads()
#define PRIVATE(type, name) type name
#define MY(name) name
#define FROM_LANE(name, lane) __shfl_sync(0xffffffffu, name, (int)((lane) & 31))
#define HALF_VALUE(bits) __half2float(__ushort_as_half(bits))
#define ADD(to, value) atomicAdd(to, value)
#define ADD_OWN(to, value) atomicAdd(to, value)
#define ADD_FLOAT(to, value) atomicAdd(to, value)

#else

#define RESTRICT restrict
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KERNEL(name, size)                                                     \
    static inline void do_##name(PARAMETERS, unsigned threads);                \
    void in_c_##name(PARAMETERS);                                             \
    void in_c_##name(PARAMETERS)                                              \
    {                                                                          \
        do_##name(a, b, words, out, counts, n, block, blocks, size);           \
    }                                                                          \
    static inline void do_##name(PARAMETERS, unsigned threads)
#define NESTED static inline
#define SHARED
#define EACH_THREAD for (unsigned thread = 0; thread < threads; thread++)
#define BARRIER (void)0
#define PRIVATE(type, name) type name[256]
#define MY(name) name[thread]
#define FROM_LANE(name, lane) name[(thread & ~31u) | ((lane) & 31)]
#define HALF_VALUE(bits) half_value(bits)
#define ADD(to, value) __atomic_fetch_add(to, value, __ATOMIC_RELAXED)
#define ADD_OWN(to, value) (*(to) += (value))
#define ADD_FLOAT(to, value) add_float(to, value)

/* Other threads may add too. */
static inline void add_float(float *to, float value)
{
    uint32_t *word = (uint32_t *)(void *)to, old = __atomic_load_n(word, __ATOMIC_RELAXED), bits;
    float sum;

    do {
        memcpy(&sum, &old, sizeof sum);
        sum += value;
        memcpy(&bits, &sum, sizeof bits);
    } while (!__atomic_compare_exchange_n(word, &old, bits, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

/* Normal numbers and zero. */
static inline float half_value(unsigned bits)
{
    uint32_t word = bits & 0x7fff ? ((bits & 0x7fff) << 13) + (112u << 23) : 0;
    float value;

    word |= (bits & 0x8000) << 16;
    memcpy(&value, &word, sizeof value);
    return value;
}

#endif

#define DISTANCE(x, y) sqrtf((x) * (x) + (y) * (y))

#endif
