#include "ptx/cluster.h"

#include "ptx/block.h"
#include "ptx/shadow.h"
#include "ptx/warp.h"

#include <string.h>

/* ---- sizes and registers ---- */

void cx_ptx_cluster_size(cx_ptx_grid *grid)
{
    const uint32_t *own = grid->launch->cluster, *required = grid->kernel->cluster;
    const uint32_t *found = own[0] ? own : required;

    grid->explicit_cluster = found[0] > 0;
    for (int i = 0; i < 3; i++)
        grid->cluster[i] = found[0] ? found[i] : 1;
    grid->blocks_in_cluster = grid->cluster[0] * grid->cluster[1] * grid->cluster[2];
}

static uint32_t component(const uint32_t *of, uint8_t which)
{
    return of[which % 3];
}

uint32_t cx_ptx_cluster_value(const cx_ptx_grid *grid, const cx_ptx_block *block, uint8_t what)
{
    const uint32_t *size = grid->cluster;

    switch (what) {
    case CX_PTX_CLUSTER_RANK:
        return block->rank;
    case CX_PTX_CLUSTER_BLOCKS:
        return grid->blocks_in_cluster;
    case CX_PTX_CLUSTER_EXPLICIT:
        return grid->explicit_cluster;
    default:
        break;
    }
    if (what >= CX_PTX_CLUSTER_SIZE)
        return component(size, what);
    if (what >= CX_PTX_CLUSTER_BLOCK)
        return component(block->index, what) % component(size, what);
    if (what >= CX_PTX_CLUSTER_GRID)
        return component(grid->launch->grid, what) / component(size, what);
    return component(block->cluster->index, what);
}

/* ---- blocks ---- */

void cx_ptx_cluster_take(const cx_ptx_grid *grid, cx_ptx_room *room, cx_ptx_cluster *cluster)
{
    cx_ptx_block *blocks = cx_ptx_room_take(room, grid->blocks_in_cluster * sizeof *blocks);

    for (uint32_t i = 0; i < grid->blocks_in_cluster; i++) {
        if (blocks) {
            blocks[i].cluster = cluster;
            blocks[i].rank = i;
            blocks[i].shared_begin = cx_ptx_cluster_map(0, i);
        }
        cx_ptx_block_take(grid, room, blocks ? &blocks[i] : NULL);
    }
    if (cluster)
        *cluster = (cx_ptx_cluster){.blocks = blocks, .count = grid->blocks_in_cluster};
}

/* The place of number `number` in a box of that size. */
static void place(uint64_t number, const uint32_t size[3], uint32_t out[3])
{
    out[0] = (uint32_t)(number % size[0]);
    out[1] = (uint32_t)(number / size[0] % size[1]);
    out[2] = (uint32_t)(number / size[0] / size[1]);
}

void cx_ptx_cluster_begin(const cx_ptx_grid *grid, cx_ptx_cluster *cluster, uint64_t number)
{
    const uint32_t *size = grid->cluster, *blocks = grid->launch->grid;
    const uint32_t clusters[] = {blocks[0] / size[0], blocks[1] / size[1], blocks[2] / size[2]};
    uint32_t index[3];

    place(number, clusters, cluster->index);
    cluster->arrived = 0;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        place(rank, size, index);
        for (int i = 0; i < 3; i++)
            index[i] += cluster->index[i] * size[i];
        cx_ptx_block_begin(grid, &cluster->blocks[rank], index);
    }
}

bool cx_ptx_cluster_ended(const cx_ptx_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->blocks[i].left > 0)
            return false;
    return true;
}

/* ---- the barrier ---- */

bool cx_ptx_cluster_arrive(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *lanes,
                           uint32_t mask, const cx_ptx_instruction *at)
{
    for (; mask; mask &= mask - 1) {
        cx_ptx_thread *thread = &lanes[__builtin_ctz(mask)];

        if (thread->cluster != CX_PTX_CLUSTER_AWAY) {
            thread->next = at;
            cx_ptx_thread_refuse(grid, block, thread,
                                 "the thread arrives at the cluster's barrier twice in a phase");
            return false;
        }
        thread->cluster = CX_PTX_CLUSTER_ARRIVED;
        block->cluster->arrived++;
    }
    return true;
}

bool cx_ptx_cluster_wait(cx_ptx_warp *warp, uint32_t mask, const cx_ptx_instruction *at)
{
    uint32_t waiting = 0;

    for (; mask; mask &= mask - 1) {
        cx_ptx_thread *thread = &warp->lanes[__builtin_ctz(mask)];

        thread->next = at;
        if (thread->cluster == CX_PTX_CLUSTER_PASSED)
            thread->cluster = CX_PTX_CLUSTER_AWAY;
        else
            waiting |= mask & -mask;
    }
    warp->at_cluster |= waiting;
    return !waiting;
}

static void release_warp(cx_ptx_warp *warp)
{
    for (uint32_t left = warp->all; left; left &= left - 1) {
        cx_ptx_thread *thread = &warp->lanes[__builtin_ctz(left)];

        if (warp->at_cluster & left & -left)
            thread->cluster = CX_PTX_CLUSTER_AWAY;
        else if (thread->cluster == CX_PTX_CLUSTER_ARRIVED)
            thread->cluster = CX_PTX_CLUSTER_PASSED;
    }
    warp->at_cluster = 0;
}

/* Ends the phase if all threads that are left have arrived; true if it did. */
static bool release_barrier(const cx_ptx_grid *grid, cx_ptx_cluster *cluster)
{
    uint32_t left = 0;

    if (cluster->arrived == 0)
        return false;
    for (uint32_t i = 0; i < cluster->count; i++)
        left += cluster->blocks[i].left;
    if (cluster->arrived < left)
        return false;
    if (grid->shadow)
        cx_ptx_shadow_cluster(grid, cluster);
    for (uint32_t i = 0; i < cluster->count; i++)
        for (uint32_t j = 0; j < cx_ptx_warps_of(grid); j++)
            release_warp(&cluster->blocks[i].warps[j]);
    cluster->arrived = 0;
    return true;
}

/* ---- turns ---- */

/* The first block that has not ended. */
static const cx_ptx_block *unfinished_block(const cx_ptx_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->blocks[i].left > 0)
            return &cluster->blocks[i];
    return cluster->blocks;
}

void cx_ptx_cluster_turn(cx_ptx_grid *grid, cx_ptx_cluster *cluster)
{
    bool moved = false;

    for (uint32_t i = 0; i < cluster->count; i++) {
        if (cluster->blocks[i].left > 0)
            moved |= cx_ptx_block_turn(grid, &cluster->blocks[i]);
        if (grid->outcome != CX_PTX_DONE)
            return;
    }
    moved |= release_barrier(grid, cluster);
    for (uint32_t i = 0; !moved && i < cluster->count; i++)
        moved = cx_ptx_block_part(grid, &cluster->blocks[i]);
    if (!moved)
        cx_ptx_block_fail(grid, unfinished_block(cluster), CX_PTX_DEADLOCK);
    else if (!cx_ptx_cluster_ended(cluster))
        cx_ptx_block_check(grid, unfinished_block(cluster));
}
