/* Integers of 128 bits and more: chains of carries. */
typedef unsigned __int128 wide;

extern "C" __global__ void multiply_wide(const unsigned long long *in, wide *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (wide)in[2 * i] * in[2 * i + 1] + ((wide)in[2 * i + 1] << 64) - in[2 * i];
}

extern "C" __global__ void divide_wide(const wide *in, wide *quotients, wide *rests, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        quotients[i] = in[2 * i] / in[2 * i + 1];
        rests[i] = in[2 * i] % in[2 * i + 1];
    }
}

extern "C" __global__ void shift_wide(const __int128 *in, __int128 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int by = (int)(in[i] & 127);
    out[3 * i] = in[i] >> by;
    out[3 * i + 1] = (__int128)((wide)in[i] << by);
    out[3 * i + 2] = in[i] < -in[i] ? -in[i] : in[i] * 3;
}

/* Sums and differences of 256 bits by PTX's own carries. */
extern "C" __global__ void add_long(const unsigned *a, const unsigned *b, unsigned *sum,
                                    unsigned *difference, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *x = a + 8 * i, *y = b + 8 * i;
    unsigned s[9], d[9];
    asm("add.cc.u32 %0, %9, %17;\n\taddc.cc.u32 %1, %10, %18;\n\taddc.cc.u32 %2, %11, %19;\n\t"
        "addc.cc.u32 %3, %12, %20;\n\taddc.cc.u32 %4, %13, %21;\n\taddc.cc.u32 %5, %14, %22;\n\t"
        "addc.cc.u32 %6, %15, %23;\n\taddc.cc.u32 %7, %16, %24;\n\taddc.u32 %8, 0, 0;"
        : "=&r"(s[0]), "=&r"(s[1]), "=&r"(s[2]), "=&r"(s[3]), "=&r"(s[4]), "=&r"(s[5]), "=&r"(s[6]),
          "=&r"(s[7]), "=&r"(s[8])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]),
          "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    asm("sub.cc.u32 %0, %9, %17;\n\tsubc.cc.u32 %1, %10, %18;\n\tsubc.cc.u32 %2, %11, %19;\n\t"
        "subc.cc.u32 %3, %12, %20;\n\tsubc.cc.u32 %4, %13, %21;\n\tsubc.cc.u32 %5, %14, %22;\n\t"
        "subc.cc.u32 %6, %15, %23;\n\tsubc.cc.u32 %7, %16, %24;\n\tsubc.u32 %8, 0, 0;"
        : "=&r"(d[0]), "=&r"(d[1]), "=&r"(d[2]), "=&r"(d[3]), "=&r"(d[4]), "=&r"(d[5]), "=&r"(d[6]),
          "=&r"(d[7]), "=&r"(d[8])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]),
          "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    for (int k = 0; k < 9; k++) {
        sum[9 * i + k] = s[k];
        difference[9 * i + k] = d[k];
    }
}

/* Products of long numbers of any length, schoolbook. */
extern "C" __global__ void multiply_long(const unsigned *a, const unsigned *b, unsigned *product,
                                         int words, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    a += words * i;
    b += words * i;
    product += 2 * words * i;
    for (int k = 0; k < words; k++) {
        unsigned long long carry = 0;
        for (int j = 0; j < words; j++) {
            carry += (unsigned long long)a[k] * b[j] + product[k + j];
            product[k + j] = (unsigned)carry;
            carry >>= 32;
        }
        product[k + words] = (unsigned)carry;
    }
}

/* Miller and Rabin: powers modulo numbers of 64 bits. */
static __device__ unsigned long long power(unsigned long long base, unsigned long long exponent,
                                           unsigned long long modulus)
{
    unsigned long long result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = (wide)result * base % modulus;
        base = (wide)base * base % modulus;
    }
    return result;
}

extern "C" __global__ void find_primes(const unsigned long long *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long number = in[i], odd = number - 1;
    int twos = __ffsll(odd) - 1;
    bool prime = number % 2 == 1;
    odd >>= twos;
    for (int base = 2; base < 14 && prime; base++) {
        unsigned long long x = power(base, odd, number);
        bool passes = x == 1 || x == number - 1;
        for (int k = 1; k < twos && !passes; k++) {
            x = (wide)x * x % number;
            passes = x == number - 1;
        }
        prime = passes;
    }
    out[i] = prime;
}

/* The greatest common divisor: lanes take different numbers of steps. */
extern "C" __global__ void find_divisors(const long long *in, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long a = in[2 * i], b = in[2 * i + 1];
    while (b != 0) {
        long long rest = a % b;
        a = b;
        b = rest;
    }
    out[i] = a < 0 ? -a : a;
}
