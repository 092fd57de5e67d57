/* Receives a neighbour's block on this rank's GPU, fetches each chunk from there, and looks at it.
 */
#ifndef MPI_RECEIVER_H
#define MPI_RECEIVER_H

#include "sender.h"

typedef struct receiver receiver;

typedef struct receive_slot {
    slot_state state;
    size_t chunk;
    int note;
    ctxrt_event *event;
    MPI_Request request;
    ctxrt_memory *pinned;
    receiver *whole; /* for the host function */
} receive_slot;

struct receiver {
    const incoming *in;
    size_t chunk_bytes, chunks;
    int tag;
    ctxrt_stream *stream;
    ctxrt_memory *fetched; /* the block as it was on the GPU; NULL if it is empty */
    totals totals;         /* of `fetched`; read it when all is done */
    size_t next;           /* the chunk to ask for */
    size_t come;           /* the chunk to wait for: MPI keeps their order */
    size_t done;
    receive_slot slots[SLOTS];
};

/* All in a scope of the rank's GPU. It may not move between open and close. */
void receiver_open(receiver *self, const mpi_ways *ways, int direction, size_t chunk_bytes);
bool receiver_step(receiver *self);
bool receiver_done(const receiver *self);
void receiver_close(receiver *self);

#endif
