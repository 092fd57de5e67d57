/* Batches of copies, and boxes between contexts (T20). */
#include "graph_fixture.h"

#include <string.h>

#define COPY_BYTES 64
#define BATCH 3

static unsigned char host[BATCH][COPY_BYTES], back[BATCH][COPY_BYTES];
static CUdeviceptr memory;
static CUstream stream;

/* A batch from `host` to `memory`. */
static CUdeviceptr to[BATCH], from[BATCH];
static size_t sizes[BATCH], first[BATCH];
static cxu_memcpy_attributes how[BATCH];

static void setup(void)
{
    work_setup();
    memory = make_memory(BATCH * COPY_BYTES);
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
    ck_success(cx_emu_call_memset_d8(memory, 0, BATCH * COPY_BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    for (size_t i = 0; i < BATCH; i++) {
        memset(host[i], (int)i + 1, COPY_BYTES);
        to[i] = memory + i * COPY_BYTES;
        from[i] = (CUdeviceptr)(uintptr_t)host[i];
        sizes[i] = COPY_BYTES;
        first[i] = i;
        how[i] = (cxu_memcpy_attributes){.order = CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    }
}

static cxu_result batch(size_t count, size_t attribute_count, size_t *out_fail)
{
    return cx_emu_call_memcpy_batch_async_v1(to, from, sizes, count, how, first, attribute_count,
                                             out_fail, stream);
}

static void read_back(void)
{
    ck_success(cx_emu_call_stream_synchronize(stream));
    read_device(back, memory, sizeof back);
}

START_TEST(a_batch_makes_each_of_its_copies)
{
    size_t fail = 77;

    ck_success(batch(BATCH, 1, &fail));
    ck_assert_uint_eq(fail, SIZE_MAX);
    read_back();
    ck_assert_mem_eq(back, host, sizeof host);
    memset(host, 9, sizeof host);
    ck_success(cx_emu_call_memcpy_batch_async(to, from, sizes, BATCH, how, first, 1, stream));
    read_back();
    ck_assert_mem_eq(back, host, sizeof host);
}
END_TEST

START_TEST(a_batch_comes_behind_earlier_work_and_before_later)
{
    stream_gate gate = GATE_CLOSED;
    unsigned char early[BATCH][COPY_BYTES], last = 0;
    CUdeviceptr copy = make_memory(COPY_BYTES);

    gate_put(&gate, stream);
    ck_success(batch(BATCH, 1, NULL));
    ck_success(cx_emu_call_memcpy_dtod_async(copy, to[2], COPY_BYTES, stream));
    gate_wait_entered(&gate);
    read_device(early, memory, sizeof early);
    ck_assert_uint_eq(early[0][0], 0);
    memset(host[0], 8, COPY_BYTES); /* read in the stream's order */
    gate_open(&gate);
    read_back();
    ck_assert_uint_eq(back[0][0], 8);
    read_device(&last, copy, 1);
    ck_assert_uint_eq(last, 3);
}
END_TEST

START_TEST(a_source_may_be_read_before_the_call_returns)
{
    stream_gate gate = GATE_CLOSED;

    how[1].order = CXU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    gate_put(&gate, stream);
    ck_success(batch(BATCH, 2, NULL)); /* the second attribute is of copies 1 and 2 */
    gate_wait_entered(&gate);
    memset(host, 8, sizeof host);
    gate_open(&gate);
    read_back();
    ck_assert_uint_eq(back[0][0], 8);
    ck_assert_uint_eq(back[1][0], 2);
    ck_assert_uint_eq(back[2][0], 3);
}
END_TEST

START_TEST(a_wrong_copy_is_named_and_none_is_made)
{
    size_t fail = 77;

    sizes[1] = 0;
    ck_result(batch(BATCH, 1, &fail), INVALID_VALUE);
    ck_assert_uint_eq(fail, 1);
    sizes[1] = COPY_BYTES;
    to[2] = memory + BATCH * COPY_BYTES - 1; /* over the end */
    how[0].order = CXU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    ck_result(batch(BATCH, 1, &fail), INVALID_VALUE);
    ck_assert_uint_eq(fail, 2);
    read_back();
    ck_assert_uint_eq(back[0][0], 0);
}
END_TEST

START_TEST(attributes_begin_at_rising_copies_from_the_first)
{
    first[1] = 0;
    ck_result(batch(BATCH, 2, NULL), INVALID_VALUE);
    first[1] = BATCH;
    ck_result(batch(BATCH, 2, NULL), INVALID_VALUE);
    first[0] = 1;
    ck_result(batch(BATCH, 1, NULL), INVALID_VALUE);
    first[0] = 0;
    ck_result(batch(BATCH, BATCH + 1, NULL), INVALID_VALUE);
    ck_result(batch(BATCH, 0, NULL), INVALID_VALUE);
    how[0].flags = CXU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    ck_success(batch(BATCH, 1, NULL));
    how[0].flags = 2;
    ck_result(batch(BATCH, 1, NULL), INVALID_VALUE);
}
END_TEST

START_TEST(the_legacy_stream_takes_no_batch)
{
    size_t fail = 77;

    stream = NULL;
    ck_result(batch(BATCH, 1, &fail), INVALID_VALUE);
    ck_assert_uint_eq(fail, 77);
    stream = CXU_STREAM_PER_THREAD;
    ck_success(batch(BATCH, 1, &fail));
    read_back();
}
END_TEST

START_TEST(a_capturing_stream_refuses_a_batch_and_goes_on)
{
    begin(stream);
    ck_result(batch(BATCH, 1, NULL), STREAM_CAPTURE_UNSUPPORTED);
    ck_active(stream);
    drop(end(stream));
}
END_TEST

/* ---- boxes ---- */

static cxu_memcpy_operand pointer_to(const void *host_or_device, size_t row, size_t rows)
{
    cxu_memcpy_operand operand = {.type = CXU_MEMCPY_OPERAND_TYPE_POINTER};

    operand.of.pointer.address = (CUdeviceptr)(uintptr_t)host_or_device;
    operand.of.pointer.row_length = row;
    operand.of.pointer.layer_height = rows;
    return operand;
}

/* 2 slices of 2 rows of 4 bytes out of 8. */
static cxu_memcpy_3d_batch_op small_box(void)
{
    return (cxu_memcpy_3d_batch_op){
        .source = pointer_to(host, 8, 4),
        .destination = pointer_to((void *)(uintptr_t)memory, 0, 0),
        .width = 4,
        .height = 2,
        .depth = 2,
        .order = CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
}

START_TEST(a_batch_of_boxes_copies_rows_of_slices)
{
    cxu_memcpy_3d_batch_op box = small_box();
    unsigned char *bytes = &host[0][0];
    const size_t places[4] = {0, 8, 32, 40};
    size_t fail = 77;

    for (size_t i = 0; i < COPY_BYTES; i++)
        bytes[i] = (unsigned char)i;
    ck_success(cx_emu_call_memcpy_3d_batch_async_v1(1, &box, &fail, 0, stream));
    ck_assert_uint_eq(fail, SIZE_MAX);
    read_back();
    for (size_t row = 0; row < 4; row++)
        ck_assert_mem_eq(&back[0][0] + 4 * row, bytes + places[row], 4);
    ck_assert_uint_eq(back[0][16], 0);
}
END_TEST

START_TEST(a_wrong_box_is_named)
{
    cxu_memcpy_3d_batch_op boxes[2] = {small_box(), small_box()};
    size_t fail = 77;

    boxes[1].source.of.pointer.row_length = 3; /* shorter than a row */
    ck_result(cx_emu_call_memcpy_3d_batch_async_v1(2, boxes, &fail, 0, stream), INVALID_VALUE);
    ck_assert_uint_eq(fail, 1);
    boxes[1] = small_box();
    boxes[1].destination.type = CXU_MEMCPY_OPERAND_TYPE_ARRAY;
    ck_result(cx_emu_call_memcpy_3d_batch_async_v1(2, boxes, &fail, 0, stream), INVALID_VALUE);
    boxes[1] = small_box();
    boxes[1].depth = SIZE_MAX;
    ck_result(cx_emu_call_memcpy_3d_batch_async_v1(2, boxes, &fail, 0, stream), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_3d_batch_async(2, boxes, 1, stream), INVALID_VALUE);
}
END_TEST

/* ---- between contexts ---- */

START_TEST(a_box_goes_from_one_device_to_another)
{
    cxu_memcpy_3d_peer copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                               .source_pitch_bytes = 8,
                               .source_x_bytes = 4,
                               .destination_type = CXU_MEMORYTYPE_DEVICE,
                               .destination_pitch_bytes = 4,
                               .width_bytes = 4,
                               .height = 2,
                               .depth = 1};
    const unsigned char rows[16] = {0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8};
    const unsigned char expected[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    CUcontext other;

    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    copy.source_device = make_memory(sizeof rows);
    ck_success(cx_emu_call_memcpy_htod(copy.source_device, rows, sizeof rows));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_ctx_pop(NULL));
    copy.source_context = other;
    copy.destination_context = work_context;
    copy.destination_device = memory;
    ck_success(cx_emu_call_memcpy_3d_peer(&copy));
    ck_success(cx_emu_call_ctx_synchronize());
    read_back();
    ck_assert_mem_eq(back, expected, sizeof expected);
    copy.source_context = work_context; /* which cannot reach it */
    copy.source_device = memory + BATCH * COPY_BYTES;
    ck_result(cx_emu_call_memcpy_3d_peer_async(&copy, stream), INVALID_VALUE);
    ck_success(cx_emu_call_ctx_destroy(other));
    copy.source_context = other;
    ck_result(cx_emu_call_memcpy_3d_peer_async(&copy, stream), INVALID_CONTEXT);
}
END_TEST

static Suite *batch_suite(void)
{
    Suite *suite = suite_create("copy_batch");
    TCase *tests = tcase_create("copy_batch");
    TCase *beside = tcase_create("beside_a_gate");

    tcase_add_checked_fixture(tests, setup, work_teardown);
    tcase_add_test(tests, a_batch_makes_each_of_its_copies);
    tcase_add_test(tests, a_source_may_be_read_before_the_call_returns);
    tcase_add_test(tests, a_wrong_copy_is_named_and_none_is_made);
    tcase_add_test(tests, attributes_begin_at_rising_copies_from_the_first);
    tcase_add_test(tests, the_legacy_stream_takes_no_batch);
    tcase_add_test(tests, a_capturing_stream_refuses_a_batch_and_goes_on);
    tcase_add_test(tests, a_batch_of_boxes_copies_rows_of_slices);
    tcase_add_test(tests, a_wrong_box_is_named);
    tcase_add_test(tests, a_box_goes_from_one_device_to_another);
    suite_add_tcase(suite, tests);
    tcase_set_tags(beside, "pool");
    tcase_add_checked_fixture(beside, setup, work_teardown);
    tcase_add_test(beside, a_batch_comes_behind_earlier_work_and_before_later);
    suite_add_tcase(suite, beside);
    return suite;
}

CX_TESTS(batch_suite);
