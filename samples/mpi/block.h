/* A rank's part of the file: whole chunks that lie one behind the other. */
#ifndef MPI_BLOCK_H
#define MPI_BLOCK_H

#include "../pipeline/pipeline.h"
#include "job.h"

typedef struct mpi_block {
    size_t bytes; /* may be 0: there are more ranks than chunks */
    size_t chunk_bytes;
    size_t chunks;
    ctxrt_memory *host; /* pinned; NULL if there are no bytes */
} mpi_block;

/* The size of a rank's block of a file. */
size_t block_size(size_t file_bytes, size_t chunk_bytes, int rank, int ranks);

/*
 * Rank 0 reads the file with the pipeline's source, which passes over it on the way, and sends each
 * rank its chunks. `out_plain` is that pass; set on rank 0. In a scope of the rank's GPU. Returns
 * the size of the file.
 */
size_t block_scatter(mpi_block *self, const mpi_job *job, const char *file, size_t chunk_bytes,
                     totals *out_plain);
void block_release(mpi_block *self);

/* Chunks of any block or file: how many; the place of one, and its size. */
size_t block_chunks(size_t bytes, size_t chunk_bytes);
unsigned char *block_chunk(const mpi_block *self, size_t chunk);
size_t block_chunk_bytes(size_t block_bytes, size_t chunk_bytes, size_t chunk);

#endif
