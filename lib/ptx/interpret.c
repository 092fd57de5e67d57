/* The instructions. */
#include "ptx/bits.h"
#include "ptx/reach.h"
#include "ptx/small.h"
#include "ptx/video.h"
#include "ptx/warp.h"

#include <fenv.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A fence: a thread that comes here later sees all earlier writes. */
static _Atomic unsigned fences;

/* ---- failures ---- */

void cx_ptx_thread_fail(cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                        cx_ptx_outcome outcome, uint64_t address)
{
    const uint32_t *size = grid->launch->block;
    const cx_ptx_module *module = grid->module;
    size_t code = ((uintptr_t)thread->next - (uintptr_t)module->code) / sizeof *module->code;

    if (grid->outcome != CX_PTX_DONE)
        return;
    grid->outcome = outcome;
    *grid->fault = (cx_ptx_fault){
        .block = {block->index[0], block->index[1], block->index[2]},
        .thread = {thread->index % size[0], thread->index / size[0] % size[1],
                   thread->index / size[0] / size[1]},
        .line = thread->next->line,
        .address = address,
    };
    if (code < module->code_count)
        grid->fault->source = cx_ptx_source_of(module, code, &grid->fault->source_line);
}

/* ---- sums that carry ---- */

static void add_with_carry(cx_ptx_slot *slots, const cx_ptx_instruction *at)
{
    uint64_t carry = at->mode & 1 ? slots[CX_PTX_SLOT_CARRY].u64 : 0, sum, out;

    if (at->op == CX_PTX_ADD_CARRY_32) {
        sum = (uint64_t)slots[at->a].u32 + slots[at->b].u32 + carry;
        out = sum >> 32;
        slots[at->d].u32 = (uint32_t)sum;
    } else {
        out = __builtin_add_overflow(slots[at->a].u64, slots[at->b].u64, &sum);
        out |= __builtin_add_overflow(sum, carry, &sum);
        slots[at->d].u64 = sum;
    }
    if (at->mode & 2)
        slots[CX_PTX_SLOT_CARRY].u64 = out;
}

/* As on hardware: a + ~b + carry, so the carry means that nothing is borrowed. */
static void subtract_with_carry(cx_ptx_slot *slots, const cx_ptx_instruction *at)
{
    uint64_t carry = at->mode & 1 ? slots[CX_PTX_SLOT_CARRY].u64 : 1, rest, out;

    if (at->op == CX_PTX_SUB_CARRY_32) {
        rest = (uint64_t)slots[at->a].u32 + (uint32_t)~slots[at->b].u32 + carry;
        out = rest >> 32;
        slots[at->d].u32 = (uint32_t)rest;
    } else {
        out = __builtin_add_overflow(slots[at->a].u64, ~slots[at->b].u64, &rest);
        out |= __builtin_add_overflow(rest, carry, &rest);
        slots[at->d].u64 = rest;
    }
    if (at->mode & 2)
        slots[CX_PTX_SLOT_CARRY].u64 = out;
}

/* ---- single lanes ---- */

static bool copy_async(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                       const cx_ptx_instruction *at)
{
    uint32_t bytes = thread->slots[at->c].u32;
    cx_ptx_instruction source = *at;
    unsigned char *to, *from = NULL;

    source.space = CX_PTX_GLOBAL;
    to = cx_ptx_reach_slowly(grid, block, thread, at, thread->slots[at->a].u32, true);
    if (bytes > at->size)
        bytes = at->size;
    source.size = (uint8_t)bytes;
    if (to && bytes > 0) {
        from = cx_ptx_reach_slowly(grid, block, thread, &source, thread->slots[at->b].u64, false);
        thread->next = at;
    }
    if (!to || (bytes > 0 && !from))
        return false;
    memset(to, 0, at->size);
    if (from)
        memcpy(to, from, bytes);
    return true;
}

static void end_thread(cx_ptx_block *block, cx_ptx_thread *thread, const cx_ptx_instruction *at)
{
    thread->next = at;
    thread->state = CX_PTX_THREAD_ENDED;
    block->left--;
}

/* ---- lanes together ---- */

/* A lane of the running group; the last row has no slots. */
typedef struct row {
    cx_ptx_slot *slots; /* of the thread's present function */
    cx_ptx_thread *thread;
} row;

static void fill_rows(row *rows, cx_ptx_thread *lanes, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        cx_ptx_thread *thread = &lanes[__builtin_ctz(mask)];

        *rows++ = (row){thread->slots, thread};
    }
    rows->slots = NULL;
}

/* The share of lanes that a condition sends to its target. */
typedef enum choice { NO_LANE, SOME_LANES, ALL_LANES } choice;

static inline choice choose(const row *rows, uint32_t condition, bool wanted, const bool single)
{
    uint32_t chosen = 0, all = 0;

    if (single)
        return (rows->slots[condition].u32 != 0) == wanted ? ALL_LANES : NO_LANE;
    for (; rows->slots; rows++, all++)
        chosen += (rows->slots[condition].u32 != 0) == wanted;
    return chosen == 0 ? NO_LANE : chosen == all ? ALL_LANES : SOME_LANES;
}

/* Those lanes that the condition does not send to its target. */
static void keep_others(const row *rows, uint32_t condition, bool wanted, row *out)
{
    for (; rows->slots; rows++)
        if ((rows->slots[condition].u32 != 0) != wanted)
            *out++ = *rows;
    out->slots = NULL;
}

static void divide(const row *rows, const cx_ptx_instruction *at,
                   const cx_ptx_instruction *target, bool wanted)
{
    for (; rows->slots; rows++)
        rows->thread->next = (rows->slots[at->a].u32 != 0) == wanted ? target : at + 1;
}

/* Sends lanes to the targets of a table. False: a lane has failed. */
static bool jump_by_table(cx_ptx_grid *grid, const cx_ptx_block *block, const row *rows,
                          const cx_ptx_instruction *at)
{
    const uint32_t *targets = grid->module->targets + at->immediate;

    for (; rows->slots; rows++) {
        uint32_t index = rows->slots[at->a].u32;

        rows->thread->next = at;
        if (index >= targets[0]) {
            cx_ptx_thread_fail(grid, block, rows->thread, CX_PTX_ILLEGAL_INSTRUCTION, 0);
            return false;
        }
        rows->thread->next = grid->module->code + targets[1 + index];
    }
    return true;
}

static bool call_function(cx_ptx_grid *grid, cx_ptx_block *block, row *rows,
                          const cx_ptx_instruction *at, cx_ptx_group *group)
{
    const cx_ptx_slot *before = rows->slots;

    for (row *each = rows; each->slots; each++) {
        if (!cx_ptx_call(grid, block, each->thread, at))
            return false;
        each->slots = each->thread->slots;
    }
    group->depth += rows->slots != before; /* not into a function that the device has */
    return true;
}

static bool is_divided(const row *rows)
{
    const cx_ptx_instruction *next = rows->thread->next;

    for (; rows->slots; rows++)
        if (rows->thread->next != next)
            return true;
    return false;
}

/* True if the masks of a joint operation name lanes that are elsewhere. */
static bool needs_others(const cx_ptx_warp *warp, const cx_ptx_group *group, const row *rows,
                         uint32_t slot)
{
    uint32_t named = 0;

    for (; rows->slots; rows++)
        named |= rows->slots[slot].u32;
    for (named &= warp->all & ~group->mask; named; named &= named - 1)
        if (warp->lanes[__builtin_ctz(named)].state != CX_PTX_THREAD_ENDED)
            return true;
    return false;
}

static bool is_waiting(const row *rows)
{
    for (; rows->slots; rows++)
        if (rows->thread->state != CX_PTX_THREAD_READY)
            return true;
    return false;
}

/* A thread knows where its group goes on while that does not run. */
static cx_ptx_event stop(cx_ptx_group *group, const row *rows, const cx_ptx_instruction *next,
                         int turn, cx_ptx_event event)
{
    group->next = next;
    group->turn = turn;
    if (event == CX_PTX_EVENT_TURN)
        for (; rows->slots; rows++)
            rows->thread->next = next;
    return event;
}

#define EACH_LANE                                           \
    for (const row *each = single ? all : rows;             \
         single ? each == all : (slots = each->slots) != NULL; each++)
#define EACH_ACCESS(writes)                                  \
    access = cx_ptx_access_begin(grid, block, at, (writes)); \
    EACH_LANE
#define REACH                                                                    \
    memory = cx_ptx_access_reach(&access, grid, block, each->thread, slots);     \
    if (!memory)                                                                 \
        return CX_PTX_EVENT_FAILED;
#define LOAD(op, field, type)                                                        \
    case op: {                                                                       \
        const uint32_t to = at->d;                                                   \
        EACH_ACCESS(false) {                                                         \
            REACH                                                                    \
            slots[to].field =                                                        \
                __atomic_load_n((const type *)(const void *)memory, __ATOMIC_RELAXED); \
        }                                                                            \
        break;                                                                       \
    }
#define STORE(op, field, type)                                                                 \
    case op: {                                                                                 \
        const uint32_t from = at->d;                                                           \
        EACH_ACCESS(true) {                                                                    \
            REACH                                                                              \
            __atomic_store_n((type *)(void *)memory, (type)slots[from].field, __ATOMIC_RELAXED); \
        }                                                                                      \
        break;                                                                                 \
    }
#define FAIL_UNLESS(done)               \
    EACH_LANE {                         \
        if (!(done))                    \
            return CX_PTX_EVENT_FAILED; \
    }

#define TAKE_TURN(cost)                                             \
    {                                                               \
        turn -= (cost);                                             \
        group->pace = at->mode;                                     \
        if (turn <= 0)                                              \
            return stop(group, all, next, turn, CX_PTX_EVENT_TURN); \
    }

/* `single`: the group is one lane, of which `slots` are; the compiler makes a loop of its own. */
static inline __attribute__((always_inline)) cx_ptx_event
run_lanes(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_warp *warp, cx_ptx_group *group,
          const bool single)
{
    /* In a turn, that jump costs as many others. */
    static const int cost[] = {[CX_PTX_PACE_WORKS] = 1, [CX_PTX_PACE_READS] = 1,
                               [CX_PTX_PACE_WATCHES] = CX_PTX_TURN / 8};
    const cx_ptx_instruction *code = grid->module->code, *next = group->next;
    const cx_ptx_instruction *end = cx_ptx_group_stop(warp, group);
    const cx_ptx_instruction *border = end; /* of what `rows` do */
    row all[CX_PTX_WARP_SIZE + 1], some[CX_PTX_WARP_SIZE + 1], *rows = all;
    int turn = group->turn;
    cx_ptx_slot *slots;
    cx_ptx_access access;
    unsigned char *memory;
    uint64_t now;

    if (next == end)
        return CX_PTX_EVENT_ARRIVED;
    fill_rows(all, warp->lanes, group->mask);
    slots = all->slots;
    for (;;) {
        const cx_ptx_instruction *at;

        if (next == border) {
            if (rows == all)
                return stop(group, all, next, turn, CX_PTX_EVENT_ARRIVED);
            rows = all;
            border = end;
            continue;
        }
        at = next++;
        switch ((cx_ptx_op)at->op) {
#define CX_PTX_OP(id, key, arity, field_d, field_a, field_b, field_c, value) \
    case CX_PTX_OP_##id: {                                                   \
        const uint32_t to = at->d, of_a = at->a, of_b = at->b, of_c = at->c; \
        EACH_LANE {                                                          \
            typeof(slots->field_a) a = slots[of_a].field_a;                  \
            typeof(slots->field_b) b = slots[of_b].field_b;                  \
            typeof(slots->field_c) c = slots[of_c].field_c;                  \
            (void)a, (void)b, (void)c;                                       \
            slots[to].field_d = (typeof(slots->field_d))(value);             \
        }                                                                    \
        break;                                                               \
    }
#include "ptx/ops.def"

            LOAD(CX_PTX_LOAD_U8, u64, uint8_t)
            LOAD(CX_PTX_LOAD_S8, s64, int8_t)
            LOAD(CX_PTX_LOAD_U16, u64, uint16_t)
            LOAD(CX_PTX_LOAD_S16, s64, int16_t)
            LOAD(CX_PTX_LOAD_U32, u64, uint32_t)
            LOAD(CX_PTX_LOAD_S32, s64, int32_t)
            LOAD(CX_PTX_LOAD_U64, u64, uint64_t)
            STORE(CX_PTX_STORE_8, u32, uint8_t)
            STORE(CX_PTX_STORE_16, u16, uint16_t)
            STORE(CX_PTX_STORE_32, u32, uint32_t)
            STORE(CX_PTX_STORE_64, u64, uint64_t)
        case CX_PTX_ADD_ADDRESS:
        case CX_PTX_TO_WINDOW:
            EACH_LANE {
                slots[at->d].u64 = slots[at->a].u64 + (uint64_t)at->immediate;
            }
            break;
        case CX_PTX_IS_WINDOW:
            EACH_LANE {
                slots[at->d].u32 =
                    (slots[at->a].u64 & CX_PTX_WINDOW_MASK) == (uint64_t)at->immediate;
            }
            break;
        case CX_PTX_IS_GLOBAL:
            EACH_LANE {
                slots[at->d].u32 = (slots[at->a].u64 & CX_PTX_WINDOW_MASK) == 0;
            }
            break;
        case CX_PTX_IS_CONSTANT:
            EACH_LANE {
                slots[at->d].u32 = slots[at->a].u64 - slots[CX_PTX_SLOT_CONSTANT].u64 <
                                   grid->module->constant_space;
            }
            break;
        case CX_PTX_PACK: {
            unsigned bits = at->size * 8u;
            uint64_t mask = UINT64_MAX >> (64 - bits);

            EACH_LANE {
                slots[at->d].u64 =
                    (slots[at->a].u64 & mask) | (slots[at->b].u64 & mask) << bits;
            }
            break;
        }
        case CX_PTX_UNPACK: {
            unsigned bits = at->size * 8u;

            EACH_LANE {
                slots[at->d].u64 =
                    slots[at->a].u64 >> (bits * at->mode) & (UINT64_MAX >> (64 - bits));
            }
            break;
        }
        case CX_PTX_EXTEND:
            EACH_LANE {
                slots[at->d].u64 = cx_ptx_extend(
                    (cx_ptx_type)at->type,
                    cx_ptx_extend((cx_ptx_type)at->from, slots[at->a].u64));
            }
            break;
        case CX_PTX_CONVERT:
            EACH_LANE {
                cx_ptx_convert(at, &slots[at->d], &slots[at->a]);
            }
            break;
        case CX_PTX_BFI_32:
            EACH_LANE {
                slots[at->d].u32 =
                    (uint32_t)cx_ptx_insert(slots[at->a].u32, slots[at->b].u32,
                                            slots[at->c].u32, slots[at->e].u32, 32);
            }
            break;
        case CX_PTX_BFI_64:
            EACH_LANE {
                slots[at->d].u64 = cx_ptx_insert(slots[at->a].u64, slots[at->b].u64,
                                                 slots[at->c].u32, slots[at->e].u32, 64);
            }
            break;
        case CX_PTX_LOP3:
            EACH_LANE {
                slots[at->d].u32 =
                    cx_ptx_lop3(at->mode, slots[at->a].u32, slots[at->b].u32, slots[at->c].u32);
            }
            break;
        case CX_PTX_VIDEO: {
            cx_ptx_video what;

            memcpy(&what, &at->immediate, sizeof what);
            EACH_LANE {
                slots[at->d].u32 = cx_ptx_video_do(&what, slots[at->a].u32, slots[at->b].u32,
                                                   slots[at->c].u32);
            }
            break;
        }
        case CX_PTX_ADD_CARRY_32:
        case CX_PTX_ADD_CARRY_64:
            EACH_LANE {
                add_with_carry(slots, at);
            }
            break;
        case CX_PTX_SUB_CARRY_32:
        case CX_PTX_SUB_CARRY_64:
            EACH_LANE {
                subtract_with_carry(slots, at);
            }
            break;
        case CX_PTX_ATOMIC:
            EACH_ACCESS(true) {
                REACH
                slots[at->d].u64 =
                    cx_ptx_atomic_do(at, memory, slots[at->b].u64, slots[at->c].u64);
            }
            break;
        case CX_PTX_MBARRIER:
            EACH_ACCESS(true) {
                REACH
                slots[at->d].u64 = cx_ptx_mbarrier_do(at->mode, (uint64_t *)(void *)memory,
                                                      slots[at->b].u32, slots[at->c].u64);
            }
            break;
        case CX_PTX_CLOCK_32:
            now = now_ns();
            EACH_LANE slots[at->d].u32 = (uint32_t)now;
            break;
        case CX_PTX_CLOCK_HIGH:
            now = now_ns();
            EACH_LANE slots[at->d].u32 = (uint32_t)(now >> 32);
            break;
        case CX_PTX_CLOCK_64:
        case CX_PTX_TIMER:
            now = now_ns();
            EACH_LANE slots[at->d].u64 = now;
            break;
        case CX_PTX_FENCE:
            atomic_fetch_add(&fences, 0);
            break;
        case CX_PTX_COPY_ASYNC:
            FAIL_UNLESS(copy_async(grid, block, each->thread, at))
            break;
        case CX_PTX_ARGUMENT:
        case CX_PTX_RESULT:
            FAIL_UNLESS(cx_ptx_copy_argument(grid, block, each->thread, at))
            break;
        case CX_PTX_ALLOCATE:
        case CX_PTX_RESTORE:
            FAIL_UNLESS(cx_ptx_change_frame(grid, block, each->thread, at))
            break;
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
            bool wanted = at->op == CX_PTX_BRANCH_IF || at->op == CX_PTX_BRANCH_IF_BACK;
            choice chosen = choose(all, at->a, wanted, single);

            if (chosen == NO_LANE)
                break;
            if (chosen == ALL_LANES) {
                next = target;
                if (target <= at)
                    TAKE_TURN(cost[at->mode])
            } else if (at->from) {
                keep_others(all, at->a, wanted, some);
                rows = some;
                border = target;
            } else {
                divide(all, at, target, wanted);
                group->pace = at->mode;
                turn -= target <= at ? cost[at->mode] : 0;
                return stop(group, all, at, turn, CX_PTX_EVENT_DIVERGED);
            }
            break;
        }
        case CX_PTX_BRANCH_INDEX:
            if (!jump_by_table(grid, block, all, at))
                return CX_PTX_EVENT_FAILED;
            if (is_divided(all))
                return stop(group, all, at, turn - 1, CX_PTX_EVENT_DIVERGED);
            next = all->thread->next;
            TAKE_TURN(1)
            break;
        case CX_PTX_CALL:
        case CX_PTX_CALL_INDIRECT:
            if (!call_function(grid, block, all, at, group))
                return CX_PTX_EVENT_FAILED;
            if (is_divided(all))
                return stop(group, all, at, turn - 1, CX_PTX_EVENT_DIVERGED);
            next = all->thread->next;
            slots = all->slots;
            border = end = cx_ptx_group_stop(warp, group);
            TAKE_TURN(1)
            break;
        case CX_PTX_RETURN:
            for (row *each = all; each->slots; each++) {
                cx_ptx_return(grid, each->thread);
                each->slots = each->thread->slots;
            }
            next = all->thread->next;
            slots = all->slots;
            group->depth--;
            border = end = cx_ptx_group_stop(warp, group);
            break;
        case CX_PTX_EXIT:
            EACH_LANE end_thread(block, each->thread, at);
            return stop(group, all, at, turn, CX_PTX_EVENT_ENDED);
        case CX_PTX_TRAPPED:
            all->thread->next = at;
            cx_ptx_thread_fail(grid, block, all->thread, CX_PTX_TRAP, 0);
            return CX_PTX_EVENT_FAILED;
        case CX_PTX_PAUSE:
            group->pace = CX_PTX_PACE_WATCHES;
            return stop(group, all, next, turn, CX_PTX_EVENT_TURN);
        case CX_PTX_BARRIER:
        case CX_PTX_BARRIER_ARRIVE:
            EACH_LANE {
                each->thread->next = at;
                cx_ptx_barrier_arrive(grid, block, each->thread, at);
            }
            if (grid->outcome != CX_PTX_DONE)
                return CX_PTX_EVENT_FAILED;
            if (at->op == CX_PTX_BARRIER)
                return stop(group, all, at, turn, CX_PTX_EVENT_BLOCKED);
            break;
        case CX_PTX_WARP:
            EACH_LANE {
                each->thread->next = at;
                each->thread->state = CX_PTX_THREAD_AT_WARP;
            }
            if (cx_ptx_warp_join(warp->lanes, group->mask, warp->independent))
                break;
            if (needs_others(warp, group, all, at->e))
                return stop(group, all, at, turn, CX_PTX_EVENT_BLOCKED);
            cx_ptx_warp_release(grid, block, warp->lanes->index);
            if (grid->outcome != CX_PTX_DONE)
                return CX_PTX_EVENT_FAILED;
            if (is_waiting(all))
                return stop(group, all, at, turn, CX_PTX_EVENT_BLOCKED);
            break;
        case CX_PTX_ACTIVE_MASK:
            EACH_LANE slots[at->d].u32 = group->mask;
            break;
        default:
            all->thread->next = at;
            cx_ptx_thread_fail(grid, block, all->thread, CX_PTX_ILLEGAL_INSTRUCTION, 0);
            return CX_PTX_EVENT_FAILED;
        }
    }
}

cx_ptx_event cx_ptx_group_run(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_warp *warp,
                              cx_ptx_group *group)
{
    if ((group->mask & (group->mask - 1)) == 0)
        return run_lanes(grid, block, warp, group, true);
    return run_lanes(grid, block, warp, group, false);
}
