/* A rank's device: its GPU, and the reason for it. */
#ifndef MPI_RANK_DEVICE_H
#define MPI_RANK_DEVICE_H

#include "job.h"

#include <ctxrt/ctxrt.h>

typedef struct mpi_rank_device {
    ctxrt_device device;
    ctxrt_device_info info;
    char cpus[128];
    char why[200];
} mpi_rank_device;

/*
 * Chooses this rank's GPU, together with the other ranks of the node. The rank's lowest rank of the
 * node warns if a rank cannot see another one's GPU. `topology`: a file, as locality.h has it, or
 * NULL.
 */
void rank_device_take(mpi_rank_device *self, const mpi_job *job, const char *topology);

/* Rank 0 prints the devices of all ranks. */
void rank_device_print_all(const mpi_rank_device *self, const mpi_job *job);

/* "GPU-9659f1cc-..." needs so many bytes. */
enum { UUID_TEXT_BYTES = 41 };
void rank_device_uuid_text(const unsigned char uuid[16], char text[UUID_TEXT_BYTES]);

#endif
