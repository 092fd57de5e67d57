/* Texts of PTX through the Driver API: what loads, what variables hold, what is refused. */
#include "../emu/work_fixture.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"

static char complaint[256];

static cxu_result load_text(const char *text, CUmodule *out_module)
{
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {complaint, (void *)(uintptr_t)sizeof complaint};

    complaint[0] = '\0';
    return cx_emu_call_module_load_data_ex(out_module, text, 2, options, values);
}

static CUmodule load(const char *text)
{
    CUmodule module = NULL;

    ck_assert_msg(load_text(text, &module) == CXU_SUCCESS, "%s\n%s", complaint, text);
    return module;
}

static cxu_result run_kernel(CUmodule module, void **parameters, unsigned threads)
{
    CUfunction kernel;

    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    ck_success(
        cx_emu_call_launch_kernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
    return cx_emu_call_ctx_synchronize();
}

/* Runs the kernel k(out) in one thread; the words that it wrote. */
static void run_for_words(const char *text, uint32_t *out_words, size_t count)
{
    CUmodule module = load(text);
    CUdeviceptr out = make_memory(count * sizeof *out_words);
    void *parameters[] = {&out};

    ck_success(cx_emu_call_memset_d32(out, 0, count));
    ck_success(run_kernel(module, parameters, 1));
    read_device(out_words, out, count * sizeof *out_words);
    ck_success(cx_emu_call_module_unload(module));
}

static void ck_variable(CUmodule module, const char *name, const void *expected, size_t bytes)
{
    unsigned char found[256];
    CUdeviceptr address;
    size_t size;

    ck_success(cx_emu_call_module_get_global(&address, &size, module, name));
    ck_assert_uint_eq(size, bytes);
    read_device(found, address, bytes);
    ck_assert_msg(memcmp(found, expected, bytes) == 0, "%s", name);
}

/* ---- variables ---- */

START_TEST(initial_values_in_braces_fill_rows)
{
    CUmodule module = load(
        HEAD ".visible .global .u32 x[2][2] = {{1},{2,3}};\n"
             ".visible .const .u32 y[2][3] = {{}, {4}};\n"
             ".visible .global .u16 open[][2] = {{1}, {2, 3}, {4}};\n"
             ".visible .global .u8 flat[6] = {1, 2, 3};\n"
             ".visible .global .u32 mixed[3][2] = {1, {2}, 3, 4};\n"
             ".visible .global .v2 .u32 pair[2] = {{1, 2}, {3}};\n"
             ".visible .global .f32 one = 1.5;\n"
             ".visible .global .u32 cube[2][2][2] = {{{1}, {2, 3}}, {{4}}};\n");

    ck_variable(module, "x", (uint32_t[]){1, 0, 2, 3}, 16);
    ck_variable(module, "y", (uint32_t[]){0, 0, 0, 4, 0, 0}, 24);
    ck_variable(module, "open", (uint16_t[]){1, 0, 2, 3, 4, 0}, 12);
    ck_variable(module, "flat", (uint8_t[]){1, 2, 3, 0, 0, 0}, 6);
    ck_variable(module, "mixed", (uint32_t[]){1, 0, 2, 0, 3, 4}, 24);
    ck_variable(module, "pair", (uint32_t[]){1, 2, 3, 0}, 16);
    ck_variable(module, "one", (float[]){1.5f}, 4);
    ck_variable(module, "cube", (uint32_t[]){1, 0, 2, 3, 4, 0, 0, 0}, 32);
}
END_TEST

START_TEST(too_many_initial_values_are_refused)
{
    static const char *const texts[] = {
        HEAD ".global .u32 x[2] = {1, 2, 3};\n", HEAD ".global .u32 x[2][2] = {{1, 2, 3}};\n",
        HEAD ".global .u32 x[2] = {{{1}}};\n", HEAD ".global .u32 x[] ;\n",
        HEAD ".global .u32 x[2] = {1, 2;\n"};
    CUmodule module;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_result(load_text(texts[i], &module), INVALID_PTX);
        ck_assert_ptr_nonnull(strstr(complaint, "line 4"));
    }
}
END_TEST

START_TEST(a_variable_can_begin_with_the_address_of_another)
{
    CUmodule module = load(HEAD ".visible .global .u32 x[4];\n.visible .const .u32 c[4];\n"
                                ".visible .global .u64 p[3] = {generic(x)+4, x+8, generic(c)+4};\n"
                                ".visible .const .u64 q = generic(c);\n");
    CUdeviceptr x, c;
    size_t bytes;

    ck_success(cx_emu_call_module_get_global(&x, &bytes, module, "x"));
    ck_success(cx_emu_call_module_get_global(&c, &bytes, module, "c"));
    ck_variable(module, "p", (uint64_t[]){x + 4, x + 8, c + 4}, 24);
    ck_variable(module, "q", (uint64_t[]){c}, 8);
}
END_TEST

/* ---- constants ---- */

#define CONSTANT_HEAD HEAD ".visible .const .u32 c[2] = {5, 6};\n.visible .global .u32 g = 7;\n"

START_TEST(constants_are_read_and_not_written)
{
    static const char *const stores[] = {"st.const.u32 [c], 1;", "st.u32 [c], 1;",
                                         "atom.add.u32 %r1, [c], 1;",
                                         "red.global.add.u32 [c], 1;"};
    char text[1024];
    uint32_t words[3];
    CUmodule module;

    run_for_words(CONSTANT_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n"
                                ".reg .b64 %d<4>;\nld.param.u64 %d1, [out];\n"
                                "ld.const.u32 %r1, [c+4];\nst.global.u32 [%d1], %r1;\n"
                                "cvta.const.u64 %d2, c;\nld.u32 %r2, [%d2];\n"
                                "st.global.u32 [%d1+4], %r2;\nld.global.u32 %r3, [g];\n"
                                "st.global.u32 [%d1+8], %r3;\nst.global.u32 [g], %r3;\nret;\n}\n",
                  words, 3);
    ck_assert_uint_eq(words[0], 6);
    ck_assert_uint_eq(words[1], 5);
    ck_assert_uint_eq(words[2], 7);
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        snprintf(text, sizeof text,
                 CONSTANT_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<4>;\n%s\n}\n",
                 stores[i]);
        ck_result(load_text(text, &module), INVALID_PTX);
        ck_assert_ptr_nonnull(strstr(complaint, "line 9"));
    }
}
END_TEST

START_TEST(a_store_through_an_address_of_a_constant_faults)
{
    CUmodule module = load(CONSTANT_HEAD ".visible .entry k(.param .u64 out)\n{\n"
                                         ".reg .b64 %d<4>;\nld.param.u64 %d1, [out];\n"
                                         "st.u32 [%d1], 1;\nret;\n}\n");
    CUdeviceptr address;
    void *parameters[] = {&address};
    size_t bytes;

    ck_success(cx_emu_call_module_get_global(&address, &bytes, module, "g"));
    ck_success(run_kernel(module, parameters, 1));
    ck_success(cx_emu_call_module_get_global(&address, &bytes, module, "c"));
    ck_result(run_kernel(module, parameters, 1), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(isspacep_knows_constants)
{
    uint32_t words[2];

    run_for_words(CONSTANT_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n"
                                ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [out];\n"
                                "cvta.const.u64 %d2, c;\nisspacep.const %p1, %d2;\n"
                                "isspacep.const %p2, %d1;\nselp.u32 %r1, 1, 0, %p1;\n"
                                "selp.u32 %r2, 1, 0, %p2;\nst.global.v2.u32 [%d1], {%r1, %r2};\n"
                                "ret;\n}\n",
                  words, 2);
    ck_assert_uint_eq(words[0], 1);
    ck_assert_uint_eq(words[1], 0);
}
END_TEST

/* ---- texts ---- */

START_TEST(directives_need_no_blank_between_them)
{
    uint32_t word;

    run_for_words(HEAD ".visible.entry k(.param.u64 out)\n{\n.reg.b32 x;.reg.b64 d;\n"
                       "{.reg.b16 r; mov.u16 r, 3; cvt.u32.u16 x, r;}\n"
                       "ld.param.u64 d, [out];st.global.u32 [d], x;ret;}\n",
                  &word, 1);
    ck_assert_uint_eq(word, 3);
}
END_TEST

START_TEST(newer_targets_load)
{
    static const char *const targets[] = {"sm_50", "sm_80", "sm_86", "sm_90a", "sm_100", "sm_121"};
    char text[200];

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        snprintf(text, sizeof text, ".version 8.6\n.target %s\n.visible .entry k()\n{\nret;\n}\n",
                 targets[i]);
        ck_success(run_kernel(load(text), NULL, 1));
    }
}
END_TEST

START_TEST(a_target_that_does_not_exist_is_refused)
{
    CUmodule module;

    ck_result(load_text(".version 8.6\n.target sm_999\n.address_size 64\n", &module), INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(complaint, "sm_999"));
}
END_TEST

START_TEST(a_definition_with_another_prototype_is_refused)
{
    static const char *const texts[] = {
        HEAD ".extern .func (.param .b32 r) f(.param .b32 a);\n"
             ".func f(.param .b32 a)\n{\nret;\n}\n",
        HEAD ".extern .func f(.param .b32 a);\n.func f(.param .b64 a)\n{\nret;\n}\n",
        HEAD ".extern .func f(.param .b32 a);\n.func f()\n{\nret;\n}\n"};
    CUmodule module;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_result(load_text(texts[i], &module), INVALID_PTX);
        ck_assert_ptr_nonnull(strstr(complaint, "'f' is declared with other parameters"));
    }
}
END_TEST

static int static_shared(CUmodule module, const char *name)
{
    CUfunction kernel;
    int bytes;

    ck_success(cx_emu_call_module_get_function(&kernel, module, name));
    ck_success(
        cx_emu_call_func_get_attribute(&bytes, CXU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
    return bytes;
}

/* nvcc -rdc=true writes the shared variables of all kernels outside of them. */
START_TEST(a_kernel_has_room_for_the_shared_variables_that_it_names)
{
    CUmodule module =
        load(HEAD ".weak .shared .align 16 .b8 one[40000];\n.shared .align 4 .b8 two[40004];\n"
                  ".shared .align 128 .b8 small[4];\n"
                  ".visible .entry a()\n{\nst.shared.u32 [small], 1;\nst.shared.u32 [one], 1;\n"
                  "st.shared.u32 [small], 1;\nret;\n}\n"
                  ".visible .entry b()\n{\nst.shared.u32 [two+40000], 1;\nret;\n}\n"
                  ".visible .entry c()\n{\nret;\n}\n");

    ck_assert_int_eq(static_shared(module, "a"), 40016);
    ck_assert_int_eq(static_shared(module, "b"), 40004);
    ck_assert_int_eq(static_shared(module, "c"), 0);
}
END_TEST

START_TEST(kernels_that_name_too_much_shared_memory_are_refused)
{
    CUmodule module;
    const char *text = HEAD ".shared .b8 one[40000];\n.shared .b8 two[40000];\n"
                            ".visible .entry k()\n{\nst.shared.u8 [one], 1;\n"
                            "st.shared.u8 [two], 1;\nret;\n}\n";

    ck_result(load_text(text, &module), INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(complaint, "too much memory: 'two'"));
}
END_TEST

/* The kernel stands before the function, and names the variables in another order. */
START_TEST(a_kernel_and_a_function_see_the_same_shared_variables)
{
    uint32_t words[4];

    run_for_words(HEAD
                  ".shared .align 4 .b32 own;\n.shared .align 4 .b32 first;\n"
                  ".shared .align 4 .b32 second;\n.func (.param .b32 r) f();\n"
                  ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %d;\n.reg .b32 %r<4>;\n"
                  "ld.param.u64 %d, [out];\nst.shared.u32 [first], 5;\n"
                  "st.shared.u32 [own], 9;\nst.shared.u32 [second], 70;\n"
                  "{\n.param .b32 result;\ncall (result), f, ();\nld.param.b32 %r0, [result];\n}\n"
                  "ld.shared.u32 %r1, [first];\nld.shared.u32 %r2, [own];\n"
                  "ld.shared.u32 %r3, [second];\nst.global.v4.u32 [%d], {%r0, %r1, %r2, %r3};\n"
                  "ret;\n}\n"
                  ".func (.param .b32 r) f()\n{\n.reg .b32 %r<3>;\n.shared .align 4 .b32 mine;\n"
                  "st.shared.u32 [mine], 1000;\nld.shared.u32 %r0, [second];\n"
                  "ld.shared.u32 %r1, [first];\nst.shared.u32 [first], 6;\n"
                  "add.u32 %r0, %r0, %r1;\nld.shared.u32 %r1, [mine];\n"
                  "add.u32 %r0, %r0, %r1;\nst.param.b32 [r], %r0;\nret;\n}\n",
                  words, 4);
    ck_assert_uint_eq(words[0], 1075);
    ck_assert_uint_eq(words[1], 6);
    ck_assert_uint_eq(words[2], 9);
    ck_assert_uint_eq(words[3], 70);
}
END_TEST

static Suite *text_suite(void)
{
    Suite *suite = suite_create("texts");
    TCase *texts = tcase_create("texts");

    tcase_add_checked_fixture(texts, work_setup, work_teardown);
    tcase_add_test(texts, initial_values_in_braces_fill_rows);
    tcase_add_test(texts, too_many_initial_values_are_refused);
    tcase_add_test(texts, a_variable_can_begin_with_the_address_of_another);
    tcase_add_test(texts, constants_are_read_and_not_written);
    tcase_add_test(texts, a_store_through_an_address_of_a_constant_faults);
    tcase_add_test(texts, isspacep_knows_constants);
    tcase_add_test(texts, directives_need_no_blank_between_them);
    tcase_add_test(texts, newer_targets_load);
    tcase_add_test(texts, a_target_that_does_not_exist_is_refused);
    tcase_add_test(texts, a_definition_with_another_prototype_is_refused);
    tcase_add_test(texts, a_kernel_has_room_for_the_shared_variables_that_it_names);
    tcase_add_test(texts, kernels_that_name_too_much_shared_memory_are_refused);
    tcase_add_test(texts, a_kernel_and_a_function_see_the_same_shared_variables);
    suite_add_tcase(suite, texts);
    return suite;
}

CX_TESTS(text_suite);
