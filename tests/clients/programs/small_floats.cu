/* Numbers of 8 bits (e4m3 and e5m2): all patterns to floats, and floats to the nearest, as the
 * host's functions do. */
// nvcc: -arch=compute_89
// ctxrt: --gpu l4
#include "program.cuh"

#include <cuda_fp8.h>

__global__ void widen(float *a, float *b)
{
    __nv_fp8_e4m3 one;
    __nv_fp8_e5m2 two;
    one.__x = two.__x = (unsigned char)threadIdx.x;
    a[threadIdx.x] = (float)one;
    b[threadIdx.x] = (float)two;
}

__global__ void narrow(const float *values, unsigned char *a, unsigned char *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = __nv_fp8_e4m3(values[i]).__x;
    b[i] = __nv_fp8_e5m2(values[i]).__x;
}

/* A NaN compares as 1000000. */
static float number(float value)
{
    return std::isnan(value) ? 1e6f : value;
}

static float by_hand(int bits, int exponent_bits, int mantissa_bits)
{
    int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1),
        mantissa = bits & ((1 << mantissa_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1, most = (1 << exponent_bits) - 1;
    float sign = bits & 128 ? -1.f : 1.f;
    if (exponent_bits == 4 ? (bits & 127) == 127 : exponent == most && mantissa > 0)
        return 1e6f;
    if (exponent_bits == 5 && exponent == most)
        return sign * INFINITY;
    float value = ldexpf((float)(mantissa + (exponent ? 1 << mantissa_bits : 0)),
                         (exponent ? exponent : 1) - bias - mantissa_bits);
    return sign * value;
}

int main()
{
    const int count = 4096;
    std::vector<float> values = random_numbers(86).floats(count), a(256), b(256);
    std::vector<unsigned char> narrow_a(count), narrow_b(count);
    for (int i = 0; i < 256; i++) {
        a[i] = by_hand(i, 4, 3);
        b[i] = by_hand(i, 5, 2);
    }
    for (int i = 0; i < count; i++) {
        values[i] = ldexpf(values[i] - 0.5f, i % 30 - 15);
        narrow_a[i] = __nv_cvt_float_to_fp8(values[i], __NV_SATFINITE, __NV_E4M3);
        narrow_b[i] = __nv_cvt_float_to_fp8(values[i], __NV_SATFINITE, __NV_E5M2);
    }
    on_device<float> there(values), wide_a(256), wide_b(256);
    on_device<unsigned char> found_a(count), found_b(count);
    widen<<<1, 256>>>(wide_a, wide_b);
    LAUNCHED();
    std::vector<float> wide = wide_a.read(), wider = wide_b.read();
    for (int i = 0; i < 256; i++) {
        wide[i] = number(wide[i]);
        wider[i] = number(wider[i]);
    }
    same(wide, a, "e4m3");
    same(wider, b, "e5m2");
    narrow<<<count / 128, 128>>>(there, found_a, found_b);
    LAUNCHED();
    same(found_a.read(), narrow_a, "to e4m3");
    same(found_b.read(), narrow_b, "to e5m2");
    return 0;
}
