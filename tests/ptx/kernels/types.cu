/* Small types, half precision, conversions. PTX is written where CUDA C has only a header for it. */

extern "C" __global__ void count_bytes(const signed char *a, const unsigned char *b, signed char *sum,
                                       unsigned char *product, short *both, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    sum[i] = a[i] + b[i];
    product[i] = a[i] * b[i];
    both[i] = (short)(a[i] * b[i]) >> (b[i] & 7);
}

extern "C" __global__ void dot_bytes(const int *a, const int *b, int *out, unsigned *unsigned_out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = __dp4a(a[i], b[i], i);
    unsigned_out[i] = __dp4a((unsigned)a[i], (unsigned)b[i], 7u);
}

typedef unsigned short half;

static __device__ half to_half(float value)
{
    half result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
}

static __device__ float from_half(half value)
{
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
}

static __device__ half multiply_add(half a, half b, half c)
{
    half result;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result) : "h"(a), "h"(b), "h"(c));
    return result;
}

/* A polynomial of halves, and its value as a float. */
extern "C" __global__ void add_halves(const half *in, half *out, float *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    half x = in[i], value = to_half(0.5f);
    for (int k = 0; k < 3; k++)
        value = multiply_add(value, x, to_half(k * 0.25f));
    out[i] = value;
    wide[i] = from_half(value) - from_half(x);
}

/* Two halves in a word: the larger, and the sum. */
extern "C" __global__ void pair_halves(const unsigned *a, const unsigned *b, unsigned *sum,
                                       unsigned *compared, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned total, mask;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(total) : "r"(a[i]), "r"(b[i]));
    asm("{\n\t.reg .pred p, q;\n\tsetp.gt.f16x2 p|q, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\t@q or.b32 %0, %0, 2;\n\t}"
        : "=r"(mask) : "r"(a[i]), "r"(b[i]));
    sum[i] = total;
    compared[i] = mask;
}

/* bfloat16 has the upper half of a float. */
extern "C" __global__ void add_brains(const unsigned short *in, float *sums, int n, int each)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < each; k++)
        sum += __int_as_float(in[i * each + k] << 16);
    sums[i] = sum;
}

/* From and to numbers of all sizes. */
extern "C" __global__ void convert(const double *in, signed char *c, short *s, int *i32, long long *l,
                                   unsigned *u, unsigned long long *ul, float *f, double *back, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    i32[i] = (int)in[i];
    c[i] = (signed char)i32[i];
    s[i] = (short)i32[i];
    l[i] = (long long)(in[i] * 1e9);
    u[i] = (unsigned)fabs(in[i]);
    ul[i] = (unsigned long long)(fabs(in[i]) * 1e12);
    f[i] = (float)in[i];
    back[i] = (double)l[i] + (double)ul[i] + (float)c[i] + (float)u[i];
}

extern "C" __global__ void round_all(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[6 * i] = __float2int_rn(in[i]);
    out[6 * i + 1] = __float2int_rz(in[i]);
    out[6 * i + 2] = __float2int_ru(in[i]);
    out[6 * i + 3] = __float2int_rd(in[i]);
    out[6 * i + 4] = (int)roundf(in[i]);
    out[6 * i + 5] = (int)rintf(in[i] * 0.5f);
}

/* Functions on bits. */
extern "C" __global__ void look_at_bits(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = in[i], y = in[(i + 1) % n];
    out[i] = __popc(x) + 100 * __clz(y) + 10000 * __ffs(x & y) + (__brev(x) ^ __funnelshift_l(x, y, i)) +
             __byte_perm(x, y, 0x2705) + __sad(x, y, 3) + __umul24(x, y) + __mulhi((int)x, (int)y) +
             __uhadd(x, y) + __vabsdiffu4(x, y);
}
