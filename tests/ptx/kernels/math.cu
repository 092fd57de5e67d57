/* Functions of the mathematical library, in the order of the table in math.c. */
#define FLOATS(x, y)                                                                                \
    expf(x * 0.1f), exp2f(x * 0.1f), exp10f(x * 0.05f), expm1f(x * 0.1f), logf(y), log2f(y),        \
        log10f(y), log1pf(y), sinf(x), cosf(x), tanf(x), asinf(x / 65), acosf(x / 65), atanf(x),    \
        sinhf(x * 0.1f), coshf(x * 0.1f), tanhf(x * 0.1f), asinhf(x), acoshf(y + 1), atanhf(x / 65), \
        sqrtf(y), cbrtf(x), powf(y, x * 0.05f), atan2f(x, y), hypotf(x, y), fmodf(x, y), erff(x * 0.1f), \
        erfcf(x * 0.1f), lgammaf(y), tgammaf(y * 0.3f), floorf(x), ceilf(x), truncf(x), roundf(x),  \
        fdimf(x, y), fmaxf(x, y), ldexpf(x, 3), remainderf(x, y), rsqrtf(y), fmaf(x, y, 1.0f)
#define DOUBLES(x, y)                                                                               \
    exp(x * 0.1), exp2(x * 0.1), exp10(x * 0.05), expm1(x * 0.1), log(y), log2(y), log10(y),        \
        log1p(y), sin(x), cos(x), tan(x), asin(x / 65), acos(x / 65), atan(x), sinh(x * 0.1),       \
        cosh(x * 0.1), tanh(x * 0.1), asinh(x), acosh(y + 1), atanh(x / 65), sqrt(y), cbrt(x),      \
        pow(y, x * 0.05), atan2(x, y), hypot(x, y), fmod(x, y), erf(x * 0.1), erfc(x * 0.1),        \
        lgamma(y), tgamma(y * 0.3), floor(x), ceil(x), trunc(x), round(x), fdim(x, y), fmax(x, y),  \
        ldexp(x, 3), remainder(x, y), rsqrt(y), fma(x, y, 1.0)

extern "C" __global__ void float_functions(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], y = fabsf(in[i]) * 0.25f + 0.5f, found[] = {FLOATS(x, y)};
    for (int k = 0; k < (int)(sizeof found / sizeof found[0]); k++)
        out[k * n + i] = found[k];
}

extern "C" __global__ void double_functions(const float *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = in[i], y = fabs(x) * 0.25 + 0.5, found[] = {DOUBLES(x, y)};
    for (int k = 0; k < (int)(sizeof found / sizeof found[0]); k++)
        out[k * n + i] = found[k];
}

/* Large angles need many bits of pi. */
extern "C" __global__ void turn_far(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sine, cosine;
    sincos(in[i], &sine, &cosine);
    out[3 * i] = sine;
    out[3 * i + 1] = cosine;
    out[3 * i + 2] = sinf((float)in[i]);
}

/* Functions that the hardware approximates. */
extern "C" __global__ void approximate(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i] * 0.05f;
    out[6 * i] = __expf(x);
    out[6 * i + 1] = __logf(fabsf(x) + 1);
    out[6 * i + 2] = __sinf(x);
    out[6 * i + 3] = __cosf(x);
    out[6 * i + 4] = __fdividef(x, 3.0f);
    out[6 * i + 5] = __powf(fabsf(x) + 1, 1.5f);
}

/* All roundings of the basic operations. */
extern "C" __global__ void round_operations(const float *a, const float *b, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i] + 0.1f, y = b[i] + 0.7f;
    double sums[] = {__fadd_rn(x, y), __fadd_ru(x, y), __fmul_rd(x, y), __fmul_ru(x, y), __fdiv_rz(x, y),
                     __fsqrt_ru(fabsf(x)), __fmaf_rd(x, y, x), __frcp_rz(y), __dadd_rd(x, 0.1),
                     __ddiv_ru(x, 3.0), __dsqrt_rd(fabs((double)y)), __fma_rz(x, 0.1, y)};
    for (int k = 0; k < 12; k++)
        out[12 * i + k] = sums[k];
}
