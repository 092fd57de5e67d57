/*
 * A beam search. An arrangement is built from the bottom up: each step places one tensor on what is below it, never
 * lower than the one before, and what stays free below that is wasted. At every moment the demand and the waste
 * together must stay within the peak aimed at. Of all arrangements of as many tensors only the most promising go on:
 * those where demand, waste, and the waste to be expected of what is still to be placed, come least near to that peak.
 */
#include "graph/packing.h"

#include <stdlib.h>
#include <string.h>

/* Lengths of tensors, floors and waste are whole numbers of the alignment; doubles hold them exactly. */
#define LONGEST 9007199254740992.0
#define STATE_BYTES_MAX ((size_t)256 << 20)

/* A lifetime in sections: stretches of time in which nothing begins after something ended. */
typedef struct piece {
    double size;
    uint32_t begin, end;
} piece;

/* An arrangement of the first tensors. */
typedef struct state {
    double *floor;  /* by section: where the next tensor may begin */
    double *used;   /* by section: demand of all tensors, and waste */
    double *rest;   /* by section: demand of those still to be placed */
    double *lowest; /* by tensor: where it would begin; below 0: it is placed */
    uint64_t mark;  /* of the set of those placed */
} state;

typedef struct step {
    uint32_t before, tensor;
    double offset;
} step;

typedef struct choice {
    double score; /* the less the better */
    double offset;
    uint64_t mark;
    uint32_t parent, tensor;
} choice;

/* How arrangements are compared: how much waste is expected of a demand, and how much the worst moment counts. */
typedef struct weights {
    double expected;
    int squarings;
} weights;

#define ATTEMPTS 4 /* with the same width and weights */
#define SPARE 4 /* choices kept for each arrangement that goes on: several may be of the same tensors */

typedef struct beam {
    cx_packing *packing;
    uint32_t count, sections;
    piece *pieces;
    double *demand; /* by section */
    double *heed;   /* by section: how much it counts: more where there was no room before */
    double *blame;  /* by section: how often it had no room in the last step */
    double *terms;  /* by section: of the score, for the parent in question */
    uint64_t *names; /* by tensor: random bits, of which marks are made */
    double aim;     /* the peak that must not be exceeded */
    weights weights;
    uint32_t width; /* arrangements that go on */
    unsigned char *block;
    state *now, *next;
    uint32_t now_count, next_count;
    step *steps;     /* `width` for each tensor placed */
    choice *choices; /* a heap: the worst on top */
    size_t choice_count;
} beam;

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
    uint32_t section = 0;
    bool ended = false;
    for (uint32_t moment = 0; moment <= packing->moments; moment++) {
        uint32_t what = sections[moment];
        ended = ended || (what & ENDS) != 0;
        if ((what & BEGINS) != 0 && ended) {
            section++;
            ended = false;
        }
        sections[moment] = section;
    }
    *out_count = section + 1;
    return sections;
}

/* The section of a moment at which something ends is the one it ends in. */
static void cut_lifetimes(beam *self, const uint32_t *sections)
{
    const cx_packing *packing = self->packing;
    for (uint32_t i = 0; i < self->count; i++) {
        const cx_packed *tensor = &packing->tensors[i];
        self->pieces[i] = (piece){.size = (double)(tensor->size / packing->alignment),
                                  .begin = sections[tensor->begin],
                                  .end = sections[tensor->end - 1] + 1};
        for (uint32_t s = self->pieces[i].begin; s < self->pieces[i].end; s++)
            self->demand[s] += self->pieces[i].size;
    }
}

/* ---- scores ---- */

/* What one section adds to the score: little while there is room, very much near the peak aimed at. */
static double term(const beam *self, uint32_t section, double used, double rest)
{
    double fullness = (used + self->weights.expected * rest) / self->aim;
    for (int i = 0; i < self->weights.squarings; i++)
        fullness *= fullness;
    return fullness * self->heed[section];
}

/* The terms of an arrangement, if the next tensor begins at `base`, and their sum. Below 0: there is no room for it. */
static double fill_terms(beam *self, const state *parent, double base)
{
    double sum = 0;
    for (uint32_t s = 0; s < self->sections; s++) {
        double used = parent->used[s];
        self->terms[s] = 0;
        if (parent->rest[s] == 0)
            continue;
        if (parent->floor[s] < base)
            used += base - parent->floor[s];
        if (used > self->aim) {
            self->blame[s]++;
            return -1;
        }
        self->terms[s] = term(self, s, used, parent->rest[s]);
        sum += self->terms[s];
    }
    return sum;
}

/* The score once that tensor is placed. */
static double score(const beam *self, const state *parent, uint32_t tensor, double base, double sum)
{
    const piece *placed = &self->pieces[tensor];
    for (uint32_t s = placed->begin; s < placed->end; s++) {
        double used = parent->used[s], rest = parent->rest[s] - placed->size;
        if (parent->floor[s] < base)
            used += base - parent->floor[s];
        sum -= self->terms[s];
        if (rest > 0)
            sum += term(self, s, used, rest);
    }
    return sum;
}

/* ---- choices ---- */

static bool is_worse(const choice *one, const choice *other)
{
    if (one->score != other->score)
        return one->score > other->score;
    if (one->mark != other->mark)
        return one->mark > other->mark;
    return one->parent > other->parent;
}

static int by_score(const void *one, const void *other)
{
    return is_worse(one, other) ? 1 : is_worse(other, one) ? -1 : 0;
}

static void sink(beam *self, size_t at)
{
    choice moved = self->choices[at];
    for (size_t child; (child = 2 * at + 1) < self->choice_count; at = child) {
        if (child + 1 < self->choice_count && is_worse(&self->choices[child + 1], &self->choices[child]))
            child++;
        if (!is_worse(&self->choices[child], &moved))
            break;
        self->choices[at] = self->choices[child];
    }
    self->choices[at] = moved;
}

static void add_choice(beam *self, const choice *added)
{
    size_t at = self->choice_count;
    if (at == (size_t)self->width * SPARE) {
        if (is_worse(added, &self->choices[0]))
            return;
        self->choices[0] = *added;
        sink(self, 0);
        return;
    }
    self->choice_count++;
    for (; at > 0 && is_worse(added, &self->choices[(at - 1) / 2]); at = (at - 1) / 2)
        self->choices[at] = self->choices[(at - 1) / 2];
    self->choices[at] = *added;
}

/* What begins at or above the end of another that could still be placed can wait for that one. */
static double limit_of(const beam *self, const state *parent)
{
    double limit = self->aim + 1;
    for (uint32_t i = 0; i < self->count; i++)
        if (parent->lowest[i] >= 0 && parent->lowest[i] + self->pieces[i].size < limit)
            limit = parent->lowest[i] + self->pieces[i].size;
    return limit;
}

static bool spend(beam *self, uint64_t effort)
{
    bool have = self->packing->effort >= effort;
    self->packing->effort -= have ? effort : self->packing->effort;
    return have;
}

static bool look_at_choices(beam *self, uint32_t number)
{
    const state *parent = &self->now[number];
    double limit = limit_of(self, parent), base = -1, sum = -1;
    uint64_t effort = self->count;
    for (uint32_t i = 0; i < self->count; i++) {
        if (parent->lowest[i] < 0 || parent->lowest[i] >= limit)
            continue;
        if (parent->lowest[i] != base) {
            base = parent->lowest[i];
            sum = fill_terms(self, parent, base);
            effort += self->sections;
        }
        if (sum < 0)
            continue;
        effort += self->pieces[i].end - self->pieces[i].begin;
        const choice found = {.score = score(self, parent, i, base, sum),
                              .offset = base,
                              .mark = parent->mark ^ self->names[i],
                              .parent = number,
                              .tensor = i};
        add_choice(self, &found);
    }
    return spend(self, effort);
}

/* ---- steps ---- */

static void copy_state(const beam *self, state *to, const state *from)
{
    memcpy(to->floor, from->floor, self->sections * sizeof(double));
    memcpy(to->used, from->used, self->sections * sizeof(double));
    memcpy(to->rest, from->rest, self->sections * sizeof(double));
    memcpy(to->lowest, from->lowest, self->count * sizeof(double));
}

static void place(const beam *self, state *made, uint32_t tensor, double base)
{
    const piece *placed = &self->pieces[tensor];
    double top = base + placed->size;
    for (uint32_t s = 0; s < self->sections; s++) {
        if (made->floor[s] >= base)
            continue;
        if (made->rest[s] > 0)
            made->used[s] += base - made->floor[s];
        made->floor[s] = base;
    }
    for (uint32_t s = placed->begin; s < placed->end; s++) {
        made->floor[s] = top;
        made->rest[s] -= placed->size;
    }
    made->lowest[tensor] = -1;
    for (uint32_t i = 0; i < self->count; i++) {
        if (made->lowest[i] < 0)
            continue;
        double least = self->pieces[i].begin < placed->end && placed->begin < self->pieces[i].end ? top : base;
        if (made->lowest[i] < least)
            made->lowest[i] = least;
    }
}

static bool is_new(const beam *self, uint64_t mark)
{
    for (uint32_t i = 0; i < self->next_count; i++)
        if (self->next[i].mark == mark)
            return false;
    return true;
}

/* The best choices become the arrangements that go on. */
static void go_on(beam *self, uint32_t placed)
{
    qsort(self->choices, self->choice_count, sizeof *self->choices, by_score);
    self->next_count = 0;
    for (size_t i = 0; i < self->choice_count && self->next_count < self->width; i++) {
        const choice *chosen = &self->choices[i];
        if (!is_new(self, chosen->mark))
            continue;
        state *made = &self->next[self->next_count];
        copy_state(self, made, &self->now[chosen->parent]);
        place(self, made, chosen->tensor, chosen->offset);
        made->mark = chosen->mark;
        self->steps[(size_t)placed * self->width + self->next_count++] =
            (step){chosen->parent, chosen->tensor, chosen->offset};
    }
    state *before = self->now;
    self->now = self->next;
    self->next = before;
    self->now_count = self->next_count;
}

static void start(beam *self)
{
    state *first = &self->now[0];
    memset(first->floor, 0, self->sections * sizeof(double));
    memcpy(first->used, self->demand, self->sections * sizeof(double));
    memcpy(first->rest, self->demand, self->sections * sizeof(double));
    memset(first->lowest, 0, self->count * sizeof(double));
    first->mark = 0;
    self->now_count = 1;
}

/* Whether all tensors could be placed within the peak aimed at. */
static bool build(beam *self)
{
    start(self);
    for (uint32_t placed = 0; placed < self->count; placed++) {
        self->choice_count = 0;
        memset(self->blame, 0, self->sections * sizeof(double));
        for (uint32_t i = 0; i < self->now_count; i++)
            if (!look_at_choices(self, i))
                return false;
        if (self->choice_count == 0)
            return false;
        go_on(self, placed);
    }
    return true;
}

/* Writes down the best arrangement of all tensors, from its last step back. */
static void keep(const beam *self)
{
    cx_packing *packing = self->packing;
    size_t peak = 0;
    uint32_t arrangement = 0;
    for (uint32_t placed = self->count; placed-- > 0;) {
        const step *taken = &self->steps[(size_t)placed * self->width + arrangement];
        cx_packed *tensor = &packing->tensors[taken->tensor];
        tensor->offset = (size_t)taken->offset * packing->alignment;
        if (tensor->offset + tensor->size > peak)
            peak = tensor->offset + tensor->size;
        arrangement = taken->before;
    }
    packing->peak = peak;
}

/* ---- the search ---- */

/* Aims lower and lower with these weights until it fails. */
static void descend(beam *self)
{
    cx_packing *packing = self->packing;
    do {
        size_t room = packing->peak - packing->least, less = room / 8 / packing->alignment;
        self->aim = (double)(packing->peak / packing->alignment - (less != 0 ? less : 1));
        if (!build(self))
            return;
        keep(self);
    } while (packing->peak > packing->goal);
}

/* What had no room when the last attempt failed counts more in the next; what once had none counts less by and by. */
static void learn(beam *self)
{
    double most = 1;
    for (uint32_t s = 0; s < self->sections; s++)
        if (self->blame[s] > most)
            most = self->blame[s];
    for (uint32_t s = 0; s < self->sections; s++)
        self->heed[s] = 1 + (self->heed[s] - 1) * 0.95 + 0.7 * self->blame[s] / most;
}

static bool is_done(const cx_packing *packing)
{
    return packing->peak <= packing->goal || packing->effort == 0;
}

static void attempt(beam *self, const weights *chosen)
{
    self->weights = *chosen;
    for (uint32_t s = 0; s < self->sections; s++)
        self->heed[s] = 1;
    for (int i = 0; i < ATTEMPTS && !is_done(self->packing); i++) {
        descend(self);
        learn(self);
    }
}

static size_t state_bytes(const beam *self)
{
    return ((size_t)self->sections * 3 + self->count) * sizeof(double);
}

static void cut_states(const beam *self, state *states, unsigned char *block)
{
    for (uint32_t i = 0; i < self->width; i++) {
        double *cut = (double *)(void *)(block + i * state_bytes(self));
        states[i].floor = cut;
        states[i].used = cut + self->sections;
        states[i].rest = cut + 2 * (size_t)self->sections;
        states[i].lowest = cut + 3 * (size_t)self->sections;
    }
}

static void free_states(beam *self)
{
    free(self->block);
    free(self->now < self->next ? self->now : self->next);
    free(self->steps);
    free(self->choices);
}

static bool make_states(beam *self)
{
    size_t width = self->width;
    self->block = malloc(2 * width * state_bytes(self));
    self->now = malloc(2 * width * sizeof *self->now);
    self->next = self->now != NULL ? self->now + width : NULL;
    self->steps = malloc(width * self->count * sizeof *self->steps);
    self->choices = malloc(width * SPARE * sizeof *self->choices);
    if (self->block == NULL || self->now == NULL || self->steps == NULL || self->choices == NULL) {
        free_states(self);
        return false;
    }
    cut_states(self, self->now, self->block);
    cut_states(self, self->next, self->block + width * state_bytes(self));
    return true;
}

/* Wider and wider, with several weights, while there is something to gain and effort left. */
static bool search(beam *self)
{
    static const weights all[] = {{0.4, 6}, {0.7, 5}, {0.7, 6}, {0.4, 5}, {0.2, 5}, {1.2, 6}};
    cx_packing *packing = self->packing;
    for (self->width = 8; !is_done(packing); self->width *= 2) {
        if (2 * self->width * state_bytes(self) > STATE_BYTES_MAX)
            return true;
        if (!make_states(self))
            return false;
        for (size_t i = 0; i < sizeof all / sizeof all[0] && !is_done(packing); i++)
            attempt(self, &all[i]);
        free_states(self);
    }
    return true;
}

static void name_tensors(beam *self)
{
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < self->count; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        self->names[i] = bits;
    }
}

static bool fits_in_doubles(const cx_packing *packing)
{
    double sum = 0;
    for (size_t i = 0; i < packing->count; i++)
        sum += (double)(packing->tensors[i].size / packing->alignment);
    return sum < LONGEST;
}

bool cx_packing_beam(cx_packing *packing)
{
    beam self = {.packing = packing, .count = (uint32_t)packing->count};
    if (packing->peak <= packing->goal || packing->effort < (uint64_t)packing->count * packing->count ||
        !fits_in_doubles(packing))
        return true;
    uint32_t *sections = find_sections(packing, &self.sections);
    self.pieces = malloc(packing->count * sizeof *self.pieces);
    double *by_section = sections != NULL ? calloc((size_t)self.sections * 4, sizeof *by_section) : NULL;
    self.names = malloc(packing->count * sizeof *self.names);
    bool have = self.pieces != NULL && by_section != NULL && self.names != NULL;
    if (have) {
        self.demand = by_section;
        self.heed = by_section + self.sections;
        self.blame = by_section + 2 * (size_t)self.sections;
        self.terms = by_section + 3 * (size_t)self.sections;
        cut_lifetimes(&self, sections);
        name_tensors(&self);
        have = search(&self);
    }
    free(sections);
    free(self.pieces);
    free(by_section);
    free(self.names);
    return have;
}
