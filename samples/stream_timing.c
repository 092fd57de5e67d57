/*
 * Streams and events: work goes on beside the host, and events tell how long it took.
 *
 *   cc stream_timing.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <semaphore.h>
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

typedef struct timing {
    ctxrt_event *begin, *end;
    ctxrt_stream *other; /* of the second device */
} timing;

static sem_t gate;
static int order, first, second;

static void wait_at_gate(void *unused)
{
    (void)unused;
    sem_wait(&gate);
    first = ++order;
}

static void come_second(void *unused)
{
    (void)unused;
    second = ++order;
}

static bool make(timing *self)
{
    return OK(ctxrt_device_set(CTXRT_CUDA(1))) &&
           OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self->other)) &&
           OK(ctxrt_device_set(CTXRT_CUDA(0))) &&
           OK(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &self->begin)) &&
           OK(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &self->end));
}

/* A stream of the second device waits for an event of the first. NULL: the thread's current stream.
 */
static bool submit(timing *self)
{
    return OK(ctxrt_event_record(self->begin, NULL)) &&
           OK(ctxrt_stream_add_host_function(NULL, wait_at_gate, NULL)) &&
           OK(ctxrt_event_record(self->end, NULL)) &&
           OK(ctxrt_stream_wait_event(self->other, self->end)) &&
           OK(ctxrt_stream_add_host_function(self->other, come_second, NULL));
}

static bool wait_for_it(timing *self)
{
    float ms = 0;
    if (!OK(ctxrt_event_synchronize(self->end)))
        return false;
    printf("the work in front was done first: %s\n", first == 1 ? "yes" : "no");
    printf("after the host waited: %s\n", ctxrt_status_name(ctxrt_event_query(self->end)));
    if (!OK(ctxrt_event_elapsed_ms(self->begin, self->end, &ms)))
        return false;
    printf("it took some time: %s\n", ms > 0 ? "yes" : "no");
    if (!OK(ctxrt_stream_synchronize(self->other)))
        return false;
    printf("other device's stream came after: %s\n", second == 2 ? "yes" : "no");
    return true;
}

int main(void)
{
    timing self = {0};
    sem_init(&gate, 0, 0);
    bool good = make(&self) && submit(&self);
    if (good)
        printf("before the host waits: %s\n", ctxrt_status_name(ctxrt_event_query(self.end)));
    sem_post(&gate); /* on every path: work that was submitted is to end */
    good = good && wait_for_it(&self);

    good = OK(ctxrt_event_destroy(self.begin)) && good;
    good = OK(ctxrt_event_destroy(self.end)) && good;
    good = OK(ctxrt_stream_destroy(self.other)) && good;
    if (ctxrt_stack_depth() > 0)
        good = OK(ctxrt_stack_pop()) && good;
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
