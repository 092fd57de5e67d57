/* Sends a rank's block one way round the ring, each chunk as soon as it is counted. */
#ifndef MPI_SENDER_H
#define MPI_SENDER_H

#include "counter.h"
#include "ways.h"

enum { SLOTS = 4, BLOCK_TAG = 40 }; /* chunks under way at once; and BLOCK_TAG + direction */

typedef enum slot_state {
    SLOT_IDLE,
    SLOT_GPU, /* waits for an event */
    SLOT_MPI  /* waits for a request */
} slot_state;

/* True if the copy in front of the event is done. */
bool slot_is_copied(ctxrt_event *event);

typedef struct send_slot {
    slot_state state;
    size_t chunk;
    int note; /* tells the peer that a chunk is in its memory */
    ctxrt_event *event;
    MPI_Request request;
    ctxrt_memory *pinned;
} send_slot;

typedef struct sender {
    const outgoing *out;
    const mpi_block *block;
    const mpi_counter *counter;
    int tag;
    ctxrt_stream *stream;
    size_t next;   /* the chunk to begin */
    size_t passed; /* the chunk to pass to MPI: in order, as the peer expects them */
    size_t done;
    send_slot slots[SLOTS];
} sender;

/* All in a scope of the rank's GPU. */
void sender_open(sender *self, const mpi_ways *ways, int direction, const mpi_block *block,
                 const mpi_counter *counter);

/* Goes on as far as is possible without waiting; true if that was something. */
bool sender_step(sender *self);
bool sender_done(const sender *self);
void sender_close(sender *self);

#endif
