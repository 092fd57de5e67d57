/*
 * What orders work for the layer check: between two uses of the same bytes in two streams stands
 * one call, or none, and the uses are a race or they are not. The same calls stand between a copy
 * from pinned memory and its free.
 */
#include "layer/ordering.h"

#include <pthread.h>

/* ---- what stands between two uses ---- */

static void nothing(void)
{
}

static void record_and_wait(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void record_with_flags_and_wait(void)
{
    GOOD(table.event_record_with_flags(event, first, 0));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void wait_before_the_record(void)
{
    GOOD(table.stream_wait_event(second, event, 0));
    GOOD(table.event_record(event, first));
}

static void wait_in_another_stream(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(distant, event, 0));
}

static void record_in_another_stream(void)
{
    CUevent other;
    GOOD(table.event_create(&other, 0));
    GOOD(table.event_record(other, second));
    GOOD(table.event_synchronize(other));
}

static void record_context(void)
{
    GOOD(table.ctx_record_event(here, event));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void record_another_context(void)
{
    CUevent other;
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.event_create(&other, 0));
    GOOD(table.ctx_record_event(elsewhere, other));
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    GOOD(table.stream_wait_event(second, other, 0));
}

static void context_waits(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.ctx_wait_event(here, event));
}

static void another_context_waits(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.ctx_wait_event(elsewhere, event));
}

static void synchronize_stream(void)
{
    GOOD(table.stream_synchronize(first));
}

static void synchronize_another_stream(void)
{
    GOOD(table.stream_synchronize(second));
}

static void poll_stream(void)
{
    while (table.stream_query(first) == CXU_NOT_READY)
        continue;
}

static void synchronize_event(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.event_synchronize(event));
}

static void poll_event(void)
{
    GOOD(table.event_record(event, first));
    while (table.event_query(event) == CXU_NOT_READY)
        continue;
}

static void time_end(void)
{
    float milliseconds;
    CUevent begin;
    GOOD(table.event_create(&begin, 0));
    GOOD(table.event_record(begin, second));
    GOOD(table.event_record(event, first));
    while (table.event_elapsed_time_v2(&milliseconds, begin, event) == CXU_NOT_READY)
        continue;
}

static void time_begin(void)
{
    float milliseconds;
    CUevent end;
    GOOD(table.event_create(&end, 0));
    GOOD(table.event_record(event, first));
    GOOD(table.event_record(end, second));
    while (table.event_elapsed_time(&milliseconds, event, end) == CXU_NOT_READY)
        continue;
}

static void synchronize_context(void)
{
    GOOD(table.ctx_synchronize());
}

static void synchronize_named_context(void)
{
    GOOD(table.ctx_synchronize_v2(here));
}

static void synchronize_another_context(void)
{
    GOOD(table.ctx_synchronize_v2(elsewhere));
}

static void copy_between_contexts(void)
{
    CUdeviceptr there;
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.mem_alloc(&there, BYTES));
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    GOOD(table.memcpy_peer(there, elsewhere, memory, here, BYTES));
}

static void free_memory(void)
{
    CUdeviceptr other;
    GOOD(table.mem_alloc(&other, BYTES));
    GOOD(table.mem_free(other));
}

static void destroy_a_context(void)
{
    GOOD(table.ctx_destroy(elsewhere));
}

static void reset_a_device(void)
{
    GOOD(table.primary_reset(1));
}

static void nothing_to_do(void *argument)
{
    (void)argument;
}

static void call_the_host(void)
{
    GOOD(table.launch_host_func(first, nothing_to_do, NULL));
}

static void call_the_host_elsewhere(void)
{
    GOOD(table.launch_host_func(distant, nothing_to_do, NULL));
}

static void called_back(CUstream stream, cxu_result status, void *argument)
{
    (void)stream, (void)status, (void)argument;
}

static void add_callback(void)
{
    GOOD(table.stream_add_callback(first, called_back, NULL, 0));
}

static void write_value(void)
{
    CUdeviceptr value;
    GOOD(table.mem_alloc(&value, 64));
    GOOD(table.stream_write_value_32(first, value, 1, 0));
}

static void wait_for_value(void)
{
    CUdeviceptr value;
    GOOD(table.mem_alloc(&value, 64));
    GOOD(table.memset_d8(value, 0, 64));
    GOOD(table.stream_wait_value_64(second, value, 0, 0));
}

static void destroy_stream(void)
{
    CUstream other;
    GOOD(table.stream_create(&other, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_destroy(other));
}

static void destroy_event(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.event_destroy(event));
    GOOD(table.event_create(&event, 0));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void wait_for_an_event_of_others(void)
{
    CUevent unseen;
    GOOD(bare.event_create(&unseen, 0));
    GOOD(table.stream_wait_event(second, unseen, 0));
}

static void synchronize_an_event_of_others(void)
{
    CUevent unseen;
    GOOD(bare.event_create(&unseen, 0));
    GOOD(table.event_synchronize(unseen));
}

static void capture_another_stream(void)
{
    CUgraph graph;
    GOOD(table.stream_begin_capture(second, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.stream_end_capture(second, &graph));
}

static void fail_to_record(void)
{
    ck_assert_int_eq((int)table.event_record(event, distant), CXU_INVALID_HANDLE);
    GOOD(table.stream_wait_event(second, event, 0));
}

static void fail_to_record_a_context(void)
{
    ck_assert_int_ne((int)table.ctx_record_event(elsewhere, event), CXU_SUCCESS);
    GOOD(table.stream_wait_event(second, event, 0));
}

static void fail_to_wait(void)
{
    GOOD(table.event_record(event, first));
    ck_assert_int_eq((int)table.stream_wait_event(second, event, 64), CXU_INVALID_VALUE);
}

static void fail_to_let_a_context_wait(void)
{
    GOOD(table.event_record(event, first));
    ck_assert_int_ne((int)table.ctx_wait_event((CUcontext)&memory, event), CXU_SUCCESS);
}

static void fail_to_synchronize(void)
{
    ck_assert_int_ne((int)table.ctx_synchronize_v2((CUcontext)&memory), CXU_SUCCESS);
    ck_assert_int_ne((int)table.stream_synchronize((CUstream)&memory), CXU_SUCCESS);
    ck_assert_int_ne((int)table.event_synchronize((CUevent)&memory), CXU_SUCCESS);
}

static void fail_to_free(void)
{
    ck_assert_int_ne((int)table.mem_free(memory + 1), CXU_SUCCESS);
}

static void fail_to_call_the_host(void)
{
    ck_assert_int_ne((int)table.launch_host_func(first, NULL, NULL), CXU_SUCCESS);
}

/* What the call orders: the second stream behind the first; the host behind the first, so that it
 * may free what this uses. */
typedef struct between {
    const char *name;
    void (*call)(void);
    bool orders_stream, orders_host;
} between;

#define BETWEEN(call, orders_stream, orders_host) {#call, call, orders_stream, orders_host}
static const between all_between[] = {
    BETWEEN(nothing, false, false),
    BETWEEN(record_and_wait, true, false),
    BETWEEN(record_with_flags_and_wait, true, false),
    BETWEEN(wait_before_the_record, false, false),
    BETWEEN(wait_in_another_stream, false, false),
    BETWEEN(record_in_another_stream, false, false),
    BETWEEN(record_context, true, false),
    BETWEEN(record_another_context, false, false),
    BETWEEN(context_waits, true, false),
    BETWEEN(another_context_waits, false, false),
    BETWEEN(synchronize_stream, true, true),
    BETWEEN(synchronize_another_stream, false, false),
    BETWEEN(poll_stream, true, true),
    BETWEEN(synchronize_event, true, true),
    BETWEEN(poll_event, true, true),
    BETWEEN(time_end, true, true),
    BETWEEN(time_begin, true, false), /* the end of the two may be behind less */
    BETWEEN(synchronize_context, true, true),
    BETWEEN(synchronize_named_context, true, true),
    BETWEEN(synchronize_another_context, false, true), /* any context counts */
    BETWEEN(copy_between_contexts, true, true),
    BETWEEN(free_memory, true, true),
    BETWEEN(destroy_a_context, true, true),
    BETWEEN(reset_a_device, true, true),
    BETWEEN(call_the_host, true, true),
    BETWEEN(call_the_host_elsewhere, false, true), /* any stream counts */
    BETWEEN(add_callback, true, true),
    BETWEEN(write_value, true, true),
    BETWEEN(wait_for_value, true, false),
    BETWEEN(destroy_stream, false, false),
    BETWEEN(destroy_event, false, false),
    BETWEEN(wait_for_an_event_of_others, true, false),
    BETWEEN(synchronize_an_event_of_others, true, true),
    BETWEEN(capture_another_stream, false, false),
    BETWEEN(fail_to_record, false, false),
    BETWEEN(fail_to_record_a_context, false, false),
    BETWEEN(fail_to_wait, false, false),
    BETWEEN(fail_to_let_a_context_wait, false, false),
    BETWEEN(fail_to_synchronize, false, false),
    BETWEEN(fail_to_free, false, false),
    BETWEEN(fail_to_call_the_host, false, false),
};
enum { BETWEENS = sizeof all_between / sizeof *all_between };

static int found_of_order(void)
{
    return found(CX_KIND_ORDER_COPY) + found(CX_KIND_ORDER_KERNEL) + found(CX_KIND_ORDER_HOST) +
           found(CX_KIND_ORDER_BEFORE_ALLOC) + found(CX_KIND_ORDER_BEFORE_FREE);
}

START_TEST(a_call_orders_two_streams_or_does_not)
{
    const between *one = &all_between[_i];
    use(second);
    fill(memory, first);
    one->call();
    fill(memory, second);
    ck_assert_msg(found(CX_KIND_ORDER_COPY) == !one->orders_stream, "%s: %d races", one->name,
                  found(CX_KIND_ORDER_COPY));
    ck_assert_int_eq(found_of_order(), found(CX_KIND_ORDER_COPY));
}
END_TEST

START_TEST(a_call_orders_the_host_or_does_not)
{
    const between *one = &all_between[_i];
    GOOD(table.memcpy_htod_async(memory, pinned, BYTES, first));
    one->call();
    GOOD(table.mem_free_host(pinned));
    ck_assert_msg(found(CX_KIND_MEMORY_PINNED_FREED) == !one->orders_host, "%s: %d frees",
                  one->name, found(CX_KIND_MEMORY_PINNED_FREED));
    ck_assert_int_eq(found_of_order(), 0);
}
END_TEST

/* ---- default streams ---- */

typedef enum of_stream { LEGACY, PER_THREAD, BLOCKING, BLOCKING_TOO, NON_BLOCKING } of_stream;

typedef struct pair {
    of_stream first, second;
    bool ordered;
} pair;

static const pair pairs[] = {
    {LEGACY, LEGACY, true},           {LEGACY, BLOCKING, true},
    {BLOCKING, LEGACY, true},         {BLOCKING, BLOCKING_TOO, false},
    {LEGACY, NON_BLOCKING, false},    {NON_BLOCKING, LEGACY, false},
    {BLOCKING, NON_BLOCKING, false},  {LEGACY, PER_THREAD, true},
    {PER_THREAD, LEGACY, true},       {PER_THREAD, BLOCKING, false},
    {PER_THREAD, PER_THREAD, true},   {PER_THREAD, NON_BLOCKING, false},
};

static CUstream stream_of(of_stream which)
{
    static CUstream blocking[2];
    for (int i = 0; i < 2; i++)
        if (blocking[i] == NULL)
            GOOD(table.stream_create(&blocking[i], 0));
    return which == LEGACY       ? NULL
           : which == PER_THREAD ? (CUstream)2
           : which == BLOCKING   ? blocking[0]
           : which == BLOCKING_TOO ? blocking[1]
                                   : first;
}

START_TEST(default_streams_are_ordered_with_blocking_ones)
{
    const pair *one = &pairs[_i];
    CUstream streams[] = {stream_of(one->first), stream_of(one->second)};
    fill(memory, streams[0]);
    fill(memory, streams[1]);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), !one->ordered);
}
END_TEST

static void *fill_on_another_thread(void *stream)
{
    GOOD(table.ctx_push(here));
    fill(memory, stream);
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    return NULL;
}

START_TEST(the_default_stream_of_another_thread_is_another_one)
{
    pthread_t thread;
    fill(memory, (CUstream)2);
    ck_assert_int_eq(pthread_create(&thread, NULL, fill_on_another_thread, (CUstream)2), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(the_legacy_stream_of_another_context_is_another_one)
{
    CUcontext another;
    GOOD(table.ctx_create_v2(&another, 0, 0));
    fill(memory, NULL);
    GOOD(table.ctx_pop(&another));
    fill(memory, NULL);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(the_host_that_waits_for_the_legacy_stream_waits_for_blocking_ones)
{
    fill(memory, stream_of(BLOCKING));
    GOOD(table.stream_synchronize(NULL));
    fill(memory, first);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 0);
    fill(memory, NULL);
    GOOD(table.stream_synchronize(stream_of(BLOCKING_TOO)));
    fill(memory, second);
    ck_assert_int_ge(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(order_goes_on_from_stream_to_stream)
{
    CUstream third;
    GOOD(table.stream_create(&third, CXU_STREAM_NON_BLOCKING));
    fill(memory, first);
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
    GOOD(table.event_record(event, second));
    GOOD(table.stream_wait_event(third, event, 0));
    fill(memory, third);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_context_that_waits_orders_the_streams_that_it_gets_later)
{
    CUstream third;
    fill(memory, first);
    GOOD(table.event_record(event, first));
    GOOD(table.ctx_wait_event(here, event));
    GOOD(table.stream_create(&third, CXU_STREAM_NON_BLOCKING));
    fill(memory, third);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(work_of_a_destroyed_stream_is_not_over)
{
    CUstream again;
    fill(memory, first);
    GOOD(table.stream_destroy(first));
    GOOD(table.stream_create(&again, CXU_STREAM_NON_BLOCKING)); /* it may have the same handle */
    fill(memory, again);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

static Suite *order_suite(void)
{
    Suite *suite = suite_create("what orders work for the layer check");
    TCase *tcase = tcase_create("order");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, a_call_orders_two_streams_or_does_not, 0, BETWEENS);
    tcase_add_loop_test(tcase, a_call_orders_the_host_or_does_not, 0, BETWEENS);
    tcase_add_loop_test(tcase, default_streams_are_ordered_with_blocking_ones, 0,
                        sizeof pairs / sizeof *pairs);
    tcase_add_test(tcase, the_default_stream_of_another_thread_is_another_one);
    tcase_add_test(tcase, the_legacy_stream_of_another_context_is_another_one);
    tcase_add_test(tcase, the_host_that_waits_for_the_legacy_stream_waits_for_blocking_ones);
    tcase_add_test(tcase, order_goes_on_from_stream_to_stream);
    tcase_add_test(tcase, a_context_that_waits_orders_the_streams_that_it_gets_later);
    tcase_add_test(tcase, work_of_a_destroyed_stream_is_not_over);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    static Suite *(*const suites[])(void) = {order_suite, NULL};
    return cx_test_run(suites);
}
