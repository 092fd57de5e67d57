/* The last error: of each thread, kept by successes, cleared by the call that gets it, and not if
 * it sticks. */
#include "client.h"

static code_add adds;

START_TEST(the_last_error_is_kept_by_successes_and_cleared_by_getting_it)
{
    void *pointer = NULL;
    assert_ok(cudaGetLastError());
    assert_error(cudaSetDevice(99), CXR_INVALID_DEVICE);
    assert_ok(cudaMalloc(&pointer, 16));
    assert_error(cudaPeekAtLastError(), CXR_INVALID_DEVICE);
    assert_error(cudaPeekAtLastError(), CXR_INVALID_DEVICE);
    assert_error(cudaMemcpy(pointer, pointer, 1, (cxr_copy_kind)9), CXR_INVALID_MEMCPY_DIRECTION);
    assert_error(cudaGetLastError(), CXR_INVALID_MEMCPY_DIRECTION);
    assert_ok(cudaGetLastError());
    assert_ok(cudaPeekAtLastError());
    assert_ok(cudaFree(pointer));
}
END_TEST

static void *look_and_fail(void *unused)
{
    int count;
    assert_ok(cudaPeekAtLastError());
    assert_error(cudaGetDeviceCount(NULL), CXR_INVALID_VALUE);
    assert_ok(cudaGetDeviceCount(&count));
    assert_error(cudaPeekAtLastError(), CXR_INVALID_VALUE);
    return unused;
}

START_TEST(each_thread_has_its_own_last_error)
{
    assert_error(cudaSetDevice(-1), CXR_INVALID_DEVICE);
    on_a_thread(look_and_fail, NULL);
    assert_error(cudaGetLastError(), CXR_INVALID_DEVICE);
    on_a_thread(look_and_fail, NULL);
    assert_ok(cudaGetLastError());
}
END_TEST

START_TEST(errors_have_the_names_and_texts_of_the_documentation)
{
    ck_assert_str_eq(cudaGetErrorName(CXR_SUCCESS), "cudaSuccess");
    ck_assert_str_eq(cudaGetErrorName(CXR_INVALID_VALUE), "cudaErrorInvalidValue");
    ck_assert_str_eq(cudaGetErrorName(CXR_INVALID_DEVICE_FUNCTION),
                     "cudaErrorInvalidDeviceFunction");
    ck_assert_str_eq(cudaGetErrorString(CXR_SUCCESS), "no error");
    ck_assert_str_eq(cudaGetErrorName((cxr_error)12345), "unrecognized error code");
    ck_assert_str_eq(cudaGetErrorString((cxr_error)-1), "unrecognized error code");
    assert_ok(cudaGetLastError());
}
END_TEST

static void *see_trap(void *words)
{
    void *pointer;
    assert_ok(cudaPeekAtLastError());
    assert_error(cudaMalloc(&pointer, 16), CXR_LAUNCH_FAILURE);
    assert_error(cudaGetLastError(), CXR_LAUNCH_FAILURE);
    assert_error(cudaGetLastError(), CXR_LAUNCH_FAILURE);
    return words;
}

/* "To continue using CUDA, the process must be terminated and relaunched." */
START_TEST(an_error_of_a_kernel_sticks_to_the_process)
{
    code_add_register(&adds);
    uint32_t *words = make_words(0);
    assert_ok(code_launch_trap(&adds, NULL));
    assert_error(cudaDeviceSynchronize(), CXR_LAUNCH_FAILURE);
    assert_error(cudaGetLastError(), CXR_LAUNCH_FAILURE);
    assert_error(cudaGetLastError(), CXR_LAUNCH_FAILURE);
    assert_error(code_launch_add(&adds, words, 1, NULL), CXR_LAUNCH_FAILURE);
    assert_error(cudaFree(words), CXR_LAUNCH_FAILURE);
    on_a_thread(see_trap, NULL);
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(an_error_that_sticks_to_its_context_ends_with_a_reset)
{
    setenv("CTXRT_EMU_STICKY", "context", 1);
    code_add_register(&adds);
    uint32_t *words = make_words(0);
    assert_ok(code_launch_trap(&adds, NULL));
    assert_error(cudaDeviceSynchronize(), CXR_LAUNCH_FAILURE);
    assert_error(cudaGetLastError(), CXR_LAUNCH_FAILURE);
    assert_error(cudaGetLastError(), CXR_LAUNCH_FAILURE);
    assert_error(code_launch_add(&adds, words, 1, NULL), CXR_LAUNCH_FAILURE);
    assert_error(cudaFree(words), CXR_LAUNCH_FAILURE);
    on_a_thread(see_trap, NULL);
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaFree(make_words(0)));
    assert_ok(cudaSetDevice(0));

    assert_ok(cudaDeviceReset());
    assert_ok(cudaGetLastError());
    words = make_words(0);
    assert_ok(code_launch_add(&adds, words, 1, NULL));
    assert_words(words, 1);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(queries_of_unfinished_work_are_not_ready)
{
    gate held;
    CUstream stream;
    CUevent event;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaEventCreate(&event));
    gate_close(&held, stream);
    assert_ok(cudaEventRecord(event, stream));
    assert_error(cudaStreamQuery(stream), CXR_NOT_READY);
    assert_error(cudaEventQuery(event), CXR_NOT_READY);
    gate_open(&held);
    assert_ok(cudaEventSynchronize(event));
    assert_ok(cudaStreamSynchronize(stream));
    assert_ok(cudaStreamQuery(stream));
    assert_ok(cudaEventQuery(event));
    assert_ok(cudaEventDestroy(event));
    assert_ok(cudaStreamDestroy(stream));
}
END_TEST

static Suite *error_suite(void)
{
    Suite *suite = suite_create("error");
    TCase *tcase = tcase_create("last");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, the_last_error_is_kept_by_successes_and_cleared_by_getting_it);
    tcase_add_test(tcase, each_thread_has_its_own_last_error);
    tcase_add_test(tcase, errors_have_the_names_and_texts_of_the_documentation);
    tcase_add_test(tcase, an_error_of_a_kernel_sticks_to_the_process);
    tcase_add_test(tcase, an_error_that_sticks_to_its_context_ends_with_a_reset);
    tcase_add_test(tcase, queries_of_unfinished_work_are_not_ready);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(error_suite);
