/* Barriers of a block: who reaches them. */
#include "ptx/shadow_state.h"
#include "ptx/warp.h"

static const cx_ptx_warp *warp_of(const cx_ptx_block *block, const cx_ptx_thread *thread)
{
    return &block->warps[thread->index / CX_PTX_WARP_SIZE];
}

static bool waits_at(const cx_ptx_block *block, const cx_ptx_thread *thread, uint32_t barrier)
{
    return warp_of(block, thread)->at_barriers[barrier] >> thread->index % CX_PTX_WARP_SIZE & 1;
}

static bool has_ended(const cx_ptx_block *block, const cx_ptx_thread *thread)
{
    return warp_of(block, thread)->ended >> thread->index % CX_PTX_WARP_SIZE & 1;
}

static const cx_ptx_instruction *place_of(const cx_ptx_block *block, const cx_ptx_thread *thread)
{
    return cx_ptx_warp_place_of(warp_of(block, thread), thread->index % CX_PTX_WARP_SIZE);
}

static void tell(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_hazard_kind kind,
                 const cx_ptx_thread *waiting, const cx_ptx_thread *other, uint32_t other_code,
                 uint32_t threads)
{
    const uint32_t code = cx_ptx_shadow_place(grid->module, place_of(block, waiting));
    cx_ptx_hazard hazard = {.kind = kind, .shared = true, .threads = threads};

    if (!cx_ptx_shadow_is_new(grid->shadow, kind, code, other_code))
        return;
    hazard.first = cx_ptx_shadow_side_of(grid, block->index, waiting->index, code);
    hazard.second = cx_ptx_shadow_side_of(grid, block->index, other->index, other_code);
    cx_ptx_shadow_tell(grid, &hazard);
}

/* All lanes of a warp that have not ended come to an aligned barrier together. */
static void judge_warp(const cx_ptx_grid *grid, const cx_ptx_block *block, uint32_t barrier,
                       uint32_t first, uint32_t end)
{
    const cx_ptx_thread *waiting = NULL;

    for (uint32_t i = first; i < end && !waiting; i++)
        if (waits_at(block, &block->threads[i], barrier) &&
            !place_of(block, &block->threads[i])->from)
            waiting = &block->threads[i];
    for (uint32_t i = first; i < end && waiting; i++) {
        const cx_ptx_thread *other = &block->threads[i];

        if (has_ended(block, other) || place_of(block, other) == place_of(block, waiting))
            continue;
        if (!waits_at(block, other, barrier) || !place_of(block, other)->from)
            tell(grid, block, CX_PTX_HAZARD_DIVERGED, waiting, other,
                 cx_ptx_shadow_place(grid->module, place_of(block, other)), 1);
    }
}

/* A thread that has ended behind the barrier has passed it by; others have only ended early, which
 * hardware allows since sm_70. */
static void judge_ended(const cx_ptx_grid *grid, const cx_ptx_block *block, uint32_t barrier)
{
    const cx_ptx_thread *waiting = NULL, *passed = NULL, *ended = NULL;
    uint32_t passed_count = 0, ended_count = 0, code;

    if (block->left == grid->threads_in_block || block->barriers[barrier].expected)
        return;
    for (uint32_t i = 0; i < grid->threads_in_block && !waiting; i++)
        if (waits_at(block, &block->threads[i], barrier))
            waiting = &block->threads[i];
    if (!waiting)
        return;
    code = cx_ptx_shadow_place(grid->module, place_of(block, waiting));
    for (uint32_t i = 0; i < grid->threads_in_block; i++) {
        const cx_ptx_thread *thread = &block->threads[i];
        const uint32_t latest = block->shadow->latest[i];

        if (!has_ended(block, thread))
            continue;
        ended_count++;
        ended = ended ? ended : thread;
        if (!latest || block->shadow->synced[i] ||
            !cx_ptx_shadow_must_pass(grid->shadow, code, latest - 1))
            continue;
        passed_count++;
        passed = passed ? passed : thread;
    }
    if (passed)
        tell(grid, block, CX_PTX_HAZARD_DIVERGED, waiting, passed,
             block->shadow->latest[passed->index] - 1, passed_count);
    else if (ended)
        tell(grid, block, CX_PTX_HAZARD_ENDED, waiting, ended,
             cx_ptx_shadow_place(grid->module, place_of(block, ended)), ended_count);
}

void cx_ptx_shadow_release(const cx_ptx_grid *grid, const cx_ptx_block *block, uint32_t barrier)
{
    cx_ptx_block_shadow *self = block->shadow;
    uint32_t synced = 0;

    if (!self || grid->shadow->time >= CX_PTX_SHADOW_TIME_LAST)
        return;
    for (uint32_t first = 0; first < grid->threads_in_block; first += CX_PTX_WARP_SIZE) {
        const uint32_t left = grid->threads_in_block - first;

        judge_warp(grid, block, barrier, first,
                   first + (left < CX_PTX_WARP_SIZE ? left : CX_PTX_WARP_SIZE));
    }
    judge_ended(grid, block, barrier);
    grid->shadow->time++;
    for (uint32_t i = 0; i < grid->threads_in_block; i++) {
        if (!waits_at(block, &block->threads[i], barrier) &&
            !has_ended(block, &block->threads[i]))
            continue;
        self->synced[i] = grid->shadow->time;
        synced++;
    }
    self->met = grid->shadow->time;
    if (synced < grid->threads_in_block)
        return;
    cx_ptx_shadow_settle(grid, self);
    cx_ptx_shadow_order_all(grid, self);
}
