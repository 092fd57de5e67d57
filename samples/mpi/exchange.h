/* The exchange of blocks with both neighbours, beside the count on the own GPU. */
#ifndef MPI_EXCHANGE_H
#define MPI_EXCHANGE_H

#include "receiver.h"

typedef struct mpi_exchange {
    sender senders[DIRECTIONS];
    receiver receivers[DIRECTIONS];
} mpi_exchange;

/* All in a scope of the rank's GPU. */
void exchange_open(mpi_exchange *self, const mpi_ways *ways, const mpi_block *block,
                   const mpi_counter *counter);

/* Returns when both blocks have come, and the own one is with both neighbours. */
void exchange_run(mpi_exchange *self);

/* Compares what came with what the neighbours have, which plain MPI brings once more; fails the job
 * at the first byte that differs. */
void exchange_verify(const mpi_exchange *self, const mpi_block *block);

void exchange_close(mpi_exchange *self);

#endif
