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

/* Two accesses to the same word, since all threads were ordered last. */
static void judge_late(const cx_ptx_shadow_access *access, const cx_ptx_shadow_side *first,
                  bool first_writes, uint32_t thread, uint8_t bytes, uint64_t offset)
{
    if (!(first->bytes & bytes) || first->thread == thread ||
        may_be_ordered(access->run->block->shadow, first, thread))
        return;
    if (warp_of(first->thread) == warp_of(thread)) {
        if (first_writes && is_in_step(access, first))
            tell_race(access, CX_PTX_HAZARD_WARP_RACE, first, true, thread, offset);
    } else if (!first->strong && !access->strong) {
        tell_race(access, CX_PTX_HAZARD_RACE, first, first_writes, thread, offset);
    }
}

/* `first`: an earlier access to the same word, one of the two writes. */
static inline void judge(const cx_ptx_shadow_access *access, const cx_ptx_shadow_side *first,
                         bool first_writes, uint32_t thread, uint8_t bytes, uint64_t offset)
{
    if (first->time > access->run->block->shadow->all_met)
        judge_late(access, first, first_writes, thread, bytes, offset);
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

/* ---- reads before writes ---- */

void cx_ptx_shadow_note_unwritten(const cx_ptx_shadow_access *access, uint32_t thread,
                                  uint64_t offset)
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

static inline cx_ptx_shadow_cell *cell_at(const cx_ptx_block_shadow *block, uint64_t word)
{
    cx_ptx_shadow_cell *cell = &block->cells[word];

    if (cell->epoch != block->began)
        *cell = (cx_ptx_shadow_cell){.epoch = block->began};
    return cell;
}

/* A store of what is there already changes nothing for anybody. */
static inline void note_word(const cx_ptx_shadow_access *access, uint64_t word, uint32_t thread,
                             uint8_t bytes, uint64_t offset, bool changes)
{
    cx_ptx_shadow_cell *cell = &access->run->block->shadow->cells[word];
    const cx_ptx_shadow_side side = {access->time, access->code,   (uint16_t)thread,
                                     bytes,        access->strong, access->many};

    if (access->writes)
        access->run->block->shadow->known[word] = 0;
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
        if (access->lands)
            cell->write.time = 0;
        else if (changes || (bytes & ~cell->written))
            cell->write = side;
        cell->written |= bytes;
    } else {
        note_read(cell, &side);
    }
}

/* Of the size that stores have. */
static inline bool differs(const unsigned char *memory, uint64_t value, unsigned size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    switch (size) {
    case 1:
        return *memory != (uint8_t)value;
    case 2:
        memcpy(&two, memory, sizeof two);
        return two != (uint16_t)value;
    case 4:
        memcpy(&four, memory, sizeof four);
        return four != (uint32_t)value;
    default:
        memcpy(&eight, memory, sizeof eight);
        return eight != value;
    }
}

static inline void note_lane(const cx_ptx_shadow_access *access, uint32_t lane, uint64_t offset)
{
    const cx_ptx_step *run = access->run;
    const cx_ptx_block_shadow *block = run->block->shadow;
    const cx_ptx_instruction *at = access->at;
    const uint32_t thread = run->warp->lanes->index + lane;
    const uint64_t end_of = offset + at->size;
    bool unwritten = access->reads && run->grid->shadow->knows_writes, changes = true;

    if (at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64)
        changes = differs(run->block->shared + offset, cx_ptx_get(&run->rows, at->d, lane),
                          at->size);
    for (uint64_t word = offset & ~UINT64_C(3); word < end_of; word += 4) {
        const unsigned begin = word < offset ? (unsigned)(offset - word) : 0;
        const unsigned end = word + 4 > end_of ? (unsigned)(end_of - word) : 4;
        const uint8_t mask = (uint8_t)((1u << end) - (1u << begin));

        unwritten &= !(cell_at(block, word / 4)->written & mask);
        note_word(access, word / 4, thread, mask, offset, changes);
    }
    if (unwritten)
        cx_ptx_shadow_note_unwritten(access, thread, offset);
}

bool cx_ptx_shadow_shared_piece(const cx_ptx_shadow_access *access, uint32_t thread,
                                uint32_t offset, uint32_t bytes, bool named, bool changes)
{
    const cx_ptx_block_shadow *block = access->run->block->shadow;
    const cx_ptx_array *array = named ? array_of(access) : NULL;
    bool written = false;

    if (array && (offset < array->begin || offset - array->begin >= array->bytes ||
                  array->bytes - (offset - array->begin) < bytes)) {
        tell_beyond(access, array, thread, offset);
        return true;
    }
    for (uint32_t word = offset & ~UINT32_C(3); word < offset + bytes; word += 4) {
        const uint32_t begin = word < offset ? offset - word : 0;
        const uint32_t end = word + 4 > offset + bytes ? offset + bytes - word : 4;
        const uint8_t mask = (uint8_t)((1u << end) - (1u << begin));

        written |= (cell_at(block, word / 4)->written & mask) != 0;
        note_word(access, word / 4, thread, mask, offset, changes);
    }
    return written;
}

/* ---- the lanes of a warp ---- */

/* Lanes that read whole words. A word that was written before all threads were ordered, and that
 * the warp or (if no two warps were ordered since) two others have read since: another read of it
 * tells nothing new. */
typedef struct known_reads {
    uint32_t own, shared;
} known_reads;

static known_reads reads_of(const cx_ptx_block_shadow *block, uint32_t warp)
{
    const uint32_t own = block->phase + 1 + warp;

    return (known_reads){own, block->met <= block->all_met ? block->phase : own};
}

static void learn(cx_ptx_block_shadow *block, const known_reads *reads, uint64_t word)
{
    const cx_ptx_shadow_cell *cell = &block->cells[word];

    if (cell->written != 15 || cell->write.time > block->all_met || cell->read.bytes != 15)
        return;
    block->known[word] = cell->other_read.time > block->all_met && cell->other_read.bytes == 15 &&
                                 !cell->other_read.strong
                             ? reads->shared
                             : reads->own;
}

/* The places of all lanes, whether they are active or not. */
static void find_offsets(const cx_ptx_step *run, const cx_ptx_instruction *at,
                         uint32_t offsets[CX_PTX_WARP_SIZE])
{
    const uint32_t add = (uint32_t)at->immediate - (uint32_t)run->block->shared_begin;
    const void *row = cx_ptx_row(&run->rows, at->a);

    if (cx_ptx_is_long(at->a))
        for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
            offsets[lane] = (uint32_t)((const cx_ptx_long *)row)[lane] + add;
    else
        for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
            offsets[lane] = ((const cx_ptx_word *)row)[lane] + add;
}

/* True if so many words in a row are known in that way, and lie in the range. */
static bool know_row(const cx_ptx_block_shadow *block, const known_reads *reads, uint32_t offset,
                     uint32_t words, uint32_t begin, uint32_t bytes)
{
    const uint32_t *known = block->known + offset / 4;
    uint32_t wrong = 0;

    if (offset % 4 || offset < begin || offset - begin >= bytes ||
        bytes - (offset - begin) < words * 4 ||
        (known[0] != reads->own && known[0] != reads->shared))
        return false;
    for (uint32_t i = 0; i < words; i++)
        wrong |= known[i] ^ known[0];
    return wrong == 0;
}

/* True if all lanes read words that are known, and each half of them one word, or a row: other
 * patterns are looked at lane by lane. */
static bool know_all(const cx_ptx_block_shadow *block, const known_reads *reads,
                     const uint32_t offsets[CX_PTX_WARP_SIZE], uint32_t begin, uint32_t bytes)
{
    const uint32_t *upper = offsets + CX_PTX_WARP_SIZE / 2;
    uint32_t other = 0, apart = 0;

    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE / 2; i++)
        other |= (offsets[i] ^ offsets[0]) | (upper[i] ^ upper[0]);
    if (other == 0)
        return know_row(block, reads, offsets[0], 1, begin, bytes) &&
               know_row(block, reads, upper[0], 1, begin, bytes);
    for (uint32_t i = 0; i < CX_PTX_WARP_SIZE / 2; i++)
        apart |= (offsets[i] ^ (offsets[0] + 4 * i)) | (upper[i] ^ (upper[0] + 4 * i));
    return apart == 0 &&
           know_row(block, reads, offsets[0], CX_PTX_WARP_SIZE / 2, begin, bytes) &&
           know_row(block, reads, upper[0], CX_PTX_WARP_SIZE / 2, begin, bytes);
}

void cx_ptx_shadow_shared(const cx_ptx_shadow_access *access, uint32_t lanes)
{
    const cx_ptx_step *run = access->run;
    cx_ptx_block_shadow *block = run->block->shadow;
    const cx_ptx_instruction *at = access->at;
    const bool plain = access->reads && !access->writes && !access->strong && at->size == 4;
    const known_reads reads = reads_of(block, warp_of(run->warp->lanes->index));
    const cx_ptx_array *array = array_of(access);
    const uint32_t begin = array ? array->begin : 0;
    const uint32_t bytes = array ? array->bytes : (uint32_t)run->grid->shared_bytes;
    uint32_t offsets[CX_PTX_WARP_SIZE];
    uint32_t latest = UINT32_MAX, before = UINT32_MAX;

    find_offsets(run, at, offsets);
    if (plain && lanes == UINT32_MAX && know_all(block, &reads, offsets, begin, bytes))
        return;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = cx_ptx_first_lane(left), offset = offsets[lane];

        /* Of lanes that read one word, two tell all: one of them has not written it. */
        if (plain && offset == latest && offset == before)
            continue;
        before = latest;
        latest = offset;
        if (offset - begin >= bytes || bytes - (offset - begin) < at->size) {
            if (offset < run->grid->shared_bytes &&
                run->grid->shared_bytes - offset >= at->size)
                tell_beyond(access, array, run->warp->lanes->index + lane, offset);
            continue;
        }
        if (plain && !(offset % 4)) {
            const uint32_t known = block->known[offset / 4];

            if (known == reads.own || known == reads.shared)
                continue;
            note_lane(access, lane, offset);
            learn(block, &reads, offset / 4);
        } else {
            note_lane(access, lane, offset);
        }
    }
}
