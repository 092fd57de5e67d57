/* How captures join, end and break: G4, what is destroyed meanwhile, and T3. */
#include "graph_fixture.h"

#define BYTES ((size_t)1 << 10)

/* A call that a GLOBAL capture forbids. */
static cxu_result call_alloc(void)
{
    CUdeviceptr memory;

    return cx_emu_call_mem_alloc(&memory, BYTES);
}

static void nothing(void *unused)
{
    (void)unused;
}

/* ---- G4: joins, ends, and what has no state ---- */

START_TEST(only_the_stream_that_began_ends_a_capture)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_result(cx_emu_call_stream_end_capture(second, &graph), STREAM_CAPTURE_UNMATCHED);
    ck_assert_ptr_null(graph);
    ck_invalidated(first);
    ck_invalidated(second);
    ck_end(first, STREAM_CAPTURE_INVALIDATED);
    ck_idle(second);
}
END_TEST

START_TEST(work_that_was_not_joined_leaves_no_graph)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    letter_put(&a, second);
    ck_end(first, STREAM_CAPTURE_UNJOINED);
    ck_idle(first);
    ck_idle(second);
    letter_put(&a, second);
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_journal(&journal, "a");
}
END_TEST

START_TEST(work_after_the_join_is_not_joined)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    letter_put(&a, second);
    ck_success(cx_emu_call_event_record(event, second));
    ck_success(cx_emu_call_stream_wait_event(first, event, 0));
    letter_put(&a, second);
    ck_end(first, STREAM_CAPTURE_UNJOINED);
}
END_TEST

START_TEST(a_stream_that_joined_and_did_nothing_need_not_come_back)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    drop(end(first));
    ck_idle(second);
}
END_TEST

/* Documented: nodes that the user's own changes cut off are not missed. */
START_TEST(what_the_user_cuts_off_need_not_be_joined)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    cxu_stream_capture_status status;
    CUgraphNode nodes[2];
    size_t count = 2;
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    letter_put(&a, second);
    ck_success(cx_emu_call_event_record(event, second));
    ck_success(cx_emu_call_stream_wait_event(first, event, 0));
    letter_put(&b, first);
    ck_success(cx_emu_call_stream_get_capture_info_v2(first, &status, NULL, &graph, NULL, NULL));
    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    ck_success(cx_emu_call_graph_remove_dependencies_v1(graph, &nodes[0], &nodes[1], 1));
    graph = end(first);
    ck_assert_uint_eq(count_edges(graph), 0);
    drop(graph);
}
END_TEST

START_TEST(what_a_new_set_of_dependencies_leaves_out_need_not_be_joined)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    begin(stream);
    letter_put(&a, stream);
    ck_success(cx_emu_call_stream_update_capture_dependencies_v1(
        stream, NULL, 0, CXU_STREAM_SET_CAPTURE_DEPENDENCIES));
    drop(end(stream));
}
END_TEST

START_TEST(two_captures_do_not_merge)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(first);
    begin(second);
    ck_success(cx_emu_call_event_record(event, first));
    ck_result(cx_emu_call_stream_wait_event(second, event, 0), STREAM_CAPTURE_MERGE);
    ck_end(first, STREAM_CAPTURE_INVALIDATED);
    ck_end(second, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_capture_does_not_wait_for_work_outside)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    ck_success(cx_emu_call_event_record(event, NULL));
    ck_success(cx_emu_call_event_synchronize(event));
    begin(stream);
    ck_result(cx_emu_call_stream_wait_event(stream, event, 0), STREAM_CAPTURE_ISOLATION);
    ck_invalidated(stream);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(waiting_for_an_event_never_recorded_does_nothing_to_a_capture)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(stream);
    ck_success(cx_emu_call_stream_wait_event(stream, make_event(), 0));
    drop(end(stream));
}
END_TEST

START_TEST(an_event_of_a_capture_that_ended_is_waited_for_by_nobody)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    drop(end(stream));
    ck_result(cx_emu_call_stream_wait_event(other, event, 0), CAPTURED_EVENT);
    ck_idle(other);
    begin(stream);
    ck_result(cx_emu_call_stream_wait_event(stream, event, 0), STREAM_CAPTURE_ISOLATION);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(the_legacy_stream_does_not_join)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_result(cx_emu_call_stream_wait_event(NULL, event, 0), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_captured_event_has_no_state)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event(), plain = make_event();
    float ms;

    ck_success(cx_emu_call_event_record(plain, stream));
    for (int i = 0; i < 4; i++) {
        begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
        ck_success(cx_emu_call_event_record(event, stream));
        if (i == 0)
            ck_result(cx_emu_call_event_query(event), CAPTURED_EVENT);
        else if (i == 1)
            ck_result(cx_emu_call_event_synchronize(event), CAPTURED_EVENT);
        else if (i == 2)
            ck_result(cx_emu_call_event_elapsed_time(&ms, plain, event), CAPTURED_EVENT);
        else
            ck_result(cx_emu_call_event_elapsed_time(&ms, event, plain), CAPTURED_EVENT);
        ck_end(stream, STREAM_CAPTURE_INVALIDATED);
        ck_result(cx_emu_call_event_query(event), CAPTURED_EVENT);
    }
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_synchronize(event));
    ck_success(cx_emu_call_event_elapsed_time(&ms, plain, event));
}
END_TEST

START_TEST(a_capturing_stream_has_no_state)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_stream_query(stream), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_stream_synchronize(stream), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

static void unused_callback(CUstream stream, cxu_result status, void *unused)
{
    (void)stream;
    (void)status;
    (void)unused;
}

START_TEST(a_callback_is_refused_and_the_capture_goes_on)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(stream);
    ck_result(cx_emu_call_stream_add_callback(stream, unused_callback, NULL, 0),
              STREAM_CAPTURE_UNSUPPORTED);
    drop(end(stream));
}
END_TEST

START_TEST(an_invalidated_capture_takes_nothing_more)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    cxu_stream_capture_status status;
    uint64_t id = 77;

    CUdeviceptr spare_memory = make_memory(BYTES);

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    ck_result(cx_emu_call_memset_d8_async(spare_memory, 1, BYTES, stream),
              STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_launch_host_func(stream, nothing, NULL), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_event_record(event, stream), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_stream_wait_event(other, event, 0), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_stream_synchronize(stream), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_stream_update_capture_dependencies_v1(stream, NULL, 0, 0),
              STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_stream_get_capture_info_v1(stream, &status, &id));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_INVALIDATED);
    ck_assert_uint_eq(id, 77);
    ck_idle(other);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_memset_d8_async(spare_memory, 1, BYTES, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
}
END_TEST

START_TEST(a_graph_that_was_captured_into_survives_a_failed_capture)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();

    ck_success(cx_emu_call_stream_begin_capture_to_graph(stream, graph, NULL, NULL, 0, 0));
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    run_graph(graph);
    drop(graph);
}
END_TEST

/* ---- what is destroyed while it captures ---- */

START_TEST(destroying_the_stream_that_began_ends_its_capture)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    cxu_stream_capture_status status;
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_stream_get_capture_info_v2(first, &status, NULL, &graph, NULL, NULL));
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_success(cx_emu_call_stream_destroy(first));
    ck_idle(second);
    ck_result(cx_emu_call_graph_destroy(graph), INVALID_VALUE);
    ck_success(call_alloc());
}
END_TEST

START_TEST(work_of_a_destroyed_branch_must_be_joined)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    for (int joined = 0; joined < 2; joined++) {
        CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);

        begin(first);
        ck_success(cx_emu_call_event_record(event, first));
        ck_success(cx_emu_call_stream_wait_event(second, event, 0));
        letter_put(&a, second);
        ck_success(cx_emu_call_event_record(event, second));
        ck_success(cx_emu_call_stream_destroy(second));
        if (joined) {
            ck_success(cx_emu_call_stream_wait_event(first, event, 0));
            drop(end(first));
        } else {
            ck_end(first, STREAM_CAPTURE_UNJOINED);
        }
    }
}
END_TEST

START_TEST(a_destroyed_branch_keeps_the_legacy_stream_from_nothing)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_DEFAULT);
    CUevent event = make_event();
    cxu_stream_capture_status status;

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_result(cx_emu_call_stream_is_capturing(NULL, &status), STREAM_CAPTURE_IMPLICIT);
    ck_success(cx_emu_call_stream_destroy(second));
    ck_success(cx_emu_call_stream_query(NULL));
    drop(end(first));
}
END_TEST

START_TEST(destroying_an_event_leaves_the_capture_as_it_is)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_destroy(event));
    drop(end(stream));
}
END_TEST

START_TEST(destroying_a_context_ends_the_captures_of_its_streams)
{
    CUcontext other;
    CUstream stream;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    stream = make_stream(CXU_STREAM_DEFAULT);
    begin(stream);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(call_alloc());
}
END_TEST

START_TEST(resetting_a_device_ends_the_captures_of_its_streams)
{
    CUcontext primary, popped;
    CUstream stream;

    ck_success(cx_emu_call_primary_retain(&primary, 1));
    ck_success(cx_emu_call_ctx_push(primary));
    stream = make_stream(CXU_STREAM_DEFAULT);
    begin(stream);
    ck_success(cx_emu_call_primary_reset(1));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(call_alloc());
    ck_success(cx_emu_call_primary_release(1));
}
END_TEST

static void *capture_in_own_stream(void *unused)
{
    (void)unused;
    if (cx_emu_call_ctx_set_current(work_context) == CXU_SUCCESS &&
        cx_emu_call_stream_begin_capture(CXU_STREAM_PER_THREAD, 0) == CXU_SUCCESS)
        return work_context;
    return NULL;
}

START_TEST(a_thread_that_ends_takes_the_capture_of_its_own_stream_along)
{
    pthread_t thread;
    void *done;

    ck_assert_int_eq(pthread_create(&thread, NULL, capture_in_own_stream, NULL), 0);
    pthread_join(thread, &done);
    ck_assert_ptr_nonnull(done);
    ck_success(call_alloc());
}
END_TEST

/* ---- T3 ---- */

START_TEST(a_context_that_captures_records_no_event)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_ctx_record_event(work_context, make_event()), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_context_that_captures_waits_for_no_event)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_ctx_wait_event(work_context, make_event()), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(no_context_waits_for_a_captured_event)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    CUcontext other;

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_result(cx_emu_call_ctx_wait_event(other, event), STREAM_CAPTURE_UNSUPPORTED);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

static Suite *capture_join_suite(void)
{
    Suite *suite = suite_create("capture_join");
    TCase *tcase = tcase_create("capture_join");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, only_the_stream_that_began_ends_a_capture);
    tcase_add_test(tcase, work_that_was_not_joined_leaves_no_graph);
    tcase_add_test(tcase, work_after_the_join_is_not_joined);
    tcase_add_test(tcase, a_stream_that_joined_and_did_nothing_need_not_come_back);
    tcase_add_test(tcase, what_the_user_cuts_off_need_not_be_joined);
    tcase_add_test(tcase, what_a_new_set_of_dependencies_leaves_out_need_not_be_joined);
    tcase_add_test(tcase, two_captures_do_not_merge);
    tcase_add_test(tcase, a_capture_does_not_wait_for_work_outside);
    tcase_add_test(tcase, waiting_for_an_event_never_recorded_does_nothing_to_a_capture);
    tcase_add_test(tcase, an_event_of_a_capture_that_ended_is_waited_for_by_nobody);
    tcase_add_test(tcase, the_legacy_stream_does_not_join);
    tcase_add_test(tcase, a_captured_event_has_no_state);
    tcase_add_test(tcase, a_capturing_stream_has_no_state);
    tcase_add_test(tcase, a_callback_is_refused_and_the_capture_goes_on);
    tcase_add_test(tcase, an_invalidated_capture_takes_nothing_more);
    tcase_add_test(tcase, a_graph_that_was_captured_into_survives_a_failed_capture);
    tcase_add_test(tcase, destroying_the_stream_that_began_ends_its_capture);
    tcase_add_test(tcase, work_of_a_destroyed_branch_must_be_joined);
    tcase_add_test(tcase, a_destroyed_branch_keeps_the_legacy_stream_from_nothing);
    tcase_add_test(tcase, destroying_an_event_leaves_the_capture_as_it_is);
    tcase_add_test(tcase, destroying_a_context_ends_the_captures_of_its_streams);
    tcase_add_test(tcase, resetting_a_device_ends_the_captures_of_its_streams);
    tcase_add_test(tcase, a_thread_that_ends_takes_the_capture_of_its_own_stream_along);
    tcase_add_test(tcase, a_context_that_captures_records_no_event);
    tcase_add_test(tcase, a_context_that_captures_waits_for_no_event);
    tcase_add_test(tcase, no_context_waits_for_a_captured_event);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(capture_join_suite);
