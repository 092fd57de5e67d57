/*
 * The approximations of PTX (sin.approx and its like) in double precision, rounded once to a
 * single: within 0.501 units in the last place. They have no tables, and branches only for large
 * angles, so that loops over lanes become vector code; without contraction their results are the
 * same on all processors.
 */
#ifndef CX_PTX_APPROXIMATE_H
#define CX_PTX_APPROXIMATE_H

#include "ptx/bits.h"

/* Adding this rounds a double to an integer, which is then in the sum's lowest bits. */
#define CX_PTX_ROUNDS 0x1.8p52

/* Below this, the angle's quotient by pi/2 has 20 bits. */
#define CX_PTX_ANGLE_LIMIT 0x1p20f

/* 2^k for the k of such a sum. */
static inline double cx_ptx_power(double sum)
{
    return cx_ptx_f64_of((cx_ptx_bits_f64(sum) << 52) + UINT64_C(0x3ff0000000000000));
}

/* 2^r - 1 for |r| <= 1/2, with a relative error of 5e-12. */
static inline double cx_ptx_power_less_1(double r)
{
    double sum = 0x1.63b2f07a28632p-20;

    sum = sum * r + 0x1.00c0fb54e0f1cp-16;
    sum = sum * r + 0x1.4308c708aee31p-13;
    sum = sum * r + 0x1.5d87757c238f2p-10;
    sum = sum * r + 0x1.3b2ab70ad7014p-7;
    sum = sum * r + 0x1.c6b08da71da60p-5;
    sum = sum * r + 0x1.ebfbdff82a727p-3;
    sum = sum * r + 0x1.62e42fef9cc3cp-1;
    return sum * r;
}

static inline float cx_ptx_exp2(float x)
{
    double power = x, sum;

    power = power < -200 ? -200 : power;
    power = power > 200 ? 200 : power;
    sum = power + CX_PTX_ROUNDS;
    power = cx_ptx_power_less_1(power - (sum - CX_PTX_ROUNDS));
    return (float)((1 + power) * cx_ptx_power(sum));
}

/* x = 2^e m, where m is between the roots of 1/2 and 2; s = (m - 1) / (m + 1). */
static inline float cx_ptx_log2(float x)
{
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd), one = UINT64_C(0x3ff0000000000000);
    const uint64_t bits = cx_ptx_bits_f64(x), power = (bits + (one - root)) >> 52; /* e + 1023 */
    const double e = cx_ptx_f64_of(cx_ptx_bits_f64(CX_PTX_ROUNDS) + power) - CX_PTX_ROUNDS - 1023;
    const double m = cx_ptx_f64_of(bits - (power << 52) + one);
    const double s = (m - 1) / (m + 1), z = s * s;
    const float special = x == 0 ? -HUGE_VALF : x < 0 ? NAN : x;
    double sum = 0x1.21ad2d776d25ap-2;

    sum = sum * z + 0x1.47959c992a71fp-2;
    sum = sum * z + 0x1.a61a2cf9f9e38p-2;
    sum = sum * z + 0x1.2776c295ae0c7p-1;
    sum = sum * z + 0x1.ec709dc53a1cap-1;
    sum = sum * z + 0x1.71547652b8252p+1;
    sum = sum * s + e;
    return x > 0 && x < HUGE_VALF ? (float)sum : special;
}

/* The sine of an angle below the limit and `quarters` quarter turns. pi/2 has two parts: the
 * product with the first is exact. */
static inline float cx_ptx_sine(float x, uint64_t quarters)
{
    const double sum = x * 0x1.45f306dc9c883p-1 + CX_PTX_ROUNDS, k = sum - CX_PTX_ROUNDS;
    const double r = (x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34, z = r * r;
    const uint64_t quadrant = cx_ptx_bits_f64(sum) + quarters;
    double sine = -0x1.aa28204c41c58p-26, cosine = -0x1.2474b4d949b3fp-22;
    float found;

    sine = sine * z + 0x1.71d9a97cd54a3p-19;
    sine = sine * z - 0x1.a019fd9a983abp-13;
    sine = sine * z + 0x1.1111110fd3935p-7;
    sine = sine * z - 0x1.555555555516ap-3;
    sine = r * (1 + z * sine);
    cosine = cosine * z + 0x1.a0129816dae6bp-16;
    cosine = cosine * z - 0x1.6c16bae4ef875p-10;
    cosine = cosine * z + 0x1.555555514ea4cp-5;
    cosine = cosine * z - 0x1.fffffffffe691p-2;
    cosine = 1 + z * cosine;
    found = (float)(quadrant & 1 ? cosine : sine);
    return quadrant & 2 ? -found : found;
}

static inline bool cx_ptx_is_angle(float x)
{
    return fabsf(x) < CX_PTX_ANGLE_LIMIT;
}

static inline float cx_ptx_sin(float x)
{
    return cx_ptx_is_angle(x) ? cx_ptx_sine(x, 0) : (float)sin(x);
}

static inline float cx_ptx_cos(float x)
{
    return cx_ptx_is_angle(x) ? cx_ptx_sine(x, 1) : (float)cos(x);
}

/* -p / (p + 2), where p = e^(-2 |x|) - 1. */
static inline float cx_ptx_tanh(float x)
{
    double power = fabsf(x), sum, p;

    power = (power > 16 ? 16 : power) * -0x1.71547652b82fep+1;
    sum = power + CX_PTX_ROUNDS;
    p = cx_ptx_power(sum);
    p = cx_ptx_power_less_1(power - (sum - CX_PTX_ROUNDS)) * p + (p - 1);
    return copysignf((float)(-p / (p + 2)), x);
}

#endif
