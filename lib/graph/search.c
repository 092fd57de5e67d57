/*
 * A depth-first search, repeated. It places tensors from the bottom up: each step puts one on top
 * of what lies below it, never lower than the last one, and only if no unplaced tensor would still
 * fit under it. At every moment of time, the lowest place left plus the demand of the unplaced
 * tensors must stay within the peak aimed at; else the last step is taken back. The unplaced
 * tensors fall into stretches of time that no tensor joins, and each stretch is searched by itself.
 * The order of trying decides the outcome, so every attempt has another order and gives up soon;
 * tensors that found no room come earlier in the next attempt. All numbers are whole: results are
 * the same everywhere.
 */
#include "graph/packing.h"

#include <stdlib.h>
#include <string.h>

#define SUM_MAX ((uint64_t)1 << 62) /* of all sizes: sums with offsets cannot overflow */
#define CHANGES_MAX ((size_t)1 << 24)
#define NONE UINT32_MAX
#define NOWHERE UINT64_MAX
#define BLAME 64 /* added for one failure; tenths of it are taken off later */

/* Sizes and offsets are in units of the alignment. Unplaced pieces are a list in the order of their
 * begin. */
typedef struct piece {
    uint64_t size;
    uint64_t lowest;     /* lowest possible place, above the placed pieces of its time */
    uint64_t offset;     /* set when it is placed */
    uint32_t begin, end; /* its sections */
    uint32_t rank;       /* of several at one offset, the lowest rank is tried first */
    uint32_t before, after;
    uint64_t blame; /* how often it found no room, lately */
} piece;

/* A stretch of time in which nothing begins after something has ended. */
typedef struct section {
    uint64_t demand; /* of all its pieces */
    uint64_t rest;   /* of its unplaced pieces */
    uint64_t lowest; /* the lowest place of one of those */
    uint64_t blame;  /* how often its pieces found no room, lately */
} section;

/* A value that a step changed. */
typedef struct change {
    enum { LOWEST_OF_PIECE, LOWEST_OF_SECTION, PLACED } what;
    uint32_t number;
    uint64_t before;
} change;

/* Pieces joined in time, from `first` up to but without `stop`. One of them is placed, the others
 * go above it. */
typedef struct level {
    uint32_t first, stop;
    uint32_t begin, end; /* their sections */
    uint64_t floor;      /* no piece is placed below it any more, */
    uint32_t floor_rank; /* or at it with a lower rank than this */
    uint32_t chosen;     /* the piece placed; NONE: none so far */
    uint32_t rank;       /* its rank */
    uint64_t offset;     /* and its place */
    uint32_t pending;    /* where the pieces begin that no level above contains */
    size_t changes;      /* made before this level */
} level;

/* The largest key comes first. */
typedef struct turn {
    uint64_t key;
    uint32_t number;
} turn;

typedef struct search {
    cx_packing *packing;
    uint32_t count, section_count;
    piece *pieces; /* the one after the last is the list's end */
    section *sections;
    level *levels;
    uint32_t depth;
    change *changes;
    size_t change_count, change_capacity;
    bool no_memory;
    uint64_t aim; /* the peak that must not be exceeded */
    uint64_t random;
    uint64_t spent; /* of the effort, since it was last subtracted */
    turn *turns;
} search;

/* ---- sections ---- */

static uint32_t *find_sections(const cx_packing *packing, uint32_t *out_count)
{
    uint32_t *sections = calloc((size_t)packing->moments + 1, sizeof *sections);
    if (sections == NULL)
        return NULL;
    enum { BEGINS = 1, ENDS = 2 };
    for (size_t i = 0; i < packing->count; i++) {
        sections[packing->tensors[i].begin] |= BEGINS;
        sections[packing->tensors[i].end] |= ENDS;
    }
    uint32_t number = 0;
    bool ended = false;
    for (uint32_t moment = 0; moment <= packing->moments; moment++) {
        uint32_t what = sections[moment];
        ended = ended || (what & ENDS) != 0;
        if ((what & BEGINS) != 0 && ended) {
            number++;
            ended = false;
        }
        sections[moment] = number;
    }
    *out_count = number + 1;
    return sections;
}

/* If something ends at a moment, the moment belongs to the section that ends there. */
static void cut_lifetimes(search *self, const uint32_t *sections)
{
    const cx_packing *packing = self->packing;
    for (uint32_t i = 0; i < self->count; i++) {
        const cx_packed *tensor = &packing->tensors[i];
        piece *cut = &self->pieces[i];
        *cut = (piece){.size = tensor->size / packing->alignment,
                       .begin = sections[tensor->begin],
                       .end = sections[tensor->end - 1] + 1};
        for (uint32_t s = cut->begin; s < cut->end; s++)
            self->sections[s].demand += cut->size;
    }
}

/* ---- steps and backtracking ---- */

/* A plan with too many changes is too large to search. */
static bool grow_changes(search *self)
{
    size_t capacity = self->change_capacity == 0 ? 4096 : self->change_capacity * 2;
    change *grown =
        capacity <= CHANGES_MAX ? realloc(self->changes, capacity * sizeof *grown) : NULL;
    if (grown == NULL) {
        self->no_memory = capacity <= CHANGES_MAX;
        self->packing->effort = 0;
        return false;
    }
    self->changes = grown;
    self->change_capacity = capacity;
    return true;
}

static bool note_change(search *self, int what, uint32_t number, uint64_t before)
{
    if (self->change_count == self->change_capacity && !grow_changes(self))
        return false;
    self->changes[self->change_count++] = (change){what, number, before};
    return true;
}

static void put_back(search *self, uint32_t number)
{
    piece *pieces = self->pieces, *back = &pieces[number];
    pieces[back->before].after = number;
    pieces[back->after].before = number;
    for (uint32_t s = back->begin; s < back->end; s++)
        self->sections[s].rest += back->size;
}

static void take_back(search *self, size_t changes)
{
    while (self->change_count > changes) {
        const change *last = &self->changes[--self->change_count];
        if (last->what == LOWEST_OF_PIECE)
            self->pieces[last->number].lowest = last->before;
        else if (last->what == LOWEST_OF_SECTION)
            self->sections[last->number].lowest = last->before;
        else
            put_back(self, last->number);
    }
}

static uint32_t first_left(const search *self, const level *at)
{
    return at->chosen == at->first ? self->pieces[at->chosen].after : at->first;
}

/* Moves the pieces that live together with the placed one up to its top. False: one has no room
 * there. */
static bool lift_others(search *self, const level *at, uint32_t *out_begin, uint32_t *out_end)
{
    const piece *placed = &self->pieces[at->chosen];
    uint64_t top = at->offset + placed->size;
    uint32_t begin = placed->begin, end = placed->end;
    for (uint32_t i = first_left(self, at); i != at->stop; i = self->pieces[i].after) {
        piece *other = &self->pieces[i];
        self->spent++;
        if (other->begin >= placed->end)
            break;
        if (other->end <= placed->begin || other->lowest >= top)
            continue;
        if (top + other->size > self->aim) {
            other->blame += BLAME;
            return false;
        }
        if (!note_change(self, LOWEST_OF_PIECE, i, other->lowest))
            return false;
        other->lowest = top;
        begin = other->begin < begin ? other->begin : begin;
        end = other->end > end ? other->end : end;
    }
    *out_begin = begin;
    *out_end = end;
    return true;
}

static bool find_lowest(search *self, const level *at, uint32_t begin, uint32_t end)
{
    for (uint32_t s = begin; s < end; s++) {
        if (!note_change(self, LOWEST_OF_SECTION, s, self->sections[s].lowest))
            return false;
        self->sections[s].lowest = NOWHERE;
    }
    for (uint32_t i = first_left(self, at); i != at->stop; i = self->pieces[i].after) {
        const piece *other = &self->pieces[i];
        if (other->begin >= end)
            break;
        uint32_t from = other->begin > begin ? other->begin : begin,
                 to = other->end < end ? other->end : end;
        for (uint32_t s = from; s < to; s++)
            if (other->lowest < self->sections[s].lowest)
                self->sections[s].lowest = other->lowest;
        self->spent += 1 + (to > from ? to - from : 0);
    }
    return true;
}

static bool has_room(search *self, const level *at)
{
    self->spent += at->end - at->begin;
    for (uint32_t s = at->begin; s < at->end; s++) {
        section *here = &self->sections[s];
        uint64_t lowest = here->lowest > at->offset ? here->lowest : at->offset;
        if (here->rest != 0 && lowest + here->rest > self->aim) {
            here->blame += BLAME;
            return false;
        }
    }
    return true;
}

/* False: the rest has no room above it. */
static bool place_piece(search *self, level *at)
{
    piece *pieces = self->pieces, *placed = &pieces[at->chosen];
    uint32_t begin, end;
    if (!note_change(self, PLACED, at->chosen, 0))
        return false;
    pieces[placed->before].after = placed->after;
    pieces[placed->after].before = placed->before;
    for (uint32_t s = placed->begin; s < placed->end; s++)
        self->sections[s].rest -= placed->size;
    placed->offset = at->offset;
    return lift_others(self, at, &begin, &end) && find_lowest(self, at, begin, end) &&
           has_room(self, at);
}

/* ---- choosing ---- */

static uint64_t lowest_of(const level *at, const piece *one)
{
    return one->lowest > at->floor ? one->lowest : at->floor;
}

/* A piece that begins at or above the end of another candidate can wait for that one. */
static uint64_t limit_of(search *self, const level *at)
{
    uint64_t limit = NOWHERE;
    for (uint32_t i = at->first; i != at->stop; i = self->pieces[i].after) {
        uint64_t top = lowest_of(at, &self->pieces[i]) + self->pieces[i].size;
        limit = top < limit ? top : limit;
        self->spent += 2;
    }
    return limit;
}

static bool is_before(uint64_t offset, uint32_t rank, uint64_t other_offset, uint32_t other_rank)
{
    return offset != other_offset ? offset < other_offset : rank < other_rank;
}

/* Chooses the next piece in the order of offsets and ranks. */
static bool choose_piece(search *self, level *at)
{
    uint64_t limit = limit_of(self, at), best = NOWHERE;
    uint32_t chosen = NONE, rank = 0;
    for (uint32_t i = at->first; i != at->stop; i = self->pieces[i].after) {
        const piece *one = &self->pieces[i];
        uint64_t offset = lowest_of(at, one);
        if (offset >= limit || (offset == at->floor && one->rank < at->floor_rank) ||
            (at->chosen != NONE && !is_before(at->offset, at->rank, offset, one->rank)))
            continue;
        if (chosen == NONE || is_before(offset, one->rank, best, rank)) {
            chosen = i;
            best = offset;
            rank = one->rank;
        }
    }
    at->chosen = chosen;
    at->offset = best;
    at->rank = rank;
    return chosen != NONE;
}

/* ---- levels ---- */

/* Enters the level of the pieces joined in time from `first` on. */
static void enter_level(search *self, uint32_t first, uint32_t stop, uint64_t floor,
                        uint32_t floor_rank)
{
    level *entered = &self->levels[self->depth++];
    uint32_t end = self->pieces[first].end, next = first;
    while (next != stop && (next == first || self->pieces[next].begin < end)) {
        end = self->pieces[next].end > end ? self->pieces[next].end : end;
        next = self->pieces[next].after;
    }
    *entered = (level){.first = first,
                       .stop = next,
                       .begin = self->pieces[first].begin,
                       .end = end,
                       .floor = floor,
                       .floor_rank = floor_rank,
                       .chosen = NONE,
                       .changes = self->change_count};
}

/* Goes on with the unplaced pieces, past levels without any. False: all are placed. */
static bool advance_level(search *self)
{
    while (self->depth > 0) {
        level *at = &self->levels[self->depth - 1];
        if (at->pending != at->stop) {
            enter_level(self, at->pending, at->stop, at->offset, at->rank);
            at->pending = self->levels[self->depth - 1].stop;
            return true;
        }
        self->depth--;
    }
    return false;
}

static void start_attempt(search *self)
{
    for (uint32_t s = 0; s < self->section_count; s++) {
        self->sections[s].rest = self->sections[s].demand;
        self->sections[s].lowest = 0;
    }
    for (uint32_t i = 0; i <= self->count; i++) {
        self->pieces[i].lowest = 0;
        self->pieces[i].before = i == 0 ? self->count : i - 1;
        self->pieces[i].after = i == self->count ? 0 : i + 1;
    }
    self->change_count = 0;
    self->levels[0] = (level){.chosen = NONE, .pending = 0, .stop = self->count};
    self->depth = 1;
}

static bool spend_effort(search *self)
{
    cx_packing *packing = self->packing;
    bool have = packing->effort > self->spent;
    packing->effort -= have ? self->spent : packing->effort;
    self->spent = 0;
    return have;
}

/* True if all were placed within the peak aimed at, in at most `steps` steps. */
static bool find_placement(search *self, uint64_t steps)
{
    start_attempt(self);
    (void)advance_level(self);
    while (steps-- > 0 && spend_effort(self)) {
        level *at = &self->levels[self->depth - 1];
        take_back(self, at->changes);
        if (!choose_piece(self, at)) {
            if (--self->depth == 1)
                return false;
        } else if (at->offset + self->pieces[at->chosen].size <= self->aim &&
                   place_piece(self, at)) {
            at->pending = first_left(self, at);
            if (!advance_level(self))
                return true;
        }
    }
    return false;
}

/* ---- orders ---- */

static uint32_t random_below(search *self, uint32_t bound)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((self->random >> 33) * bound >> 31);
}

/* The logarithm to the base 2, in 1/256; between powers of 2 a straight line. */
static uint64_t logarithm(uint64_t number)
{
    unsigned int whole = 63 - (unsigned int)__builtin_clzll(number);
    uint64_t above = number - ((uint64_t)1 << whole);
    return whole * 256 + (whole > 8 ? above >> (whole - 8) : above << (8 - whole));
}

/* The weights of the properties that make a tensor come early. */
typedef struct taste {
    uint32_t lifetime, size, crowd, section_blame, blame, chance;
} taste;

static uint64_t key_of(search *self, const piece *one, const taste *how, uint64_t most_section,
                       uint64_t most_piece)
{
    uint64_t crowd = 0, blame = 0;
    for (uint32_t s = one->begin; s < one->end; s++) {
        const section *here = &self->sections[s];
        crowd = here->demand > crowd ? here->demand : crowd;
        blame = here->blame > blame ? here->blame : blame;
    }
    self->spent += one->end - one->begin;
    uint32_t chance = random_below(self, 256) + random_below(self, 256) + random_below(self, 256);
    return how->lifetime * logarithm(one->end - one->begin) + how->size * logarithm(one->size) +
           how->crowd * logarithm(crowd) +
           how->section_blame * logarithm(1 + 50 * blame / most_section) +
           how->blame * logarithm(1 + 50 * one->blame / most_piece) +
           (uint64_t)how->chance * chance;
}

static int by_key(const void *one, const void *other)
{
    const turn *a = one, *b = other;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void put_in_order(search *self)
{
    const taste how = {random_below(self, 128), random_below(self, 128), random_below(self, 768),
                       random_below(self, 192), random_below(self, 192), random_below(self, 32)};
    uint64_t most_section = BLAME, most_piece = BLAME;
    for (uint32_t s = 0; s < self->section_count; s++)
        most_section =
            self->sections[s].blame > most_section ? self->sections[s].blame : most_section;
    for (uint32_t i = 0; i < self->count; i++)
        most_piece = self->pieces[i].blame > most_piece ? self->pieces[i].blame : most_piece;
    for (uint32_t i = 0; i < self->count; i++)
        self->turns[i] = (turn){key_of(self, &self->pieces[i], &how, most_section, most_piece), i};
    qsort(self->turns, self->count, sizeof *self->turns, by_key);
    for (uint32_t i = 0; i < self->count; i++)
        self->pieces[self->turns[i].number].rank = i;
}

static void forget_changes(search *self)
{
    for (uint32_t s = 0; s < self->section_count; s++)
        self->sections[s].blame -= self->sections[s].blame / 10;
    for (uint32_t i = 0; i < self->count; i++)
        self->pieces[i].blame -= self->pieces[i].blame / 10;
}

/* ---- the search ---- */

static void keep_result(search *self)
{
    cx_packing *packing = self->packing;
    uint64_t peak = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        const piece *placed = &self->pieces[i];
        packing->tensors[i].offset = placed->offset * packing->alignment;
        peak = placed->offset + placed->size > peak ? placed->offset + placed->size : peak;
    }
    packing->peak = peak * packing->alignment;
}

/* Alternates near and far aims: nobody knows which can be reached. */
static void take_aim(search *self, uint32_t attempt)
{
    static const unsigned int eighths[] = {7, 6, 4, 7, 2, 6, 7, 0};
    const cx_packing *packing = self->packing;
    uint64_t peak = packing->peak / packing->alignment, goal = packing->goal / packing->alignment;
    self->aim = goal + (peak - goal) / 8 * eighths[attempt % (sizeof eighths / sizeof eighths[0])];
    if (self->aim >= peak)
        self->aim = peak - 1;
}

static void attempt_all(search *self)
{
    cx_packing *packing = self->packing;
    for (uint32_t attempt = 0; packing->peak > packing->goal && packing->effort > 0; attempt++) {
        take_aim(self, attempt);
        put_in_order(self);
        if (find_placement(self, 100 + 2 * (uint64_t)self->count))
            keep_result(self);
        forget_changes(self);
    }
}

static bool fits_in_sums(const cx_packing *packing)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < packing->count; i++) {
        sum += packing->tensors[i].size / packing->alignment;
        if (sum >= SUM_MAX)
            return false;
    }
    return true;
}

bool cx_packing_search(cx_packing *packing)
{
    search self = {.packing = packing, .count = (uint32_t)packing->count, .random = 1};
    if (packing->peak <= packing->goal || !fits_in_sums(packing))
        return true;
    uint32_t *sections = find_sections(packing, &self.section_count);
    self.sections = sections != NULL ? calloc(self.section_count, sizeof *self.sections) : NULL;
    self.pieces = calloc(packing->count + 1, sizeof *self.pieces);
    self.levels = malloc((packing->count + 2) * sizeof *self.levels);
    self.turns = malloc(packing->count * sizeof *self.turns);
    bool have =
        self.sections != NULL && self.pieces != NULL && self.levels != NULL && self.turns != NULL;
    if (have) {
        cut_lifetimes(&self, sections);
        attempt_all(&self);
    }
    free(sections);
    free(self.sections);
    free(self.pieces);
    free(self.levels);
    free(self.turns);
    free(self.changes);
    return have && !self.no_memory;
}
