/* Copies in one dimension: what they move, and what the host waits for (T13). */
#include "work_fixture.h"

#include <stdlib.h>
#include <string.h>

#define SMALL ((size_t)1000)
#define LARGE ((size_t)1 << 20)

static unsigned char *pattern(size_t bytes, unsigned int seed)
{
    unsigned char *made = malloc(bytes);

    ck_assert_ptr_nonnull(made);
    for (size_t i = 0; i < bytes; i++)
        made[i] = (unsigned char)((i * 131 + i / 251 + seed) & 0xff);
    return made;
}

static void *make_pinned(size_t bytes)
{
    void *pinned;

    ck_success(cx_emu_call_mem_alloc_host(&pinned, bytes));
    return pinned;
}

static void ck_device(CUdeviceptr pointer, const void *expected, size_t bytes)
{
    unsigned char *read = malloc(bytes);

    read_device(read, pointer, bytes);
    ck_assert_int_eq(memcmp(read, expected, bytes), 0);
    free(read);
}

START_TEST(bytes_travel_there_across_and_back)
{
    size_t bytes = _i ? LARGE : SMALL;
    unsigned char *in = pattern(bytes, 1), *out = calloc(1, bytes);
    CUdeviceptr first = make_memory(bytes), second = make_memory(bytes);

    ck_success(cx_emu_call_memcpy_htod(first, in, bytes));
    ck_success(cx_emu_call_memcpy_dtod(second, first, bytes));
    ck_success(cx_emu_call_memcpy_dtoh(out, second, bytes));
    ck_assert_int_eq(memcmp(in, out, bytes), 0);
    free(in);
    free(out);
}
END_TEST

START_TEST(only_the_bytes_asked_for_are_written)
{
    unsigned char *in = pattern(SMALL, 2), expected[SMALL];
    CUdeviceptr memory = make_memory(SMALL);

    memset(expected, 0xee, SMALL);
    memcpy(expected + 10, in, 20);
    ck_success(cx_emu_call_memset_d8(memory, 0xee, SMALL));
    ck_success(cx_emu_call_memcpy_htod(memory + 10, in, 20));
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_device(memory, expected, SMALL);
    free(in);
}
END_TEST

START_TEST(the_unified_copy_tells_sides_by_their_pointers)
{
    unsigned char *in = pattern(SMALL, 3), out[SMALL] = {0};
    CUdeviceptr device = make_memory(SMALL);
    unsigned char *pinned = make_pinned(SMALL);

    ck_success(cx_emu_call_memcpy_unified(device, (uintptr_t)in, SMALL));
    ck_success(cx_emu_call_memcpy_unified((uintptr_t)pinned, device, SMALL));
    ck_assert_int_eq(memcmp(pinned, in, SMALL), 0);
    ck_success(cx_emu_call_memcpy_unified((uintptr_t)out, (uintptr_t)pinned, SMALL));
    ck_assert_int_eq(memcmp(out, in, SMALL), 0);
    memset(out, 0, SMALL);
    ck_success(cx_emu_call_memcpy_unified_async((uintptr_t)out, device, SMALL, NULL));
    ck_assert_int_eq(memcmp(out, in, SMALL), 0);
    free(in);
}
END_TEST

START_TEST(a_host_pointer_may_be_device_memory_in_truth)
{
    unsigned char *in = pattern(SMALL, 4);
    CUdeviceptr first = make_memory(SMALL), second = make_memory(SMALL);

    ck_success(cx_emu_call_memcpy_htod(first, in, SMALL));
    ck_success(cx_emu_call_memcpy_htod(second, (const void *)first, SMALL));
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_device(second, in, SMALL);
    ck_result(cx_emu_call_memcpy_htod(second, (const void *)(first + 1), SMALL), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_dtoh((void *)(first + 1), second, SMALL), INVALID_VALUE);
    free(in);
}
END_TEST

START_TEST(copies_go_from_device_to_device_without_peer_access)
{
    unsigned char *in = pattern(LARGE, 5);
    CUdeviceptr here = make_memory(LARGE), there, also_there;
    CUcontext other;

    ck_success(cx_emu_call_memcpy_htod(here, in, LARGE));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    there = make_memory(LARGE);
    also_there = make_memory(LARGE);
    ck_success(cx_emu_call_memcpy_peer(there, other, here, work_context, LARGE));
    ck_success(cx_emu_call_memcpy_dtod(also_there, here, LARGE));
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_device(there, in, LARGE);
    ck_device(also_there, in, LARGE);
    ck_success(cx_emu_call_memset_d8(there, 0, LARGE));
    ck_success(cx_emu_call_memcpy_peer_async(there, other, here, work_context, LARGE, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_device(there, in, LARGE);
    ck_result(cx_emu_call_memcpy_peer(there, NULL, here, work_context, LARGE), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_memcpy_peer(here, work_context, here, other, 1), INVALID_CONTEXT);
    free(in);
}
END_TEST

/* T13: with pinned memory nobody waits, in either direction. */
START_TEST(asynchronous_copies_of_pinned_memory_never_wait)
{
    stream_gate gate = GATE_CLOSED;
    unsigned char *in = make_pinned(LARGE), *out = make_pinned(LARGE);
    CUdeviceptr memory = make_memory(LARGE);
    CUstream stream = make_stream(0);

    memset(in, 1, LARGE);
    memset(out, 0, LARGE);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_htod_async(memory, in, LARGE, stream));
    ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, LARGE, stream));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    memset(in, 2, LARGE); /* not read yet: the copy takes what is there when its turn comes */
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_int_eq(memcmp(in, out, LARGE), 0);
}
END_TEST

/* T13 */
START_TEST(a_pageable_source_may_be_reused_when_the_call_returns)
{
    stream_gate gate = GATE_CLOSED;
    size_t bytes = _i ? LARGE : SMALL;
    unsigned char *in = pattern(bytes, 6), *kept = pattern(bytes, 6);
    CUdeviceptr memory = make_memory(bytes);
    CUstream stream = make_stream(0);

    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_htod_async(memory, in, bytes, stream));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    memset(in, 0, bytes);
    free(in);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_device(memory, kept, bytes);
    free(kept);
}
END_TEST

/* T13 */
START_TEST(a_small_synchronous_copy_from_pageable_memory_only_stages)
{
    stream_gate gate = GATE_CLOSED;
    unsigned char *in = pattern(SMALL, 7), *kept = pattern(SMALL, 7);
    CUdeviceptr memory = make_memory(SMALL);

    gate_put(&gate, NULL);
    ck_success(cx_emu_call_memcpy_htod(memory, in, SMALL));
    ck_result(cx_emu_call_stream_query(NULL), NOT_READY);
    memset(in, 0, SMALL);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(NULL));
    ck_device(memory, kept, SMALL);
    free(in);
    free(kept);
}
END_TEST

/* T13 */
START_TEST(a_synchronous_copy_between_devices_does_not_wait)
{
    stream_gate gate = GATE_CLOSED;
    CUdeviceptr first = make_memory(LARGE), second = make_memory(LARGE);

    gate_put(&gate, NULL);
    ck_success(cx_emu_call_memcpy_dtod(second, first, LARGE));
    ck_result(cx_emu_call_stream_query(NULL), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(NULL));
}
END_TEST

static void *open_later(void *argument)
{
    gate_wait_entered(argument);
    gate_open(argument);
    return NULL;
}

/* T13, T11: the copy stands behind the legacy stream, and so behind the blocking one. */
START_TEST(a_copy_to_pageable_memory_waits_for_what_is_before_it)
{
    stream_gate gate = GATE_CLOSED;
    unsigned char *in = make_pinned(LARGE), out[16] = {0};
    CUdeviceptr memory = make_memory(LARGE);
    CUstream stream = make_stream(0);
    pthread_t thread;

    memset(in, 9, LARGE);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_htod_async(memory, in, LARGE, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, open_later, &gate), 0);
    if (_i)
        ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, sizeof out, stream));
    else
        ck_success(cx_emu_call_memcpy_dtoh(out, memory, sizeof out));
    ck_assert_int_eq(memcmp(in, out, sizeof out), 0);
    pthread_join(thread, NULL);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* T12: memory in use by pending work outlives cuMemFreeAsync and stays what it is. */
START_TEST(pending_copies_keep_their_memory)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    unsigned char *out = make_pinned(LARGE);
    CUdeviceptr memory;

    ck_success(cx_emu_call_mem_alloc_async(&memory, LARGE, stream));
    ck_success(cx_emu_call_memset_d8_async(memory, 5, LARGE, stream));
    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, LARGE, stream));
    ck_success(cx_emu_call_mem_free_async(memory, stream));
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_int_eq(out[0], 5);
    ck_assert_int_eq(out[LARGE - 1], 5);
}
END_TEST

START_TEST(ranges_outside_of_an_allocation_are_invalid_value)
{
    unsigned char host[64] = {0};
    CUdeviceptr memory = make_memory(64);

    ck_result(cx_emu_call_memcpy_htod(memory, host, 65), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htod(memory + 1, host, 64), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htod(memory - 1, host, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htod((uintptr_t)host, host, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htod(memory, NULL, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htod(0, host, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_dtoh(NULL, memory, 1), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_dtoh(host, memory, SIZE_MAX), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_dtod(memory, memory, SIZE_MAX), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_unified(memory, 0, 1), INVALID_VALUE);
    ck_success(cx_emu_call_memcpy_htod(0, NULL, 0));
    ck_success(cx_emu_call_memcpy_unified(0, 0, 0));
}
END_TEST

START_TEST(copies_without_a_stream_need_a_current_context)
{
    unsigned char host[8] = {0};
    CUdeviceptr memory = make_memory(8);
    CUstream stream = make_stream(0);
    CUcontext context;

    ck_success(cx_emu_call_ctx_pop(&context));
    ck_result(cx_emu_call_memcpy_htod(memory, host, 8), INVALID_CONTEXT);
    ck_result(cx_emu_call_memcpy_dtoh_async(host, memory, 8, NULL), INVALID_CONTEXT);
    ck_success(cx_emu_call_memcpy_dtoh_async(host, memory, 8, stream));
    ck_success(cx_emu_call_ctx_push(context));
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_result(cx_emu_call_memcpy_htod_async(memory, host, 8, stream), INVALID_HANDLE);
}
END_TEST

/* C2 */
START_TEST(copies_in_a_destroyed_context_say_so)
{
    unsigned char host[8] = {0};
    CUdeviceptr memory = make_memory(8);
    CUcontext other, popped;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 0));
    ck_success(cx_emu_call_ctx_push(work_context));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_result(cx_emu_call_memcpy_htod(memory, host, 8), CONTEXT_IS_DESTROYED);
    ck_success(cx_emu_call_ctx_pop(&popped));
}
END_TEST

static Suite *copy_suite(void)
{
    Suite *suite = suite_create("copy");
    TCase *tcase = tcase_create("copy");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_loop_test(tcase, bytes_travel_there_across_and_back, 0, 2);
    tcase_add_test(tcase, only_the_bytes_asked_for_are_written);
    tcase_add_test(tcase, the_unified_copy_tells_sides_by_their_pointers);
    tcase_add_test(tcase, a_host_pointer_may_be_device_memory_in_truth);
    tcase_add_test(tcase, copies_go_from_device_to_device_without_peer_access);
    tcase_add_test(tcase, asynchronous_copies_of_pinned_memory_never_wait);
    tcase_add_loop_test(tcase, a_pageable_source_may_be_reused_when_the_call_returns, 0, 2);
    tcase_add_test(tcase, a_small_synchronous_copy_from_pageable_memory_only_stages);
    tcase_add_test(tcase, a_synchronous_copy_between_devices_does_not_wait);
    tcase_add_loop_test(tcase, a_copy_to_pageable_memory_waits_for_what_is_before_it, 0, 2);
    tcase_add_test(tcase, pending_copies_keep_their_memory);
    tcase_add_test(tcase, ranges_outside_of_an_allocation_are_invalid_value);
    tcase_add_test(tcase, copies_without_a_stream_need_a_current_context);
    tcase_add_test(tcase, copies_in_a_destroyed_context_say_so);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(copy_suite);
