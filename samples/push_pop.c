/*
 * Push and pop: each push makes a context current, each pop brings back what was there.
 *
 *   cc push_pop.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
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

static void show(const char *what)
{
    ctxrt_device device;
    check(ctxrt_device_get(&device));
    printf("%-21s depth %d, current cuda:%d\n", what, (int)ctxrt_stack_depth(), device.index);
}

int main(void)
{
    ctxrt_context *context;
    check(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));

    check(ctxrt_device_set(CTXRT_CUDA(0)));
    show("set cuda:0");
    check(ctxrt_stack_push(context));
    show("push a context of 1");
    check(ctxrt_stack_push(context)); /* legal: it adds a frame */
    show("push it once more");
    check(ctxrt_device_set(CTXRT_CUDA(2))); /* an override above the pushed frame, which stays as it is */
    show("set cuda:2");
    check(ctxrt_stack_pop()); /* the pushed frame goes, and its override with it */
    show("pop");

    ctxrt_status in_use = ctxrt_context_destroy(context); /* one frame still has it */
    check(ctxrt_stack_pop());
    show("pop");
    printf("destroy while pushed: %s\n", ctxrt_status_name(in_use));

    check(ctxrt_context_destroy(context));
    check(ctxrt_stack_pop());
    check(ctxrt_shutdown());
    return 0;
}
