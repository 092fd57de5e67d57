/* Edge values of the instructions on f16, bf16 and pairs. */
#include "exact.h"

#include <math.h>
#include <string.h>

/* ---- the reference ---- */

static uint64_t near_of(const exact_format *format, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return exact_convert(format, &F64, RN, bits);
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

static bool is_at_least(const exact_format *format, uint64_t a, uint64_t b)
{
    int order = exact_compare(format, a, b);

    return order == 0 || order == 1;
}

/* The largest finite number instead of infinity. */
static uint64_t kept_finite(const exact_format *format, uint64_t bits)
{
    return exact_is_infinite(format, bits) ? bits - 1 : bits;
}

/* E4M3 by search: the nearest of its numbers, of two the even one; at most 448. */
static uint64_t tiny_of(uint64_t a)
{
    double value = fabs(exact_value(&F32, a)), best = INFINITY;
    uint64_t found = 0;

    if (exact_is_nan(&F32, a))
        return 0x7f;
    for (uint64_t bits = 0; bits < 0x7f; bits++) {
        double each = bits < 8 ? (double)bits * 0x1p-9
                               : ldexp((double)(8 + bits % 8), (int)(bits / 8) - 10);
        double distance = fabs(each - (value > 448 ? 448 : value));

        if (distance < best || (distance == best && bits % 2 == 0)) {
            best = distance;
            found = bits;
        }
    }
    return found | (exact_is_negative(&F32, a) ? 0x80 : 0);
}

static uint64_t bounded(uint64_t value, int64_t least, int64_t most)
{
    int64_t number = (int32_t)value;

    return (uint64_t)(number < least ? least : number > most ? most : number);
}

/* ---- the rows ---- */

#define ORDER(format, one, two, truth)            \
    ({                                            \
        int o = exact_compare(&format, one, two); \
        truth;                                    \
    })
#define LANES(value)                                                                         \
    ({                                                                                       \
        uint64_t all = 0;                                                                    \
        for (int i = 0; i < 32; i += 16) {                                                   \
            uint64_t x = a >> i & 0xffff, y = b >> i & 0xffff, z = c >> i & 0xffff;          \
            (void)x, (void)y, (void)z;                                                       \
            all |= ((uint64_t)(value) & 0xffff) << i;                                        \
        }                                                                                    \
        all;                                                                                 \
    })

#define EDGE_ROWS "edges_half.def"
#define EDGE_LOCALS
#define EDGE_TABLE half_rows
#include "edge_rows.h"
