/* Calls that break a rule: the driver's phrase that says which. */
#include "work_fixture.h"

#include <string.h>

static const char *reason(cxu_result result)
{
    static char text[400];
    return cx_emu_explain(result, text, sizeof text) ? text : "";
}

START_TEST(a_refused_call_says_why_with_its_numbers)
{
    CUdeviceptr memory = make_memory(64);

    ck_result(cx_emu_call_memset_d32(memory + 2, 0, 4), INVALID_VALUE);
    ck_assert_str_eq(reason(CXU_INVALID_VALUE),
                     "the address is no multiple of the 4 bytes of an element");
    ck_result(cx_emu_call_memset_d8(memory + 32, 0, 64), INVALID_VALUE);
    ck_assert_str_eq(reason(CXU_INVALID_VALUE),
                     "64 bytes do not fit: 32 are left of the allocation");
    ck_success(cx_emu_call_mem_free(memory));
    ck_result(cx_emu_call_mem_free(memory), INVALID_VALUE);
    ck_assert_str_eq(reason(CXU_INVALID_VALUE), "no allocation begins at this address");
}
END_TEST

START_TEST(each_lack_of_an_elapsed_time_has_its_words)
{
    CUevent timed = make_event(), untimed, never;
    float ms;

    ck_success(cx_emu_call_event_create(&untimed, CXU_EVENT_DISABLE_TIMING));
    ck_success(cx_emu_call_event_create(&never, 0));
    ck_success(cx_emu_call_event_record(timed, NULL));
    ck_success(cx_emu_call_event_record(untimed, NULL));
    ck_success(cx_emu_call_event_synchronize(untimed));
    ck_result(cx_emu_call_event_elapsed_time(&ms, timed, untimed), INVALID_HANDLE);
    ck_assert_str_eq(reason(CXU_INVALID_HANDLE),
                     "an event was created with CU_EVENT_DISABLE_TIMING");
    ck_result(cx_emu_call_event_elapsed_time(&ms, never, timed), INVALID_HANDLE);
    ck_assert_str_eq(reason(CXU_INVALID_HANDLE), "an event was never recorded");
}
END_TEST

START_TEST(a_reason_is_that_of_the_latest_call_and_of_its_result)
{
    CUdeviceptr memory = make_memory(64);
    CUevent none = NULL;

    ck_result(cx_emu_call_memset_d32(memory + 2, 0, 4), INVALID_VALUE);
    ck_assert_str_eq(reason(CXU_INVALID_HANDLE), "");
    ck_success(cx_emu_call_memset_d32(memory, 0, 4));
    ck_assert_str_eq(reason(CXU_INVALID_VALUE), "");
    ck_result(cx_emu_call_memset_d32(memory + 2, 0, 4), INVALID_VALUE);
    ck_result(cx_emu_call_event_destroy(none), INVALID_HANDLE);
    ck_assert_str_eq(reason(CXU_INVALID_VALUE), "");
}
END_TEST

static Suite *refusal_suite(void)
{
    Suite *suite = suite_create("refusal");
    TCase *tcase = tcase_create("refusal");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, a_refused_call_says_why_with_its_numbers);
    tcase_add_test(tcase, each_lack_of_an_elapsed_time_has_its_words);
    tcase_add_test(tcase, a_reason_is_that_of_the_latest_call_and_of_its_result);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(refusal_suite);
