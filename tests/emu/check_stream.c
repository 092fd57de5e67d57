/* Streams as objects: handles, properties, life (A1, A2). */
#include "work_fixture.h"

static void untouched(CUstream stream, cxu_result result)
{
    unsigned int flags = 77;
    int priority = 77, device = 77;
    unsigned long long id = 77;
    CUcontext context = (CUcontext)77;

    ck_assert_int_eq(cx_emu_call_stream_get_flags(stream, &flags), result);
    ck_assert_int_eq(cx_emu_call_stream_get_priority(stream, &priority), result);
    ck_assert_int_eq(cx_emu_call_stream_get_device(stream, &device), result);
    ck_assert_int_eq(cx_emu_call_stream_get_id(stream, &id), result);
    ck_assert_int_eq(cx_emu_call_stream_get_ctx(stream, &context), result);
    ck_assert_int_eq(cx_emu_call_stream_synchronize(stream), result);
    ck_assert_int_eq(cx_emu_call_stream_query(stream), result);
    ck_assert_uint_eq(flags, 77);
    ck_assert_int_eq(priority, 77);
    ck_assert_int_eq(device, 77);
    ck_assert_uint_eq(id, 77);
    ck_assert_ptr_eq(context, (CUcontext)77);
}

START_TEST(a_stream_keeps_its_flags_and_priority)
{
    CUstream stream;
    unsigned int flags;
    int priority;

    ck_success(cx_emu_call_stream_create_with_priority(&stream, CXU_STREAM_NON_BLOCKING, -3));
    ck_success(cx_emu_call_stream_get_flags(stream, &flags));
    ck_success(cx_emu_call_stream_get_priority(stream, &priority));
    ck_assert_uint_eq(flags, CXU_STREAM_NON_BLOCKING);
    ck_assert_int_eq(priority, -3);
    ck_success(cx_emu_call_stream_destroy(stream));
}
END_TEST

START_TEST(priorities_are_clamped_to_what_the_device_has)
{
    static const int asked[] = {-100, -5, 0, 100}, given[] = {-5, -5, 0, 0};

    for (int i = 0; i < 4; i++) {
        CUstream stream;
        int priority;

        ck_success(cx_emu_call_stream_create_with_priority(&stream, 0, asked[i]));
        ck_success(cx_emu_call_stream_get_priority(stream, &priority));
        ck_assert_int_eq(priority, given[i]);
        ck_success(cx_emu_call_stream_destroy(stream));
    }
}
END_TEST

START_TEST(unknown_flags_are_invalid_value)
{
    CUstream stream = NULL;

    ck_result(cx_emu_call_stream_create(&stream, 2), INVALID_VALUE);
    ck_result(cx_emu_call_stream_create(NULL, 0), INVALID_VALUE);
    ck_assert_ptr_null(stream);
}
END_TEST

START_TEST(a_stream_needs_a_current_context_to_be_created)
{
    CUcontext context;
    CUstream stream = NULL;

    ck_success(cx_emu_call_ctx_pop(&context));
    ck_result(cx_emu_call_stream_create(&stream, 0), INVALID_CONTEXT);
    ck_assert_ptr_null(stream);
    ck_success(cx_emu_call_ctx_push(context));
}
END_TEST

/* T2 */
START_TEST(a_stream_knows_the_context_it_was_created_in)
{
    CUstream stream = make_stream(0);
    CUcontext other, context;
    CUdevice device;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_success(cx_emu_call_stream_get_ctx(stream, &context));
    ck_assert_ptr_eq(context, work_context);
    ck_success(cx_emu_call_stream_get_device(stream, &device));
    ck_assert_int_eq(device, 0);
    ck_success(cx_emu_call_stream_get_ctx(NULL, &context));
    ck_assert_ptr_eq(context, other);
    ck_success(cx_emu_call_stream_get_ctx(CXU_STREAM_PER_THREAD, &context));
    ck_assert_ptr_eq(context, other);
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

/* T2 */
START_TEST(default_streams_need_a_current_context)
{
    CUcontext context;

    ck_success(cx_emu_call_ctx_pop(&context));
    untouched(NULL, CXU_INVALID_CONTEXT);
    untouched(CXU_STREAM_LEGACY, CXU_INVALID_CONTEXT);
    untouched(CXU_STREAM_PER_THREAD, CXU_INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(context));
}
END_TEST

START_TEST(values_that_are_no_stream_are_invalid_handle)
{
    CUstream stream = make_stream(0);
    int anything;

    untouched((CUstream)(void *)&anything, CXU_INVALID_HANDLE);
    untouched((CUstream)0x3, CXU_INVALID_HANDLE);
    untouched((CUstream)UINTPTR_MAX, CXU_INVALID_HANDLE);
    untouched((CUstream)((uintptr_t)stream + 8), CXU_INVALID_HANDLE);
    ck_success(cx_emu_call_stream_destroy(stream));
    untouched(stream, CXU_INVALID_HANDLE);
    ck_result(cx_emu_call_stream_destroy(stream), INVALID_HANDLE);
    ck_result(cx_emu_call_stream_destroy(NULL), INVALID_HANDLE);
    ck_result(cx_emu_call_stream_destroy(CXU_STREAM_LEGACY), INVALID_HANDLE);
    ck_result(cx_emu_call_stream_destroy(CXU_STREAM_PER_THREAD), INVALID_HANDLE);
}
END_TEST

START_TEST(a_stale_handle_stays_stale_for_long)
{
    CUstream stale = make_stream(0);

    ck_success(cx_emu_call_stream_destroy(stale));
    for (int i = 0; i < 4000; i++)
        ck_success(cx_emu_call_stream_destroy(make_stream(0)));
    ck_result(cx_emu_call_stream_query(stale), INVALID_HANDLE);
}
END_TEST

START_TEST(ids_are_never_used_twice)
{
    unsigned long long last = 0, id;

    for (int i = 0; i < 10; i++) {
        CUstream stream = make_stream(0);

        ck_success(cx_emu_call_stream_get_id(stream, &id));
        ck_assert_uint_gt(id, last);
        last = id;
        ck_success(cx_emu_call_stream_destroy(stream));
    }
}
END_TEST

/* T6 */
START_TEST(a_stream_is_destroyed_without_a_current_context)
{
    CUstream stream = make_stream(0);
    CUcontext context;

    ck_success(cx_emu_call_ctx_pop(&context));
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_ctx_push(context));
}
END_TEST

/* T12 */
START_TEST(destroying_a_busy_stream_returns_at_once_and_its_work_is_done)
{
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    CUstream stream = make_stream(0);

    gate_put(&gate, stream);
    journal_put(&journal, stream, 'a');
    ck_success(cx_emu_call_stream_destroy(stream));
    untouched(stream, CXU_INVALID_HANDLE);
    ck_result(cx_emu_call_stream_query(NULL), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_journal(&journal, "a");
}
END_TEST

static void *synchronize(void *argument)
{
    ck_success(cx_emu_call_stream_synchronize(argument));
    return NULL;
}

START_TEST(a_stream_may_be_destroyed_while_a_thread_waits_for_it)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream = make_stream(0);
    pthread_t thread;

    gate_put(&gate, stream);
    gate_put(&gate, make_stream(0));
    ck_assert_int_eq(pthread_create(&thread, NULL, synchronize, stream), 0);
    gate_wait_entered(&gate);
    /* Whether the thread waits yet or not, it ends; only a stale handle would fail it. */
    while (cx_emu_call_stream_query(stream) == CXU_SUCCESS)
        ;
    gate_open(&gate);
    pthread_join(thread, NULL);
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* C3 */
START_TEST(streams_go_with_their_context_when_their_work_is_done)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUcontext other;
    CUstream stream;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    stream = make_stream(0);
    journal_put(&journal, stream, 'a');
    journal_put(&journal, CXU_STREAM_PER_THREAD, 'b');
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_assert_int_eq(journal.length, 2);
    untouched(stream, CXU_INVALID_HANDLE);
}
END_TEST

static void *end_with_streams(void *unused)
{
    unsigned long long id;

    (void)unused;
    ck_success(cx_emu_call_ctx_set_current(work_context));
    ck_success(cx_emu_call_stream_get_id(CXU_STREAM_PER_THREAD, &id));
    return NULL;
}

START_TEST(a_context_may_go_before_or_after_a_thread_with_a_stream_in_it)
{
    pthread_t thread;
    CUcontext other;
    unsigned long long first, second;

    ck_assert_int_eq(pthread_create(&thread, NULL, end_with_streams, NULL), 0);
    pthread_join(thread, NULL);
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_success(cx_emu_call_stream_get_id(CXU_STREAM_PER_THREAD, &first));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_success(cx_emu_call_stream_get_id(CXU_STREAM_PER_THREAD, &second));
    ck_assert_uint_ne(first, second);
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

static Suite *stream_suite(void)
{
    Suite *suite = suite_create("stream");
    TCase *tcase = tcase_create("stream");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, a_stream_keeps_its_flags_and_priority);
    tcase_add_test(tcase, priorities_are_clamped_to_what_the_device_has);
    tcase_add_test(tcase, unknown_flags_are_invalid_value);
    tcase_add_test(tcase, a_stream_needs_a_current_context_to_be_created);
    tcase_add_test(tcase, a_stream_knows_the_context_it_was_created_in);
    tcase_add_test(tcase, default_streams_need_a_current_context);
    tcase_add_test(tcase, values_that_are_no_stream_are_invalid_handle);
    tcase_add_test(tcase, a_stale_handle_stays_stale_for_long);
    tcase_add_test(tcase, ids_are_never_used_twice);
    tcase_add_test(tcase, a_stream_is_destroyed_without_a_current_context);
    tcase_add_test(tcase, destroying_a_busy_stream_returns_at_once_and_its_work_is_done);
    tcase_add_test(tcase, a_stream_may_be_destroyed_while_a_thread_waits_for_it);
    tcase_add_test(tcase, streams_go_with_their_context_when_their_work_is_done);
    tcase_add_test(tcase, a_context_may_go_before_or_after_a_thread_with_a_stream_in_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stream_suite);
