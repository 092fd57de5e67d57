/* A client that opens libcuda.so.1 and finds its calls there, in both export sets. */
#include "driver/driver.h"
#include "test.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cxu_result (*proc_address_v1)(const char *name, void **out_function, int version,
                                      uint64_t flags);
typedef cxu_result (*proc_address_v2)(const char *name, void **out_function, int version,
                                      uint64_t flags, int *out_status);

enum { LEGACY = 1, PER_THREAD = 2 };
enum { FOUND = 0, SYMBOL_NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 };

static const struct {
    const char *name;
    int version;
} sets[] = {{"cuda-12", 12090}, {"cuda-13", 13000}};

static void *library;
static int version;
static proc_address_v1 ask_v1;
static proc_address_v2 ask;

static const char *path_of(int set)
{
    static char path[512];
    const char *top = getenv("top_builddir");
    snprintf(path, sizeof path, "%s/lib/shim/%s/.libs/libcuda.so.1", top != NULL ? top : ".",
             sets[set].name);
    return path;
}

/* Each test runs once for each set. */
static void open_set(int set)
{
    library = dlopen(path_of(set), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    version = sets[set].version;
    *(void **)&ask_v1 = dlsym(library, "cuGetProcAddress");
    *(void **)&ask = dlsym(library, "cuGetProcAddress_v2");
    ck_assert(ask_v1 != NULL && ask != NULL);
}

static void assert_found(const char *name, int asked, uint64_t flags, const char *symbol)
{
    void *function = NULL;
    int status = -1;
    ck_assert_int_eq(ask(name, &function, asked, flags, &status), CXU_SUCCESS);
    ck_assert_int_eq(status, FOUND);
    ck_assert_msg(function != NULL && function == dlsym(library, symbol), "%s of %d is not %s",
                  name, asked, symbol);
}

START_TEST(every_row_is_given_at_its_own_version)
{
    open_set(_i);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        if (cx_symbols[slot].since <= version)
            assert_found(cx_symbols[slot].name, cx_symbols[slot].since, LEGACY,
                         cx_symbols[slot].symbol);
}
END_TEST

START_TEST(the_newest_abi_not_newer_than_asked_is_given)
{
    open_set(_i);
    assert_found("cuCtxCreate", 3020, LEGACY, "cuCtxCreate_v2");
    assert_found("cuCtxCreate", 11030, LEGACY, "cuCtxCreate_v2");
    assert_found("cuCtxCreate", 11040, LEGACY, "cuCtxCreate_v3");
    assert_found("cuCtxCreate", version, LEGACY, "cuCtxCreate_v4");
    assert_found("cuMemAlloc", 2000, LEGACY, "cuMemAlloc");
    assert_found("cuMemAlloc", 12000, LEGACY, "cuMemAlloc_v2");
    assert_found("cuGetProcAddress", 11080, LEGACY, "cuGetProcAddress");
    assert_found("cuGetProcAddress", 12000, LEGACY, "cuGetProcAddress_v2");
    assert_found("cuModuleLoadData", 12000, LEGACY, "cuModuleLoadData");
}
END_TEST

START_TEST(the_flag_chooses_the_default_stream)
{
    open_set(_i);
    assert_found("cuMemcpyHtoD", 12000, 0, "cuMemcpyHtoD_v2");
    assert_found("cuMemcpyHtoD", 12000, LEGACY, "cuMemcpyHtoD_v2");
    assert_found("cuMemcpyHtoD", 12000, PER_THREAD, "cuMemcpyHtoD_v2_ptds");
    assert_found("cuMemcpyHtoD", 6000, PER_THREAD, "cuMemcpyHtoD_v2");
    assert_found("cuStreamSynchronize", 12000, PER_THREAD, "cuStreamSynchronize_ptsz");
    assert_found("cuStreamBeginCapture", 10000, PER_THREAD, "cuStreamBeginCapture_ptsz");
    assert_found("cuStreamBeginCapture", 12000, PER_THREAD, "cuStreamBeginCapture_v2_ptsz");
    assert_found("cuCtxPushCurrent", 12000, PER_THREAD, "cuCtxPushCurrent_v2");
}
END_TEST

START_TEST(a_name_that_is_not_there_is_told_by_the_status)
{
    open_set(_i);
    int status = -1;
    void *function = &status;
    ck_assert_int_eq(ask("cuNoSuchCall", &function, version, LEGACY, &status), CXU_SUCCESS);
    ck_assert_int_eq(status, SYMBOL_NOT_FOUND);
    ck_assert_ptr_null(function);
    function = &status;
    ck_assert_int_eq(ask("cuMemAllocAsync", &function, 11010, LEGACY, &status), CXU_SUCCESS);
    ck_assert_int_eq(status, VERSION_NOT_SUFFICIENT);
    ck_assert_ptr_null(function);
    ck_assert_int_eq(ask("cuMemAllocAsync", &function, 11020, LEGACY, NULL), CXU_SUCCESS);
    ck_assert_ptr_nonnull(function);
}
END_TEST

START_TEST(the_first_form_without_a_status_fails_instead)
{
    open_set(_i);
    void *function = NULL;
    ck_assert_int_eq(ask_v1("cuMemAlloc", &function, 11030, LEGACY), CXU_SUCCESS);
    ck_assert_ptr_eq(function, dlsym(library, "cuMemAlloc_v2"));
    ck_assert_int_eq(ask_v1("cuNoSuchCall", &function, 11030, LEGACY), CXU_NOT_FOUND);
    ck_assert_ptr_null(function);
}
END_TEST

START_TEST(a_wrong_question_is_an_invalid_value)
{
    open_set(_i);
    int status = -1;
    void *function = &status;
    ck_assert_int_eq(ask(NULL, &function, version, LEGACY, &status), CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", NULL, version, LEGACY, &status), CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", &function, version + 10, LEGACY, &status), CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", &function, version, LEGACY | PER_THREAD, &status),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", &function, version, 4, &status), CXU_INVALID_VALUE);
    ck_assert_ptr_eq(function, &status);
    ck_assert_int_eq(status, -1);
}
END_TEST

START_TEST(cuda_12_has_no_name_of_cuda_13)
{
    bool newer = sets[_i].version >= 13000;
    open_set(_i);
    ck_assert_int_eq(dlsym(library, "cuCtxGetDevice_v2") != NULL, newer);
    ck_assert_int_eq(dlsym(library, "cuCtxSynchronize_v2") != NULL, newer);
    assert_found("cuCtxGetDevice", version, LEGACY, newer ? "cuCtxGetDevice_v2" : "cuCtxGetDevice");
    assert_found("cuCtxGetDevice", 12000, LEGACY, "cuCtxGetDevice");
}
END_TEST

START_TEST(nothing_of_ours_is_exported)
{
    open_set(_i);
    ck_assert_ptr_null(dlsym(library, "cx_emu_table"));
    ck_assert_ptr_null(dlsym(library, "cx_shim_driver"));
    ck_assert_ptr_null(dlsym(library, "ctxrt_last_error"));
}
END_TEST

START_TEST(our_own_loader_takes_the_stand_in_for_a_driver)
{
    static cx_driver driver;
    ck_assert_msg(cx_driver_load(path_of(_i), &driver), "%s", driver.reason);
    ck_assert_int_eq(driver.version, sets[_i].version);
    ck_assert_int_eq(driver.device_count, 4);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert_msg(driver.missing[slot] == (cx_symbols[slot].since > sets[_i].version), "%s",
                      cx_symbols[slot].symbol);

    CUcontext context, popped;
    CUdevice device;
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, primary_retain, (&context, 3)), CTXRT_SUCCESS);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_push, (context)), CTXRT_SUCCESS);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_get_device, (&device)), CTXRT_SUCCESS);
    ck_assert_int_eq(device, 3);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_pop, (&popped)), CTXRT_SUCCESS);
    ck_assert_ptr_eq(popped, context);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, primary_release, (3)), CTXRT_SUCCESS);
}
END_TEST

static Suite *address_suite(void)
{
    Suite *suite = suite_create("address");
    TCase *tests = tcase_create("address");
    tcase_add_loop_test(tests, every_row_is_given_at_its_own_version, 0, 2);
    tcase_add_loop_test(tests, the_newest_abi_not_newer_than_asked_is_given, 0, 2);
    tcase_add_loop_test(tests, the_flag_chooses_the_default_stream, 0, 2);
    tcase_add_loop_test(tests, a_name_that_is_not_there_is_told_by_the_status, 0, 2);
    tcase_add_loop_test(tests, the_first_form_without_a_status_fails_instead, 0, 2);
    tcase_add_loop_test(tests, a_wrong_question_is_an_invalid_value, 0, 2);
    tcase_add_loop_test(tests, cuda_12_has_no_name_of_cuda_13, 0, 2);
    tcase_add_loop_test(tests, nothing_of_ours_is_exported, 0, 2);
    tcase_add_loop_test(tests, our_own_loader_takes_the_stand_in_for_a_driver, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return cx_test_run((Suite *(*const[])(void)){address_suite, NULL});
}
