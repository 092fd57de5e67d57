#include "driver/driver.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static cx_driver driver;
static cxu_result init_result;
static cxu_result call_result;

static cxu_result init(unsigned int flags)
{
    return flags == 0 ? init_result : CXU_INVALID_VALUE;
}

static cxu_result get_version(int *out_version)
{
    *out_version = 12040;
    return CXU_SUCCESS;
}

static cxu_result get_count(int *out_count)
{
    *out_count = 3;
    return CXU_SUCCESS;
}

static cxu_result synchronize(void)
{
    return call_result;
}

/* A table in this process: four calls that answer, and stubs. */
static cx_driver_table small_table(void)
{
    cx_driver_table table = cx_driver_missing;
    table.init = init;
    table.driver_get_version = get_version;
    table.device_get_count = get_count;
    table.ctx_synchronize = synchronize;
    return table;
}

static bool adopt(void)
{
    cx_driver_table table = small_table();
    return cx_driver_adopt("small", &table, &driver);
}

START_TEST(a_table_is_adopted_with_its_version_and_devices)
{
    ck_assert(adopt());
    ck_assert(driver.loaded);
    ck_assert_str_eq(driver.name, "small");
    ck_assert_str_eq(driver.path, "");
    ck_assert_str_eq(driver.reason, "");
    ck_assert_int_eq(driver.version, 12040);
    ck_assert_int_eq(driver.device_count, 3);
    ck_assert_ptr_null(driver.library);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert(!driver.missing[slot]);
}
END_TEST

START_TEST(an_empty_slot_of_an_optional_call_gets_a_stub)
{
    cx_driver_table table = small_table();
    table.ctx_get_id = NULL;
    ck_assert(cx_driver_adopt("small", &table, &driver));
    ck_assert(driver.missing[CX_SLOT_ctx_get_id]);
    ck_assert_int_eq(driver.table.ctx_get_id(NULL, NULL), CXU_NOT_SUPPORTED);
}
END_TEST

START_TEST(an_empty_slot_of_a_required_call_is_refused_by_name)
{
    cx_driver_table table = small_table();
    table.ctx_pop = NULL;
    ck_assert(!cx_driver_adopt("small", &table, &driver));
    ck_assert_str_eq(driver.reason, "small does not have the call cuCtxPopCurrent_v2");
    ck_assert_int_eq(driver.table.init(0), CXU_NOT_SUPPORTED);
}
END_TEST

START_TEST(a_table_whose_init_fails_is_not_loaded)
{
    init_result = CXU_OUT_OF_MEMORY;
    ck_assert(!adopt());
    ck_assert_ptr_nonnull(strstr(driver.reason, "cuInit failed: CUDA_ERROR_OUT_OF_MEMORY, 2 ("));
    ck_assert_int_eq(driver.table.init(0), CXU_NOT_SUPPORTED);
}
END_TEST

START_TEST(each_result_maps_to_its_status)
{
    ck_assert_int_eq(cx_driver_status(CXU_SUCCESS), CTXRT_SUCCESS);
    ck_assert_int_eq(cx_driver_status(CXU_OUT_OF_MEMORY), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(cx_driver_status(CXU_NOT_SUPPORTED), CTXRT_ERROR_NOT_SUPPORTED);
    ck_assert_int_eq(cx_driver_status(CXU_NOT_READY), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(cx_driver_status(CXU_INVALID_DEVICE), CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_int_eq(cx_driver_status(CXU_CONTEXT_IS_DESTROYED), CTXRT_ERROR_CONTEXT_DESTROYED);
    ck_assert_int_eq(cx_driver_status(CXU_NOT_PERMITTED), CTXRT_ERROR_NOT_PERMITTED);
    ck_assert_int_eq(cx_driver_status(CXU_DEINITIALIZED), CTXRT_ERROR_SHUTDOWN);
    ck_assert_int_eq(cx_driver_status(CXU_INVALID_VALUE), CTXRT_ERROR_DRIVER);
    ck_assert_int_eq(cx_driver_status((cxu_result)54321), CTXRT_ERROR_DRIVER);
}
END_TEST

static void ck_says(const char *text)
{
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_synchronize, ()), CTXRT_ERROR_DRIVER);
    ck_assert_msg(strstr(ctxrt_last_error()->message, text) != NULL, "'%s' is not in: %s", text,
                  ctxrt_last_error()->message);
}

START_TEST(an_error_that_sticks_is_told_with_the_call_that_met_it_first)
{
    char first[96];
    ck_assert(adopt());
    snprintf(first, sizeof first, "and cuMemAlloc_v2 of thread %d was told first",
             (int)syscall(SYS_gettid));
    (void)cx_driver_error(&driver, CX_SLOT_mem_alloc, CXU_ILLEGAL_ADDRESS);
    call_result = CXU_ILLEGAL_ADDRESS;
    ck_says(first);
    call_result = CXU_LAUNCH_FAILED;
    ck_says("after cuMemAlloc_v2 failed with error 700 in thread ");
    cx_driver_forget_errors();
    ck_says("earlier work failed with it; calls return it from now on");
}
END_TEST

static bool explain_nothing(cxu_result result, char *text, size_t size)
{
    (void)result, (void)text, (void)size;
    return false;
}

START_TEST(a_driver_that_explains_errors_itself_is_not_spoken_for)
{
    ck_assert(adopt());
    driver.explain = explain_nothing;
    call_result = CXU_ILLEGAL_ADDRESS;
    ck_says("CUDA_ERROR_ILLEGAL_ADDRESS");
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "; "));
}
END_TEST

START_TEST(a_failed_call_is_recorded_with_call_result_name_and_text)
{
    ck_assert(adopt());
    call_result = CXU_OUT_OF_MEMORY;
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_synchronize, ()), CTXRT_ERROR_OUT_OF_MEMORY);
    const ctxrt_error *error = ctxrt_last_error();
    ck_assert_int_eq(error->status, CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(error->driver_result, 2);
    ck_assert_str_eq(error->driver_result_name, "CUDA_ERROR_OUT_OF_MEMORY");
    ck_assert_str_eq(error->driver_call, "cuCtxSynchronize");
    ck_assert_str_eq(error->message, "cuCtxSynchronize failed: CUDA_ERROR_OUT_OF_MEMORY, 2 "
                                     "(out of memory)");
}
END_TEST

START_TEST(a_result_that_nobody_knows_is_recorded_by_number)
{
    ck_assert(adopt());
    call_result = (cxu_result)54321;
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_synchronize, ()), CTXRT_ERROR_DRIVER);
    ck_assert_int_eq(ctxrt_last_error()->driver_result, 54321);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "54321"));
}
END_TEST

START_TEST(a_call_that_succeeds_records_nothing)
{
    ck_assert(adopt());
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_synchronize, ()), CTXRT_SUCCESS);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
}
END_TEST

static Suite *driver_suite(void)
{
    Suite *suite = suite_create("driver");
    TCase *tests = tcase_create("driver");
    tcase_add_test(tests, a_table_is_adopted_with_its_version_and_devices);
    tcase_add_test(tests, an_empty_slot_of_an_optional_call_gets_a_stub);
    tcase_add_test(tests, an_empty_slot_of_a_required_call_is_refused_by_name);
    tcase_add_test(tests, a_table_whose_init_fails_is_not_loaded);
    tcase_add_test(tests, each_result_maps_to_its_status);
    tcase_add_test(tests, an_error_that_sticks_is_told_with_the_call_that_met_it_first);
    tcase_add_test(tests, a_driver_that_explains_errors_itself_is_not_spoken_for);
    tcase_add_test(tests, a_failed_call_is_recorded_with_call_result_name_and_text);
    tcase_add_test(tests, a_result_that_nobody_knows_is_recorded_by_number);
    tcase_add_test(tests, a_call_that_succeeds_records_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(driver_suite);
