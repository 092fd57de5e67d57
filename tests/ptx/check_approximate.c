/* Approximations are within 0.501 units in the last place, for all lanes in the code of each
 * processor and for one lane. */
#include "ptx/approximate.h"
#include "ptx/lanes.h"
#include "test.h"

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define CHECKED 2000 /* rows */
#else
#define CHECKED 40000
#endif

static double log2_of(double value)
{
    return (double)log2l(value);
}

static const struct function {
    const char *name;
    cx_ptx_op op;
    float (*one)(float);
    double (*exact)(double);
    double limit; /* of usual operands */
} functions[] = {
    {"ex2", CX_PTX_OP_ex2_f32, cx_ptx_exp2, exp2, 160},
    {"lg2", CX_PTX_OP_lg2_f32, cx_ptx_log2, log2_of, 2},
    {"sin", CX_PTX_OP_sin_f32, cx_ptx_sin, sin, 4096},
    {"cos", CX_PTX_OP_cos_f32, cx_ptx_cos, cos, 4096},
    {"tanh", CX_PTX_OP_tanh_f32, cx_ptx_tanh, tanh, 12},
};

static const uint32_t special[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f7fffff,
    0x3f800001, 0x3f3504f3, 0x3fb504f3, 0x43160000, 0xc3150000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
    0xff800000, 0x7fc00000, 0x49800000, 0x497fffff, 0x40490fdb, 0x3fc90fdb, 0xc2fc0000, 0x42ffffff};

static uint64_t state;

static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* Rows of usual operands, of any bits, and of those among special ones. */
static float make_operand(const struct function *of, int row)
{
    const uint32_t bits = next_random();

    if (row % 4 == 3 && bits % 3 == 0)
        return cx_ptx_f32_of(special[bits / 3 % (sizeof special / sizeof special[0])]);
    if (row % 4 == 2)
        return cx_ptx_f32_of(bits);
    return (float)(((double)bits / 0x1p31 - 1) * of->limit);
}

/* In units in the last place of a single. */
static double error_of(float found, double exact)
{
    int exponent = 0;

    if (isnan(exact))
        return isnan(found) ? 0 : INFINITY;
    if (isinf((float)exact) || isinf(found))
        return (float)exact == found ? 0 : INFINITY;
    if (exact == 0)
        return found == 0 && !signbit(found) == !signbit(exact) ? 0 : INFINITY;
    frexp(exact, &exponent);
    return fabs(found - exact) / ldexp(1, exponent < -125 ? -149 : exponent - 24);
}

START_TEST(approximations_are_close)
{
    static const char *const kinds[] = {"baseline", "avx2", "avx512"};
    const struct function *of = &functions[_i];
    _Alignas(CX_PTX_ROW_ALIGN) float operands[CX_PTX_WARP_SIZE], found[CX_PTX_WARP_SIZE];

    state = UINT64_C(88172645463325252);
    for (int row = 0; row < CHECKED; row++) {
        for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
            operands[lane] = make_operand(of, row);
        for (int kind = 0; kind < 3; kind++) {
            cx_ptx_lanes_find(kinds[kind])->whole[of->op](found, operands, operands, operands);
            for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
                const float one = cx_ptx_number(of->one(operands[lane]));

                ck_assert_msg(error_of(found[lane], of->exact(operands[lane])) <= 0.501,
                              "%s, %s of %a: %a", kinds[kind], of->name, (double)operands[lane],
                              (double)found[lane]);
                ck_assert_msg(cx_ptx_bits_f32(one) == cx_ptx_bits_f32(found[lane]),
                              "%s, %s of %a: %a, and %a for one lane", kinds[kind], of->name,
                              (double)operands[lane], (double)found[lane], (double)one);
            }
        }
    }
}
END_TEST

static Suite *approximate_suite(void)
{
    Suite *suite = suite_create("approximate");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 300);
    tcase_add_loop_test(all, approximations_are_close, 0,
                        (int)(sizeof functions / sizeof functions[0]));
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(approximate_suite);
