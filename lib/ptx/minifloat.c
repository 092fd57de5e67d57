#include "ptx/minifloat.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

const cx_ptx_minifloat cx_ptx_f16 = {10, -14, 16, 0x7c00, 0x1p-24};
const cx_ptx_minifloat cx_ptx_bf16 = {7, -126, 16, 0x7f80, 0x1p-133};
const cx_ptx_minifloat cx_ptx_e4m3 = {3, -6, 8, 0x7f, 0x1p-9};
const cx_ptx_minifloat cx_ptx_e5m2 = {2, -14, 8, 0x7c, 0x1p-16};
const cx_ptx_minifloat cx_ptx_e2m3 = {3, 0, 6, 0x20, 0x1p-3};
const cx_ptx_minifloat cx_ptx_e3m2 = {2, -2, 6, 0x20, 0x1p-4};
const cx_ptx_minifloat cx_ptx_e2m1 = {1, 0, 4, 0x8, 0x1p-1};
const cx_ptx_minifloat cx_ptx_tf32 = {10, -126, 19, 0x3fc00, 0x1p-136};

static uint32_t sign_of(const cx_ptx_minifloat *kind)
{
    return UINT32_C(1) << (kind->bits - 1);
}

static uint32_t magnitude_of(const cx_ptx_minifloat *kind, uint32_t bits)
{
    return bits & (sign_of(kind) - 1);
}

static uint32_t nan_of(const cx_ptx_minifloat *kind)
{
    return sign_of(kind) - 1;
}

static bool is_nan(const cx_ptx_minifloat *kind, uint32_t bits)
{
    return magnitude_of(kind, bits) > kind->infinity;
}

double cx_ptx_minifloat_value(const cx_ptx_minifloat *kind, uint32_t bits)
{
    uint32_t magnitude = magnitude_of(kind, bits), field = magnitude >> kind->fraction;
    double value;
    uint64_t wide;

    if (magnitude >= kind->infinity) {
        value = magnitude > kind->infinity || kind == &cx_ptx_e4m3 ? NAN : INFINITY;
    } else if (field == 0) {
        value = magnitude * kind->unit;
    } else {
        wide = (uint64_t)((int64_t)field - 1 + kind->least + 1023) << 52 |
               (uint64_t)(magnitude & ((1u << kind->fraction) - 1)) << (52 - kind->fraction);
        memcpy(&value, &wide, sizeof value);
    }
    return bits & sign_of(kind) ? -value : value;
}

static bool goes_up(int how, bool negative, bool odd, uint64_t rest, uint64_t half)
{
    switch (how) {
    case FE_TOWARDZERO:
        return false;
    case FE_DOWNWARD:
        return negative && rest != 0;
    case FE_UPWARD:
        return !negative && rest != 0;
    case CX_PTX_TIES_AWAY:
        return rest >= half;
    default:
        return rest > half || (rest == half && odd);
    }
}

static uint32_t overflowed(const cx_ptx_minifloat *kind, int how, bool negative)
{
    bool finite = kind->infinity == sign_of(kind) || how == FE_TOWARDZERO ||
                  how == (negative ? FE_UPWARD : FE_DOWNWARD);

    return kind->infinity - finite;
}

uint32_t cx_ptx_minifloat_of(const cx_ptx_minifloat *kind, double value, int how)
{
    uint64_t wide, mantissa, rest, half;
    uint32_t sign, result;
    int exponent, shift;

    if (isnan(value))
        return nan_of(kind);
    memcpy(&wide, &value, sizeof wide);
    sign = wide >> 63 ? sign_of(kind) : 0;
    if (isinf(value))
        return sign | (kind->infinity - (kind->infinity == sign_of(kind)));
    exponent = (int)(wide >> 52 & 2047) - 1023;
    mantissa = wide & ((UINT64_C(1) << 52) - 1);
    if (value == 0)
        return sign;
    mantissa |= exponent > -1023 ? UINT64_C(1) << 52 : 0;
    shift = 52 - kind->fraction + (exponent < kind->least ? kind->least - exponent : 0);
    if (shift > 60)
        shift = 60;
    rest = mantissa & ((UINT64_C(1) << shift) - 1);
    half = UINT64_C(1) << (shift - 1);
    result = (uint32_t)(mantissa >> shift);
    result += goes_up(how, sign != 0, result & 1, rest, half);
    if (exponent > kind->least + 4096)
        exponent = kind->least + 4096;
    if (exponent > kind->least)
        result += (uint32_t)(exponent - kind->least) << kind->fraction;
    return sign | (result >= kind->infinity ? overflowed(kind, how, sign != 0) : result);
}

/* ---- rounding twice ---- */

/* A number lies between two doubles: gives the one with an odd mantissa. */
static double made_odd(double near, bool above)
{
    uint64_t bits;

    memcpy(&bits, &near, sizeof bits);
    if (!(bits & 1))
        bits += above == (near > 0) ? 1 : UINT64_MAX;
    memcpy(&near, &bits, sizeof near);
    return near;
}

double cx_ptx_sum_to_odd(double a, double b)
{
    double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);

    if (error == 0 || sum == 0 || !isfinite(sum))
        return sum;
    return made_odd(sum, error > 0);
}

double cx_ptx_narrow_to_odd(long double value)
{
    double near = (double)value;

    if ((long double)near == value || !isfinite(near))
        return near;
    return made_odd(near, value > (long double)near);
}

/* ---- operations ---- */

static uint32_t rounded_sum(const cx_ptx_minifloat *kind, double a, double b)
{
    return cx_ptx_minifloat_of(kind, cx_ptx_sum_to_odd(a, b), FE_TONEAREST);
}

uint32_t cx_ptx_minifloat_add(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return rounded_sum(kind, cx_ptx_minifloat_value(kind, a), cx_ptx_minifloat_value(kind, b));
}

uint32_t cx_ptx_minifloat_sub(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return rounded_sum(kind, cx_ptx_minifloat_value(kind, a), -cx_ptx_minifloat_value(kind, b));
}

uint32_t cx_ptx_minifloat_mul(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)c;
    return cx_ptx_minifloat_of(
        kind, cx_ptx_minifloat_value(kind, a) * cx_ptx_minifloat_value(kind, b), FE_TONEAREST);
}

uint32_t cx_ptx_minifloat_fma(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    return rounded_sum(kind, cx_ptx_minifloat_value(kind, a) * cx_ptx_minifloat_value(kind, b),
                       cx_ptx_minifloat_value(kind, c));
}

static int32_t rank_of(const cx_ptx_minifloat *kind, uint32_t bits)
{
    int32_t magnitude = (int32_t)magnitude_of(kind, bits);

    return bits & sign_of(kind) ? ~magnitude : magnitude;
}

static uint32_t picked(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, bool greater,
                       bool strict)
{
    bool one = is_nan(kind, a), two = is_nan(kind, b);

    if (one || two)
        return strict || (one && two) ? nan_of(kind) : one ? b : a;
    return (rank_of(kind, a) < rank_of(kind, b)) != greater ? a : b;
}

static uint32_t picked_signed(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, bool greater,
                              bool strict)
{
    uint32_t result =
        picked(kind, magnitude_of(kind, a), magnitude_of(kind, b), greater, strict);

    return is_nan(kind, result) ? result : result | ((a ^ b) & sign_of(kind));
}

#define PICK(name, picker, greater, strict)                                                \
    uint32_t cx_ptx_minifloat_##name(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, \
                                     uint32_t c)                                           \
    {                                                                                      \
        (void)c;                                                                           \
        return picker(kind, a, b, greater, strict);                                        \
    }
PICK(min, picked, false, false)
PICK(max, picked, true, false)
PICK(min_nan, picked, false, true)
PICK(max_nan, picked, true, true)
PICK(min_signed, picked_signed, false, false)
PICK(max_signed, picked_signed, true, false)
PICK(min_nan_signed, picked_signed, false, true)
PICK(max_nan_signed, picked_signed, true, true)

uint32_t cx_ptx_minifloat_neg(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return a ^ sign_of(kind);
}

uint32_t cx_ptx_minifloat_abs(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return magnitude_of(kind, a);
}

uint32_t cx_ptx_minifloat_flush(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return magnitude_of(kind, a) >> kind->fraction ? a : a & sign_of(kind);
}

uint32_t cx_ptx_minifloat_saturate(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t one = (uint32_t)(1 - kind->least) << kind->fraction;

    (void)b, (void)c;
    if (is_nan(kind, a) || a & sign_of(kind))
        return 0;
    return a > one ? one : a;
}

uint32_t cx_ptx_minifloat_relu(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    if (is_nan(kind, a))
        return nan_of(kind);
    return a & sign_of(kind) ? 0 : a;
}

uint32_t cx_ptx_minifloat_exp2(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return cx_ptx_minifloat_of(kind, exp2(cx_ptx_minifloat_value(kind, a)), FE_TONEAREST);
}

uint32_t cx_ptx_minifloat_tanh(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return cx_ptx_minifloat_of(kind, tanh(cx_ptx_minifloat_value(kind, a)), FE_TONEAREST);
}

uint32_t cx_ptx_minifloat_pair(cx_ptx_minifloat_op *op, const cx_ptx_minifloat *kind, uint32_t a,
                               uint32_t b, uint32_t c)
{
    return op(kind, a & 0xffff, b & 0xffff, c & 0xffff) |
           op(kind, a >> 16, b >> 16, c >> 16) << 16;
}
