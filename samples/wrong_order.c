/*
 * Mistakes made on purpose. Each call fails with a status and a sentence, and leaves everything as
 * it was.
 *
 *   cc wrong_order.c $(pkg-config --cflags --libs ctxrt) -pthread && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <pthread.h>
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

/* Shows the result of a mistake. */
static void show(const char *mistake, ctxrt_status status)
{
    printf("%s\n  %s\n  %s\n", mistake, ctxrt_status_name(status),
           status != CTXRT_SUCCESS ? ctxrt_last_error()->message : "nobody noticed");
}

static void with_nothing_current(void)
{
    ctxrt_memory *memory;
    show("memory, before any device is set", ctxrt_memory_alloc(64, &memory));
    show("a pop of an empty stack", ctxrt_stack_pop());
    show("a device that is not there", ctxrt_device_set(CTXRT_CUDA(99)));
    show("a type of device that nobody serves",
         ctxrt_device_set(ctxrt_device_of(CTXRT_DEVICE_ASCEND, 0)));
}

static bool with_a_stream(void)
{
    CTXRT_SCOPE ctxrt_scope outer = CTXRT_SCOPE_INIT;
    CTXRT_SCOPE ctxrt_scope inner = CTXRT_SCOPE_INIT;
    ctxrt_stream *stream = NULL;
    bool ready = OK(ctxrt_scope_enter(CTXRT_CUDA(0), &outer)) &&
                 OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream)) &&
                 OK(ctxrt_scope_enter(CTXRT_CUDA(1), &inner));
    if (ready)
        show("a stream of cuda:0 for a frame of cuda:1", ctxrt_frame_set_stream(stream));
    if (!OK(ctxrt_stream_destroy(stream)) || !ready)
        return false;
    show("a stream that was destroyed", ctxrt_stream_synchronize(stream));
    return true;
}

static void *leave_elsewhere(void *scope)
{
    show("a scope left on another thread", ctxrt_scope_leave(scope));
    return NULL;
}

static bool with_scopes(void)
{
    CTXRT_SCOPE ctxrt_scope outer = CTXRT_SCOPE_INIT;
    CTXRT_SCOPE ctxrt_scope inner = CTXRT_SCOPE_INIT;
    pthread_t other;
    if (!OK(ctxrt_scope_enter(CTXRT_CUDA(0), &outer)) ||
        !OK(ctxrt_scope_enter(CTXRT_CUDA(1), &inner)))
        return false;
    show("a scope entered twice", ctxrt_scope_enter(CTXRT_CUDA(1), &inner));
    show("a pop of a scope's level", ctxrt_stack_pop());
    if (pthread_create(&other, NULL, leave_elsewhere, &inner) != 0 ||
        pthread_join(other, NULL) != 0)
        return false;
    show("the outer scope left first: it takes the inner one along", ctxrt_scope_leave(&outer));
    show("the inner scope left after it", ctxrt_scope_leave(&inner));
    return true;
}

static bool with_a_context(void)
{
    ctxrt_context *context = NULL;
    ctxrt_memory *memory = NULL;
    ctxrt_detached_frame *frame;
    if (!OK(ctxrt_context_create(CTXRT_CUDA(0), 0, &context)))
        return false;
    bool ready = OK(ctxrt_stack_push(context));
    if (ready) {
        show("a context destroyed while a frame has it", ctxrt_context_destroy(context));
        ready = OK(ctxrt_memory_alloc(64, &memory)) && OK(ctxrt_device_set(CTXRT_CUDA(1)));
        if (ready)
            show("an override handed to another thread", ctxrt_stack_detach(&frame));
        ready = OK(ctxrt_stack_pop()) && ready;
    }
    if (ready)
        show("a context destroyed while it has memory", ctxrt_context_destroy(context));
    if (!OK(ctxrt_memory_release(memory)) || !OK(ctxrt_context_destroy(context)) || !ready)
        return false;
    show("memory released twice", ctxrt_memory_release(memory));
    show("a push of a context that was destroyed", ctxrt_stack_push(context));
    return true;
}

static bool with_a_reset(void)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_event *event = NULL;
    bool ready = OK(ctxrt_scope_enter(CTXRT_CUDA(0), &scope)) &&
                 OK(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event)) &&
                 OK(ctxrt_device_reset(CTXRT_CUDA(0)));
    if (ready)
        show("an event from before a reset of its device", ctxrt_event_record(event, NULL));
    return OK(ctxrt_event_destroy(event)) && ready;
}

static bool at_the_end(void)
{
    ctxrt_memory *memory;
    if (!OK(ctxrt_device_set(CTXRT_CUDA(0))))
        return false;
    show("a shutdown with a frame left", ctxrt_shutdown());
    bool made = OK(ctxrt_memory_alloc(64, &memory));
    if (!OK(ctxrt_stack_pop()) || !made)
        return false;
    show("a shutdown with memory left", ctxrt_shutdown());
    return OK(ctxrt_memory_release(memory));
}

int main(void)
{
    with_nothing_current();
    bool good =
        with_a_stream() && with_scopes() && with_a_context() && with_a_reset() && at_the_end();
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
