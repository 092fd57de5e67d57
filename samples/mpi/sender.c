#include "sender.h"

#include "traffic.h"

void sender_open(sender *self, const mpi_ways *ways, int direction, const mpi_block *block,
                 const mpi_counter *counter)
{
    *self = (sender){.out = &ways->out[direction],
                     .block = block,
                     .counter = counter,
                     .tag = BLOCK_TAG + direction};
    OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self->stream));
    for (int i = 0; i < SLOTS; i++) {
        OK(ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &self->slots[i].event));
        if (self->out->way == WAY_STAGED)
            OK(ctxrt_memory_alloc_pinned(block->chunk_bytes, &self->slots[i].pinned));
    }
}

static unsigned char *on_device(const sender *self, size_t chunk)
{
    return (unsigned char *)ctxrt_memory_pointer(self->counter->on_device) +
           chunk * self->block->chunk_bytes;
}

static size_t bytes_of(const sender *self, size_t chunk)
{
    return block_chunk_bytes(self->block->bytes, self->block->chunk_bytes, chunk);
}

/* The copy begins once the chunk is counted, and runs beside the count of the next one. */
static void begin(sender *self, send_slot *slot)
{
    size_t bytes = bytes_of(self, self->next);
    slot->chunk = self->next++;
    const unsigned char *from = on_device(self, slot->chunk);
    OK(ctxrt_stream_wait_event(self->stream, self->counter->counted[slot->chunk]));
    if (self->out->there != NULL)
        OK(ctxrt_copy_async((unsigned char *)self->out->there +
                                slot->chunk * self->block->chunk_bytes,
                            from, bytes, CTXRT_COPY_DEVICE_TO_DEVICE, self->stream));
    else if (self->out->way == WAY_STAGED)
        OK(ctxrt_copy_async(ctxrt_memory_pointer(slot->pinned), from, bytes,
                            CTXRT_COPY_DEVICE_TO_HOST, self->stream));
    OK(ctxrt_event_record(slot->event, self->stream));
    slot->state = SLOT_GPU;
}

/* The chunk itself, or the note that it is there. */
static void pass(sender *self, send_slot *slot)
{
    const void *bytes = &slot->note;
    size_t count = sizeof slot->note;
    slot->note = (int)slot->chunk;
    if (self->out->there == NULL) {
        bytes = self->out->way == WAY_STAGED ? ctxrt_memory_pointer(slot->pinned)
                                             : on_device(self, slot->chunk);
        count = bytes_of(self, slot->chunk);
    }
    traffic_send(bytes, count, self->out->peer, self->tag, &slot->request);
    slot->state = SLOT_MPI;
    self->passed++;
}

bool slot_is_copied(ctxrt_event *event)
{
    ctxrt_status status = ctxrt_event_query(event);
    if (status != CTXRT_ERROR_NOT_READY)
        OK(status);
    return status == CTXRT_SUCCESS;
}

static bool step_slot(sender *self, send_slot *slot)
{
    switch (slot->state) {
    case SLOT_IDLE:
        if (self->next == self->block->chunks)
            return false;
        begin(self, slot);
        return true;
    case SLOT_GPU:
        if (slot->chunk != self->passed || !slot_is_copied(slot->event))
            return false;
        pass(self, slot);
        return true;
    case SLOT_MPI:
        if (!traffic_done(&slot->request))
            return false;
        slot->state = SLOT_IDLE;
        self->done++;
        return true;
    }
    return false;
}

bool sender_step(sender *self)
{
    bool moved = false;
    for (int i = 0; i < SLOTS; i++)
        moved = step_slot(self, &self->slots[i]) || moved;
    return moved;
}

bool sender_done(const sender *self)
{
    return self->done == self->block->chunks;
}

void sender_close(sender *self)
{
    for (int i = 0; i < SLOTS; i++) {
        OK(ctxrt_event_destroy(self->slots[i].event));
        OK(ctxrt_memory_release(self->slots[i].pinned));
    }
    OK(ctxrt_stream_destroy(self->stream));
}
