/*
 * Floats of 16 and fewer bits: computed wider, rounded once. Operands and results are bit patterns.
 */
#ifndef CX_PTX_MINIFLOAT_H
#define CX_PTX_MINIFLOAT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cx_ptx_minifloat {
    int fraction; /* bits */
    int least;    /* exponent of the smallest normal number */
    int bits;
    uint32_t infinity; /* its pattern; of E4M3, which has none, that of NaN */
    double unit;       /* the smallest subnormal number */
} cx_ptx_minifloat;

extern const cx_ptx_minifloat cx_ptx_f16, cx_ptx_bf16, cx_ptx_e4m3, cx_ptx_e5m2, cx_ptx_tf32;
/* Without infinity and NaN: larger numbers, and NaN, become the largest one. */
extern const cx_ptx_minifloat cx_ptx_e2m3, cx_ptx_e3m2, cx_ptx_e2m1;

double cx_ptx_minifloat_value(const cx_ptx_minifloat *kind, uint32_t bits);

/* Rounds as fesetround() names it; ties away from zero: CX_PTX_TIES_AWAY. NaN has all bits set but
 * the sign. */
#define CX_PTX_TIES_AWAY (-1)
uint32_t cx_ptx_minifloat_of(const cx_ptx_minifloat *kind, double value, int how);

/* A sum, or a narrowed number, that rounds as the exact one does when it is rounded again. */
double cx_ptx_sum_to_odd(double a, double b);
double cx_ptx_narrow_to_odd(long double value);

typedef uint32_t cx_ptx_minifloat_op(const cx_ptx_minifloat *kind, uint32_t a, uint32_t b,
                                     uint32_t c);
cx_ptx_minifloat_op cx_ptx_minifloat_add, cx_ptx_minifloat_sub, cx_ptx_minifloat_mul,
    cx_ptx_minifloat_fma;
cx_ptx_minifloat_op cx_ptx_minifloat_min, cx_ptx_minifloat_max, cx_ptx_minifloat_min_nan,
    cx_ptx_minifloat_max_nan;
cx_ptx_minifloat_op cx_ptx_minifloat_min_signed, cx_ptx_minifloat_max_signed;
cx_ptx_minifloat_op cx_ptx_minifloat_min_nan_signed, cx_ptx_minifloat_max_nan_signed;
cx_ptx_minifloat_op cx_ptx_minifloat_neg, cx_ptx_minifloat_abs, cx_ptx_minifloat_flush,
    cx_ptx_minifloat_saturate;
cx_ptx_minifloat_op cx_ptx_minifloat_relu, cx_ptx_minifloat_exp2, cx_ptx_minifloat_tanh;

/* The same for both halves of a word. */
uint32_t cx_ptx_minifloat_pair(cx_ptx_minifloat_op *op, const cx_ptx_minifloat *kind, uint32_t a,
                               uint32_t b, uint32_t c);

#endif
