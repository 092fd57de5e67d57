/*
 * The layer check and the default stream that a thread has for itself: named, or meant by a call
 * without a stream whose symbol ends in _ptds or _ptsz.
 */
#include "driver/entry.h"
#include "layer/ordering.h"

#include <pthread.h>

/* What calls without a stream mean from here on. */
static void mean(bool per_thread)
{
    cx_entry_now = per_thread ? CX_ENTRY_PER_THREAD : CX_ENTRY_PLAIN;
    cx_emu_set_per_thread_default(per_thread);
}

/* A stream argument, and the symbol that it is given to. */
typedef struct named {
    CUstream stream;
    bool per_thread;
} named;
static const named legacy = {NULL, false}, own = {NULL, true},
                   named_legacy = {CXU_STREAM_LEGACY, true},
                   named_own = {CXU_STREAM_PER_THREAD, false};
static named blocking, non_blocking;

static void set_up_streams(void)
{
    set_up();
    GOOD(table.stream_create(&blocking.stream, 0));
    non_blocking.stream = first;
}

static void fill_in(named in)
{
    mean(in.per_thread);
    fill(memory, in.stream);
    mean(false);
}

static void synchronize(named in)
{
    mean(in.per_thread);
    GOOD(table.stream_synchronize(in.stream));
    mean(false);
}

/* Runs `act` on a thread of its own, in the first context. */
static void *enter_and_act(void *act)
{
    GOOD(table.ctx_push(here));
    (*(void (**)(void))act)();
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    return NULL;
}

static void on_another_thread(void (*act)(void))
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_and_act, &act), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* ---- order ---- */

typedef struct pair {
    const named *first, *second;
    bool ordered;
} pair;

static const pair pairs[] = {
    {&own, &legacy, true},          {&legacy, &own, true},
    {&own, &named_legacy, true},    {&own, &named_own, true},
    {&own, &blocking, false},       {&blocking, &own, false},
    {&own, &non_blocking, false},   {&named_legacy, &blocking, true},
    {&named_own, &blocking, false}, {&own, &own, true},
};

START_TEST(work_is_ordered_or_not)
{
    const pair *one = &pairs[_i];
    fill_in(*one->first);
    fill_in(*one->second);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), !one->ordered);
}
END_TEST

static void fill_own(void)
{
    fill_in(own);
}

START_TEST(each_thread_has_its_own)
{
    fill_in(own);
    on_another_thread(fill_own);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("cuMemsetD8Async in the default stream of thread 1"));
    ck_assert(latest_says("cuMemsetD8Async in the default stream of thread 2"));
}
END_TEST

START_TEST(each_context_has_its_own)
{
    CUcontext another;
    GOOD(table.ctx_create_v2(&another, 0, 0));
    fill_in(own);
    GOOD(table.ctx_pop(&another));
    fill_in(own);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(the_legacy_stream_is_named_so)
{
    fill_in(legacy);
    fill_in(non_blocking);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("cuMemsetD8Async in the legacy stream"));
}
END_TEST

START_TEST(waiting_for_it_is_not_waiting_for_blocking_streams)
{
    fill_in(blocking);
    synchronize(own);
    fill_in(non_blocking);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(waiting_for_the_legacy_stream_is_waiting_for_it)
{
    fill_in(own);
    synchronize(legacy);
    fill_in(non_blocking);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_copy_that_waits_is_work_of_it)
{
    static char bytes[BYTES];
    fill_in(own);
    mean(true);
    GOOD(table.memcpy_dtoh(bytes, memory, BYTES));
    mean(false);
    fill_in(non_blocking);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(an_event_that_is_recorded_in_it_is_behind_its_work)
{
    fill_in(own);
    mean(true);
    GOOD(table.event_record(event, NULL));
    mean(false);
    GOOD(table.stream_wait_event(first, event, 0));
    fill_in(non_blocking);
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.event_record(event, first));
    mean(true);
    GOOD(table.stream_wait_event(NULL, event, 0));
    mean(false);
    fill_in(own);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

/* ---- pinned memory ---- */

static void copy_in_own(void)
{
    mean(true);
    GOOD(table.memcpy_htod_async(memory, pinned, BYTES, NULL));
    mean(false);
}

static void wait_for_own(void)
{
    synchronize(own);
}

START_TEST(another_thread_that_waits_for_its_own_has_not_waited_for_a_copy)
{
    copy_in_own();
    on_another_thread(wait_for_own);
    GOOD(table.mem_free_host(pinned));
    ck_assert_int_eq(found(CX_KIND_MEMORY_PINNED_FREED), 1);
    ck_assert(latest_says("cuMemcpyHtoDAsync_v2 in the default stream of thread 1 is pending"));
}
END_TEST

START_TEST(the_thread_that_waits_for_its_own_has)
{
    copy_in_own();
    wait_for_own();
    GOOD(table.mem_free_host(pinned));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

/* ---- captures ---- */

static void begin_own(void)
{
    mean(true);
    GOOD(table.stream_begin_capture(NULL, CXU_STREAM_CAPTURE_MODE_RELAXED));
    mean(false);
}

static int end_own(void)
{
    CUgraph graph;
    mean(true);
    const cxu_result result = table.stream_end_capture(NULL, &graph);
    mean(false);
    return (int)result;
}

START_TEST(a_capture_in_it_is_its_own)
{
    begin_own();
    fill_in(own);
    fill_in(named_own);
    GOOD(table.memset_d8_async(memory, 1, BYTES, first)); /* work: what is captured is none */
    ck_assert_int_eq(end_own(), CXU_SUCCESS);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(the_legacy_stream_disturbs_it)
{
    begin_own();
    ck_assert_int_eq((int)table.memset_d8_async(memory, 1, BYTES, NULL),
                     CXU_STREAM_CAPTURE_IMPLICIT);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_ENDED), 1);
    ck_assert(latest_says("a capture in mode RELAXED began in the default stream of thread 1"));
    (void)end_own();
}
END_TEST

START_TEST(that_of_another_context_does_not)
{
    CUcontext another;
    begin_own();
    GOOD(table.ctx_create_v2(&another, 0, 0));
    GOOD(table.memset_d8_async(memory, 1, BYTES, NULL));
    begin_own();
    ck_assert_int_eq((int)table.memset_d8_async(memory, 1, BYTES, NULL),
                     CXU_STREAM_CAPTURE_IMPLICIT);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_ENDED), 1);
    unsigned last = atomic_load(&cx_region_here->findings) - 1;
    ck_assert_uint_eq(cx_region_here->all_findings[last].note_count, 2); /* one is the advice */
    ck_assert_int_eq(end_own(), CXU_STREAM_CAPTURE_INVALIDATED);
    GOOD(table.ctx_pop(&another));
    ck_assert_int_eq(end_own(), CXU_SUCCESS);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
}
END_TEST

static Suite *per_thread_suite(void)
{
    Suite *suite = suite_create("default streams of threads under the layer check");
    TCase *tcase = tcase_create("per thread");
    tcase_add_checked_fixture(tcase, set_up_streams, NULL);
    tcase_add_loop_test(tcase, work_is_ordered_or_not, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(tcase, each_thread_has_its_own);
    tcase_add_test(tcase, each_context_has_its_own);
    tcase_add_test(tcase, the_legacy_stream_is_named_so);
    tcase_add_test(tcase, waiting_for_it_is_not_waiting_for_blocking_streams);
    tcase_add_test(tcase, waiting_for_the_legacy_stream_is_waiting_for_it);
    tcase_add_test(tcase, a_copy_that_waits_is_work_of_it);
    tcase_add_test(tcase, an_event_that_is_recorded_in_it_is_behind_its_work);
    tcase_add_test(tcase, another_thread_that_waits_for_its_own_has_not_waited_for_a_copy);
    tcase_add_test(tcase, the_thread_that_waits_for_its_own_has);
    tcase_add_test(tcase, a_capture_in_it_is_its_own);
    tcase_add_test(tcase, the_legacy_stream_disturbs_it);
    tcase_add_test(tcase, that_of_another_context_does_not);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(per_thread_suite);
