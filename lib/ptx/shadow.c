/* What warps do, in the order of time. */
#include "ptx/shadow_state.h"

#include "ptx/bulk.h"
#include "ptx/cluster.h"
#include "ptx/wide.h"

#include <stdlib.h>
#include <string.h>

/* ---- the shadow of a grid ---- */

cx_ptx_shadow *cx_ptx_shadow_new(const cx_ptx_grid *grid)
{
    cx_ptx_shadow *self = grid->environment->hazard ? calloc(1, sizeof *self) : NULL;

    if (!self)
        return NULL;
    self->grid = grid;
    self->knows_writes = grid->blocks_in_cluster == 1;
    self->across = cx_ptx_shadow_blocks_new(grid);
    self->array_of = cx_ptx_shadow_arrays_find(grid->module);
    self->apart = grid->module->target >= 70;
    return self;
}

static void free_block(cx_ptx_block_shadow *block)
{
    if (!block)
        return;
    free(block->synced);
    free(block->latest);
    free(block->cells);
    free(block->known);
    free(block);
}

void cx_ptx_shadow_free(cx_ptx_shadow *shadow)
{
    cx_ptx_block_shadow *block, *next;

    if (!shadow)
        return;
    for (block = shadow->blocks; block; block = next) {
        next = block->next;
        cx_ptx_shadow_settle(shadow->grid, block);
        free_block(block);
    }
    cx_ptx_shadow_blocks_free(shadow->across);
    free(shadow);
}

static cx_ptx_block_shadow *new_block(const cx_ptx_grid *grid)
{
    const size_t words = (grid->shared_bytes + 3) / 4;
    cx_ptx_block_shadow *self = calloc(1, sizeof *self);

    if (!self)
        return NULL;
    self->synced = calloc(grid->threads_in_block, sizeof *self->synced);
    self->latest = calloc(grid->threads_in_block, sizeof *self->latest);
    self->cells = calloc(words + 1, sizeof *self->cells);
    self->known = calloc(words + 1, sizeof *self->known);
    if (self->synced && self->latest && self->cells && self->known)
        return self;
    free_block(self);
    return NULL;
}

void cx_ptx_shadow_order_all(const cx_ptx_grid *grid, cx_ptx_block_shadow *block)
{
    block->met = block->all_met = grid->shadow->time;
    block->phase += CX_PTX_SHADOW_PHASE;
    if (block->phase > UINT32_MAX - 2 * CX_PTX_SHADOW_PHASE) {
        memset(block->known, 0, (grid->shared_bytes + 3) / 4 * sizeof *block->known);
        block->phase = CX_PTX_SHADOW_PHASE;
    }
}

void cx_ptx_shadow_begin(const cx_ptx_grid *grid, cx_ptx_block *block)
{
    cx_ptx_shadow *shadow = grid->shadow;
    cx_ptx_block_shadow *self = block->shadow;

    if (!self) {
        self = block->shadow = new_block(grid);
        if (!self)
            return;
        self->next = shadow->blocks;
        shadow->blocks = self;
    }
    cx_ptx_shadow_settle(grid, self);
    memcpy(self->index, block->index, sizeof self->index);
    if (shadow->time < CX_PTX_SHADOW_TIME_LAST)
        shadow->time++;
    self->began = shadow->time;
    cx_ptx_shadow_order_all(grid, self);
    memset(self->synced, 0, grid->threads_in_block * sizeof *self->synced);
    memset(self->latest, 0, grid->threads_in_block * sizeof *self->latest);
}

/* The shadow of a block; NULL: it has none, or time is over. */
static cx_ptx_block_shadow *shadow_of(const cx_ptx_grid *grid, const cx_ptx_block *block)
{
    return grid->shadow->time < CX_PTX_SHADOW_TIME_LAST ? block->shadow : NULL;
}

/* ---- meetings ---- */

void cx_ptx_shadow_join(const cx_ptx_grid *grid, const cx_ptx_block *block,
                        const cx_ptx_thread *lanes, uint32_t mask)
{
    cx_ptx_block_shadow *self = shadow_of(grid, block);

    if (!self)
        return;
    grid->shadow->time++;
    for (; mask; mask &= mask - 1)
        self->synced[lanes[__builtin_ctz(mask)].index] = grid->shadow->time;
}

void cx_ptx_shadow_arrive(const cx_ptx_grid *grid, const cx_ptx_block *block,
                          const cx_ptx_thread *lanes, uint32_t mask)
{
    cx_ptx_block_shadow *self = shadow_of(grid, block);

    cx_ptx_shadow_blocks_order(grid, block);
    cx_ptx_shadow_join(grid, block, lanes, mask);
    if (self)
        self->met = grid->shadow->time;
}

void cx_ptx_shadow_cluster(const cx_ptx_grid *grid, const cx_ptx_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        cx_ptx_block_shadow *self = shadow_of(grid, &cluster->blocks[i]);

        if (!self)
            continue;
        grid->shadow->time++;
        cx_ptx_shadow_order_all(grid, self);
        for (uint32_t j = 0; j < grid->threads_in_block; j++)
            self->synced[j] = grid->shadow->time;
    }
}

/* ---- accesses ---- */

static bool loads(const cx_ptx_instruction *at)
{
    return at->op >= CX_PTX_LOAD_U8 && at->op <= CX_PTX_LOAD_U64;
}

static bool stores(const cx_ptx_instruction *at)
{
    return at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64;
}

/* An exchange only takes the old value along. */
static bool reads_what_it_changes(const cx_ptx_instruction *at)
{
    return at->op == CX_PTX_ATOMIC && at->mode != CX_PTX_ATOMIC_EXCHANGE;
}

static cx_ptx_shadow_access access_of(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    cx_ptx_shadow_access access = {.run = run,
                                   .at = at,
                                   .code = cx_ptx_shadow_place(run->grid->module, at),
                                   .many = (run->active & (run->active - 1)) != 0};

    if (loads(at) || stores(at)) {
        access.reads = loads(at);
        access.writes = stores(at);
        access.strong = at->mode != 0;
    } else if (at->op == CX_PTX_ACCESS_128) {
        access.reads = at->mode == CX_PTX_WIDE_LOAD;
        access.writes = !access.reads;
        access.strong = true;
        access.many = false;
    } else {
        access.reads = reads_what_it_changes(at);
        access.writes = access.strong = true;
        access.many = false;
        access.covers = at->op == CX_PTX_MBARRIER;
    }
    return access;
}

/* Lanes whose address lies in shared memory of the block, and elsewhere outside of windows. */
static uint32_t shared_lanes(const cx_ptx_step *run, const cx_ptx_instruction *at,
                             uint32_t *out_global)
{
    uint32_t found = 0;

    *out_global = 0;
    switch ((cx_ptx_space)at->space) {
    case CX_PTX_SHARED:
    case CX_PTX_CLUSTER:
        return run->active;
    case CX_PTX_GLOBAL:
        *out_global = run->active;
        return 0;
    case CX_PTX_GENERIC:
        break;
    default:
        return 0;
    }
    for (uint32_t left = run->active; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = cx_ptx_get(&run->rows, at->a, lane) + (uint64_t)at->immediate;

        if ((address & CX_PTX_WINDOW_MASK) == CX_PTX_WINDOW_SHARED)
            found |= UINT32_C(1) << lane;
        else if (!(address & CX_PTX_WINDOW_MASK))
            *out_global |= UINT32_C(1) << lane;
    }
    return found;
}

static void note_access(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    cx_ptx_block_shadow *self = run->block->shadow;
    cx_ptx_shadow_access access = access_of(run, at);
    const uint32_t first = run->warp->lanes->index;
    uint32_t global;
    const uint32_t shared = shared_lanes(run, at, &global);

    if (run->grid->shadow->time < CX_PTX_SHADOW_TIME_LAST)
        access.time = ++run->grid->shadow->time;
    if (global)
        cx_ptx_shadow_global(&access, global);
    if (run->grid->shadow->time >= CX_PTX_SHADOW_TIME_LAST) {
        cx_ptx_shadow_blocks_order(run->grid, run->block);
        return;
    }
    if (shared)
        cx_ptx_shadow_shared(&access, shared);
    if (access.writes)
        for (uint32_t left = run->active; left; left &= left - 1)
            self->latest[first + (uint32_t)__builtin_ctz(left)] = access.code + 1;
    if (!access.strong)
        return;
    /* The barrier of a cooperative grid is in memory that is neither shared nor global. */
    if (shared != run->active)
        cx_ptx_shadow_blocks_order(run->grid, run->block);
    self->met = access.time;
    for (uint32_t left = run->active; left; left &= left - 1)
        self->synced[first + (uint32_t)__builtin_ctz(left)] = access.time;
}

void cx_ptx_shadow_step(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    if (!run->block->shadow)
        return;
    switch ((cx_ptx_op)at->op) {
    case CX_PTX_LOAD_U8:
    case CX_PTX_LOAD_S8:
    case CX_PTX_LOAD_U16:
    case CX_PTX_LOAD_S16:
    case CX_PTX_LOAD_U32:
    case CX_PTX_LOAD_S32:
    case CX_PTX_LOAD_U64:
    case CX_PTX_STORE_8:
    case CX_PTX_STORE_16:
    case CX_PTX_STORE_32:
    case CX_PTX_STORE_64:
    case CX_PTX_ACCESS_128:
    case CX_PTX_ATOMIC:
    case CX_PTX_MBARRIER:
        if (at->space != CX_PTX_PARAMETER && at->space != CX_PTX_LOCAL)
            note_access(run, at);
        break;
    case CX_PTX_BULK:
        if (at->mode == CX_PTX_BULK_COPY)
            break;
        /* fall through */
    case CX_PTX_FENCE:
        cx_ptx_shadow_arrive(run->grid, run->block, run->warp->lanes, run->active);
        break;
    default:
        break;
    }
}
