#include "exchange.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { VERIFY_TAG = 50 };

void exchange_open(mpi_exchange *self, const mpi_ways *ways, const mpi_block *block,
                   const mpi_counter *counter)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        sender_open(&self->senders[i], ways, i, block, counter);
        receiver_open(&self->receivers[i], ways, i, block->chunk_bytes);
    }
}

void exchange_run(mpi_exchange *self)
{
    bool done = false;
    while (!done) {
        bool moved = false;
        done = true;
        for (int i = 0; i < DIRECTIONS; i++) {
            moved = receiver_step(&self->receivers[i]) || moved;
            moved = sender_step(&self->senders[i]) || moved;
            done = done && receiver_done(&self->receivers[i]) && sender_done(&self->senders[i]);
        }
        if (!moved)
            sched_yield();
    }
}

static void compare(const unsigned char *came, const unsigned char *sent, size_t bytes, int peer,
                    size_t first)
{
    if (memcmp(came, sent, bytes) == 0)
        return;
    size_t at = 0;
    while (came[at] == sent[at])
        at++;
    job_fail("byte %zu of rank %d's block came as 0x%02x instead of 0x%02x", first + at, peer,
             came[at], sent[at]);
}

/* Chunk by chunk; the blocks of the two ends may have different numbers of them. */
static void verify(const sender *out, const receiver *in, const mpi_block *block, int tag)
{
    unsigned char *buffer = malloc(block->chunk_bytes);
    if (buffer == NULL)
        job_fail("no memory for a chunk of %zu bytes", block->chunk_bytes);
    for (size_t i = 0; i < out->block->chunks || i < in->chunks; i++) {
        size_t sent = 0, came = 0;
        if (i < block->chunks)
            sent = block_chunk_bytes(block->bytes, block->chunk_bytes, i);
        if (i < in->chunks)
            came = block_chunk_bytes(in->in->bytes, in->chunk_bytes, i);
        MPI_OK(MPI_Sendrecv(sent > 0 ? block_chunk(block, i) : buffer, (int)sent, MPI_BYTE,
                            i < block->chunks ? out->out->peer : MPI_PROC_NULL, tag, buffer,
                            (int)came, MPI_BYTE, i < in->chunks ? in->in->peer : MPI_PROC_NULL, tag,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (came > 0)
            compare((unsigned char *)ctxrt_memory_pointer(in->fetched) + i * in->chunk_bytes,
                    buffer, came, in->in->peer, i * in->chunk_bytes);
    }
    free(buffer);
}

void exchange_verify(const mpi_exchange *self, const mpi_block *block)
{
    for (int i = 0; i < DIRECTIONS; i++)
        verify(&self->senders[i], &self->receivers[i], block, VERIFY_TAG + i);
}

void exchange_close(mpi_exchange *self)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        sender_close(&self->senders[i]);
        receiver_close(&self->receivers[i]);
    }
}
