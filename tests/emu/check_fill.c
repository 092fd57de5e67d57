/* Fills: elements of 1, 2 and 4 bytes, in rows or not. */
#include "work_fixture.h"

#include <string.h>

#define BYTES ((size_t)4096)

static unsigned char expected[BYTES], found[BYTES];

static CUdeviceptr start(void)
{
    CUdeviceptr memory = make_memory(BYTES);

    memset(expected, 0xee, BYTES);
    ck_success(cx_emu_call_memset_d8(memory, 0xee, BYTES));
    return memory;
}

static void expect(size_t offset, const void *value, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(expected + offset + i * size, value, size);
}

static void ck_filled(CUdeviceptr memory)
{
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, memory, BYTES);
    ck_assert_int_eq(memcmp(found, expected, BYTES), 0);
}

static const unsigned char byte = 0x12;
static const unsigned short half = 0x1234;
static const unsigned int word = 0x12345678;

START_TEST(elements_are_filled_and_nothing_else)
{
    CUdeviceptr memory = start();
    CUstream stream = make_stream(0);

    expect(1, &byte, 1, 10);
    expect(100, &half, 2, 11);
    expect(200, &word, 4, 12);
    expect(301, &byte, 1, 13);
    expect(402, &half, 2, 14);
    expect(504, &word, 4, 15);
    ck_success(cx_emu_call_memset_d8(memory + 1, byte, 10));
    ck_success(cx_emu_call_memset_d16(memory + 100, half, 11));
    ck_success(cx_emu_call_memset_d32(memory + 200, word, 12));
    ck_success(cx_emu_call_memset_d8_async(memory + 301, byte, 13, stream));
    ck_success(cx_emu_call_memset_d16_async(memory + 402, half, 14, stream));
    ck_success(cx_emu_call_memset_d32_async(memory + 504, word, 15, stream));
    ck_filled(memory);
}
END_TEST

START_TEST(rows_are_filled_and_nothing_between_them)
{
    CUdeviceptr memory = start();

    for (size_t y = 0; y < 3; y++) {
        expect(0 + y * 64, &byte, 1, 5);
        expect(512 + y * 64, &half, 2, 5);
        expect(1024 + y * 64, &word, 4, 5);
        expect(2048 + y * 32, &byte, 1, 5);
        expect(2560 + y * 32, &half, 2, 5);
        expect(3072 + y * 32, &word, 4, 5);
    }
    ck_success(cx_emu_call_memset_2d_d8(memory, 64, byte, 5, 3));
    ck_success(cx_emu_call_memset_2d_d16(memory + 512, 64, half, 5, 3));
    ck_success(cx_emu_call_memset_2d_d32(memory + 1024, 64, word, 5, 3));
    ck_success(cx_emu_call_memset_2d_d8_async(memory + 2048, 32, byte, 5, 3, NULL));
    ck_success(cx_emu_call_memset_2d_d16_async(memory + 2560, 32, half, 5, 3, NULL));
    ck_success(cx_emu_call_memset_2d_d32_async(memory + 3072, 32, word, 5, 3, NULL));
    ck_filled(memory);
}
END_TEST

/* T13 */
START_TEST(a_fill_of_device_memory_does_not_wait)
{
    stream_gate gate = GATE_CLOSED;
    CUdeviceptr memory = start();

    gate_put(&gate, NULL);
    expect(0, &byte, 1, BYTES);
    ck_success(cx_emu_call_memset_d8(memory, byte, BYTES));
    ck_result(cx_emu_call_stream_query(NULL), NOT_READY);
    gate_open(&gate);
    ck_filled(memory);
}
END_TEST

static void *open_later(void *argument)
{
    gate_wait_entered(argument);
    gate_open(argument);
    return NULL;
}

/* T13 */
START_TEST(a_fill_of_pinned_memory_waits_unless_it_is_asynchronous)
{
    stream_gate first = GATE_CLOSED, second = GATE_CLOSED;
    void *pinned;
    pthread_t thread;

    ck_success(cx_emu_call_mem_alloc_host(&pinned, BYTES));
    memset(pinned, 0, BYTES);
    gate_put(&first, NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, open_later, &first), 0);
    ck_success(cx_emu_call_memset_d8((uintptr_t)pinned, 1, BYTES));
    ck_assert_int_eq(((unsigned char *)pinned)[BYTES - 1], 1);
    pthread_join(thread, NULL);
    gate_put(&second, NULL);
    ck_success(cx_emu_call_memset_d8_async((uintptr_t)pinned, 2, BYTES, NULL));
    ck_assert_int_eq(((unsigned char *)pinned)[BYTES - 1], 1);
    gate_open(&second);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_int_eq(((unsigned char *)pinned)[BYTES - 1], 2);
}
END_TEST

START_TEST(fills_that_cannot_be_are_invalid_value)
{
    CUdeviceptr memory = start();
    unsigned char host[8];

    ck_result(cx_emu_call_memset_d16(memory + 1, half, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memset_d32(memory + 2, word, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memset_d8(memory, byte, BYTES + 1), INVALID_VALUE);
    ck_result(cx_emu_call_memset_d32(memory, word, SIZE_MAX / 4 + 2), INVALID_VALUE);
    ck_result(cx_emu_call_memset_d8((uintptr_t)host, byte, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memset_d8(0, byte, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memset_2d_d8(memory, 4, byte, 5, 2), INVALID_VALUE);
    ck_result(cx_emu_call_memset_2d_d32(memory, 30, word, 5, 2), INVALID_VALUE);
    ck_result(cx_emu_call_memset_2d_d8(memory, 64, byte, 1, SIZE_MAX / 2), INVALID_VALUE);
    ck_result(cx_emu_call_memset_2d_d8(memory, (size_t)1 << 31, byte, 1, 2), INVALID_VALUE);
    ck_success(cx_emu_call_memset_2d_d8(memory, 0, 0xee, 5, 1));
    ck_success(cx_emu_call_memset_d32(memory + 1, word, 0));
    ck_success(cx_emu_call_memset_2d_d8(memory, 0, byte, 0, 5));
    ck_filled(memory);
}
END_TEST

START_TEST(fills_without_a_stream_need_a_current_context)
{
    CUdeviceptr memory = start();
    CUcontext context;

    ck_success(cx_emu_call_ctx_pop(&context));
    ck_result(cx_emu_call_memset_d8(memory, byte, 1), INVALID_CONTEXT);
    ck_result(cx_emu_call_memset_d8_async(memory, byte, 1, NULL), INVALID_CONTEXT);
    ck_result(cx_emu_call_memset_d8(memory, byte, 0), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(context));
}
END_TEST

static Suite *fill_suite(void)
{
    Suite *suite = suite_create("fill");
    TCase *tcase = tcase_create("fill");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, elements_are_filled_and_nothing_else);
    tcase_add_test(tcase, rows_are_filled_and_nothing_between_them);
    tcase_add_test(tcase, a_fill_of_device_memory_does_not_wait);
    tcase_add_test(tcase, a_fill_of_pinned_memory_waits_unless_it_is_asynchronous);
    tcase_add_test(tcase, fills_that_cannot_be_are_invalid_value);
    tcase_add_test(tcase, fills_without_a_stream_need_a_current_context);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(fill_suite);
