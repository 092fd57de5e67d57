/*
 * The layer check compares uses of memory: streams, bytes, reads and writes, captured work, and
 * what is forgotten when there is much of it.
 */
#include "layer/ordering.h"

#include <pthread.h>

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

START_TEST(an_end_that_fails_ends_no_capture)
{
    CUgraph graph;
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_assert_int_ne((int)table.stream_end_capture(second, &graph), CXU_SUCCESS);
    GOOD(table.memcpy_htod_async(memory, pinned, BYTES, first));
    GOOD(table.stream_end_capture(first, &graph));
    GOOD(table.mem_free_host(pinned));
    ck_assert_int_eq(found(CX_KIND_MEMORY_PINNED_FREED), 0);
}
END_TEST

START_TEST(a_free_that_fails_is_explained_beside_the_copy_that_it_would_break)
{
    GOOD(table.memcpy_htod_async(memory, pinned, BYTES, first));
    GOOD(table.stream_begin_capture(second, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_assert_int_eq((int)table.mem_free_host(pinned), CXU_STREAM_CAPTURE_UNSUPPORTED);
    ck_assert_int_eq(found(CX_KIND_MEMORY_PINNED_FREED), 1);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_ENDED), 1);
    ck_assert(latest_says("a capture in mode GLOBAL began in stream 3 of GPU 0"));
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

START_TEST(neighbours_that_were_read_by_others_stay_apart)
{
    CUdeviceptr other;
    CUstream third;
    GOOD(table.stream_create(&third, CXU_STREAM_NON_BLOCKING));
    GOOD(table.mem_alloc(&other, 2 * BYTES));
    GOOD(table.memcpy_dtod_async(other, memory, 128, first));
    GOOD(table.memcpy_dtod_async(other + BYTES, memory + 64, 64, second));
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(third, event, 0));
    GOOD(table.memset_d8_async(memory, 1, 64, third));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(memory + 64, 1, 64, third)); /* not behind the second read */
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("bytes 64 to 127 of 256 bytes of device memory"));
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

START_TEST(bytes_before_a_range_are_a_range)
{
    GOOD(table.memset_d8_async(memory + 64, 1, 64, first));
    GOOD(table.memset_d8_async(memory, 1, 128, first));
    GOOD(table.memset_d8_async(memory, 1, 16, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("bytes 0 to 15 of 256 bytes of device memory"));
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

START_TEST(streams_that_were_destroyed_make_room)
{
    CUstream one;
    CUdeviceptr own;
    GOOD(table.mem_alloc(&own, BYTES));
    fill(memory, first);
    for (int i = 0; i < 100; i++) {
        GOOD(table.stream_create(&one, CXU_STREAM_NON_BLOCKING));
        fill(own, one);
        GOOD(table.stream_synchronize(one));
        GOOD(table.stream_destroy(one));
    }
    fill(memory, second);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
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

START_TEST(a_write_is_compared_with_many_reads)
{
    enum { READERS = 50 };
    CUstream readers[READERS];
    CUdeviceptr other;
    GOOD(table.mem_alloc(&other, READERS * BYTES));
    for (int i = 0; i < READERS; i++) {
        GOOD(table.stream_create(&readers[i], CXU_STREAM_NON_BLOCKING));
        GOOD(table.memcpy_dtod_async(other + (CUdeviceptr)i * BYTES, memory, BYTES, readers[i]));
    }
    fill(memory, first);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), READERS);
    for (int i = 0; i < READERS; i++) {
        GOOD(table.event_record(event, readers[i]));
        GOOD(table.stream_wait_event(second, event, 0));
    }
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
    fill(memory, second);
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), READERS);
}
END_TEST

START_TEST(all_is_forgotten_when_there_are_65536_ranges)
{
    enum { RANGES = 1 << 16 };
    CUdeviceptr large;
    GOOD(table.mem_alloc(&large, 4 * RANGES));
    for (CUdeviceptr at = 0; at < RANGES; at++)
        GOOD(table.memset_d8_async(large + 4 * at, 1, 1, first));
    GOOD(table.memset_d8_async(large, 1, 1, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 0);
    GOOD(table.memset_d8_async(large, 1, 1, first)); /* what came then is known */
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

/* ---- memory in stream order, kernels ---- */

START_TEST(an_allocation_in_a_capture_is_none)
{
    CUdeviceptr made;
    CUgraph graph;
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.mem_alloc_async(&made, BYTES, first));
    GOOD(table.memset_d8_async(made, 1, BYTES, first));
    GOOD(table.mem_free_async(made, first));
    GOOD(table.stream_end_capture(first, &graph));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(memory_of_a_stream_is_used_behind_its_allocation_and_before_its_free)
{
    CUdeviceptr made;
    GOOD(table.mem_alloc_async(&made, BYTES, first));
    fill(made, second);
    ck_assert_int_eq(found(CX_KIND_ORDER_BEFORE_ALLOC), 1);
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
    fill(made, second);
    ck_assert_int_eq(found(CX_KIND_ORDER_BEFORE_ALLOC), 1);
    GOOD(table.mem_free_async(made, first));
    ck_assert_int_eq(found(CX_KIND_ORDER_BEFORE_FREE), 1);
    ck_assert_int_eq(found_at_all(), 2);
}
END_TEST

static const char code[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry write(.param .u64 to)\n{\n"
    "    .reg .b64 %rd1;\n    ld.param.u64 %rd1, [to];\n    st.global.u8 [%rd1], 7;\n    ret;\n}\n";

static CUfunction load_kernel(void)
{
    CUmodule module;
    CUfunction function;
    GOOD(table.module_load_data(&module, code));
    GOOD(table.module_get_function(&function, module, "write"));
    return function;
}

START_TEST(every_call_that_launches_is_judged)
{
    CUfunction write = load_kernel();
    void *parameters[] = {&memory};
    const cxu_launch_config config = {.grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 1,
                                      .block_y = 1, .block_z = 1, .stream = first};
    fill(memory, second);
    if (_i == 0)
        GOOD(table.launch_kernel(write, 1, 1, 1, 1, 1, 1, 0, first, parameters, NULL));
    else if (_i == 1)
        GOOD(table.launch_kernel_ex(&config, write, parameters, NULL));
    else
        GOOD(table.launch_cooperative_kernel(write, 1, 1, 1, 1, 1, 1, 0, first, parameters));
    GOOD(table.stream_synchronize(first));
    ck_assert_int_eq(found(CX_KIND_ORDER_KERNEL), 1);
    ck_assert(latest_says("bytes 0 to 0 of 256 bytes of device memory"));
    ck_assert_int_eq(found_at_all(), 1);
    ck_assert_int_ne((int)table.launch_kernel_ex(NULL, write, parameters, NULL), CXU_SUCCESS);
}
END_TEST

START_TEST(a_captured_launch_is_none)
{
    CUfunction write = load_kernel();
    CUgraph graph;
    void *parameters[] = {&memory};
    fill(memory, second);
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.launch_kernel(write, 1, 1, 1, 1, 1, 1, 0, first, parameters, NULL));
    GOOD(table.stream_end_capture(first, &graph));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_launch_that_fails_is_none)
{
    CUfunction write = load_kernel();
    void *parameters[] = {&memory};
    ck_assert_int_ne(
        (int)table.launch_kernel(write, 0, 1, 1, 1, 1, 1, 0, first, parameters, NULL),
        CXU_SUCCESS);
    fill(memory, second);
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

static Suite *bytes_suite(void)
{
    Suite *suite = suite_create("uses of memory that meet for the layer check");
    TCase *tcase = tcase_create("bytes");
    tcase_add_checked_fixture(tcase, set_up, NULL);
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
    tcase_add_test(tcase, an_end_that_fails_ends_no_capture);
    tcase_add_test(tcase, a_free_that_fails_is_explained_beside_the_copy_that_it_would_break);
    tcase_add_test(tcase, neighbours_that_were_read_by_others_stay_apart);
    tcase_add_test(tcase, streams_that_were_destroyed_make_room);
    tcase_add_loop_test(tcase, only_the_same_bytes_meet, 0, sizeof meetings / sizeof *meetings);
    tcase_add_test(tcase, two_reads_are_no_race);
    tcase_add_test(tcase, a_write_behind_all_reads_covers_them);
    tcase_add_test(tcase, the_stream_that_is_used_least_is_forgotten_first);
    tcase_add_test(tcase, what_is_forgotten_counts_as_waited_for);
    tcase_add_test(tcase, a_write_is_compared_with_many_reads);
    tcase_add_test(tcase, all_is_forgotten_when_there_are_65536_ranges);
    tcase_add_test(tcase, bytes_before_a_range_are_a_range);
    tcase_add_test(tcase, an_allocation_in_a_capture_is_none);
    tcase_add_test(tcase, memory_of_a_stream_is_used_behind_its_allocation_and_before_its_free);
    tcase_add_loop_test(tcase, every_call_that_launches_is_judged, 0, 3);
    tcase_add_test(tcase, a_captured_launch_is_none);
    tcase_add_test(tcase, a_launch_that_fails_is_none);
    tcase_add_test(tcase, many_ranges_stay_until_they_are_waited_for);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(bytes_suite);
