/* Global memory: which thread wrote and read each word last, in this launch. Blocks run in any
 * order, so two of them race for a word unless both of them have done something that may order
 * them; and so do two warps of a block, unless something may have ordered the two threads since. */
#include "ptx/shadow_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    WORDS = PAGE / 4,
    PAGES_MOST = 320, /* words elsewhere are not followed: a page has six times its size */
    TABLE = 2 * PAGES_MOST
};
#define BLOCKS_MOST (UINT32_C(1) << 28)
#define CODE_MOST (UINT32_C(1) << 22)

/* A use of a word, in 64 bits: the block's number from 1, 28; the thread, 10; the place in the
 * code, 22; the bytes, 4. 0: there was none. */
typedef uint64_t use;

typedef struct word {
    use write, read;
    uint32_t write_time, read_time; /* 0: unknown */
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

    if ((blocks < 2 && grid->threads_in_block <= CX_PTX_WARP_SIZE) || blocks >= BLOCKS_MOST ||
        grid->module->code_count >= CODE_MOST)
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

static uint32_t thread_of(use one)
{
    return (uint32_t)(one >> 26) & 1023;
}

static void tell_race(const cx_ptx_shadow_access *access, cx_ptx_hazard_kind kind, use first,
                      bool first_writes, uint32_t thread, uint64_t address)
{
    const cx_ptx_grid *grid = access->run->grid;
    const uint32_t *size = grid->launch->grid;
    const uint32_t number = block_of(first), code = (uint32_t)(first >> 4) % CODE_MOST;
    const uint32_t index[] = {number % size[0], number / size[0] % size[1],
                              number / size[0] / size[1]};
    cx_ptx_hazard hazard = {
        .kind = kind, .address = address, .bytes = access->at->size};

    if (!cx_ptx_shadow_is_new(grid->shadow, hazard.kind, code, access->code))
        return;
    hazard.first = cx_ptx_shadow_side_of(grid, index, thread_of(first), code);
    hazard.first.writes = first_writes;
    hazard.second = cx_ptx_shadow_side_of(grid, access->run->block->index, thread, access->code);
    hazard.second.writes = access->writes;
    cx_ptx_shadow_tell(grid, &hazard);
}

/* A thread's access, as it is noted. */
typedef struct access_now {
    const cx_ptx_shadow_access *access;
    use use;
    uint64_t address;
    const unsigned char *value; /* that it stores, or finds */
} access_now;

/* Threads that look for a flag which others set read what was there or what is there: either way is
 * right. Numbers that are all zeroes, all ones, or 1 count as flags. */
static bool is_flag(const access_now *now)
{
    const unsigned size = now->access->at->size;
    unsigned char any = 0, all = 0xff;

    for (unsigned i = 1; i < size; i++) {
        any |= now->value[i];
        all &= now->value[i];
    }
    return (any == 0 && now->value[0] <= 1) || (all == 0xff && now->value[0] == 0xff);
}

/* Two threads of a block, since all of them were ordered last. */
static void judge_inside(const access_now *now, use first, bool first_writes, uint32_t first_time)
{
    const cx_ptx_shadow_access *access = now->access;
    const cx_ptx_block_shadow *block = access->run->block->shadow;
    const uint32_t one = thread_of(first), other = thread_of(now->use);

    if (first_time <= block->all_met || !access->time ||
        one / CX_PTX_WARP_SIZE == other / CX_PTX_WARP_SIZE ||
        (block->met > first_time && block->synced[one] > first_time &&
         block->synced[other] > first_time) ||
        (first_writes != access->writes && is_flag(now)))
        return;
    tell_race(access, CX_PTX_HAZARD_GLOBAL_RACE, first, first_writes, other, now->address);
}

static inline void judge(const access_now *now, use first, bool first_writes, uint32_t first_time)
{
    const cx_ptx_shadow_blocks *self = now->access->run->grid->shadow->across;

    if (!first || !(first & now->use & 15))
        return;
    if (block_of(first) == block_of(now->use))
        judge_inside(now, first, first_writes, first_time);
    else if (!is_ordered(self, block_of(first)) || !is_ordered(self, block_of(now->use)))
        tell_race(now->access, CX_PTX_HAZARD_BLOCK_RACE, first, first_writes, thread_of(now->use),
                  now->address);
}

static inline void note_word(const access_now *now, word *one)
{
    judge(now, one->write, true, one->write_time);
    if (now->access->writes) {
        judge(now, one->read, false, one->read_time);
        one->write = now->use;
        one->write_time = now->access->time;
    } else {
        one->read = now->use;
        one->read_time = now->access->time;
    }
}

/* Not of whole words. */
static void note_parts(access_now *now, words_page *page, uint32_t block, uint32_t thread)
{
    const uint64_t address = now->address, end_of = address + now->access->at->size;

    for (uint64_t at = address & ~UINT64_C(3); at < end_of; at += 4) {
        const unsigned begin = at < address ? (unsigned)(address - at) : 0;
        const unsigned end = at + 4 > end_of ? (unsigned)(end_of - at) : 4;

        now->use = use_of(block, thread, now->access->code, (1u << end) - (1u << begin));
        note_word(now, &page->words[at % PAGE / 4]);
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
        const uint32_t thread = first + range->lanes[i];
        access_now now = {.access = access,
                          .use = use_of(block, thread, access->code, 15),
                          .address = range->begin + (uint64_t)i * size,
                          .value = range->values + (size_t)i * size};
        word *one = &page->words[now.address % PAGE / 4];

        if (access->writes && !(range->changed >> i & 1))
            continue;
        if (!whole) {
            note_parts(&now, page, block, thread);
            continue;
        }
        for (unsigned part = 0; part < size / 4; part++)
            note_word(&now, one + part);
    }
}
