/* Limits of contexts, priorities of their streams, and what devices tell without a context. */
#include "device/device.h"
#include "gate.h"

static ctxrt_context *created;

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &created));
}

static void end(void)
{
    cx_assert_ok(ctxrt_context_destroy(created));
    cx_fixture_end();
}

START_TEST(a_limit_is_set_in_the_context_that_is_named_and_in_no_other)
{
    size_t here, there, again;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_context_get_limit(NULL, CTXRT_LIMIT_STACK_BYTES, &here));
    cx_assert_ok(ctxrt_context_set_limit(created, CTXRT_LIMIT_STACK_BYTES, here + 1024));
    cx_assert_ok(ctxrt_context_get_limit(created, CTXRT_LIMIT_STACK_BYTES, &there));
    ck_assert_uint_eq(there, here + 1024);
    cx_assert_ok(ctxrt_context_get_limit(NULL, CTXRT_LIMIT_STACK_BYTES, &again));
    ck_assert_uint_eq(again, here);
    cx_assert_ok(ctxrt_context_set_limit(NULL, CTXRT_LIMIT_STACK_BYTES, here + 2048));
    cx_assert_ok(ctxrt_context_get_limit(NULL, CTXRT_LIMIT_STACK_BYTES, &again));
    ck_assert_uint_eq(again, here + 2048);
    cx_assert_ok(ctxrt_context_get_limit(created, CTXRT_LIMIT_STACK_BYTES, &again));
    ck_assert_uint_eq(again, there);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_named_context_need_not_be_current)
{
    size_t value;
    int least, greatest;
    CUcontext current;
    cx_assert_error(ctxrt_context_get_limit(NULL, CTXRT_LIMIT_HEAP_BYTES, &value),
                    CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_context_priorities(NULL, &least, &greatest), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_context_get_limit(created, CTXRT_LIMIT_HEAP_BYTES, &value));
    ck_assert_uint_gt(value, 0);
    cx_assert_ok(ctxrt_context_priorities(created, &least, &greatest));
    ck_assert_int_eq(cx_drivers[0].table.ctx_get_current(&current), CXU_SUCCESS);
    ck_assert_ptr_null(current);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}
END_TEST

START_TEST(limits_that_are_none_are_refused)
{
    size_t value = 77;
    cx_assert_error(ctxrt_context_get_limit(created, (ctxrt_context_limit)99, &value),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_set_limit(created, (ctxrt_context_limit)99, 1),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_get_limit(created, CTXRT_LIMIT_STACK_BYTES, NULL),
                    CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_context_priorities(created, NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_context_get_limit((ctxrt_context *)(uintptr_t)0x1234567890,
                                            CTXRT_LIMIT_STACK_BYTES, &value),
                    CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(what_the_emulated_device_refuses_is_told)
{
    size_t value = 77;
    cx_fixture_needs_emulated("the limits of a GPU of capability 7.5");
    cx_assert_error(ctxrt_context_get_limit(created, CTXRT_LIMIT_L2_PERSISTING_BYTES, &value),
                    CTXRT_ERROR_NOT_SUPPORTED);
    cx_assert_error(ctxrt_context_set_limit(created, CTXRT_LIMIT_L2_PERSISTING_BYTES, 1),
                    CTXRT_ERROR_NOT_SUPPORTED);
    cx_assert_error(ctxrt_context_set_limit(created, CTXRT_LIMIT_STACK_BYTES, (size_t)1 << 40),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuCtxSetLimit");
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(streams_get_every_priority_of_the_range)
{
    int least = 77, greatest = 77, only = 77;
    cx_assert_ok(ctxrt_context_priorities(created, &least, &greatest));
    ck_assert_int_le(greatest, least);
    cx_assert_ok(ctxrt_context_priorities(created, &only, NULL));
    ck_assert_int_eq(only, least);
    cx_assert_ok(ctxrt_context_priorities(created, NULL, &only));
    ck_assert_int_eq(only, greatest);
    for (int priority = greatest; priority <= least; priority++) {
        CTXRT_SCOPE_STREAM ctxrt_stream *stream = NULL;
        struct CUstream_st *native;
        int got = 77;
        cx_assert_ok(ctxrt_stream_create_on(created, CTXRT_STREAM_NON_BLOCKING, priority,
                                            &stream));
        cx_assert_ok(ctxrt_stream_native(stream, &native));
        ck_assert_int_eq(cx_drivers[0].table.stream_get_priority(native, &got), CXU_SUCCESS);
        ck_assert_int_eq(got, priority);
    }
}
END_TEST

/* ---- devices without a context ---- */

static bool primary_is_active(int device)
{
    unsigned int flags;
    int active;
    ck_assert_int_eq(
        cx_drivers[0].table.primary_get_state((CUdevice)(device + 1), &flags, &active),
        CXU_SUCCESS);
    return active != 0;
}

START_TEST(a_device_tells_its_abilities_and_makes_no_context)
{
    ctxrt_device_info info;
    cx_assert_ok(ctxrt_device_properties(CTXRT_CUDA(2), &info));
    ck_assert(info.concurrent_managed_access == 0 || info.concurrent_managed_access == 1);
    ck_assert(info.cluster_launch == 0 || info.cluster_launch == 1);
    cx_fixture_needs_emulated("the abilities of the default GPU");
    ck_assert_int_eq(info.concurrent_managed_access, 1);
    ck_assert_int_eq(info.cluster_launch, 1);
    ck_assert(!primary_is_active(2));
}
END_TEST

START_TEST(an_emulated_device_tells_its_memory_without_a_context)
{
    size_t free_bytes = 0, total_bytes = 0, with_bytes = 0;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(2), &free_bytes, &total_bytes));
    ck_assert(!primary_is_active(2));
    ck_assert_uint_eq(total_bytes, (size_t)256 << 20);
    ck_assert_uint_gt(free_bytes, 0);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    ck_assert(primary_is_active(2));
    void *pointer;
    cx_assert_ok(ctxrt_alloc_direct((size_t)8 << 20, &pointer));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(2), &with_bytes, NULL));
    ck_assert_uint_le(with_bytes + ((size_t)8 << 20), free_bytes);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CPU(0), &free_bytes, NULL));
    ck_assert_uint_gt(free_bytes, 0);
}
END_TEST

/* As over a libcuda, which tells the memory of its current context only. */
START_TEST(other_drivers_are_asked_in_a_primary_context_that_other_code_made)
{
    size_t free_bytes = 0;
    CUcontext primary;
    cx_drivers[0].memory_info = NULL;
    ck_assert_int_eq(cx_drivers[0].table.primary_retain(&primary, 3), CXU_SUCCESS);
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(2), &free_bytes, NULL));
    ck_assert_uint_gt(free_bytes, 0);
    ck_assert_int_eq(cx_drivers[0].table.primary_release(3), CXU_SUCCESS);
    ck_assert(!primary_is_active(2));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(2), &free_bytes, NULL));
    ck_assert(primary_is_active(2)); /* there was none to ask in */
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(2)));
    ck_assert(!primary_is_active(2));
}
END_TEST

static Suite *limits_suite(void)
{
    Suite *suite = suite_create("limits");
    TCase *tcase = tcase_create("limits");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(tcase, a_limit_is_set_in_the_context_that_is_named_and_in_no_other);
    tcase_add_test(tcase, a_named_context_need_not_be_current);
    tcase_add_test(tcase, limits_that_are_none_are_refused);
    tcase_add_test(tcase, what_the_emulated_device_refuses_is_told);
    tcase_add_test(tcase, streams_get_every_priority_of_the_range);
    tcase_add_test(tcase, a_device_tells_its_abilities_and_makes_no_context);
    tcase_add_test(tcase, an_emulated_device_tells_its_memory_without_a_context);
    tcase_add_test(
        tcase, other_drivers_are_asked_in_a_primary_context_that_other_code_made);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(limits_suite);
