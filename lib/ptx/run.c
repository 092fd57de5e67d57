/* A grid as a whole: memory, blocks, turns. */
#include "ptx/warp.h"

#include <stdlib.h>
#include <string.h>

#define RESIDENT_MAX 4096
#define LOCAL_ALIGN 16

/* ---- blocks ---- */

static uint32_t warps_of(const cx_ptx_grid *grid)
{
    return (grid->threads_in_block + CX_PTX_WARP_SIZE - 1) / CX_PTX_WARP_SIZE;
}

static void block_free(cx_ptx_block *block)
{
    free(block->threads);
    free(block->warps);
    free(block->shared);
    free(block->slots);
    free(block->local);
    *block = (cx_ptx_block){0};
}

/* Allocates zeroes: no contents of another launch are ever seen. */
static bool block_allocate(const cx_ptx_grid *grid, cx_ptx_block *block)
{
    size_t threads = grid->threads_in_block;

    block->threads = calloc(threads, sizeof *block->threads);
    block->warps = calloc(warps_of(grid), sizeof *block->warps);
    block->shared = calloc(1, grid->shared_bytes + LOCAL_ALIGN);
    block->slots = calloc(threads * grid->slots_of_thread, sizeof *block->slots);
    block->local = calloc(threads, grid->local_of_thread + LOCAL_ALIGN);
    if (block->threads && block->warps && block->shared && block->slots && block->local)
        return true;
    block_free(block);
    return false;
}

static void begin_thread(const cx_ptx_grid *grid, cx_ptx_block *block, uint32_t index)
{
    const cx_ptx_launch *launch = grid->launch;
    cx_ptx_thread *thread = &block->threads[index];
    cx_ptx_slot *slots = block->slots + index * grid->slots_of_thread;
    uint32_t lane = index % CX_PTX_WARP_SIZE;

    *thread = (cx_ptx_thread){
        .next = grid->module->code + grid->kernel->begin,
        .slots = slots,
        .first_slots = slots,
        .local = block->local + index * (grid->local_of_thread + LOCAL_ALIGN),
        .index = index,
        .state = CX_PTX_THREAD_READY,
    };
    memset(slots, 0, CX_PTX_SLOTS_FIXED * sizeof *slots);
    slots[CX_PTX_SLOT_GLOBAL].u64 = launch->memory_address;
    slots[CX_PTX_SLOT_CONSTANT].u64 = launch->memory_address + grid->module->constant_begin;
    slots[CX_PTX_SLOT_DYNAMIC].u64 = grid->shared_bytes - launch->shared_bytes;
    slots[CX_PTX_SLOT_TID].u64 = index % launch->block[0];
    slots[CX_PTX_SLOT_TID + 1].u64 = index / launch->block[0] % launch->block[1];
    slots[CX_PTX_SLOT_TID + 2].u64 = index / launch->block[0] / launch->block[1];
    for (int i = 0; i < 3; i++) {
        slots[CX_PTX_SLOT_NTID + i].u64 = launch->block[i];
        slots[CX_PTX_SLOT_CTAID + i].u64 = block->index[i];
        slots[CX_PTX_SLOT_NCTAID + i].u64 = launch->grid[i];
    }
    slots[CX_PTX_SLOT_LANEID].u64 = lane;
    slots[CX_PTX_SLOT_WARPID].u64 = index / CX_PTX_WARP_SIZE;
    slots[CX_PTX_SLOT_NWARPID].u64 = warps_of(grid);
    slots[CX_PTX_SLOT_NSMID].u64 = 1;
    slots[CX_PTX_SLOT_LANEMASK_EQ].u64 = UINT32_C(1) << lane;
    slots[CX_PTX_SLOT_LANEMASK_LT].u64 = (UINT32_C(1) << lane) - 1;
    slots[CX_PTX_SLOT_LANEMASK_LE].u64 = UINT32_MAX >> (31 - lane);
    slots[CX_PTX_SLOT_LANEMASK_GE].u64 = (uint32_t)(UINT32_MAX << lane);
    slots[CX_PTX_SLOT_LANEMASK_GT].u64 = (uint32_t)(UINT32_MAX << lane << 1);
    slots[CX_PTX_SLOT_DYNAMIC_BYTES].u64 = launch->shared_bytes;
    slots[CX_PTX_SLOT_SHARED_BYTES].u64 = grid->shared_bytes;
    if (launch->cooperative)
        slots[CX_PTX_SLOT_WORKSPACE_HIGH].u64 = CX_PTX_WINDOW_WORKSPACE >> 32;
    slots[CX_PTX_SLOT_TOP].u64 = grid->kernel->frame_bytes;
    slots[CX_PTX_SLOT_FUNCTION].u64 = (uint64_t)(grid->kernel - grid->module->functions);
    memcpy(slots + CX_PTX_SLOTS_FIXED, grid->kernel->constant,
           grid->kernel->constants * sizeof *slots);
}

static void begin_block(const cx_ptx_grid *grid, cx_ptx_block *block, uint64_t number)
{
    const uint32_t *size = grid->launch->grid;

    block->index[0] = (uint32_t)(number % size[0]);
    block->index[1] = (uint32_t)(number / size[0] % size[1]);
    block->index[2] = (uint32_t)(number / size[0] / size[1]);
    block->left = grid->threads_in_block;
    block->used = true;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, 0, grid->shared_bytes);
    for (uint32_t i = 0; i < grid->threads_in_block; i++)
        begin_thread(grid, block, i);
    for (uint32_t i = 0; i < warps_of(grid); i++) {
        uint32_t first = i * CX_PTX_WARP_SIZE, left = grid->threads_in_block - first;

        cx_ptx_warp_begin(&block->warps[i], &block->threads[first],
                          left < CX_PTX_WARP_SIZE ? left : CX_PTX_WARP_SIZE,
                          grid->environment->independent);
    }
}

/* ---- turns ---- */

/* Gives the lanes a turn and does their joint operations; true if anything happened. */
static bool run_warp(cx_ptx_grid *grid, cx_ptx_block *block, uint32_t first)
{
    bool moved = cx_ptx_warp_turn(grid, block, &block->warps[first / CX_PTX_WARP_SIZE]);

    return moved | (grid->outcome == CX_PTX_DONE && cx_ptx_warp_release(grid, block, first));
}

static bool has_ready_lane(const cx_ptx_grid *grid, const cx_ptx_block *block, uint32_t first)
{
    for (uint32_t i = first; i < first + CX_PTX_WARP_SIZE && i < grid->threads_in_block; i++)
        if (block->threads[i].state == CX_PTX_THREAD_READY)
            return true;
    return false;
}

/* Fails the first thread of the block that has not ended, or else the first one. */
static void fail_unfinished(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_outcome outcome)
{
    uint32_t found = 0;

    for (uint32_t i = grid->threads_in_block; i-- > 0;)
        if (block->threads[i].state != CX_PTX_THREAD_ENDED)
            found = i;
    cx_ptx_thread_fail(grid, block, &block->threads[found], outcome, 0);
}

static void check_stop(cx_ptx_grid *grid, const cx_ptx_block *block)
{
    const cx_ptx_environment *environment = grid->environment;

    if (grid->outcome == CX_PTX_DONE && environment->stopped &&
        environment->stopped(environment->self))
        fail_unfinished(grid, block, CX_PTX_STOPPED);
}

/* Gives each warp one turn, in which it goes on as long as its lanes wait only for each other. */
static bool run_block(cx_ptx_grid *grid, cx_ptx_block *block)
{
    bool moved = false;

    for (uint32_t first = 0; first < grid->threads_in_block; first += CX_PTX_WARP_SIZE) {
        int turns = 64;

        do {
            moved |= run_warp(grid, block, first);
            check_stop(grid, block);
            if (grid->outcome != CX_PTX_DONE)
                return true;
        } while (--turns > 0 && has_ready_lane(grid, block, first));
    }
    moved |= cx_ptx_barriers_release(block, grid->threads_in_block);
    for (uint32_t i = 0; !moved && i < warps_of(grid); i++)
        moved = cx_ptx_warp_part(&block->warps[i]);
    return moved;
}

static void run_blocks(cx_ptx_grid *grid, cx_ptx_block *blocks, size_t count, uint64_t total)
{
    uint64_t next = 0, left = total;

    while (left > 0 && grid->outcome == CX_PTX_DONE) {
        for (size_t i = 0; i < count && grid->outcome == CX_PTX_DONE; i++) {
            cx_ptx_block *block = &blocks[i];

            if (!block->used && next < total)
                begin_block(grid, block, next++);
            if (!block->used)
                continue;
            if (!run_block(grid, block))
                fail_unfinished(grid, block, CX_PTX_DEADLOCK);
            if (block->left == 0) {
                block->used = false;
                left--;
            }
            if (left > 0)
                check_stop(grid, block);
        }
    }
}

/* ---- the grid ---- */

static size_t resident_blocks(const cx_ptx_launch *launch, uint64_t total)
{
    if (!launch->cooperative)
        return 1;
    return total < RESIDENT_MAX ? (size_t)total : RESIDENT_MAX;
}

static void run_resident(cx_ptx_grid *grid, size_t count, uint64_t total)
{
    cx_ptx_block *blocks = calloc(count, sizeof *blocks);
    size_t allocated = 0;

    if (blocks)
        while (allocated < count && block_allocate(grid, &blocks[allocated]))
            allocated++;
    if (allocated == count)
        run_blocks(grid, blocks, count, total);
    else
        grid->outcome = CX_PTX_OUT_OF_MEMORY;
    while (allocated > 0)
        block_free(&blocks[--allocated]);
    free(blocks);
}

cx_ptx_outcome cx_ptx_run(const cx_ptx_module *module, const cx_ptx_function *kernel,
                          const cx_ptx_launch *launch, const cx_ptx_environment *environment,
                          cx_ptx_fault *out_fault)
{
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const size_t dynamic_align = 16;
    cx_ptx_grid *grid = calloc(1, sizeof *grid);
    cx_ptx_outcome outcome = CX_PTX_OUT_OF_MEMORY;

    if (!grid)
        return outcome;
    grid->module = module;
    grid->kernel = kernel;
    grid->launch = launch;
    grid->environment = environment;
    grid->fault = out_fault;
    grid->threads_in_block = launch->block[0] * launch->block[1] * launch->block[2];
    /* Odd: the same slot of all lanes spreads over the processor's cache. */
    grid->slots_of_thread = kernel->stack_slots | 1;
    grid->local_of_thread = kernel->stack_bytes;
    grid->shared_bytes = ((kernel->shared_bytes + dynamic_align - 1) & ~(dynamic_align - 1)) +
                         launch->shared_bytes;
    if (kernel->parameter_bytes > 0)
        memcpy(grid->parameters, launch->parameters, kernel->parameter_bytes);
    grid->views = calloc(module->sites + 1, sizeof *grid->views);
    if (grid->views) {
        run_resident(grid, resident_blocks(launch, total), total);
        outcome = grid->outcome;
    }
    free(grid->views);
    free(grid);
    return outcome;
}
