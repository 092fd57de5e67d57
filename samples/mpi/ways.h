/*
 * The way of each block to the two neighbours in the ring of ranks. The receiver makes the memory
 * that a block lands in; the sender writes to it if it can reach it, else MPI carries the block.
 */
#ifndef MPI_WAYS_H
#define MPI_WAYS_H

#include "exported.h"
#include "job.h"
#include "post.h"
#include "rank_device.h"

#include <stdbool.h>

/* The best first. */
typedef enum mpi_way {
    WAY_EXPORTED, /* cuMemExportToShareableHandle, over a Unix socket */
    WAY_IPC,      /* cuIpcGetMemHandle */
    WAY_AWARE,    /* MPI reads and writes GPU memory */
    WAY_STAGED,   /* pinned memory, through MPI */
    WAY_COUNT
} mpi_way;

extern const char *const way_names[WAY_COUNT]; /* as options have them */

/* Blocks go both ways round the ring. */
enum { RIGHTWARD, LEFTWARD, DIRECTIONS };

typedef struct outgoing {
    int peer;
    bool same_node;
    mpi_way way;
    char reason[2 * REASON_BYTES]; /* why no better one */
    void *there;                   /* the peer's memory here; NULL: out of reach */
    exported opened;
    ctxrt_memory *imported;
} outgoing;

typedef struct incoming {
    int peer;
    bool same_node;
    mpi_way way;
    size_t bytes;
    void *landed; /* the memory; NULL if the block is empty */
    exported made;
    ctxrt_memory *memory;
} incoming;

typedef struct mpi_ways {
    outgoing out[DIRECTIONS];
    incoming in[DIRECTIONS];
} mpi_ways;

/* Wishes: no better way than this; and whether MPI may be given GPU memory. */
typedef struct ways_wish {
    mpi_way best;
    bool aware;
} ways_wish;

/*
 * Settles the ways with the neighbours, in a scope of the rank's GPU. `bytes_in`: the sizes of the
 * blocks that come.
 */
void ways_settle(mpi_ways *self, const mpi_job *job, const mpi_rank_device *rank_device,
                 const size_t bytes_in[DIRECTIONS], ways_wish wish);

/* Rank 0 prints the ways of all ranks. */
void ways_print_all(const mpi_ways *self, const mpi_job *job);

/* Nothing may be under way any more. */
void ways_close(mpi_ways *self);

/* True if MPI says that it reads and writes GPU memory. */
bool ways_mpi_is_aware(void);

#endif
