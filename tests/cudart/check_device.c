/* The device of a thread, contexts that the driver's calls made current around it, and resets. */
#include "client.h"

#include "../standin/client.h"

static code_add adds;

static int device_now(void)
{
    int device = -1;
    assert_ok(cudaGetDevice(&device));
    return device;
}

static CUcontext current(void)
{
    CUcontext context = NULL;
    assert_driver(cuCtxGetCurrent(&context));
    return context;
}

static int ordinal_of(const void *pointer)
{
    int device = -1;
    assert_driver(cuPointerGetAttribute(&device, CXU_POINTER_DEVICE_ORDINAL,
                                        (CUdeviceptr)(uintptr_t)pointer));
    return device;
}

static CUcontext primary_of(int device)
{
    CUcontext context = NULL;
    assert_driver(cuDevicePrimaryCtxRetain(&context, device));
    assert_driver(cuDevicePrimaryCtxRelease_v2(device));
    return context;
}

static void assert_allocates_on(int device)
{
    void *pointer = NULL;
    assert_ok(cudaMalloc(&pointer, 64));
    ck_assert_int_eq(ordinal_of(pointer), device);
    assert_ok(cudaFree(pointer));
}

START_TEST(a_thread_begins_with_device_0_and_sets_another)
{
    int count = 0;
    ck_assert_int_eq(device_now(), 0);
    assert_ok(cudaGetDeviceCount(&count));
    ck_assert_int_eq(count, 4);
    assert_allocates_on(0);
    for (int device = 3; device >= 0; device--) {
        assert_ok(cudaSetDevice(device));
        ck_assert_int_eq(device_now(), device);
        assert_allocates_on(device);
    }
    assert_ok(cudaSetDevice(2));
    assert_error(cudaSetDevice(4), CXR_INVALID_DEVICE);
    assert_error(cudaSetDevice(-1), CXR_INVALID_DEVICE);
    ck_assert_int_eq(device_now(), 2);
    assert_error(cudaGetDevice(NULL), CXR_INVALID_VALUE);
}
END_TEST

static void *begins_with_0(void *unused)
{
    ck_assert_int_eq(device_now(), 0);
    assert_ok(cudaSetDevice(1));
    return unused;
}

START_TEST(each_thread_has_its_own_device)
{
    assert_ok(cudaSetDevice(3));
    on_a_thread(begins_with_0, NULL);
    ck_assert_int_eq(device_now(), 3);
}
END_TEST

/* Since CUDA 12. */
START_TEST(setting_a_device_makes_its_primary_context_current)
{
    unsigned int flags;
    int active = 0;
    assert_ok(cudaSetDevice(2));
    assert_driver(cuDevicePrimaryCtxGetState(2, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_assert_ptr_eq(current(), primary_of(2));
    assert_driver(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 0);
}
END_TEST

START_TEST(initialising_a_device_does_not_make_it_the_threads)
{
    unsigned int flags;
    int active = 0;
    assert_ok(cudaInitDevice(1, 0, 0));
    assert_driver(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_assert_int_eq(device_now(), 0);
    assert_error(cudaInitDevice(4, 0, 0), CXR_INVALID_DEVICE);
    assert_error(cudaInitDevice(0, 0, 2), CXR_INVALID_VALUE);
}
END_TEST

/* ---- contexts of the driver's calls ---- */

START_TEST(a_context_that_other_code_pushed_is_used_until_it_is_popped)
{
    CUcontext other = NULL, popped;
    code_add_register(&adds);
    assert_ok(cudaSetDevice(0));
    assert_driver(cuCtxCreate_v2(&other, 0, 1));
    ck_assert_int_eq(device_now(), 1);
    uint32_t *words = make_words(4);
    ck_assert_int_eq(ordinal_of(words), 1);
    assert_ok(code_launch_add(&adds, words, 5, NULL));
    assert_words(words, 9);
    assert_ok(cudaFree(words));
    ck_assert_ptr_eq(current(), other);
    assert_driver(cuCtxPopCurrent_v2(&popped));
    ck_assert_ptr_eq(popped, other);
    ck_assert_int_eq(device_now(), 0);
    assert_allocates_on(0);
    assert_driver(cuCtxDestroy_v2(other));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_primary_context_that_other_code_made_current_is_the_threads_device)
{
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaInitDevice(2, 0, 0));
    assert_driver(cuCtxSetCurrent(primary_of(2)));
    ck_assert_int_eq(device_now(), 2);
    assert_allocates_on(2);
    assert_ok(cudaSetDevice(0));
    ck_assert_int_eq(device_now(), 0);
    assert_allocates_on(0);
    assert_driver(cuCtxSetCurrent(NULL));
    assert_allocates_on(0);
    ck_assert_ptr_eq(current(), primary_of(0));
}
END_TEST

START_TEST(setting_a_device_replaces_the_top_of_the_stack_alone)
{
    CUcontext below = NULL, popped = NULL;
    assert_driver(cuInit(0));
    assert_driver(cuCtxCreate_v2(&below, 0, 3));
    assert_driver(cuCtxPushCurrent_v2(below));
    assert_ok(cudaSetDevice(1));
    ck_assert_ptr_eq(current(), primary_of(1));
    assert_driver(cuCtxPopCurrent_v2(&popped));
    ck_assert_ptr_eq(popped, primary_of(1));
    ck_assert_ptr_eq(current(), below);
    ck_assert_int_eq(device_now(), 3);
    assert_driver(cuCtxDestroy_v2(below));
}
END_TEST

START_TEST(after_a_destroyed_context_a_device_is_set)
{
    CUcontext other = NULL;
    void *pointer;
    assert_ok(cudaSetDevice(0));
    assert_driver(cuCtxCreate_v2(&other, 0, 1));
    assert_driver(cuCtxDestroy_v2(other));
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMalloc(&pointer, 16));
    ck_assert_int_eq(ordinal_of(pointer), 0);
    assert_ok(cudaFree(pointer));
}
END_TEST

START_TEST(a_kernel_runs_in_a_green_context)
{
    cxu_dev_resource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUcontext context, popped;
    unsigned int groups = 1;
    code_add_register(&adds);
    assert_ok(cudaSetDevice(1));
    assert_driver(cuDeviceGetDevResource(1, &all, CXU_DEV_RESOURCE_TYPE_SM));
    assert_driver(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 8));
    assert_driver(cuDevResourceGenerateDesc(&description, &part, 1));
    assert_driver(cuGreenCtxCreate(&green, description, 1, CXU_GREEN_CTX_DEFAULT_STREAM));
    assert_driver(cuCtxFromGreenCtx(&context, green));
    assert_ok(cudaSetDevice(0));
    assert_driver(cuCtxPushCurrent_v2(context));
    ck_assert_int_eq(device_now(), 1);
    uint32_t *words = make_words(4);
    assert_ok(code_launch_add(&adds, words, 5, NULL));
    assert_words(words, 9);
    assert_ok(cudaFree(words));
    assert_driver(cuCtxPopCurrent_v2(&popped));
    ck_assert_int_eq(device_now(), 0);
    assert_driver(cuGreenCtxDestroy(green));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

/* ---- resets ---- */

static sem_t at_work, was_reset;

static void *goes_on(void *unused)
{
    assert_ok(cudaSetDevice(1));
    uint32_t *words = make_words(1);
    assert_ok(code_launch_add(&adds, words, 1, NULL));
    assert_words(words, 2);
    sem_post(&at_work);
    sem_wait(&was_reset);
    ck_assert_int_eq(device_now(), 1);
    words = make_words(5);
    assert_ok(code_launch_add(&adds, words, 1, NULL));
    assert_words(words, 6);
    assert_ok(cudaFree(words));
    return unused;
}

START_TEST(a_reset_by_another_thread_is_followed_by_a_new_beginning)
{
    pthread_t thread;
    code_add_register(&adds);
    ck_assert_int_eq(sem_init(&at_work, 0, 0) | sem_init(&was_reset, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, goes_on, NULL), 0);
    sem_wait(&at_work);
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaDeviceReset());
    sem_post(&was_reset);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    assert_allocates_on(1);
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_reset_ends_the_memory_of_its_device_alone)
{
    size_t before, after, total;
    void *kept = NULL, *lost = NULL;
    assert_ok(cudaMalloc(&kept, 64));
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaMemGetInfo(&before, &total));
    assert_ok(cudaMalloc(&lost, 8 << 20));
    assert_ok(cudaDeviceReset());
    assert_ok(cudaMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMemset(kept, 1, 64));
    assert_ok(cudaFree(kept));
}
END_TEST

/* "Any subsequent API call to this device reinitializes the device." */
START_TEST(a_device_begins_anew_after_a_reset_whoever_made_its_context_current)
{
    CUcontext context;
    assert_driver(cuInit(0));
    assert_driver(cuDevicePrimaryCtxRetain(&context, 2));
    assert_driver(cuCtxPushCurrent_v2(context));
    assert_ok(cudaDeviceReset());
    ck_assert_int_eq(device_now(), 2);
    assert_allocates_on(2);
    assert_ok(cudaSetDevice(0));
    assert_driver(cuCtxSetCurrent(context));
    assert_allocates_on(2);
    assert_ok(cudaDeviceReset());
    assert_allocates_on(2);
}
END_TEST

START_TEST(a_device_without_a_context_is_reset_without_an_error)
{
    assert_ok(cudaDeviceReset());
    assert_ok(cudaDeviceReset());
    assert_allocates_on(0);
    assert_ok(cudaDeviceReset());
    assert_ok(cudaDeviceReset());
}
END_TEST

/* ---- flags ---- */

START_TEST(flags_are_those_of_the_threads_device)
{
    enum { BLOCKING_SYNC = 4 };
    unsigned int flags = 0;
    assert_ok(cudaSetDeviceFlags(BLOCKING_SYNC | CXR_DEVICE_MAP_HOST));
    assert_ok(cudaGetDeviceFlags(&flags));
    ck_assert_uint_eq(flags & CXR_DEVICE_SCHEDULE_MASK, BLOCKING_SYNC);
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaGetDeviceFlags(&flags));
    ck_assert_uint_eq(flags & CXR_DEVICE_SCHEDULE_MASK, 0);
    assert_error(cudaSetDeviceFlags(0x10000), CXR_INVALID_VALUE);
    assert_error(cudaGetDeviceFlags(NULL), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(the_first_valid_device_is_the_threads)
{
    int wanted[] = {2, 1}, wrong[] = {1, 7};
    assert_error(cudaSetValidDevices(wrong, 2), CXR_INVALID_DEVICE);
    assert_error(cudaSetValidDevices(NULL, 1), CXR_INVALID_VALUE);
    assert_ok(cudaSetValidDevices(wanted, 2));
    assert_allocates_on(2);
}
END_TEST

static Suite *device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *tcase = tcase_create("device");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, a_thread_begins_with_device_0_and_sets_another);
    tcase_add_test(tcase, each_thread_has_its_own_device);
    tcase_add_test(tcase, setting_a_device_makes_its_primary_context_current);
    tcase_add_test(tcase, initialising_a_device_does_not_make_it_the_threads);
    tcase_add_test(tcase, a_context_that_other_code_pushed_is_used_until_it_is_popped);
    tcase_add_test(tcase, a_primary_context_that_other_code_made_current_is_the_threads_device);
    tcase_add_test(tcase, setting_a_device_replaces_the_top_of_the_stack_alone);
    tcase_add_test(tcase, after_a_destroyed_context_a_device_is_set);
    tcase_add_test(tcase, a_kernel_runs_in_a_green_context);
    tcase_add_test(tcase, a_reset_by_another_thread_is_followed_by_a_new_beginning);
    tcase_add_test(tcase, a_reset_ends_the_memory_of_its_device_alone);
    tcase_add_test(tcase, a_device_begins_anew_after_a_reset_whoever_made_its_context_current);
    tcase_add_test(tcase, a_device_without_a_context_is_reset_without_an_error);
    tcase_add_test(tcase, flags_are_those_of_the_threads_device);
    tcase_add_test(tcase, the_first_valid_device_is_the_threads);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(device_suite);
