/* The command line. */
#ifndef MPI_OPTIONS_H
#define MPI_OPTIONS_H

#include "ways.h"

typedef struct mpi_options {
    size_t chunk_bytes;
    int nodes;            /* that the ranks pretend to be on; 0: those they are on */
    const char *topology; /* NULL: the machine's */
    ways_wish wish;
    bool verify;
    bool guarded;
    const char *file; /* NULL: help was asked for, and printed */
} mpi_options;

/* Every rank reads the same; wrong use ends the job. */
mpi_options options_read(int argc, char **argv);

#endif
