#include "exact.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 wide_bits;

const exact_format F16 = {10, -14, 16, 0x7fff};
const exact_format BF16 = {7, -126, 16, 0x7fff};
const exact_format F32 = {23, -126, 32, 0x7fffffff};
const exact_format F64 = {52, -1022, 64, UINT64_C(0xfff8000000000000)};
const exact_format TF32 = {10, -126, 19, 0x3ffff};
const exact_format E4M3 = {3, -6, 8, 0x7f};
const exact_format E5M2 = {2, -14, 8, 0x7f};

/* ---- patterns ---- */

static uint64_t sign_bit(const exact_format *format)
{
    return UINT64_C(1) << (format->bits - 1);
}

static uint64_t infinity(const exact_format *format)
{
    return (sign_bit(format) - 1) >> format->fraction << format->fraction;
}

uint64_t exact_magnitude(const exact_format *format, uint64_t bits)
{
    return bits & (sign_bit(format) - 1);
}

bool exact_is_nan(const exact_format *format, uint64_t bits)
{
    return exact_magnitude(format, bits) > infinity(format);
}

bool exact_is_infinite(const exact_format *format, uint64_t bits)
{
    return exact_magnitude(format, bits) == infinity(format);
}

bool exact_is_zero(const exact_format *format, uint64_t bits)
{
    return exact_magnitude(format, bits) == 0;
}

bool exact_is_subnormal(const exact_format *format, uint64_t bits)
{
    uint64_t magnitude = exact_magnitude(format, bits);

    return magnitude > 0 && magnitude < UINT64_C(1) << format->fraction;
}

bool exact_is_negative(const exact_format *format, uint64_t bits)
{
    return bits & sign_bit(format);
}

uint64_t exact_infinity(const exact_format *format, bool negative)
{
    return infinity(format) | (negative ? sign_bit(format) : 0);
}

uint64_t exact_negate(const exact_format *format, uint64_t bits)
{
    return bits ^ sign_bit(format);
}

static uint64_t zero(const exact_format *format, bool negative)
{
    return negative ? sign_bit(format) : 0;
}

/* ---- numbers as integers: mantissa * 2^exponent ---- */

typedef struct scaled {
    bool negative;
    uint64_t mantissa;
    int exponent;
} scaled;

static scaled decode(const exact_format *format, uint64_t bits)
{
    uint64_t magnitude = exact_magnitude(format, bits);
    int field = (int)(magnitude >> format->fraction);
    uint64_t one = UINT64_C(1) << format->fraction;
    scaled result = {exact_is_negative(format, bits), magnitude & (one - 1),
                     format->least - format->fraction};

    if (field > 0) {
        result.mantissa |= one;
        result.exponent += field - 1;
    }
    return result;
}

/* ---- long sums: the lowest bit is 2^-BASE ---- */

#define BASE 2432
#define WORDS 76

typedef struct sum {
    bool negative;
    uint64_t words[WORDS];
} sum;

static bool bit_of(const sum *self, int at)
{
    return at >= 0 && at < WORDS * 64 && self->words[at / 64] >> (at % 64) & 1;
}

static sum place(bool negative, wide_bits mantissa, int exponent)
{
    sum result = {.negative = negative};

    for (int i = 0; i < 128; i++)
        if (mantissa >> i & 1)
            result.words[(exponent + BASE + i) / 64] |= UINT64_C(1) << ((exponent + BASE + i) % 64);
    return result;
}

static int compare_words(const sum *a, const sum *b)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

static sum add_sums(const sum *a, const sum *b)
{
    const sum *large = compare_words(a, b) >= 0 ? a : b, *small = large == a ? b : a;
    sum result = {.negative = large->negative};
    unsigned carry = 0;

    for (int i = 0; i < WORDS; i++) {
        wide_bits word = large->words[i];

        if (a->negative == b->negative)
            word += (wide_bits)small->words[i] + carry;
        else
            word -= (wide_bits)small->words[i] + carry;
        result.words[i] = (uint64_t)word;
        carry = (word >> 64) != 0;
    }
    return result;
}

static int top_of(const sum *self)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (self->words[i])
            return i * 64 + 63 - __builtin_clzll(self->words[i]);
    return -1;
}

static bool rounds_away(exact_rounding how, bool negative, bool odd, bool half, bool rest)
{
    switch (how) {
    case RN:
        return half && (rest || odd);
    case RNA:
        return half;
    case RZ:
        return false;
    case RM:
        return negative && (half || rest);
    default:
        return !negative && (half || rest);
    }
}

/* Cuts at bit `lowest`, rounded; at most 64 bits are left. */
static uint64_t cut(const sum *self, exact_rounding how, int lowest)
{
    uint64_t kept = 0;
    bool rest = false;

    for (int i = 0; i < 64; i++)
        kept |= (uint64_t)bit_of(self, lowest + i) << i;
    for (int i = 0; i < lowest - 1 && !rest; i += self->words[i / 64] || i % 64 ? 1 : 64)
        rest = bit_of(self, i);
    return kept + rounds_away(how, self->negative, kept & 1, bit_of(self, lowest - 1), rest);
}

static uint64_t encode(const exact_format *format, exact_rounding how, const sum *self)
{
    int top = top_of(self), exponent = top - BASE;
    uint64_t bits, sign = zero(format, self->negative);
    bool up = how == RN || how == RNA || how == (self->negative ? RM : RP);

    if (top < 0)
        return sign;
    if (exponent < format->least)
        exponent = format->least;
    bits = cut(self, how, exponent - format->fraction + BASE) +
           ((uint64_t)(exponent - format->least) << format->fraction);
    if (exponent - format->least > 4096 || bits >= infinity(format))
        bits = up ? infinity(format) : infinity(format) - 1;
    return sign | bits;
}

/* ---- arithmetic ---- */

/* The sum of what are neither NaN nor infinite; an exact zero takes its sign from the rounding. */
static uint64_t encode_sum(const exact_format *format, exact_rounding how, const sum *a,
                           const sum *b)
{
    sum result = add_sums(a, b);

    if (top_of(&result) < 0)
        result.negative = a->negative == b->negative ? a->negative : how == RM;
    return encode(format, how, &result);
}

static sum sum_of(const scaled *self)
{
    return place(self->negative, self->mantissa, self->exponent);
}

uint64_t exact_fma(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b,
                   uint64_t c)
{
    bool negative = exact_is_negative(format, a) != exact_is_negative(format, b);
    bool infinite = exact_is_infinite(format, a) || exact_is_infinite(format, b);
    scaled x = decode(format, a), y = decode(format, b), z = decode(format, c);
    sum product, addend;

    if (exact_is_nan(format, a) || exact_is_nan(format, b) || exact_is_nan(format, c) ||
        (infinite && (exact_is_zero(format, a) || exact_is_zero(format, b))))
        return format->nan;
    if (infinite)
        return exact_is_infinite(format, c) && exact_is_negative(format, c) != negative
                   ? format->nan
                   : exact_infinity(format, negative);
    if (exact_is_infinite(format, c))
        return c;
    product = place(negative, (wide_bits)x.mantissa * y.mantissa, x.exponent + y.exponent);
    addend = sum_of(&z);
    return encode_sum(format, how, &product, &addend);
}

uint64_t exact_add(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b)
{
    uint64_t one = (uint64_t)(0 - format->least + 1) << format->fraction;

    return exact_fma(format, how, a, one, b);
}

uint64_t exact_sub(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b)
{
    return exact_add(format, how, a, exact_negate(format, b));
}

uint64_t exact_mul(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b)
{
    bool negative = exact_is_negative(format, a) != exact_is_negative(format, b);

    return exact_fma(format, how, a, b, zero(format, negative));
}

static scaled normalized(const exact_format *format, uint64_t bits)
{
    scaled result = decode(format, bits);

    while (!(result.mantissa >> 52)) {
        result.mantissa <<= 1;
        result.exponent--;
    }
    return result;
}

uint64_t exact_div(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b)
{
    bool negative = exact_is_negative(format, a) != exact_is_negative(format, b);
    wide_bits quotient, rest;
    scaled x, y;
    sum result;

    if (exact_is_nan(format, a) || exact_is_nan(format, b) ||
        (exact_is_infinite(format, a) && exact_is_infinite(format, b)) ||
        (exact_is_zero(format, a) && exact_is_zero(format, b)))
        return format->nan;
    if (exact_is_infinite(format, a) || exact_is_zero(format, b))
        return exact_infinity(format, negative);
    if (exact_is_zero(format, a) || exact_is_infinite(format, b))
        return zero(format, negative);
    x = normalized(format, a);
    y = normalized(format, b);
    quotient = ((wide_bits)x.mantissa << 70) / y.mantissa;
    rest = ((wide_bits)x.mantissa << 70) % y.mantissa;
    result = place(negative, quotient << 1 | (rest != 0), x.exponent - y.exponent - 71);
    return encode(format, how, &result);
}

uint64_t exact_rcp(const exact_format *format, exact_rounding how, uint64_t a)
{
    return exact_div(format, how, (uint64_t)(0 - format->least + 1) << format->fraction, a);
}

uint64_t exact_sqrt(const exact_format *format, exact_rounding how, uint64_t a)
{
    wide_bits radicand, root = 0;
    scaled x;
    sum result;

    if (exact_is_nan(format, a) || (exact_is_negative(format, a) && !exact_is_zero(format, a)))
        return format->nan;
    if (exact_is_zero(format, a) || exact_is_infinite(format, a))
        return a;
    x = normalized(format, a);
    if (x.exponent % 2 != 0) {
        x.mantissa <<= 1;
        x.exponent--;
    }
    radicand = (wide_bits)x.mantissa << 72;
    for (int i = 63; i >= 0; i--) {
        wide_bits next = root | (wide_bits)1 << i;

        if (next * next <= radicand)
            root = next;
    }
    result = place(false, root << 1 | (root * root != radicand), (x.exponent - 72) / 2 - 1);
    return encode(format, how, &result);
}

/* ---- modifiers ---- */

uint64_t exact_flush(const exact_format *format, uint64_t bits)
{
    return exact_is_subnormal(format, bits) ? bits & sign_bit(format) : bits;
}

uint64_t exact_saturate(const exact_format *format, uint64_t bits)
{
    uint64_t one = (uint64_t)(0 - format->least + 1) << format->fraction;

    if (exact_is_nan(format, bits) || exact_is_negative(format, bits))
        return 0;
    return bits > one ? one : bits;
}

uint64_t exact_relu(const exact_format *format, uint64_t bits)
{
    if (exact_is_nan(format, bits))
        return format->nan;
    return exact_is_negative(format, bits) ? 0 : bits;
}

/* ---- order ---- */

/* Grows with the number; -0 comes before +0. */
static int64_t rank_of(const exact_format *format, uint64_t bits)
{
    int64_t magnitude = (int64_t)exact_magnitude(format, bits);

    return exact_is_negative(format, bits) ? -magnitude - 1 : magnitude;
}

static bool settle_nan(const exact_format *format, bool nan_wins, uint64_t a, uint64_t b,
                       uint64_t *out)
{
    bool one = exact_is_nan(format, a), two = exact_is_nan(format, b);

    if (!one && !two)
        return false;
    *out = nan_wins || (one && two) ? format->nan : one ? b : a;
    return true;
}

uint64_t exact_min(const exact_format *format, bool nan_wins, uint64_t a, uint64_t b)
{
    uint64_t result;

    if (settle_nan(format, nan_wins, a, b, &result))
        return result;
    return rank_of(format, a) < rank_of(format, b) ? a : b;
}

uint64_t exact_max(const exact_format *format, bool nan_wins, uint64_t a, uint64_t b)
{
    uint64_t result;

    if (settle_nan(format, nan_wins, a, b, &result))
        return result;
    return rank_of(format, a) > rank_of(format, b) ? a : b;
}

int exact_compare(const exact_format *format, uint64_t a, uint64_t b)
{
    int64_t one = rank_of(format, a), two = rank_of(format, b);

    if (exact_is_nan(format, a) || exact_is_nan(format, b))
        return 2;
    if (exact_is_zero(format, a) && exact_is_zero(format, b))
        return 0;
    return one < two ? -1 : one > two;
}

/* ---- conversions ---- */

uint64_t exact_convert(const exact_format *to, const exact_format *from, exact_rounding how,
                       uint64_t bits)
{
    scaled x = decode(from, bits);
    sum exact;

    if (exact_is_nan(from, bits))
        return to->nan;
    if (exact_is_infinite(from, bits))
        return exact_infinity(to, exact_is_negative(from, bits));
    exact = sum_of(&x);
    return encode(to, how, &exact);
}

/* The whole part of a magnitude, rounded, and whether it fits into 64 bits. */
static uint64_t whole_of(const sum *exact, exact_rounding how, bool *out_fits)
{
    uint64_t whole = cut(exact, how, BASE);

    *out_fits = top_of(exact) < BASE + 64 && !(whole == 0 && top_of(exact) == BASE + 63);
    return whole;
}

uint64_t exact_whole(const exact_format *format, exact_rounding how, uint64_t bits)
{
    scaled x = decode(format, bits);
    sum exact;
    bool fits;
    uint64_t whole;

    if (exact_is_nan(format, bits))
        return format->nan;
    if (exact_is_infinite(format, bits))
        return bits;
    exact = sum_of(&x);
    if (top_of(&exact) > BASE + 60)
        return bits;
    whole = whole_of(&exact, how, &fits);
    exact = place(exact.negative, whole, 0);
    return encode(format, RN, &exact);
}

uint64_t exact_to_integer(const exact_format *from, exact_rounding how, unsigned bits_to,
                          bool is_signed, uint64_t bits)
{
    uint64_t most = UINT64_MAX >> (64 - bits_to + is_signed), whole;
    bool negative = exact_is_negative(from, bits), fits;
    scaled x = decode(from, bits);
    sum exact;

    if (exact_is_nan(from, bits)) {
        uint64_t top = UINT64_C(1) << (bits_to - 1);

        if (from != &F64 && bits_to != 64)
            return 0;
        return is_signed ? UINT64_MAX << (bits_to - 1) : top;
    }
    if (exact_is_infinite(from, bits))
        return negative ? (is_signed ? ~most : 0) : most;
    exact = sum_of(&x);
    whole = whole_of(&exact, how, &fits);
    if (negative)
        return !is_signed ? 0 : !fits || whole > most + 1 ? ~most : 0 - whole;
    return !fits || whole > most ? most : whole;
}

uint64_t exact_from_integer(const exact_format *to, exact_rounding how, bool is_signed,
                            uint64_t value)
{
    bool negative = is_signed && (int64_t)value < 0;
    sum exact = place(negative, negative ? 0 - value : value, 0);

    return encode(to, how, &exact);
}

double exact_value(const exact_format *format, uint64_t bits)
{
    uint64_t wide = exact_convert(&F64, format, RN, bits);
    double value;

    memcpy(&value, &wide, sizeof value);
    return value;
}
