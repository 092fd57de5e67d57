/* A block of threads: its memory, its turns. */
#include "ptx/block.h"

#include "ptx/shadow.h"
#include "ptx/warp.h"
#include "ptx/worker_threads.h"

#include <string.h>


static void put(const cx_ptx_rows *rows, uint32_t fixed, uint32_t lane, uint32_t value)
{
    ((cx_ptx_word *)cx_ptx_row(rows, cx_ptx_fixed_place(fixed)))[lane] = value;
}

static unsigned char *align_rows(unsigned char *memory)
{
    return memory + (CX_PTX_ROW_ALIGN - (uintptr_t)memory % CX_PTX_ROW_ALIGN);
}

/* Gives all lanes of a warp the same value. */
static void fill_row(const cx_ptx_rows *rows, uint32_t fixed, uint64_t value)
{
    const uint32_t place = cx_ptx_fixed_place(fixed);
    void *row = cx_ptx_row(rows, place);

    if (cx_ptx_is_long(place)) {
        for (uint32_t lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
            ((cx_ptx_long *)row)[lane] = value;
    } else {
        for (uint32_t lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
            ((cx_ptx_word *)row)[lane] = (uint32_t)value;
    }
}

/* Lanes behind the last thread have registers, too, which nobody reads. */
static void begin_lanes(const cx_ptx_grid *grid, const cx_ptx_rows *rows, uint32_t first)
{
    const uint32_t *size = grid->launch->block;
    uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];

    for (uint32_t lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        const uint32_t bit = UINT32_C(1) << lane;

        put(rows, CX_PTX_SLOT_TID, lane, x);
        put(rows, CX_PTX_SLOT_TID + 1, lane, y);
        put(rows, CX_PTX_SLOT_TID + 2, lane, z);
        put(rows, CX_PTX_SLOT_LANEID, lane, lane);
        put(rows, CX_PTX_SLOT_LANEMASK_EQ, lane, bit);
        put(rows, CX_PTX_SLOT_LANEMASK_LT, lane, bit - 1);
        put(rows, CX_PTX_SLOT_LANEMASK_LE, lane, bit - 1 + bit);
        put(rows, CX_PTX_SLOT_LANEMASK_GE, lane, (uint32_t)-bit);
        put(rows, CX_PTX_SLOT_LANEMASK_GT, lane, (uint32_t)(-bit - bit));
        if (++x < size[0])
            continue;
        x = 0;
        if (++y < size[1])
            continue;
        y = 0;
        z++;
    }
}

/* Writes what is the same in all blocks. */
static void begin_registers(const cx_ptx_grid *grid, const cx_ptx_block *block)
{
    const cx_ptx_launch *launch = grid->launch;
    const struct {
        uint32_t slot;
        uint64_t value;
    } same[] = {
        {CX_PTX_SLOT_NTID, launch->block[0]},
        {CX_PTX_SLOT_NTID + 1, launch->block[1]},
        {CX_PTX_SLOT_NTID + 2, launch->block[2]},
        {CX_PTX_SLOT_NCTAID, launch->grid[0]},
        {CX_PTX_SLOT_NCTAID + 1, launch->grid[1]},
        {CX_PTX_SLOT_NCTAID + 2, launch->grid[2]},
        {CX_PTX_SLOT_NWARPID, cx_ptx_warps_of(grid)},
        {CX_PTX_SLOT_SMID, 0},
        {CX_PTX_SLOT_NSMID, 1},
        {CX_PTX_SLOT_DYNAMIC_BYTES, launch->shared_bytes},
        {CX_PTX_SLOT_SHARED_BYTES, grid->shared_bytes},
        {CX_PTX_SLOT_WORKSPACE_LOW, 0},
        {CX_PTX_SLOT_WORKSPACE_HIGH, launch->cooperative ? CX_PTX_WINDOW_WORKSPACE >> 32 : 0},
        {CX_PTX_SLOT_GLOBAL, launch->memory_address},
        {CX_PTX_SLOT_CONSTANT, launch->memory_address + grid->module->constant_begin},
        {CX_PTX_SLOT_MANAGED, launch->managed_address},
        {CX_PTX_SLOT_SHARED, block->shared_begin},
        {CX_PTX_SLOT_DYNAMIC, block->shared_begin + grid->dynamic_begin},
    };

    for (uint32_t i = 0; i < cx_ptx_warps_of(grid); i++) {
        const cx_ptx_thread first = {
            .index = i * CX_PTX_WARP_SIZE,
            .function = (uint32_t)(grid->kernel - grid->module->functions)};
        const cx_ptx_rows rows = cx_ptx_rows_of(grid, block, &first);

        for (size_t j = 0; j < sizeof same / sizeof same[0]; j++)
            fill_row(&rows, same[j].slot, same[j].value);
        fill_row(&rows, CX_PTX_SLOT_WARPID, i);
        begin_lanes(grid, &rows, first.index);
    }
}

/* Zeroes: no contents of another launch are ever seen. */
void cx_ptx_block_take(const cx_ptx_grid *grid, cx_ptx_room *room, cx_ptx_block *block)
{
    const size_t threads = grid->threads_in_block, warps = cx_ptx_warps_of(grid);
    void *of_threads = cx_ptx_room_take(room, threads * sizeof *block->threads);
    void *of_warps = cx_ptx_room_take(room, warps * sizeof *block->warps);
    void *shared = cx_ptx_room_take(room, grid->shared_bytes + CX_PTX_LOCAL_SPARE);
    void *rows = cx_ptx_room_take(room, warps * grid->bytes_of_warp + CX_PTX_ROW_ALIGN);
    void *local = cx_ptx_room_take(room, threads * (grid->local_of_thread + CX_PTX_LOCAL_SPARE));

    if (!block)
        return;
    block->threads = of_threads;
    block->warps = of_warps;
    block->shared = shared;
    block->rows = align_rows(rows);
    block->local = local;
    begin_registers(grid, block);
}

static void begin_threads(const cx_ptx_grid *grid, const cx_ptx_block *block)
{
    const size_t local_bytes = grid->local_of_thread + CX_PTX_LOCAL_SPARE;
    cx_ptx_thread begun = {
        .next = grid->module->code + grid->kernel->begin,
        .local = block->local,
        .function = (uint32_t)(grid->kernel - grid->module->functions),
    };

    for (uint32_t i = 0; i < grid->threads_in_block; i++) {
        block->threads[i] = begun;
        begun.index++;
        begun.local += local_bytes;
    }
}

static void begin_rows(const cx_ptx_grid *grid, const cx_ptx_block *block,
                       const cx_ptx_thread *first)
{
    const cx_ptx_rows rows = cx_ptx_rows_of(grid, block, first);

    fill_row(&rows, CX_PTX_SLOT_CARRY, 0);
    fill_row(&rows, CX_PTX_SLOT_LOCAL, 0);
    fill_row(&rows, CX_PTX_SLOT_TOP, grid->kernel->frame_bytes);
    for (uint32_t i = 0; i < 3; i++)
        fill_row(&rows, CX_PTX_SLOT_CTAID + i, block->index[i]);
}

/* Each warp makes choices of its own. */
static uint64_t seed_of(const cx_ptx_grid *grid, const cx_ptx_block *block, uint32_t warp)
{
    uint64_t seed = grid->environment->seed;

    if (seed == 0)
        return 0;
    for (int i = 0; i < 3; i++)
        seed = (seed ^ block->index[i]) * UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ warp) * UINT64_C(0x9e3779b97f4a7c15);
    return seed ^ seed >> 29 ? seed ^ seed >> 29 : 1;
}

void cx_ptx_block_begin(const cx_ptx_grid *grid, cx_ptx_block *block, const uint32_t index[3])
{
    memcpy(block->index, index, sizeof block->index);
    block->left = grid->threads_in_block;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, 0, grid->shared_bytes);
    if (grid->shadow)
        cx_ptx_shadow_begin(grid, block);
    begin_threads(grid, block);
    for (uint32_t i = 0; i < cx_ptx_warps_of(grid); i++) {
        uint32_t first = i * CX_PTX_WARP_SIZE, left = grid->threads_in_block - first;

        begin_rows(grid, block, &block->threads[first]);
        cx_ptx_warp_begin(&block->warps[i], &block->threads[first],
                          left < CX_PTX_WARP_SIZE ? left : CX_PTX_WARP_SIZE,
                          grid->environment->independent, seed_of(grid, block, i));
    }
}

/* ---- turns ---- */

/* Gives the lanes a turn and does their joint operations; true if anything happened. */
static bool run_warp(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp)
{
    bool moved = cx_ptx_warp_turn(grid, block, warp);

    return moved | (grid->outcome == CX_PTX_DONE && warp->at_warp &&
                    cx_ptx_warp_release(grid, block, warp));
}

void cx_ptx_block_fail(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_outcome outcome)
{
    cx_ptx_thread *found = block->threads;

    for (uint32_t i = cx_ptx_warps_of(grid); i-- > 0;) {
        const cx_ptx_warp *warp = &block->warps[i];
        uint32_t left = warp->all & ~warp->ended;

        if (left == 0)
            continue;
        found = &warp->lanes[__builtin_ctz(left)];
        found->next = cx_ptx_warp_place_of(warp, (uint32_t)__builtin_ctz(left));
    }
    cx_ptx_thread_fail(grid, block, found, outcome, 0);
}

void cx_ptx_block_check(cx_ptx_grid *grid, const cx_ptx_block *block)
{
    const cx_ptx_environment *environment = grid->environment;

    if (!grid->helps)
        cx_ptx_workers_look(grid->workers);
    if (grid->outcome == CX_PTX_DONE && atomic_load(&grid->workers->failed)) {
        grid->outcome = CX_PTX_STOPPED;
        grid->gave_up = true;
    }
    if (grid->outcome == CX_PTX_DONE && environment->stopped &&
        environment->stopped(environment->self))
        cx_ptx_block_fail(grid, block, CX_PTX_STOPPED);
}

/* Each warp goes on as long as its lanes wait only for each other. */
bool cx_ptx_block_turn(cx_ptx_grid *grid, cx_ptx_block *block)
{
    bool moved = false;

    for (uint32_t i = 0; i < cx_ptx_warps_of(grid); i++) {
        cx_ptx_warp *warp = &block->warps[i];
        int turns = 64;

        do {
            moved |= run_warp(grid, block, warp);
            cx_ptx_block_check(grid, block);
            if (grid->outcome != CX_PTX_DONE)
                return true;
        } while (--turns > 0 && cx_ptx_warp_ready(warp));
    }
    return moved | cx_ptx_barriers_release(grid, block, cx_ptx_warps_of(grid));
}

bool cx_ptx_block_part(const cx_ptx_grid *grid, cx_ptx_block *block)
{
    bool moved = false;

    for (uint32_t i = 0; !moved && i < cx_ptx_warps_of(grid); i++)
        moved = cx_ptx_warp_part(&block->warps[i]);
    return moved;
}
