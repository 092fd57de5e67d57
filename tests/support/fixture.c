#include "fixture.h"

#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool cx_fixture_is_emulated(void)
{
    const char *driver = getenv("CTXRT_TEST_DRIVER");
    return driver == NULL || strcmp(driver, "libcuda") != 0;
}

void cx_fixture_skip(const char *reason, ...)
{
    va_list arguments;
    const char *fork = getenv("CK_FORK");
    ck_assert_msg(fork == NULL || strcmp(fork, "no") != 0, "only a forked test can be skipped");
    fflush(stdout);
    printf("# SKIP ");
    va_start(arguments, reason);
    vprintf(reason, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    _exit(0);
}

void cx_fixture_needs_emulated(const char *what)
{
    if (!cx_fixture_is_emulated())
        cx_fixture_skip("it needs the embedded driver: %s", what);
}

void cx_fixture_look_for_device(ctxrt_status status)
{
    static const char lacking[] = "there is no device cuda:";
    const char *message = ctxrt_last_error()->message;
    if (status == CTXRT_ERROR_INVALID_DEVICE && !cx_fixture_is_emulated() &&
        strncmp(message, lacking, strlen(lacking)) == 0)
        cx_fixture_skip("%s", message);
}

void cx_fixture_start_with(int gpus, ctxrt_foreign_policy foreign)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver =
        cx_fixture_is_emulated() ? CTXRT_CUDA_DRIVER_EMULATED : CTXRT_CUDA_DRIVER_LIBCUDA;
    options.foreign = foreign;
    options.emulated_devices = gpus;
    options.emulated_memory_bytes = (size_t)256 << 20;
    cx_assert_ok(ctxrt_init(&options));
}

void cx_fixture_start(void)
{
    cx_fixture_start_with(4, CTXRT_FOREIGN_FOLLOW);
}

void cx_fixture_allow_files(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static ssize_t write_nothing(void *cookie, const char *bytes, size_t size)
{
    (void)cookie, (void)bytes, (void)size;
    return 0;
}

FILE *cx_fixture_open_full(void)
{
    FILE *full = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_nothing});
    ck_assert_ptr_nonnull(full);
    return full;
}

void cx_fixture_end(void)
{
    ctxrt_device device;
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_ok(ctxrt_shutdown());
}
