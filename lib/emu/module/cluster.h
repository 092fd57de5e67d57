/* Clusters of blocks. All functions: lock "emu.state" held. */
#ifndef CX_EMU_CLUSTER_H
#define CX_EMU_CLUSTER_H

#include "emu/module/launch.h"

/* The most blocks that a cluster of the function may have; 1: the device launches no clusters. */
uint32_t cx_emu_cluster_limit(const cx_emu_function *function);

/*
 * Gives a launch the size of its clusters: the one that it names, else the one that the kernel
 * requires or was set for the function; 0: none. Where the kernel has a grid's size in clusters,
 * the launch gets it in blocks.
 *
 * CXU_INVALID_CLUSTER_SIZE: the device, the function or the grid does not allow it, or the kernel
 * needs one and there is none.
 */
cxu_result cx_emu_cluster_resolve(cx_emu_launch *launch, const cx_emu_function *function);

/* True if the attributes name the size of a cluster. */
bool cx_emu_cluster_read(const cxu_launch_config *config, uint32_t out_size[3]);

#endif
