#include "gate.h"

#include <time.h>

#define BAD_EVENT ((ctxrt_event *)(uintptr_t)0x1234567890)

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

START_TEST(an_event_that_never_recorded_is_done)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_event_query(event));
    cx_assert_ok(ctxrt_event_synchronize(event));
    cx_assert_ok(ctxrt_stream_wait_event(NULL, event));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

START_TEST(an_event_is_done_when_the_work_before_it_is)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_BLOCKING_SYNC);
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_error(ctxrt_event_query(event), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_event_synchronize(event));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_event_query(event));
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

START_TEST(null_records_into_the_current_stream_of_the_frame)
{
    ctxrt_stream *held = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    gate barrier;
    gate_close(&barrier, held);
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_event_synchronize(event));
    cx_assert_ok(ctxrt_frame_set_stream(held));
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_error(ctxrt_event_query(event), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_event_synchronize(event));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(held));
}
END_TEST

/* T1: the driver would say INVALID_HANDLE; ctxrt does not ask it. */
START_TEST(record_into_a_stream_of_another_context_is_refused)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    ctxrt_stream *const streams[] = {NULL, CTXRT_STREAM_LEGACY, stream};
    for (int i = 0; i < 3; i++) {
        cx_assert_error(ctxrt_event_record(event, streams[i]), CTXRT_ERROR_WRONG_CONTEXT);
        ck_assert_str_eq(ctxrt_last_error()->driver_call, "");
    }
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static void take_time(void *argument)
{
    struct timespec begin, now;
    (void)argument;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000LL + (now.tv_nsec - begin.tv_nsec) < 100000);
}

/* The sign only: how long it takes is the machine's matter. */
START_TEST(elapsed_time_of_ordered_work_is_positive_and_turns_round)
{
    ctxrt_event *first = create_event(CTXRT_EVENT_DEFAULT),
                *last = create_event(CTXRT_EVENT_DEFAULT);
    float forth = 0, back = 0;
    cx_assert_ok(ctxrt_event_record(first, NULL));
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, take_time, NULL));
    cx_assert_ok(ctxrt_event_record(last, NULL));
    cx_assert_ok(ctxrt_event_synchronize(last));
    cx_assert_ok(ctxrt_event_elapsed_ms(first, last, &forth));
    cx_assert_ok(ctxrt_event_elapsed_ms(last, first, &back));
    ck_assert_msg(forth > 0, "%g ms", (double)forth);
    ck_assert_msg(back == -forth, "%g ms forth and %g ms back", (double)forth, (double)back);
    cx_assert_ok(ctxrt_event_destroy(first));
    cx_assert_ok(ctxrt_event_destroy(last));
}
END_TEST

/* T4 */
START_TEST(there_is_no_time_without_two_timed_records_that_are_done)
{
    ctxrt_event *done = create_event(CTXRT_EVENT_DEFAULT),
                *held = create_event(CTXRT_EVENT_DEFAULT);
    ctxrt_event *never = create_event(CTXRT_EVENT_DEFAULT);
    ctxrt_event *untimed = create_event(CTXRT_EVENT_DISABLE_TIMING);
    float ms = -7;
    gate barrier;
    cx_assert_ok(ctxrt_event_record(done, NULL));
    cx_assert_ok(ctxrt_event_record(untimed, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_error(ctxrt_event_elapsed_ms(done, never, &ms), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_event_elapsed_ms(never, done, &ms), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_event_elapsed_ms(done, untimed, &ms), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_str_eq(ctxrt_last_error()->driver_result_name, "CUDA_ERROR_INVALID_HANDLE");
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_event_record(held, NULL));
    cx_assert_error(ctxrt_event_elapsed_ms(done, held, &ms), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_event_synchronize(held));
    ck_assert_msg(ms == -7, "written on failure");
    cx_assert_ok(ctxrt_event_elapsed_ms(done, held, &ms));
    cx_assert_ok(ctxrt_event_destroy(done));
    cx_assert_ok(ctxrt_event_destroy(held));
    cx_assert_ok(ctxrt_event_destroy(never));
    cx_assert_ok(ctxrt_event_destroy(untimed));
}
END_TEST

START_TEST(there_is_no_time_between_events_of_different_contexts)
{
    ctxrt_event *here = create_event(CTXRT_EVENT_DEFAULT);
    float ms;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_event *there = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_error(ctxrt_event_elapsed_ms(here, there, &ms), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_event_destroy(here));
    cx_assert_ok(ctxrt_event_destroy(there));
}
END_TEST

static void assert_refused_everywhere(ctxrt_event *event, ctxrt_status status)
{
    ctxrt_event *good = create_event(CTXRT_EVENT_DEFAULT);
    struct CUevent_st *native = NULL;
    float ms;
    cx_assert_error(ctxrt_event_record(event, NULL), status);
    cx_assert_error(ctxrt_event_query(event), status);
    cx_assert_error(ctxrt_event_synchronize(event), status);
    cx_assert_error(ctxrt_event_elapsed_ms(event, good, &ms), status);
    cx_assert_error(ctxrt_event_elapsed_ms(good, event, &ms), status);
    cx_assert_error(ctxrt_event_native(event, &native), status);
    cx_assert_error(ctxrt_stream_wait_event(NULL, event), status);
    ck_assert_ptr_null(native);
    cx_assert_ok(ctxrt_event_destroy(good));
}

START_TEST(bad_events_are_refused_everywhere)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_event_destroy(event));
    assert_refused_everywhere(event, CTXRT_ERROR_INVALID_HANDLE);
    assert_refused_everywhere(BAD_EVENT, CTXRT_ERROR_INVALID_HANDLE);
    assert_refused_everywhere((ctxrt_event *)current_stream(), CTXRT_ERROR_INVALID_HANDLE);
    assert_refused_everywhere(NULL, CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_event_destroy(event), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_event_destroy(BAD_EVENT), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_event_destroy(NULL));
}
END_TEST

START_TEST(null_and_bad_arguments_are_refused)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT), *none = NULL;
    struct CUevent_st *native;
    cx_assert_error(ctxrt_event_create(0, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_event_create(4, &none), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_event_native(event, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_event_elapsed_ms(event, event, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_event_native(event, &native));
    ck_assert_ptr_nonnull(native);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_event_create(0, &none), CTXRT_ERROR_NO_DEVICE);
    ck_assert_ptr_null(none);
    cx_assert_ok(ctxrt_event_destroy(event)); /* T6 */
}
END_TEST

/* T12 */
START_TEST(who_waits_for_a_destroyed_event_still_gets_what_it_waits_for)
{
    ctxrt_stream *first = create_stream(CTXRT_STREAM_DEFAULT);
    ctxrt_stream *free_stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    atomic_int marks = 0;
    gate barrier;
    gate_close(&barrier, first);
    cx_assert_ok(ctxrt_event_record(event, first));
    cx_assert_ok(ctxrt_stream_wait_event(NULL, event));
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    give_others_a_chance(free_stream);
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(free_stream));
}
END_TEST

START_TEST(an_event_keeps_its_context_from_being_destroyed)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

/* P3: a reset destroys the context's events. */
START_TEST(after_a_reset_events_say_so_and_can_be_destroyed)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    assert_refused_everywhere(event, CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_event_destroy(event));
    event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_event_synchronize(event));
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

/* ---- waits with a time limit ---- */

START_TEST(a_wait_for_an_event_ends_with_its_time_and_the_work_goes_on)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    atomic_int marks = 0;
    gate barrier;
    cx_assert_ok(ctxrt_event_synchronize_for(event, 0));
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_error(ctxrt_event_synchronize_for(event, 0), CTXRT_ERROR_NOT_READY);
    cx_assert_error(ctxrt_event_synchronize_for(event, 5), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_event_synchronize_for(event, 600000));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_event_synchronize_for(event, UINT64_MAX));
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

typedef struct waiter {
    ctxrt_event *event;
    atomic_int *marks;
    uint64_t timeout_ms;
} waiter;

static void *wait_for_event(void *argument)
{
    const waiter *self = argument;
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_event_synchronize_for(self->event, self->timeout_ms));
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    ck_assert_int_eq(atomic_load(self->marks), 1);
    return NULL;
}

START_TEST(a_wait_that_succeeds_after_a_while_leaves_the_last_error_alone)
{
    const uint64_t timeouts_ms[] = {600000, UINT64_MAX / 1000, UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        atomic_int marks = 0;
        waiter self = {create_event(CTXRT_EVENT_DEFAULT), &marks, timeouts_ms[i]};
        pthread_t thread;
        gate barrier;
        gate_close(&barrier, NULL);
        cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
        cx_assert_ok(ctxrt_event_record(self.event, NULL));
        ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_event, &self), 0);
        cx_assert_error(ctxrt_event_synchronize_for(self.event, 2), CTXRT_ERROR_NOT_READY);
        gate_open(&barrier);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        cx_assert_ok(ctxrt_event_destroy(self.event));
    }
}
END_TEST

/* ---- events of other code ---- */

START_TEST(a_wrapped_event_works_and_stays_its_owners)
{
    ctxrt_event *owner = create_event(CTXRT_EVENT_DISABLE_TIMING), *wrapped;
    struct CUevent_st *native, *again;
    gate barrier;
    cx_assert_ok(ctxrt_event_native(owner, &native));
    cx_assert_ok(ctxrt_event_from_native(native, &wrapped));
    ck_assert_ptr_ne(wrapped, owner);
    cx_assert_ok(ctxrt_event_native(wrapped, &again));
    ck_assert_ptr_eq(again, native);
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_event_record(wrapped, NULL));
    cx_assert_error(ctxrt_event_query(owner), CTXRT_ERROR_NOT_READY);
    cx_assert_ok(ctxrt_event_destroy(wrapped));
    cx_assert_error(ctxrt_event_query(wrapped), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_event_query(owner), CTXRT_ERROR_NOT_READY);
    cx_assert_ok(ctxrt_event_from_native(native, &wrapped)); /* while its work is not done */
    gate_open(&barrier);
    cx_assert_ok(ctxrt_event_synchronize(wrapped));
    cx_assert_ok(ctxrt_event_destroy(wrapped));
    cx_assert_ok(ctxrt_event_destroy(owner));
}
END_TEST

START_TEST(an_event_that_the_driver_does_not_know_is_not_wrapped)
{
    ctxrt_event *owner = create_event(CTXRT_EVENT_DEFAULT), *wrapped = NULL;
    struct CUevent_st *native;
    cx_fixture_needs_emulated("the check of an event that is gone");
    cx_assert_ok(ctxrt_event_native(owner, &native));
    cx_assert_ok(ctxrt_event_destroy(owner));
    cx_assert_error(ctxrt_event_from_native(native, &wrapped), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_ptr_null(wrapped);
}
END_TEST

START_TEST(an_event_is_wrapped_while_the_thread_captures_and_the_capture_goes_on)
{
    ctxrt_event *owner = create_event(CTXRT_EVENT_DEFAULT), *wrapped;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    struct CUevent_st *native;
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_event_native(owner, &native));
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_GLOBAL));
    cx_assert_ok(ctxrt_event_from_native(native, &wrapped));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_event_destroy(wrapped));
    cx_assert_ok(ctxrt_event_destroy(owner));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(after_a_reset_a_wrapped_event_says_so_and_its_handle_can_be_destroyed)
{
    ctxrt_event *owner = create_event(CTXRT_EVENT_DEFAULT), *wrapped;
    struct CUevent_st *native;
    cx_assert_ok(ctxrt_event_native(owner, &native));
    cx_assert_ok(ctxrt_event_from_native(native, &wrapped));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_event_synchronize_for(wrapped, 1), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_event_destroy(wrapped));
    cx_assert_ok(ctxrt_event_destroy(owner));
}
END_TEST

static Suite *event_suite(void)
{
    Suite *suite = suite_create("event");
    TCase *all = tcase_create("event");
    tcase_add_checked_fixture(all, start, end);
    tcase_add_test(all, an_event_that_never_recorded_is_done);
    tcase_add_test(all, an_event_is_done_when_the_work_before_it_is);
    tcase_add_test(all, null_records_into_the_current_stream_of_the_frame);
    tcase_add_test(all, record_into_a_stream_of_another_context_is_refused);
    tcase_add_test(all, elapsed_time_of_ordered_work_is_positive_and_turns_round);
    tcase_add_test(all, there_is_no_time_without_two_timed_records_that_are_done);
    tcase_add_test(all, there_is_no_time_between_events_of_different_contexts);
    tcase_add_test(all, bad_events_are_refused_everywhere);
    tcase_add_test(all, null_and_bad_arguments_are_refused);
    tcase_add_test(all, who_waits_for_a_destroyed_event_still_gets_what_it_waits_for);
    tcase_add_test(all, an_event_keeps_its_context_from_being_destroyed);
    tcase_add_test(all, after_a_reset_events_say_so_and_can_be_destroyed);
    tcase_add_test(all, a_wait_for_an_event_ends_with_its_time_and_the_work_goes_on);
    tcase_add_test(all, a_wait_that_succeeds_after_a_while_leaves_the_last_error_alone);
    tcase_add_test(all, a_wrapped_event_works_and_stays_its_owners);
    tcase_add_test(all, an_event_that_the_driver_does_not_know_is_not_wrapped);
    tcase_add_test(all, an_event_is_wrapped_while_the_thread_captures_and_the_capture_goes_on);
    tcase_add_test(all, after_a_reset_a_wrapped_event_says_so_and_its_handle_can_be_destroyed);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(event_suite);
