#include "emu/module/cluster.h"

#include "emu/base/refusal.h"
#include "emu/device/device.h"

#include <string.h>

/* Blocks that every device with clusters allows, and those that it may allow a function. */
#define PORTABLE_MAX 8
#define BLOCKS_MAX 16

uint32_t cx_emu_cluster_limit(const cx_emu_function *function)
{
    const cx_emu_device *device = function->module->context->device;
    uint32_t own = cx_emu_function_describe(function).cluster_most;
    uint32_t most = function->non_portable_clusters ? BLOCKS_MAX : PORTABLE_MAX;

    if (!cx_emu_attribute_value(device, CXU_ATTRIBUTE_CLUSTER_LAUNCH))
        return 1;
    return own > 0 && own < most ? own : most;
}

bool cx_emu_cluster_read(const cxu_launch_config *config, uint32_t out_size[3])
{
    bool found = false;

    memset(out_size, 0, 3 * sizeof *out_size);
    for (unsigned int i = 0; config->attributes != NULL && i < config->attribute_count; i++) {
        if (config->attributes[i].id != CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            continue;
        memcpy(out_size, config->attributes[i].value.cluster, 3 * sizeof *out_size);
        found = true;
    }
    return found;
}

static bool is_named(const uint32_t size[3])
{
    return size[0] || size[1] || size[2];
}

/* False: the kernel requires another size than the launch names. */
static bool find_size(const cx_emu_launch *launch, const cx_emu_function *function,
                      const cx_ptx_kernel_info *kernel, uint32_t out[3])
{
    bool own = is_named(launch->cluster);

    for (int i = 0; i < 3; i++)
        out[i] = own                  ? launch->cluster[i]
                 : kernel->cluster[0] ? kernel->cluster[i]
                                      : (uint32_t)function->cluster[i];
    return !own || !kernel->cluster[0] || memcmp(out, kernel->cluster, 3 * sizeof *out) == 0;
}

static cxu_result refuse(const char *why)
{
    return cx_emu_refuse(CXU_INVALID_CLUSTER_SIZE, why);
}

cxu_result cx_emu_cluster_resolve(cx_emu_launch *launch, const cx_emu_function *function)
{
    cx_ptx_kernel_info kernel = cx_emu_function_describe(function);
    uint32_t limit = cx_emu_cluster_limit(function), size[3];
    uint64_t blocks = 1;

    if (!find_size(launch, function, &kernel, size))
        return refuse("the kernel was compiled for clusters of another size");
    if (!is_named(size))
        return kernel.cluster_needed ? refuse("the kernel needs a cluster size") : CXU_SUCCESS;
    for (int i = 0; i < 3; i++) {
        if (size[i] == 0 || size[i] > limit)
            return refuse("the cluster is larger than the kernel and the device allow");
        blocks *= size[i];
        if (kernel.counts_clusters && launch->grid[i] <= UINT32_MAX / size[i])
            launch->grid[i] *= size[i];
        if (launch->grid[i] % size[i] != 0)
            return refuse("the grid is no multiple of the cluster");
    }
    if (!cx_emu_launch_prefers_clusters_well(&launch->hints, size, launch->grid))
        return refuse("the preferred cluster suits neither the grid nor the cluster");
    memcpy(launch->cluster, size, sizeof launch->cluster);
    return blocks <= limit
               ? CXU_SUCCESS
               : refuse("the cluster has more blocks than the kernel and the device allow");
}
