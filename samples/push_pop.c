/*
 * Push and pop: each push makes a context current, each pop brings back what was there.
 *
 *   cc push_pop.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
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

static bool show(const char *what)
{
    ctxrt_device device;
    if (!OK(ctxrt_device_get(&device)))
        return false;
    printf("%-21s depth %d, current cuda:%d\n", what, (int)ctxrt_stack_depth(), device.index);
    return true;
}

static bool push_twice(ctxrt_context *context)
{
    return OK(ctxrt_device_set(CTXRT_CUDA(0))) && show("set cuda:0") &&
           OK(ctxrt_stack_push(context)) && show("push a context of 1") &&
           OK(ctxrt_stack_push(context)) && show("push it once more"); /* legal: it adds a frame */
}

/* An override stands above the pushed frame, which stays as it is, and goes with it. */
static bool set_above_a_push(void)
{
    return OK(ctxrt_device_set(CTXRT_CUDA(2))) && show("set cuda:2") && OK(ctxrt_stack_pop()) &&
           show("pop");
}

static bool destroy_too_early(ctxrt_context *context)
{
    ctxrt_status in_use = ctxrt_context_destroy(context); /* one frame still has it */
    if (!OK(ctxrt_stack_pop()) || !show("pop"))
        return false;
    printf("destroy while pushed: %s\n", ctxrt_status_name(in_use));
    return true;
}

int main(void)
{
    ctxrt_context *context = NULL;
    bool good = OK(ctxrt_context_create(CTXRT_CUDA(1), 0, &context)) && push_twice(context) &&
                set_above_a_push() && destroy_too_early(context);
    while (ctxrt_stack_depth() > 0 && OK(ctxrt_stack_pop()))
        continue;
    good = OK(ctxrt_context_destroy(context)) && good;
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
