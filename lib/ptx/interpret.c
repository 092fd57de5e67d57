/* Runs a group of lanes: the instructions that decide where it goes on. */
#include "ptx/cluster.h"
#include "ptx/shadow.h"
#include "ptx/step.h"
#include "ptx/warp.h"

#include <string.h>

/* From so many lanes on it is faster to compute all and to keep what the others have. */
#define MANY_LANES 8

/* ---- groups ---- */

static cx_ptx_thread *thread_of(const cx_ptx_step *run, uint32_t lane)
{
    return &run->warp->lanes[lane];
}

static cx_ptx_thread *first_thread(const cx_ptx_step *run)
{
    return thread_of(run, cx_ptx_first_lane(run->active));
}

/* A thread knows where its group goes on while that does not run. */
static cx_ptx_event stop(const cx_ptx_step *run, cx_ptx_group *group,
                         const cx_ptx_instruction *next, int turn, cx_ptx_event event)
{
    group->next = next;
    group->turn = turn;
    if (event == CX_PTX_EVENT_TURN)
        CX_PTX_EACH_ACTIVE (run)
            thread_of(run, lane)->next = next;
    return event;
}

/* The lanes that a branch sends to its target. */
static uint32_t chosen_lanes(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    bool wanted = at->op == CX_PTX_BRANCH_IF || at->op == CX_PTX_BRANCH_IF_BACK;
    uint32_t truths = 0;

    if (!run->single)
        truths = run->lanes->truths(cx_ptx_row(&run->rows, at->a));
    else if (*(const cx_ptx_word *)cx_ptx_row(&run->cells, at->a))
        truths = UINT32_MAX;
    return run->active & (wanted ? truths : ~truths);
}

/* Sends lanes to the targets of a table. False: a lane has failed. */
static bool jump_by_table(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    const uint32_t *targets = run->grid->module->targets + at->immediate;

    CX_PTX_EACH_ACTIVE (run) {
        uint32_t index = (uint32_t)cx_ptx_get(&run->rows, at->a, lane);
        cx_ptx_thread *thread = thread_of(run, lane);

        thread->next = at;
        if (index >= targets[0]) {
            cx_ptx_thread_refuse(run->grid, run->block, thread,
                                 "the index is behind the end of the list of targets");
            return false;
        }
        thread->next = run->grid->module->code + targets[1 + index];
    }
    return true;
}

static bool is_divided(const cx_ptx_step *run)
{
    const cx_ptx_instruction *next = first_thread(run)->next;

    CX_PTX_EACH_ACTIVE (run)
        if (thread_of(run, lane)->next != next)
            return true;
    return false;
}

/* ---- calls ---- */

static bool call_function(cx_ptx_step *run, const cx_ptx_instruction *at, cx_ptx_group *group)
{
    uint32_t words = first_thread(run)->words, longs = first_thread(run)->longs;

    CX_PTX_EACH_ACTIVE (run)
        if (!cx_ptx_call(run->grid, run->block, thread_of(run, lane), at))
            return false;
    /* Not into a function that the device has. */
    group->depth += first_thread(run)->words != words || first_thread(run)->longs != longs;
    return true;
}

static void return_from_function(cx_ptx_step *run, cx_ptx_group *group)
{
    CX_PTX_EACH_ACTIVE (run)
        cx_ptx_return(run->grid, run->block, thread_of(run, lane));
    group->depth--;
}

/* ---- joint operations ---- */

/* True if the masks of a joint operation name lanes that are elsewhere. */
static bool needs_others(const cx_ptx_step *run, uint32_t place)
{
    uint32_t named = 0;

    CX_PTX_EACH_ACTIVE (run)
        named |= (uint32_t)cx_ptx_get(&run->rows, place, lane);
    return (named & run->warp->all & ~run->warp->ended & ~run->active) != 0;
}

typedef enum join_result { JOINED, JOIN_WAITS, JOIN_FAILED } join_result;

static join_result join_lanes(cx_ptx_step *run, const cx_ptx_instruction *at)
{
    cx_ptx_warp *warp = run->warp;

    if (run->grid->shadow)
        cx_ptx_shadow_join(run->grid, run->block, warp->lanes, run->active);
    if (cx_ptx_join_at_once(run, at))
        return run->grid->outcome == CX_PTX_DONE ? JOINED : JOIN_FAILED;
    CX_PTX_EACH_ACTIVE (run)
        thread_of(run, lane)->next = at;
    warp->at_warp |= run->active;
    if (cx_ptx_warp_join(run->grid, run->block, warp, run->active))
        return run->grid->outcome == CX_PTX_DONE ? JOINED : JOIN_FAILED;
    if (needs_others(run, at->e))
        return JOIN_WAITS;
    cx_ptx_warp_release(run->grid, run->block, warp);
    if (run->grid->outcome != CX_PTX_DONE)
        return JOIN_FAILED;
    return warp->at_warp & run->active ? JOIN_WAITS : JOINED;
}

static void end_threads(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    CX_PTX_EACH_ACTIVE (run) {
        thread_of(run, lane)->next = at;
        cx_ptx_cluster_leave(run->block, thread_of(run, lane));
    }
    run->block->left -= (uint32_t)__builtin_popcount(run->active);
}

/* ---- the loop ---- */

/* From now on those lanes do the instructions. */
static inline void activate(cx_ptx_step *run, uint32_t lanes)
{
    run->active = lanes;
    run->whole = (lanes | run->unused) == UINT32_MAX;
    run->few = __builtin_popcount(lanes) < MANY_LANES;
    run->direct = run->whole && !run->few;
    run->single = (lanes & (lanes - 1)) == 0;
    if (run->single)
        run->cells = cx_ptx_cells_of(&run->rows, cx_ptx_first_lane(lanes));
}

static void find_rows(cx_ptx_step *run)
{
    run->rows = cx_ptx_rows_of(run->grid, run->block, first_thread(run));
    activate(run, run->active);
}

static inline void compute(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    run->lanes->whole[at->op](cx_ptx_row(&run->rows, at->d), cx_ptx_row(&run->rows, at->a),
                              cx_ptx_row(&run->rows, at->b), cx_ptx_row(&run->rows, at->c));
}

/* Lane by lane: computes up to another instruction, or to the border. Only a single lane may load
 * and store so: lanes see each other's memory in lockstep. */
static const cx_ptx_instruction *compute_few(const cx_ptx_step *run, const cx_ptx_instruction *at,
                                             const cx_ptx_instruction *border)
{
    const cx_ptx_instruction *next = at;

    if (run->single && !run->warp->random && !run->grid->shadow)
        return run->lanes->compute(&run->cells, at, border, run->grid, run->block);
    CX_PTX_EACH_ACTIVE (run) {
        const cx_ptx_rows cells = cx_ptx_cells_of(&run->rows, lane);

        next = run->lanes->compute(&cells, at, border, NULL, NULL);
    }
    return next;
}

/* True: all is done. False: cx_ptx_step_do finds out more. */
static inline bool load_or_store(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    if (at->op > CX_PTX_STORE_64)
        return false;
    return (at->op < CX_PTX_STORE_8 ? run->lanes->load : run->lanes->store)(
        run->grid, run->block, run->warp->lanes, &run->rows, at, run->active);
}

static bool is_access(const cx_ptx_instruction *at)
{
    return (at->op >= CX_PTX_LOAD_U8 && at->op <= CX_PTX_STORE_64) ||
           at->op == CX_PTX_ATOMIC || at->op == CX_PTX_ACCESS_128;
}

#define TAKE_TURN(cost)                                              \
    {                                                                \
        turn -= (cost);                                              \
        group->pace = at->mode;                                      \
        if (turn <= 0)                                               \
            return stop(&run, group, next, turn, CX_PTX_EVENT_TURN); \
    }

cx_ptx_event cx_ptx_group_run(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp,
                              cx_ptx_group *group)
{
    /* In a turn, that jump costs as many others. */
    static const int cost[] = {
        [CX_PTX_PACE_WORKS] = 1, [CX_PTX_PACE_READS] = 1, [CX_PTX_PACE_WATCHES] = CX_PTX_TURN / 8};
    const cx_ptx_instruction *code = grid->module->code, *next = group->next;
    const cx_ptx_instruction *end = cx_ptx_group_stop(warp, group);
    const cx_ptx_instruction *border = end; /* of what the active lanes do */
    cx_ptx_step run = {.grid = grid,
                       .block = block,
                       .warp = warp,
                       .lanes = grid->lanes,
                       .unused = warp->ended | ~warp->all};
    const bool is_plain = !grid->shadow && group->accesses == 0; /* nobody counts accesses */
    int turn = group->turn;

    if (next == end)
        return CX_PTX_EVENT_ARRIVED;
    run.active = group->mask;
    find_rows(&run);
    for (;;) {
        const cx_ptx_instruction *at;

        if (next == border) {
            if (run.active == group->mask)
                return stop(&run, group, next, turn, CX_PTX_EVENT_ARRIVED);
            activate(&run, group->mask);
            border = end;
            continue;
        }
        at = next;
        if (run.direct && at->op < CX_PTX_COMPUTED) {
            compute(&run, at);
            next = at + 1;
            continue;
        }
        next = at + 1;
        if (at->op >= CX_PTX_COMPUTED && is_plain && !run.few && load_or_store(&run, at))
            continue;
        if (run.few && at->op < CX_PTX_ADD_ADDRESS && (next = compute_few(&run, at, border)) != at)
            continue;
        if (group->accesses && is_access(at) && --group->accesses == 0)
            return stop(&run, group, at, 0, CX_PTX_EVENT_TURN);
        next = at + 1;
        if (at->op < CX_PTX_BRANCH) {
            if (!cx_ptx_step_do(&run, at))
                return CX_PTX_EVENT_FAILED;
            continue;
        }
        switch ((cx_ptx_op)at->op) {
        case CX_PTX_BRANCH:
            next = code + at->immediate;
            break;
        case CX_PTX_BRANCH_BACK:
            next = code + at->immediate;
            TAKE_TURN(cost[at->mode])
            break;
        case CX_PTX_BRANCH_IF:
        case CX_PTX_BRANCH_UNLESS:
        case CX_PTX_BRANCH_IF_BACK:
        case CX_PTX_BRANCH_UNLESS_BACK: {
            const cx_ptx_instruction *target = code + at->immediate;
            uint32_t chosen = chosen_lanes(&run, at);

            if (chosen == 0)
                break;
            if (chosen == run.active) {
                next = target;
                if (target <= at)
                    TAKE_TURN(cost[at->mode])
            } else if (at->from) {
                activate(&run, run.active & ~chosen);
                border = target;
            } else {
                group->chosen = chosen;
                group->pace = at->mode;
                turn -= target <= at ? cost[at->mode] : 0;
                return stop(&run, group, at, turn, CX_PTX_EVENT_DIVERGED);
            }
            break;
        }
        case CX_PTX_BRANCH_INDEX:
            if (!jump_by_table(&run, at))
                return CX_PTX_EVENT_FAILED;
            if (is_divided(&run))
                return stop(&run, group, at, turn - 1, CX_PTX_EVENT_DIVERGED);
            next = first_thread(&run)->next;
            TAKE_TURN(1)
            break;
        case CX_PTX_CALL:
        case CX_PTX_CALL_INDIRECT:
            if (!call_function(&run, at, group))
                return CX_PTX_EVENT_FAILED;
            if (is_divided(&run))
                return stop(&run, group, at, turn - 1, CX_PTX_EVENT_DIVERGED);
            next = first_thread(&run)->next;
            find_rows(&run);
            border = end = cx_ptx_group_stop(warp, group);
            TAKE_TURN(1)
            break;
        case CX_PTX_RETURN:
            return_from_function(&run, group);
            next = first_thread(&run)->next;
            find_rows(&run);
            border = end = cx_ptx_group_stop(warp, group);
            break;
        case CX_PTX_EXIT:
            end_threads(&run, at);
            return stop(&run, group, at, turn, CX_PTX_EVENT_ENDED);
        case CX_PTX_TRAPPED:
            first_thread(&run)->next = at;
            cx_ptx_thread_fail(grid, block, first_thread(&run), CX_PTX_TRAP, 0);
            return CX_PTX_EVENT_FAILED;
        case CX_PTX_PAUSE:
            group->pace = CX_PTX_PACE_WATCHES;
            return stop(&run, group, next, turn, CX_PTX_EVENT_TURN);
        case CX_PTX_BARRIER:
        case CX_PTX_BARRIER_ARRIVE:
            if (!cx_ptx_barrier_arrive(grid, block, &run.rows, warp, run.active, at))
                return CX_PTX_EVENT_FAILED;
            if (at->op == CX_PTX_BARRIER)
                return stop(&run, group, at, turn, CX_PTX_EVENT_BLOCKED);
            if (grid->shadow)
                cx_ptx_shadow_arrive(grid, block, warp->lanes, run.active);
            break;
        case CX_PTX_CLUSTER_ARRIVE:
            if (grid->shadow)
                cx_ptx_shadow_arrive(grid, block, warp->lanes, run.active);
            if (!cx_ptx_cluster_arrive(grid, block, warp->lanes, run.active, at))
                return CX_PTX_EVENT_FAILED;
            break;
        case CX_PTX_CLUSTER_WAIT:
            if (!cx_ptx_cluster_wait(warp, run.active, at))
                return stop(&run, group, at, turn, CX_PTX_EVENT_BLOCKED);
            break;
        case CX_PTX_WARP:
        case CX_PTX_MATRIX:
            switch (join_lanes(&run, at)) {
            case JOINED:
                break;
            case JOIN_WAITS:
                return stop(&run, group, at, turn, CX_PTX_EVENT_BLOCKED);
            case JOIN_FAILED:
                return CX_PTX_EVENT_FAILED;
            }
            break;
        case CX_PTX_ACTIVE_MASK:
            CX_PTX_EACH_ACTIVE (&run)
                cx_ptx_put(&run.rows, at->d, lane, group->mask);
            break;
        default:
            if (cx_ptx_step_do(&run, at))
                break;
            return CX_PTX_EVENT_FAILED;
        }
    }
}
