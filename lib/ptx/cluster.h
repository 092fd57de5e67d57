/*
 * Clusters: blocks that run at the same time, wait for each other and reach each other's shared
 * memory. All blocks of a cluster run in one thread of the host, in turns. A launch without
 * clusters has one block in each.
 *
 * An address of shared memory has the rank of its block above an offset of 24 bits, as on GPUs: it
 * names the same place in all blocks of the cluster.
 */
#ifndef CX_PTX_CLUSTER_H
#define CX_PTX_CLUSTER_H

#include "ptx/grid.h"
#include "ptx/room.h"

#define CX_PTX_RANK_SHIFT 24
#define CX_PTX_RANK_LAST UINT32_C(0xff)
#define CX_PTX_RANK_MASK ((uint64_t)CX_PTX_RANK_LAST << CX_PTX_RANK_SHIFT)

struct cx_ptx_cluster {
    uint32_t index[3];    /* among the clusters */
    uint32_t count;       /* of blocks */
    uint32_t arrived;     /* threads that have not ended, in this phase of the barrier */
    cx_ptx_block *blocks; /* by rank */
};

/* The mode of CX_PTX_CLUSTER_REGISTER. */
typedef enum cx_ptx_cluster_register {
    CX_PTX_CLUSTER_INDEX, /* three of each */
    CX_PTX_CLUSTER_GRID = CX_PTX_CLUSTER_INDEX + 3,
    CX_PTX_CLUSTER_BLOCK = CX_PTX_CLUSTER_GRID + 3,
    CX_PTX_CLUSTER_SIZE = CX_PTX_CLUSTER_BLOCK + 3,
    CX_PTX_CLUSTER_RANK = CX_PTX_CLUSTER_SIZE + 3,
    CX_PTX_CLUSTER_BLOCKS,
    CX_PTX_CLUSTER_EXPLICIT
} cx_ptx_cluster_register;

uint32_t cx_ptx_cluster_value(const cx_ptx_grid *grid, const cx_ptx_block *block, uint8_t what);

/* Finds the size of the launch's clusters: its own, or else what the kernel requires, or one block.
 */
void cx_ptx_cluster_size(cx_ptx_grid *grid);

/* Takes the memory of a cluster's blocks. NULL: the room only counts. */
void cx_ptx_cluster_take(const cx_ptx_grid *grid, cx_ptx_room *room, cx_ptx_cluster *cluster);

/* Begins the cluster with that number. */
void cx_ptx_cluster_begin(const cx_ptx_grid *grid, cx_ptx_cluster *cluster, uint64_t number);
bool cx_ptx_cluster_ended(const cx_ptx_cluster *cluster);

/* Gives each block a turn. */
void cx_ptx_cluster_turn(cx_ptx_grid *grid, cx_ptx_cluster *cluster);

/* The lanes of the mask arrive at the cluster's barrier. False: one of them is there already, and
 * has failed. */
bool cx_ptx_cluster_arrive(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *lanes,
                           uint32_t mask, const cx_ptx_instruction *at);

/* True if the lanes of the mask need not wait: all threads have arrived. */
bool cx_ptx_cluster_wait(cx_ptx_warp *warp, uint32_t mask, const cx_ptx_instruction *at);

/* The thread has ended: the others no longer wait for it. */
static inline void cx_ptx_cluster_leave(const cx_ptx_block *block, cx_ptx_thread *thread)
{
    block->cluster->arrived -= thread->cluster == CX_PTX_CLUSTER_ARRIVED;
}

/* The address of the same place in another block. */
static inline uint64_t cx_ptx_cluster_map(uint64_t address, uint32_t rank)
{
    uint64_t byte = rank < CX_PTX_RANK_LAST ? rank : CX_PTX_RANK_LAST;

    return (address & ~CX_PTX_RANK_MASK) | byte << CX_PTX_RANK_SHIFT;
}

/* The rank of the block whose shared memory has the address. */
static inline uint32_t cx_ptx_cluster_rank_of(uint64_t address)
{
    return (uint32_t)(address >> CX_PTX_RANK_SHIFT) & CX_PTX_RANK_LAST;
}

#endif
