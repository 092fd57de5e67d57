/*
 * The bytes of copies and fills in two and three dimensions, as the layer check knows them: a use
 * of other bytes is no race.
 */
#include "layer/ordering.h"

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

START_TEST(a_pitch_of_0_is_tight_in_three_dimensions)
{
    const cxu_memcpy_3d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                                .source_host = pinned,
                                .destination_type = CXU_MEMORYTYPE_DEVICE,
                                .destination_device = memory,
                                .destination_x_bytes = 8,
                                .destination_y = 1,
                                .destination_z = 1,
                                .width_bytes = 8,
                                .height = 2,
                                .depth = 1};
    GOOD(table.memcpy_3d_async(&copy, first));
    /* slices of 3 rows of 16 bytes */
    GOOD(table.memset_d8_async(memory, 1, 64 + 8, second));
    GOOD(table.memset_d8_async(memory + 64 + 16, 1, 8, second));
    GOOD(table.memset_d8_async(memory + 64 + 32, 1, 32, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(memory + 64 + 8, 1, 8, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    GOOD(table.memset_d8_async(memory + 64 + 24, 1, 8, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 2);
}
END_TEST

START_TEST(one_row_may_have_a_pitch_of_0)
{
    const cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                                .source_host = pinned,
                                .destination_type = CXU_MEMORYTYPE_DEVICE,
                                .destination_device = memory,
                                .destination_y = 1,
                                .width_bytes = 8,
                                .height = 1};
    GOOD(table.memcpy_2d_async(&copy, first));
    GOOD(table.memset_d8_async(memory + 8, 1, 8, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(memory, 1, 8, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(copies_of_more_than_4096_rows_are_not_judged)
{
    CUdeviceptr large;
    GOOD(table.mem_alloc(&large, 5000 * 4));
    GOOD(table.memset_2d_d8_async(large, 4, 1, 2, 4096, first));
    GOOD(table.memset_2d_d8_async(large, 4, 1, 2, 4097, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 0);
    GOOD(table.memset_2d_d8_async(large, 4, 1, 2, 1, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

START_TEST(but_copies_of_4096_rows_are)
{
    CUdeviceptr large;
    GOOD(table.mem_alloc(&large, 3 * 4097));
    GOOD(table.memset_2d_d8_async(large, 3, 1, 2, 4096, first));
    GOOD(table.memset_d8_async(large, 1, 1, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    GOOD(table.memset_2d_d8_async(large, 3, 1, 2, 4097, second));
    GOOD(table.memset_d8_async(large + 3, 1, 1, first));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

/* Two ranges of managed memory with bytes between them and behind them. */
static CUdeviceptr ranges[2];
static size_t range_bytes[2] = {64, 32};

static void make_ranges(void)
{
    GOOD(table.mem_alloc_managed(&ranges[0], BYTES, CXU_MEM_ATTACH_GLOBAL));
    ranges[1] = ranges[0] + 128;
}

START_TEST(a_discard_uses_its_ranges_and_leaves_the_bytes_between_them)
{
    make_ranges();
    GOOD(table.mem_discard_batch_async(ranges, range_bytes, 2, 0, first));
    GOOD(table.memset_d8_async(ranges[0] + 64, 1, 64, second));
    GOOD(table.memset_d8_async(ranges[1] + 32, 1, 32, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.memset_d8_async(ranges[1] + 31, 1, 1, second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    ck_assert(latest_says("bytes 159 to 159 of 256 bytes of managed memory"));
}
END_TEST

START_TEST(a_discard_with_a_prefetch_is_a_use_and_a_prefetch_is_none)
{
    cxu_mem_location to = {CXU_MEM_LOCATION_TYPE_DEVICE, 0};
    size_t from = 0;
    make_ranges();
    GOOD(table.memset_d8_async(ranges[0], 1, BYTES, first));
    GOOD(table.mem_prefetch_batch_async(ranges, range_bytes, 2, &to, &from, 1, 0, second));
    ck_assert_int_eq(found_at_all(), 0);
    GOOD(table.mem_discard_and_prefetch_batch_async(ranges, range_bytes, 2, &to, &from, 1, 0,
                                                    second));
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
}
END_TEST

static Suite *rows_suite(void)
{
    Suite *suite = suite_create("rows under the layer check");
    TCase *tcase = tcase_create("rows");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, rows_of_a_copy_leave_the_bytes_between_them);
    tcase_add_test(tcase, slices_of_a_copy_leave_the_bytes_between_them);
    tcase_add_test(tcase, a_pitch_of_0_is_tight_in_three_dimensions);
    tcase_add_test(tcase, one_row_may_have_a_pitch_of_0);
    tcase_add_test(tcase, copies_of_more_than_4096_rows_are_not_judged);
    tcase_add_test(tcase, but_copies_of_4096_rows_are);
    tcase_add_test(tcase, a_discard_uses_its_ranges_and_leaves_the_bytes_between_them);
    tcase_add_test(tcase, a_discard_with_a_prefetch_is_a_use_and_a_prefetch_is_none);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(rows_suite);
