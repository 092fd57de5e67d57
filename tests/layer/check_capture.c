/* Captures under the layer check: which one a call disturbs. */
#include "layer/capturing.h"

#include <pthread.h>

static const char *const of_first[] = {"a capture in mode GLOBAL began in stream 2 of GPU 0",
                                       "a capture in mode THREAD_LOCAL began in stream 2 of GPU 0",
                                       "a capture in mode RELAXED began in stream 2 of GPU 0"};
static const char *const of_second[] = {"a capture in mode GLOBAL began in stream 3 of GPU 0",
                                        "a capture in mode THREAD_LOCAL began in stream 3 of GPU 0",
                                        "a capture in mode RELAXED began in stream 3 of GPU 0"};

/* The call failed, and one finding has one line of each of these; NULL: none is there. */
static void told(cxu_result result, cxu_result wanted, const char *one, const char *other)
{
    const uint32_t lines = (one != NULL) + (other != NULL);
    ck_assert_int_eq((int)result, (int)wanted);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_ENDED), lines != 0);
    if (lines == 0)
        return;
    unsigned count = atomic_load(&cx_region_here->findings);
    ck_assert_uint_eq(cx_region_here->all_findings[count - 1].note_count, lines + 1); /* advice */
    ck_assert(one == NULL || latest_says(one));
    ck_assert(other == NULL || latest_says(other));
}

/* ---- named by an argument ---- */

START_TEST(a_stream_that_is_waited_for_disturbs_its_own_capture)
{
    begin(first, GLOBAL);
    begin(second, GLOBAL);
    told(table.stream_synchronize(_i == 0 ? first : second), CXU_STREAM_CAPTURE_UNSUPPORTED,
         _i == 0 ? of_first[GLOBAL] : of_second[GLOBAL], NULL);
}
END_TEST

START_TEST(and_so_does_one_that_has_joined)
{
    begin(first, RELAXED);
    begin(second, RELAXED);
    join(plain, second);
    told(table.stream_synchronize(plain), CXU_STREAM_CAPTURE_UNSUPPORTED, of_second[RELAXED], NULL);
}
END_TEST

START_TEST(an_event_disturbs_the_capture_that_recorded_it)
{
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    begin(second, RELAXED);
    told(_i == 0 ? table.event_query(event) : table.event_synchronize(event), CXU_CAPTURED_EVENT,
         of_first[RELAXED], NULL);
}
END_TEST

START_TEST(an_event_that_is_recorded_again_is_of_no_capture)
{
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    GOOD(table.event_record(event, plain));
    GOOD(table.event_synchronize(event));
    join(second, plain);
    fill(second);
    GOOD(table.stream_synchronize(second));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(nor_does_a_stream_join_by_it)
{
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    GOOD(table.event_record(event, plain));
    GOOD(table.stream_wait_event(plain, event, 0));
    begin(second, GLOBAL);
    told(table.stream_synchronize(plain), CXU_STREAM_CAPTURE_UNSUPPORTED, of_second[GLOBAL], NULL);
}
END_TEST

START_TEST(an_event_of_a_capture_that_is_over_disturbs_none)
{
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    end(first);
    begin(second, RELAXED);
    told(table.event_query(event), CXU_CAPTURED_EVENT, NULL, NULL);
}
END_TEST

START_TEST(an_event_at_the_place_of_one_that_was_captured_is_new)
{
    CUevent again;
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    GOOD(table.event_destroy(event));
    GOOD(table.event_create(&again, 0));
    if (again != event)
        return; /* nothing to see */
    GOOD(table.stream_wait_event(second, again, 0));
    fill(second);
    GOOD(table.stream_synchronize(second));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(two_captures_that_would_merge_are_both_lost)
{
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    begin(second, THREAD_LOCAL);
    begin(plain, RELAXED);
    told(table.stream_wait_event(second, event, 0), CXU_STREAM_CAPTURE_MERGE, of_first[RELAXED],
         of_second[THREAD_LOCAL]);
}
END_TEST

START_TEST(a_capture_that_waits_for_work_outside_is_lost)
{
    GOOD(table.event_record(event, plain));
    begin(first, RELAXED);
    begin(second, RELAXED);
    told(table.stream_wait_event(first, event, 0), CXU_STREAM_CAPTURE_ISOLATION, of_first[RELAXED],
         NULL);
}
END_TEST

START_TEST(a_default_stream_cannot_join)
{
    begin(first, RELAXED);
    GOOD(table.event_record(event, first));
    begin(second, GLOBAL);
    told(table.stream_wait_event(NULL, event, 0), CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[RELAXED],
         NULL);
}
END_TEST

/* ---- the legacy stream, and contexts ---- */

START_TEST(the_legacy_stream_disturbs_blocking_streams_of_its_context)
{
    CUcontext popped;
    CUstream blocking;
    begin(first, RELAXED);
    begin(second, RELAXED);
    join(plain, second);
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.stream_create(&blocking, CXU_STREAM_DEFAULT));
    begin(blocking, RELAXED);
    GOOD(table.ctx_pop(&popped));
    told(table.memset_d8_async(memory, 1, 64, NULL), CXU_STREAM_CAPTURE_IMPLICIT,
         of_second[RELAXED], NULL);
}
END_TEST

START_TEST(the_legacy_stream_begins_no_capture_and_disturbs_none)
{
    begin(first, GLOBAL);
    told(table.stream_begin_capture(NULL, CXU_STREAM_CAPTURE_MODE_GLOBAL),
         CXU_STREAM_CAPTURE_UNSUPPORTED, NULL, NULL);
}
END_TEST

START_TEST(a_record_of_a_context_disturbs_captures_in_it)
{
    begin(distant, GLOBAL);
    begin(first, RELAXED);
    told(_i == 0 ? table.ctx_record_event(here, event) : table.ctx_wait_event(here, event),
         CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[RELAXED], NULL);
}
END_TEST

START_TEST(waiting_for_a_context_disturbs_its_captures)
{
    begin(distant, GLOBAL);
    begin(first, RELAXED);
    told(_i == 0 ? table.ctx_synchronize() : table.ctx_synchronize_v2(here),
         CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[RELAXED], NULL);
}
END_TEST

static pthread_barrier_t begun, over;

static void *capture_here_and_there(void *unused)
{
    GOOD(table.ctx_set_current(here));
    begin(first, GLOBAL);
    begin(distant, GLOBAL);
    (void)pthread_barrier_wait(&begun);
    (void)pthread_barrier_wait(&over);
    end(distant);
    end(first);
    return unused;
}

START_TEST(waiting_for_a_named_context_disturbs_captures_on_its_device)
{
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&over, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, capture_here_and_there, NULL), 0);
    (void)pthread_barrier_wait(&begun);
    told(table.ctx_synchronize_v2(elsewhere), CXU_STREAM_CAPTURE_UNSUPPORTED,
         "a capture in mode GLOBAL began in stream 1 of GPU 1", NULL);
    (void)pthread_barrier_wait(&over);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

static void *capture_second(void *unused)
{
    GOOD(table.ctx_set_current(here));
    begin(second, GLOBAL);
    (void)pthread_barrier_wait(&begun);
    (void)pthread_barrier_wait(&over);
    end(second);
    return unused;
}

START_TEST(a_relaxed_thread_that_waits_disturbs_its_own_capture_alone)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&over, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, capture_second, NULL), 0);
    (void)pthread_barrier_wait(&begun);
    GOOD(table.thread_exchange_stream_capture_mode(&mode));
    begin(first, GLOBAL);
    told(table.ctx_synchronize(), CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[GLOBAL], NULL);
    (void)pthread_barrier_wait(&over);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* ---- modes ---- */

START_TEST(an_unsafe_call_disturbs_all_captures_of_its_thread_that_are_not_relaxed)
{
    CUdeviceptr more;
    begin(first, THREAD_LOCAL);
    begin(plain, RELAXED);
    begin(second, GLOBAL);
    told(table.mem_alloc(&more, 64), CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[THREAD_LOCAL],
         of_second[GLOBAL]);
}
END_TEST

START_TEST(waiting_for_a_stream_disturbs_captures_on_its_device)
{
    begin(first, GLOBAL);
    begin(distant, GLOBAL);
    told(table.stream_synchronize(second), CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[GLOBAL], NULL);
}
END_TEST

START_TEST(whatever_context_is_current)
{
    CUstream other;
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.stream_create(&other, CXU_STREAM_NON_BLOCKING));
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    begin(first, GLOBAL);
    begin(distant, GLOBAL);
    told(table.stream_synchronize(other), CXU_STREAM_CAPTURE_UNSUPPORTED,
         "a capture in mode GLOBAL began in stream 1 of GPU 1", NULL);
}
END_TEST

START_TEST(a_capture_into_a_graph_is_one)
{
    CUgraph graph;
    CUdeviceptr more;
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.stream_begin_capture_to_graph(first, graph, NULL, NULL, 0,
                                             CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    told(table.mem_alloc(&more, 64), CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[THREAD_LOCAL], NULL);
}
END_TEST

START_TEST(a_free_in_stream_order_disturbs_captures_in_mode_global)
{
    CUdeviceptr pooled;
    GOOD(table.mem_alloc_async(&pooled, 64, plain));
    begin(first, THREAD_LOCAL);
    begin(second, GLOBAL);
    told(table.mem_free_async(pooled, plain), CXU_STREAM_CAPTURE_UNSUPPORTED, of_second[GLOBAL],
         NULL);
}
END_TEST

static void *capture_until_over(void *mode)
{
    cxu_stream_capture_mode exchanged = CXU_STREAM_CAPTURE_MODE_RELAXED;
    GOOD(table.ctx_set_current(here));
    GOOD(table.thread_exchange_stream_capture_mode(&exchanged)); /* of this thread alone */
    begin(second, *(const int *)mode);
    (void)pthread_barrier_wait(&begun);
    (void)pthread_barrier_wait(&over);
    end(second);
    return NULL;
}

/* A thread captures the second stream, and this one allocates, in these modes. */
static const struct {
    int other, own, thread; /* modes; own -1: this thread captures nothing */
    bool tells_other, tells_own;
} captures_of_threads[] = {
    {GLOBAL, -1, GLOBAL, true, false},
    {GLOBAL, -1, THREAD_LOCAL, false, false},
    {GLOBAL, -1, RELAXED, false, false},
    {THREAD_LOCAL, -1, GLOBAL, false, false},
    {THREAD_LOCAL, THREAD_LOCAL, GLOBAL, false, true},
    {THREAD_LOCAL, GLOBAL, GLOBAL, false, true},
    {GLOBAL, THREAD_LOCAL, GLOBAL, true, true},
    {GLOBAL, THREAD_LOCAL, THREAD_LOCAL, false, true},
    {GLOBAL, GLOBAL, RELAXED, false, false},
    {RELAXED, GLOBAL, GLOBAL, false, true},
    {RELAXED, RELAXED, GLOBAL, false, false},
};
enum { PAIRS = sizeof captures_of_threads / sizeof *captures_of_threads };

START_TEST(an_unsafe_call_disturbs_those_of_other_threads_in_mode_global)
{
    int other = captures_of_threads[_i].other, own = captures_of_threads[_i].own;
    bool tells_other = captures_of_threads[_i].tells_other;
    bool tells_own = captures_of_threads[_i].tells_own;
    cxu_stream_capture_mode mode = (cxu_stream_capture_mode)captures_of_threads[_i].thread;
    CUdeviceptr more;
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&over, NULL, 2);
    GOOD(table.thread_exchange_stream_capture_mode(&mode));
    ck_assert_int_eq(pthread_create(&thread, NULL, capture_until_over, &other), 0);
    (void)pthread_barrier_wait(&begun);
    if (own >= 0)
        begin(first, own);
    told(table.mem_alloc(&more, 64),
         tells_other || tells_own ? CXU_STREAM_CAPTURE_UNSUPPORTED : CXU_SUCCESS,
         tells_other ? of_second[other] : NULL, tells_own ? of_first[own] : NULL);
    (void)pthread_barrier_wait(&over);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(a_mode_that_is_none_changes_nothing)
{
    cxu_stream_capture_mode mode = (cxu_stream_capture_mode)3;
    CUdeviceptr more;
    ck_assert_int_ne((int)table.thread_exchange_stream_capture_mode(&mode), CXU_SUCCESS);
    ck_assert_int_ne((int)table.thread_exchange_stream_capture_mode(NULL), CXU_SUCCESS);
    begin(first, GLOBAL);
    told(table.mem_alloc(&more, 64), CXU_STREAM_CAPTURE_UNSUPPORTED, of_first[GLOBAL], NULL);
}
END_TEST

START_TEST(a_threads_default_stream_is_that_threads)
{
    CUdeviceptr more;
    begin(CXU_STREAM_PER_THREAD, GLOBAL);
    fill(CXU_STREAM_PER_THREAD);
    told(table.mem_alloc(&more, 64), CXU_STREAM_CAPTURE_UNSUPPORTED,
         "a capture in mode GLOBAL began in the default stream of thread 1", NULL);
    end(CXU_STREAM_PER_THREAD);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
}
END_TEST

START_TEST(a_stream_that_others_made_is_unknown)
{
    CUstream unseen;
    CUdeviceptr more;
    GOOD(bare.stream_create(&unseen, CXU_STREAM_NON_BLOCKING));
    begin(unseen, GLOBAL);
    told(table.mem_alloc(&more, 64), CXU_STREAM_CAPTURE_UNSUPPORTED,
         "a capture in mode GLOBAL began in an unknown stream", NULL);
    end(unseen);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
}
END_TEST

static void *capture_default(void *unused)
{
    GOOD(table.ctx_set_current(here));
    begin(CXU_STREAM_PER_THREAD, RELAXED);
    (void)pthread_barrier_wait(&begun);
    (void)pthread_barrier_wait(&over);
    end(CXU_STREAM_PER_THREAD);
    return unused;
}

START_TEST(default_streams_of_two_threads_are_two_captures)
{
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&over, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, capture_default, NULL), 0);
    (void)pthread_barrier_wait(&begun);
    begin(CXU_STREAM_PER_THREAD, RELAXED);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 2);
    end(CXU_STREAM_PER_THREAD);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 1);
    (void)pthread_barrier_wait(&over);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, a_stream_that_is_waited_for_disturbs_its_own_capture, 0, 2);
    tcase_add_test(tcase, and_so_does_one_that_has_joined);
    tcase_add_loop_test(tcase, an_event_disturbs_the_capture_that_recorded_it, 0, 2);
    tcase_add_test(tcase, an_event_that_is_recorded_again_is_of_no_capture);
    tcase_add_test(tcase, nor_does_a_stream_join_by_it);
    tcase_add_test(tcase, an_event_of_a_capture_that_is_over_disturbs_none);
    tcase_add_test(tcase, an_event_at_the_place_of_one_that_was_captured_is_new);
    tcase_add_test(tcase, two_captures_that_would_merge_are_both_lost);
    tcase_add_test(tcase, a_capture_that_waits_for_work_outside_is_lost);
    tcase_add_test(tcase, a_default_stream_cannot_join);
    tcase_add_test(tcase, the_legacy_stream_disturbs_blocking_streams_of_its_context);
    tcase_add_test(tcase, the_legacy_stream_begins_no_capture_and_disturbs_none);
    tcase_add_loop_test(tcase, a_record_of_a_context_disturbs_captures_in_it, 0, 2);
    tcase_add_loop_test(tcase, waiting_for_a_context_disturbs_its_captures, 0, 2);
    tcase_add_test(tcase, waiting_for_a_named_context_disturbs_captures_on_its_device);
    tcase_add_test(tcase, a_relaxed_thread_that_waits_disturbs_its_own_capture_alone);
    tcase_add_test(tcase, an_unsafe_call_disturbs_all_captures_of_its_thread_that_are_not_relaxed);
    tcase_add_test(tcase, waiting_for_a_stream_disturbs_captures_on_its_device);
    tcase_add_test(tcase, whatever_context_is_current);
    tcase_add_test(tcase, a_capture_into_a_graph_is_one);
    tcase_add_test(tcase, a_free_in_stream_order_disturbs_captures_in_mode_global);
    tcase_add_loop_test(tcase, an_unsafe_call_disturbs_those_of_other_threads_in_mode_global, 0,
                        PAIRS);
    tcase_add_test(tcase, a_mode_that_is_none_changes_nothing);
    tcase_add_test(tcase, a_threads_default_stream_is_that_threads);
    tcase_add_test(tcase, a_stream_that_others_made_is_unknown);
    tcase_add_test(tcase, default_streams_of_two_threads_are_two_captures);
}

static Suite *capture_suite(void)
{
    Suite *suite = suite_create("captures under the layer check");
    TCase *tcase = tcase_create("captures");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    add_tests(tcase);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(capture_suite);
