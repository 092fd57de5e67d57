#include "run.h"

#include <fenv.h>
#include <math.h>

enum { COUNT = 75, FUNCTIONS = 40 };

static double function_of(int which, double x, double y)
{
    switch (which) {
    case 0: return exp(x * 0.1);
    case 1: return exp2(x * 0.1);
    case 2: return pow(10, x * 0.05);
    case 3: return expm1(x * 0.1);
    case 4: return log(y);
    case 5: return log2(y);
    case 6: return log10(y);
    case 7: return log1p(y);
    case 8: return sin(x);
    case 9: return cos(x);
    case 10: return tan(x);
    case 11: return asin(x / 65);
    case 12: return acos(x / 65);
    case 13: return atan(x);
    case 14: return sinh(x * 0.1);
    case 15: return cosh(x * 0.1);
    case 16: return tanh(x * 0.1);
    case 17: return asinh(x);
    case 18: return acosh(y + 1);
    case 19: return atanh(x / 65);
    case 20: return sqrt(y);
    case 21: return cbrt(x);
    case 22: return pow(y, x * 0.05);
    case 23: return atan2(x, y);
    case 24: return hypot(x, y);
    case 25: return fmod(x, y);
    case 26: return erf(x * 0.1);
    case 27: return erfc(x * 0.1);
    case 28: return lgamma(y);
    case 29: return tgamma(y * 0.3);
    case 30: return floor(x);
    case 31: return ceil(x);
    case 32: return trunc(x);
    case 33: return round(x);
    case 34: return fdim(x, y);
    case 35: return fmax(x, y);
    case 36: return ldexp(x, 3);
    case 37: return remainder(x, y);
    case 38: return 1 / sqrt(y);
    default: return fma(x, y, 1);
    }
}

/* Arguments are multiples of 1/8, so that x and y are the same numbers in float and double; values
 * near a pole or a large result are compared by their own size. */
static void near_function(int which, size_t at, double found, double x, double tolerance)
{
    double expected = function_of(which, x, fabs(x) * 0.25 + 0.5);

    ck_assert_msg(fabs(found - expected) <= tolerance * (1 + fabs(expected)),
                  "function %d of %g, number %zu: %.17g, not %.17g", which, x, at, found, expected);
}

static void check_float_functions(void)
{
    float *in = make_floats(COUNT), *out = make_memory(FUNCTIONS * COUNT * 4);
    int n = COUNT;

    LAUNCH("float_functions", line_over(COUNT, 50), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < FUNCTIONS * COUNT; i++)
        near_function(i / COUNT, (size_t)i, out[i], in[i % COUNT], 2e-5);
}

static void check_double_functions(void)
{
    float *in = make_floats(COUNT);
    double *out = make_memory(FUNCTIONS * COUNT * 8);
    int n = COUNT;

    LAUNCH("double_functions", line_over(COUNT, 50), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < FUNCTIONS * COUNT; i++)
        near_function(i / COUNT, (size_t)i, out[i], in[i % COUNT], 1e-13);
}

static void check_turn_far(void)
{
    double *in = make_memory(COUNT * 8), *out = make_memory(3 * COUNT * 8);
    int n = COUNT;

    for (int i = 0; i < n; i++)
        in[i] = (float)(ldexp(1 + below(1000) / 1024.0, i) * (i % 2 ? -1 : 1));
    LAUNCH("turn_far", line_over(COUNT, 32), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        NEAR(i, out[3 * i], sin(in[i]), 1e-14);
        NEAR(i, out[3 * i + 1], cos(in[i]), 1e-14);
        NEAR(i, out[3 * i + 2], sin(in[i]), 1e-6);
    }
}

static void check_approximate(void)
{
    float *in = make_floats(COUNT), *out = make_memory(6 * COUNT * 4);
    int n = COUNT;

    LAUNCH("approximate", line_over(COUNT, 20), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        double x = in[i] * 0.05f;
        const double expected[] = {exp(x), log(fabs(x) + 1), sin(x),
                                   cos(x), x / 3,            pow(fabs(x) + 1, 1.5)};

        for (size_t k = 0; k < 6; k++)
            NEAR(6 * i + k, out[6 * i + k], expected[k], 1e-5);
    }
}

/* The compiler must not compute across changes of the rounding. */
#define ROUNDED(mode, result, expression) \
    do {                                  \
        fesetround(mode);                 \
        result = (expression);            \
        fesetround(FE_TONEAREST);         \
    } while (0)

static void check_round_operations(void)
{
    float *a = make_floats(COUNT), *b = make_floats(COUNT);
    double *out = make_memory(12 * COUNT * 8);
    int n = COUNT;

    LAUNCH("round_operations", line_over(COUNT, 45), VALUE(a), VALUE(b), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        volatile float x = a[i] + 0.1f, y = b[i] + 0.7f, f[8];
        volatile double dx = x, dy = y, tenth = 0.1, three = 3, d[4];

        ROUNDED(FE_TONEAREST, f[0], x + y);
        ROUNDED(FE_UPWARD, f[1], x + y);
        ROUNDED(FE_DOWNWARD, f[2], x * y);
        ROUNDED(FE_UPWARD, f[3], x * y);
        ROUNDED(FE_TOWARDZERO, f[4], x / y);
        ROUNDED(FE_UPWARD, f[5], sqrtf(fabsf(x)));
        ROUNDED(FE_DOWNWARD, f[6], fmaf(x, y, x));
        ROUNDED(FE_TOWARDZERO, f[7], 1 / y);
        ROUNDED(FE_DOWNWARD, d[0], dx + tenth);
        ROUNDED(FE_UPWARD, d[1], dx / three);
        ROUNDED(FE_DOWNWARD, d[2], sqrt(fabs(dy)));
        ROUNDED(FE_TOWARDZERO, d[3], fma(dx, tenth, dy));
        for (size_t k = 0; k < 12; k++)
            NEAR(12 * i + k, out[12 * i + k], k < 8 ? (double)f[k] : d[k - 8], 0);
    }
}

static const kernel_case cases[] = {
    {"float_functions", check_float_functions}, {"double_functions", check_double_functions},
    {"turn_far", check_turn_far},               {"approximate", check_approximate},
    {"round_operations", check_round_operations},
};
KERNEL_GROUP(math, cases);
