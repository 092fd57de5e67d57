/* The number of registers of a kernel follows the values that are live at once. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"
#define RESERVED 6
#define LEAST 8
#define OF_A_CALLEE 18

#define DECLARED                    \
    ".reg .pred %p<40>;\n"          \
    ".reg .b32 %r<40>;\n"           \
    ".reg .b64 %rd<40>;\n"          \
    ".reg .b64 %to;\n"              \
    "ld.param.u64 %to, [to];\n"

static size_t registers_of(const char *text)
{
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;
    cx_ptx_status status = cx_ptx_load(text, strlen(text), &module, &error);
    size_t found;

    ck_assert_msg(status == CX_PTX_SUCCESS, "line %d: %s\n%s", error.line, error.message, text);
    found = cx_ptx_kernel_describe(module, cx_ptx_kernel_find(module, "k")).registers;
    cx_ptx_unload(module);
    return found;
}

static size_t registers_with(const char *limits, const char *code)
{
    char text[8192];

    snprintf(text, sizeof text, "%s%s\n{\n%s%s\nret;\n}\n",
             HEAD ".visible .entry k(.param .u64 to) ", limits, DECLARED, code);
    return registers_of(text);
}

static void expect_live(const char *code, size_t live)
{
    size_t expected = (live + RESERVED + 1) / 2 * 2;

    ck_assert_uint_eq(registers_with("", code), expected < LEAST ? LEAST : expected);
}

#define LOAD(n) "ld.global.u32 %r" #n ", [%to];\n"
#define STORE(n) "st.global.u32 [%to], %r" #n ";\n"
#define LOAD_LONG(n) "ld.global.u64 %rd" #n ", [%to];\n"
#define STORE_LONG(n) "st.global.u64 [%to], %rd" #n ";\n"
#define LOAD_8 LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6) LOAD(7) LOAD(8)
#define STORE_8 STORE(1) STORE(2) STORE(3) STORE(4) STORE(5) STORE(6) STORE(7) STORE(8)

START_TEST(values_that_are_live_together_count)
{
    expect_live(LOAD_8 STORE_8, 8);
    expect_live(LOAD(1) STORE(1) LOAD(2) STORE(2) LOAD(3) STORE(3), 1);
    expect_live(LOAD_8 LOAD(9) LOAD(10) STORE(9) STORE(10) STORE_8, 10);
    expect_live(LOAD_LONG(1) LOAD_LONG(2) LOAD_LONG(3) LOAD_LONG(4) STORE_LONG(1) STORE_LONG(2)
                    STORE_LONG(3) STORE_LONG(4), 8);
}
END_TEST

START_TEST(a_value_lives_from_its_write_to_its_last_read)
{
    expect_live(LOAD_8 STORE_8 STORE(1), 8);
    expect_live(LOAD_8 STORE_8 LOAD_8 LOAD(9) STORE_8 STORE(9), 9);
    expect_live(LOAD(1) "add.u32 %r1, %r1, %r1;\nadd.u32 %r1, %r1, %r1;\n" STORE(1), 1);
}
END_TEST

START_TEST(predicates_parameters_and_constants_do_not_count)
{
    expect_live(LOAD_8 "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r2, 0;\n"
                "@%p1 trap;\n@%p2 trap;\n" STORE_8, 8);
    expect_live("mov.u32 %r9, 7;\ncvta.to.global.u64 %rd1, %to;\n" LOAD_8 STORE_8 STORE(9), 8);
}
END_TEST

START_TEST(a_value_that_a_loop_needs_lives_all_through_it)
{
    /* %r1 to %r3 are read behind the loop, %r4 at its begin: in the next round. */
    expect_live(LOAD(1) LOAD(2) LOAD(3) LOAD(4)
                "AGAIN:\n" STORE(4) LOAD(5) LOAD(6) LOAD(7) LOAD(8) LOAD(9) STORE(5) STORE(6)
                STORE(7) STORE(8) "setp.eq.u32 %p1, %r9, 0;\n@%p1 bra AGAIN;\n"
                STORE(1) STORE(2) STORE(3), 9);
}
END_TEST

START_TEST(each_way_has_its_own_values)
{
    expect_live(LOAD(9) "setp.eq.u32 %p1, %r9, 0;\n@%p1 bra OTHER;\n"
                LOAD_8 STORE_8 "bra DONE;\nOTHER:\n" LOAD(10) LOAD(11) STORE(10) STORE(11)
                "DONE:\n", 8);
    /* A guarded write keeps what was there. */
    expect_live(LOAD_8 LOAD(9) "setp.eq.u32 %p1, %r1, 0;\n@%p1 ld.global.u32 %r9, [%to];\n"
                STORE_8 STORE(9), 9);
}
END_TEST

#define CALLEE                                                                    \
    ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .b32 %r<20>;\n"          \
    ".reg .b64 %to;\nmov.u64 %to, 0;\n" LOAD_8 STORE_8 "st.param.b32 [out], 0;\nret;\n}\n"

START_TEST(a_call_adds_the_registers_of_the_function_called)
{
    const char *text = HEAD CALLEE ".visible .entry k(.param .u64 to)\n{\n" DECLARED
        ".param .b32 in;\n.param .b32 out;\nst.param.b32 [in], 1;\n"
        LOAD(1) LOAD(2) LOAD(3) LOAD(4) STORE(4)
        "call (out), f, (in);\n" STORE(1) STORE(2) STORE(3) LOAD_8 STORE_8 "ret;\n}\n";

    ck_assert_uint_eq(registers_of(text), (3 + 8 + RESERVED + 1) / 2 * 2);
}
END_TEST

START_TEST(a_function_of_the_device_uses_some_registers)
{
    const char *text = HEAD ".extern .func (.param .b64 out) malloc(.param .b64 in);\n"
        ".visible .entry k(.param .u64 to)\n{\n" DECLARED
        ".param .b64 in;\n.param .b64 out;\nst.param.b64 [in], 1;\n"
        LOAD(1) LOAD(2) "call (out), malloc, (in);\n" STORE(1) STORE(2) "ret;\n}\n";

    ck_assert_uint_eq(registers_of(text), 2 + OF_A_CALLEE + RESERVED);
}
END_TEST

#define LOAD_24                                                                         \
    LOAD_8 LOAD(11) LOAD(12) LOAD(13) LOAD(14) LOAD(15) LOAD(16) LOAD(17) LOAD(18)       \
    LOAD(21) LOAD(22) LOAD(23) LOAD(24) LOAD(25) LOAD(26) LOAD(27) LOAD(28)
#define STORE_24                                                                        \
    STORE_8 STORE(11) STORE(12) STORE(13) STORE(14) STORE(15) STORE(16) STORE(17)        \
    STORE(18) STORE(21) STORE(22) STORE(23) STORE(24) STORE(25) STORE(26) STORE(27) STORE(28)

START_TEST(directives_limit_the_registers)
{
    ck_assert_uint_eq(registers_with("", LOAD_24 STORE_24), 24 + RESERVED);
    ck_assert_uint_eq(registers_with(".maxnreg 24", LOAD_24 STORE_24), 24);
    ck_assert_uint_eq(registers_with(".maxnreg 5", LOAD_24 STORE_24), 16);
    ck_assert_uint_eq(registers_with(".maxnreg 200", LOAD_24 STORE_24), 24 + RESERVED);
    ck_assert_uint_eq(registers_with(".maxntid 1024", LOAD_24 STORE_24), 24 + RESERVED);
    ck_assert_uint_eq(registers_with(".maxntid 1024\n.minnctapersm 3", LOAD_24 STORE_24), 16);
    ck_assert_uint_eq(registers_with(".maxntid 680\n.minnctapersm 4", LOAD_24 STORE_24), 16);
    ck_assert_uint_eq(registers_with(".maxntid 500\n.minnctapersm 5", LOAD_24 STORE_24), 24);
}
END_TEST

static Suite *liveness_suite(void)
{
    Suite *suite = suite_create("liveness");
    TCase *all = tcase_create("all");

    tcase_add_test(all, values_that_are_live_together_count);
    tcase_add_test(all, a_value_lives_from_its_write_to_its_last_read);
    tcase_add_test(all, predicates_parameters_and_constants_do_not_count);
    tcase_add_test(all, a_value_that_a_loop_needs_lives_all_through_it);
    tcase_add_test(all, each_way_has_its_own_values);
    tcase_add_test(all, a_call_adds_the_registers_of_the_function_called);
    tcase_add_test(all, a_function_of_the_device_uses_some_registers);
    tcase_add_test(all, directives_limit_the_registers);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(liveness_suite);
