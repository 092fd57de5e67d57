/*
 * A scope is left on every path out of its block, an early return included.
 *
 *   cc scope_return.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
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

static int current(void)
{
    ctxrt_device device;
    check(ctxrt_device_get(&device));
    return device.index;
}

static int work(int early)
{
    CTXRT_SCOPE ctxrt_scope scope = {0};
    check(CTXRT_SCOPE_ENTER(CTXRT_CUDA(2), &scope));
    printf("in the scope: cuda:%d\n", current());
    if (early)
        return 1;
    check(ctxrt_device_set(CTXRT_CUDA(3))); /* belongs to the scope's level and goes with it */
    return 2;
}

int main(void)
{
    ctxrt_scope scope = {0};
    check(ctxrt_device_set(CTXRT_CUDA(0)));

    printf("returned early: %d\n", work(1));
    printf("after it: cuda:%d, depth %d\n", current(), (int)ctxrt_stack_depth());
    printf("returned late: %d\n", work(0));
    printf("after it: cuda:%d, depth %d\n", current(), (int)ctxrt_stack_depth());

    check(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    check(ctxrt_device_push(CTXRT_CUDA(3)));
    printf("something was pushed and left: %s\n", ctxrt_status_name(ctxrt_scope_leave(&scope)));
    printf("after it: cuda:%d, depth %d\n", current(), (int)ctxrt_stack_depth());

    check(ctxrt_stack_pop());
    check(ctxrt_shutdown());
    return 0;
}
