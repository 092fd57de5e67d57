/* The InfiniRT interface beside code that calls the driver itself: libcuda.so.1, for which the
 * stand-in stands. */
#include "infini.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The other code's own view of the driver. */
typedef struct CUctx_st *context_handle;
static struct {
    void *library;
    int (*primary_retain)(context_handle *out_context, int device);
    int (*primary_release)(int device);
    int (*set_current)(context_handle context);
    int (*get_current)(context_handle *out_context);
    int (*stream_query)(struct CUstream_st *stream);
    int (*fill_async)(unsigned long long pointer, unsigned char value, size_t bytes,
                      struct CUstream_st *stream);
    int (*alloc)(unsigned long long *out_pointer, size_t bytes);
    int (*free)(unsigned long long pointer);
} driver;

static void find(void *slot, const char *name)
{
    void *function = dlsym(driver.library, name);
    ck_assert_msg(function != NULL, "the driver has no %s", name);
    *(void **)slot = function;
}

static void start(void)
{
    char path[4096];
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.libcuda = path;
    cx_assert_ok(ctxrt_init(&options));
    driver.library = dlopen(path, RTLD_NOW);
    ck_assert_ptr_nonnull(driver.library);
    find(&driver.primary_retain, "cuDevicePrimaryCtxRetain");
    find(&driver.primary_release, "cuDevicePrimaryCtxRelease_v2");
    find(&driver.set_current, "cuCtxSetCurrent");
    find(&driver.get_current, "cuCtxGetCurrent");
    find(&driver.stream_query, "cuStreamQuery");
    find(&driver.fill_async, "cuMemsetD8Async");
    find(&driver.alloc, "cuMemAlloc_v2");
    find(&driver.free, "cuMemFree_v2");
}

static void end(void)
{
    infini_end();
    dlclose(driver.library);
}

START_TEST(what_other_code_makes_current_is_the_device)
{
    context_handle first, second, current;
    ctxrt_pointer_info info;
    ck_assert_int_eq(driver.primary_retain(&first, 0), 0);
    ck_assert_int_eq(driver.primary_retain(&second, 1), 0);
    ck_assert_int_eq(driver.set_current(second), 0);
    infini_assert_device(INFINI_DEVICE_NVIDIA, 1);
    void *memory = infini_memory(64);
    cx_assert_ok(ctxrt_pointer_query(memory, &info));
    ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CUDA);
    ck_assert_int_eq(info.device.index, 1);
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    ck_assert_int_eq(driver.get_current(&current), 0);
    ck_assert_ptr_eq(current, first);
    infini_assert_ok(infinirtFree(memory));
    while (ctxrt_stack_depth() != 0 && ctxrt_stack_pop() == CTXRT_SUCCESS)
        continue;
    ck_assert_int_eq(driver.set_current(NULL), 0);
    infini_assert_device(INFINI_DEVICE_CPU, 0);
    ck_assert_int_eq(driver.primary_release(0), 0);
    ck_assert_int_eq(driver.primary_release(1), 0);
}
END_TEST

START_TEST(other_code_submits_work_to_a_stream)
{
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    ck_assert_int_eq(driver.fill_async((uintptr_t)memory, 5, 64, stream), 0);
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(driver.stream_query(stream), 0);
    ck_assert_int_eq(infini_byte(memory), 5);
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

START_TEST(memory_of_other_code_is_copied_but_not_freed)
{
    unsigned long long pointer;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    ck_assert_int_eq(driver.alloc(&pointer, 64), 0);
    void *memory = (void *)(uintptr_t)pointer;
    infini_assert_ok(infinirtMemset(memory, 4, 64));
    ck_assert_int_eq(infini_byte(memory), 4);
    infini_assert_status(infinirtFree(memory), INFINI_STATUS_BAD_PARAM);
    ck_assert_int_eq(infini_byte(memory), 4);
    ck_assert_int_eq(driver.free(pointer), 0);
}
END_TEST

static Suite *foreign(void)
{
    Suite *suite = suite_create("infinirt beside other code");
    TCase *tests = tcase_create("other code");
    tcase_add_checked_fixture(tests, start, end);
    tcase_add_test(tests, what_other_code_makes_current_is_the_device);
    tcase_add_test(tests, other_code_submits_work_to_a_stream);
    tcase_add_test(tests, memory_of_other_code_is_copied_but_not_freed);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(foreign);
