/* Questions about pointers that the driver fails to answer: CTXRT_EMU_FAULT fails one of them. */
#include "fixture.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS_MOST = 8, BYTES = 4096 };

static void start_with_fault(const char *error, int question)
{
    char fault[96];
    (void)snprintf(fault, sizeof fault, "cuPointerGetAttribute@%d%s", question, error);
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", fault, 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

/* Asks often enough that the driver is asked the question that fails: one answer is an error, and
 * all others are the same. */
static void ask_until_one_fails(const void *pointer, int known)
{
    int failed = 0;
    for (int i = 0; i < QUESTIONS_MOST; i++) {
        ctxrt_pointer_info info = {.known = 7};
        ctxrt_status status = ctxrt_pointer_query(pointer, &info);
        if (status == CTXRT_SUCCESS) {
            ck_assert_int_eq(info.known, known);
            continue;
        }
        failed++;
        ck_assert_int_eq(status, CTXRT_ERROR_DRIVER);
        ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuPointerGetAttribute");
        ck_assert_int_eq(info.known, 7);
    }
    ck_assert_int_eq(failed, 1);
}

START_TEST(a_question_that_fails_about_memory_of_ctxrt_is_an_error)
{
    void *pointer;
    start_with_fault("", _i);
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    ask_until_one_fails(pointer, 1);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* The driver alone knows where the caller's pages begin and end. */
START_TEST(a_question_that_fails_about_registered_memory_is_an_error)
{
    static _Alignas(4096) char pages[2 * BYTES];
    start_with_fault("", _i);
    cx_assert_ok(ctxrt_host_register(pages, sizeof pages));
    ask_until_one_fails(pages + BYTES, 1);
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(a_question_that_fails_about_memory_of_the_host_is_an_error)
{
    start_with_fault("", _i);
    ask_until_one_fails(&(int){0}, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(an_address_that_the_driver_does_not_know_is_no_error)
{
    void *pointer;
    ctxrt_pointer_info info;
    start_with_fault(":INVALID_VALUE", 1);
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_pointer_query(pointer, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

static Suite *pointer_suite(void)
{
    Suite *suite = suite_create("pointer");
    TCase *questions = tcase_create("questions");
    tcase_add_loop_test(questions, a_question_that_fails_about_memory_of_ctxrt_is_an_error, 1,
                        QUESTIONS_MOST);
    tcase_add_loop_test(questions, a_question_that_fails_about_registered_memory_is_an_error, 1,
                        QUESTIONS_MOST);
    tcase_add_loop_test(questions, a_question_that_fails_about_memory_of_the_host_is_an_error, 1,
                        QUESTIONS_MOST);
    tcase_add_test(questions, an_address_that_the_driver_does_not_know_is_no_error);
    suite_add_tcase(suite, questions);
    return suite;
}

CX_TESTS(pointer_suite);
