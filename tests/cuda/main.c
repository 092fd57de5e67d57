/*
 * ctxrt in a program that uses CUDA as well, on whatever libcuda.so.1 there is: the answers of
 * docs/frames.md, and work on the same memory. Prints TAP; exits with 77 if there is no device to
 * run on.
 *
 *   runtime_guest [frames.md]    CUDA through the runtime API, with a kernel
 *   driver_guest [frames.md]     CUDA through the Driver API
 */
#include "cases.h"
#include "cuda_calls.h"
#include "libcuda.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVERS = 8 };

const char *policy_name(ctxrt_foreign_policy policy)
{
    return policy == CTXRT_FOREIGN_FOLLOW ? "follow" : "error";
}

static void no_log(ctxrt_log_level level, const char *message, void *argument)
{
    (void)level, (void)message, (void)argument;
}

static ctxrt_status start(ctxrt_foreign_policy policy)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.foreign = policy;
    return ctxrt_init(&options);
}

/* Why ctxrt has no CUDA device, or NULL. */
static const char *lacks_device(void)
{
    static char reason[512];
    ctxrt_driver_info drivers[DRIVERS];
    size_t driver_count = 0;
    int count = 0;
    if (ctxrt_device_count(CTXRT_DEVICE_CUDA, &count) != CTXRT_SUCCESS ||
        ctxrt_drivers(DRIVERS, drivers, &driver_count) != CTXRT_SUCCESS)
        return ctxrt_last_error()->message;
    snprintf(reason, sizeof reason, "the driver has none");
    for (size_t i = 0; i < driver_count && i < DRIVERS; i++)
        if (strcmp(drivers[i].name, "libcuda") == 0 && !drivers[i].loaded)
            snprintf(reason, sizeof reason, "%s", drivers[i].reason);
    return count > 0 ? NULL : reason;
}

static bool describe_devices(void)
{
    ctxrt_device_info info;
    int count = 0;
    if (ctxrt_device_count(CTXRT_DEVICE_CUDA, &count) != CTXRT_SUCCESS ||
        ctxrt_device_properties(CTXRT_CUDA(0), &info) != CTXRT_SUCCESS)
        return false;
    tap_note("%s, %d of %s", cuda_api(), count, info.name);
    return strstr(info.name, "emulated") != NULL;
}

static void check_policy(ctxrt_foreign_policy policy, const char *document)
{
    ctxrt_status status = start(policy);
    if (status != CTXRT_SUCCESS) {
        tap_report(false, "%s: ctxrt starts: %s", policy_name(policy), ctxrt_last_error()->message);
        return;
    }
    bool emulated = describe_devices();
    mixed_check(policy);
    frames_check(policy, document, emulated);
    status = ctxrt_shutdown();
    tap_report(status == CTXRT_SUCCESS, "%s: nothing is left%s%s", policy_name(policy),
               status == CTXRT_SUCCESS ? "" : ": ",
               status == CTXRT_SUCCESS ? "" : ctxrt_last_error()->message);
}

int main(int argc, char **argv)
{
    const char *document = argc > 1 ? argv[1] : CX_TEST_FRAMES;
    const char *reason =
        start(CTXRT_FOREIGN_FOLLOW) == CTXRT_SUCCESS ? lacks_device() : ctxrt_last_error()->message;
    if (reason == NULL)
        reason = libcuda_open();
    if (reason == NULL)
        reason = cuda_open();
    if (reason != NULL)
        return tap_skip_all("no CUDA device", reason);
    /* Threads end with what the guest has left of their stacks. */
    if (ctxrt_shutdown() != CTXRT_SUCCESS ||
        ctxrt_log_set(no_log, NULL, CTXRT_LOG_ERROR) != CTXRT_SUCCESS) {
        printf("Bail out! %s\n", ctxrt_last_error()->message);
        return 1;
    }
    check_policy(CTXRT_FOREIGN_FOLLOW, document);
    check_policy(CTXRT_FOREIGN_ERROR, document);
    cuda_close();
    return tap_end();
}
