/*
 * Streams and events: work goes on beside the host, and events tell how long it took.
 *
 *   cc stream_timing.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t gate;
static int order, first, second;

static void check(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", ctxrt_status_name(status), ctxrt_last_error()->message);
    exit(1);
}

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

int main(void)
{
    ctxrt_event *begin, *end;
    ctxrt_stream *other;
    float ms = 0;
    sem_init(&gate, 0, 0);

    /* A stream of the second device waits for an event of the first. */
    check(ctxrt_device_set(CTXRT_CUDA(1)));
    check(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &other));

    check(ctxrt_device_set(CTXRT_CUDA(0)));
    check(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &begin));
    check(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &end));
    check(ctxrt_event_record(begin, NULL)); /* NULL: the thread's current stream */
    check(ctxrt_stream_add_host_function(NULL, wait_at_gate, NULL));
    check(ctxrt_event_record(end, NULL));
    check(ctxrt_stream_wait_event(other, end));
    check(ctxrt_stream_add_host_function(other, come_second, NULL));
    printf("before the host waits: %s\n", ctxrt_status_name(ctxrt_event_query(end)));

    sem_post(&gate);
    check(ctxrt_event_synchronize(end));
    printf("the work in front was done first: %s\n", first == 1 ? "yes" : "no");
    printf("after the host waited: %s\n", ctxrt_status_name(ctxrt_event_query(end)));
    check(ctxrt_event_elapsed_ms(begin, end, &ms));
    printf("it took some time: %s\n", ms > 0 ? "yes" : "no");
    check(ctxrt_stream_synchronize(other));
    printf("other device's stream came after: %s\n", second == 2 ? "yes" : "no");

    check(ctxrt_event_destroy(begin));
    check(ctxrt_event_destroy(end));
    check(ctxrt_stream_destroy(other));
    check(ctxrt_stack_pop());
    check(ctxrt_shutdown());
    return 0;
}
