/* Arithmetic with another rounding than to nearest. The operands are volatile: the compiler must
 * not compute anything before the rounding is set, or after it is restored. */
#include "ptx/grid.h"

#include <fenv.h>
#include <math.h>

/* nvcc's expf has such an fma, so kernels come here often. fesetround() sets the control words of
 * x87 and SSE, which costs several times as much as the operation; float and double need the
 * latter alone. */
#if defined(__x86_64__) && defined(__SSE_MATH__)
#include <xmmintrin.h>

#define SSE_ROUNDING 0x6000u /* FE_DOWNWARD and its like are these bits, 3 lower */

typedef unsigned int rounding;

static rounding begin_rounding(int how)
{
    rounding before = _mm_getcsr();

    _mm_setcsr((before & ~SSE_ROUNDING) | (unsigned int)how << 3);
    return before;
}

static void end_rounding(rounding before)
{
    _mm_setcsr(before);
}
#else
typedef int rounding;

static rounding begin_rounding(int how)
{
    rounding before = fegetround();

    fesetround(how);
    return before;
}

static void end_rounding(rounding before)
{
    fesetround(before);
}
#endif

float cx_ptx_round_f32(cx_ptx_sum what, int how, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, result;
    rounding before = begin_rounding(how);

    switch (what) {
    case CX_PTX_SUM:
        result = x + y;
        break;
    case CX_PTX_PRODUCT:
        result = x * y;
        break;
    case CX_PTX_QUOTIENT:
        result = x / y;
        break;
    case CX_PTX_ROOT:
        result = sqrtf(x);
        break;
    default:
        result = fmaf(x, y, z);
    }
    end_rounding(before);
    return result;
}

double cx_ptx_round_f64(cx_ptx_sum what, int how, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, result;
    rounding before = begin_rounding(how);

    switch (what) {
    case CX_PTX_SUM:
        result = x + y;
        break;
    case CX_PTX_PRODUCT:
        result = x * y;
        break;
    case CX_PTX_QUOTIENT:
        result = x / y;
        break;
    case CX_PTX_ROOT:
        result = sqrt(x);
        break;
    default:
        result = fma(x, y, z);
    }
    end_rounding(before);
    return result;
}

float cx_ptx_narrow_f32(int how, long double value)
{
    volatile long double x = value;
    volatile float result;
    int before = fegetround();

    fesetround(how);
    result = (float)x;
    fesetround(before);
    return result;
}

double cx_ptx_narrow_f64(int how, long double value)
{
    volatile long double x = value;
    volatile double result;
    int before = fegetround();

    fesetround(how);
    result = (double)x;
    fesetround(before);
    return result;
}
