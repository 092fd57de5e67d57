/*
 * A reference for floating-point numbers that shares nothing with lib/ptx: exact integers of many
 * words, rounded once. Numbers are bit patterns.
 */
#ifndef CX_TEST_EXACT_H
#define CX_TEST_EXACT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct exact_format {
    int fraction; /* bits */
    int least;    /* exponent of the smallest normal number */
    int bits;     /* of a number */
    uint64_t nan; /* that operations give */
} exact_format;

extern const exact_format F16, BF16, F32, F64, TF32, E4M3, E5M2;

typedef enum exact_rounding { RN, RZ, RM, RP, RNA } exact_rounding;

bool exact_is_nan(const exact_format *format, uint64_t bits);
bool exact_is_infinite(const exact_format *format, uint64_t bits);
bool exact_is_zero(const exact_format *format, uint64_t bits);
bool exact_is_subnormal(const exact_format *format, uint64_t bits);
bool exact_is_negative(const exact_format *format, uint64_t bits);
uint64_t exact_infinity(const exact_format *format, bool negative);
uint64_t exact_negate(const exact_format *format, uint64_t bits);
uint64_t exact_magnitude(const exact_format *format, uint64_t bits);

uint64_t exact_add(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b);
uint64_t exact_sub(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b);
uint64_t exact_mul(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b);
uint64_t exact_div(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b);
uint64_t exact_fma(const exact_format *format, exact_rounding how, uint64_t a, uint64_t b,
                   uint64_t c);
uint64_t exact_sqrt(const exact_format *format, exact_rounding how, uint64_t a);
uint64_t exact_rcp(const exact_format *format, exact_rounding how, uint64_t a);

/* Subnormal numbers become zero of the same sign. */
uint64_t exact_flush(const exact_format *format, uint64_t bits);
/* Clamped to [0, 1]; NaN and -0 become +0. */
uint64_t exact_saturate(const exact_format *format, uint64_t bits);
/* Negative numbers become +0. */
uint64_t exact_relu(const exact_format *format, uint64_t bits);

/* -0 is less than +0. Of a NaN and a number the number, unless `nan_wins`. */
uint64_t exact_min(const exact_format *format, bool nan_wins, uint64_t a, uint64_t b);
uint64_t exact_max(const exact_format *format, bool nan_wins, uint64_t a, uint64_t b);

/* -1, 0, 1; 2: not ordered. */
int exact_compare(const exact_format *format, uint64_t a, uint64_t b);

uint64_t exact_convert(const exact_format *to, const exact_format *from, exact_rounding how,
                       uint64_t bits);
/* To the nearest whole number in that direction. */
uint64_t exact_whole(const exact_format *format, exact_rounding how, uint64_t bits);
/* To an integer of so many bits, clamped; NaN as PTX demands. */
uint64_t exact_to_integer(const exact_format *from, exact_rounding how, unsigned bits_to,
                          bool is_signed, uint64_t bits);
uint64_t exact_from_integer(const exact_format *to, exact_rounding how, bool is_signed,
                            uint64_t value);

double exact_value(const exact_format *format, uint64_t bits);

#endif
