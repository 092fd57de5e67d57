/*
 * A frame goes from thread to thread with its stream, its allocator and its work in flight, as a
 * floating context does with cuCtxPopCurrent and cuCtxPushCurrent. A thread that cannot take it
 * leaves it with whoever has it.
 *
 *   cc hand_off.c $(pkg-config --cflags --libs ctxrt) -pthread && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)
enum { BYTES = 4096, ROUNDS = 3 };

typedef struct journey {
    ctxrt_context *context;
    ctxrt_stream *stream;
    ctxrt_allocator *allocator;
    ctxrt_memory *memory, *back; /* on the device, pinned on the host */
    ctxrt_detached_frame *frame; /* on its way; NULL while a thread has it */
    sem_t gate;                  /* all work waits until it opens */
    bool good;
} journey;

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

static void wait_at(void *gate)
{
    sem_wait(gate);
}

/* The calling thread goes on with the frame: it is the top one now. */
static bool take(journey *self)
{
    if (!OK(ctxrt_stack_attach(self->frame)))
        return false;
    self->frame = NULL;
    return true;
}

static bool hand_on(journey *self)
{
    return OK(ctxrt_stack_detach(&self->frame));
}

static bool show(const journey *self, const char *who)
{
    ctxrt_frame_info top;
    if (!OK(ctxrt_stack_peek(0, &top)))
        return false;
    printf("%s: depth %d, %s, %s, the work is %s\n", who, (int)ctxrt_stack_depth(),
           top.stream == self->stream ? "the same stream" : "another stream",
           top.allocator == self->allocator ? "the same allocator" : "another allocator",
           ctxrt_status_name(ctxrt_stream_query(NULL)));
    return true;
}

/* The frame's context, stream and allocator are the first thread's to make, and the work begins
 * there. */
static bool set_out(journey *self)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.limit_bytes = 1 << 20;
    return OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self->stream)) &&
           OK(ctxrt_frame_set_stream(self->stream)) &&
           OK(ctxrt_allocator_create(&options, &self->allocator)) &&
           OK(ctxrt_frame_set_allocator(self->allocator)) &&
           OK(ctxrt_memory_alloc(BYTES, &self->memory)) &&
           OK(ctxrt_memory_alloc_pinned(BYTES, &self->back)) &&
           OK(ctxrt_stream_add_host_function(NULL, wait_at, &self->gate)) && show(self, "first");
}

/* A link of the chain: takes the frame, adds its part of the work, hands the frame on. */
static void *add_work(void *argument)
{
    journey *self = argument;
    if (!take(self)) {
        self->good = false;
        return NULL;
    }
    self->good =
        show(self, "next") &&
        OK(ctxrt_fill_async(ctxrt_memory_pointer(self->memory), 42, BYTES, NULL)) &&
        OK(ctxrt_copy_async(ctxrt_memory_pointer(self->back), ctxrt_memory_pointer(self->memory),
                            BYTES, CTXRT_COPY_DEVICE_TO_HOST, NULL));
    if (!hand_on(self)) {
        (void)OK(ctxrt_stack_pop()); /* rather than leave it on a thread that ends */
        self->good = false;
    }
    return NULL;
}

/* A thread whose stack has no room: the frame stays where it was. */
static void *have_no_room(void *argument)
{
    journey *self = argument;
    size_t pushed = 0;
    while (pushed < CTXRT_STACK_DEPTH_MAX && OK(ctxrt_device_push(CTXRT_CUDA(1))))
        pushed++;
    if (pushed == CTXRT_STACK_DEPTH_MAX)
        printf("full: attach is %s\n", ctxrt_status_name(ctxrt_stack_attach(self->frame)));
    while (ctxrt_stack_depth() > 0 && OK(ctxrt_stack_pop()))
        continue;
    self->good = pushed == CTXRT_STACK_DEPTH_MAX && ctxrt_stack_depth() == 0;
    return NULL;
}

static bool on_a_thread(journey *self, void *(*link)(void *))
{
    pthread_t thread;
    return pthread_create(&thread, NULL, link, self) == 0 && pthread_join(thread, NULL) == 0 &&
           self->good;
}

static bool travel(journey *self)
{
    bool good = true;
    for (int i = 0; good && i < ROUNDS; i++)
        good = on_a_thread(self, add_work);
    good = good && on_a_thread(self, have_no_room);
    if (good)
        printf("main: depth %d; destroying the context on its way is %s\n",
               (int)ctxrt_stack_depth(), ctxrt_status_name(ctxrt_context_destroy(self->context)));
    return good;
}

static bool come_home(journey *self)
{
    bool shown = show(self, "last");
    sem_post(&self->gate);
    if (!OK(ctxrt_stream_synchronize(NULL)) || !shown)
        return false;
    const unsigned char *bytes = ctxrt_memory_pointer(self->back);
    printf("last: the first byte is %d, the last one %d\n", bytes[0], bytes[BYTES - 1]);
    return true;
}

/* Frees everything that was made, however far the journey came. */
static bool clean_up(journey *self)
{
    bool good = OK(ctxrt_memory_release(self->memory));
    good = OK(ctxrt_memory_release(self->back)) && good;
    good = OK(ctxrt_allocator_destroy(self->allocator)) && good;
    good = OK(ctxrt_stream_destroy(self->stream)) && good;
    return OK(ctxrt_context_destroy(self->context)) && good;
}

int main(void)
{
    journey self = {0};
    sem_init(&self.gate, 0, 0);
    bool good = OK(ctxrt_context_create(CTXRT_CUDA(0), 0, &self.context)) &&
                OK(ctxrt_stack_push(self.context)) && set_out(&self) && hand_on(&self) &&
                travel(&self);
    if (self.frame != NULL)
        good = take(&self) && good;
    good = good && come_home(&self);
    sem_post(&self.gate); /* on every path: freeing memory waits for its work */
    good = (ctxrt_stack_depth() == 0 || OK(ctxrt_stack_pop())) && good;
    good = clean_up(&self) && good;
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
