/* The distance from a rank's CPUs to a GPU, as hwloc knows it from the GPU's PCI address. */
#ifndef MPI_LOCALITY_H
#define MPI_LOCALITY_H

#include <hwloc.h>
#include <stdbool.h>

typedef struct locality {
    hwloc_topology_t topology;
    hwloc_bitmap_t cpus; /* those that the rank may run on */
} locality;

/* Reads this machine's topology, or the one that `lstopo FILE.xml` wrote. False: there is none. */
bool locality_open(locality *self, const char *file);
void locality_close(locality *self);

/*
 * The distance between NUMA nodes that the system reports (10 is on the spot); without such
 * figures 10 for a GPU at one of the rank's CPUs, 20 for another. DISTANCE_UNKNOWN (choice.h) if
 * hwloc has no GPU at this address; `*out_why` then says why, as the end of a sentence.
 */
int locality_distance(const locality *self, const char *pci_bus_id, const char **out_why);

/* The rank's CPUs, as "0-3,8". */
void locality_cpus(const locality *self, char *text, size_t capacity);

#endif
