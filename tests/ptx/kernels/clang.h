/* For clang without a CUDA toolkit: what the kernels use of CUDA C, by clang's builtins. */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define INLINE static __device__ inline __attribute__((always_inline))

#define VECTORS(type, name)                                                       \
    struct name##2 { type x, y; } __attribute__((aligned(2 * sizeof(type))));     \
    struct name##3 { type x, y, z; };                                             \
    struct name##4 { type x, y, z, w; } __attribute__((aligned(4 * sizeof(type)))); \
    INLINE name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }   \
    INLINE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTORS(float, float)
VECTORS(int, int)
VECTORS(unsigned, uint)
VECTORS(unsigned char, uchar)

INLINE uint3 make_place(int x, int y, int z)
{
    return {(unsigned)x, (unsigned)y, (unsigned)z};
}

#define PLACE(what)                                                               \
    make_place(__nvvm_read_ptx_sreg_##what##_x(), __nvvm_read_ptx_sreg_##what##_y(), \
               __nvvm_read_ptx_sreg_##what##_z())
#define threadIdx PLACE(tid)
#define blockIdx PLACE(ctaid)
#define blockDim PLACE(ntid)
#define gridDim PLACE(nctaid)

#define __syncthreads() __nvvm_bar_sync(0)
#define __threadfence() __nvvm_membar_gl()
#define __activemask() __nvvm_activemask_()
INLINE unsigned __nvvm_activemask_()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
#define __ballot_sync(mask, p) ((unsigned)__nvvm_vote_ballot_sync(mask, p))
#define __match_any_sync(mask, value) ((unsigned)__nvvm_match_any_sync_i32(mask, value))
#define __shfl_sync(mask, value, lane) __nvvm_shfl_sync_idx_i32(mask, value, lane, 31)
#define __shfl_up_sync(mask, value, by) __nvvm_shfl_sync_up_i32(mask, value, by, 0)
#define __shfl_down_sync(mask, value, by) __nvvm_shfl_sync_down_i32(mask, value, by, 31)
#define __popc(x) __builtin_popcount(x)
#define __ffs(x) __builtin_ffs((int)(x))
INLINE int min(int a, int b) { return a < b ? a : b; }
INLINE int max(int a, int b) { return a > b ? a : b; }
INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
INLINE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

INLINE int atomicAdd(int *at, int by) { return __nvvm_atom_add_gen_i(at, by); }
INLINE unsigned atomicAdd(unsigned *at, unsigned by)
{
    return __nvvm_atom_add_gen_i((int *)at, by);
}
INLINE unsigned long long atomicAdd(unsigned long long *at, unsigned long long by)
{
    return __nvvm_atom_add_gen_ll((long long *)at, by);
}
INLINE unsigned atomicMin(unsigned *at, unsigned by) { return __nvvm_atom_min_gen_ui(at, by); }
INLINE int atomicCAS(int *at, int old, int now) { return __nvvm_atom_cas_gen_i(at, old, now); }
