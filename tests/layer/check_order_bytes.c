/*
 * The layer check compares uses of memory: bytes, reads and writes, captured work, and what is
 * forgotten when there is much of it.
 */
#include "layer/ordering.h"

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
    ck_assert(latest_says("a capture in mode GLOBAL began"));
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
    tcase_add_test(tcase, captured_work_is_no_work);
    tcase_add_test(tcase, a_copy_in_a_capture_uses_no_pinned_memory);
    tcase_add_test(tcase, an_end_that_fails_ends_no_capture);
    tcase_add_test(tcase, a_free_that_fails_is_explained_beside_the_copy_that_it_would_break);
    tcase_add_test(tcase, neighbours_that_were_read_by_others_stay_apart);
    tcase_add_test(tcase, streams_that_were_destroyed_make_room);
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
    static Suite *(*const suites[])(void) = {bytes_suite, NULL};
    return cx_test_run(suites);
}
