#include "ptx/grid.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- halves ---- */

float cx_ptx_half_to_float(uint16_t half)
{
    unsigned exponent = half >> 10 & 31, fraction = half & 1023;
    float value;

    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf((float)fraction, -24);
    else
        value = ldexpf((float)(fraction | 1024), (int)exponent - 25);
    return half & 0x8000 ? -value : value;
}

/* Rounds to nearest, ties to even. */
uint16_t cx_ptx_half_of_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent;
    double scaled;

    value = fabs(value);
    if (isnan(value))
        return 0x7fff;
    if (value >= 65520)
        return sign | 0x7c00;
    if (value < ldexp(1, -14))
        return (uint16_t)(sign | (unsigned)nearbyint(ldexp(value, 24)));
    frexp(value, &exponent);
    scaled = nearbyint(ldexp(value, 11 - exponent));
    return (uint16_t)(sign + ((unsigned)(exponent + 13) << 10) + (unsigned)scaled);
}

static uint16_t brain_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float brain_to_float(uint16_t brain)
{
    uint32_t bits = (uint32_t)brain << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

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

/* NaN becomes 0, numbers beyond the range the nearest one in it. */
static uint64_t integer_of(cx_ptx_type to, double value)
{
    double limit = ldexp(1, (int)bits_of(to) - cx_ptx_type_signed(to));

    if (isnan(value))
        return 0;
    if (value >= limit)
        return greatest_of(to);
    if (value <= (double)least_of(to))
        return (uint64_t)least_of(to);
    return cx_ptx_type_signed(to) ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static double flushed(uint8_t mode, double value)
{
    return (mode & CX_PTX_FLUSHED) && fabs(value) < ldexp(1, -126) ? copysign(0, value) : value;
}

static double clamped(uint8_t mode, double value)
{
    return mode & CX_PTX_SATURATED ? fmin(fmax(value, 0), 1) : value;
}

static double float_of(const cx_ptx_instruction *how, const cx_ptx_slot *from)
{
    switch (how->from) {
    case CX_PTX_F16:
        return cx_ptx_half_to_float(from->u16);
    case CX_PTX_BF16:
        return brain_to_float(from->u16);
    case CX_PTX_F32:
        return flushed(how->mode, from->f32);
    default:
        return from->f64;
    }
}

static void store_float(const cx_ptx_instruction *how, cx_ptx_slot *to, double value)
{
    value = clamped(how->mode, value);
    switch (how->type) {
    case CX_PTX_F16:
        to->u16 = cx_ptx_half_of_double(value);
        break;
    case CX_PTX_BF16:
        to->u16 = brain_of_float((float)value);
        break;
    case CX_PTX_F32:
        to->f32 = (float)flushed(how->mode, value);
        break;
    default:
        to->f64 = value;
    }
}

/* Converts from 64 bits directly: a double in between would round twice. */
static void store_integer(const cx_ptx_instruction *how, cx_ptx_slot *to, uint64_t bits)
{
    bool negative = cx_ptx_type_signed((cx_ptx_type)how->from);

    if (how->type == CX_PTX_F32)
        to->f32 = negative ? (float)(int64_t)bits : (float)bits;
    else
        store_float(how, to, negative ? (double)(int64_t)bits : (double)bits);
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

/* A long double holds any 64-bit number and any double. */
static void store_narrowed(const cx_ptx_instruction *how, cx_ptx_slot *to, long double value)
{
    int direction = direction_of(how->mode);

    if (how->mode & CX_PTX_SATURATED)
        value = fminl(fmaxl(value, 0), 1);
    if (how->type == CX_PTX_F32)
        to->f32 = (float)flushed(how->mode, cx_ptx_narrow_f32(direction, value));
    else
        to->f64 = cx_ptx_narrow_f64(direction, value);
}

void cx_ptx_convert(const cx_ptx_instruction *how, cx_ptx_slot *to, const cx_ptx_slot *from)
{
    cx_ptx_type type = (cx_ptx_type)how->type, source = (cx_ptx_type)how->from;
    uint64_t bits;

    if (cx_ptx_type_float(source)) {
        double value = whole(how->mode, float_of(how, from));

        if (direction_of(how->mode) != FE_TONEAREST)
            store_narrowed(how, to, value);
        else if (cx_ptx_type_float(type))
            store_float(how, to, value);
        else
            to->u64 = integer_of(type, value);
        return;
    }
    bits = cx_ptx_extend(source, from->u64);
    if (direction_of(how->mode) != FE_TONEAREST)
        store_narrowed(how, to,
                       cx_ptx_type_signed(source) ? (long double)(int64_t)bits : (long double)bits);
    else if (cx_ptx_type_float(type))
        store_integer(how, to, bits);
    else
        to->u64 = cx_ptx_extend(type, saturated(type, source, bits));
}
