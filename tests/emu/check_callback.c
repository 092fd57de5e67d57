/* Host functions and callbacks. */
#include "work_fixture.h"

typedef struct call {
    CUstream stream;
    cxu_result status;
    cxu_result inside; /* what a driver call gave inside the callback */
    int runs;
} call;

static void note_callback(CUstream stream, cxu_result status, void *argument)
{
    call *noted = argument;
    CUdeviceptr pointer;

    noted->stream = stream;
    noted->status = status;
    noted->inside = cx_emu_call_mem_alloc(&pointer, 4);
    noted->runs++;
}

static void note_function(void *argument)
{
    note_callback(NULL, CXU_SUCCESS, argument);
}

START_TEST(a_callback_gets_stream_status_and_user_value)
{
    CUstream stream = make_stream(0);
    call noted = {.status = CXU_UNKNOWN};

    ck_success(cx_emu_call_stream_add_callback(stream, note_callback, &noted, 0));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_ptr_eq(noted.stream, stream);
    ck_assert_int_eq(noted.status, CXU_SUCCESS);
    ck_assert_int_eq(noted.runs, 1);
}
END_TEST

/* T10 */
START_TEST(driver_calls_inside_a_callback_are_not_permitted)
{
    call in_callback = {0}, in_function = {0};
    CUdeviceptr pointer;

    ck_success(cx_emu_call_stream_add_callback(NULL, note_callback, &in_callback, 0));
    ck_success(cx_emu_call_launch_host_func(NULL, note_function, &in_function));
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_assert_int_eq(in_callback.inside, CXU_NOT_PERMITTED);
    ck_assert_int_eq(in_function.inside, CXU_NOT_PERMITTED);
    ck_success(cx_emu_call_mem_alloc(&pointer, 4));
}
END_TEST

static void note_thread(void *argument)
{
    *(pthread_t *)argument = pthread_self();
}

START_TEST(host_functions_never_run_on_the_thread_that_submits_them)
{
    pthread_t thread = pthread_self();

    ck_success(cx_emu_call_launch_host_func(NULL, note_thread, &thread));
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_assert(!pthread_equal(thread, pthread_self()));
}
END_TEST

START_TEST(bad_arguments_are_invalid_value_or_handle)
{
    call noted = {0};
    CUstream stale = make_stream(0);

    ck_success(cx_emu_call_stream_destroy(stale));
    ck_result(cx_emu_call_launch_host_func(NULL, NULL, &noted), INVALID_VALUE);
    ck_result(cx_emu_call_stream_add_callback(NULL, NULL, &noted, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_add_callback(NULL, note_callback, &noted, 1), INVALID_VALUE);
    ck_result(cx_emu_call_launch_host_func(stale, note_function, &noted), INVALID_HANDLE);
    ck_result(cx_emu_call_stream_add_callback(stale, note_callback, &noted, 0), INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_int_eq(noted.runs, 0);
}
END_TEST

static Suite *callback_suite(void)
{
    Suite *suite = suite_create("callback");
    TCase *tcase = tcase_create("callback");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, a_callback_gets_stream_status_and_user_value);
    tcase_add_test(tcase, driver_calls_inside_a_callback_are_not_permitted);
    tcase_add_test(tcase, host_functions_never_run_on_the_thread_that_submits_them);
    tcase_add_test(tcase, bad_arguments_are_invalid_value_or_handle);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(callback_suite);
