/* Atomic operations of the active lanes, in the order of the lanes. */
#include "ptx/cluster.h"
#include "ptx/step.h"

/* ---- lane by lane ---- */

/* GPUs flush subnormal numbers where they add to floats in global memory, not in shared memory. */
static bool is_shared(const cx_ptx_step *run, const unsigned char *memory)
{
    const cx_ptx_cluster *cluster = run->block->cluster;

    for (uint32_t i = 0; i < cluster->count; i++)
        if ((uintptr_t)memory - (uintptr_t)cluster->blocks[i].shared < run->grid->shared_bytes)
            return true;
    return false;
}

static bool do_apart(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    CX_PTX_EACH_ACTIVE (run) {
        uint64_t b = cx_ptx_get(&run->rows, at->b, lane), c = cx_ptx_get(&run->rows, at->c, lane);
        unsigned char *memory = cx_ptx_resolve_lane(run->grid, run->block, &run->warp->lanes[lane],
                                                    at, cx_ptx_get(&run->rows, at->a, lane), &b);

        if (!memory)
            return false;
        cx_ptx_put(&run->rows, at->d, lane,
                   at->op == CX_PTX_ATOMIC
                       ? cx_ptx_atomic_do(at, memory, b, c, !is_shared(run, memory))
                       : cx_ptx_mbarrier_do(at->mode, (uint64_t *)(void *)memory, (uint32_t)b, c));
    }
    return true;
}

/* ---- together ---- */

static bool is_one_place(const cx_ptx_step *run, const uint32_t *offsets)
{
    const uint32_t first = offsets[cx_ptx_first_lane(run->active)];
    uint32_t differs = 0;

    CX_PTX_EACH_ACTIVE (run)
        differs |= offsets[lane] ^ first;
    return !differs;
}

/* One exchange for all lanes: nobody sees what is between two of them. */
static void do_at_one_place(const cx_ptx_step *run, const cx_ptx_instruction *at, void *memory)
{
    const uint64_t mask = UINT64_MAX >> (64 - 8 * at->size);
    uint64_t old = cx_ptx_atomic_load(at, memory), value;

    do {
        value = old;
        CX_PTX_EACH_ACTIVE (run) {
            uint64_t before = value;

            value = cx_ptx_atomic_result(at, before, cx_ptx_get(&run->rows, at->b, lane),
                                         cx_ptx_get(&run->rows, at->c, lane), true) &
                    mask;
            cx_ptx_put(&run->rows, at->d, lane, before);
        }
    } while (!cx_ptx_atomic_exchange(at, memory, &old, value));
}

/* No other thread of the host has the block's shared memory. */
static void do_in_shared(const cx_ptx_step *run, const cx_ptx_instruction *at,
                         const cx_ptx_access *access, const uint32_t *offsets)
{
    bool counts = at->mode == CX_PTX_ATOMIC_ADD && at->size == 4 &&
                  (at->type == CX_PTX_U32 || at->type == CX_PTX_S32);

    CX_PTX_EACH_ACTIVE (run) {
        unsigned char *memory = access->memory + offsets[lane];
        uint64_t b = cx_ptx_get(&run->rows, at->b, lane), old;

        if (counts) {
            uint32_t *word = (uint32_t *)(void *)memory;

            old = *word;
            *word += (uint32_t)b;
        } else {
            old = cx_ptx_atomic_load(at, memory);
            cx_ptx_atomic_store(
                at, memory,
                cx_ptx_atomic_result(at, old, b, cx_ptx_get(&run->rows, at->c, lane), false));
        }
        cx_ptx_put(&run->rows, at->d, lane, old);
    }
}

/* The row of the result may be that of an operand: a lane reads its own before it writes, but once
 * more if another thread was faster. */
static bool may_repeat(const cx_ptx_instruction *at)
{
    return at->d != at->b && at->d != at->c;
}

static bool do_together(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    uint32_t offsets[CX_PTX_WARP_SIZE];
    const cx_ptx_access access = cx_ptx_access_begin(
        run->grid, run->block, run->warp->lanes, at,
        cx_ptx_get(&run->rows, at->a, cx_ptx_first_lane(run->active)) + (uint64_t)at->immediate,
        true);

    if (access.end == 0 || access.stride ||
        !run->lanes->reach(&access, &run->rows, at, run->active, offsets))
        return false;
    if (access.memory == run->block->shared) {
        do_in_shared(run, at, &access, offsets);
        return true;
    }
    if (may_repeat(at) && is_one_place(run, offsets)) {
        do_at_one_place(run, at, access.memory + offsets[cx_ptx_first_lane(run->active)]);
        return true;
    }
    CX_PTX_EACH_ACTIVE (run)
        cx_ptx_put(&run->rows, at->d, lane,
                   cx_ptx_atomic_do(at, access.memory + offsets[lane],
                                    cx_ptx_get(&run->rows, at->b, lane),
                                    cx_ptx_get(&run->rows, at->c, lane), true));
    return true;
}

bool cx_ptx_step_atomic(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    return (at->op == CX_PTX_ATOMIC && !run->few && do_together(run, at)) || do_apart(run, at);
}
