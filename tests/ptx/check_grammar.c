/* The grammar of operands and declarations: constant expressions, elements of arrays, registers
 * that are vectors, variables that are declared before they are defined. */
#include "texts.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                      \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n" \
    ".reg .b32 %r<8>;\n.reg .b64 %d<8>;\nld.param.u64 %d1, [out];\n"
#define LEAVE "\nret;\n}\n"
#define KERNEL(declarations, body) HEAD declarations ENTRY body LEAVE

static uint64_t run_one(const char *text)
{
    uint64_t words[4] = {0};

    text_run(text, words, sizeof words, 1);
    return words[0];
}

/* ---- constant expressions ---- */

static uint64_t value_of(const char *expression)
{
    char text[1024];

    snprintf(text, sizeof text, "%s%s%s", HEAD ENTRY "mov.b64 %d2, ", expression,
             ";\nst.global.u64 [%d1], %d2;" LEAVE);
    return run_one(text);
}

/* Precedence is what is tested. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
START_TEST(a_constant_expression_has_the_value_that_c_gives_it)
{
#define ROW(expression)                     \
    {                                       \
#expression, (uint64_t)(expression) \
    }
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {
        ROW(-9),
        ROW(+9),
        ROW(!9),
        ROW(!0),
        ROW(!(3 - 3)),
        ROW(- -4),
        ROW(-~7),
        ROW(!!5),
        ROW(2 + 3 * 4),
        ROW((2 + 3) * 4),
        ROW(2 * 3 - 4 * 5),
        ROW(20 - 4 - 3),
        ROW(64 / 4 / 2),
        ROW(-17 / 4),
        ROW(-17 * 3 - 1),
        ROW(29 - 17 / 5),
        ROW(1 << 4 + 1),
        ROW(1 << 3 << 2),
        ROW(0x100 >> 4),
        ROW(-256 >> 4),
        ROW(3 < 4),
        ROW(4 <= 3),
        ROW(-1 < 1),
        ROW(-1 >= 1),
        ROW(5 > 4 == 1),
        ROW(5 != 4),
        ROW(5 == 4),
        ROW(6 & 3 == 3),
        ROW((6 & 3) == 2),
        ROW(12 ^ 10),
        ROW(12 | 3 ^ 1 & 7),
        ROW(1 && 2),
        ROW(1 && 0 || 1),
        ROW(0 || 0 && 1),
        ROW(1 ? 2 : 3),
        ROW(0 ? 2 : 3),
        ROW(0   ? 1
            : 0 ? 4
                : 5),
        ROW(1 ? 0 ? 6 : 7 : 8),
        ROW((1 + 1) << (3 - 1)),
        ROW(0777 + 010),
        {"0x7fffffffffffffff + 1U", 0x8000000000000000},
        {"(.s64)5 - 6", UINT64_MAX},
        {"(.u64)-1 / 2", INT64_MAX},
        {"(.s64)(.u64)-8 / 2", -4ULL},
        {"-8 / 2U", 0x7ffffffffffffffc},
        {"0b101 * 3", 15},
        {"17 % 5", 2},
        {"-17 % 5", -2ULL},
        {"100 %(3 + 4)", 2},
        {"WARP_SZ / 2", 16},
        {"~(WARP_SZ - 1)", ~31ULL},
        {"-WARP_SZ", -32ULL},
        {"!WARP_SZ", 0},
        {"~0 > 0", 1},
        {"-1 > 0U", 1},
        {"1.5 < 2.0", 1},
        {"2.5 == 2.5 ? 8 : 9", 8},
        {"1 << 64", 0},
        {"-1 >> 70", UINT64_MAX},
        {"1.5 + 2.0 * 3.0", 0x401e000000000000},
        {"-(0.5 - 2.0)", 0x3ff8000000000000},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(value_of(rows[i].text) == rows[i].value, "%s: %#llx", rows[i].text,
                      (unsigned long long)value_of(rows[i].text));
}
END_TEST
#pragma GCC diagnostic pop

START_TEST(a_wrong_constant_expression_is_refused)
{
    static const struct {
        const char *text, *complaint;
    } rows[] = {{"5 / 0", "divides by 0"},
                {"5 % 0", "divides by 0"},
                {"(5", "')' is missing"},
                {"5 +", "is no operand"},
                {"1 ? 2", "':' is missing"},
                {"~1.5", "'~' before a float"},
                {"1.5 | 2.0", "operator of integers"},
                {"1.0 && 2.0", "operator of integers"},
                {"1.5 + 2", "an integer and a float"},
                {"1 ? 2 : 3.0", "an integer and a float"},
                {"(.f32)1", "is no type"},
                {"(.s64)1.5", "a float as an integer"}};
    char text[1024];
    CUmodule module;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s;%s", HEAD ENTRY "mov.b64 %d2, ", rows[i].text, LEAVE);
        ck_result(text_load(text, &module), INVALID_PTX);
        ck_assert_msg(strstr(text_complaint, rows[i].complaint), "%s: %s", rows[i].text,
                      text_complaint);
    }
}
END_TEST

START_TEST(parentheses_may_be_nested_up_to_a_limit)
{
    char text[2048], open[1024], close[1024];
    CUmodule module;

    memset(open, '(', sizeof open);
    memset(close, ')', sizeof close);
    snprintf(text, sizeof text, "%s%.20s7%.20s%s", HEAD ENTRY "mov.b64 %d2, ", open, close,
             ";\nst.u64 [%d1], %d2;" LEAVE);
    ck_assert_uint_eq(run_one(text), 7);
    snprintf(text, sizeof text, "%s%.700s7%.700s;%s", HEAD ENTRY "mov.b64 %d2, ", open, close,
             LEAVE);
    ck_result(text_load(text, &module), INVALID_PTX);
}
END_TEST

START_TEST(expressions_stand_where_numbers_stand)
{
    ck_assert_uint_eq(
        run_one(KERNEL(".global .u32 v[4] = {1 << 2, 7 * -1, ~(3 | 4), WARP_SZ};\n",
                       "ld.global.u32 %r1, [v + 4 * 0];\nld.global.u32 %r2, [v+(1<<3)];\n"
                       "mov.u64 %d2, v + 2 * 6;\nld.global.u32 %r3, [%d2];\n"
                       "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n"
                       "shl.b32 %r1, %r1, (1 + 1);\nst.global.u32 [%d1], %r1;")),
        ((4 + 0xfffffff8u + 32) << 2) & UINT32_MAX);
    ck_assert_uint_eq(run_one(KERNEL("", "setp.eq.u32 %p1, 1, 1;\nselp.u32 %r1, 2 * 3, 4, !%p1;\n"
                                         "st.global.u32 [%d1], %r1;")),
                      4);
}
END_TEST

/* ---- elements of arrays ---- */

START_TEST(an_array_is_indexed_by_numbers_and_registers)
{
    static const struct {
        const char *code;
        uint32_t value;
    } rows[] = {
        {"ld.global.u32 %r1, g[2];", 12},
        {"ld.global.u32 %r1, g[4 - 1];", 13},
        {"mov.u32 %r2, 1;\nld.global.u32 %r1, g[%r2];", 11},
        {"mov.u32 %r2, 1;\nld.global.u32 %r1, g[%r2 + 2];", 13},
        {"mov.b16 %h1, 3;\nld.global.u32 %r1, g[%h1];", 13},
        {"mov.b64 %d2, 2;\nld.global.u32 %r1, g[%d2];", 12},
        {"mov.u64 %d2, g[1];\nld.global.u32 %r1, [%d2+4];", 12},
        {"mov.u32 %r2, 3;\nmov.u64 %d2, g[%r2];\nld.global.u32 %r1, [%d2];", 13},
        {"mov.u32 %r2, 3;\nst.shared.u32 s[%r2], 9;\nld.shared.u32 %r1, [s+12];", 9},
        {"st.shared.u32 s[1], 8;\nmov.u32 %r2, s[1];\nld.shared.u32 %r1, [%r2];", 8},
        {"mov.u32 %r2, 1;\nst.local.v2.u32 l[%r2], {5, 6};\nld.local.u32 %r1, [l+12];", 6},
        {"ld.const.u16 %r1, c[1];", 22},
    };
    char text[1024];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s%s",
                 HEAD ".global .u32 g[4] = {10, 11, 12, 13};\n.const .u16 c[2] = {21, 22};\n"
                      ".shared .u32 s[4];\n" ENTRY ".local .v2 .u32 l[2];\n",
                 rows[i].code, "\nst.global.u32 [%d1], %r1;" LEAVE);
        ck_assert_msg(run_one(text) == rows[i].value, "%s", rows[i].code);
    }
}
END_TEST

START_TEST(a_signed_register_indexes_backwards)
{
    ck_assert_uint_eq(
        run_one(KERNEL(".global .u32 g[4] = {10, 11, 12, 13};\n",
                       ".reg .s32 %i;\nmov.s32 %i, -2;\nld.global.u32 %r1, g[%i + 3];\n"
                       "st.global.u32 [%d1], %r1;")),
        11);
}
END_TEST

START_TEST(what_is_no_array_has_no_elements)
{
    static const char *const bodies[] = {
        "ld.global.u32 %r1, x[0];", "ld.global.u32 %r1, two[0];", "ld.global.u32 %r1, g[1.5];",
        "ld.global.u32 %r1, g[x];", "ld.global.u32 %r1, g[1;",    "ld.global.u32 %r1, g[%p1];"};
    char text[1024];
    CUmodule module;

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        snprintf(text, sizeof text, "%s%s%s", HEAD ".global .u32 x, two[2][2], g[4];\n" ENTRY,
                 bodies[i], LEAVE);
        ck_assert_msg(text_load(text, &module) != CXU_SUCCESS, "%s", bodies[i]);
    }
}
END_TEST

/* ---- vectors ---- */

START_TEST(a_register_may_be_a_vector)
{
    uint32_t words[8] = {1, 2, 3, 4};

    text_run(KERNEL("", ".reg .v4 .b32 v, w;\n.reg .v2 .b32 p<2>;\nld.global.v4.b32 v, [%d1];\n"
                        "mov.v4.b32 w, v;\nmov.b32 v.x, v.w;\nadd.u32 v.y, w.r, w.g;\n"
                        "mov.b32 %r1, 7;\nmov.v4.b32 {v.z, v.w, %r1, %r2}, {v.w, v.z, %r1, v.x};\n"
                        "mov.v2.b32 p1, {%r1, %r2};\n"
                        "mov.v2.b32 {p1.x, p1.y}, {p1.y, p1.x};\n"
                        "st.global.v4.b32 [%d1], v;\nst.global.v2.b32 [%d1+16], p1;"),
             words, sizeof words, 1);
    ck_assert_uint_eq(words[0], 4);
    ck_assert_uint_eq(words[1], 3);
    ck_assert_uint_eq(words[2], 4);
    ck_assert_uint_eq(words[3], 3);
    ck_assert_uint_eq(words[4], 4);
    ck_assert_uint_eq(words[5], 7);
}
END_TEST

/* ---- declarations ---- */

START_TEST(a_variable_is_defined_behind_its_declaration)
{
    ck_assert_uint_eq(run_one(HEAD ".extern .global .u32 t[2];\n.extern .global .u32 open[];\n"
                                   ".extern .const .u16 c;\n.func f() { ret; }\n"
                                   ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n"
                                   ".reg .b64 %d;\nld.param.u64 %d, [out];\n"
                                   "ld.global.u32 %r1, [t+4];\nld.global.u32 %r2, [open+8];\n"
                                   "add.u32 %r1, %r1, %r2;\nld.const.u16 %r3, [c];\n"
                                   "add.u32 %r1, %r1, %r3;\nst.global.u32 [%d], %r1;\nret;\n}\n"
                                   ".visible .global .u32 other, t[2] = {1, 20};\n"
                                   ".visible .global .u32 open[] = {3, 4, 500};\n"
                                   ".visible .const .u16 c = 7000;\n"),
                      7520);
}
END_TEST

START_TEST(a_table_of_functions_is_defined_behind_the_kernel_that_calls_them)
{
    ck_assert_uint_eq(
        run_one(HEAD ".extern .global .u64 table[2];\n.visible .entry k(.param .u64 out)\n{\n"
                     ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n.param .b32 r;\n"
                     "ld.param.u64 %d1, [out];\nld.global.u64 %d2, [table+8];\n"
                     "P: .callprototype (.param .b32 _) _ ();\ncall (r), %d2, (), P;\n"
                     "ld.param.b32 %r1, [r];\nst.global.u32 [%d1], %r1;\nret;\n}\n"
                     ".func (.param .b32 r) one() { st.param.b32 [r], 11; ret; }\n"
                     ".func (.param .b32 r) two() { st.param.b32 [r], 22; ret; }\n"
                     ".visible .global .u64 table[2] = {one, two};\n"),
        22);
}
END_TEST

START_TEST(a_declaration_that_nothing_defines_is_a_definition)
{
    ck_assert_uint_eq(run_one(HEAD
                              ".extern .global .u32 t[2];\n.visible .entry k(.param .u64 out)\n"
                              "{\n.reg .b32 %r;\n.reg .b64 %d;\nld.param.u64 %d, [out];\n"
                              "st.global.u32 [t+4], 6;\nld.global.u32 %r, [t+4];\n"
                              "st.global.u32 [%d], %r;\nret;\n}\n"),
                      6);
}
END_TEST

START_TEST(a_definition_has_the_space_and_the_size_of_its_declaration)
{
    static const char *const texts[] = {
        HEAD ".extern .global .u32 t;\n.const .u32 t = 1;\n",
        HEAD ".extern .global .u32 t[];\n",
    };
    CUmodule module;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_result(text_load(texts[i], &module), INVALID_PTX);
}
END_TEST

/* ---- faults ---- */

START_TEST(a_vote_by_a_lane_that_its_mask_leaves_out_says_so)
{
    CUdeviceptr out = make_memory(4);
    char text[400];

    ck_result(text_launch(KERNEL("", "vote.sync.ballot.b32 %r1, 1, 2;\nst.global.u32 [%d1], %r1;"),
                          out, 1),
              ILLEGAL_INSTRUCTION);
    ck_assert(cx_emu_explain(CXU_ILLEGAL_INSTRUCTION, text, sizeof text));
    ck_assert_msg(strstr(text, "mask of the thread does not name the thread's own lane"), "%s",
                  text);
}
END_TEST

static Suite *grammar_suite(void)
{
    Suite *suite = suite_create("grammar");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, work_setup, work_teardown);
    tcase_add_test(all, a_constant_expression_has_the_value_that_c_gives_it);
    tcase_add_test(all, a_wrong_constant_expression_is_refused);
    tcase_add_test(all, parentheses_may_be_nested_up_to_a_limit);
    tcase_add_test(all, expressions_stand_where_numbers_stand);
    tcase_add_test(all, an_array_is_indexed_by_numbers_and_registers);
    tcase_add_test(all, a_signed_register_indexes_backwards);
    tcase_add_test(all, what_is_no_array_has_no_elements);
    tcase_add_test(all, a_register_may_be_a_vector);
    tcase_add_test(all, a_variable_is_defined_behind_its_declaration);
    tcase_add_test(all, a_table_of_functions_is_defined_behind_the_kernel_that_calls_them);
    tcase_add_test(all, a_declaration_that_nothing_defines_is_a_definition);
    tcase_add_test(all, a_definition_has_the_space_and_the_size_of_its_declaration);
    tcase_add_test(all, a_vote_by_a_lane_that_its_mask_leaves_out_says_so);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(grammar_suite);
