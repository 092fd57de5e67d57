/*
 * The primary context of a device: one for all threads, and retaining it makes nothing current.
 *
 *   cc primary_context.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", ctxrt_status_name(status), ctxrt_last_error()->message);
    exit(1);
}

int main(void)
{
    ctxrt_context *primary, *again;
    ctxrt_device device;
    ctxrt_memory *memory;
    int value = 42, back = 0;

    check(ctxrt_context_retain_primary(CTXRT_CUDA(1), &primary));
    printf("retained; current: %s\n", ctxrt_status_name(ctxrt_device_get(&device)));

    check(ctxrt_stack_push(primary));
    check(ctxrt_device_get(&device));
    printf("pushed; current: cuda:%d\n", device.index);

    check(ctxrt_memory_alloc(sizeof value, &memory));
    void *there = ctxrt_memory_pointer(memory);
    check(ctxrt_copy(there, &value, sizeof value, CTXRT_COPY_HOST_TO_DEVICE));
    check(ctxrt_stack_pop()); /* frees nothing */
    check(ctxrt_stack_push(primary));
    check(ctxrt_copy(&back, there, sizeof back, CTXRT_COPY_DEVICE_TO_HOST));
    check(ctxrt_stack_pop());
    printf("popped; its memory still holds %d\n", back);
    check(ctxrt_memory_release(memory)); /* under any current context, or none */

    check(ctxrt_context_retain_primary(CTXRT_CUDA(1), &again));
    printf("retained again: %s\n", again == primary ? "the same context" : "another context");
    check(ctxrt_context_release(again));
    printf("release of the device while retained: %s\n",
           ctxrt_status_name(ctxrt_device_release(CTXRT_CUDA(1))));
    check(ctxrt_context_release(primary));
    printf("release of the device: %s\n", ctxrt_status_name(ctxrt_device_release(CTXRT_CUDA(1))));
    check(ctxrt_shutdown());
    return 0;
}
