/* CTXRT_EMU_CONTEXT_BYTES: the device memory that a context takes. The scenarios
 * contexts/take_memory and primary/takes_memory have what a program sees. */
#include "gpus.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define SHARE (6 * MIB)

static void start(bool host_device)
{
    cx_emu_config config = {.host_device = host_device,
                            .gpus = 2,
                            .gpu_memory_bytes = 16 * MIB,
                            .driver_version = CX_EMU_DRIVER_VERSION,
                            .context_bytes = SHARE};
    unsetenv("CUDA_VISIBLE_DEVICES");
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, init, 0);
}

static void setup(void)
{
    start(false);
}

static size_t used_on(CUdevice ordinal)
{
    cx_lock_enter(&cx_emu_lock);
    size_t bytes = cx_emu_device_find(ordinal)->used_bytes;
    cx_lock_leave(&cx_emu_lock);
    return bytes;
}

START_TEST(each_gpu_pays_for_its_own_contexts)
{
    CUcontext first = create_on(0), second = create_on(0), other = create_on(1);
    ck_assert_uint_eq(used_on(0), 2 * SHARE);
    ck_assert_uint_eq(used_on(1), SHARE);
    EXPECT(SUCCESS, ctx_destroy, other);
    ck_assert_uint_eq(used_on(1), 0);
    EXPECT(SUCCESS, ctx_destroy, second);
    ck_assert_uint_eq(used_on(0), SHARE);
    EXPECT(SUCCESS, ctx_destroy, first);
    ck_assert_uint_eq(used_on(0), 0);
}
END_TEST

START_TEST(a_context_that_does_not_fit_says_why)
{
    char text[400] = "";
    CUcontext context = NULL, first = create_on(0), second = create_on(0);
    EXPECT(OUT_OF_MEMORY, ctx_create_v2, &context, 0, 0);
    ck_assert_ptr_null(context);
    ck_assert(cx_emu_explain(CXU_OUT_OF_MEMORY, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "CTXRT_EMU_CONTEXT_BYTES"));
    EXPECT(OUT_OF_MEMORY, primary_retain, &context, 0);
    ck_assert_ptr_null(context);
    ck_assert_uint_eq(used_on(0), 2 * SHARE);
    EXPECT(SUCCESS, ctx_destroy, second);
    EXPECT(SUCCESS, ctx_destroy, first);
}
END_TEST

START_TEST(memory_that_a_pool_keeps_is_given_up_for_a_context)
{
    CUmemoryPool pool;
    uint64_t all = UINT64_MAX;
    CUdeviceptr pointer;
    CUcontext first = create_on(0);
    EXPECT(SUCCESS, device_get_default_mem_pool, &pool, 0);
    EXPECT(SUCCESS, mem_pool_set_attribute, pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
    EXPECT(SUCCESS, mem_alloc_async, &pointer, 8 * MIB, NULL);
    EXPECT(SUCCESS, mem_free_async, pointer, NULL);
    EXPECT(SUCCESS, stream_synchronize, NULL);
    CUcontext second = create_on(0);
    EXPECT(SUCCESS, ctx_destroy, second);
    EXPECT(SUCCESS, ctx_destroy, first);
}
END_TEST

START_TEST(a_green_context_shares_its_primary_context)
{
    cxu_dev_resource all;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    EXPECT(SUCCESS, device_get_dev_resource, 0, &all, CXU_DEV_RESOURCE_TYPE_SM);
    EXPECT(SUCCESS, dev_resource_generate_desc, &desc, &all, 1);
    EXPECT(SUCCESS, green_ctx_create, &green, desc, 0, CXU_GREEN_CTX_DEFAULT_STREAM);
    ck_assert_uint_eq(used_on(0), SHARE);
    EXPECT(SUCCESS, green_ctx_destroy, green);
    ck_assert_uint_eq(used_on(0), 0);
}
END_TEST

START_TEST(the_host_device_costs_nothing)
{
    start(true);
    CUcontext on_host = create_on(0), on_gpu = create_on(1);
    ck_assert_uint_eq(used_on(0), 0);
    ck_assert_uint_eq(used_on(1), SHARE);
    EXPECT(SUCCESS, ctx_destroy, on_gpu);
    EXPECT(SUCCESS, ctx_destroy, on_host);
}
END_TEST

START_TEST(the_environment_says_how_much)
{
    setenv("CTXRT_EMU_CONTEXT_BYTES", _i == 0 ? "300M" : "0", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT(SUCCESS, init, 0);
    CUcontext context = create_on(0);
    ck_assert_uint_eq(used_on(0), _i == 0 ? 300 * MIB : 0);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static Suite *context_bytes_suite(void)
{
    Suite *suite = suite_create("context_bytes");
    TCase *tests = tcase_create("shares");
    tcase_add_checked_fixture(tests, setup, expect_nothing_left);
    tcase_add_test(tests, each_gpu_pays_for_its_own_contexts);
    tcase_add_test(tests, a_context_that_does_not_fit_says_why);
    tcase_add_test(tests, memory_that_a_pool_keeps_is_given_up_for_a_context);
    tcase_add_test(tests, a_green_context_shares_its_primary_context);
    tcase_add_test(tests, the_host_device_costs_nothing);
    suite_add_tcase(suite, tests);
    TCase *environment = tcase_create("environment");
    tcase_add_checked_fixture(environment, NULL, expect_nothing_left);
    tcase_add_loop_test(environment, the_environment_says_how_much, 0, 2);
    suite_add_tcase(suite, environment);
    return suite;
}

CX_TESTS(context_bytes_suite);
