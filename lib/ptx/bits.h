/*
 * Operations on the bits and bytes of a number; each is one instruction of PTX. ops.def calls them,
 * with its a and b.
 */
#ifndef CX_PTX_BITS_H
#define CX_PTX_BITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t cx_ptx_find_bit(int64_t value)
{
    uint64_t bits = (uint64_t)(value < 0 ? ~value : value);

    return bits ? 63u - (uint32_t)__builtin_clzll(bits) : UINT32_MAX;
}

static inline uint64_t cx_ptx_reverse(uint64_t bits)
{
    bits = (bits >> 1 & UINT64_C(0x5555555555555555)) | (bits & UINT64_C(0x5555555555555555)) << 1;
    bits = (bits >> 2 & UINT64_C(0x3333333333333333)) | (bits & UINT64_C(0x3333333333333333)) << 2;
    bits = (bits >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (bits & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(bits);
}

static inline uint64_t cx_ptx_extract(uint64_t bits, uint32_t position, uint32_t length,
                                      unsigned size, bool extended)
{
    uint64_t field, sign = 0;

    position &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    if (extended) {
        unsigned last = position + length - 1;

        sign = bits >> (last < size ? last : size - 1) & 1;
    }
    field = position < size ? bits >> position : 0;
    if (size == 32 && position < size)
        field = (uint32_t)bits >> position;
    if (position + length > size && extended && sign)
        field |= position < size ? ~((UINT64_MAX >> (64 - size)) >> position) : UINT64_MAX;
    if (length < 64) {
        field &= (UINT64_C(1) << length) - 1;
        if (extended && sign)
            field |= ~((UINT64_C(1) << length) - 1);
    }
    return field;
}

/* ---- floats ---- */

static inline uint32_t cx_ptx_bits_f32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float cx_ptx_f32_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double cx_ptx_f64_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t cx_ptx_bits_f64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Results that are NaN have one pattern. */
static inline float cx_ptx_number(float value)
{
    return value == value ? value : cx_ptx_f32_of(0x7fffffff);
}

static inline float cx_ptx_flush(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

static inline double cx_ptx_flush64(double value)
{
    return fabs(value) < 0x1p-1022 ? copysign(0.0, value) : value;
}

/* Clamped to [0, 1]; NaN and -0 become +0. */
static inline float cx_ptx_clamp(float value)
{
    return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}

/* -0 is less than +0; a number wins against NaN. */
static inline float cx_ptx_min_f32(float a, float b)
{
    if (isunordered(a, b))
        return cx_ptx_number(a == a ? a : b);
    return a < b || (a == b && signbit(a)) ? a : b;
}

static inline float cx_ptx_max_f32(float a, float b)
{
    if (isunordered(a, b))
        return cx_ptx_number(a == a ? a : b);
    return a > b || (a == b && !signbit(a)) ? a : b;
}

static inline double cx_ptx_min_f64(double a, double b)
{
    if (isunordered(a, b))
        return a == a ? a : b;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static inline double cx_ptx_max_f64(double a, double b)
{
    if (isunordered(a, b))
        return a == a ? a : b;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

static inline float cx_ptx_minn_f32(float a, float b)
{
    return isunordered(a, b) ? cx_ptx_f32_of(0x7fffffff) : cx_ptx_min_f32(a, b);
}

static inline float cx_ptx_maxn_f32(float a, float b)
{
    return isunordered(a, b) ? cx_ptx_f32_of(0x7fffffff) : cx_ptx_max_f32(a, b);
}

/* The sign is the product's. */
static inline float cx_ptx_xorsign(float picked, float a, float b)
{
    uint32_t sign = (cx_ptx_bits_f32(a) ^ cx_ptx_bits_f32(b)) & UINT32_C(0x80000000);

    return picked == picked ? cx_ptx_f32_of(cx_ptx_bits_f32(picked) | sign) : picked;
}

/* a * (1 / b): the reciprocal of a large divisor is 0. */
static inline float cx_ptx_divide_approx(float a, float b)
{
    if (fabsf(b) > 0x1p126f && !isinf(b))
        return cx_ptx_number(a * copysignf(0.0f, b));
    return cx_ptx_number(a / b);
}

/* ---- halves ---- */

/* A number in half precision, exactly; subnormal ones have the unit 2^-24. */
static inline float cx_ptx_single_of_half(uint32_t bits)
{
    uint32_t magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
    uint32_t normal = (magnitude << 13) + (UINT32_C(112) << 23);
    uint32_t small = cx_ptx_bits_f32((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t huge = magnitude > 0x7c00 ? 0x7fffffff : 0x7f800000;
    uint32_t found = magnitude < 0x0400 ? small : magnitude < 0x7c00 ? normal : huge;

    return cx_ptx_f32_of(magnitude > 0x7c00 ? found : found | sign);
}

/* Rounds to nearest. A small number's fraction is at the end of its sum with 1/2. */
static inline uint32_t cx_ptx_half_of_single(float value)
{
    uint32_t bits = cx_ptx_bits_f32(value), sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (UINT32_C(112) << 23)) >> 13;
    uint32_t small = cx_ptx_bits_f32(cx_ptx_f32_of(magnitude) + 0.5f) - cx_ptx_bits_f32(0.5f);
    uint32_t found = magnitude < UINT32_C(113) << 23   ? small
                     : magnitude < UINT32_C(143) << 23 ? normal
                                                       : 0x7c00;

    return magnitude > 0x7f800000 ? 0x7fff : found | sign;
}

static inline uint32_t cx_ptx_brain_of_single(float value)
{
    uint32_t bits = cx_ptx_bits_f32(value);

    return value == value ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0x7fff;
}

/* Only the upper 32 bits count. */
static inline double cx_ptx_upper_half(double value)
{
    return cx_ptx_f64_of(cx_ptx_bits_f64(value) & ~(uint64_t)UINT32_MAX);
}

static inline double cx_ptx_gross(double value)
{
    return value == value ? cx_ptx_upper_half(cx_ptx_flush64(value))
                          : cx_ptx_f64_of(UINT64_C(0x7fffffff00000000));
}

/* ---- integers ---- */

static inline int32_t cx_ptx_saturate(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline uint32_t cx_ptx_dot4(uint32_t a, uint32_t b, bool a_signed, bool b_signed)
{
    uint32_t sum = 0;

    for (int i = 0; i < 32; i += 8) {
        int32_t x = a_signed ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = b_signed ? (int8_t)(b >> i) : (uint8_t)(b >> i);

        sum += (uint32_t)(x * y);
    }
    return sum;
}

static inline uint32_t cx_ptx_permute(uint32_t a, uint32_t b, uint32_t selection)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;

    for (int i = 0; i < 4; i++) {
        uint32_t choice = selection >> (4 * i);
        uint8_t byte = (uint8_t)(bytes >> (8 * (choice & 7)));

        if (choice & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= (uint32_t)byte << (8 * i);
    }
    return result;
}

static inline uint32_t cx_ptx_lop3(uint8_t table, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result = 0;

    for (int row = 0; row < 8; row++)
        if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}

static inline uint64_t cx_ptx_insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length,
                                     unsigned size)
{
    uint64_t mask;

    position &= 255;
    length &= 255;
    if (position >= size || length == 0)
        return b;
    mask = (length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1) << position;
    return (b & ~mask) | (a << position & mask);
}

static inline uint32_t cx_ptx_bit_mask(uint32_t position, uint32_t length)
{
    uint64_t ones = length > 31 ? UINT32_MAX : (UINT64_C(1) << length) - 1;

    return position > 31 ? 0 : (uint32_t)(ones << position);
}

static inline uint32_t cx_ptx_sign_extend(uint32_t value, uint32_t bits)
{
    return bits == 0 ? 0 : bits > 31 ? value
                                     : (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
}

static inline uint32_t cx_ptx_zero_extend(uint32_t value, uint32_t bits)
{
    return bits > 31 ? value : value & ((UINT32_C(1) << bits) - 1);
}

static inline uint32_t cx_ptx_find_nth(uint32_t mask, uint32_t base, int32_t nth)
{
    int64_t left = nth < 0 ? -(int64_t)nth : nth, step = nth < 0 ? -1 : 1;

    if (nth == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    for (int64_t at = base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

static inline int64_t cx_ptx_signed24(uint32_t value)
{
    return (int32_t)(value << 8) >> 8;
}

static inline uint32_t cx_ptx_dot2(uint32_t a, uint32_t b, bool a_signed, bool b_signed)
{
    uint32_t sum = 0;

    for (int i = 0; i < 2; i++) {
        int32_t x = a_signed ? (int16_t)(a >> 16 * i) : (uint16_t)(a >> 16 * i);
        int32_t y = b_signed ? (int8_t)(b >> 8 * i) : (uint8_t)(b >> 8 * i);

        sum += (uint32_t)(x * y);
    }
    return sum;
}

/* The selection of a mode of prmt; `choice` is the lowest two bits of its third operand. */
static inline uint32_t cx_ptx_permute_mode(uint32_t a, uint32_t b, const uint16_t modes[4],
                                           uint32_t choice)
{
    return cx_ptx_permute(a, b, modes[choice & 3]);
}

#endif
