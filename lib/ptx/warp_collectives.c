/* Joint operations of the threads of a block, and of the lanes of a warp. */
#include "ptx/bits.h"
#include "ptx/matrix.h"
#include "ptx/shadow.h"
#include "ptx/warp.h"

/* ---- barriers ---- */

/* NULL: there is no such barrier. */
static cx_ptx_barrier *open_barrier(const cx_ptx_grid *grid, cx_ptx_block *block, uint32_t number,
                                    uint32_t expected)
{
    if (number >= CX_PTX_BARRIERS || expected > grid->threads_in_block)
        return NULL;
    block->barriers[number].open = true;
    block->barriers[number].expected = expected;
    return &block->barriers[number];
}

static bool fail_at_barrier(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                            const cx_ptx_instruction *at)
{
    thread->next = at;
    cx_ptx_thread_refuse(grid, block, thread,
                         "the barrier's number is above 15, or it expects more threads than the "
                         "block has");
    return false;
}

static void wait_at_barrier(cx_ptx_warp *warp, uint32_t mask, uint32_t number,
                            const cx_ptx_instruction *at)
{
    warp->at_barrier |= mask;
    warp->at_barriers[number] |= mask;
    if (at->mode == CX_PTX_REDUCE_NONE)
        return;
    warp->votes |= mask;
    for (; mask; mask &= mask - 1)
        warp->lanes[__builtin_ctz(mask)].next = at;
}

/* Lanes that name the same barrier and do not vote. */
static bool arrive_together(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_rows *rows,
                            cx_ptx_warp *warp, uint32_t mask, const cx_ptx_instruction *at)
{
    uint32_t number = (uint32_t)cx_ptx_get(rows, at->a, 0);
    cx_ptx_barrier *barrier =
        open_barrier(grid, block, number, (uint32_t)cx_ptx_get(rows, at->b, 0));

    if (!barrier)
        return fail_at_barrier(grid, block, &warp->lanes[__builtin_ctz(mask)], at);
    barrier->arrived += (uint32_t)__builtin_popcount(mask);
    if (at->op == CX_PTX_BARRIER)
        wait_at_barrier(warp, mask, number, at);
    return true;
}

bool cx_ptx_barrier_arrive(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_rows *rows,
                           cx_ptx_warp *warp, uint32_t mask, const cx_ptx_instruction *at)
{
    bool waits = at->op == CX_PTX_BARRIER, votes = waits && at->mode != CX_PTX_REDUCE_NONE;

    if (cx_ptx_is_uniform(at->a) && cx_ptx_is_uniform(at->b) && !votes)
        return arrive_together(grid, block, rows, warp, mask, at);
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        uint32_t number = (uint32_t)cx_ptx_get(rows, at->a, lane);
        cx_ptx_barrier *barrier =
            open_barrier(grid, block, number, (uint32_t)cx_ptx_get(rows, at->b, lane));

        if (!barrier)
            return fail_at_barrier(grid, block, &warp->lanes[lane], at);
        barrier->arrived++;
        barrier->truths += votes && (uint32_t)cx_ptx_get(rows, at->c, lane) != 0;
        if (waits)
            wait_at_barrier(warp, UINT32_C(1) << lane, number, at);
    }
    return true;
}

static uint32_t reduced_value(const cx_ptx_barrier *barrier, const cx_ptx_instruction *at)
{
    switch (at->mode) {
    case CX_PTX_REDUCE_COUNT:
        return barrier->truths;
    case CX_PTX_REDUCE_AND:
        return barrier->truths == barrier->arrived;
    default:
        return barrier->truths > 0;
    }
}

static void release_barrier(const cx_ptx_grid *grid, cx_ptx_block *block, uint32_t number,
                            uint32_t warps)
{
    cx_ptx_barrier *barrier = &block->barriers[number];

    if (grid->shadow)
        cx_ptx_shadow_release(grid, block, number);
    for (uint32_t i = 0; i < warps; i++) {
        cx_ptx_warp *warp = &block->warps[i];
        uint32_t waiting = warp->at_barriers[number], votes = warp->votes & waiting;

        warp->at_barrier &= ~waiting;
        warp->at_barriers[number] = 0;
        warp->votes &= ~votes;
        for (; votes; votes &= votes - 1) {
            const cx_ptx_thread *thread = &warp->lanes[__builtin_ctz(votes)];

            cx_ptx_thread_put(grid, block, thread, thread->next->d,
                              reduced_value(barrier, thread->next));
        }
    }
    *barrier = (cx_ptx_barrier){0};
}

/* Ended threads count as arrived. */
bool cx_ptx_barriers_release(const cx_ptx_grid *grid, cx_ptx_block *block, uint32_t warps)
{
    bool released = false;

    for (uint32_t i = 0; i < CX_PTX_BARRIERS; i++) {
        const cx_ptx_barrier *barrier = &block->barriers[i];

        if (!barrier->open || barrier->arrived < (barrier->expected ? barrier->expected
                                                                    : block->left))
            continue;
        release_barrier(grid, block, i, warps);
        released = true;
    }
    return released;
}

/* ---- warps ---- */

/* The lanes of a warp in a joint operation. */
typedef struct party {
    cx_ptx_grid *grid;
    cx_ptx_block *block;
    cx_ptx_warp *warp;
    cx_ptx_thread *lanes; /* the first thread of the warp */
    const cx_ptx_instruction *at; /* of one of them; the others do the same with their own slots */
    uint32_t present;
} party;

static uint64_t get_long(const party *all, unsigned lane, uint32_t place)
{
    return cx_ptx_thread_get(all->grid, all->block, &all->lanes[lane], place);
}

static uint32_t get(const party *all, unsigned lane, uint32_t place)
{
    return (uint32_t)get_long(all, lane, place);
}

static void put(const party *all, unsigned lane, uint32_t place, uint32_t value)
{
    cx_ptx_thread_put(all->grid, all->block, &all->lanes[lane], place, value);
}

static const cx_ptx_instruction *instruction_of(const party *all, unsigned lane)
{
    return all->lanes[lane].next;
}

static bool is_present(const party *all, unsigned lane)
{
    return all->present >> lane & 1;
}

/* Finds the lane that a lane reads from, and whether it is in the same segment. */
static unsigned source_of(const party *all, unsigned lane, bool *out_inside)
{
    const cx_ptx_instruction *at = instruction_of(all, lane);
    uint32_t b = get(all, lane, at->b) & 31, c = get(all, lane, at->c);
    uint32_t mask = c >> 8 & 31, clamp = c & 31;
    int least = (int)(lane & mask), most = (int)((lane & mask) | (clamp & ~mask)), source;

    switch (at->mode) {
    case CX_PTX_WARP_SHUFFLE_UP:
        source = (int)lane - (int)b;
        *out_inside = source >= most;
        break;
    case CX_PTX_WARP_SHUFFLE_DOWN:
        source = (int)(lane + b);
        *out_inside = source <= most;
        break;
    case CX_PTX_WARP_SHUFFLE_BUTTERFLY:
        source = (int)(lane ^ b);
        *out_inside = source <= most;
        break;
    default:
        source = least | (int)(b & ~mask);
        *out_inside = source <= most;
    }
    return *out_inside ? (unsigned)source : lane;
}

static void shuffle_lanes(const party *all)
{
    uint32_t values[CX_PTX_WARP_SIZE], results[CX_PTX_WARP_SIZE];
    bool inside[CX_PTX_WARP_SIZE];

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        values[lane] = is_present(all, lane) ? get(all, lane, instruction_of(all, lane)->a) : 0;
    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        if (is_present(all, lane))
            results[lane] = values[source_of(all, lane, &inside[lane]) & 31];
    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        if (!is_present(all, lane))
            continue;
        const cx_ptx_instruction *at = instruction_of(all, lane);
        put(all, lane, at->d, results[lane]);
        if (at->site != UINT32_MAX)
            put(all, lane, at->site, inside[lane]);
    }
}

static uint32_t ballot_of(const party *all)
{
    uint32_t votes = 0;

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        if (is_present(all, lane) && get(all, lane, instruction_of(all, lane)->a))
            votes |= UINT32_C(1) << lane;
    return votes;
}

static void give_all(const party *all, uint32_t value)
{
    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        if (is_present(all, lane))
            put(all, lane, instruction_of(all, lane)->d, value);
}

static void vote_lanes(const party *all)
{
    uint32_t votes = ballot_of(all);

    switch (all->at->mode) {
    case CX_PTX_WARP_ALL:
        give_all(all, votes == all->present);
        break;
    case CX_PTX_WARP_ANY:
        give_all(all, votes != 0);
        break;
    case CX_PTX_WARP_UNIFORM:
        give_all(all, votes == all->present || votes == 0);
        break;
    default:
        give_all(all, votes);
    }
}

static uint32_t lanes_with(const party *all, uint64_t value)
{
    cx_ptx_type type = (cx_ptx_type)all->at->type;
    uint32_t same = 0;

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        if (is_present(all, lane) &&
            cx_ptx_extend(type, get_long(all, lane, instruction_of(all, lane)->a)) == value)
            same |= UINT32_C(1) << lane;
    return same;
}

static void match_lanes(const party *all)
{
    cx_ptx_type type = (cx_ptx_type)all->at->type;
    uint32_t results[CX_PTX_WARP_SIZE] = {0};

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        if (is_present(all, lane))
            results[lane] = lanes_with(
                all, cx_ptx_extend(type, get_long(all, lane, instruction_of(all, lane)->a)));
    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        if (!is_present(all, lane))
            continue;
        const cx_ptx_instruction *at = instruction_of(all, lane);
        bool same = results[lane] == all->present;
        put(all, lane, at->d, at->mode == CX_PTX_WARP_MATCH_ANY || same ? results[lane] : 0);
        if (at->site != UINT32_MAX)
            put(all, lane, at->site, same);
    }
}

static uint32_t reduced_singles(const cx_ptx_instruction *at, uint32_t a, uint32_t b)
{
    float x = cx_ptx_f32_of(a), y = cx_ptx_f32_of(b);
    bool strict = at->from & CX_PTX_REDUCE_KEEPS_NAN;

    if (at->mode == CX_PTX_WARP_REDUCE_MIN)
        return cx_ptx_bits_f32(strict ? cx_ptx_minn_f32(x, y) : cx_ptx_min_f32(x, y));
    return cx_ptx_bits_f32(strict ? cx_ptx_maxn_f32(x, y) : cx_ptx_max_f32(x, y));
}

static uint32_t reduced_pair(const cx_ptx_instruction *at, uint32_t a, uint32_t b)
{
    bool less = at->type == CX_PTX_S32 ? (int32_t)a < (int32_t)b : a < b;

    switch (at->mode) {
    case CX_PTX_WARP_REDUCE_ADD:
        return a + b;
    case CX_PTX_WARP_REDUCE_MIN:
        return less ? a : b;
    case CX_PTX_WARP_REDUCE_MAX:
        return less ? b : a;
    case CX_PTX_WARP_REDUCE_AND:
        return a & b;
    case CX_PTX_WARP_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void reduce_lanes(const party *all)
{
    uint32_t value = 0;
    bool first = true;

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        if (!is_present(all, lane))
            continue;
        uint32_t own = get(all, lane, instruction_of(all, lane)->a);
        if (all->at->type == CX_PTX_F32 && (all->at->from & CX_PTX_REDUCE_ABSOLUTE))
            own &= INT32_MAX;
        if (all->at->type == CX_PTX_F32)
            value = reduced_singles(all->at, first ? own : value, own);
        else
            value = first ? own : reduced_pair(all->at, value, own);
        first = false;
    }
    give_all(all, value);
}

/* The lowest lane is the leader. */
static void elect_lane(const party *all)
{
    unsigned leader = (unsigned)__builtin_ctz(all->present);

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        if (!is_present(all, lane))
            continue;
        const cx_ptx_instruction *at = instruction_of(all, lane);
        put(all, lane, at->d, leader);
        if (at->site != UINT32_MAX)
            put(all, lane, at->site, lane == leader);
    }
}

/* Lanes at one instruction have the same registers unless they have come by other calls. */
static void multiply_matrices(const party *all)
{
    unsigned first = (unsigned)__builtin_ctz(all->present);
    const cx_ptx_thread *one = &all->lanes[first];
    const cx_ptx_rows rows = cx_ptx_rows_of(all->grid, all->block, one);

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        const cx_ptx_thread *other = &all->lanes[lane];

        if (is_present(all, lane) && (other->words != one->words || other->longs != one->longs)) {
            cx_ptx_thread_refuse(all->grid, all->block, other,
                                 "the lanes of a matrix instruction have come by other calls");
            return;
        }
    }
    cx_ptx_matrix_do(all->grid, all->block, all->lanes, &rows, all->present, all->at);
}

static void perform_warp(const party *all)
{
    switch (all->at->mode) {
    case CX_PTX_WARP_SYNC:
        break;
    case CX_PTX_WARP_SHUFFLE_UP:
    case CX_PTX_WARP_SHUFFLE_DOWN:
    case CX_PTX_WARP_SHUFFLE_BUTTERFLY:
    case CX_PTX_WARP_SHUFFLE_INDEX:
        shuffle_lanes(all);
        break;
    case CX_PTX_WARP_ALL:
    case CX_PTX_WARP_ANY:
    case CX_PTX_WARP_UNIFORM:
    case CX_PTX_WARP_BALLOT:
        vote_lanes(all);
        break;
    case CX_PTX_WARP_MATCH_ANY:
    case CX_PTX_WARP_MATCH_ALL:
        match_lanes(all);
        break;
    case CX_PTX_WARP_ELECT:
        elect_lane(all);
        break;
    default:
        reduce_lanes(all);
    }
}

static void perform_joint(const party *all)
{
    if (all->at->op == CX_PTX_MATRIX)
        multiply_matrices(all);
    else
        perform_warp(all);
    if (all->grid->shadow)
        cx_ptx_shadow_join(all->grid, all->block, all->lanes, all->present);
    all->warp->at_warp &= ~all->present;
}

/* True if all unfinished lanes of the mask wait for the same operation. */
static bool is_gathered(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp, unsigned of,
                        party *out)
{
    const cx_ptx_instruction *at = warp->lanes[of].next;
    uint32_t mask;

    *out = (party){grid, block, warp, warp->lanes, at, 0};
    mask = get(out, of, at->e);
    for (uint32_t left = mask & warp->all & ~warp->ended; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        const cx_ptx_thread *thread = &warp->lanes[lane];

        if (!(warp->at_warp >> lane & 1) || thread->next->op != at->op ||
            (at->op == CX_PTX_MATRIX && thread->next != at) || thread->next->mode != at->mode ||
            thread->next->type != at->type || get(out, lane, thread->next->e) != mask)
            return false;
        out->present |= UINT32_C(1) << lane;
    }
    return true;
}

/* Without .sync, the lanes that are there do it. */
bool cx_ptx_warp_join(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp, uint32_t mask)
{
    const party all = {
        grid, block, warp, warp->lanes, warp->lanes[__builtin_ctz(mask)].next, mask};

    if (all.at->op == CX_PTX_MATRIX || !all.at->size || warp->independent)
        for (uint32_t left = mask; left; left &= left - 1)
            if (get(&all, (unsigned)__builtin_ctz(left), all.at->e) != mask)
                return false;
    perform_joint(&all);
    return true;
}

bool cx_ptx_warp_release(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp)
{
    bool released = false;
    party all;

    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        if (!(warp->at_warp >> lane & 1) || !is_gathered(grid, block, warp, lane, &all))
            continue;
        /* A lane that its own mask leaves out would wait for ever. */
        if (!(all.present >> lane & 1)) {
            cx_ptx_thread_refuse(grid, block, &warp->lanes[lane],
                                 "the mask of the thread does not name the thread's own lane");
            return false;
        }
        perform_joint(&all);
        if (grid->outcome != CX_PTX_DONE)
            return false;
        released = true;
    }
    return released;
}
