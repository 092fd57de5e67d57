/* Halves that loops compute without branches are bit for bit those of the general arithmetic. */
#include "ptx/halves.h"
#include "ptx/minifloat.h"
#include "test.h"

#include <fenv.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define CHECKED 200000
#else
#define CHECKED 2000000
#endif

static uint64_t state;

static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void restart_random(void)
{
    state = UINT64_C(88172645463325252);
}

static uint32_t single_of(const cx_ptx_minifloat *kind, uint32_t bits)
{
    return cx_ptx_bits_f32(cx_ptx_number((float)cx_ptx_minifloat_value(kind, bits)));
}

START_TEST(every_half_is_the_same_single)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        ck_assert_uint_eq(cx_ptx_bits_f32(cx_ptx_single_of_half(bits)),
                          single_of(&cx_ptx_f16, bits));
        ck_assert_uint_eq(cx_ptx_bits_f32(cx_ptx_number(cx_ptx_f32_of(bits << 16))),
                          single_of(&cx_ptx_bf16, bits));
    }
}
END_TEST

static void check_single(uint32_t bits)
{
    float value = cx_ptx_f32_of(bits);

    ck_assert_msg(cx_ptx_half_of_single(value) ==
                      cx_ptx_minifloat_of(&cx_ptx_f16, value, FE_TONEAREST),
                  "%x as f16", bits);
    ck_assert_msg(cx_ptx_brain_of_single(value) ==
                      cx_ptx_minifloat_of(&cx_ptx_bf16, value, FE_TONEAREST),
                  "%x as bf16", bits);
}

/* A number, those next to it, and the ties next to it. */
START_TEST(singles_are_rounded_to_the_same_half)
{
    for (uint32_t upper = 0; upper < 0x80000; upper++)
        for (int by = -1; by <= 1; by++)
            check_single((upper << 13) + (upper & 1 ? 0x1000u : 0) + (uint32_t)by);
    restart_random();
    for (int i = 0; i < CHECKED; i++)
        check_single(next_random());
}
END_TEST

typedef uint32_t operation(uint32_t a, uint32_t b, uint32_t c);

static const struct row {
    const char *name;
    operation *loop;
    cx_ptx_minifloat_op *general;
    const cx_ptx_minifloat *kind;
} rows[] = {
#define ROWS_OF(type)                                                                  \
    {#type " add", cx_ptx_##type##_add, cx_ptx_minifloat_add, &cx_ptx_##type},         \
        {#type " sub", cx_ptx_##type##_sub, cx_ptx_minifloat_sub, &cx_ptx_##type},     \
        {#type " mul", cx_ptx_##type##_mul, cx_ptx_minifloat_mul, &cx_ptx_##type},     \
        {#type " fma", cx_ptx_##type##_fma, cx_ptx_minifloat_fma, &cx_ptx_##type}
    ROWS_OF(f16), ROWS_OF(bf16)};

/* Any; near a tie; a small product and a large sum; specials. */
static uint32_t make_operand(int i, int operand)
{
    static const uint32_t special[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x7bff, 0x7c00,
                                       0x7e00, 0x7f7f, 0x7f80, 0x7fff, 0xfc00, 0xff80, 0x80};
    uint32_t bits = next_random() & 0xffff;

    switch (i % 4) {
    case 1:
        return operand < 2 ? (bits & 0x83ff) | 0x3800 : bits;
    case 2:
        return operand < 2 ? bits & 0x87ff : (bits & 0x8000) | (0x7bff - (bits & 3));
    case 3:
        return bits % 3 ? bits : special[bits % (sizeof special / sizeof special[0])];
    default:
        return bits;
    }
}

START_TEST(sums_and_products_of_halves_are_the_same)
{
    const struct row *row = &rows[_i];

    restart_random();
    for (int i = 0; i < CHECKED; i++) {
        uint32_t a = make_operand(i, 0), b = make_operand(i, 1), c = make_operand(i, 2);

        ck_assert_msg(row->loop(a, b, c) == row->general(row->kind, a, b, c), "%s of %x %x %x",
                      row->name, a, b, c);
    }
}
END_TEST

static Suite *halves_suite(void)
{
    Suite *suite = suite_create("halves");
    TCase *all = tcase_create("all");

    tcase_add_test(all, every_half_is_the_same_single);
    tcase_add_test(all, singles_are_rounded_to_the_same_half);
    tcase_add_loop_test(all, sums_and_products_of_halves_are_the_same, 0,
                        (int)(sizeof rows / sizeof rows[0]));
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(halves_suite);
