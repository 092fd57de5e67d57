/* Shared memory of a block: who wrote and read each word last. */
#include "ptx/shadow_state.h"

#include <string.h>

static uint32_t warp_of(uint32_t thread)
{
    return thread / CX_PTX_WARP_SIZE;
}

/* Since the first access both threads have synchronised, if only with some other one. */
static bool may_be_ordered(const cx_ptx_block_shadow *block, const cx_ptx_shadow_side *first,
                           uint32_t thread)
{
    if (first->time <= block->all_met)
        return true;
    return block->synced[first->thread] > first->time && block->synced[thread] > first->time &&
           (warp_of(first->thread) == warp_of(thread) || block->met > first->time);
}

static void tell_race(const cx_ptx_shadow_access *access, cx_ptx_hazard_kind kind,
                      const cx_ptx_shadow_side *first, bool first_writes, uint32_t thread,
                      uint64_t offset)
{
    const cx_ptx_step *run = access->run;
    cx_ptx_hazard hazard = {
        .kind = kind, .shared = true, .address = offset, .bytes = access->at->size};

    if (!cx_ptx_shadow_is_new(run->grid->shadow, kind, first->code, access->code))
        return;
    hazard.first = cx_ptx_shadow_side_of(run->grid, run->block->index, first->thread, first->code);
    hazard.first.writes = first_writes;
    hazard.second = cx_ptx_shadow_side_of(run->grid, run->block->index, thread, access->code);
    hazard.second.writes = access->writes;
    cx_ptx_shadow_tell(run->grid, &hazard);
}

/* Lanes that all write and then all read rely on running together; a lane that sets a flag for the
 * others does not. */
static bool is_in_step(const cx_ptx_shadow_access *access, const cx_ptx_shadow_side *first)
{
    return access->run->grid->shadow->apart && access->code != first->code && access->reads &&
           access->strong == first->strong && (!access->strong || (access->many && first->many));
}

/* `first`: an earlier access to the same word, one of the two writes. */
static void judge(const cx_ptx_shadow_access *access, const cx_ptx_shadow_side *first,
                  bool first_writes, uint32_t thread, uint8_t bytes, uint64_t offset)
{
    if (!first->time || !(first->bytes & bytes) || first->thread == thread ||
        may_be_ordered(access->run->block->shadow, first, thread))
        return;
    if (warp_of(first->thread) == warp_of(thread)) {
        if (first_writes && is_in_step(access, first))
            tell_race(access, CX_PTX_HAZARD_WARP_RACE, first, true, thread, offset);
    } else if (!first->strong && !access->strong) {
        tell_race(access, CX_PTX_HAZARD_RACE, first, first_writes, thread, offset);
    }
}

/* ---- arrays ---- */

/* NULL: it is not known through which one the access goes. */
static const cx_ptx_array *array_of(const cx_ptx_shadow_access *access)
{
    const cx_ptx_grid *grid = access->run->grid;
    const uint32_t *array_of = grid->shadow->array_of;
    const uint32_t number = array_of ? array_of[access->code] : 0;

    return number ? &grid->module->arrays[number - 1] : NULL;
}

static void tell_beyond(const cx_ptx_shadow_access *access, const cx_ptx_array *array,
                        uint32_t thread, uint64_t offset)
{
    const cx_ptx_step *run = access->run;
    cx_ptx_hazard hazard = {.kind = CX_PTX_HAZARD_BEYOND,
                            .shared = true,
                            .address = offset,
                            .bytes = access->at->size,
                            .array = array->name,
                            .array_begin = array->begin,
                            .array_bytes = array->bytes};

    if (!cx_ptx_shadow_is_new(run->grid->shadow, hazard.kind, access->code, access->code))
        return;
    hazard.second = cx_ptx_shadow_side_of(run->grid, run->block->index, thread, access->code);
    hazard.second.writes = access->writes;
    cx_ptx_shadow_tell(run->grid, &hazard);
}

static inline bool is_beyond(const cx_ptx_array *array, uint64_t offset, unsigned size)
{
    return offset - array->begin >= array->bytes ||
           array->bytes - (offset - array->begin) < size;
}

/* ---- reads before writes ---- */

static void note_unwritten(const cx_ptx_shadow_access *access, uint32_t thread, uint64_t offset)
{
    cx_ptx_block_shadow *block = access->run->block->shadow;

    for (unsigned i = 0; i < block->unwritten_count; i++)
        if (block->unwritten[i].code == access->code)
            return;
    if (block->unwritten_count < CX_PTX_SHADOW_UNWRITTEN)
        block->unwritten[block->unwritten_count++] = (cx_ptx_shadow_unwritten){
            access->code, thread, (uint32_t)offset, access->at->size, access->writes};
}

/* Only the thread itself may have written it since. */
static bool is_still_unwritten(const cx_ptx_block_shadow *block,
                               const cx_ptx_shadow_unwritten *read)
{
    const cx_ptx_shadow_cell *cell = &block->cells[read->offset / 4];

    return read->writes || !cell->written ||
           (cell->write.time && cell->write.thread == read->thread);
}

void cx_ptx_shadow_settle(const cx_ptx_grid *grid, cx_ptx_block_shadow *self)
{
    for (unsigned i = 0; i < self->unwritten_count; i++) {
        const cx_ptx_shadow_unwritten *read = &self->unwritten[i];
        cx_ptx_hazard hazard = {.kind = CX_PTX_HAZARD_UNWRITTEN,
                                .shared = true,
                                .address = read->offset,
                                .bytes = read->bytes};

        if (!is_still_unwritten(self, read) ||
            !(read->writes || cx_ptx_shadow_is_used(grid->shadow, read->code, true)) ||
            !cx_ptx_shadow_is_new(grid->shadow, hazard.kind, read->code, read->code))
            continue;
        hazard.second = cx_ptx_shadow_side_of(grid, self->index, read->thread, read->code);
        cx_ptx_shadow_tell(grid, &hazard);
    }
    self->unwritten_count = 0;
}

/* ---- words ---- */

static void note_read(cx_ptx_shadow_cell *cell, const cx_ptx_shadow_side *side)
{
    if (cell->read.time && warp_of(cell->read.thread) != warp_of(side->thread))
        cell->other_read = cell->read;
    cell->read = *side;
}

static cx_ptx_shadow_cell *cell_at(const cx_ptx_block_shadow *block, uint64_t word)
{
    cx_ptx_shadow_cell *cell = &block->cells[word];

    if (cell->epoch != block->began)
        *cell = (cx_ptx_shadow_cell){.epoch = block->began};
    return cell;
}

/* A store of what is there already changes nothing for anybody. */
static void note_word(const cx_ptx_shadow_access *access, cx_ptx_shadow_cell *cell, uint32_t thread,
                      uint8_t bytes, uint64_t offset, bool changes)
{
    const cx_ptx_shadow_side side = {access->time, access->code,   (uint16_t)thread,
                                     bytes,        access->strong, access->many};

    if (access->covers) {
        cell->written |= bytes;
        cell->write.time = 0;
        return;
    }
    if (access->reads || changes)
        judge(access, &cell->write, true, thread, bytes, offset);
    if (access->writes && changes) {
        judge(access, &cell->read, false, thread, bytes, offset);
        judge(access, &cell->other_read, false, thread, bytes, offset);
    }
    if (access->writes) {
        if (changes || (bytes & ~cell->written))
            cell->write = side;
        cell->written |= bytes;
    } else {
        note_read(cell, &side);
    }
}

static void note_lane(const cx_ptx_shadow_access *access, uint32_t lane, uint64_t offset)
{
    const cx_ptx_step *run = access->run;
    const cx_ptx_block_shadow *block = run->block->shadow;
    const cx_ptx_instruction *at = access->at;
    const uint32_t thread = run->warp->lanes->index + lane;
    const uint64_t end_of = offset + at->size;
    bool unwritten = access->reads && run->grid->shadow->knows_writes, changes = true;

    if (at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64) {
        const uint64_t value = cx_ptx_get(&run->rows, at->d, lane);

        changes = memcmp(run->block->shared + offset, &value, at->size) != 0;
    }
    for (uint64_t word = offset & ~UINT64_C(3); word < end_of; word += 4) {
        const unsigned begin = word < offset ? (unsigned)(offset - word) : 0;
        const unsigned end = word + 4 > end_of ? (unsigned)(end_of - word) : 4;
        const uint8_t mask = (uint8_t)((1u << end) - (1u << begin));
        cx_ptx_shadow_cell *cell = cell_at(block, word / 4);

        unwritten &= !(cell->written & mask);
        note_word(access, cell, thread, mask, offset, changes);
    }
    if (unwritten)
        note_unwritten(access, thread, offset);
}

/* A word that was written before all threads met, and that the warp has read since: another read of
 * it tells nothing new. */
static inline bool is_known(const cx_ptx_block_shadow *block, const cx_ptx_shadow_cell *cell,
                            uint32_t warp)
{
    return cell->epoch == block->began && cell->written == 15 &&
           cell->write.time <= block->all_met && cell->read.time > block->all_met &&
           warp_of(cell->read.thread) == warp && cell->read.bytes == 15 && !cell->read.strong;
}

void cx_ptx_shadow_shared(const cx_ptx_shadow_access *access, uint32_t lanes)
{
    const cx_ptx_step *run = access->run;
    const cx_ptx_block_shadow *block = run->block->shadow;
    const cx_ptx_instruction *at = access->at;
    const bool plain = access->reads && !access->writes && !access->strong && at->size == 4;
    const uint32_t warp = warp_of(run->warp->lanes->index);
    const cx_ptx_array *array = array_of(access);
    uint64_t latest = UINT64_MAX, before = UINT64_MAX;

    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = cx_ptx_get(&run->rows, at->a, lane) + (uint64_t)at->immediate;
        const uint64_t offset = (address & UINT32_MAX) - run->block->shared_begin;

        /* Of lanes that read one word, two tell all: one of them has not written it. */
        if (plain && offset == latest && offset == before)
            continue;
        if (offset >= run->grid->shared_bytes || run->grid->shared_bytes - offset < at->size)
            continue;
        if (array && is_beyond(array, offset, at->size)) {
            tell_beyond(access, array, run->warp->lanes->index + lane, offset);
            continue;
        }
        before = latest;
        latest = offset;
        if (plain && !(offset % 4) && is_known(block, &block->cells[offset / 4], warp))
            continue;
        note_lane(access, lane, offset);
    }
}
