/* Copies of 2D and 3D regions, compared with a plain loop over the host's bytes. */
#include "work_fixture.h"

#include <string.h>

#define SIDE 24
#define BYTES ((size_t)SIDE * SIDE * SIDE)

static unsigned char source[BYTES], expected[BYTES], found[BYTES];

static void fill_source(void)
{
    for (size_t i = 0; i < BYTES; i++)
        source[i] = (unsigned char)(i % 253);
    memset(expected, 0xee, BYTES);
}

static void expect_box(const cxu_memcpy_3d *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            for (size_t x = 0; x < copy->width_bytes; x++) {
                size_t from = ((z + copy->source_z) * copy->source_height + y + copy->source_y) *
                                  copy->source_pitch_bytes +
                              x + copy->source_x_bytes;
                size_t to = ((z + copy->destination_z) * copy->destination_height + y +
                             copy->destination_y) *
                                copy->destination_pitch_bytes +
                            x + copy->destination_x_bytes;

                expected[to] = source[from];
            }
}

static void ck_found(void)
{
    ck_assert_int_eq(memcmp(found, expected, BYTES), 0);
}

static cxu_memcpy_3d box_to_device(CUdeviceptr device)
{
    return (cxu_memcpy_3d){.source_x_bytes = 3,
                           .source_y = 2,
                           .source_z = 1,
                           .source_type = CXU_MEMORYTYPE_HOST,
                           .source_host = source,
                           .source_pitch_bytes = SIDE,
                           .source_height = SIDE,
                           .destination_x_bytes = 1,
                           .destination_y = 4,
                           .destination_z = 5,
                           .destination_type = CXU_MEMORYTYPE_DEVICE,
                           .destination_device = device,
                           .destination_pitch_bytes = SIDE - 1,
                           .destination_height = SIDE - 2,
                           .width_bytes = 7,
                           .height = 9,
                           .depth = 11};
}

START_TEST(a_box_lands_where_its_offsets_say)
{
    CUdeviceptr device = make_memory(BYTES);
    CUstream stream = make_stream(0);
    cxu_memcpy_3d copy = box_to_device(device);

    fill_source();
    expect_box(&copy);
    ck_success(cx_emu_call_memset_d8(device, 0xee, BYTES));
    if (_i)
        ck_success(cx_emu_call_memcpy_3d_async(&copy, stream));
    else
        ck_success(cx_emu_call_memcpy_3d(&copy));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, device, BYTES);
    ck_found();
}
END_TEST

START_TEST(a_box_goes_from_device_to_host)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_3d copy = box_to_device(device);

    fill_source();
    expect_box(&copy);
    ck_success(cx_emu_call_memcpy_htod(device, source, BYTES));
    copy.source_type = CXU_MEMORYTYPE_UNIFIED;
    copy.source_device = device;
    copy.destination_type = CXU_MEMORYTYPE_HOST;
    copy.destination_host = found;
    memset(found, 0xee, BYTES);
    ck_success(cx_emu_call_memcpy_3d(&copy));
    ck_found();
}
END_TEST

START_TEST(no_pitch_and_no_height_mean_tight_ones)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_3d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = source,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = device,
                          .width_bytes = SIDE,
                          .height = SIDE,
                          .depth = SIDE};

    fill_source();
    ck_success(cx_emu_call_memcpy_3d(&copy));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, device, BYTES);
    ck_assert_int_eq(memcmp(found, source, BYTES), 0);
}
END_TEST

static cxu_memcpy_2d rows_to_device(CUdeviceptr device)
{
    return (cxu_memcpy_2d){.source_x_bytes = 3,
                           .source_y = 2,
                           .source_type = CXU_MEMORYTYPE_HOST,
                           .source_host = source,
                           .source_pitch_bytes = SIDE,
                           .destination_x_bytes = 1,
                           .destination_y = 4,
                           .destination_type = CXU_MEMORYTYPE_DEVICE,
                           .destination_device = device,
                           .destination_pitch_bytes = 2 * SIDE,
                           .width_bytes = 7,
                           .height = 9};
}

START_TEST(rows_land_where_their_offsets_say)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_2d copy = rows_to_device(device);
    cxu_result (*const calls[])(const cxu_memcpy_2d *) = {cx_emu_call_memcpy_2d,
                                                          cx_emu_call_memcpy_2d_unaligned};

    fill_source();
    for (size_t y = 0; y < 9; y++)
        memcpy(expected + (y + 4) * 2 * SIDE + 1, source + (y + 2) * SIDE + 3, 7);
    ck_success(cx_emu_call_memset_d8(device, 0xee, BYTES));
    if (_i < 2)
        ck_success(calls[_i](&copy));
    else
        ck_success(cx_emu_call_memcpy_2d_async(&copy, CXU_STREAM_PER_THREAD));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, device, BYTES);
    ck_found();
}
END_TEST

START_TEST(rows_that_overlap_are_copied_without_harm)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_2d copy = rows_to_device(device);

    copy.source_type = CXU_MEMORYTYPE_DEVICE;
    copy.source_device = device;
    copy.destination_pitch_bytes = SIDE;
    copy.destination_y = copy.source_y;
    ck_success(cx_emu_call_memcpy_2d(&copy));
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* T13: rows of pageable memory are staged as a single range is. */
START_TEST(a_pageable_region_may_be_reused_when_the_call_returns)
{
    stream_gate gate = GATE_CLOSED;
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_3d copy = box_to_device(device);
    CUstream stream = make_stream(0);

    fill_source();
    expect_box(&copy);
    ck_success(cx_emu_call_memset_d8(device, 0xee, BYTES));
    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_3d_async(&copy, stream));
    memset(source, 0, BYTES);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    read_device(found, device, BYTES);
    ck_found();
}
END_TEST

START_TEST(regions_of_nothing_succeed)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_3d box = box_to_device(device);
    cxu_memcpy_2d rows = rows_to_device(device);

    box.depth = 0;
    ck_success(cx_emu_call_memcpy_3d(&box));
    rows.width_bytes = 0;
    ck_success(cx_emu_call_memcpy_2d(&rows));
    rows.width_bytes = SIZE_MAX;
    rows.height = 0;
    ck_success(cx_emu_call_memcpy_2d(&rows));
}
END_TEST

START_TEST(regions_that_cannot_be_are_invalid_value)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_3d box = box_to_device(device), wrong;
    cxu_memcpy_2d rows = rows_to_device(device);

    ck_result(cx_emu_call_memcpy_3d(NULL), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_2d(NULL), INVALID_VALUE);
    wrong = box, wrong.source_pitch_bytes = 9; /* 3 + 7 bytes */
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.destination_height = 12; /* 4 + 9 rows */
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.destination_z = SIDE;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.destination_z = SIZE_MAX / 2;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.height = SIZE_MAX, wrong.destination_height = 0, wrong.source_height = 0;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.width_bytes = SIZE_MAX, wrong.source_pitch_bytes = 0;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.source_host = NULL;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.source_lod = 1;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    wrong = box, wrong.source_type = (cxu_memory_type)9;
    ck_result(cx_emu_call_memcpy_3d(&wrong), INVALID_VALUE);
    rows.source_pitch_bytes = (size_t)1 << 31;
    ck_result(cx_emu_call_memcpy_2d(&rows), INVALID_VALUE);
}
END_TEST

START_TEST(an_array_that_is_none_is_invalid)
{
    CUdeviceptr device = make_memory(BYTES);
    cxu_memcpy_3d box = box_to_device(device);
    cxu_memcpy_2d rows = rows_to_device(device);

    box.source_type = CXU_MEMORYTYPE_ARRAY;
    rows.destination_type = CXU_MEMORYTYPE_ARRAY;
    ck_result(cx_emu_call_memcpy_3d(&box), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_2d(&rows), INVALID_VALUE);
}
END_TEST

static Suite *region_suite(void)
{
    Suite *suite = suite_create("copy_region");
    TCase *tcase = tcase_create("copy_region");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_loop_test(tcase, a_box_lands_where_its_offsets_say, 0, 2);
    tcase_add_test(tcase, a_box_goes_from_device_to_host);
    tcase_add_test(tcase, no_pitch_and_no_height_mean_tight_ones);
    tcase_add_loop_test(tcase, rows_land_where_their_offsets_say, 0, 3);
    tcase_add_test(tcase, rows_that_overlap_are_copied_without_harm);
    tcase_add_test(tcase, a_pageable_region_may_be_reused_when_the_call_returns);
    tcase_add_test(tcase, regions_of_nothing_succeed);
    tcase_add_test(tcase, regions_that_cannot_be_are_invalid_value);
    tcase_add_test(tcase, an_array_that_is_none_is_invalid);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(region_suite);
