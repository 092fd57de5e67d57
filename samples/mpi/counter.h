/* Counts the bytes of a rank's block on its GPU, chunk by chunk: the work that copies overlap. */
#ifndef MPI_COUNTER_H
#define MPI_COUNTER_H

#include "block.h"

typedef struct mpi_counter {
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    ctxrt_stream *stream;
    ctxrt_memory *histogram; /* 256 numbers of 64 bits */
    ctxrt_memory *on_device; /* the block; NULL if there are no bytes */
    ctxrt_event **counted;   /* of each chunk: it is on the device, and counted */
} mpi_counter;

/* All in a scope of the rank's GPU. */
void counter_open(mpi_counter *self, const mpi_block *block);

/* Submits everything: each chunk goes to the device, and is counted there. Never waits. */
void counter_start(mpi_counter *self, const mpi_block *block);

/* Waits for the counts, and writes them. */
void counter_finish(mpi_counter *self, const mpi_block *block, uint64_t histogram[256]);

#endif
