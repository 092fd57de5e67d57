/* Global memory: which block wrote and read each word last, in this launch. Blocks run in any
 * order, so two of them race for a word unless both of them have done something that may order
 * them. */
#include "ptx/shadow_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    WORDS = PAGE / 4,
    PAGES_MOST = 1024, /* words elsewhere are not followed: a page has four times its size */
    TABLE = 2 * PAGES_MOST
};
#define BLOCKS_MOST (UINT32_C(1) << 28)
#define CODE_MOST (UINT32_C(1) << 22)

/* A use of a word, in 64 bits: the block's number from 1, 28; the thread, 10; the place in the
 * code, 22; the bytes, 4. 0: there was none. */
typedef uint64_t use;

typedef struct word {
    use write, read;
} word;

typedef struct words_page {
    uint64_t number;
    word words[WORDS];
} words_page;

struct cx_ptx_shadow_blocks {
    words_page *table[TABLE]; /* by a hash of the number */
    words_page *latest;
    size_t count;
    unsigned char *ordered; /* a bit for each block: it has done what may order it */
};

static uint32_t number_of(const cx_ptx_grid *grid, const uint32_t block[3])
{
    const uint32_t *size = grid->launch->grid;

    return block[0] + size[0] * (block[1] + size[1] * block[2]);
}

cx_ptx_shadow_blocks *cx_ptx_shadow_blocks_new(const cx_ptx_grid *grid)
{
    const uint32_t *size = grid->launch->grid;
    const uint64_t blocks = (uint64_t)size[0] * size[1] * size[2];
    cx_ptx_shadow_blocks *self;

    if (blocks < 2 || blocks >= BLOCKS_MOST || grid->module->code_count >= CODE_MOST)
        return NULL;
    self = calloc(1, sizeof *self);
    if (self && !(self->ordered = calloc(blocks / 8 + 1, 1))) {
        free(self);
        self = NULL;
    }
    return self;
}

void cx_ptx_shadow_blocks_free(cx_ptx_shadow_blocks *blocks)
{
    if (!blocks)
        return;
    for (size_t i = 0; i < TABLE; i++)
        free(blocks->table[i]);
    free(blocks->ordered);
    free(blocks);
}

void cx_ptx_shadow_blocks_order(const cx_ptx_grid *grid, const cx_ptx_block *block)
{
    cx_ptx_shadow_blocks *self = grid->shadow->across;
    const uint32_t number = number_of(grid, block->index);

    if (self)
        self->ordered[number / 8] |= (unsigned char)(1 << number % 8);
}

static bool is_ordered(const cx_ptx_shadow_blocks *self, uint32_t number)
{
    return self->ordered[number / 8] >> number % 8 & 1;
}

/* Pages that are only read need none: the first write makes one, and later reads count. NULL: there
 * is none, or no room for one more. */
static words_page *page_of(cx_ptx_shadow_blocks *self, uint64_t number, bool writes)
{
    size_t at = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % TABLE;

    if (self->latest && self->latest->number == number)
        return self->latest;
    while (self->table[at] && self->table[at]->number != number)
        at = (at + 1) % TABLE;
    if (!self->table[at]) {
        if (!writes || self->count == PAGES_MOST ||
            !(self->table[at] = calloc(1, sizeof(words_page))))
            return NULL;
        self->table[at]->number = number;
        self->count++;
    }
    return self->latest = self->table[at];
}

static use use_of(uint32_t block, uint32_t thread, uint32_t code, unsigned bytes)
{
    return (uint64_t)(block + 1) << 36 | (uint64_t)thread << 26 | (uint64_t)code << 4 | bytes;
}

static uint32_t block_of(use one)
{
    return (uint32_t)(one >> 36) - 1;
}

static void tell_race(const cx_ptx_shadow_access *access, use first, bool first_writes,
                      uint32_t thread, uint64_t address)
{
    const cx_ptx_grid *grid = access->run->grid;
    const uint32_t *size = grid->launch->grid;
    const uint32_t number = block_of(first), code = (uint32_t)(first >> 4) % CODE_MOST;
    const uint32_t index[] = {number % size[0], number / size[0] % size[1],
                              number / size[0] / size[1]};
    cx_ptx_hazard hazard = {
        .kind = CX_PTX_HAZARD_BLOCK_RACE, .address = address, .bytes = access->at->size};

    if (!cx_ptx_shadow_is_new(grid->shadow, hazard.kind, code, access->code))
        return;
    hazard.first = cx_ptx_shadow_side_of(grid, index, (uint32_t)(first >> 26) & 1023, code);
    hazard.first.writes = first_writes;
    hazard.second = cx_ptx_shadow_side_of(grid, access->run->block->index, thread, access->code);
    hazard.second.writes = access->writes;
    cx_ptx_shadow_tell(grid, &hazard);
}

static inline void judge(const cx_ptx_shadow_access *access, use first, bool first_writes, use now,
                         uint64_t address)
{
    const cx_ptx_shadow_blocks *self = access->run->grid->shadow->across;

    if (!first || !(first & now & 15) || block_of(first) == block_of(now) ||
        (is_ordered(self, block_of(first)) && is_ordered(self, block_of(now))))
        return;
    tell_race(access, first, first_writes, (uint32_t)(now >> 26) & 1023, address);
}

static inline void note_word(const cx_ptx_shadow_access *access, word *one, use now,
                             uint64_t address)
{
    judge(access, one->write, true, now, address);
    if (access->writes) {
        judge(access, one->read, false, now, address);
        one->write = now;
    } else {
        one->read = now;
    }
}

/* Not of whole words. */
static void note_parts(const cx_ptx_shadow_access *access, words_page *page, uint32_t block,
                       uint32_t thread, uint64_t address)
{
    const uint64_t end_of = address + access->at->size;

    for (uint64_t at = address & ~UINT64_C(3); at < end_of; at += 4) {
        const unsigned begin = at < address ? (unsigned)(address - at) : 0;
        const unsigned end = at + 4 > end_of ? (unsigned)(end_of - at) : 4;

        note_word(access, &page->words[at % PAGE / 4],
                  use_of(block, thread, access->code, (1u << end) - (1u << begin)), address);
    }
}

void cx_ptx_shadow_blocks_note(const cx_ptx_shadow_access *access,
                               const cx_ptx_shadow_range *range)
{
    const cx_ptx_step *run = access->run;
    const unsigned size = access->at->size;
    const uint32_t block = number_of(run->grid, run->block->index);
    const uint32_t first = run->warp->lanes->index;
    const bool whole = size % 4 == 0 && range->begin % 4 == 0;
    words_page *page = page_of(run->grid->shadow->across, range->begin / PAGE, access->writes);

    for (unsigned i = 0; page && i < range->count; i++) {
        const uint64_t address = range->begin + (uint64_t)i * size;
        const uint32_t thread = first + range->lanes[i];
        word *one = &page->words[address % PAGE / 4];

        if (access->writes && !(range->changed >> i & 1))
            continue;
        if (!whole) {
            note_parts(access, page, block, thread, address);
            continue;
        }
        for (unsigned part = 0; part < size / 4; part++)
            note_word(access, one + part, use_of(block, thread, access->code, 15), address);
    }
}
