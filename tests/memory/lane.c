#include "crowd.h"

#include <stdlib.h>
#include <string.h>

/* ---- looking at memory in the order of a stream ---- */

typedef struct look {
    crowd *all;
    const unsigned char *landed;
    size_t size;
    unsigned char value;
    const void *memory;
} look;

static void compare(void *argument)
{
    look *self = argument;
    const unsigned char *bytes = self->landed;
    if (bytes[0] != self->value || memcmp(bytes, bytes + 1, self->size - 1) != 0) {
        size_t same = 0;
        while (same < self->size && bytes[same] == self->value)
            same++;
        crowd_tell(self->all, "byte %zu of the %zu at %p is %d, not %d: other work wrote to it",
                   same, self->size, self->memory, bytes[same], self->value);
    }
    atomic_fetch_add_explicit(&self->all->checks, 1, memory_order_relaxed);
    free(self);
}

static ctxrt_status land(const lane *self, const rows *some)
{
    const ctxrt_copy_region region = {.destination = self->landed,
                                      .destination_pitch_bytes = some->width,
                                      .source = some->first,
                                      .source_pitch_bytes = ROWS_APART,
                                      .width_bytes = some->width,
                                      .height = some->count,
                                      .kind = CTXRT_COPY_DEVICE_TO_HOST};
    return some->count == 1 ? ctxrt_copy_async(self->landed, some->first, some->width,
                                               CTXRT_COPY_DEVICE_TO_HOST, self->stream)
                            : ctxrt_copy_2d_async(&region, self->stream);
}

void lane_check(crowd *all, lane *self, const void *memory, size_t size, unsigned char value)
{
    look *made = malloc(sizeof *made);
    if (made == NULL)
        abort();
    const rows some = rows_of(all, memory, size);
    *made = (look){all, self->landed, some.count * some.width, value, memory};
    pthread_mutex_lock(&self->order);
    bool copied = crowd_expect(all, land(self, &some), "a copy of a block");
    if (!copied || !EXPECT(all, ctxrt_stream_add_host_function(self->stream, compare, made)))
        free(made);
    pthread_mutex_unlock(&self->order);
}

/* The event is of the lane: another thread may record it again as soon as `behind` waits. */
bool lane_order(crowd *all, lane *before, lane *behind)
{
    pthread_mutex_lock(&before->order);
    bool ordered = EXPECT(all, ctxrt_event_record(before->event, before->stream)) &&
                   EXPECT(all, ctxrt_stream_wait_event(behind->stream, before->event));
    pthread_mutex_unlock(&before->order);
    return ordered;
}

/* ---- life ---- */

/* In every third life the stream is one of other code. */
static bool take_stream(crowd *all, lane *self)
{
    struct CUstream_st *native;
    ctxrt_stream *made;
    self->wrapped = NULL;
    if (!EXPECT(all, ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &made)))
        return false;
    if (self->life % 3 == 2 && EXPECT(all, ctxrt_stream_native(made, &native)) &&
        EXPECT(all, ctxrt_stream_from_native(native, &self->stream)))
        self->wrapped = made;
    else
        self->stream = made;
    return true;
}

bool lane_open(crowd *all, lane *self, int place)
{
    pthread_rwlock_init(&self->lock, NULL);
    pthread_mutex_init(&self->order, NULL);
    self->place = place;
    self->life = 0;
    if (ctxrt_memory_alloc_pinned(BLOCK_BYTES_MAX, &self->landing) != CTXRT_SUCCESS)
        return false;
    self->landed = ctxrt_memory_pointer(self->landing);
    return EXPECT(all, ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &self->event)) &&
           take_stream(all, self);
}

static void destroy_stream(crowd *all, const lane *self)
{
    (void)EXPECT(all, ctxrt_stream_destroy(self->stream));
    if (self->wrapped != NULL)
        (void)EXPECT(all, ctxrt_stream_destroy(self->wrapped));
}

void lane_close(crowd *all, lane *self)
{
    (void)EXPECT(all, ctxrt_stream_synchronize(self->stream));
    destroy_stream(all, self);
    (void)EXPECT(all, ctxrt_event_destroy(self->event));
    (void)EXPECT(all, ctxrt_memory_release(self->landing));
    pthread_rwlock_destroy(&self->lock);
    pthread_mutex_destroy(&self->order);
}

/* What checks copy lands in the same place as before: it stays in order. */
static void follow(crowd *all, const lane *self, ctxrt_stream *before)
{
    if (!EXPECT(all, ctxrt_event_record(self->event, before)) ||
        !EXPECT(all, ctxrt_stream_wait_event(self->stream, self->event)))
        (void)EXPECT(all, ctxrt_stream_synchronize(before));
}

static void restore(lane *self, ctxrt_stream *stream, ctxrt_stream *wrapped)
{
    self->stream = stream;
    self->wrapped = wrapped;
    self->life--;
}

void lane_replace(member *who, lane *self)
{
    crowd *all = who->all;
    if (pthread_rwlock_trywrlock(&self->lock) != 0)
        return;
    ctxrt_stream *stream = self->stream, *wrapped = self->wrapped;
    self->life++;
    if (take_stream(all, self)) {
        follow(all, self, stream);
        ctxrt_status status = ctxrt_stream_destroy(stream);
        if (status == CTXRT_ERROR_IN_USE) {
            destroy_stream(all, self);
            restore(self, stream, wrapped);
        } else if (crowd_expect(all, status, "ctxrt_stream_destroy") && wrapped != NULL) {
            (void)EXPECT(all, ctxrt_stream_destroy(wrapped));
        }
    } else {
        restore(self, stream, wrapped);
    }
    pthread_rwlock_unlock(&self->lock);
}
