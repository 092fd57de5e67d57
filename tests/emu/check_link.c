/* Linking PTX of several images into one that a module is loaded from. */
#include "kernels.h"
#include "work_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_BYTES 256

/* tell(at): writes what the device function `answer` returns. */
#define PTX_TELL(name)                             \
    ".visible .entry " name "(.param .u64 at)\n"   \
    "{\n"                                          \
    "    .reg .b32 %r<2>;\n"                       \
    "    .reg .b64 %rd<3>;\n"                      \
    "    .param .b32 result;\n"                    \
    "    ld.param.u64 %rd1, [at];\n"               \
    "    cvta.to.global.u64 %rd2, %rd1;\n"         \
    "    call.uni (result), answer;\n"             \
    "    ld.param.b32 %r1, [result];\n"            \
    "    st.global.u32 [%rd2], %r1;\n"             \
    "    ret;\n"                                   \
    "}\n"

#define PTX_DECLARED ".extern .func (.param .b32 result) answer;\n"

/* It returns what the variable `word` holds. */
#define PTX_ANSWER(linkage)                        \
    linkage ".func (.param .b32 result) answer\n"  \
    "{\n"                                          \
    "    .reg .b32 %r<2>;\n"                       \
    "    ld.global.u32 %r1, [word];\n"             \
    "    st.param.b32 [result], %r1;\n"            \
    "    ret;\n"                                   \
    "}\n"

#define PTX_WORD(linkage, value) linkage ".global .align 4 .u32 word = " value ";\n"

static char errors[LOG_BYTES], infos[LOG_BYTES];
static cxu_jit_option options[] = {
    CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CXU_JIT_INFO_LOG_BUFFER,
    CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
static void *values[4];
static CUlinkState state;

static void fill_values(void)
{
    memset(errors, 0, sizeof errors);
    values[0] = errors;
    values[1] = (void *)(uintptr_t)sizeof errors;
    values[2] = infos;
    values[3] = (void *)(uintptr_t)sizeof infos;
}

static unsigned int filled(int value)
{
    unsigned int bytes;

    memcpy(&bytes, &values[value], sizeof bytes);
    return bytes;
}

static void setup(void)
{
    work_setup();
    fill_values();
    ck_success(cx_emu_call_link_create(4, options, values, &state));
}

static void teardown(void)
{
    ck_success(cx_emu_call_link_destroy(state));
    ck_result(cx_emu_call_link_destroy(state), INVALID_HANDLE);
    work_teardown();
}

static cxu_result add(const char *text)
{
    char *copy = strdup(text);
    cxu_result result = cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, copy, strlen(copy) + 1,
                                                  "a name", 0, NULL, NULL);

    free(copy);
    return result;
}

static CUmodule load_linked(void)
{
    CUmodule module = NULL;
    void *image = NULL;
    size_t bytes = 0;

    ck_success(cx_emu_call_link_complete(state, &image, &bytes));
    ck_assert_int_eq(((const char *)image)[bytes - 1], '\0');
    ck_success(cx_emu_call_module_load_data(&module, image));
    return module;
}

static uint32_t told_by(CUmodule module, const char *name)
{
    CUdeviceptr at = make_memory(sizeof(uint32_t));
    void *parameters[] = {&at};
    CUfunction function;
    uint32_t word;

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&word, at, sizeof word);
    return word;
}

/* ---- what linking joins ---- */

START_TEST(what_one_image_declares_another_defines)
{
    ck_success(add(PTX_HEAD PTX_DECLARED PTX_TELL("tell")));
    ck_success(add(PTX_HEAD PTX_WORD(".extern ", "0") PTX_ANSWER(".visible ")));
    ck_success(add(PTX_HEAD PTX_WORD(".visible ", "42")));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 42);
}
END_TEST

START_TEST(a_function_that_is_defined_nowhere_is_named_in_the_log)
{
    char log[LOG_BYTES] = "";
    void *own[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module = NULL;

    ck_result(cx_emu_call_module_load_data_ex(&module, PTX_HEAD PTX_DECLARED PTX_TELL("tell"), 2,
                                              options, own),
              INVALID_PTX);
    ck_assert_ptr_null(module);
    ck_assert_ptr_nonnull(strstr(log, "unresolved extern function 'answer'"));
}
END_TEST

START_TEST(a_function_that_is_declared_and_not_called_is_no_matter)
{
    CUmodule module;

    ck_success(cx_emu_call_module_load_data(&module, PTX_HEAD PTX_DECLARED));
}
END_TEST

START_TEST(the_definition_may_come_first)
{
    ck_success(add(PTX_HEAD PTX_WORD(".visible ", "42")));
    ck_success(add(PTX_HEAD PTX_WORD(".extern ", "0") PTX_ANSWER(".visible ")));
    ck_success(add(PTX_HEAD PTX_DECLARED PTX_TELL("tell")));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 42);
}
END_TEST

START_TEST(what_an_image_keeps_to_itself_stays_its_own)
{
    CUmodule module;

    ck_success(add(PTX_HEAD PTX_WORD("", "1") PTX_ANSWER("") PTX_TELL("one")));
    ck_success(add(PTX_HEAD PTX_WORD("", "2") PTX_ANSWER("") PTX_TELL("two")));
    ck_success(add(PTX_HEAD PTX_WORD(".visible ", "3") PTX_ANSWER(".visible ") PTX_TELL("three")));
    module = load_linked();
    ck_assert_uint_eq(told_by(module, "one"), 1);
    ck_assert_uint_eq(told_by(module, "two"), 2);
    ck_assert_uint_eq(told_by(module, "three"), 3);
}
END_TEST

START_TEST(of_weak_definitions_one_is_taken_and_a_strong_one_before_all)
{
    CUmodule module;

    ck_success(add(PTX_HEAD PTX_WORD(".weak ", "1") PTX_ANSWER(".weak ") PTX_TELL("one")));
    ck_success(add(PTX_HEAD PTX_WORD(".weak ", "2") PTX_ANSWER(".weak ") PTX_TELL("two")));
    ck_success(add(PTX_HEAD PTX_WORD(".visible ", "3") PTX_ANSWER(".weak ") PTX_TELL("three")));
    module = load_linked();
    ck_assert_uint_eq(told_by(module, "one"), 3);
    ck_assert_uint_eq(told_by(module, "two"), 3);
    ck_assert_uint_eq(told_by(module, "three"), 3);
}
END_TEST

START_TEST(an_image_that_was_linked_can_be_linked_again)
{
    CUlinkState again = state;
    void *image;
    size_t bytes;

    ck_success(add(PTX_HEAD PTX_WORD("", "5") PTX_ANSWER(".visible ")));
    ck_success(cx_emu_call_link_complete(state, &image, &bytes));
    ck_success(cx_emu_call_link_create(0, NULL, NULL, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_CUBIN, image, bytes, NULL, 0, NULL,
                                         NULL));
    ck_success(cx_emu_call_link_destroy(again));
    ck_success(add(PTX_HEAD PTX_DECLARED PTX_TELL("tell")));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 5);
}
END_TEST

/* put(to, value) stores the value; a caller and the definition may differ about its result. */
#define PTX_CALLS_PUT(result, use, to)                                                       \
    PTX_HEAD ".extern .func " result " put(.param " to " to, .param .b32 value);\n"          \
             ".visible .entry tell(.param .u64 at)\n{\n    .reg .b64 %at;\n"                 \
             "    .param " to " to;\n    .param .b32 value;\n    .param .b64 result;\n"      \
             "    ld.param.u64 %at, [at];\n    st.param" to " [to], %at;\n"                 \
             "    st.param.b32 [value], 42;\n    call.uni " use " put, (to, value);\n"      \
             "    ret;\n}\n"
#define PTX_PUT(result)                                                                      \
    PTX_HEAD ".visible .func " result " put(.param .b64 to, .param .b32 value)\n{\n"         \
             "    .reg .b64 %to;\n    .reg .b32 %value;\n    ld.param.u64 %to, [to];\n"      \
             "    ld.param.u32 %value, [value];\n    st.global.u32 [%to], %value;\n"        \
             "    ret;\n}\n"

START_TEST(a_result_need_not_be_declared_as_it_is_defined)
{
    static const char *const callers[] = {PTX_CALLS_PUT("", "", ".b64"),
                                          PTX_CALLS_PUT("(.param .b32 r)", "(result),", ".b64"),
                                          PTX_CALLS_PUT("(.param .b64 r)", "(result),", ".b64")};
    static const char *const definitions[] = {PTX_PUT(""), PTX_PUT("(.param .b32 r)"),
                                              PTX_PUT("(.param .b64 r)")};

    ck_success(add(callers[_i % 3]));
    ck_success(add(definitions[_i / 3]));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 42);
}
END_TEST

START_TEST(parameters_must_be_declared_as_they_are_defined)
{
    void *image;

    ck_success(add(PTX_CALLS_PUT("", "", ".b32")));
    ck_success(add(PTX_PUT("")));
    ck_result(cx_emu_call_link_complete(state, &image, NULL), INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(errors, "other parameters"));
}
END_TEST

START_TEST(images_come_from_files_too)
{
    char path[] = "/tmp/check_link_XXXXXX";
    int file = mkstemp(path);
    const char text[] = PTX_HEAD PTX_WORD("", "6") PTX_ANSWER("") PTX_TELL("tell");
    cxu_result result;

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    result = cx_emu_call_link_add_file(state, CXU_JIT_INPUT_PTX, path, 0, NULL, NULL);
    unlink(path);
    ck_success(result);
    ck_result(cx_emu_call_link_add_file(state, CXU_JIT_INPUT_PTX, path, 0, NULL, NULL),
              FILE_NOT_FOUND);
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 6);
}
END_TEST

START_TEST(what_is_for_debuggers_is_left_out)
{
    ck_success(add(PTX_HEAD ".file 1 \"kernel.cu\"\n" PTX_DECLARED PTX_TELL("tell")
                   ".section .debug_str { .b8 1,2,3 }\n"));
    ck_success(add(PTX_HEAD ".pragma \"nounroll\";\n" PTX_WORD("", "7") PTX_ANSWER(".visible ")));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 7);
}
END_TEST

/* ---- what is wrong ---- */

START_TEST(code_that_is_wrong_by_itself_is_refused_when_it_comes)
{
    ck_result(add(PTX_HEAD ".visible .entry broken( {"), INVALID_PTX);
    ck_assert_str_ne(errors, "");
    ck_assert_uint_eq(filled(1), strlen(errors));
    ck_success(add(PTX_HEAD PTX_WORD("", "8") PTX_ANSWER("") PTX_TELL("tell")));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 8);
}
END_TEST

START_TEST(what_nobody_defines_is_said_at_the_end)
{
    void *image = &image;

    ck_success(add(PTX_HEAD PTX_DECLARED PTX_TELL("tell")));
    ck_result(cx_emu_call_link_complete(state, &image, NULL), INVALID_PTX);
    ck_assert_ptr_eq(image, &image);
    ck_assert_ptr_nonnull(strstr(errors, "answer"));
    ck_success(add(PTX_HEAD PTX_WORD("", "9") PTX_ANSWER(".visible ")));
    ck_assert_uint_eq(told_by(load_linked(), "tell"), 9);
}
END_TEST

START_TEST(what_two_images_define_is_refused)
{
    void *image;

    ck_success(add(PTX_HEAD PTX_WORD(".visible ", "1")));
    ck_success(add(PTX_HEAD PTX_WORD(".visible ", "2")));
    ck_result(cx_emu_call_link_complete(state, &image, NULL), INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(errors, "'word' is defined twice"));
}
END_TEST

START_TEST(the_logs_are_empty_when_nothing_is_wrong)
{
    CUmodule module;

    ck_success(add(PTX_HEAD PTX_WORD("", "1")));
    load_linked();
    ck_assert_uint_eq(filled(1), 0);
    ck_assert_uint_eq(filled(3), 0);
    fill_values();
    ck_success(cx_emu_call_module_load_data_ex(&module, PTX_ALL, 4, options, values));
    ck_assert_uint_eq(filled(1), 0);
    ck_assert_uint_eq(filled(3), 0);
}
END_TEST

START_TEST(a_call_that_cannot_be_is_refused)
{
    static char text[] = PTX_HEAD PTX_WORD("", "1"), machine[] = "\177ELF\0\0\0";
    const size_t bytes = sizeof text;
    CUlinkState other = NULL, unchanged = (CUlinkState)(void *)&other;
    void *image = NULL;

    ck_result(cx_emu_call_link_create(0, NULL, NULL, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_link_create(1, NULL, values, &unchanged), INVALID_VALUE);
    ck_assert_ptr_eq(unchanged, &other);
    ck_result(cx_emu_call_link_complete(state, &image, NULL), INVALID_VALUE); /* nothing in it */
    ck_result(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, NULL, bytes, "", 0, NULL, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, text, 0, "", 0, NULL, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_link_add_data(state, (cxu_jit_input_type)77, text, bytes, "", 0, NULL,
                                        NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_OBJECT, machine, sizeof machine, "",
                                        0, NULL, NULL),
              INVALID_IMAGE);
    ck_result(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_CUBIN, machine, sizeof machine, "", 0,
                                        NULL, NULL),
              NO_BINARY_FOR_GPU);
    ck_result(cx_emu_call_link_add_file(state, CXU_JIT_INPUT_PTX, NULL, 0, NULL, NULL),
              INVALID_VALUE);
    ck_success(add(text));
    ck_result(cx_emu_call_link_complete(state, NULL, NULL), INVALID_VALUE);
    ck_success(cx_emu_call_link_complete(state, &image, NULL));
    ck_result(cx_emu_call_link_complete(state, &image, NULL), INVALID_VALUE);
    ck_result(add(text), INVALID_VALUE);
    ck_result(cx_emu_call_link_add_data(other, CXU_JIT_INPUT_PTX, text, bytes, "", 0, NULL, NULL),
              INVALID_HANDLE);
}
END_TEST

START_TEST(linking_needs_a_context)
{
    CUlinkState other;
    CUcontext popped;

    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_result(cx_emu_call_link_create(0, NULL, NULL, &other), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(popped));
}
END_TEST

static Suite *link_suite(void)
{
    Suite *suite = suite_create("link");
    TCase *tcase = tcase_create("link");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_one_image_declares_another_defines);
    tcase_add_test(tcase, a_function_that_is_defined_nowhere_is_named_in_the_log);
    tcase_add_test(tcase, a_function_that_is_declared_and_not_called_is_no_matter);
    tcase_add_test(tcase, the_definition_may_come_first);
    tcase_add_test(tcase, what_an_image_keeps_to_itself_stays_its_own);
    tcase_add_test(tcase, of_weak_definitions_one_is_taken_and_a_strong_one_before_all);
    tcase_add_test(tcase, an_image_that_was_linked_can_be_linked_again);
    tcase_add_loop_test(tcase, a_result_need_not_be_declared_as_it_is_defined, 0, 9);
    tcase_add_test(tcase, parameters_must_be_declared_as_they_are_defined);
    tcase_add_test(tcase, images_come_from_files_too);
    tcase_add_test(tcase, what_is_for_debuggers_is_left_out);
    tcase_add_test(tcase, code_that_is_wrong_by_itself_is_refused_when_it_comes);
    tcase_add_test(tcase, what_nobody_defines_is_said_at_the_end);
    tcase_add_test(tcase, what_two_images_define_is_refused);
    tcase_add_test(tcase, the_logs_are_empty_when_nothing_is_wrong);
    tcase_add_test(tcase, a_call_that_cannot_be_is_refused);
    tcase_add_test(tcase, linking_needs_a_context);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(link_suite);
