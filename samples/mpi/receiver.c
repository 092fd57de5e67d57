#include "receiver.h"

#include "traffic.h"

void receiver_open(receiver *self, const mpi_ways *ways, int direction, size_t chunk_bytes)
{
    *self = (receiver){
        .in = &ways->in[direction], .chunk_bytes = chunk_bytes, .tag = BLOCK_TAG + direction};
    self->chunks = block_chunks(self->in->bytes, chunk_bytes);
    OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self->stream));
    if (self->in->bytes > 0)
        OK(ctxrt_memory_alloc_pinned(self->in->bytes, &self->fetched));
    for (int i = 0; i < SLOTS; i++) {
        self->slots[i].whole = self;
        OK(ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &self->slots[i].event));
        if (self->in->way == WAY_STAGED)
            OK(ctxrt_memory_alloc_pinned(chunk_bytes, &self->slots[i].pinned));
    }
}

static size_t bytes_of(const receiver *self, size_t chunk)
{
    return block_chunk_bytes(self->in->bytes, self->chunk_bytes, chunk);
}

static unsigned char *landed(const receiver *self, size_t chunk)
{
    return (unsigned char *)self->in->landed + chunk * self->chunk_bytes;
}

static unsigned char *fetched(const receiver *self, size_t chunk)
{
    return (unsigned char *)ctxrt_memory_pointer(self->fetched) + chunk * self->chunk_bytes;
}

/* Runs on a thread of the driver, in the order of the stream: the checksum needs that. */
static void examine(void *argument)
{
    receive_slot *slot = argument;
    totals_add(&slot->whole->totals, fetched(slot->whole, slot->chunk),
               bytes_of(slot->whole, slot->chunk));
}

static void ask(receiver *self, receive_slot *slot)
{
    void *bytes = &slot->note;
    size_t count = sizeof slot->note;
    slot->chunk = self->next++;
    if (self->in->way == WAY_STAGED || self->in->way == WAY_AWARE) {
        bytes = self->in->way == WAY_STAGED ? ctxrt_memory_pointer(slot->pinned)
                                            : landed(self, slot->chunk);
        count = bytes_of(self, slot->chunk);
    }
    traffic_receive(bytes, count, self->in->peer, self->tag, &slot->request);
    slot->state = SLOT_MPI;
}

/* The chunk is on the GPU, or goes there now; then it comes back for a look. */
static void fetch(receiver *self, receive_slot *slot)
{
    size_t bytes = bytes_of(self, slot->chunk);
    if (self->in->way == WAY_STAGED)
        OK(ctxrt_copy_async(landed(self, slot->chunk), ctxrt_memory_pointer(slot->pinned), bytes,
                            CTXRT_COPY_HOST_TO_DEVICE, self->stream));
    OK(ctxrt_copy_async(fetched(self, slot->chunk), landed(self, slot->chunk), bytes,
                        CTXRT_COPY_DEVICE_TO_HOST, self->stream));
    OK(ctxrt_stream_add_host_function(self->stream, examine, slot));
    OK(ctxrt_event_record(slot->event, self->stream));
    slot->state = SLOT_GPU;
    self->come++;
}

static bool step_slot(receiver *self, receive_slot *slot)
{
    switch (slot->state) {
    case SLOT_IDLE:
        if (self->next == self->chunks)
            return false;
        ask(self, slot);
        return true;
    case SLOT_MPI:
        if (slot->chunk != self->come || !traffic_done(&slot->request))
            return false;
        fetch(self, slot);
        return true;
    case SLOT_GPU:
        if (!slot_is_copied(slot->event))
            return false;
        slot->state = SLOT_IDLE;
        self->done++;
        return true;
    }
    return false;
}

bool receiver_step(receiver *self)
{
    bool moved = false;
    for (int i = 0; i < SLOTS; i++)
        moved = step_slot(self, &self->slots[i]) || moved;
    return moved;
}

bool receiver_done(const receiver *self)
{
    return self->done == self->chunks;
}

void receiver_close(receiver *self)
{
    for (int i = 0; i < SLOTS; i++) {
        OK(ctxrt_event_destroy(self->slots[i].event));
        OK(ctxrt_memory_release(self->slots[i].pinned));
    }
    OK(ctxrt_memory_release(self->fetched));
    OK(ctxrt_stream_destroy(self->stream));
}
