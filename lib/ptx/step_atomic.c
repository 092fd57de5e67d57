/* Atomic operations of the active lanes, in the order of the lanes. */
#include "ptx/cluster.h"
#include "ptx/step.h"

#define EACH_ACTIVE(run)                                                               \
    for (uint32_t left = (run)->active, lane; left && (lane = first_lane(left), true); \
         left &= left - 1)

static inline uint32_t first_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

static inline uint64_t get(const cx_ptx_step *run, uint32_t place, uint32_t lane)
{
    return cx_ptx_get(&run->rows, place, lane);
}

static inline void put(const cx_ptx_step *run, uint32_t place, uint32_t lane, uint64_t value)
{
    cx_ptx_put(&run->rows, place, lane, value);
}

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
    EACH_ACTIVE (run) {
        uint64_t b = get(run, at->b, lane), c = get(run, at->c, lane);
        unsigned char *memory =
            cx_ptx_resolve_lane(run->grid, run->block, &run->warp->lanes[lane], at,
                                get(run, at->a, lane), &b);

        if (!memory)
            return false;
        put(run, at->d, lane,
            at->op == CX_PTX_ATOMIC
                ? cx_ptx_atomic_do(at, memory, b, c, !is_shared(run, memory))
                : cx_ptx_mbarrier_do(at->mode, (uint64_t *)(void *)memory, (uint32_t)b, c));
    }
    return true;
}

/* ---- together ---- */

static bool is_one_place(const cx_ptx_step *run, const uint32_t *offsets)
{
    const uint32_t first = offsets[first_lane(run->active)];
    uint32_t differs = 0;

    EACH_ACTIVE (run)
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
        EACH_ACTIVE (run) {
            uint64_t before = value;

            value = cx_ptx_atomic_result(at, before, get(run, at->b, lane), get(run, at->c, lane),
                                         true) &
                    mask;
            put(run, at->d, lane, before);
        }
    } while (!cx_ptx_atomic_exchange(at, memory, &old, value));
}

/* No other thread of the host has the block's shared memory. */
static void do_in_shared(const cx_ptx_step *run, const cx_ptx_instruction *at,
                         const cx_ptx_access *access, const uint32_t *offsets)
{
    bool counts = at->mode == CX_PTX_ATOMIC_ADD && at->size == 4 &&
                  (at->type == CX_PTX_U32 || at->type == CX_PTX_S32);

    EACH_ACTIVE (run) {
        unsigned char *memory = access->memory + offsets[lane];
        uint64_t b = get(run, at->b, lane), old;

        if (counts) {
            uint32_t *word = (uint32_t *)(void *)memory;

            old = *word;
            *word += (uint32_t)b;
        } else {
            old = cx_ptx_atomic_load(at, memory);
            cx_ptx_atomic_store(at, memory,
                                cx_ptx_atomic_result(at, old, b, get(run, at->c, lane), false));
        }
        put(run, at->d, lane, old);
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
        get(run, at->a, first_lane(run->active)) + (uint64_t)at->immediate, true);

    if (access.end == 0 || access.stride ||
        !run->lanes->reach(&access, &run->rows, at, run->active, offsets))
        return false;
    if (access.memory == run->block->shared) {
        do_in_shared(run, at, &access, offsets);
        return true;
    }
    if (may_repeat(at) && is_one_place(run, offsets)) {
        do_at_one_place(run, at, access.memory + offsets[first_lane(run->active)]);
        return true;
    }
    EACH_ACTIVE (run)
        put(run, at->d, lane,
            cx_ptx_atomic_do(at, access.memory + offsets[lane], get(run, at->b, lane),
                             get(run, at->c, lane), true));
    return true;
}

bool cx_ptx_step_atomic(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    return (at->op == CX_PTX_ATOMIC && !run->few && do_together(run, at)) || do_apart(run, at);
}
