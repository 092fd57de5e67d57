/* CTXRT_EMU_FAULT: which calls fail, with what, and what is refused. Each test has a process. */
#include "work_fixture.h"

#include "emu/base/state.h"
#include <ctxrt/status.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static const cx_driver_table *driver;

/* Starts the driver with these faults; two GPUs, and a context on GPU 0, made by calls that count.
 */
static void start(const char *faults)
{
    const cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = 256 * MIB, .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", faults, 1), 0);
    driver = cx_emu_driver();
    ck_assert_ptr_ne(driver, &cx_emu_table);
    ck_assert(cx_emu_configure(&config));
    ck_success(driver->init(0));
    ck_success(driver->ctx_create_v4(&work_context, NULL, 0, 0));
}

static void stop(void)
{
    if (work_context)
        ck_success(cx_emu_call_ctx_destroy(work_context));
    work_context = NULL;
}

START_TEST(without_faults_nothing_is_in_the_way)
{
    unsetenv("CTXRT_EMU_FAULT");
    ck_assert_ptr_eq(cx_emu_driver(), &cx_emu_table);
}
END_TEST

START_TEST(the_nth_call_fails_and_does_nothing)
{
    CUdeviceptr pointer = 77;

    start("cuMemAlloc@2:INVALID_VALUE");
    ck_success(driver->mem_alloc(&pointer, 64));
    ck_success(driver->mem_free(pointer));
    pointer = 77;
    ck_result(driver->mem_alloc(&pointer, 64), INVALID_VALUE);
    ck_assert_uint_eq(pointer, 77);
    ck_success(driver->mem_alloc(&pointer, 64));
    stop();
}
END_TEST

START_TEST(a_plus_means_from_there_on_and_no_number_means_always)
{
    CUstream stream;
    CUevent event;

    start("cuStreamCreate@3+,cuEventCreate");
    for (int call = 1; call <= 6; call++) {
        ck_assert_int_eq(driver->stream_create(&stream, 0),
                         call < 3 ? CXU_SUCCESS : CXU_OUT_OF_MEMORY);
        ck_result(driver->event_create(&event, 0), OUT_OF_MEMORY);
    }
    stop();
}
END_TEST

/* The counter runs from cuInit on: the first of cuCtxGetFlags here is call 3. */
START_TEST(a_star_is_every_nth_call_of_any_function)
{
    unsigned int flags;
    int failed = 0;
    const char *name;

    start("*@5:UNKNOWN"); /* calls 1 and 2 */
    for (int call = 3; call <= 50; call++) {
        cxu_result result = driver->ctx_get_flags(&flags);

        ck_assert_int_eq(result, call % 5 == 0 ? CXU_UNKNOWN : CXU_SUCCESS);
        failed += result != CXU_SUCCESS;
        ck_success(driver->get_error_name(CXU_UNKNOWN, &name)); /* neither fails nor counts */
    }
    ck_assert_int_eq(failed, 10);
    stop();
}
END_TEST

START_TEST(a_name_means_all_its_versions_and_a_symbol_means_one)
{
    CUcontext context;

    start("cuCtxCreate@4,cuCtxDestroy_v2@2:UNKNOWN,cuCtxCreate_v3@1:INVALID_VALUE");
    ck_success(driver->ctx_create_v2(&context, 0, 0));                        /* 2 of any version */
    ck_success(driver->ctx_destroy(context));                                 /* 1 */
    ck_result(driver->ctx_create_v3(&context, NULL, 0, 0, 0), INVALID_VALUE); /* 3, and 1 of v3 */
    ck_result(driver->ctx_create_v2(&context, 0, 0), OUT_OF_MEMORY);          /* 4 */
    ck_success(driver->ctx_create_v3(&context, NULL, 0, 0, 0));
    ck_result(driver->ctx_destroy(context), UNKNOWN); /* 2 */
    ck_success(driver->ctx_destroy(context));
    stop();
}
END_TEST

START_TEST(the_usual_error_suits_the_call)
{
    CUcontext context;
    CUdevice device;
    void *pinned;

    start("cuDevicePrimaryCtxRetain,cuMemHostAlloc,cuDeviceGet,cuLaunchHostFunc");
    ck_result(driver->primary_retain(&context, 0), OUT_OF_MEMORY);
    ck_result(driver->mem_host_alloc(&pinned, 64, 0), OUT_OF_MEMORY);
    ck_result(driver->device_get(&device, 0), UNKNOWN);
    ck_result(driver->launch_host_func(NULL, NULL, NULL), LAUNCH_OUT_OF_RESOURCES);
    stop();
}
END_TEST

START_TEST(cuinit_fails_once_and_then_the_driver_starts)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuInit@1", 1), 0);
    driver = cx_emu_driver();
    ck_result(driver->init(0), NO_DEVICE);
    ck_result(driver->ctx_synchronize(), NOT_INITIALIZED);
    ck_success(driver->init(0));
}
END_TEST

START_TEST(errors_are_named_in_three_ways)
{
    unsigned int flags;
    size_t free_bytes, total;
    cxu_func_cache cache;

    start("cuCtxGetFlags:ILLEGAL_STATE,cuMemGetInfo:CUDA_ERROR_ILLEGAL_STATE,cuCtxGetCacheConfig:"
          "401");
    ck_result(driver->ctx_get_flags(&flags), ILLEGAL_STATE);
    ck_result(driver->mem_get_info(&free_bytes, &total), ILLEGAL_STATE);
    ck_result(driver->ctx_get_cache_config(&cache), ILLEGAL_STATE);
    stop();
}
END_TEST

START_TEST(memory_has_a_limit_below_that_of_the_device)
{
    CUdeviceptr first, second, other;
    size_t free_bytes, total;
    CUcontext context;

    start("memory@64M");
    ck_success(driver->mem_get_info(&free_bytes, &total));
    ck_assert_uint_eq(total, 256 * MIB);
    ck_success(driver->mem_alloc(&first, 48 * MIB));
    ck_result(driver->mem_alloc(&second, 17 * MIB), OUT_OF_MEMORY);
    ck_result(driver->mem_alloc_async(&second, 17 * MIB, NULL), OUT_OF_MEMORY);
    ck_success(driver->mem_alloc(&second, 16 * MIB));
    ck_success(driver->ctx_create_v4(&context, NULL, 0, 1));
    ck_success(driver->mem_alloc(&other, 64 * MIB)); /* each GPU has its own */
    ck_success(driver->ctx_destroy(context));
    ck_success(driver->mem_free(first));
    ck_success(driver->mem_alloc(&first, 48 * MIB));
    stop();
}
END_TEST

static void do_nothing(void *unused)
{
    (void)unused;
}

START_TEST(a_lost_device_refuses_everything_and_the_other_goes_on)
{
    CUcontext on_lost, none = NULL, current;
    CUdeviceptr pointer, here;
    CUdevice device;
    CUstream stream;
    char name[64];

    /* cuInit, cuCtxCreate, cuCtxCreate, cuMemAlloc, cuStreamCreate: the sixth call finds it gone.
     */
    start("device1@6");
    ck_success(driver->ctx_create_v4(&on_lost, NULL, 0, 1));
    ck_success(driver->mem_alloc(&pointer, 64));
    ck_success(driver->stream_create(&stream, 0));
    ck_result(driver->memset_d8(pointer, 1, 64), DEVICE_UNAVAILABLE);
    ck_result(driver->stream_synchronize(stream), DEVICE_UNAVAILABLE);
    ck_result(driver->launch_host_func(stream, do_nothing, NULL), DEVICE_UNAVAILABLE);
    ck_result(driver->mem_free(pointer), DEVICE_UNAVAILABLE);
    ck_result(driver->ctx_synchronize(), DEVICE_UNAVAILABLE);
    ck_result(driver->ctx_create_v4(&none, NULL, 0, 1), DEVICE_UNAVAILABLE);
    ck_result(driver->primary_retain(&none, 1), DEVICE_UNAVAILABLE);
    ck_result(driver->device_get_name(name, sizeof name, 1), DEVICE_UNAVAILABLE);
    ck_assert_ptr_null(none);
    ck_success(driver->ctx_get_device(&device));
    ck_assert_int_eq(device, 1);

    ck_success(driver->ctx_pop(&current));
    ck_assert_ptr_eq(current, on_lost);
    ck_success(driver->mem_alloc(&here, 64));
    ck_success(driver->memset_d8(here, 1, 64));
    ck_success(driver->ctx_synchronize());
    ck_success(driver->device_get_name(name, sizeof name, 0));
    ck_result(driver->memcpy_dtod(here, pointer, 64), DEVICE_UNAVAILABLE);
    ck_success(driver->ctx_synchronize());
    ck_success(driver->ctx_destroy(on_lost));
    stop();
}
END_TEST

START_TEST(a_device_can_be_lost_with_another_error)
{
    CUcontext context;

    start("device0@3:LAUNCH_FAILED");
    ck_result(driver->ctx_synchronize(), LAUNCH_FAILED);
    ck_success(driver->ctx_create_v4(&context, NULL, 0, 1));
    ck_success(driver->ctx_synchronize());
    ck_success(driver->ctx_destroy(context));
    stop();
}
END_TEST

static void count_call(void *inside)
{
    unsigned int flags;

    *(cxu_result *)inside = driver->ctx_get_flags(&flags);
}

START_TEST(calls_before_cuinit_and_inside_callbacks_do_not_count)
{
    cxu_result inside = CXU_SUCCESS;
    unsigned int flags;

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuCtxGetFlags@2:UNKNOWN", 1), 0);
    driver = cx_emu_driver();
    ck_result(driver->ctx_get_flags(&flags), NOT_INITIALIZED);
    start("cuCtxGetFlags@2:UNKNOWN");
    ck_success(driver->ctx_get_flags(&flags));
    ck_success(driver->launch_host_func(NULL, count_call, &inside));
    ck_success(driver->ctx_synchronize());
    ck_assert_int_eq(inside, CXU_NOT_PERMITTED);
    ck_result(driver->ctx_get_flags(&flags), UNKNOWN);
    stop();
}
END_TEST

#define CALLS_OF_EACH 200000

static pthread_barrier_t all_ready;

/* What they saw is asserted after they have ended. */
static void *ask_often(void *failed)
{
    CUcontext current;

    pthread_barrier_wait(&all_ready);
    for (int i = 0; i < CALLS_OF_EACH; i++)
        if (driver->ctx_get_current(&current) != CXU_SUCCESS)
            ++*(int *)failed;
    return NULL;
}

START_TEST(calls_of_all_threads_count_together)
{
    pthread_t threads[8];
    int failed[8] = {0}, sum = 0;

    ck_assert_int_eq(pthread_barrier_init(&all_ready, NULL, 8), 0);
    start("*@7:UNKNOWN"); /* with cuInit and cuCtxCreate before */
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, &failed[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        sum += failed[i];
    }
    ck_assert_int_eq(sum, (2 + 8 * CALLS_OF_EACH) / 7);
    stop();
}
END_TEST

static const char *const malformed[][2] = {
    {"cuMemAloc", "'cuMemAloc' is no call of the driver"},
    {"cuMemAlloc,", "an entry is empty"},
    {",", "an entry is empty"},
    {"cuMemAlloc@", "'' after @ is not the number of a call"},
    {"cuMemAlloc@0", "'0' after @"},
    {"cuMemAlloc@+", "'+' after @"},
    {"cuMemAlloc@two", "'two' after @"},
    {"cuMemAlloc@-1", "'-1' after @"},
    {"cuMemAlloc@1:", "'' is no error of the driver"},
    {"cuMemAlloc:SUCCESS", "'SUCCESS' is no error"},
    {"cuMemAlloc:0", "'0' is no error"},
    {"cuMemAlloc:998", "'998' is no error"},
    {"cuMemAlloc:OUT_OF_LUCK", "'OUT_OF_LUCK' is no error"},
    {"cuMemAlloc:ILLEGAL_ADDRESS:async", "'cuMemAlloc' gives no work"},
    {"*:ILLEGAL_ADDRESS:async", "'*' gives no work"},
    {"cuMemsetD8Async:OUT_OF_MEMORY:async", "work does not fail with 'OUT_OF_MEMORY'"},
    {"cuMemsetD8Async:ILLEGAL_ADDRESS:later", "'later' is not async"},
    {"cuMemsetD8Async:ILLEGAL_ADDRESS:async:1", "'async:1' is not async"},
    {"device@1", "'device' is no device"},
    {"devicex", "'devicex' is no device"},
    {"device1@none", "'none' after @"},
    {"device1:UNKNOWN:async", "a device has no 'async'"},
    {"memory", "memory needs a size"},
    {"memory@much", "memory needs a size"},
    {"memory@1M:OUT_OF_MEMORY", "memory has no error of its own"},
    {"cuMemAlloc@2 ", "'2 ' after @"},
};

START_TEST(malformed_faults_keep_the_driver_from_starting)
{
    cx_emu_config config = {.gpus = 1, .gpu_memory_bytes = 256 * MIB};
    const char *reason = "";

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", malformed[_i][0], 1), 0);
    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_msg(strstr(reason, "CTXRT_EMU_FAULT: ") && strstr(reason, malformed[_i][1]), "%s",
                  reason);
    ck_result(cx_emu_driver()->init(0), INVALID_VALUE);
    ck_result(cx_emu_call_ctx_synchronize(), NOT_INITIALIZED);
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuMemAlloc@9", 1), 0);
    ck_success(cx_emu_driver()->init(0));
}
END_TEST

START_TEST(long_lists_are_refused_whole)
{
    static char list[4096];
    cx_emu_config config;
    const char *reason = "";

    for (int i = 0; i < 32; i++)
        strcat(list, i ? ",cuCtxGetFlags@7" : "cuCtxGetFlags@7");
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", list, 1), 0);
    ck_assert(cx_emu_config_from_environment(&config, &reason));
    strcat(list, ",cuCtxGetFlags@7");
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", list, 1), 0);
    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_ptr_nonnull(strstr(reason, "more than 32"));
    memset(list, 'x', 300);
    list[300] = '\0';
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", list, 1), 0);
    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_ptr_nonnull(strstr(reason, "too long"));
}
END_TEST

static Suite *fault_suite(void)
{
    Suite *suite = suite_create("fault");
    TCase *tcase = tcase_create("fault");

    tcase_add_test(tcase, without_faults_nothing_is_in_the_way);
    tcase_add_test(tcase, the_nth_call_fails_and_does_nothing);
    tcase_add_test(tcase, a_plus_means_from_there_on_and_no_number_means_always);
    tcase_add_test(tcase, a_star_is_every_nth_call_of_any_function);
    tcase_add_test(tcase, a_name_means_all_its_versions_and_a_symbol_means_one);
    tcase_add_test(tcase, the_usual_error_suits_the_call);
    tcase_add_test(tcase, cuinit_fails_once_and_then_the_driver_starts);
    tcase_add_test(tcase, errors_are_named_in_three_ways);
    tcase_add_test(tcase, memory_has_a_limit_below_that_of_the_device);
    tcase_add_test(tcase, a_lost_device_refuses_everything_and_the_other_goes_on);
    tcase_add_test(tcase, a_device_can_be_lost_with_another_error);
    tcase_add_test(tcase, calls_before_cuinit_and_inside_callbacks_do_not_count);
    tcase_add_test(tcase, calls_of_all_threads_count_together);
    tcase_add_loop_test(tcase, malformed_faults_keep_the_driver_from_starting, 0,
                        (int)(sizeof malformed / sizeof malformed[0]));
    tcase_add_test(tcase, long_lists_are_refused_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(fault_suite);
