#include "ptx/warp.h"

/* A join's patience, and how much it loses in a turn in which others watch memory, ... */
#define PATIENCE 1000
#define FOR_WATCHING 512
#define FOR_READING 16
#define FOR_BLOCKING 1

/* Accesses to memory in a turn, if their number is random. */
#define ACCESSES_MAX 8

/* ---- groups ---- */

static cx_ptx_group *add_group(cx_ptx_warp *warp, cx_ptx_group group)
{
    warp->groups[warp->count] = group;
    return &warp->groups[warp->count++];
}

static void remove_group(cx_ptx_warp *warp, cx_ptx_group *group)
{
    *group = warp->groups[--warp->count];
}

void cx_ptx_warp_begin(cx_ptx_warp *warp, cx_ptx_thread *lanes, uint32_t count, bool independent,
                       uint64_t seed)
{
    cx_ptx_group all = {.next = lanes->next,
                        .mask = UINT32_MAX >> (CX_PTX_WARP_SIZE - count),
                        .join = CX_PTX_NO_JOIN};

    warp->lanes = lanes;
    warp->all = all.mask;
    warp->votes = 0;
    warp->ended = warp->at_join = warp->at_warp = warp->at_cluster = warp->at_barrier = 0;
    for (uint32_t i = 0; i < CX_PTX_BARRIERS; i++)
        warp->at_barriers[i] = 0;
    warp->count = 0;
    warp->independent = independent;
    warp->random = independent ? seed : 0;
    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++)
        warp->joins[i].expected = 0;
    if (!independent)
        add_group(warp, all);
    for (uint32_t i = 0; independent && i < count; i++) {
        all.mask = UINT32_C(1) << i;
        add_group(warp, all);
    }
}

/* ---- joins ---- */

static uint8_t add_join(cx_ptx_warp *warp, cx_ptx_join join)
{
    for (uint8_t i = 0; i < CX_PTX_WARP_SIZE; i++) {
        if (warp->joins[i].expected)
            continue;
        warp->joins[i] = join;
        return i;
    }
    return join.parent;
}

/* The lanes that are at the join go on as a group. */
static void leave_join(cx_ptx_warp *warp, cx_ptx_join *join, int turn)
{
    warp->at_join &= ~join->arrived;
    add_group(warp, (cx_ptx_group){.next = join->next,
                                   .mask = join->arrived,
                                   .depth = join->depth,
                                   .turn = turn,
                                   .join = join->parent});
    join->expected &= ~join->arrived;
    join->arrived = 0;
    join->waited = 0;
}

/* Forgets a join that has no lanes but those of one group or of one other join: nobody waits. */
static void forget_if_alone(cx_ptx_warp *warp, uint8_t number)
{
    const cx_ptx_join *join = &warp->joins[number];
    uint32_t expected = join->expected;
    uint8_t parent = join->parent;
    bool alone = false;

    for (uint32_t i = 0; i < warp->count; i++)
        alone |= warp->groups[i].join == number && warp->groups[i].mask == expected;
    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++)
        alone |= warp->joins[i].parent == number && warp->joins[i].expected == expected;
    if (!alone)
        return;
    for (uint32_t i = 0; i < warp->count; i++)
        if (warp->groups[i].join == number)
            warp->groups[i].join = parent;
    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++)
        if (warp->joins[i].expected && warp->joins[i].parent == number)
            warp->joins[i].parent = parent;
    warp->joins[number].expected = 0;
}

static void forget_joins(cx_ptx_warp *warp)
{
    for (uint8_t i = 0; i < CX_PTX_WARP_SIZE; i++)
        if (warp->joins[i].expected)
            forget_if_alone(warp, i);
}

/* ---- events ---- */

static void arrive(cx_ptx_warp *warp, cx_ptx_group *group)
{
    cx_ptx_join *join = &warp->joins[group->join];
    uint32_t mask = group->mask;
    int turn = group->turn;

    join->arrived |= mask;
    join->waited = 0;
    remove_group(warp, group);
    if (join->arrived == join->expected) {
        leave_join(warp, join, turn);
        return;
    }
    warp->at_join |= mask;
}

static void end_lanes(cx_ptx_warp *warp, cx_ptx_group *group)
{
    uint32_t mask = group->mask;
    uint8_t next = group->join;
    int turn = group->turn;

    remove_group(warp, group);
    if (next == CX_PTX_NO_JOIN)
        return;
    while (next != CX_PTX_NO_JOIN) {
        cx_ptx_join *join = &warp->joins[next];

        next = join->parent;
        join->expected &= ~mask;
        if (join->expected != 0 && join->arrived == join->expected)
            leave_join(warp, join, turn);
    }
    forget_joins(warp);
}

/* The join of lanes that the group's branch divides; false: they do not meet in the kernel. */
static bool find_join(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_warp *warp,
                      const cx_ptx_group *group, cx_ptx_join *out)
{
    const cx_ptx_instruction *code = grid->module->code, *at = group->next;

    *out = (cx_ptx_join){.depth = group->depth, .expected = group->mask, .parent = group->join};
    if (at->op == CX_PTX_CALL_INDIRECT) {
        out->next = at + 1;
        out->depth--;
        return true;
    }
    if (at->site != CX_PTX_NO_PLACE) {
        out->next = code + at->site;
        return true;
    }
    if (group->depth == 0)
        return false;
    out->next = code + cx_ptx_thread_get(grid, block, &warp->lanes[cx_ptx_first_lane(group->mask)],
                                         cx_ptx_fixed_place(CX_PTX_SLOT_RETURN));
    out->depth--;
    return true;
}

/* Adds a part for each place where lanes of the group go on, as their threads say. */
static void divide_by_threads(cx_ptx_warp *warp, cx_ptx_group part)
{
    uint32_t left = part.mask;

    while (left) {
        part.next = warp->lanes[cx_ptx_first_lane(left)].next;
        part.mask = 0;
        for (uint32_t others = left; others; others &= others - 1)
            if (warp->lanes[cx_ptx_first_lane(others)].next == part.next)
                part.mask |= others & -others;
        left &= ~part.mask;
        add_group(warp, part);
    }
}

static void divide_by_branch(const cx_ptx_grid *grid, cx_ptx_warp *warp, cx_ptx_group part)
{
    const cx_ptx_instruction *at = part.next;
    cx_ptx_group jumps = part;

    jumps.next = grid->module->code + at->immediate;
    jumps.mask = part.chosen;
    part.next = at + 1;
    part.mask &= ~part.chosen;
    jumps.chosen = part.chosen = 0;
    add_group(warp, jumps);
    add_group(warp, part);
}

/* Divides the group by where its lanes go on. */
static void diverge(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_warp *warp,
                    cx_ptx_group *group)
{
    cx_ptx_group part = *group;
    cx_ptx_join join;

    if (find_join(grid, block, warp, group, &join)) {
        const cx_ptx_join *old = group->join == CX_PTX_NO_JOIN ? NULL : &warp->joins[group->join];

        if (!old || old->next != join.next || old->depth != join.depth)
            part.join = add_join(warp, join);
    }
    remove_group(warp, group);
    if (part.chosen)
        divide_by_branch(grid, warp, part);
    else
        divide_by_threads(warp, part);
}

/* ---- meeting by chance ---- */

static bool has_same_calls(const cx_ptx_grid *grid, const cx_ptx_block *block,
                           const cx_ptx_warp *warp, const cx_ptx_group *one,
                           const cx_ptx_group *other)
{
    const uint32_t place = cx_ptx_fixed_place(CX_PTX_SLOT_RETURN);
    const uint32_t caller = cx_ptx_fixed_place(CX_PTX_SLOT_CALLER);
    cx_ptx_thread a = warp->lanes[cx_ptx_first_lane(one->mask)];
    cx_ptx_thread b = warp->lanes[cx_ptx_first_lane(other->mask)];

    for (uint32_t depth = one->depth; depth > 0; depth--) {
        if (cx_ptx_thread_get(grid, block, &a, place) !=
                cx_ptx_thread_get(grid, block, &b, place) ||
            cx_ptx_thread_get(grid, block, &a, caller) !=
                cx_ptx_thread_get(grid, block, &b, caller))
            return false;
        cx_ptx_return(grid, block, &a);
        cx_ptx_return(grid, block, &b);
    }
    return true;
}

static bool can_merge(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_warp *warp,
                      const cx_ptx_group *one, const cx_ptx_group *other)
{
    return !one->blocked && !other->blocked && one->next == other->next &&
           one->depth == other->depth && one->join == other->join &&
           has_same_calls(grid, block, warp, one, other);
}

static void merge_groups(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_warp *warp)
{
    bool merged = false;

    for (uint32_t i = 0; i < warp->count; i++)
        for (uint32_t j = i + 1; j < warp->count;) {
            if (!can_merge(grid, block, warp, &warp->groups[i], &warp->groups[j])) {
                j++;
                continue;
            }
            warp->groups[i].mask |= warp->groups[j].mask;
            remove_group(warp, &warp->groups[j]);
            merged = true;
        }
    if (merged)
        forget_joins(warp);
}

/* Takes the lanes out of blocked groups that can go on, behind the instruction where they
 * waited. */
static void take_ready_lanes(cx_ptx_warp *warp)
{
    const uint32_t ready = cx_ptx_warp_ready(warp);

    for (uint32_t i = 0, end = warp->count; i < end; i++) {
        cx_ptx_group *group = &warp->groups[i], part = *group;

        if (!group->blocked)
            continue;
        part.blocked = false;
        part.mask &= ready;
        if (part.mask == 0)
            continue;
        part.next++;
        group->mask &= ~part.mask;
        if (group->mask == 0)
            *group = part;
        else
            add_group(warp, part);
    }
}

/* ---- patience ---- */

static uint32_t loss_of(const cx_ptx_group *group)
{
    if (group->blocked)
        return FOR_BLOCKING;
    switch ((cx_ptx_pace)group->pace) {
    case CX_PTX_PACE_WATCHES:
        return FOR_WATCHING;
    case CX_PTX_PACE_READS:
        return FOR_READING;
    default:
        return 0;
    }
}

static void lose_patience(cx_ptx_warp *warp)
{
    bool left = false;

    if (warp->count == 1 && warp->groups[0].mask == (warp->all & ~warp->ended))
        return; /* nobody waits at a join */
    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++) {
        cx_ptx_join *join = &warp->joins[i];
        uint32_t most = 0;

        if (!join->expected || !join->arrived)
            continue;
        for (uint32_t other = 0; other < warp->count; other++)
            if ((warp->groups[other].mask & join->expected) && loss_of(&warp->groups[other]) > most)
                most = loss_of(&warp->groups[other]);
        join->waited += most;
        if (join->waited < PATIENCE)
            continue;
        leave_join(warp, join, 0);
        left = true;
    }
    if (left)
        forget_joins(warp);
}

bool cx_ptx_warp_part(cx_ptx_warp *warp)
{
    bool left = false;

    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++) {
        if (!warp->joins[i].expected || !warp->joins[i].arrived)
            continue;
        leave_join(warp, &warp->joins[i], 0);
        left = true;
    }
    if (left)
        forget_joins(warp);
    return left;
}

/* ---- turns ---- */

/* A random number below `limit`; Marsaglia's xorshift. */
static uint32_t choose_number(cx_ptx_warp *warp, uint32_t limit)
{
    warp->random ^= warp->random << 13;
    warp->random ^= warp->random >> 7;
    warp->random ^= warp->random << 17;
    return (uint32_t)((warp->random >> 32) % limit);
}

static cx_ptx_group *choose_random_group(cx_ptx_warp *warp)
{
    cx_ptx_group *found = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < warp->count; i++) {
        cx_ptx_group *each = &warp->groups[i];

        if (!each->blocked && each->turn > 0 && choose_number(warp, ++count) == 0)
            found = each;
    }
    return found;
}

/* The group with the lowest lane of those whose turn is not over. */
static cx_ptx_group *choose_group(cx_ptx_warp *warp)
{
    cx_ptx_group *found = NULL;

    for (uint32_t i = 0; i < warp->count; i++) {
        cx_ptx_group *each = &warp->groups[i];

        if (!each->blocked && each->turn > 0 &&
            (!found || cx_ptx_first_lane(each->mask) < cx_ptx_first_lane(found->mask)))
            found = each;
    }
    return found;
}

static void handle(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_warp *warp,
                   cx_ptx_group *group, cx_ptx_event event)
{
    switch (event) {
    case CX_PTX_EVENT_TURN:
        group->turn = 0;
        break;
    case CX_PTX_EVENT_BLOCKED:
        group->blocked = true;
        break;
    case CX_PTX_EVENT_ARRIVED:
        arrive(warp, group);
        break;
    case CX_PTX_EVENT_DIVERGED:
        diverge(grid, block, warp, group);
        break;
    case CX_PTX_EVENT_ENDED:
        warp->ended |= group->mask;
        end_lanes(warp, group);
        break;
    case CX_PTX_EVENT_FAILED:
        break;
    }
}

static void begin_turn(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_warp *warp)
{
    take_ready_lanes(warp);
    if (warp->count > 1 && !warp->independent)
        merge_groups(grid, block, warp);
    for (uint32_t i = 0; i < warp->count; i++) {
        warp->groups[i].turn = CX_PTX_TURN;
        warp->groups[i].pace = CX_PTX_PACE_WORKS;
        warp->groups[i].accesses = warp->random ? 2 + choose_number(warp, ACCESSES_MAX) : 0;
    }
}

bool cx_ptx_warp_turn(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp)
{
    cx_ptx_group *group;
    bool moved = false;

    begin_turn(grid, block, warp);
    while ((group = warp->random ? choose_random_group(warp) : choose_group(warp)) != NULL) {
        moved = true;
        handle(grid, block, warp, group, cx_ptx_group_run(grid, block, warp, group));
        if (grid->outcome != CX_PTX_DONE)
            return true;
    }
    lose_patience(warp);
    return moved;
}
