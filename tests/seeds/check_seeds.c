/* What docs/seeds.md promises and no other test shows by itself. */
#include "fixture.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 16 };

START_TEST(every_type_of_device_is_counted_and_those_without_a_driver_are_0)
{
    int counts[CTXRT_DEVICE_TYPE_COUNT], count;
    cx_assert_ok(ctxrt_device_count_all(counts));
    for (int type = 0; type < CTXRT_DEVICE_TYPE_COUNT; type++) {
        cx_assert_ok(ctxrt_device_count((ctxrt_device_type)type, &count));
        ck_assert_int_eq(count, counts[type]);
        ck_assert_int_eq(count, type == CTXRT_DEVICE_CPU ? 1 : type == CTXRT_DEVICE_CUDA ? 4 : 0);
    }
}
END_TEST

/* ---- defect 2: the first use of a device by many threads ---- */

static pthread_barrier_t together;
static atomic_int failures;
static ctxrt_context *contexts[THREADS];
static unsigned long long ids[THREADS];

static void *use_first(void *argument)
{
    int number = *(const int *)argument;
    ctxrt_memory *memory;
    uint64_t id = 0;
    pthread_barrier_wait(&together);
    if (ctxrt_device_set(CTXRT_CUDA(2)) != CTXRT_SUCCESS ||
        ctxrt_memory_alloc(256, &memory) != CTXRT_SUCCESS ||
        ctxrt_context_current(&contexts[number]) != CTXRT_SUCCESS ||
        ctxrt_context_id(contexts[number], &id) != CTXRT_SUCCESS ||
        ctxrt_memory_release(memory) != CTXRT_SUCCESS || ctxrt_stack_pop() != CTXRT_SUCCESS)
        atomic_fetch_add(&failures, 1);
    ids[number] = id;
    return NULL;
}

START_TEST(threads_that_use_a_device_first_at_once_get_one_context)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    ck_assert_int_eq(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_first, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&together);
    ck_assert_int_eq(atomic_load(&failures), 0);
    for (int i = 1; i < THREADS; i++) {
        ck_assert_ptr_eq(contexts[i], contexts[0]);
        ck_assert_uint_eq(ids[i], ids[0]);
    }
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(2)));
    cx_assert_error(ctxrt_context_id(contexts[0], &(uint64_t){0}), CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

/* ---- defect 3: types and indices that are none ---- */

START_TEST(a_device_that_does_not_exist_is_an_error_and_the_device_stays)
{
    const ctxrt_device none[] = {{CTXRT_DEVICE_CUDA, 4},     {CTXRT_DEVICE_CUDA, -1},
                                 {CTXRT_DEVICE_CPU, 1},      {CTXRT_DEVICE_HYGON, 0},
                                 {(ctxrt_device_type)11, 0}, {(ctxrt_device_type)-1, 0}};
    ctxrt_device device;
    int count = 77;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        cx_assert_error(ctxrt_device_set(none[i]), CTXRT_ERROR_INVALID_DEVICE);
        cx_assert_ok(ctxrt_device_get(&device));
        ck_assert_int_eq(device.index, 3);
    }
    cx_assert_error(ctxrt_device_count((ctxrt_device_type)11, &count),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_device_count((ctxrt_device_type)-1, &count),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(count, 77);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- defect 12: what needs no other device leaves the device alone ---- */

static ctxrt_status make_handle(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device;
    *out_handle = user_data;
    return CTXRT_SUCCESS;
}

static void end_handle(void *handle, void *user_data)
{
    (void)handle, (void)user_data;
}

START_TEST(host_memory_host_copies_and_handles_of_other_devices_leave_the_device_alone)
{
    static int library;
    ctxrt_memory *host, *pinned;
    ctxrt_device device;
    void *handle;
    char from[64] = "host", to[64];
    cx_assert_ok(ctxrt_handle_register("of check_seeds", make_handle, end_handle, &library));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &host));
    cx_assert_ok(ctxrt_memory_alloc_pinned(64, &pinned));
    cx_assert_ok(ctxrt_copy(to, from, sizeof to, CTXRT_COPY_HOST_TO_HOST));
    cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(1), "of check_seeds", &handle));
    ck_assert_ptr_eq(handle, &library);
    ck_assert_str_eq(to, "host");
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.type, CTXRT_DEVICE_CUDA);
    ck_assert_int_eq(device.index, 3);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_memory_release(host));
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- defect 13: an event goes on its own device ---- */

START_TEST(an_event_is_destroyed_in_its_own_context_whatever_is_current)
{
    ctxrt_context *own;
    ctxrt_event *event;
    ctxrt_device device;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &own));
    cx_assert_ok(ctxrt_stack_push(own));
    cx_assert_ok(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event));
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_error(ctxrt_context_destroy(own), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 1);
    cx_assert_ok(ctxrt_context_destroy(own));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- defect 19: no context that nobody asked for ---- */

static void *libcuda_symbol(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    ck_assert_msg(library != NULL, "%s", dlerror());
    symbol = dlsym(library, name);
    ck_assert_ptr_nonnull(symbol);
    return symbol;
}

START_TEST(a_process_that_names_device_1_takes_no_context_on_device_0)
{
    char path[4096];
    int (*state)(int device, unsigned int *flags, int *active);
    unsigned int flags;
    int active, counts[CTXRT_DEVICE_TYPE_COUNT];
    ctxrt_memory *host;
    ctxrt_device_info info;
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    setenv("CTXRT_LIBCUDA", path, 1);
    setenv("CTXRT_EMU_DEVICES", "2", 1);
    *(void **)&state = libcuda_symbol(path, "cuDevicePrimaryCtxGetState");
    cx_assert_ok(ctxrt_device_count_all(counts));
    ck_assert_int_eq(counts[CTXRT_DEVICE_CUDA], 2);
    cx_assert_ok(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &host));
    cx_assert_ok(ctxrt_memory_release(host));
    ck_assert_int_eq(state(1, &flags, &active), 0);
    ck_assert_int_eq(active, 0);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(state(1, &flags, &active), 0);
    ck_assert_int_eq(active, 1);
    ck_assert_int_eq(state(0, &flags, &active), 0);
    ck_assert_int_eq(active, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* ---- a driver that cannot pin ---- */

static int warnings;

static void count_warnings(ctxrt_log_level level, const char *line, void *user_data)
{
    (void)user_data;
    warnings += level == CTXRT_LOG_WARNING && strstr(line, "cannot pin memory") != NULL;
}

START_TEST(the_cpu_has_ordinary_memory_where_its_driver_cannot_pin_and_says_so_once)
{
    ctxrt_memory *memory[2], *none = NULL;
    ctxrt_memory_info info;
    unsigned char byte = 0;
    setenv("CTXRT_EMU_FAULT", "cuMemHostAlloc@1+:NOT_SUPPORTED", 1);
    cx_fixture_start();
    cx_assert_ok(ctxrt_log_set(count_warnings, NULL, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_memory_alloc_pinned(4096, &memory[i]));
        cx_assert_ok(ctxrt_memory_describe(memory[i], &info));
        ck_assert_int_eq(info.pinned, 0);
        ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CPU);
        ck_assert_uint_eq(info.size_bytes, 4096);
        cx_assert_ok(ctxrt_fill_async(info.pointer, 7, 4096, NULL));
        cx_assert_ok(ctxrt_copy(&byte, info.pointer, 1, CTXRT_COPY_ANY));
        ck_assert_int_eq(byte, 7);
    }
    ck_assert_int_eq(warnings, 1);
    cx_assert_error(ctxrt_device_release(CTXRT_CPU(0)), CTXRT_ERROR_IN_USE);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_release(memory[i]));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_memory_alloc_pinned(4096, &none), CTXRT_ERROR_NOT_SUPPORTED);
    ck_assert_ptr_null(none);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_fixture_end();
}
END_TEST

static Suite *seeds_suite(void)
{
    Suite *suite = suite_create("seeds");
    TCase *tcase = tcase_create("seeds");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, every_type_of_device_is_counted_and_those_without_a_driver_are_0);
    tcase_add_test(tcase, threads_that_use_a_device_first_at_once_get_one_context);
    tcase_add_test(tcase, a_device_that_does_not_exist_is_an_error_and_the_device_stays);
    tcase_add_test(tcase,
                   host_memory_host_copies_and_handles_of_other_devices_leave_the_device_alone);
    tcase_add_test(tcase, an_event_is_destroyed_in_its_own_context_whatever_is_current);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("not started");
    tcase_add_test(tcase, a_process_that_names_device_1_takes_no_context_on_device_0);
    tcase_add_test(tcase, the_cpu_has_ordinary_memory_where_its_driver_cannot_pin_and_says_so_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(seeds_suite);
