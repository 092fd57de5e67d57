/* How the runtime begins and ends: options, drivers that are not there, shutdown, fork, the
 * process's end. */
#include "fixture.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int device_count(ctxrt_device_type type)
{
    int count;
    cx_assert_ok(ctxrt_device_count(type, &count));
    return count;
}

static ctxrt_driver_info libcuda_info(void)
{
    ctxrt_driver_info drivers[4];
    size_t count;
    cx_assert_ok(ctxrt_drivers(4, drivers, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(drivers[1].name, "libcuda");
    return drivers[1];
}

START_TEST(a_missing_libcuda_leaves_no_cuda_devices_and_everybody_says_why)
{
    setenv("CTXRT_LIBCUDA", "/no/such/libcuda.so.1", 1);
    ck_assert_int_eq(device_count(CTXRT_DEVICE_CUDA), 0);
    ck_assert_int_eq(device_count(CTXRT_DEVICE_CPU), 1);
    ctxrt_driver_info libcuda = libcuda_info();
    ck_assert_int_eq(libcuda.loaded, 0);
    ck_assert_ptr_nonnull(strstr(libcuda.reason, "/no/such/libcuda.so.1"));
    cx_assert_error(ctxrt_device_set(CTXRT_CUDA(0)), CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "/no/such/libcuda.so.1"));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

START_TEST(the_driver_none_leaves_the_type_empty)
{
    setenv("CTXRT_DRIVER", "none", 1);
    ck_assert_int_eq(device_count(CTXRT_DEVICE_CUDA), 0);
    cx_assert_error(ctxrt_device_set(CTXRT_CUDA(0)), CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "none"));
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

START_TEST(a_malformed_environment_is_refused_with_the_variable_named)
{
    static const char *const bad[][2] = {
        {"CTXRT_DRIVER", "emulate"},  {"CTXRT_FOREIGN", "ignore"},
        {"CTXRT_EMU_DEVICES", "0"},   {"CTXRT_EMU_DEVICES", "many"},
        {"CTXRT_EMU_MEMORY", "lots"}, {"CTXRT_EMU_SCHEDULE", "random:x"},
        {"CTXRT_ALLOCATOR", "mmap"},  {"CTXRT_DEBUG_MEMORY", "canry"},
        {"CTXRT_LOG", "loud"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int count;
        setenv(bad[i][0], bad[i][1], 1);
        cx_assert_error(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count),
                        CTXRT_ERROR_INVALID_ARGUMENT);
        ck_assert_msg(strstr(ctxrt_last_error()->message, bad[i][0]) != NULL, "%s",
                      ctxrt_last_error()->message);
        unsetenv(bad[i][0]);
    }
    setenv("CTXRT_DRIVER", "none", 1);
    ck_assert_int_eq(device_count(CTXRT_DEVICE_CUDA), 0);
}
END_TEST

START_TEST(the_type_cuda_can_be_served_by_a_libcuda_beside_the_cpu_device)
{
    char path[4096];
    if (getenv("top_builddir") == NULL)
        cx_fixture_skip("the stand-in is in the tree where this was built");
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    setenv("CTXRT_LIBCUDA", path, 1);
    setenv("CTXRT_EMU_DEVICES", "3", 1);
    ck_assert_int_eq(device_count(CTXRT_DEVICE_CUDA), 3);
    ctxrt_driver_info libcuda = libcuda_info();
    ck_assert_int_eq(libcuda.loaded, 1);
    ck_assert_int_eq(libcuda.version, 13000);
    ck_assert_str_eq(libcuda.reason, "");
    ctxrt_scope outer = {0}, inner = {0};
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CPU(0), &outer));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &inner));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_scope_leave(&inner));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 1);
    cx_assert_ok(ctxrt_scope_leave(&outer));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 2);
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(after_a_shutdown_the_runtime_starts_anew_with_other_options)
{
    cx_fixture_needs_emulated("the number of its GPUs is an option");
    for (int gpus = 1; gpus <= 3; gpus++) {
        cx_fixture_start_with(gpus, CTXRT_FOREIGN_FOLLOW);
        ck_assert_int_eq(device_count(CTXRT_DEVICE_CUDA), gpus);
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(gpus - 1)));
        cx_assert_ok(ctxrt_stack_pop());
        cx_fixture_end();
    }
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

START_TEST(shutdown_names_what_is_left)
{
    ctxrt_memory *memory;
    ctxrt_context *context;
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "1 frame"));
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "memory"));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &memory));
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_fixture_end();
}
END_TEST

static int status_of(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(a_forked_child_gets_forked_from_every_call)
{
    ctxrt_memory *memory;
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    pid_t child = fork();
    if (child == 0) {
        ctxrt_device device;
        int count, wrong = 0;
        void *pointer;
        wrong |= ctxrt_device_get(&device) != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_device_set(CTXRT_CUDA(0)) != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_device_count(CTXRT_DEVICE_CUDA, &count) != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_stack_pop() != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_alloc(64, &pointer) != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_init(NULL) != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_shutdown() != CTXRT_ERROR_FORKED;
        wrong |= ctxrt_last_error()->message[0] == '\0';
        _exit(wrong);
    }
    ck_assert_int_eq(status_of(child), 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(a_child_of_a_parent_that_had_not_started_can_start)
{
    pid_t child = fork();
    if (child == 0) {
        cx_fixture_start();
        cx_fixture_end();
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    cx_fixture_start();
    cx_fixture_end();
}
END_TEST

static int exit_status;

/* Registered before the runtime starts, so it runs after the runtime has seen the end come. */
static void call_at_exit(void)
{
    ctxrt_device device;
    exit_status |= ctxrt_device_set(CTXRT_CUDA(0)) != CTXRT_ERROR_SHUTDOWN;
    exit_status |= ctxrt_device_get(&device) != CTXRT_ERROR_SHUTDOWN;
    exit_status |= ctxrt_init(NULL) != CTXRT_ERROR_SHUTDOWN;
    exit_status |= ctxrt_last_error()->message[0] == '\0';
    _exit(exit_status);
}

START_TEST(calls_at_the_end_of_the_process_get_shutdown)
{
    pid_t child = fork();
    if (child == 0) {
        atexit(call_at_exit);
        cx_fixture_start();
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
        exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

static Suite *life_suite(void)
{
    Suite *suite = suite_create("life");
    TCase *tcase = tcase_create("life");
    tcase_add_test(tcase, a_missing_libcuda_leaves_no_cuda_devices_and_everybody_says_why);
    tcase_add_test(tcase, the_driver_none_leaves_the_type_empty);
    tcase_add_test(tcase, a_malformed_environment_is_refused_with_the_variable_named);
    tcase_add_test(tcase, the_type_cuda_can_be_served_by_a_libcuda_beside_the_cpu_device);
    tcase_add_test(tcase, after_a_shutdown_the_runtime_starts_anew_with_other_options);
    tcase_add_test(tcase, shutdown_names_what_is_left);
    tcase_add_test(tcase, a_forked_child_gets_forked_from_every_call);
    tcase_add_test(tcase, a_child_of_a_parent_that_had_not_started_can_start);
    tcase_add_test(tcase, calls_at_the_end_of_the_process_get_shutdown);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(life_suite);
