/* Arithmetic with another rounding than to nearest. The operands are volatile: the compiler must
 * not compute anything before the rounding is set, or after it is restored. */
#include "ptx/direction.h"
#include "ptx/grid.h"

#include <math.h>

float cx_ptx_round_f32(cx_ptx_sum what, int how, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, result;
    cx_ptx_direction before = cx_ptx_direction_begin(how);

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
    cx_ptx_direction_end(before);
    return result;
}

double cx_ptx_round_f64(cx_ptx_sum what, int how, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, result;
    cx_ptx_direction before = cx_ptx_direction_begin(how);

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
    cx_ptx_direction_end(before);
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
