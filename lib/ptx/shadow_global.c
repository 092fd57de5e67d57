/* Global memory: what the lanes of a warp touch, in pieces as large as they are adjacent. */
#include "ptx/shadow_state.h"
#include "ptx/written.h"

#include <string.h>

enum {
    PIECE_MOST = CX_PTX_WARP_SIZE * 16,
    PAGE = 4096 /* no piece goes over a border of pages */
};

/* Adjacent bytes that lanes access. */
typedef struct piece {
    uint64_t begin, end;
    uint8_t lanes[CX_PTX_WARP_SIZE];  /* in the order of their addresses */
    unsigned char values[PIECE_MOST]; /* of stores */
} piece;

/* What an instruction stores, or the operand of an atomic operation. */
static void take_value(const cx_ptx_shadow_access *access, uint32_t lane, unsigned char *to)
{
    const cx_ptx_step *run = access->run;
    const cx_ptx_instruction *at = access->at;
    const bool plain = at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64;
    const uint64_t low = cx_ptx_get(&run->rows, plain ? at->d : at->b, lane);

    memcpy(to, &low, at->size < 8 ? at->size : 8);
    if (at->size == 16) {
        const uint64_t high = cx_ptx_get(&run->rows, at->b + CX_PTX_LONGS_BYTES, lane);

        memcpy(to + 8, &high, 8);
    }
}

/* ---- reads of what nothing has written ---- */

/* A value that is only stored again may be the padding of a structure: copies of it count where
 * nothing at all has been written. */
static bool matters(const cx_ptx_shadow_access *access, const cx_ptx_view *view)
{
    cx_ptx_shadow *shadow = access->run->grid->shadow;

    return access->writes || cx_ptx_shadow_is_used(shadow, access->code, false) ||
           (!atomic_load(&view->written->any) && cx_ptx_shadow_is_taken(shadow, access->code));
}

static void tell_lane(const cx_ptx_shadow_access *access, cx_ptx_hazard_kind kind, uint32_t lane,
                      uint64_t address)
{
    const cx_ptx_step *run = access->run;
    cx_ptx_hazard hazard = {.kind = kind, .address = address, .bytes = access->at->size};

    if (!cx_ptx_shadow_is_new(run->grid->shadow, hazard.kind, access->code, access->code))
        return;
    hazard.second = cx_ptx_shadow_side_of(run->grid, run->block->index,
                                          run->warp->lanes->index + lane, access->code);
    hazard.second.writes = access->writes && !access->reads;
    cx_ptx_shadow_tell(run->grid, &hazard);
}

typedef bool has_bytes(const cx_ptx_written *written, size_t offset, size_t bytes);

/* Tells the first lane whose bytes the map does not have. */
static void tell_first(const cx_ptx_shadow_access *access, const piece *all,
                       const cx_ptx_view *view, const cx_ptx_written *map, has_bytes *has,
                       cx_ptx_hazard_kind kind)
{
    const cx_ptx_step *run = access->run;
    const cx_ptx_instruction *at = access->at;

    for (uint32_t left = run->active; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = cx_ptx_get(&run->rows, at->a, lane) + (uint64_t)at->immediate;

        if (address < all->begin || address + at->size > all->end ||
            has(map, address - view->address, at->size))
            continue;
        tell_lane(access, kind, lane, address);
        return;
    }
}

static void judge_piece(const cx_ptx_shadow_access *access, const piece *all,
                        const cx_ptx_view *view)
{
    const size_t offset = all->begin - view->address, bytes = all->end - all->begin;

    if (view->held && !cx_ptx_written_whole(view->held, offset, bytes))
        tell_first(access, all, view, view->held, cx_ptx_written_whole, CX_PTX_HAZARD_NOT_HELD);
    if (view->written && access->reads && !cx_ptx_written_whole(view->written, offset, bytes) &&
        matters(access, view))
        tell_first(access, all, view, view->written, cx_ptx_written_partly,
                   CX_PTX_HAZARD_UNWRITTEN);
    if (view->written && access->writes)
        cx_ptx_written_mark(view->written, offset, bytes);
}

/* ---- races of blocks ---- */

/* A bit for each lane whose stored value is not there already. */
static uint32_t changed_lanes(const piece *all, const unsigned char *memory, unsigned size,
                              unsigned count)
{
    uint32_t changed = 0;

    if (memcmp(memory, all->values, (size_t)size * count) == 0)
        return 0;
    for (unsigned i = 0; i < count; i++)
        changed |= (uint32_t)(memcmp(memory + i * size, all->values + i * size, size) != 0) << i;
    return changed;
}

static void judge_races(const cx_ptx_shadow_access *access, const piece *all,
                        const unsigned char *memory)
{
    const unsigned size = access->at->size, count = (unsigned)(all->end - all->begin) / size;
    const cx_ptx_shadow_range range = {
        .begin = all->begin,
        .lanes = all->lanes,
        .count = count,
        .values = access->writes ? all->values : memory,
        .changed = access->writes && !access->strong ? changed_lanes(all, memory, size, count) : 0};

    if (!access->strong && (!access->writes || range.changed))
        cx_ptx_shadow_blocks_note(access, &range);
}

/* ---- pieces ---- */

static void tell_piece(const cx_ptx_shadow_access *access, const piece *all)
{
    cx_ptx_grid *grid = access->run->grid;
    const cx_ptx_environment *environment = grid->environment;
    cx_ptx_touch touch = {
        .address = all->begin,
        .bytes = (unsigned)(all->end - all->begin),
        .atomic = access->strong && access->at->op != CX_PTX_MBARRIER &&
                  (access->at->op == CX_PTX_ATOMIC || access->at->op == CX_PTX_ACCESS_128) &&
                  access->writes,
        .polls = cx_ptx_polls(access->at),
        .value = access->writes ? all->values : NULL};

    if (all->end == all->begin)
        return;
    const cx_ptx_view *view = cx_ptx_reach_range(grid, access->at->site, all->begin, touch.bytes);
    if (!view)
        return;
    if (view->written || view->held)
        judge_piece(access, all, view);
    touch.memory = view->memory + (all->begin - view->address);
    /* Who takes a block of the heap is ordered after who gave it back. */
    if (grid->shadow->across && !view->held)
        judge_races(access, all, touch.memory);
    if (environment->touched)
        environment->touched(environment->self, &touch);
}

/* In the order of the lanes. */
static const uint8_t lanes_in_order[CX_PTX_WARP_SIZE] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* True if all lanes are at addresses in a row, in one page. */
static bool is_row(const cx_ptx_step *run, const cx_ptx_instruction *at, uint64_t *out_begin)
{
    const cx_ptx_long *row = cx_ptx_row(&run->rows, at->a);
    const uint64_t begin = row[0] + (uint64_t)at->immediate;
    uint64_t other = 0;

    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE; i++)
        other |= row[i] ^ (row[0] + (uint64_t)i * at->size);
    *out_begin = begin;
    return other == 0 && begin % PAGE + (uint64_t)CX_PTX_WARP_SIZE * at->size <= PAGE;
}

static void take_row(const cx_ptx_shadow_access *access, piece *all)
{
    const unsigned size = access->at->size;
    const cx_ptx_word *row = cx_ptx_row(&access->run->rows, access->at->d);

    if (access->at->op == CX_PTX_STORE_32 && !cx_ptx_is_long(access->at->d)) {
        memcpy(all->values, row, CX_PTX_WARP_SIZE * sizeof *row);
        return;
    }
    for (uint32_t lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        take_value(access, lane, all->values + lane * size);
}

void cx_ptx_shadow_global(const cx_ptx_shadow_access *access, uint32_t lanes)
{
    const cx_ptx_step *run = access->run;
    const cx_ptx_instruction *at = access->at;
    piece all;

    if (lanes == UINT32_MAX && cx_ptx_is_long(at->a) && is_row(run, at, &all.begin)) {
        all.end = all.begin + (uint64_t)CX_PTX_WARP_SIZE * at->size;
        memcpy(all.lanes, lanes_in_order, sizeof all.lanes);
        if (access->writes)
            take_row(access, &all);
        tell_piece(access, &all);
        return;
    }
    all.begin = all.end = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = cx_ptx_get(&run->rows, at->a, lane) + (uint64_t)at->immediate;

        if (!access->writes && address >= all.begin && address + at->size <= all.end)
            continue;
        if (address != all.end || address % PAGE == 0) {
            tell_piece(access, &all);
            all.begin = all.end = address;
        }
        all.lanes[(all.end - all.begin) / at->size] = (uint8_t)lane;
        if (access->writes)
            take_value(access, lane, all.values + (all.end - all.begin));
        all.end += at->size;
    }
    tell_piece(access, &all);
}
