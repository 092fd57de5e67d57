/* The GPU of each rank of a node: the same answer on every rank, from what each rank sees. */
#ifndef MPI_CHOICE_H
#define MPI_CHOICE_H

#include <stdbool.h>

enum { GPUS_MAX = 64, DISTANCE_UNKNOWN = -1 };

typedef struct gpu_seen {
    unsigned char uuid[16];
    char pci_bus_id[16];
    int distance; /* from the rank's CPUs, as hwloc has it; or DISTANCE_UNKNOWN */
} gpu_seen;

/* The GPUs that a rank sees, in its own order. Plain bytes: ranks send it to each other. */
typedef struct gpus_seen {
    int count;
    gpu_seen gpu[GPUS_MAX];
} gpus_seen;

/*
 * Chooses for each rank one of the GPUs it sees, -1 if it sees none. One rank after the other takes
 * a GPU that fewest ranks have; of these the nearest; of these the one that its node-local rank
 * counts to.
 */
void choice_make(const gpus_seen *seen, int ranks, int *out_chosen);

/* True if a rank's GPU is invisible to another rank of the node; then says which pair is first. */
bool choice_hides(const gpus_seen *seen, const int *chosen, int ranks, int *out_owner,
                  int *out_blind);

/* The number of ranks before this one that have the same GPU. */
int choice_sharers(const gpus_seen *seen, const int *chosen, int rank);

#endif
