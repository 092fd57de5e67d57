/*
 * Hello, devices: what is there, and which one this thread uses.
 *
 *   cc hello_device.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated
 * CTXRT_EMU_DEVICES=2 ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

static bool list_devices(const int *counts)
{
    for (int type = 0; type < CTXRT_DEVICE_TYPE_COUNT; type++)
        for (int index = 0; index < counts[type]; index++)
            printf("%s:%d is here\n", ctxrt_device_type_name((ctxrt_device_type)type), index);
    return true;
}

/* Setting a device retains its primary context and makes it current on this thread. */
static bool use_devices(int count)
{
    ctxrt_device device;
    for (int index = count - 1; index >= 0; index--) {
        if (!OK(ctxrt_device_set(CTXRT_CUDA(index))) || !OK(ctxrt_device_get(&device)))
            return false;
        printf("now on %s:%d, stack depth %d\n", ctxrt_device_type_name(device.type), device.index,
               (int)ctxrt_stack_depth());
    }
    return true;
}

int main(void)
{
    int counts[CTXRT_DEVICE_TYPE_COUNT];
    ctxrt_device device;

    printf("no device yet: %s\n", ctxrt_status_name(ctxrt_device_get(&device)));

    bool good = OK(ctxrt_device_count_all(counts)) && list_devices(counts) &&
                use_devices(counts[CTXRT_DEVICE_CUDA]);
    if (ctxrt_stack_depth() > 0) /* however many devices were set */
        good = OK(ctxrt_stack_pop()) && good;
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
