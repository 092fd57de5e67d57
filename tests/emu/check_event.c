/* Events: handles, flags, completion, time (A1, A2). */
#include "work_fixture.h"

START_TEST(unknown_flags_are_invalid_value)
{
    CUevent event = NULL;

    ck_result(cx_emu_call_event_create(&event, 8), INVALID_VALUE);
    ck_result(cx_emu_call_event_create(&event, CXU_EVENT_INTERPROCESS), INVALID_VALUE);
    ck_result(cx_emu_call_event_create(NULL, 0), INVALID_VALUE);
    ck_assert_ptr_null(event);
    ck_success(cx_emu_call_event_create(&event, CXU_EVENT_INTERPROCESS | CXU_EVENT_DISABLE_TIMING));
    ck_success(cx_emu_call_event_destroy(event));
}
END_TEST

START_TEST(an_event_needs_a_current_context_to_be_created_but_not_to_be_destroyed)
{
    CUevent event = make_event(), none = NULL;
    CUcontext context;

    ck_success(cx_emu_call_ctx_pop(&context));
    ck_result(cx_emu_call_event_create(&none, 0), INVALID_CONTEXT);
    ck_assert_ptr_null(none);
    ck_success(cx_emu_call_event_destroy(event)); /* T6 */
    ck_success(cx_emu_call_ctx_push(context));
}
END_TEST

START_TEST(an_event_never_recorded_is_done)
{
    CUevent event = make_event();

    ck_success(cx_emu_call_event_query(event));
    ck_success(cx_emu_call_event_synchronize(event));
}
END_TEST

START_TEST(an_event_is_done_when_what_is_before_it_is_done)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream = make_stream(0);
    CUevent event = make_event();

    gate_put(&gate, stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_result(cx_emu_call_event_query(event), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_event_synchronize(event));
    ck_success(cx_emu_call_event_query(event));
}
END_TEST

/* T1 */
START_TEST(an_event_is_recorded_in_its_own_context_only)
{
    CUevent event = make_event();
    CUcontext other;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 0));
    ck_result(cx_emu_call_event_record(event, NULL), INVALID_HANDLE);
    ck_result(cx_emu_call_event_record(event, make_stream(0)), INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_event_record(event, NULL));
}
END_TEST

START_TEST(record_and_wait_flags_that_mean_capture_are_refused_outside_of_it)
{
    CUevent event = make_event();

    ck_success(cx_emu_call_event_record_with_flags(event, NULL, CXU_EVENT_RECORD_DEFAULT));
    ck_result(cx_emu_call_event_record_with_flags(event, NULL, CXU_EVENT_RECORD_EXTERNAL),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_wait_event(NULL, event, CXU_EVENT_WAIT_EXTERNAL), INVALID_VALUE);
}
END_TEST

/* T4 */
START_TEST(time_between_events_needs_two_records_with_timing)
{
    CUevent recorded = make_event(), never = make_event(), untimed;
    float ms = -7;

    ck_success(cx_emu_call_event_create(&untimed, CXU_EVENT_DISABLE_TIMING));
    ck_success(cx_emu_call_event_record(recorded, NULL));
    ck_success(cx_emu_call_event_record(untimed, NULL));
    ck_result(cx_emu_call_event_elapsed_time(&ms, recorded, never), INVALID_HANDLE);
    ck_result(cx_emu_call_event_elapsed_time(&ms, never, recorded), INVALID_HANDLE);
    ck_result(cx_emu_call_event_elapsed_time_v2(&ms, recorded, untimed), INVALID_HANDLE);
    ck_result(cx_emu_call_event_elapsed_time_v2(NULL, recorded, recorded), INVALID_VALUE);
    ck_assert_float_eq(ms, -7);
}
END_TEST

/* T4 */
START_TEST(time_between_events_has_a_sign)
{
    stream_gate gate = GATE_CLOSED;
    CUevent start = make_event(), end = make_event();
    float forth, back = 77;

    ck_success(cx_emu_call_event_record(start, NULL));
    gate_put(&gate, NULL);
    ck_success(cx_emu_call_event_record(end, NULL));
    ck_result(cx_emu_call_event_elapsed_time(&back, start, end), NOT_READY);
    ck_assert_float_eq(back, 77);
    gate_open(&gate);
    ck_success(cx_emu_call_event_synchronize(end));
    ck_success(cx_emu_call_event_elapsed_time(&forth, start, end));
    ck_success(cx_emu_call_event_elapsed_time_v2(&back, end, start));
    ck_assert_float_gt(forth, 0);
    ck_assert_float_eq(forth, -back);
}
END_TEST

/* T12 */
START_TEST(destroying_an_event_that_is_waited_for_leaves_the_wait_alone)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream waiting = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    gate_put(&gate, held);
    journal_put(&journal, held, 'a');
    ck_success(cx_emu_call_event_record(event, held));
    ck_success(cx_emu_call_stream_wait_event(waiting, event, 0));
    journal_put(&journal, waiting, 'b');
    ck_success(cx_emu_call_event_destroy(event));
    ck_result(cx_emu_call_event_query(event), INVALID_HANDLE);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(waiting));
    ck_journal(&journal, "ab");
}
END_TEST

START_TEST(values_that_are_no_event_are_invalid_handle)
{
    CUevent event = make_event();
    CUstream stream = make_stream(0);
    CUevent wrong[] = {NULL, (CUevent)0x10, (CUevent)((uintptr_t)event + 8),
                       (CUevent)(void *)stream};
    float ms;

    for (int i = 0; i < 4; i++) {
        ck_result(cx_emu_call_event_query(wrong[i]), INVALID_HANDLE);
        ck_result(cx_emu_call_event_synchronize(wrong[i]), INVALID_HANDLE);
        ck_result(cx_emu_call_event_record(wrong[i], stream), INVALID_HANDLE);
        ck_result(cx_emu_call_stream_wait_event(stream, wrong[i], 0), INVALID_HANDLE);
        ck_result(cx_emu_call_event_elapsed_time(&ms, event, wrong[i]), INVALID_HANDLE);
        ck_result(cx_emu_call_event_destroy(wrong[i]), INVALID_HANDLE);
    }
}
END_TEST

/* C3 */
START_TEST(events_go_with_their_context)
{
    CUcontext other;
    CUevent event;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    event = make_event();
    ck_success(cx_emu_call_event_record(event, NULL));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_event_query(event), INVALID_HANDLE);
}
END_TEST

static Suite *event_suite(void)
{
    Suite *suite = suite_create("event");
    TCase *tcase = tcase_create("event");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, unknown_flags_are_invalid_value);
    tcase_add_test(tcase, an_event_needs_a_current_context_to_be_created_but_not_to_be_destroyed);
    tcase_add_test(tcase, an_event_never_recorded_is_done);
    tcase_add_test(tcase, an_event_is_done_when_what_is_before_it_is_done);
    tcase_add_test(tcase, an_event_is_recorded_in_its_own_context_only);
    tcase_add_test(tcase, record_and_wait_flags_that_mean_capture_are_refused_outside_of_it);
    tcase_add_test(tcase, time_between_events_needs_two_records_with_timing);
    tcase_add_test(tcase, time_between_events_has_a_sign);
    tcase_add_test(tcase, destroying_an_event_that_is_waited_for_leaves_the_wait_alone);
    tcase_add_test(tcase, values_that_are_no_event_are_invalid_handle);
    tcase_add_test(tcase, events_go_with_their_context);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(event_suite);
