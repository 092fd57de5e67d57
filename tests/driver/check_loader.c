#include "driver/driver.h"
#include "fake.h"
#include "test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cx_driver driver;

static const char *built(const char *file)
{
    static char path[512];
    const char *top = getenv("top_builddir");
    snprintf(path, sizeof path, "%s/tests/driver/.libs/%s", top != NULL ? top : ".", file);
    return path;
}

static const char *fake_path(const char *kind)
{
    char file[64];
    snprintf(file, sizeof file, "fake_%s.so", kind);
    return built(file);
}

/* Once it is in the process, whoever opens the name libcuda.so.1 gets it. */
static void put_in_a_libcuda(void)
{
    ck_assert_ptr_nonnull(dlopen(built("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL));
}

static bool load(const char *kind)
{
    return cx_driver_load(fake_path(kind), &driver);
}

#define ck_assert_contains(text, part) \
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in \"%s\"", part, text)

/* Calls a slot of no or of harmless arguments, and says how its function was found. */
static int found(cxu_result result)
{
    return (int)result / BY_SYMBOL * BY_SYMBOL;
}

static void assert_nothing_works(void)
{
    int version = -1;
    ck_assert(!driver.loaded);
    ck_assert_int_eq(driver.device_count, 0);
    ck_assert(memcmp(&driver.table, &cx_driver_missing, sizeof driver.table) == 0);
    ck_assert_int_eq(driver.table.init(0), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(driver.table.ctx_push(NULL), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(driver.table.driver_get_version(&version), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(version, -1);
}

START_TEST(a_file_that_is_not_there_is_told_in_the_linkers_words)
{
    ck_assert(!cx_driver_load("/nonexistent/libcuda.so.1", &driver));
    ck_assert_contains(driver.reason, "/nonexistent/libcuda.so.1");
    ck_assert_contains(driver.reason, "No such file or directory");
    ck_assert_ptr_null(driver.library);
    ck_assert_str_eq(driver.path, "");
    assert_nothing_works();
}
END_TEST

START_TEST(a_file_that_is_no_library_is_told_in_the_linkers_words)
{
    const char *top = getenv("top_srcdir");
    char path[512];
    snprintf(path, sizeof path, "%s/lib/driver/symbols.def", top != NULL ? top : ".");
    ck_assert(!cx_driver_load(path, &driver));
    ck_assert_contains(driver.reason, "symbols.def");
    ck_assert_contains(driver.reason, "ELF");
    assert_nothing_works();
}
END_TEST

START_TEST(a_failed_load_never_falls_back_to_another_driver)
{
    put_in_a_libcuda();
    ck_assert(!cx_driver_load("/nonexistent/libcuda.so.1", &driver));
    assert_nothing_works();
}
END_TEST

START_TEST(without_a_path_the_versioned_name_is_opened)
{
    put_in_a_libcuda();
    ck_assert(cx_driver_load(NULL, &driver));
    ck_assert_contains(driver.path, "tests/driver/.libs/libcuda.so.1");
}
END_TEST

START_TEST(a_whole_driver_is_loaded_through_get_proc_address)
{
    ck_assert_msg(load("whole"), "%s", driver.reason);
    ck_assert(driver.loaded);
    ck_assert_str_eq(driver.name, "libcuda");
    ck_assert_str_eq(driver.reason, "");
    ck_assert_int_eq(driver.version, 13000);
    ck_assert_int_eq(driver.device_count, 2);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert_msg(!driver.missing[slot], "%s", cx_symbols[slot].symbol);
    ck_assert_int_eq(driver.table.ctx_synchronize(), BY_NAME + CX_SLOT_ctx_synchronize);
    ck_assert_int_eq(driver.table.ctx_push(NULL), BY_NAME + CX_SLOT_ctx_push);
    ck_assert_int_eq(driver.table.event_elapsed_time(NULL, NULL, NULL),
                     BY_NAME + CX_SLOT_event_elapsed_time);
}
END_TEST

START_TEST(an_older_abi_stays_what_it_is_beside_a_newer_one)
{
    ck_assert(load("whole"));
    ck_assert_int_eq(driver.table.ctx_get_device(NULL), BY_NAME + CX_SLOT_ctx_get_device);
    ck_assert_int_eq(driver.table.ctx_get_device_v2(NULL, NULL),
                     BY_NAME + CX_SLOT_ctx_get_device_v2);
    ck_assert_int_eq(driver.table.ctx_create_v2(NULL, 0, 0), BY_NAME + CX_SLOT_ctx_create_v2);
    ck_assert_int_eq(driver.table.ctx_create_v3(NULL, NULL, 0, 0, 0),
                     BY_NAME + CX_SLOT_ctx_create_v3);
    ck_assert_int_eq(driver.table.ctx_create_v4(NULL, NULL, 0, 0), BY_NAME + CX_SLOT_ctx_create_v4);
    ck_assert_int_eq(driver.table.device_get_uuid(NULL, 0), BY_NAME + CX_SLOT_device_get_uuid);
}
END_TEST

START_TEST(a_newer_abi_is_not_replaced_by_an_older_one_of_the_same_name)
{
    ck_assert(load("cuda12"));
    ck_assert_int_eq(driver.version, 12060);
    ck_assert_int_eq(driver.table.ctx_get_device(NULL), BY_NAME + CX_SLOT_ctx_get_device);
    ck_assert(driver.missing[CX_SLOT_ctx_get_device_v2]);
    ck_assert_int_eq(driver.table.ctx_get_device_v2(NULL, NULL), CXU_NOT_SUPPORTED);
    ck_assert(driver.missing[CX_SLOT_ctx_synchronize_v2]);
    ck_assert(driver.missing[CX_SLOT_event_elapsed_time_v2]);
    ck_assert(!driver.missing[CX_SLOT_ctx_create_v4]);
}
END_TEST

START_TEST(a_driver_with_the_first_get_proc_address_only_is_asked_through_it)
{
    ck_assert_msg(load("proc1"), "%s", driver.reason);
    ck_assert_int_eq(driver.table.ctx_push(NULL), BY_NAME + CX_SLOT_ctx_push);
    ck_assert(driver.missing[CX_SLOT_ctx_get_device_v2]);
}
END_TEST

START_TEST(an_old_driver_without_get_proc_address_is_resolved_by_symbol)
{
    ck_assert_msg(load("old"), "%s", driver.reason);
    ck_assert_int_eq(driver.version, 11000);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert_msg(driver.missing[slot] == (cx_symbols[slot].since > 11000), "%s",
                      cx_symbols[slot].symbol);
    ck_assert_int_eq(driver.table.ctx_push(NULL), BY_SYMBOL + CX_SLOT_ctx_push);
    ck_assert_int_eq(driver.table.ctx_create_v2(NULL, 0, 0), BY_SYMBOL + CX_SLOT_ctx_create_v2);
    ck_assert_int_eq(driver.table.ctx_get_id(NULL, NULL), CXU_NOT_SUPPORTED);
}
END_TEST

START_TEST(success_with_no_address_counts_as_not_found)
{
    ck_assert_msg(load("null"), "%s", driver.reason);
    ck_assert_int_eq(found(driver.table.ctx_synchronize()), BY_SYMBOL);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert_ptr_nonnull(*(void **)((char *)&driver.table + (size_t)slot * sizeof(void *)));
}
END_TEST

START_TEST(a_required_call_that_is_missing_is_named)
{
    ck_assert(!load("no_push"));
    ck_assert_contains(driver.reason, "cuCtxPushCurrent_v2");
    ck_assert_contains(driver.reason, "fake_no_push.so");
    ck_assert_int_eq(driver.version, 13000);
    ck_assert(driver.missing[CX_SLOT_ctx_push]);
    assert_nothing_works();
}
END_TEST

START_TEST(a_library_that_is_no_driver_lacks_cuInit)
{
    ck_assert(!cx_driver_load("libc.so.6", &driver));
    ck_assert_contains(driver.reason, "cuInit");
    ck_assert_contains(driver.path, "/libc.so.6");
    ck_assert_int_eq(driver.version, 0);
    assert_nothing_works();
}
END_TEST

START_TEST(an_optional_call_that_is_missing_returns_not_supported)
{
    ck_assert_msg(load("no_id"), "%s", driver.reason);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert_int_eq(driver.missing[slot], slot == CX_SLOT_ctx_get_id);

    unsigned long long id = 7;
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_get_id, (NULL, &id)), CTXRT_ERROR_NOT_SUPPORTED);
    ck_assert_int_eq(id, 7);
    const ctxrt_error *error = ctxrt_last_error();
    ck_assert_str_eq(error->driver_call, "cuCtxGetId");
    ck_assert_str_eq(error->driver_result_name, "CUDA_ERROR_NOT_SUPPORTED");
    ck_assert_contains(error->message, "cuCtxGetId is not in the driver libcuda (CUDA 13.0)");
}
END_TEST

START_TEST(a_failing_init_is_told_by_name_number_and_text)
{
    ck_assert(!load("init_fails"));
    ck_assert_contains(driver.reason, "cuInit failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803 (");
    ck_assert_int_eq(driver.version, 13000);
    ck_assert_contains(driver.path, "fake_init_fails.so");
    assert_nothing_works();

    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_synchronize, ()), CTXRT_ERROR_NOT_SUPPORTED);
    ck_assert_contains(ctxrt_last_error()->message, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
}
END_TEST

START_TEST(a_result_that_only_the_driver_knows_is_told_in_its_words)
{
    ck_assert(!load("init_new"));
    ck_assert_contains(driver.reason,
                       "cuInit failed: CUDA_ERROR_OF_TOMORROW, 77777 (something new)");
}
END_TEST

START_TEST(a_driver_without_devices_is_not_loaded)
{
    ck_assert(!load("no_device"));
    ck_assert_contains(driver.reason, "CUDA_ERROR_NO_DEVICE, 100");
    assert_nothing_works();
}
END_TEST

START_TEST(a_driver_that_counts_no_devices_is_loaded_with_none)
{
    ck_assert_msg(load("empty"), "%s", driver.reason);
    ck_assert_int_eq(driver.device_count, 0);
}
END_TEST

START_TEST(the_path_is_what_the_dynamic_linker_names)
{
    char folder[] = "/tmp/ctxrt-loader-XXXXXX";
    char path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    ck_assert_int_eq(symlink(fake_path("whole"), path), 0);
    bool loaded = cx_driver_load(path, &driver);
    unlink(path);
    rmdir(folder);
    ck_assert(loaded);
    ck_assert_str_eq(driver.path, path);
}
END_TEST

/* Calls of before CUDA 7.0 have had their variants since then: who asks by the version of the call
 * itself gets none. */
START_TEST(every_call_of_a_stream_has_a_variant_for_the_threads_stream)
{
    static cx_driver_table mine;
    char path[512];
    const char *top = getenv("top_builddir");
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", top != NULL ? top : ".");
    ck_assert_msg(cx_driver_load(path, &driver), "%s", driver.reason);
    cx_driver_fill_per_thread(&driver, &mine);
#define NONE true
#define PTDS false
#define PTSZ false
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    ck_assert_msg((mine.slot == driver.table.slot) == (stream), #name);
#include "driver/symbols.def"
#undef NONE
#undef PTDS
#undef PTSZ
}
END_TEST

static Suite *loader_suite(void)
{
    Suite *suite = suite_create("loader");
    TCase *tests = tcase_create("loader");
    tcase_add_test(tests, a_file_that_is_not_there_is_told_in_the_linkers_words);
    tcase_add_test(tests, a_file_that_is_no_library_is_told_in_the_linkers_words);
    tcase_add_test(tests, a_failed_load_never_falls_back_to_another_driver);
    tcase_add_test(tests, without_a_path_the_versioned_name_is_opened);
    tcase_add_test(tests, a_whole_driver_is_loaded_through_get_proc_address);
    tcase_add_test(tests, an_older_abi_stays_what_it_is_beside_a_newer_one);
    tcase_add_test(tests, a_newer_abi_is_not_replaced_by_an_older_one_of_the_same_name);
    tcase_add_test(tests, a_driver_with_the_first_get_proc_address_only_is_asked_through_it);
    tcase_add_test(tests, an_old_driver_without_get_proc_address_is_resolved_by_symbol);
    tcase_add_test(tests, success_with_no_address_counts_as_not_found);
    tcase_add_test(tests, a_required_call_that_is_missing_is_named);
    tcase_add_test(tests, a_library_that_is_no_driver_lacks_cuInit);
    tcase_add_test(tests, an_optional_call_that_is_missing_returns_not_supported);
    tcase_add_test(tests, a_failing_init_is_told_by_name_number_and_text);
    tcase_add_test(tests, a_result_that_only_the_driver_knows_is_told_in_its_words);
    tcase_add_test(tests, a_driver_without_devices_is_not_loaded);
    tcase_add_test(tests, a_driver_that_counts_no_devices_is_loaded_with_none);
    tcase_add_test(tests, the_path_is_what_the_dynamic_linker_names);
    tcase_add_test(tests, every_call_of_a_stream_has_a_variant_for_the_threads_stream);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(loader_suite);
