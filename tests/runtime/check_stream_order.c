#include "gate.h"

#include <stdio.h>
#include <stdlib.h>

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void end(void)
{
    while (ctxrt_stack_depth() != 0)
        cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

START_TEST(query_says_whether_the_work_is_done)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    gate barrier;
    cx_assert_ok(ctxrt_stream_query(stream));
    gate_close(&barrier, stream);
    cx_assert_error(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_stream_query(stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_host_function_runs_when_the_work_before_it_is_done)
{
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&marks), 1);
}
END_TEST

typedef struct forbidden_calls {
    ctxrt_stream *stream;
    ctxrt_status given, current;
} forbidden_calls;

static void call_ctxrt(void *argument)
{
    forbidden_calls *calls = argument;
    calls->given = ctxrt_stream_query(calls->stream);
    calls->current = ctxrt_stream_query(NULL);
}

/* T10 */
START_TEST(calls_of_ctxrt_in_a_host_function_are_not_permitted)
{
    forbidden_calls calls = {.stream = create_stream(CTXRT_STREAM_DEFAULT)};
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, call_ctxrt, &calls));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(calls.given, CTXRT_ERROR_NOT_PERMITTED);
    ck_assert_int_ne(calls.current, CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_stream_destroy(calls.stream));
}
END_TEST

/* T11 */
START_TEST(the_legacy_stream_waits_for_blocking_streams_and_they_for_it)
{
    ctxrt_stream *blocking = create_stream(CTXRT_STREAM_DEFAULT);
    ctxrt_stream *free_stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    atomic_int legacy_marks = 0, marks = 0;
    gate first, second;
    gate_close(&first, blocking);
    cx_assert_ok(ctxrt_stream_add_host_function(CTXRT_STREAM_LEGACY, mark, &legacy_marks));
    give_others_a_chance(free_stream);
    cx_assert_error(ctxrt_stream_query(CTXRT_STREAM_LEGACY), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&legacy_marks), 0);
    gate_open(&first);
    cx_assert_ok(ctxrt_stream_synchronize(CTXRT_STREAM_LEGACY));
    ck_assert_int_eq(atomic_load(&legacy_marks), 1);

    gate_close(&second, CTXRT_STREAM_LEGACY);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    give_others_a_chance(free_stream);
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&second);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_stream_destroy(blocking));
    cx_assert_ok(ctxrt_stream_destroy(free_stream));
}
END_TEST

/* T11 */
START_TEST(a_non_blocking_stream_does_not_wait_for_the_legacy_stream)
{
    ctxrt_stream *free_stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, CTXRT_STREAM_LEGACY);
    cx_assert_ok(ctxrt_stream_add_host_function(free_stream, mark, &marks));
    cx_assert_ok(ctxrt_stream_synchronize(free_stream));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_error(ctxrt_stream_query(CTXRT_STREAM_LEGACY), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(CTXRT_STREAM_LEGACY));
    cx_assert_ok(ctxrt_stream_destroy(free_stream));
}
END_TEST

static void assert_waits_across(ctxrt_device other)
{
    ctxrt_stream *first = create_stream(CTXRT_STREAM_DEFAULT);
    ctxrt_stream *free_stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, first);
    cx_assert_ok(ctxrt_event_record(event, first));
    cx_assert_ok(ctxrt_device_set(other));
    cx_assert_ok(ctxrt_stream_wait_event(NULL, event));
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    give_others_a_chance(free_stream);
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_event_query(event));
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(free_stream));
}

/* T1 */
START_TEST(a_stream_waits_for_an_event_of_another_device)
{
    assert_waits_across(CTXRT_CUDA(1));
}
END_TEST

START_TEST(a_stream_of_the_cpu_waits_for_an_event_of_a_gpu)
{
    cx_fixture_needs_emulated("across drivers the host waits");
    assert_waits_across(CTXRT_CPU(0));
}
END_TEST

START_TEST(device_synchronize_waits_for_all_streams_of_the_context)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, &marks));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_error(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* T12 */
START_TEST(destroy_returns_at_once_and_the_work_goes_on)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, &marks));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(atomic_load(&marks), 1);
}
END_TEST

/* ---- two drivers: the embedded one for the CPU, the stand-in libcuda for the GPUs ---- */

static void start_two_drivers(void)
{
    char path[4096];
    const char *build = getenv("top_builddir");
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    cx_fixture_needs_emulated("the stand-in is its second driver");
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1",
             build != NULL ? build : ".");
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.libcuda = path;
    cx_assert_ok(ctxrt_init(&options));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void *open_gate(void *held)
{
    gate_open(held);
    return NULL;
}

START_TEST(across_drivers_the_host_waits_for_the_event)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    pthread_t thread;
    gate barrier;
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_error(ctxrt_event_record(event, NULL), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_error(ctxrt_event_query(event), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(pthread_create(&thread, NULL, open_gate, &barrier), 0);
    cx_assert_ok(ctxrt_stream_wait_event(NULL, event));
    cx_assert_ok(ctxrt_event_query(event));
    pthread_join(thread, NULL);
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

static Suite *stream_order_suite(void)
{
    Suite *suite = suite_create("stream order");
    TCase *all = tcase_create("stream order");
    tcase_add_checked_fixture(all, start, end);
    tcase_add_test(all, query_says_whether_the_work_is_done);
    tcase_add_test(all, a_host_function_runs_when_the_work_before_it_is_done);
    tcase_add_test(all, calls_of_ctxrt_in_a_host_function_are_not_permitted);
    tcase_add_test(all, the_legacy_stream_waits_for_blocking_streams_and_they_for_it);
    tcase_add_test(all, a_non_blocking_stream_does_not_wait_for_the_legacy_stream);
    tcase_add_test(all, a_stream_waits_for_an_event_of_another_device);
    tcase_add_test(all, a_stream_of_the_cpu_waits_for_an_event_of_a_gpu);
    tcase_add_test(all, device_synchronize_waits_for_all_streams_of_the_context);
    tcase_add_test(all, destroy_returns_at_once_and_the_work_goes_on);
    suite_add_tcase(suite, all);

    TCase *two = tcase_create("two drivers");
    tcase_add_checked_fixture(two, start_two_drivers, end);
    tcase_add_test(two, across_drivers_the_host_waits_for_the_event);
    suite_add_tcase(suite, two);
    return suite;
}

CX_TESTS(stream_order_suite);
