/*
 * One context, current on two threads at once: each has a stack of its own. What one of them writes
 * the other reads, and an event keeps the order: neither thread waits for the other's work.
 *
 *   cc two_threads.c $(pkg-config --cflags --libs ctxrt) -pthread && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)
enum { BYTES = 1 << 20 };

typedef struct meeting {
    ctxrt_context *context;
    ctxrt_memory *memory; /* the writer's; NULL if it failed */
    ctxrt_event *written;
    sem_t submitted; /* the writer has submitted its work */
    sem_t gate;      /* that work begins when this opens */
    bool writer_good, reader_good;
} meeting;

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

static bool show(const char *who)
{
    ctxrt_device device;
    if (!OK(ctxrt_device_get(&device)))
        return false;
    printf("%s: depth %d, current cuda:%d\n", who, (int)ctxrt_stack_depth(), device.index);
    return true;
}

/* A host function: the work behind it waits. */
static void wait_at(void *gate)
{
    sem_wait(gate);
}

static bool write_memory(meeting *self)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    return OK(ctxrt_scope_enter_context(self->context, &scope)) && show("writer") &&
           OK(ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &self->written)) &&
           OK(ctxrt_memory_alloc(BYTES, &self->memory)) &&
           OK(ctxrt_stream_add_host_function(NULL, wait_at, &self->gate)) &&
           OK(ctxrt_fill_async(ctxrt_memory_pointer(self->memory), 42, BYTES, NULL)) &&
           OK(ctxrt_event_record(self->written, NULL));
}

static void *writer(void *argument)
{
    meeting *self = argument;
    self->writer_good = write_memory(self);
    sem_post(&self->submitted); /* the thread ends, its work goes on */
    return NULL;
}

static bool all_are(const unsigned char *bytes, unsigned char value)
{
    for (size_t i = 0; i < BYTES; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static bool read_memory(meeting *self)
{
    CTXRT_SCOPE ctxrt_scope below = CTXRT_SCOPE_INIT;
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_memory *back = NULL;
    if (!OK(ctxrt_scope_enter(CTXRT_CUDA(1), &below)) ||
        !OK(ctxrt_scope_enter_context(self->context, &scope)) || !show("reader"))
        return false;
    bool read = OK(ctxrt_memory_alloc_pinned(BYTES, &back)) &&
                OK(ctxrt_stream_wait_event(NULL, self->written)) &&
                OK(ctxrt_copy_async(ctxrt_memory_pointer(back), ctxrt_memory_pointer(self->memory),
                                    BYTES, CTXRT_COPY_DEVICE_TO_HOST, NULL));
    printf("reader: both are submitted, the event is %s\n",
           ctxrt_status_name(ctxrt_event_query(self->written)));
    sem_post(&self->gate);
    read = OK(ctxrt_stream_synchronize(NULL)) && read;
    if (read)
        printf("reader: %d bytes of 42: %s\n", BYTES,
               all_are(ctxrt_memory_pointer(back), 42) ? "yes" : "no");
    return OK(ctxrt_memory_release(back)) && read;
}

static void *reader(void *argument)
{
    meeting *self = argument;
    sem_wait(&self->submitted);
    self->reader_good = self->writer_good && read_memory(self);
    sem_post(&self->gate); /* on every path: freeing the memory waits for its work */
    return NULL;
}

static bool meet(meeting *self)
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, reader, self) != 0)
        return false;
    bool both = pthread_create(&threads[1], NULL, writer, self) == 0;
    if (!both)
        sem_post(&self->submitted);
    pthread_join(threads[0], NULL);
    if (both)
        pthread_join(threads[1], NULL);
    return self->writer_good && self->reader_good;
}

int main(void)
{
    meeting self = {0};
    sem_init(&self.submitted, 0, 0);
    sem_init(&self.gate, 0, 0);
    bool good = OK(ctxrt_context_create(CTXRT_CUDA(0), 0, &self.context)) && meet(&self);
    good = OK(ctxrt_memory_release(self.memory)) && good;
    good = OK(ctxrt_event_destroy(self.written)) && good;
    good = OK(ctxrt_context_destroy(self.context)) && good;
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
