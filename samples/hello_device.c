/*
 * Hello, devices: what is there, and which one this thread uses.
 *
 *   cc hello_device.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES=2 ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <stdio.h>

static int fail(void)
{
    fprintf(stderr, "%s\n", ctxrt_last_error()->message);
    return 1;
}

int main(void)
{
    int counts[CTXRT_DEVICE_TYPE_COUNT];
    ctxrt_device device;

    printf("no device yet: %s\n", ctxrt_status_name(ctxrt_device_get(&device)));

    if (ctxrt_device_count_all(counts) != CTXRT_SUCCESS)
        return fail();
    for (int type = 0; type < CTXRT_DEVICE_TYPE_COUNT; type++)
        for (int index = 0; index < counts[type]; index++)
            printf("%s:%d is here\n", ctxrt_device_type_name((ctxrt_device_type)type), index);

    /* Setting a device retains its primary context and makes it current on this thread. */
    for (int index = counts[CTXRT_DEVICE_CUDA] - 1; index >= 0; index--) {
        if (ctxrt_device_set(CTXRT_CUDA(index)) != CTXRT_SUCCESS || ctxrt_device_get(&device) != CTXRT_SUCCESS)
            return fail();
        printf("now on %s:%d, stack depth %d\n", ctxrt_device_type_name(device.type), device.index,
               (int)ctxrt_stack_depth());
    }
    if (counts[CTXRT_DEVICE_CUDA] > 0 && ctxrt_stack_pop() != CTXRT_SUCCESS)
        return fail();
    return ctxrt_shutdown() == CTXRT_SUCCESS ? 0 : fail();
}
