/*
 * Each register is followed by itself: from its reads back to the writes before them. Every piece
 * of its life adds its weight at a place in the code and takes it away at a later one; the sums are
 * the numbers of live registers.
 */
#include "ptx/liveness.h"

#include "ptx/matrix.h"
#include "ptx/texture.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define PLAIN_OPERANDS (9 + CX_PTX_TEXTURE_RESULTS - 1)
#define OPERANDS_MAX (PLAIN_OPERANDS + CX_PTX_MATRIX_PARTS * CX_PTX_FRAGMENT_REGISTERS)

#define RESERVED 6 /* the stack pointer, and what the assembler needs for itself */
#define LEAST 8
#define LEAST_LIMIT 16
#define MOST 255
#define OF_A_MULTIPROCESSOR 65536
#define UNIT 8 /* the hardware gives a thread multiples of it */

typedef struct occurrence {
    uint32_t place;
    bool writes;
} occurrence;

typedef struct liveness {
    const cx_ptx_graph *graph;
    const cx_ptx_function *function;
    uint32_t registers;
    uint32_t *begins;        /* of register r: occurrences from begins[r] to begins[r + 1] */
    uint32_t *writes;        /* how often each register is written */
    bool *is_free;           /* it takes no register: a parameter, a constant */
    occurrence *occurrences; /* in the order of the code */
    int32_t *changes;        /* of the number of live registers, for each place from the first */

    /* While a register is followed, for each block: 1 + the last register that */
    uint32_t *met;     /* occurs in it */
    uint32_t *reached; /* is live at its end */
    uint32_t *rest;    /* where its life goes on after the last occurrence */
    bool *written;
    uint32_t *open; /* blocks at whose begin it is live */
    uint32_t open_count;
} liveness;

/* ---- operands ---- */

static uint32_t register_of(const cx_ptx_function *function, uint32_t place)
{
    switch (place & CX_PTX_FILE_MASK) {
    case CX_PTX_FRAME_WORDS:
        return place / CX_PTX_WORDS_BYTES;
    case CX_PTX_FRAME_LONGS:
        return function->words + place / CX_PTX_LONGS_BYTES;
    default:
        return NONE;
    }
}

static bool stores(const cx_ptx_instruction *at)
{
    return (at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64) || at->op == CX_PTX_BULK;
}

/* The place behind the first half of a pair. */
static uint32_t second_of(uint32_t place)
{
    return (place & CX_PTX_FILE_MASK) == CX_PTX_FRAME_LONGS ? place + CX_PTX_LONGS_BYTES : NONE;
}

/* D is last: it is what the instruction writes, unless it stores. */
static size_t find_in_matrix(const cx_ptx_module *module, const cx_ptx_function *function,
                             const cx_ptx_instruction *at, occurrence *out)
{
    static const cx_ptx_matrix_part order[] = {CX_PTX_MATRIX_A, CX_PTX_MATRIX_B, CX_PTX_MATRIX_C,
                                               CX_PTX_MATRIX_D};
    const cx_ptx_matrix *what = &module->matrices[at->c];
    const uint32_t addresses[] = {at->a, at->b};
    size_t count = 0;

    for (int i = 0; i < 2; i++)
        if (register_of(function, addresses[i]) != NONE)
            out[count++] = (occurrence){register_of(function, addresses[i]), false};
    for (int part = 0; part < CX_PTX_MATRIX_PARTS; part++) {
        const cx_ptx_fragment *fragment = &what->parts[order[part]];
        bool loads = at->mode == CX_PTX_MATRIX_LOAD;
        bool stores = at->mode == CX_PTX_MATRIX_STORE || at->mode == CX_PTX_MATRIX_STORE_ROWS;
        bool writes = loads || (!stores && order[part] == CX_PTX_MATRIX_D);

        for (unsigned i = 0; i < fragment->count; i++)
            if (register_of(function, fragment->places[i]) != NONE)
                out[count++] = (occurrence){register_of(function, fragment->places[i]), writes};
    }
    return count;
}

/* The places behind the first word of a texture's result; its inputs are moved just before. */
static uint32_t result_of(const cx_ptx_instruction *at, uint32_t number)
{
    return at->op == CX_PTX_TEXTURE ? at->d + number * (uint32_t)CX_PTX_WORDS_BYTES : NONE;
}

/* The registers that an instruction reads, then those that it writes. */
static size_t find_operands(const cx_ptx_module *module, const cx_ptx_function *function,
                            const cx_ptx_instruction *at, occurrence *out)
{
    const bool pairs = at->op == CX_PTX_ACCESS_128;
    const occurrence all[PLAIN_OPERANDS] = {{at->a, false},
                                          {at->b, false},
                                          {pairs ? second_of(at->b) : NONE, false},
                                          {at->c, false},
                                          {pairs ? second_of(at->c) : NONE, false},
                                          {at->e, false},
                                          {at->d, !stores(at)},
                                          {pairs ? second_of(at->d) : NONE, true},
                                          {at->op == CX_PTX_WARP ? at->site : NONE, true},
                                          {result_of(at, 1), true},
                                          {result_of(at, 2), true},
                                          {result_of(at, 3), true}};
    size_t count = 0;

    if (at->op == CX_PTX_ARGUMENT || at->op == CX_PTX_RESULT)
        return 0;
    if (at->op == CX_PTX_MATRIX)
        return find_in_matrix(module, function, at, out);
    for (size_t i = 0; i < PLAIN_OPERANDS; i++) {
        uint32_t found = register_of(function, all[i].place);

        if (found != NONE)
            out[count++] = (occurrence){found, all[i].writes};
    }
    return count;
}

/* Fills in occurrences of registers; counts them first. */
static void note_occurrences(liveness *self, bool counts)
{
    const cx_ptx_graph *graph = self->graph;
    occurrence operands[OPERANDS_MAX];

    for (size_t place = graph->begin; place < graph->end; place++) {
        size_t count = find_operands(graph->module, self->function,
                                     &graph->module->code[place], operands);

        for (size_t i = 0; i < count; i++) {
            uint32_t which = operands[i].place;

            if (counts) {
                self->begins[which + 2]++;
                self->writes[which] += operands[i].writes;
            } else {
                self->occurrences[self->begins[which + 1]++] =
                    (occurrence){(uint32_t)place, operands[i].writes};
            }
        }
    }
}

/* ---- registers that cost nothing ---- */

static bool costs_nothing(const liveness *self, uint32_t place)
{
    uint32_t which = register_of(self->function, place);

    return cx_ptx_is_uniform(place) || (which != NONE && self->is_free[which]);
}

/* A GPU has parameters and constants as operands of instructions. */
static bool gives_constant(const liveness *self, const cx_ptx_instruction *at)
{
    if (at->op >= CX_PTX_LOAD_U8 && at->op <= CX_PTX_LOAD_U64)
        return at->space == CX_PTX_PARAMETER && cx_ptx_is_uniform(at->a);
    if (at->op == CX_PTX_TO_WINDOW || at->op == CX_PTX_EXTEND)
        return costs_nothing(self, at->a) && (at->op == CX_PTX_EXTEND || at->immediate == 0);
    return at->op < CX_PTX_COMPUTED && cx_ptx_is_uniform(at->a) && cx_ptx_is_uniform(at->b) &&
           cx_ptx_is_uniform(at->c);
}

static void find_free(liveness *self)
{
    const cx_ptx_graph *graph = self->graph;

    for (uint32_t i = 0; i < CX_PTX_FRAME_WORDS_COUNT; i++)
        self->is_free[i] = true;
    for (uint32_t i = 0; i < CX_PTX_FRAME_LONGS_COUNT; i++)
        self->is_free[self->function->words + i] = true;
    for (size_t place = graph->begin; place < graph->end; place++) {
        const cx_ptx_instruction *at = &graph->module->code[place];
        uint32_t which = register_of(self->function, at->d);

        if (which != NONE && self->writes[which] == 1 && gives_constant(self, at))
            self->is_free[which] = true;
    }
}

static int32_t weight_of(const liveness *self, uint32_t which)
{
    if (self->is_free[which])
        return 0;
    return which >= self->function->words ? 2 : !self->function->predicates[which];
}

/* ---- the life of a register ---- */

/* It is live in front of the instructions from one place to another. */
static void add_life(liveness *self, int32_t weight, uint32_t from, uint32_t to)
{
    if (from > to)
        return;
    self->changes[from - self->graph->begin] += weight;
    self->changes[to + 1 - self->graph->begin] -= weight;
}

static void enter_block(liveness *self, uint32_t which, uint32_t block)
{
    self->met[block] = which + 1;
    self->rest[block] = self->graph->first[block];
    self->written[block] = false;
}

static void follow_inside(liveness *self, uint32_t which, int32_t weight)
{
    for (uint32_t i = self->begins[which]; i < self->begins[which + 1]; i++) {
        const occurrence *each = &self->occurrences[i];
        uint32_t block = self->graph->block_of[each->place - self->graph->begin];

        if (self->met[block] != which + 1) {
            enter_block(self, which, block);
            if (!each->writes)
                self->open[self->open_count++] = block;
        }
        if (!each->writes)
            add_life(self, weight, self->rest[block], each->place);
        self->rest[block] = each->place + 1;
        self->written[block] |= each->writes;
    }
}

static void follow_back(liveness *self, uint32_t which, int32_t weight)
{
    const cx_ptx_graph *graph = self->graph;

    while (self->open_count > 0) {
        uint32_t block = self->open[--self->open_count];

        for (uint32_t i = graph->edges_to[block]; i < graph->edges_to[block + 1]; i++) {
            uint32_t source = graph->sources[i];
            bool meets = self->met[source] == which + 1;

            if (self->reached[source] == which + 1)
                continue;
            self->reached[source] = which + 1;
            add_life(self, weight, meets ? self->rest[source] : graph->first[source],
                     graph->last[source]);
            if (!meets)
                self->open[self->open_count++] = source;
        }
    }
}

static void follow_all(liveness *self)
{
    for (uint32_t which = 0; which < self->registers; which++) {
        int32_t weight = weight_of(self, which);

        if (weight == 0 || self->begins[which] == self->begins[which + 1])
            continue;
        follow_inside(self, which, weight);
        follow_back(self, which, weight);
    }
}

/* ---- sums ---- */

static void sum_up(const liveness *self, cx_ptx_function *function)
{
    const cx_ptx_graph *graph = self->graph;
    int32_t live = 0, most = 0;
    size_t call = 0;

    for (size_t place = graph->begin; place < graph->end; place++) {
        live += self->changes[place - graph->begin];
        most = live > most ? live : most;
        if (graph->module->code[place].op == CX_PTX_CALL && call < function->call_count)
            function->live_at_calls[call++] =
                (uint32_t)(live + self->changes[place + 1 - graph->begin]);
    }
    function->live = (uint32_t)most;
}

static bool make_room(liveness *self)
{
    size_t registers = self->registers + 2, blocks = self->graph->blocks + 1;
    size_t size = self->graph->end - self->graph->begin;
    uint32_t *room = calloc(2 * registers + 4 * blocks, sizeof *room);

    self->is_free = calloc(registers + blocks, sizeof *self->is_free);
    self->changes = calloc(size + 2, sizeof *self->changes);
    self->begins = room;
    if (!room || !self->is_free || !self->changes)
        return false;
    self->written = self->is_free + registers;
    self->writes = room + registers;
    self->met = self->writes + registers;
    self->reached = self->met + blocks;
    self->rest = self->reached + blocks;
    self->open = self->rest + blocks;
    return true;
}

static bool find_occurrences(liveness *self)
{
    note_occurrences(self, true);
    for (uint32_t i = 2; i < self->registers + 2; i++)
        self->begins[i] += self->begins[i - 1];
    self->occurrences = calloc(self->begins[self->registers + 1] + 1, sizeof *self->occurrences);
    if (!self->occurrences)
        return false;
    note_occurrences(self, false);
    return true;
}

bool cx_ptx_liveness_find(const cx_ptx_graph *graph, cx_ptx_function *function)
{
    liveness self = {
        .graph = graph, .function = function, .registers = function->words + function->longs};
    bool done;

    function->live_at_calls = calloc(function->call_count + 1, sizeof *function->live_at_calls);
    done = function->live_at_calls && make_room(&self) && find_occurrences(&self);
    if (done) {
        find_free(&self);
        follow_all(&self);
        sum_up(&self, function);
    }
    free(self.occurrences);
    free(self.changes);
    free(self.is_free);
    free(self.begins);
    free(function->predicates);
    function->predicates = NULL;
    return done;
}

/* ---- what a GPU makes of it ---- */

uint32_t cx_ptx_live_registers(const cx_ptx_function *function)
{
    return function->defined ? function->live : CX_PTX_REGISTERS_OF_CALLEE;
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* So many blocks of so many threads fit. */
static size_t limit_of(const cx_ptx_function *kernel)
{
    size_t limit = kernel->max_registers ? kernel->max_registers : MOST;
    size_t blocks = kernel->min_blocks ? kernel->min_blocks : 1;
    size_t warps = (kernel->max_threads + CX_PTX_WARP_SIZE - 1) / CX_PTX_WARP_SIZE;

    if (warps > 0 && kernel->max_registers == 0)
        limit = smaller_of(limit, OF_A_MULTIPROCESSOR / (blocks * warps * CX_PTX_WARP_SIZE) / UNIT *
                                      UNIT);
    return smaller_of(limit < LEAST_LIMIT ? LEAST_LIMIT : limit, MOST);
}

size_t cx_ptx_registers_of(const cx_ptx_function *kernel)
{
    size_t needed = (kernel->stack_registers + RESERVED + 1) / 2 * 2;

    return smaller_of(needed < LEAST ? LEAST : needed, limit_of(kernel));
}
