#include "ptx/bits.h"
#include "ptx/grid.h"
#include "ptx/minifloat.h"

#include <fenv.h>
#include <math.h>

/* ---- integers ---- */

uint64_t cx_ptx_extend(cx_ptx_type type, uint64_t bits)
{
    switch (type) {
    case CX_PTX_S8:
        return (uint64_t)(int8_t)bits;
    case CX_PTX_S16:
        return (uint64_t)(int16_t)bits;
    case CX_PTX_S32:
        return (uint64_t)(int32_t)bits;
    case CX_PTX_PRED:
    case CX_PTX_B8:
    case CX_PTX_U8:
        return (uint8_t)bits;
    case CX_PTX_B16:
    case CX_PTX_U16:
        return (uint16_t)bits;
    case CX_PTX_B32:
    case CX_PTX_U32:
        return (uint32_t)bits;
    default:
        return bits;
    }
}

static unsigned bits_of(cx_ptx_type type)
{
    return cx_ptx_type_bytes(type) * 8;
}

static int64_t least_of(cx_ptx_type type)
{
    return cx_ptx_type_signed(type) ? INT64_MIN >> (64 - bits_of(type)) : 0;
}

static uint64_t greatest_of(cx_ptx_type type)
{
    return UINT64_MAX >> (64 - bits_of(type) + cx_ptx_type_signed(type));
}

static uint64_t saturated(cx_ptx_type to, cx_ptx_type from, uint64_t bits)
{
    bool negative = cx_ptx_type_signed(from) && (int64_t)bits < 0;

    if (negative)
        return (int64_t)bits < least_of(to) ? (uint64_t)least_of(to) : bits;
    return bits > greatest_of(to) ? greatest_of(to) : bits;
}

/* ---- floats ---- */

static double whole(uint8_t mode, double value)
{
    switch (mode & CX_PTX_ROUNDING_MASK) {
    case CX_PTX_ROUND_NEAREST:
        return nearbyint(value);
    case CX_PTX_ROUND_ZERO:
        return trunc(value);
    case CX_PTX_ROUND_DOWN:
        return floor(value);
    case CX_PTX_ROUND_UP:
        return ceil(value);
    default:
        return value;
    }
}

/* Numbers beyond the range become the nearest one in it; NaN becomes 0 or the highest bit alone. */
static uint64_t integer_of(cx_ptx_type to, cx_ptx_type from, double value)
{
    double limit = ldexp(1, (int)bits_of(to) - cx_ptx_type_signed(to));

    if (isnan(value))
        return from != CX_PTX_F64 && bits_of(to) != 64
                   ? 0
                   : cx_ptx_extend(to, UINT64_C(1) << (bits_of(to) - 1));
    if (value >= limit)
        return greatest_of(to);
    if (value <= (double)least_of(to))
        return (uint64_t)least_of(to);
    return cx_ptx_type_signed(to) ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static const cx_ptx_minifloat *small_of_type(cx_ptx_type type)
{
    switch (type) {
    case CX_PTX_F16:
        return &cx_ptx_f16;
    case CX_PTX_BF16:
        return &cx_ptx_bf16;
    case CX_PTX_E4M3:
        return &cx_ptx_e4m3;
    case CX_PTX_E5M2:
        return &cx_ptx_e5m2;
    case CX_PTX_E2M3:
        return &cx_ptx_e2m3;
    case CX_PTX_E3M2:
        return &cx_ptx_e3m2;
    case CX_PTX_E2M1:
        return &cx_ptx_e2m1;
    default:
        return NULL;
    }
}

static double float_of(const cx_ptx_instruction *how, const cx_ptx_slot *from)
{
    const cx_ptx_minifloat *small = small_of_type((cx_ptx_type)how->from);

    if (small)
        return cx_ptx_minifloat_value(small, from->u16 & ((1u << small->bits) - 1));
    if (how->from == CX_PTX_UE8M0)
        return (from->u16 & 255) == 255 ? NAN : ldexp(1, (from->u16 & 255) - 127);
    if (how->from == CX_PTX_F32)
        return how->mode & CX_PTX_FLUSHED ? cx_ptx_flush(from->f32) : from->f32;
    return from->f64;
}

/* FE_TONEAREST, which is the host's default, unless the mode demands another direction. */
static int direction_of(uint8_t mode)
{
    switch (mode & CX_PTX_ROUNDING_MASK) {
    case CX_PTX_ROUND_FLOAT_ZERO:
        return FE_TOWARDZERO;
    case CX_PTX_ROUND_FLOAT_DOWN:
        return FE_DOWNWARD;
    case CX_PTX_ROUND_FLOAT_UP:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

static void store_single(uint8_t mode, cx_ptx_slot *to, float value)
{
    if (mode & CX_PTX_FLUSHED)
        value = cx_ptx_flush(value);
    to->f32 = mode & CX_PTX_SATURATED ? cx_ptx_clamp(value) : cx_ptx_number(value);
}

static void store_double(uint8_t mode, cx_ptx_slot *to, double value)
{
    if (mode & CX_PTX_SATURATED)
        value = value > 0 ? fmin(value, 1) : 0;
    to->f64 = value;
}

static uint32_t small_bits(const cx_ptx_minifloat *small, uint8_t mode, double value)
{
    int direction = mode & CX_PTX_ROUND_AWAY ? CX_PTX_TIES_AWAY : direction_of(mode);
    uint32_t bits = cx_ptx_minifloat_of(small, value, direction);
    uint32_t sign = bits & UINT32_C(1) << (small->bits - 1);

    if ((mode & CX_PTX_FINITE) && !isnan(value) && (bits ^ sign) >= small->infinity)
        bits = sign | (small->infinity - 1);
    if (mode & CX_PTX_SATURATED)
        return cx_ptx_minifloat_saturate(small, bits, 0, 0);
    return mode & CX_PTX_RELU ? cx_ptx_minifloat_relu(small, bits, 0, 0) : bits;
}

/* The exponent of a power of two next to the magnitude: towards zero, or up. */
static uint16_t power_bits(uint8_t mode, double value)
{
    bool up = (mode & CX_PTX_ROUNDING_MASK) == CX_PTX_ROUND_FLOAT_UP;
    int exponent;
    double fraction = frexp(fabs(value), &exponent);

    if (isnan(value))
        return 255;
    if (value == 0)
        return 0;
    if (isinf(value))
        return 254;
    exponent += 126 + (up && fraction > 0.5);
    return (uint16_t)(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent);
}

static void store_float(const cx_ptx_instruction *how, cx_ptx_slot *to, double value)
{
    const cx_ptx_minifloat *small = small_of_type((cx_ptx_type)how->type);

    if (small)
        to->u16 = (uint16_t)small_bits(small, how->mode, value);
    else if (how->type == CX_PTX_UE8M0)
        to->u16 = power_bits(how->mode, value);
    else if (how->type == CX_PTX_TF32)
        to->u32 = small_bits(&cx_ptx_tf32, how->mode, value) << 13;
    else if (how->type == CX_PTX_F64)
        store_double(how->mode, to, value);
    else if (direction_of(how->mode) != FE_TONEAREST)
        store_single(how->mode, to, cx_ptx_narrow_f32(direction_of(how->mode), value));
    else
        store_single(how->mode, to, (float)value);
}

/* Converts from 64 bits directly: a double in between would round twice. */
static void store_integer(const cx_ptx_instruction *how, cx_ptx_slot *to, uint64_t bits)
{
    bool is_signed = cx_ptx_type_signed((cx_ptx_type)how->from);
    bool nearest = direction_of(how->mode) == FE_TONEAREST;
    long double value = is_signed ? (long double)(int64_t)bits : (long double)bits;

    if (how->type == CX_PTX_F32 && nearest)
        store_single(how->mode, to, is_signed ? (float)(int64_t)bits : (float)bits);
    else if (how->type == CX_PTX_F64 && nearest)
        store_double(how->mode, to, is_signed ? (double)(int64_t)bits : (double)bits);
    else if (how->type == CX_PTX_F32)
        store_single(how->mode, to, cx_ptx_narrow_f32(direction_of(how->mode), value));
    else if (how->type == CX_PTX_F64)
        store_double(how->mode, to, cx_ptx_narrow_f64(direction_of(how->mode), value));
    else
        store_float(how, to, cx_ptx_narrow_to_odd(value));
}

void cx_ptx_convert(const cx_ptx_instruction *how, cx_ptx_slot *to, const cx_ptx_slot *from)
{
    cx_ptx_type type = (cx_ptx_type)how->type, source = (cx_ptx_type)how->from;
    uint64_t bits;

    if (cx_ptx_type_float(source)) {
        double value = whole(how->mode, float_of(how, from));

        if (cx_ptx_type_float(type))
            store_float(how, to, value);
        else
            to->u64 = integer_of(type, source, value);
        return;
    }
    bits = cx_ptx_extend(source, from->u64);
    if (cx_ptx_type_float(type))
        store_integer(how, to, bits);
    else
        to->u64 = cx_ptx_extend(type, saturated(type, source, bits));
}
