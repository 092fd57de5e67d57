/* Threads, libraries and processes that end, and forks. */
#include "client.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static code_add adds;

/* ---- threads ---- */

static void *uses_a_device(void *device)
{
    void *pointer;
    assert_ok(cudaSetDevice(*(int *)device));
    assert_ok(cudaMalloc(&pointer, 64));
    assert_ok(cudaFree(pointer));
    assert_ok(cudaMemsetAsync_ptsz(NULL, 0, 0, NULL));
    assert_error(cudaSetDevice(-1), CXR_INVALID_DEVICE);
    (void)__cudaPushCallConfiguration((cxr_dim3){1, 1, 1}, (cxr_dim3){1, 1, 1}, 0, NULL);
    return NULL;
}

START_TEST(threads_come_and_go)
{
    for (int i = 0; i < 100; i++) {
        int device = i % 4;
        on_a_thread(uses_a_device, &device);
    }
    assert_ok(cudaGetLastError());
}
END_TEST

/* ---- libraries ---- */

static size_t heap_bytes(void)
{
    return mallinfo2().uordblks;
}

static void open_use_close(const char *path)
{
    int (*run)(void);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    *(void **)&run = dlsym(library, "plugin_run");
    ck_assert_ptr_nonnull((void *)run);
    ck_assert_int_eq(run(), 0);
    ck_assert_int_eq(dlclose(library), 0);
}

START_TEST(a_library_with_kernels_is_opened_and_closed_200_times)
{
    enum { TIMES = 200, WARM = 20, BYTES_OK = 16 << 10 };
    char path[512];
    size_t before = 0;
    snprintf(path, sizeof path, "%s/tests/cudart/.libs/plugin.so", getenv("top_builddir"));
    for (int i = 0; i < TIMES; i++) {
        assert_ok(cudaSetDevice(i % 2));
        open_use_close(path);
        if (i == WARM)
            before = heap_bytes();
    }
    ck_assert_uint_le(heap_bytes(), before + BYTES_OK);
}
END_TEST

START_TEST(libraries_of_code_are_loaded_and_unloaded_200_times)
{
    enum { TIMES = 200, WARM = 20, BYTES_OK = 16 << 10 };
    size_t before = 0;
    uint32_t *words = make_words(0), count = WORDS, value = 1;
    void *arguments[] = {&words, &count, &value};
    for (int i = 0; i < TIMES; i++) {
        CUlibrary library;
        CUkernel kernel;
        assert_ok(cudaLibraryLoadData(&library, CODE_HEAD CODE_ADD, NULL, NULL, 0, NULL, NULL, 0));
        assert_ok(cudaLibraryGetKernel(&kernel, library, "add"));
        assert_ok(cudaLaunchKernel(kernel, (cxr_dim3){1, 1, 1}, (cxr_dim3){WORDS, 1, 1}, arguments,
                                   0, NULL));
        assert_ok(cudaDeviceSynchronize());
        assert_ok(cudaLibraryUnload(library));
        if (i == WARM)
            before = heap_bytes();
    }
    ck_assert_uint_le(heap_bytes(), before + BYTES_OK);
    assert_words(words, TIMES);
    assert_ok(cudaFree(words));
}
END_TEST

/* ---- processes ---- */

static int exit_status_of(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *const ways[] = {"destructor", "atexit", "thread", "unused"};

START_TEST(a_program_ends_whatever_it_calls_meanwhile)
{
    char command[600], said[200] = "";
    snprintf(command, sizeof command, "%s/tests/cudart/ending %s", getenv("top_builddir"),
             ways[_i]);
    FILE *output = popen(command, "r");
    ck_assert_ptr_nonnull(output);
    size_t size = fread(said, 1, sizeof said - 1, output);
    said[size] = '\0';
    ck_assert_msg(pclose(output) == 0, "%s: %s", ways[_i], said);
    ck_assert_str_eq(said, "ended\n");
}
END_TEST

/* In a child nothing of Check may be used. Returns how many calls were wrong. */
static int calls_in_a_child(uint32_t *words)
{
    int device, count, wrong = 0;
    void *pointer;
    CUstream stream;
    wrong += cudaMalloc(&pointer, 16) != CXR_INITIALIZATION_ERROR;
    wrong += cudaGetLastError() != CXR_INITIALIZATION_ERROR;
    wrong += cudaFree(words) != CXR_INITIALIZATION_ERROR;
    wrong += cudaMemset(words, 0, 4) != CXR_INITIALIZATION_ERROR;
    wrong += cudaGetDeviceCount(&count) != CXR_INITIALIZATION_ERROR;
    wrong += cudaSetDevice(1) != CXR_INITIALIZATION_ERROR;
    wrong += cudaDeviceSynchronize() != CXR_INITIALIZATION_ERROR;
    wrong += cudaStreamCreate(&stream) != CXR_INITIALIZATION_ERROR;
    wrong += code_launch_add(&adds, words, 1, NULL) != CXR_INITIALIZATION_ERROR;
    wrong += cudaDeviceReset() != CXR_INITIALIZATION_ERROR;
    wrong += cudaGetLastError() != CXR_INITIALIZATION_ERROR;
    wrong += strcmp(cudaGetErrorName(CXR_INVALID_VALUE), "cudaErrorInvalidValue") != 0;
    (void)cudaGetDevice(&device);
    __cudaUnregisterFatBinary(adds.binary);
    return wrong;
}

START_TEST(a_child_of_a_fork_has_no_driver)
{
    code_add_register(&adds);
    uint32_t *words = make_words(0);
    assert_ok(code_launch_add(&adds, words, 1, NULL));
    pid_t child = fork();
    if (child == 0)
        _exit(calls_in_a_child(words));
    ck_assert_int_eq(exit_status_of(child), 0);
    assert_words(words, 1);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

static atomic_bool is_over;

static void *loads_code(void *unused)
{
    while (!atomic_load(&is_over)) {
        static _Thread_local code_add own;
        code_add_register(&own);
        uint32_t *words = make_words(0);
        assert_ok(code_launch_add(&own, words, 1, NULL));
        assert_words(words, 1);
        assert_ok(cudaFree(words));
        __cudaUnregisterFatBinary(own.binary);
    }
    return unused;
}

/* The locks of the library are the child's own, whoever held them. */
START_TEST(a_fork_while_other_threads_load_code_does_not_hang_the_child)
{
    enum { THREADS = 3, FORKS = 30 };
    pthread_t threads[THREADS];
    code_add_register(&adds);
    uint32_t *words = make_words(0);
    assert_ok(code_launch_add(&adds, words, 1, NULL));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, loads_code, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(calls_in_a_child(words));
        }
        ck_assert_int_eq(exit_status_of(child), 0);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_child_forked_before_the_first_call_has_a_driver_of_its_own)
{
    code_add_register(&adds);
    pid_t child = fork();
    if (child == 0) {
        void *pointer = NULL;
        int wrong = cudaMalloc(&pointer, 64) != CXR_SUCCESS;
        wrong += cudaFree(pointer) != CXR_SUCCESS;
        _exit(wrong);
    }
    ck_assert_int_eq(exit_status_of(child), 0);
    uint32_t *words = make_words(2);
    assert_words(words, 2);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

static Suite *ending_suite(void)
{
    Suite *suite = suite_create("ending");
    TCase *tcase = tcase_create("ending");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, threads_come_and_go);
    tcase_add_test(tcase, a_library_with_kernels_is_opened_and_closed_200_times);
    tcase_add_test(tcase, libraries_of_code_are_loaded_and_unloaded_200_times);
    tcase_add_loop_test(tcase, a_program_ends_whatever_it_calls_meanwhile, 0,
                        sizeof ways / sizeof ways[0]);
    tcase_add_test(tcase, a_child_of_a_fork_has_no_driver);
    tcase_add_test(tcase, a_fork_while_other_threads_load_code_does_not_hang_the_child);
    tcase_add_test(tcase, a_child_forked_before_the_first_call_has_a_driver_of_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ending_suite);
