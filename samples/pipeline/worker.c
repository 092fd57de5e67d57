#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two chunks of a worker are in flight: one is read while the other is on its way. */
enum { IN_FLIGHT = 2 };

/* One chunk on its way. */
typedef struct passage {
    bool busy;
    size_t chunk, bytes;
    int first, second; /* devices */
    ctxrt_memory *in, *out;         /* pinned host memory, kept from chunk to chunk */
    ctxrt_memory *on_first, *on_second;
    ctxrt_event *first_begin, *first_end, *second_begin, *second_end;
    totals result;
} passage;

static bool good(pipeline *self, ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return true;
    pipeline_fail(self, "%s: %s", ctxrt_status_name(status), ctxrt_last_error()->message);
    return false;
}

/* Runs on a thread of the driver when the chunk is back. */
static void examine(void *argument)
{
    passage *chunk = argument;
    totals_add(&chunk->result, ctxrt_memory_pointer(chunk->out), chunk->bytes);
}

/* In the scope of the first device: in, then over to the second. */
static bool send(pipeline *self, passage *chunk)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    bool sent = good(self, CTXRT_SCOPE_ENTER(self->device[chunk->second], &scope)) &&
                good(self, ctxrt_memory_alloc(chunk->bytes, &chunk->on_second));
    if (!good(self, ctxrt_scope_leave(&scope)) || !sent)
        return false;
    atomic_fetch_add(&self->figures[chunk->second].switches, 1);
    void *first, *second = ctxrt_memory_pointer(chunk->on_second);
    if (!good(self, ctxrt_memory_alloc(chunk->bytes, &chunk->on_first)))
        return false;
    first = ctxrt_memory_pointer(chunk->on_first);
    return good(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &chunk->first_begin)) &&
           good(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &chunk->first_end)) &&
           good(self, ctxrt_event_record(chunk->first_begin, NULL)) &&
           good(self, ctxrt_copy_async(first, ctxrt_memory_pointer(chunk->in), chunk->bytes,
                                       CTXRT_COPY_HOST_TO_DEVICE, NULL)) &&
           good(self, ctxrt_copy_peer(second, self->device[chunk->second], first,
                                      self->device[chunk->first], chunk->bytes, NULL)) &&
           good(self, ctxrt_event_record(chunk->first_end, NULL));
}

/* In the scope of the second device: back to the host, and a look at what came. */
static bool fetch(pipeline *self, passage *chunk)
{
    return good(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &chunk->second_begin)) &&
           good(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &chunk->second_end)) &&
           good(self, ctxrt_stream_wait_event(NULL, chunk->first_end)) &&
           good(self, ctxrt_event_record(chunk->second_begin, NULL)) &&
           good(self, ctxrt_copy_async(ctxrt_memory_pointer(chunk->out),
                                       ctxrt_memory_pointer(chunk->on_second), chunk->bytes,
                                       CTXRT_COPY_DEVICE_TO_HOST, NULL)) &&
           good(self, ctxrt_stream_add_host_function(NULL, examine, chunk)) &&
           good(self, ctxrt_event_record(chunk->second_end, NULL));
}

/* Once, when half of the file is on its way, or what is known of it. */
static bool take_snapshot(pipeline *self, size_t chunk)
{
    size_t middle = self->source->size_bytes / self->source->chunk_bytes / 2;
    return chunk < middle || gather(self);
}

static bool submit(pipeline *self, passage *chunk)
{
    CTXRT_SCOPE ctxrt_scope outer = CTXRT_SCOPE_INIT;
    CTXRT_SCOPE ctxrt_scope inner = CTXRT_SCOPE_INIT;
    chunk->busy = true;
    chunk->result = (totals){0};
    chunk->first = (int)(chunk->chunk % (size_t)self->devices);
    chunk->second = (chunk->first + 1) % self->devices;
    atomic_fetch_add(&self->figures[chunk->first].switches, 1);
    atomic_fetch_add(&self->figures[chunk->second].switches, 1);
    return good(self, CTXRT_SCOPE_ENTER(self->device[chunk->first], &outer)) && send(self, chunk) &&
           good(self, CTXRT_SCOPE_ENTER(self->device[chunk->second], &inner)) &&
           fetch(self, chunk) && take_snapshot(self, chunk->chunk);
}

static bool count_time(pipeline *self, int device, ctxrt_event *begin, ctxrt_event *end,
                       size_t bytes)
{
    float ms;
    if (!good(self, ctxrt_event_elapsed_ms(begin, end, &ms)))
        return false;
    atomic_fetch_add(&self->figures[device].busy_us, (unsigned long long)(ms * 1000.0f));
    atomic_fetch_add(&self->figures[device].bytes, bytes);
    atomic_fetch_add(&self->figures[device].chunks, 1);
    return true;
}

/* Waits for a chunk to be back and gives everything of it back but the pinned buffers. */
static bool finish(pipeline *self, passage *chunk)
{
    bool done = true;
    if (!chunk->busy)
        return true;
    chunk->busy = false;
    if (chunk->second_end != NULL && !atomic_load(&self->stop))
        done =
            good(self, ctxrt_event_synchronize(chunk->second_end)) &&
            count_time(self, chunk->first, chunk->first_begin, chunk->first_end, chunk->bytes) &&
            count_time(self, chunk->second, chunk->second_begin, chunk->second_end, chunk->bytes) &&
            pipeline_keep(self, chunk->chunk, &chunk->result);
    else if (chunk->second_end != NULL)
        (void)!ctxrt_event_synchronize(chunk->second_end);
    ctxrt_event **const events[] = {&chunk->first_begin, &chunk->first_end, &chunk->second_begin,
                                    &chunk->second_end};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        done = good(self, ctxrt_event_destroy(*events[i])) && done;
        *events[i] = NULL;
    }
    done = good(self, ctxrt_memory_release(chunk->on_first)) && done;
    done = good(self, ctxrt_memory_release(chunk->on_second)) && done;
    chunk->on_first = chunk->on_second = NULL;
    return done;
}

/* Pinned memory needs some context; the worker's home device lends its own. */
static bool make_buffers(pipeline *self, passage *chunks, int home)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    if (!good(self, ctxrt_scope_enter(self->device[home], &scope)))
        return false;
    for (int i = 0; i < IN_FLIGHT; i++)
        if (!good(self, ctxrt_memory_alloc_pinned(self->source->chunk_bytes, &chunks[i].in)) ||
            !good(self, ctxrt_memory_alloc_pinned(self->source->chunk_bytes, &chunks[i].out)))
            return false;
    return true;
}

static bool pass_chunks(pipeline *self, passage *chunks)
{
    for (int turn = 0; !atomic_load(&self->stop); turn = (turn + 1) % IN_FLIGHT) {
        passage *chunk = &chunks[turn];
        if (!finish(self, chunk))
            return false;
        int answer = source_read(self->source, ctxrt_memory_pointer(chunk->in), &chunk->chunk,
                                 &chunk->bytes);
        if (answer < 0)
            pipeline_fail(self, "cannot read %s: %s", self->source->name, strerror(errno));
        if (answer <= 0)
            return answer == 0;
        if (!submit(self, chunk))
            return false;
    }
    return true;
}

void *worker_run(void *argument)
{
    static atomic_int started;
    pipeline *self = argument;
    passage chunks[IN_FLIGHT] = {0};
    if (make_buffers(self, chunks, atomic_fetch_add(&started, 1) % self->devices))
        (void)pass_chunks(self, chunks);
    for (int i = 0; i < IN_FLIGHT; i++) {
        (void)finish(self, &chunks[i]);
        (void)good(self, ctxrt_memory_release(chunks[i].in));
        (void)good(self, ctxrt_memory_release(chunks[i].out));
    }
    gather_without(self);
    return NULL;
}
