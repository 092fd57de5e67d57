/*
 * Sums and products of halves without branches, for loops over lanes: the same as those of
 * minifloat.h. A product is exact in single precision (f16) or double precision (bf16, whose
 * products may be too small for a single); a sum is rounded to an odd number there, so that it is
 * rounded once in the end.
 */
#ifndef CX_PTX_HALVES_H
#define CX_PTX_HALVES_H

#include "ptx/bits.h"

static inline double cx_ptx_bf16_value(uint32_t bits)
{
    return cx_ptx_f32_of(bits << 16);
}

/* Rounds to nearest. `fraction`: bits; `least`: the exponent of the smallest normal number;
 * `infinity`: its pattern. Below that number the fraction is at the end of the sum with one whose
 * last bit is the unit. */
static inline uint32_t cx_ptx_small_of_double(double value, int fraction, int least,
                                              uint32_t infinity)
{
    const int cut = 52 - fraction;
    const uint64_t bits = cx_ptx_bits_f64(value), magnitude = bits & (UINT64_MAX >> 1);
    const uint64_t least_normal = (uint64_t)(1023 + least) << 52;
    const uint64_t unit = (uint64_t)(1023 + least + cut) << 52;
    const uint64_t odd = magnitude >> cut & 1, half = (UINT64_C(1) << (cut - 1)) - 1;
    uint64_t normal = (magnitude + half + odd - least_normal) >> cut;
    uint64_t small =
        cx_ptx_bits_f64(cx_ptx_f64_of(magnitude) + cx_ptx_f64_of(unit)) - unit;
    uint64_t found;

    normal += UINT64_C(1) << fraction;
    normal = normal < infinity ? normal : infinity;
    found = magnitude < least_normal ? small : normal;
    found |= bits >> 63 << 15;
    return value == value ? (uint32_t)found : 0x7fff;
}

static inline uint32_t cx_ptx_bf16_of(double value)
{
    return cx_ptx_small_of_double(value, 7, -126, 0x7f80);
}

/* If the sum is not exact, it becomes the odd one of the two numbers next to the exact one. */
#define CX_PTX_ODD_SUM(name, type, word, bits_of, number_of)                               \
    static inline type name(type a, type b)                                                \
    {                                                                                      \
        const type sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);   \
        const word bits = bits_of(sum);                                                    \
        const bool inexact = error > 0 || error < 0;                                       \
        const word step = (error > 0) == (sum > 0) ? 1 : (word)-1;                         \
                                                                                           \
        return number_of(inexact && !(bits & 1) ? bits + step : bits);                     \
    }

CX_PTX_ODD_SUM(cx_ptx_odd_double, double, uint64_t, cx_ptx_bits_f64, cx_ptx_f64_of)
CX_PTX_ODD_SUM(cx_ptx_odd_single, float, uint32_t, cx_ptx_bits_f32, cx_ptx_f32_of)

#define CX_PTX_SMALL_OPERATIONS(type, value_of, odd_sum, rounded)                         \
    static inline uint32_t cx_ptx_##type##_add(uint32_t a, uint32_t b, uint32_t c)        \
    {                                                                                     \
        (void)c;                                                                          \
        return rounded(odd_sum(value_of(a), value_of(b)));                                \
    }                                                                                     \
    static inline uint32_t cx_ptx_##type##_sub(uint32_t a, uint32_t b, uint32_t c)        \
    {                                                                                     \
        (void)c;                                                                          \
        return rounded(odd_sum(value_of(a), -value_of(b)));                               \
    }                                                                                     \
    static inline uint32_t cx_ptx_##type##_mul(uint32_t a, uint32_t b, uint32_t c)        \
    {                                                                                     \
        (void)c;                                                                          \
        return rounded(value_of(a) * value_of(b));                                        \
    }                                                                                     \
    static inline uint32_t cx_ptx_##type##_fma(uint32_t a, uint32_t b, uint32_t c)        \
    {                                                                                     \
        return rounded(odd_sum(value_of(a) * value_of(b), value_of(c)));                  \
    }

CX_PTX_SMALL_OPERATIONS(f16, cx_ptx_single_of_half, cx_ptx_odd_single, cx_ptx_half_of_single)
CX_PTX_SMALL_OPERATIONS(bf16, cx_ptx_bf16_value, cx_ptx_odd_double, cx_ptx_bf16_of)

#endif
