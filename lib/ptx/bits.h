/*
 * Operations on the bits and bytes of a number; each is one instruction of PTX. ops.def calls them,
 * with its a and b.
 */
#ifndef CX_PTX_BITS_H
#define CX_PTX_BITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint32_t cx_ptx_find_bit(int64_t value, int highest)
{
    uint64_t bits = (uint64_t)(value < 0 ? ~value : value);

    (void)highest;
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

static inline float cx_ptx_flush(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

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

#endif
