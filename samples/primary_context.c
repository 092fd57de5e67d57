/*
 * The primary context of a device: one for all threads, and retaining it makes nothing current.
 *
 *   cc primary_context.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
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

static bool show_current(const char *what)
{
    ctxrt_device device;
    if (!OK(ctxrt_device_get(&device)))
        return false;
    printf("%s; current: cuda:%d\n", what, device.index);
    return true;
}

static bool write_pushed(ctxrt_context *primary, int value, ctxrt_memory **out_memory)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    return OK(ctxrt_scope_enter_context(primary, &scope)) && show_current("pushed") &&
           OK(ctxrt_memory_alloc(sizeof value, out_memory)) &&
           OK(ctxrt_copy(ctxrt_memory_pointer(*out_memory), &value, sizeof value,
                         CTXRT_COPY_HOST_TO_DEVICE));
}

static bool read_pushed(ctxrt_context *primary, ctxrt_memory *memory)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    int back = 0;
    bool good =
        OK(ctxrt_scope_enter_context(primary, &scope)) &&
        OK(ctxrt_copy(&back, ctxrt_memory_pointer(memory), sizeof back, CTXRT_COPY_DEVICE_TO_HOST));
    if (good)
        printf("popped; its memory still holds %d\n", back);
    return good;
}

/* The end of a scope pops, which frees nothing. */
static bool keep_memory(ctxrt_context *primary)
{
    ctxrt_memory *memory = NULL;
    bool good = write_pushed(primary, 42, &memory) && read_pushed(primary, memory);
    return OK(ctxrt_memory_release(memory)) && good; /* under any current context, or none */
}

static bool retain_again(ctxrt_context *primary)
{
    ctxrt_context *again;
    if (!OK(ctxrt_context_retain_primary(CTXRT_CUDA(1), &again)))
        return false;
    printf("retained again: %s\n", again == primary ? "the same context" : "another context");
    return OK(ctxrt_context_release(again));
}

static void show_release(const char *when)
{
    printf("release of the device%s: %s\n", when,
           ctxrt_status_name(ctxrt_device_release(CTXRT_CUDA(1))));
}

int main(void)
{
    ctxrt_context *primary = NULL;
    ctxrt_device device;
    bool good = OK(ctxrt_context_retain_primary(CTXRT_CUDA(1), &primary));
    if (good) {
        printf("retained; current: %s\n", ctxrt_status_name(ctxrt_device_get(&device)));
        good = keep_memory(primary) && retain_again(primary);
        show_release(" while retained");
    }
    good = OK(ctxrt_context_release(primary)) && good;
    if (good)
        show_release("");
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
