/*
 * Elements of matrices as numbers, and back.
 */
#ifndef CX_PTX_MATRIX_ELEMENT_H
#define CX_PTX_MATRIX_ELEMENT_H

#include "ptx/bits.h"
#include "ptx/matrix.h"
#include "ptx/minifloat.h"

#include <fenv.h>
#include <string.h>

/* A half; its exponent is moved by a product, which makes subnormal ones right too. */
static inline float cx_ptx_half_of(uint32_t bits)
{
    uint32_t magnitude = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;

    if (magnitude >= 0x0f800000)
        return cx_ptx_f32_of(sign | 0x70000000 | magnitude);
    magnitude = cx_ptx_bits_f32(cx_ptx_f32_of(magnitude) * 0x1p112f);
    return cx_ptx_f32_of(sign | magnitude);
}

static inline double cx_ptx_float_element(cx_ptx_element kind, uint64_t bits)
{
    double wide;

    switch (kind) {
    case CX_PTX_ELEMENT_F16:
        return cx_ptx_half_of((uint32_t)bits);
    case CX_PTX_ELEMENT_BF16:
        return cx_ptx_f32_of((uint32_t)bits << 16);
    case CX_PTX_ELEMENT_TF32:
        return cx_ptx_f32_of((uint32_t)bits & ~UINT32_C(0x1fff));
    case CX_PTX_ELEMENT_F32:
        return cx_ptx_f32_of((uint32_t)bits);
    case CX_PTX_ELEMENT_E4M3:
        return cx_ptx_minifloat_value(&cx_ptx_e4m3, (uint32_t)bits);
    case CX_PTX_ELEMENT_E5M2:
        return cx_ptx_minifloat_value(&cx_ptx_e5m2, (uint32_t)bits);
    default:
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
}

static inline uint64_t cx_ptx_float_bits(cx_ptx_element kind, double value)
{
    uint64_t bits;

    switch (kind) {
    case CX_PTX_ELEMENT_F16:
        return cx_ptx_minifloat_of(&cx_ptx_f16, value, FE_TONEAREST);
    case CX_PTX_ELEMENT_F32:
        return cx_ptx_bits_f32(cx_ptx_number((float)value));
    default:
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
}

static inline int32_t cx_ptx_integer_element(cx_ptx_element kind, uint32_t bits)
{
    switch (kind) {
    case CX_PTX_ELEMENT_S8:
        return (int8_t)bits;
    case CX_PTX_ELEMENT_S4:
        return (int32_t)(bits << 28) >> 28;
    default:
        return (int32_t)bits;
    }
}

static inline uint64_t cx_ptx_element_at(uint64_t whole, cx_ptx_element kind, unsigned number)
{
    unsigned bits = cx_ptx_element_bits(kind);

    return bits >= 32 ? whole : whole >> bits * number & ((UINT64_C(1) << bits) - 1);
}

#endif
