/* The options of loading and linking code. */
#include "kernels.h"
#include "work_fixture.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LOAD(n) "ld.global.u64 %rd" #n ", [%to];\n"
#define STORE(n) "st.global.u64 [%to], %rd" #n ";\n"
#define EACH(what)                                                                          \
    what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10)         \
    what(11) what(12) what(13) what(14) what(15) what(16) what(17) what(18) what(19) what(20) \
    what(21) what(22) what(23) what(24) what(25) what(26) what(27) what(28) what(29) what(30)

/* 30 values of 64 bits are live at once. */
#define PTX_BROAD(name, limit)                                                          \
    ".visible .entry " name "(.param .u64 to) " limit "\n{\n.reg .b64 %rd<31>, %to;\n"  \
    "ld.param.u64 %to, [to];\n" EACH(LOAD) EACH(STORE) "ret;\n}\n"
#define NEEDED 66

static const char two[] = PTX_HEAD PTX_BROAD("broad", "") PTX_BROAD("limited", ".maxnreg 32");

static int registers_of(CUmodule module, const char *name)
{
    CUfunction function;
    int value = -1;

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    ck_success(cx_emu_call_func_get_attribute(&value, CXU_FUNC_ATTRIBUTE_NUM_REGS, function));
    return value;
}

static cxu_result load_with(CUmodule *out_module, cxu_jit_option option, unsigned int number)
{
    void *value = (void *)(uintptr_t)number;

    return cx_emu_call_module_load_data_ex(out_module, two, 1, &option, &value);
}

START_TEST(a_module_has_at_most_the_registers_asked_for)
{
    static const struct {
        cxu_jit_option option;
        unsigned int number;
        int broad, limited;
    } rows[] = {{CXU_JIT_MAX_REGISTERS, 0, NEEDED, 32},
                {CXU_JIT_MAX_REGISTERS, 38, 38, 32},
                {CXU_JIT_MAX_REGISTERS, 24, 24, 24},
                {CXU_JIT_MAX_REGISTERS, 1, 16, 16},
                {CXU_JIT_MAX_REGISTERS, 200, NEEDED, 32},
                {CXU_JIT_THREADS_PER_BLOCK, 1024, 64, 32},
                {CXU_JIT_THREADS_PER_BLOCK, 64, NEEDED, 32},
                {CXU_JIT_MAX_THREADS_PER_BLOCK, 1024, NEEDED, 32}};
    CUmodule module;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_success(load_with(&module, rows[i].option, rows[i].number));
        ck_assert_int_eq(registers_of(module, "broad"), rows[i].broad);
        ck_assert_int_eq(registers_of(module, "limited"), rows[i].limited);
    }
}
END_TEST

START_TEST(blocks_of_a_size_fit_together)
{
    cxu_jit_option options[] = {CXU_JIT_MIN_CTA_PER_SM, CXU_JIT_MAX_THREADS_PER_BLOCK};
    void *values[] = {(void *)(uintptr_t)4, (void *)(uintptr_t)500};
    CUmodule module;

    ck_success(cx_emu_call_module_load_data_ex(&module, two, 2, options, values));
    ck_assert_int_eq(registers_of(module, "broad"), 32);
}
END_TEST

START_TEST(fewer_registers_make_room_for_more_blocks)
{
    CUmodule module;
    CUfunction function;
    int before = 0, after = 0;

    ck_success(cx_emu_call_module_load_data(&module, two));
    ck_success(cx_emu_call_module_get_function(&function, module, "broad"));
    ck_success(cx_emu_call_occupancy_max_active_blocks(&before, function, 256, 0));
    ck_success(load_with(&module, CXU_JIT_MAX_REGISTERS, 64));
    ck_success(cx_emu_call_module_get_function(&function, module, "broad"));
    ck_success(cx_emu_call_occupancy_max_active_blocks(&after, function, 256, 0));
    ck_assert_int_eq(before, 3); /* 72 registers of each thread are taken */
    ck_assert_int_eq(after, 4);
}
END_TEST

static cxu_result link_with(unsigned int count, cxu_jit_option *options, void **values,
                            CUmodule *out_module)
{
    CUlinkState state;
    void *image;
    size_t bytes;

    ck_success(cx_emu_call_link_create(count, options, values, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, (void *)two, sizeof two, "two",
                                         0, NULL, NULL));
    ck_success(cx_emu_call_link_complete(state, &image, &bytes));
    ck_success(cx_emu_call_module_load_data(out_module, image));
    return cx_emu_call_link_destroy(state);
}

START_TEST(a_linked_image_keeps_the_limit)
{
    cxu_jit_option option = CXU_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)57;
    CUmodule module;

    ck_success(link_with(1, &option, &value, &module));
    ck_assert_int_eq(registers_of(module, "broad"), 57);
    ck_assert_int_eq(registers_of(module, "limited"), 32);
    ck_success(link_with(0, NULL, NULL, &module));
    ck_assert_int_eq(registers_of(module, "broad"), NEEDED);
}
END_TEST

START_TEST(an_input_may_bring_the_limit)
{
    cxu_jit_option option = CXU_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)40, *image;
    CUlinkState state;
    CUmodule module;

    ck_success(cx_emu_call_link_create(0, NULL, NULL, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, (void *)two, sizeof two, "two",
                                         1, &option, &value));
    ck_success(cx_emu_call_link_complete(state, &image, NULL));
    ck_success(cx_emu_call_module_load_data(&module, image));
    ck_assert_int_eq(registers_of(module, "broad"), 40);
    ck_success(cx_emu_call_link_destroy(state));
}
END_TEST

/* ---- answers ---- */

static float time_in(void *value)
{
    float ms;

    memcpy(&ms, &value, sizeof ms);
    return ms;
}

START_TEST(the_wall_time_is_told_in_milliseconds)
{
    cxu_jit_option option = CXU_JIT_WALL_TIME;
    void *value = (void *)UINTPTR_MAX;
    CUmodule module;

    ck_success(cx_emu_call_module_load_data_ex(&module, two, 1, &option, &value));
    ck_assert_float_gt(time_in(value), 0);
    ck_assert_float_lt(time_in(value), 600000);
    value = (void *)UINTPTR_MAX;
    ck_success(link_with(1, &option, &value, &module));
    ck_assert_float_gt(time_in(value), 0);
    ck_assert_float_lt(time_in(value), 600000);
}
END_TEST

START_TEST(the_threads_of_a_block_are_whole_warps)
{
    cxu_jit_option option = CXU_JIT_THREADS_PER_BLOCK;
    void *value = (void *)(uintptr_t)100;
    CUmodule module;

    ck_success(cx_emu_call_module_load_data_ex(&module, two, 1, &option, &value));
    ck_assert_uint_eq((uintptr_t)value, 128);
}
END_TEST

START_TEST(a_verbose_log_names_the_kernels)
{
    char text[400] = "", little[20] = "";
    cxu_jit_option options[] = {CXU_JIT_INFO_LOG_BUFFER, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                CXU_JIT_LOG_VERBOSE};
    void *values[] = {text, (void *)sizeof text, (void *)1};
    CUmodule module;

    ck_success(cx_emu_call_module_load_data_ex(&module, two, 3, options, values));
    ck_assert_ptr_nonnull(strstr(text, "kernel 'broad': 66 registers"));
    ck_assert_ptr_nonnull(strstr(text, "kernel 'limited': 32 registers"));
    ck_assert_uint_eq((unsigned int)(uintptr_t)values[1], strlen(text));
    values[0] = little;
    values[1] = (void *)sizeof little;
    ck_success(link_with(3, options, values, &module));
    ck_assert_uint_eq(strlen(little), sizeof little - 1);
    ck_assert_uint_eq((unsigned int)(uintptr_t)values[1], sizeof little - 1);
}
END_TEST

START_TEST(options_that_cannot_be_are_refused)
{
    cxu_jit_option options[] = {CXU_JIT_TARGET, CXU_JIT_THREADS_PER_BLOCK};
    void *values[] = {(void *)(uintptr_t)75, (void *)(uintptr_t)128};
    CUmodule module = NULL;
    CUlinkState state;

    ck_result(load_with(&module, (cxu_jit_option)99, 0), INVALID_VALUE);
    ck_result(load_with(&module, (cxu_jit_option)-1, 0), INVALID_VALUE);
    ck_result(load_with(&module, CXU_JIT_TARGET, 7), INVALID_VALUE);
    ck_result(load_with(&module, CXU_JIT_GLOBAL_SYMBOL_COUNT, 1), NOT_SUPPORTED);
    ck_result(cx_emu_call_module_load_data_ex(&module, two, 2, options, values), INVALID_VALUE);
    ck_result(cx_emu_call_link_create(2, options, values, &state), INVALID_VALUE);
    ck_assert_ptr_null(module);
    ck_success(load_with(&module, CXU_JIT_TARGET, 75));
    ck_success(load_with(&module, (cxu_jit_option)7, 4)); /* the level of optimisation */
}
END_TEST

static Suite *jit_suite(void)
{
    Suite *suite = suite_create("jit");
    TCase *tcase = tcase_create("jit");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, a_module_has_at_most_the_registers_asked_for);
    tcase_add_test(tcase, blocks_of_a_size_fit_together);
    tcase_add_test(tcase, fewer_registers_make_room_for_more_blocks);
    tcase_add_test(tcase, a_linked_image_keeps_the_limit);
    tcase_add_test(tcase, an_input_may_bring_the_limit);
    tcase_add_test(tcase, the_wall_time_is_told_in_milliseconds);
    tcase_add_test(tcase, the_threads_of_a_block_are_whole_warps);
    tcase_add_test(tcase, a_verbose_log_names_the_kernels);
    tcase_add_test(tcase, options_that_cannot_be_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(jit_suite);
