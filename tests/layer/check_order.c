/*
 * What orders work for the layer check: between two uses of the same bytes in two streams stands
 * one call, or none, and the uses are a race or they are not. The same calls stand between a copy
 * from pinned memory and its free.
 */
#include "layer/checking.h"

#include <pthread.h>

enum { BYTES = 256 };

static CUcontext here, elsewhere;       /* here is current */
static CUstream first, second, distant; /* non-blocking; the last one is elsewhere */
static CUevent event;
static CUdeviceptr memory;
static void *pinned;

static void set_up(void)
{
    begin_checking(2);
    GOOD(table.ctx_create_v2(&elsewhere, 0, 1));
    GOOD(table.stream_create(&distant, CXU_STREAM_NON_BLOCKING));
    GOOD(table.ctx_create_v2(&here, 0, 0));
    GOOD(table.stream_create(&first, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_create(&second, CXU_STREAM_NON_BLOCKING));
    GOOD(table.event_create(&event, 0));
    GOOD(table.mem_alloc(&memory, BYTES));
    GOOD(table.mem_alloc_host(&pinned, BYTES));
}

static void fill(CUdeviceptr to, CUstream stream)
{
    GOOD(table.memset_d8_async(to, 1, BYTES, stream));
}

/* The layer knows of a stream from its first use on. */
static void use(CUstream stream)
{
    GOOD(table.memset_d8_async(memory, 1, 0, stream));
}

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
};
enum { BETWEENS = sizeof all_between / sizeof *all_between };

START_TEST(a_call_orders_two_streams_or_does_not)
{
    const between *one = &all_between[_i];
    use(second);
    fill(memory, first);
    one->call();
    fill(memory, second);
    ck_assert_msg(found(CX_KIND_ORDER_COPY) == !one->orders_stream, "%s: %d races", one->name,
                  found(CX_KIND_ORDER_COPY));
    ck_assert_int_eq(found_at_all(), found(CX_KIND_ORDER_COPY));
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
    ck_assert_int_eq(found_at_all(), found(CX_KIND_MEMORY_PINNED_FREED));
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

/* ---- captures ---- */

START_TEST(captured_work_is_no_work)
{
    CUgraph graph;
    CUstream third;
    GOOD(table.stream_create(&third, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    fill(memory, first);
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
    GOOD(table.memset_d8_async(memory + 64, 1, 64, second));
    GOOD(table.event_record(event, second));
    GOOD(table.stream_wait_event(first, event, 0));
    GOOD(table.stream_end_capture(first, &graph));
    fill(memory, third);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 0);
    fill(memory, second); /* it is out of the capture too */
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(a_copy_in_a_capture_uses_no_pinned_memory)
{
    CUgraph graph;
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.memcpy_htod_async(memory, pinned, BYTES, first));
    GOOD(table.stream_end_capture(first, &graph));
    GOOD(table.mem_free_host(pinned));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

/* ---- bytes ---- */

typedef struct ranges {
    int first, first_bytes, second, second_bytes; /* offset and size */
    const char *says;                             /* NULL: they do not meet */
} ranges;

static const ranges meetings[] = {
    {0, 64, 64, 64, NULL},
    {64, 64, 0, 64, NULL},
    {0, 64, 63, 64, "bytes 63 to 63 of 256 bytes of device memory"},
    {63, 64, 0, 64, "bytes 63 to 63 of 256 bytes of device memory"},
    {0, 256, 100, 1, "bytes 100 to 100 of 256 bytes of device memory"},
    {100, 1, 0, 256, "bytes 100 to 100 of 256 bytes of device memory"},
    {0, 128, 64, 128, "bytes 64 to 127 of 256 bytes of device memory"},
    {0, 256, 0, 256, "bytes 0 to 255 of 256 bytes of device memory"},
};

START_TEST(only_the_same_bytes_meet)
{
    const ranges *one = &meetings[_i];
    GOOD(table.memset_d8_async(memory + (CUdeviceptr)one->first, 1, (size_t)one->first_bytes,
                               first));
    GOOD(table.memset_d8_async(memory + (CUdeviceptr)one->second, 1, (size_t)one->second_bytes,
                               second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), one->says != NULL);
    ck_assert(one->says == NULL || latest_says(one->says));
}
END_TEST

START_TEST(two_reads_are_no_race)
{
    CUdeviceptr other;
    GOOD(table.mem_alloc(&other, 2 * BYTES));
    GOOD(table.memcpy_dtod_async(other, memory, BYTES, first));
    GOOD(table.memcpy_dtod_async(other + BYTES, memory, BYTES, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(memory, 1, BYTES, first)); /* behind the first read alone */
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("cuMemcpyDtoDAsync_v2 in stream 3"));
    ck_assert(latest_says("cuMemsetD8Async in stream 2"));
}
END_TEST

START_TEST(a_write_behind_all_reads_covers_them)
{
    CUstream readers[4];
    CUdeviceptr other;
    GOOD(table.mem_alloc(&other, 4 * BYTES));
    for (int i = 0; i < 4; i++) {
        GOOD(table.stream_create(&readers[i], CXU_STREAM_NON_BLOCKING));
        GOOD(table.memcpy_dtod_async(other + (CUdeviceptr)i * BYTES, memory, BYTES, readers[i]));
        GOOD(table.event_record(event, readers[i]));
        GOOD(table.stream_wait_event(first, event, 0));
    }
    fill(memory, first);
    ck_assert_int_eq(found_at_all(), 0);
    fill(memory, second);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1); /* with the write, not with the reads */
}
END_TEST

/* A plane of 8 rows of 8 bytes, 16 bytes apart: the bytes between the rows are others'. */
START_TEST(rows_of_a_copy_leave_the_bytes_between_them)
{
    cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = pinned,
                          .source_pitch_bytes = 16,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = memory,
                          .destination_pitch_bytes = 16,
                          .width_bytes = 8,
                          .height = 8};
    GOOD(table.memcpy_2d_async(&copy, first));
    GOOD(table.memset_d8_async(memory + 8, 1, 8, second));
    GOOD(table.memset_d8_async(memory + 7 * 16 + 8, 1, 8, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(memory + 7 * 16, 1, 1, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("bytes 112 to 112 of 256 bytes of device memory"));
}
END_TEST

START_TEST(slices_of_a_copy_leave_the_bytes_between_them)
{
    cxu_memcpy_3d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = pinned,
                          .source_pitch_bytes = 8,
                          .source_height = 2,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = memory,
                          .destination_pitch_bytes = 16,
                          .destination_height = 4,
                          .destination_y = 1,
                          .destination_z = 1,
                          .width_bytes = 8,
                          .height = 2,
                          .depth = 2};
    GOOD(table.memcpy_3d_async(&copy, first));
    /* slices of 64 bytes, rows of 16: rows 1 and 2 of the slices 1 and 2 */
    GOOD(table.memset_d8_async(memory + 64, 1, 16, second));
    GOOD(table.memset_d8_async(memory + 64 + 48, 1, 32, second));
    GOOD(table.memset_d8_async(memory + 128 + 48, 1, 16, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(memory + 128 + 32, 1, 1, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

/* ---- limits ---- */

START_TEST(the_stream_that_is_used_least_is_forgotten_first)
{
    CUstream many[80];
    CUdeviceptr own;
    GOOD(table.mem_alloc(&own, BYTES));
    fill(memory, first);
    for (int i = 0; i < 80; i++) {
        GOOD(table.stream_create(&many[i], CXU_STREAM_NON_BLOCKING));
        GOOD(table.memset_d8_async(own, 1, BYTES, first)); /* it stays in use */
        use(many[i]);
    }
    fill(memory, many[79]);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    fill(own, second); /* not used since: still there, and unordered */
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 2);
}
END_TEST

START_TEST(what_is_forgotten_counts_as_waited_for)
{
    CUstream many[80];
    fill(memory, first);
    for (int i = 0; i < 80; i++) {
        GOOD(table.stream_create(&many[i], CXU_STREAM_NON_BLOCKING));
        use(many[i]);
    }
    fill(memory, many[79]);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

/* Many ranges are forgotten once the host has waited for them, and not before. */
START_TEST(many_ranges_stay_until_they_are_waited_for)
{
    CUdeviceptr large;
    GOOD(table.mem_alloc(&large, 4 << 20));
    for (CUdeviceptr at = 0; at < 4000; at++)
        GOOD(table.memset_d8_async(large + 32 * at, 1, 16, first));
    for (CUdeviceptr at = 0; at < 4000; at += 3999)
        GOOD(table.memset_d8_async(large + 32 * at, 1, 16, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 2);
    GOOD(table.ctx_synchronize());
    for (CUdeviceptr at = 0; at < 4000; at++)
        GOOD(table.memset_d8_async(large + 32 * at, 1, 16, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 2);
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
    tcase_add_test(tcase, captured_work_is_no_work);
    tcase_add_test(tcase, a_copy_in_a_capture_uses_no_pinned_memory);
    tcase_add_loop_test(tcase, only_the_same_bytes_meet, 0, sizeof meetings / sizeof *meetings);
    tcase_add_test(tcase, two_reads_are_no_race);
    tcase_add_test(tcase, a_write_behind_all_reads_covers_them);
    tcase_add_test(tcase, rows_of_a_copy_leave_the_bytes_between_them);
    tcase_add_test(tcase, slices_of_a_copy_leave_the_bytes_between_them);
    tcase_add_test(tcase, the_stream_that_is_used_least_is_forgotten_first);
    tcase_add_test(tcase, what_is_forgotten_counts_as_waited_for);
    tcase_add_test(tcase, many_ranges_stay_until_they_are_waited_for);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    static Suite *(*const suites[])(void) = {order_suite, NULL};
    return cx_test_run(suites);
}
