/*
 * A scope is left on every path out of its block, an early return included.
 *
 *   cc scope_return.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
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

static bool show(const char *when)
{
    ctxrt_device device;
    if (!OK(ctxrt_device_get(&device)))
        return false;
    printf("%s: cuda:%d, depth %d\n", when, device.index, (int)ctxrt_stack_depth());
    return true;
}

static bool work(bool early)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    if (!OK(CTXRT_SCOPE_ENTER(CTXRT_CUDA(2), &scope)) || !show("in the scope"))
        return false;
    if (early)
        return true;
    return OK(ctxrt_device_set(CTXRT_CUDA(3))) &&
           show("set in it"); /* of the scope's level: goes with it */
}

static bool leave_something(void)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    bool good =
        OK(ctxrt_scope_enter(CTXRT_CUDA(1), &scope)) && OK(ctxrt_device_push(CTXRT_CUDA(3)));
    ctxrt_status left = ctxrt_scope_leave(&scope);
    printf("something was pushed and left: %s\n", ctxrt_status_name(left));
    return good;
}

int main(void)
{
    bool good = OK(ctxrt_device_set(CTXRT_CUDA(0)));
    if (good) {
        good = work(true) && show("returned early") && work(false) && show("returned late") &&
               leave_something() && show("after it");
        good = OK(ctxrt_stack_pop()) && good;
    }
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
