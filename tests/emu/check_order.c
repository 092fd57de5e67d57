/* What waits for what: streams among each other (T11), events, contexts (T3). */
#include "work_fixture.h"

START_TEST(work_of_one_stream_runs_in_the_order_of_submission)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);

    for (char letter = 'a'; letter <= 'z'; letter++)
        journal_put(&journal, stream, letter);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "abcdefghijklmnopqrstuvwxyz");
}
END_TEST

/* T11 */
START_TEST(the_legacy_stream_waits_for_blocking_streams)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;

    gate_put(&gate, make_stream(CXU_STREAM_DEFAULT));
    journal_put(&journal, CXU_STREAM_LEGACY, 'l');
    gate_wait_entered(&gate);
    ck_result(cx_emu_call_stream_query(CXU_STREAM_LEGACY), NOT_READY);
    ck_journal(&journal, "");
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_journal(&journal, "l");
}
END_TEST

/* T11 */
START_TEST(blocking_streams_wait_for_the_legacy_stream)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUstream blocking = make_stream(CXU_STREAM_DEFAULT);
    CUstream free_stream = make_stream(CXU_STREAM_NON_BLOCKING);

    gate_put(&gate, NULL);
    journal_put(&journal, blocking, 'b');
    journal_put(&journal, free_stream, 'f');
    ck_success(cx_emu_call_stream_synchronize(free_stream));
    ck_result(cx_emu_call_stream_query(blocking), NOT_READY);
    ck_journal(&journal, "f");
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(blocking));
    ck_journal(&journal, "fb");
}
END_TEST

/* T11 */
START_TEST(the_legacy_stream_does_not_wait_for_non_blocking_streams)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    gate_put(&gate, stream);
    journal_put(&journal, NULL, 'l');
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_journal(&journal, "l");
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* T11: what was submitted before a legacy piece, and what comes behind it in yet another stream. */
START_TEST(legacy_work_stands_between_the_blocking_streams)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUstream first = make_stream(CXU_STREAM_DEFAULT), second = make_stream(CXU_STREAM_DEFAULT);

    gate_put(&gate, first);
    journal_put(&journal, first, 'a');
    journal_put(&journal, NULL, 'b');
    journal_put(&journal, second, 'c');
    journal_put(&journal, NULL, 'd');
    journal_put(&journal, first, 'e');
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_journal(&journal, "abcde");
}
END_TEST

/* T11 */
START_TEST(other_contexts_do_not_wait_for_a_legacy_stream)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUcontext other;

    gate_put(&gate, NULL);
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    journal_put(&journal, NULL, 'o');
    ck_success(cx_emu_call_ctx_synchronize());
    ck_journal(&journal, "o");
    ck_success(cx_emu_call_ctx_destroy(other));
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* In another context first, so that the thread's streams are more than one. */
static void *use_own_stream(void *argument)
{
    stream_journal *journal = argument;
    CUcontext other;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    journal_put(journal, CXU_STREAM_PER_THREAD, 's');
    ck_success(cx_emu_call_stream_synchronize(CXU_STREAM_PER_THREAD));
    ck_success(cx_emu_call_ctx_push(work_context));
    journal_put(journal, CXU_STREAM_PER_THREAD, 't');
    ck_success(cx_emu_call_stream_synchronize(CXU_STREAM_PER_THREAD));
    ck_success(cx_emu_call_ctx_destroy(other));
    return NULL;
}

START_TEST(each_thread_has_a_default_stream_of_its_own)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    pthread_t thread;

    gate_put(&gate, CXU_STREAM_PER_THREAD);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_own_stream, &journal), 0);
    pthread_join(thread, NULL);
    ck_journal(&journal, "st");
    ck_result(cx_emu_call_stream_query(CXU_STREAM_PER_THREAD), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* T11 */
START_TEST(a_per_thread_default_stream_is_a_blocking_one)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;

    gate_put(&gate, CXU_STREAM_PER_THREAD);
    journal_put(&journal, CXU_STREAM_LEGACY, 'l');
    ck_result(cx_emu_call_stream_query(CXU_STREAM_LEGACY), NOT_READY);
    ck_journal(&journal, "");
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(CXU_STREAM_LEGACY));
    ck_journal(&journal, "l");
}
END_TEST

START_TEST(null_is_the_per_thread_stream_where_the_call_says_so)
{
    unsigned long long own, null, legacy;

    ck_success(cx_emu_call_stream_get_id(CXU_STREAM_PER_THREAD, &own));
    ck_success(cx_emu_call_stream_get_id(CXU_STREAM_LEGACY, &legacy));
    cx_emu_set_per_thread_default(true);
    ck_success(cx_emu_call_stream_get_id(NULL, &null));
    cx_emu_set_per_thread_default(false);
    ck_assert_uint_eq(null, own);
    ck_success(cx_emu_call_stream_get_id(NULL, &null));
    ck_assert_uint_eq(null, legacy);
    ck_assert_uint_ne(own, legacy);
}
END_TEST

static void *leave_work_behind(void *argument)
{
    ck_success(cx_emu_call_ctx_set_current(work_context));
    gate_put(argument, CXU_STREAM_PER_THREAD);
    return NULL;
}

START_TEST(a_thread_ends_without_waiting_for_its_stream)
{
    stream_gate gate = GATE_CLOSED;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, leave_work_behind, &gate), 0);
    pthread_join(thread, NULL);
    ck_result(cx_emu_call_stream_query(CXU_STREAM_LEGACY), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_stream_waits_for_an_event_of_another)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    gate_put(&gate, first);
    journal_put(&journal, first, 'a');
    ck_success(cx_emu_call_event_record(event, first));
    journal_put(&journal, second, 'b');
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    journal_put(&journal, second, 'c');
    gate_wait_entered(&gate);
    ck_result(cx_emu_call_stream_query(second), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_assert_int_eq(journal.letters[2], 'c');
}
END_TEST

START_TEST(a_wait_is_for_the_last_record_before_it)
{
    stream_gate gate = GATE_CLOSED;
    CUstream idle = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream waiting = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    gate_put(&gate, held);
    ck_success(cx_emu_call_event_record(event, idle));
    ck_success(cx_emu_call_stream_wait_event(waiting, event, 0));
    ck_success(cx_emu_call_event_record(event, held));
    ck_success(cx_emu_call_stream_synchronize(waiting));
    ck_result(cx_emu_call_event_query(event), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(waiting_for_an_event_never_recorded_does_nothing)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);

    ck_success(cx_emu_call_stream_wait_event(stream, make_event(), 0));
    ck_success(cx_emu_call_stream_query(stream));
}
END_TEST

/* T1 */
START_TEST(a_stream_waits_across_contexts_and_devices)
{
    stream_gate gate = GATE_CLOSED;
    CUevent event = make_event();
    CUcontext other;
    CUstream stream;

    gate_put(&gate, NULL);
    ck_success(cx_emu_call_event_record(event, NULL));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    stream = make_stream(CXU_STREAM_DEFAULT);
    ck_success(cx_emu_call_stream_wait_event(stream, event, 0));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_event_query(event));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

/* T3 */
START_TEST(a_context_records_all_its_streams)
{
    stream_gate first = GATE_CLOSED, second = GATE_CLOSED;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    gate_put(&first, stream);
    gate_put(&second, NULL);
    ck_success(cx_emu_call_ctx_record_event(work_context, event));
    gate_open(&first);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_result(cx_emu_call_event_query(event), NOT_READY);
    gate_open(&second);
    ck_success(cx_emu_call_event_synchronize(event));
}
END_TEST

/* T3 */
START_TEST(all_later_work_of_a_context_waits_for_its_events)
{
    stream_gate gate = GATE_CLOSED;
    CUevent event = make_event();
    CUcontext other;
    CUstream later;

    gate_put(&gate, NULL);
    ck_success(cx_emu_call_event_record(event, NULL));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_success(cx_emu_call_ctx_wait_event(other, event));
    later = make_stream(CXU_STREAM_NON_BLOCKING);
    ck_success(cx_emu_call_event_record(make_event(), later));
    ck_result(cx_emu_call_stream_query(later), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(later));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

/* T3 */
START_TEST(a_context_does_not_record_the_event_of_another)
{
    CUevent event = make_event();
    CUcontext other;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 0));
    ck_result(cx_emu_call_ctx_record_event(other, event), INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_wait_event(other, event));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_ctx_record_event(other, event), INVALID_CONTEXT);
}
END_TEST

START_TEST(blocked_host_functions_do_not_keep_copies_from_running)
{
    static stream_gate gates[32];
    CUdeviceptr memory = make_memory(1 << 20);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    for (int i = 0; i < 32; i++) {
        gates[i] = (stream_gate)GATE_CLOSED;
        gate_put(&gates[i], make_stream(CXU_STREAM_NON_BLOCKING));
    }
    for (int i = 0; i < 32; i++)
        gate_wait_entered(&gates[i]);
    ck_success(cx_emu_call_memset_d8_async(memory, 1, 1 << 20, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    for (int i = 0; i < 32; i++)
        gate_open(&gates[i]);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_long_chain_of_short_work_needs_no_deep_stack)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    CUevent event = make_event();

    gate_put(&gate, stream);
    for (int i = 0; i < 200000; i++)
        ck_success(cx_emu_call_event_record(event, stream));
    gate_open(&gate);
    ck_success(cx_emu_call_event_synchronize(event));
}
END_TEST

/* Work that goes on while a host function of another stream blocks, which no program may rely on:
 * these say that `threads` lets it, and `lazy` unless somebody waits for the host function. */
static TCase *independent_case(void)
{
    TCase *tcase = tcase_create("independent");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_set_tags(tcase, "independent");
    tcase_add_test(tcase, blocking_streams_wait_for_the_legacy_stream);
    tcase_add_test(tcase, the_legacy_stream_does_not_wait_for_non_blocking_streams);
    tcase_add_test(tcase, other_contexts_do_not_wait_for_a_legacy_stream);
    tcase_add_test(tcase, each_thread_has_a_default_stream_of_its_own);
    tcase_add_test(tcase, a_wait_is_for_the_last_record_before_it);
    tcase_add_test(tcase, a_context_records_all_its_streams);
    return tcase;
}

static TCase *pool_case(void)
{
    TCase *tcase = tcase_create("pool");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_set_tags(tcase, "pool");
    tcase_add_test(tcase, blocked_host_functions_do_not_keep_copies_from_running);
    return tcase;
}

static Suite *order_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *tcase = tcase_create("order");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, work_of_one_stream_runs_in_the_order_of_submission);
    tcase_add_test(tcase, the_legacy_stream_waits_for_blocking_streams);
    tcase_add_test(tcase, legacy_work_stands_between_the_blocking_streams);
    tcase_add_test(tcase, a_per_thread_default_stream_is_a_blocking_one);
    tcase_add_test(tcase, null_is_the_per_thread_stream_where_the_call_says_so);
    tcase_add_test(tcase, a_thread_ends_without_waiting_for_its_stream);
    tcase_add_test(tcase, a_stream_waits_for_an_event_of_another);
    tcase_add_test(tcase, waiting_for_an_event_never_recorded_does_nothing);
    tcase_add_test(tcase, a_stream_waits_across_contexts_and_devices);
    tcase_add_test(tcase, all_later_work_of_a_context_waits_for_its_events);
    tcase_add_test(tcase, a_context_does_not_record_the_event_of_another);
    tcase_add_test(tcase, a_long_chain_of_short_work_needs_no_deep_stack);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, independent_case());
    suite_add_tcase(suite, pool_case());
    return suite;
}

CX_TESTS(order_suite);
