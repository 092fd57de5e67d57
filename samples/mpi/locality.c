#include "locality.h"

#include "choice.h"

#include <hwloc/distances.h>

enum { NEAR = 10, FAR = 20, DISPLAY_CLASS = 0x03 };

bool locality_open(locality *self, const char *file)
{
    if (hwloc_topology_init(&self->topology) != 0)
        return false;
    /* A topology from a file describes no machine that one could be bound to, unless told so. */
    unsigned long flags = file != NULL ? HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM : 0;
    if ((file == NULL || hwloc_topology_set_xml(self->topology, file) == 0) &&
        hwloc_topology_set_flags(self->topology, flags) == 0 &&
        hwloc_topology_set_io_types_filter(self->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        hwloc_topology_load(self->topology) == 0) {
        self->cpus = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(self->topology));
        /* Where the system does not tell, the rank may run anywhere. */
        (void)hwloc_get_cpubind(self->topology, self->cpus, HWLOC_CPUBIND_PROCESS);
        return true;
    }
    hwloc_topology_destroy(self->topology);
    return false;
}

void locality_close(locality *self)
{
    hwloc_bitmap_free(self->cpus);
    hwloc_topology_destroy(self->topology);
}

static int smaller(int left, hwloc_uint64_t right)
{
    return (hwloc_uint64_t)left < right ? left : (int)right;
}

/* The least distance from a NUMA node of the rank's CPUs to one of the GPU's. */
static int measured(const locality *self, hwloc_const_nodeset_t gpu_nodes,
                    struct hwloc_distances_s *distances)
{
    int least = 1 << 20;
    hwloc_bitmap_t own_nodes = hwloc_bitmap_alloc();
    hwloc_cpuset_to_nodeset(self->topology, self->cpus, own_nodes);
    for (unsigned int from = 0; from < distances->nbobjs; from++)
        for (unsigned int to = 0; to < distances->nbobjs; to++)
            if (hwloc_bitmap_isset(own_nodes, distances->objs[from]->os_index) &&
                hwloc_bitmap_isset(gpu_nodes, distances->objs[to]->os_index))
                least = smaller(least, distances->values[from * distances->nbobjs + to]);
    hwloc_bitmap_free(own_nodes);
    return least;
}

int locality_distance(const locality *self, const char *pci_bus_id, const char **out_why)
{
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(self->topology, pci_bus_id);
    if (device == NULL) {
        *out_why = "hwloc does not know";
        return DISTANCE_UNKNOWN;
    }
    if (device->attr->pcidev.class_id >> 8 != DISPLAY_CLASS) {
        *out_why = "to hwloc no GPU is";
        return DISTANCE_UNKNOWN;
    }
    hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(self->topology, device);
    struct hwloc_distances_s *distances;
    unsigned int found = 1;
    if (hwloc_distances_get_by_type(self->topology, HWLOC_OBJ_NUMANODE, &found, &distances,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) == 0 &&
        found >= 1) {
        int distance = measured(self, place->nodeset, distances);
        hwloc_distances_release(self->topology, distances);
        return distance;
    }
    return hwloc_bitmap_intersects(place->cpuset, self->cpus) ? NEAR : FAR;
}

void locality_cpus(const locality *self, char *text, size_t capacity)
{
    hwloc_bitmap_list_snprintf(text, capacity, self->cpus);
}
