/* Edge values of the instructions on floats, and of conversions. */
#include "exact.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- the reference ---- */

static uint64_t near_f32(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return exact_convert(&F32, &F64, RN, bits);
}

/* PTX: for divisors above 2^126 the quotient is 0, of an infinite dividend NaN. */
static uint64_t divided(uint64_t a, uint64_t b, bool flushes)
{
    uint64_t x = flushes ? exact_flush(&F32, a) : a, y = flushes ? exact_flush(&F32, b) : b;
    bool negative = exact_is_negative(&F32, x) != exact_is_negative(&F32, y);
    uint64_t quotient = exact_div(&F32, RN, x, y);
    bool large = exact_magnitude(&F32, y) > 0x7e800000 && !exact_is_infinite(&F32, y) &&
                 !exact_is_nan(&F32, y);

    if (large && exact_is_infinite(&F32, x))
        return F32.nan;
    if (large && !exact_is_nan(&F32, x))
        return negative ? 0x80000000 : 0;
    return flushes ? exact_flush(&F32, quotient) : quotient;
}

static uint64_t rooted(const exact_format *format, uint64_t a)
{
    return exact_rcp(format, RN, exact_sqrt(format, RN, a));
}

/* neg and abs of a NaN change at most its sign. */
static uint64_t sign_only(const exact_format *format, uint64_t a, uint64_t value)
{
    (void)format, (void)a;
    return value;
}

static uint64_t signed_pick(const exact_format *format, uint64_t a, uint64_t b, bool nan_wins,
                            bool greater)
{
    uint64_t sign = (a ^ b) ^ exact_magnitude(format, a ^ b), picked;

    a = exact_magnitude(format, a);
    b = exact_magnitude(format, b);
    picked = greater ? exact_max(format, nan_wins, a, b) : exact_min(format, nan_wins, a, b);
    return picked == format->nan ? picked : picked | sign;
}

static __int128 within(__int128 value, __int128 least, __int128 most)
{
    return value < least ? least : value > most ? most : value;
}

static int64_t ordered(bool truth)
{
    return truth;
}

/* ---- the rows ---- */

/* `o` is the order of a and b in the condition, `x` the value of a. */
#define ORDER(format, one, two, truth)                   \
    ordered(({                                           \
        int o = exact_compare(&format, one, two);        \
        truth;                                           \
    }))

#define EDGE_ROWS "edges_float.def"
#define EDGE_LOCALS                               \
    double x = exact_value(&F32, a & UINT32_MAX); \
    (void)x;
#define EDGE_TABLE float_rows
#include "edge_rows.h"
