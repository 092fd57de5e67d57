/* The results of all ranks, put together on rank 0 and compared with the plain pass. */
#ifndef MPI_SUMS_H
#define MPI_SUMS_H

#include "exchange.h"

typedef struct mpi_sums {
    totals counted;             /* by the ranks' GPUs; has no checksum */
    totals arrived[DIRECTIONS]; /* of the blocks that came, in the file's order */
} mpi_sums;

/* `counted`, `arrived`: this rank's. Set on rank 0. */
void sums_reduce(mpi_sums *self, const mpi_job *job, const totals *counted,
                 const totals arrived[DIRECTIONS]);

/* Rank 0: prints them; true if all are those of the plain pass. */
bool sums_report(const mpi_sums *self, const mpi_job *job, const totals *plain);

#endif
