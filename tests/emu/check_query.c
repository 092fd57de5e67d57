/* Queries of contexts and devices (Q1 to Q5, A1). */
#include "gpus.h"

/* Every query that needs a context, with arguments that are good otherwise. */
static cxu_result ask(int which)
{
    unsigned int number;
    int least, greatest;
    size_t size;
    cxu_func_cache cache;
    cxu_shared_config shared;
    CUdevice device;
    unsigned long long id;
    switch (which) {
    case 0:
        return CU(ctx_get_flags, &number);
    case 1:
        return CU(ctx_set_flags, CXU_CTX_SCHED_SPIN);
    case 2:
        return cx_emu_call_ctx_synchronize();
    case 3:
        return CU(ctx_synchronize_v2, NULL);
    case 4:
        return CU(ctx_get_cache_config, &cache);
    case 5:
        return CU(ctx_set_cache_config, CXU_FUNC_CACHE_PREFER_L1);
    case 6:
        return CU(ctx_get_shared_mem_config, &shared);
    case 7:
        return CU(ctx_set_shared_mem_config, CXU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE);
    case 8:
        return CU(ctx_get_limit, &size, CXU_LIMIT_STACK_SIZE);
    case 9:
        return CU(ctx_set_limit, CXU_LIMIT_STACK_SIZE, 2048);
    case 10:
        return CU(ctx_get_stream_priority_range, &least, &greatest);
    case 11:
        return CU(ctx_get_id, NULL, &id);
    case 12:
        return CU(ctx_get_api_version, NULL, &number);
    case 13:
        return CU(ctx_get_device, &device);
    default:
        return CU(ctx_get_device_v2, &device, NULL);
    }
}
#define QUERIES 15
#define QUERIES_OF_ANY_STATE 13 /* from here on: GetDevice, which a reset primary answers too */

/* Q1 */
START_TEST(a_query_with_none_current_is_invalid_context)
{
    ck_assert_int_eq(ask(_i), CXU_INVALID_CONTEXT);
    CUcontext a = create_on(0);
    ck_assert_int_eq(ask(_i), CXU_SUCCESS);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q1, C2 */
START_TEST(a_query_of_a_destroyed_context_says_so)
{
    CUcontext a = create_on(0);
    EXPECT(SUCCESS, ctx_push, a);
    EXPECT(SUCCESS, ctx_destroy, a);
    ck_assert_int_eq(ask(_i), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* Q2, P4 */
START_TEST(of_a_reset_primary_only_the_device_is_known)
{
    CUcontext primary = retain_on(2);
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(SUCCESS, primary_reset, 2);
    ck_assert_int_eq(ask(_i), _i < QUERIES_OF_ANY_STATE ? CXU_CONTEXT_IS_DESTROYED : CXU_SUCCESS);
    CUdevice device = -1;
    EXPECT(SUCCESS, ctx_get_device, &device);
    ck_assert_int_eq(device, 2);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, primary_release, 2);
}
END_TEST

/* Q1 */
START_TEST(the_forms_with_a_context_need_none_current)
{
    CUcontext a = create_on(3);
    CUdevice device = -1;
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, ctx_get_device_v2, &device, a);
    ck_assert_int_eq(device, 3);
    EXPECT(SUCCESS, ctx_synchronize_v2, a);
    ck_assert_uint_ne(id_of(a), 0);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q3 */
START_TEST(ids_are_unique_and_null_means_current)
{
    CUcontext a = create_on(0), b = create_on(0), primary = retain_on(0);
    ck_assert_uint_ne(id_of(a), id_of(b));
    ck_assert_uint_ne(id_of(a), id_of(primary));
    ck_assert_uint_ne(id_of(b), id_of(primary));
    ck_assert_uint_eq(id_of(NULL), id_of(b));
    EXPECT(INVALID_VALUE, ctx_get_id, a, NULL);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q3 */
START_TEST(the_api_version_is_3020)
{
    CUcontext a = create_on(0);
    unsigned int version = 0;
    EXPECT(SUCCESS, ctx_get_api_version, a, &version);
    ck_assert_uint_eq(version, 3020);
    EXPECT(INVALID_VALUE, ctx_get_api_version, a, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q4 */
START_TEST(a_limit_is_kept_rounded_or_refused)
{
    CUcontext a = create_on(0);
    size_t value = 0;
    EXPECT(SUCCESS, ctx_get_limit, &value, CXU_LIMIT_STACK_SIZE);
    ck_assert_uint_eq(value, 1024);
    EXPECT(SUCCESS, ctx_set_limit, CXU_LIMIT_STACK_SIZE, 4096);
    EXPECT(SUCCESS, ctx_get_limit, &value, CXU_LIMIT_STACK_SIZE);
    ck_assert_uint_eq(value, 4096);
    EXPECT(INVALID_VALUE, ctx_set_limit, CXU_LIMIT_STACK_SIZE, SIZE_MAX);
    EXPECT(SUCCESS, ctx_set_limit, CXU_LIMIT_STACK_SIZE, 100);
    EXPECT(SUCCESS, ctx_get_limit, &value, CXU_LIMIT_STACK_SIZE);
    ck_assert_uint_eq(value, 112);
    EXPECT(SUCCESS, ctx_set_limit, CXU_LIMIT_PRINTF_FIFO_SIZE, 0);
    EXPECT(SUCCESS, ctx_get_limit, &value, CXU_LIMIT_PRINTF_FIFO_SIZE);
    ck_assert_uint_gt(value, 0);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q4 */
START_TEST(a_limit_belongs_to_its_context)
{
    CUcontext a = create_on(0), b = create_on(0);
    size_t value = 0;
    EXPECT(SUCCESS, ctx_set_limit, CXU_LIMIT_STACK_SIZE, 4096);
    EXPECT(SUCCESS, ctx_set_current, a);
    EXPECT(SUCCESS, ctx_get_limit, &value, CXU_LIMIT_STACK_SIZE);
    ck_assert_uint_eq(value, 1024);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(SUCCESS, ctx_destroy, b);
    a = create_on(0);
    EXPECT(SUCCESS, ctx_get_limit, &value, CXU_LIMIT_STACK_SIZE);
    ck_assert_uint_eq(value, 1024);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q4 */
START_TEST(a_limit_that_the_gpu_lacks_is_unsupported)
{
    CUcontext a = create_on(0);
    size_t value = 77;
    EXPECT(UNSUPPORTED_LIMIT, ctx_set_limit, CXU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1);
    EXPECT(UNSUPPORTED_LIMIT, ctx_get_limit, &value, CXU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    EXPECT(NOT_PERMITTED, ctx_set_limit, CXU_LIMIT_SHMEM_SIZE, 4096);
    EXPECT(NOT_PERMITTED, ctx_set_limit, CXU_LIMIT_CIG_ENABLED, 1);
    EXPECT(INVALID_VALUE, ctx_set_limit, CXU_LIMIT_MAX, 1);
    EXPECT(INVALID_VALUE, ctx_get_limit, &value, (cxu_limit)-1);
    EXPECT(INVALID_VALUE, ctx_get_limit, NULL, CXU_LIMIT_STACK_SIZE);
    ck_assert_uint_eq(value, 77);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q5 */
START_TEST(either_end_of_the_priority_range_may_be_left_out)
{
    CUcontext a = create_on(0);
    int least = 77, greatest = 77;
    EXPECT(SUCCESS, ctx_get_stream_priority_range, &least, NULL);
    ck_assert_int_eq(least, 0);
    EXPECT(SUCCESS, ctx_get_stream_priority_range, NULL, &greatest);
    ck_assert_int_eq(greatest, -5);
    EXPECT(SUCCESS, ctx_get_stream_priority_range, NULL, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q5 */
START_TEST(a_cache_config_of_4_is_invalid)
{
    CUcontext a = create_on(0);
    cxu_func_cache config = CXU_FUNC_CACHE_PREFER_EQUAL;
    EXPECT(SUCCESS, ctx_get_cache_config, &config);
    ck_assert_int_eq(config, CXU_FUNC_CACHE_PREFER_NONE);
    EXPECT(SUCCESS, ctx_set_cache_config, CXU_FUNC_CACHE_PREFER_SHARED);
    EXPECT(INVALID_VALUE, ctx_set_cache_config, (cxu_func_cache)4);
    EXPECT(SUCCESS, ctx_get_cache_config, &config);
    ck_assert_int_eq(config, CXU_FUNC_CACHE_PREFER_SHARED);
    EXPECT(INVALID_VALUE, ctx_get_cache_config, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

START_TEST(the_bank_size_of_shared_memory_is_fixed)
{
    CUcontext a = create_on(0);
    cxu_shared_config config = CXU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
    EXPECT(SUCCESS, ctx_set_shared_mem_config, CXU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    EXPECT(SUCCESS, ctx_get_shared_mem_config, &config);
    ck_assert_int_eq(config, CXU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    EXPECT(INVALID_VALUE, ctx_set_shared_mem_config, (cxu_shared_config)3);
    EXPECT(INVALID_VALUE, ctx_get_shared_mem_config, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* Q1 */
START_TEST(set_flags_overwrites_the_flags_of_the_current_context)
{
    CUcontext a = create_on(0);
    unsigned int flags = 77;
    EXPECT(SUCCESS, ctx_set_flags, CXU_CTX_SCHED_BLOCKING_SYNC | CXU_CTX_SYNC_MEMOPS);
    EXPECT(INVALID_VALUE, ctx_set_flags, 0x3);
    EXPECT(SUCCESS, ctx_get_flags, &flags);
    ck_assert_uint_eq(flags, CXU_CTX_SCHED_BLOCKING_SYNC | CXU_CTX_SYNC_MEMOPS);
    EXPECT(INVALID_VALUE, ctx_get_flags, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

static Suite *query_suite(void)
{
    Suite *suite = suite_create("query");
    TCase *tests = tcase_create("query");
    tcase_add_checked_fixture(tests, start_gpus, expect_nothing_left);
    tcase_add_loop_test(tests, a_query_with_none_current_is_invalid_context, 0, QUERIES);
    tcase_add_loop_test(tests, a_query_of_a_destroyed_context_says_so, 0, QUERIES);
    tcase_add_loop_test(tests, of_a_reset_primary_only_the_device_is_known, 0, QUERIES);
    tcase_add_test(tests, the_forms_with_a_context_need_none_current);
    tcase_add_test(tests, ids_are_unique_and_null_means_current);
    tcase_add_test(tests, the_api_version_is_3020);
    tcase_add_test(tests, a_limit_is_kept_rounded_or_refused);
    tcase_add_test(tests, a_limit_belongs_to_its_context);
    tcase_add_test(tests, a_limit_that_the_gpu_lacks_is_unsupported);
    tcase_add_test(tests, either_end_of_the_priority_range_may_be_left_out);
    tcase_add_test(tests, a_cache_config_of_4_is_invalid);
    tcase_add_test(tests, the_bank_size_of_shared_memory_is_fixed);
    tcase_add_test(tests, set_flags_overwrites_the_flags_of_the_current_context);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(query_suite);
