/* A rank's seat: its GPU, and the reason for it. */
#ifndef MPI_SEAT_H
#define MPI_SEAT_H

#include "job.h"

#include <ctxrt/ctxrt.h>

typedef struct mpi_seat {
    ctxrt_device device;
    ctxrt_device_info info;
    char cpus[128];
    char why[200];
} mpi_seat;

/*
 * Chooses this rank's GPU, together with the other ranks of the node. The rank's lowest rank of the
 * node warns if a rank cannot see another one's GPU. `topology`: a file, as locality.h has it, or
 * NULL.
 */
void seat_take(mpi_seat *self, const mpi_job *job, const char *topology);

/* Rank 0 prints the seats of all ranks. */
void seat_print_all(const mpi_seat *self, const mpi_job *job);

/* "GPU-9659f1cc-..." needs so many bytes. */
enum { UUID_TEXT_BYTES = 41 };
void seat_uuid_text(const unsigned char uuid[16], char text[UUID_TEXT_BYTES]);

#endif
