#include "ptx/flow.h"

#include "ptx/liveness.h"
#include <stdlib.h>

typedef cx_ptx_graph graph;

#define NONE UINT32_MAX

/* ---- edges ---- */

static bool is_branch(const cx_ptx_instruction *at)
{
    return at->op >= CX_PTX_BRANCH && at->op <= CX_PTX_BRANCH_INDEX;
}

static bool ends_block(const cx_ptx_instruction *at)
{
    return is_branch(at) || at->op == CX_PTX_RETURN || at->op == CX_PTX_EXIT ||
           at->op == CX_PTX_TRAPPED;
}

/* The place where the instruction's path number `way` goes on, or the end; SIZE_MAX: no such path.
 * A trap ends the whole grid: nothing meets behind it. */
static size_t next_place(const graph *self, size_t place, size_t way)
{
    const cx_ptx_instruction *at = &self->module->code[place];
    const uint32_t *targets;

    switch ((cx_ptx_op)at->op) {
    case CX_PTX_TRAPPED:
        return SIZE_MAX;
    case CX_PTX_RETURN:
    case CX_PTX_EXIT:
        return way == 0 ? self->end : SIZE_MAX;
    case CX_PTX_BRANCH:
    case CX_PTX_BRANCH_BACK:
        return way == 0 ? (size_t)at->immediate : SIZE_MAX;
    case CX_PTX_BRANCH_INDEX:
        targets = self->module->targets + at->immediate;
        return way < targets[0] ? targets[1 + way] : SIZE_MAX;
    case CX_PTX_BRANCH_IF:
    case CX_PTX_BRANCH_UNLESS:
    case CX_PTX_BRANCH_IF_BACK:
    case CX_PTX_BRANCH_UNLESS_BACK:
        return way == 0 ? place + 1 : way == 1 ? (size_t)at->immediate : SIZE_MAX;
    default:
        return way == 0 ? place + 1 : SIZE_MAX;
    }
}

static uint32_t next_block(const graph *self, uint32_t block, size_t way)
{
    size_t place = next_place(self, self->last[block], way);

    if (place == SIZE_MAX)
        return NONE;
    return place == self->end ? self->blocks : self->block_of[place - self->begin];
}

/* ---- blocks ---- */

static void mark_begins(graph *self)
{
    self->block_of[0] = 1;
    for (size_t place = self->begin; place < self->end; place++) {
        if (!ends_block(&self->module->code[place]))
            continue;
        if (place + 1 < self->end)
            self->block_of[place + 1 - self->begin] = 1;
        for (size_t way = 0, next; (next = next_place(self, place, way)) != SIZE_MAX; way++)
            if (next < self->end)
                self->block_of[next - self->begin] = 1;
    }
}

static void number_blocks(graph *self)
{
    self->blocks = 0;
    for (size_t place = self->begin; place < self->end; place++) {
        uint32_t *block = &self->block_of[place - self->begin];

        if (*block)
            self->first[self->blocks++] = (uint32_t)place;
        *block = self->blocks - 1;
        self->last[*block] = (uint32_t)place;
    }
}

static void find_sources(graph *self)
{
    uint32_t *edges = self->edges_to;

    for (uint32_t i = 0; i <= self->blocks + 2; i++)
        edges[i] = 0;
    for (uint32_t block = 0; block < self->blocks; block++)
        for (size_t way = 0, next; (next = next_block(self, block, way)) != NONE; way++)
            edges[next + 2]++;
    for (uint32_t i = 2; i <= self->blocks + 2; i++)
        edges[i] += edges[i - 1];
    for (uint32_t block = 0; block < self->blocks; block++)
        for (size_t way = 0, next; (next = next_block(self, block, way)) != NONE; way++)
            self->sources[edges[next + 1]++] = block;
}

/* ---- post-dominators ---- */

/* Numbers the blocks that reach the end: a block before those that were found from it. */
static void order_blocks(graph *self, uint32_t *path, uint32_t *next_edge)
{
    uint32_t depth = 0, left = self->blocks + 1;

    for (uint32_t i = 0; i <= self->blocks; i++) {
        self->number[i] = NONE;
        next_edge[i] = self->edges_to[i];
    }
    path[depth++] = self->blocks;
    self->number[self->blocks] = 0;
    while (depth > 0) {
        uint32_t block = path[depth - 1];

        if (next_edge[block] == self->edges_to[block + 1]) {
            self->order[--left] = block;
            depth--;
            continue;
        }
        uint32_t source = self->sources[next_edge[block]++];
        if (self->number[source] == NONE) {
            self->number[source] = 0;
            path[depth++] = source;
        }
    }
    self->reached = self->blocks + 1 - left;
    for (uint32_t i = 0; i < self->reached; i++) {
        self->order[i] = self->order[left + i];
        self->number[self->order[i]] = i;
    }
}

static uint32_t meet(const graph *self, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (self->number[a] > self->number[b])
            a = self->meets[a];
        while (self->number[b] > self->number[a])
            b = self->meets[b];
    }
    return a;
}

/* Cooper, Harvey, Kennedy: A simple, fast dominance algorithm. */
static void find_meets(graph *self)
{
    bool changed = true;

    for (uint32_t i = 0; i <= self->blocks; i++)
        self->meets[i] = NONE;
    self->meets[self->blocks] = self->blocks;
    while (changed) {
        changed = false;
        for (uint32_t i = 1; i < self->reached; i++) {
            uint32_t block = self->order[i], found = NONE, next;

            for (size_t way = 0; (next = next_block(self, block, way)) != NONE; way++)
                if (self->meets[next] != NONE)
                    found = found == NONE ? next : meet(self, found, next);
            changed |= self->meets[block] != found;
            self->meets[block] = found;
        }
    }
}

/* ---- branches ---- */

/* A lane that only ends need not wait for others before. */
static uint32_t place_of_meeting(const graph *self, uint32_t block)
{
    uint32_t found = self->meets[block];

    if (found == NONE || found == self->blocks ||
        self->module->code[self->first[found]].op == CX_PTX_EXIT)
        return CX_PTX_NO_PLACE;
    return self->first[found];
}

static bool is_alone(const cx_ptx_instruction *at)
{
    return at->op < CX_PTX_BRANCH || at->op == CX_PTX_ARGUMENT || at->op == CX_PTX_RESULT ||
           at->op == CX_PTX_MBARRIER;
}

static bool jumps_over_little(const cx_ptx_module *module, size_t place)
{
    const cx_ptx_instruction *at = &module->code[place];

    if (at->op != CX_PTX_BRANCH_IF && at->op != CX_PTX_BRANCH_UNLESS)
        return false;
    for (size_t each = place + 1; each < (size_t)at->immediate; each++)
        if (!is_alone(&module->code[each]))
            return false;
    return true;
}

static cx_ptx_pace pace_of(const cx_ptx_instruction *at)
{
    switch ((cx_ptx_op)at->op) {
    case CX_PTX_ATOMIC:
    case CX_PTX_ACCESS_128:
    case CX_PTX_MBARRIER:
    case CX_PTX_PAUSE:
    case CX_PTX_CALL:
    case CX_PTX_CALL_INDIRECT:
        return CX_PTX_PACE_WATCHES;
    default:
        if (at->op < CX_PTX_LOAD_U8 || at->op > CX_PTX_LOAD_U64)
            return CX_PTX_PACE_WORKS;
        return at->mode ? CX_PTX_PACE_WATCHES : CX_PTX_PACE_READS;
    }
}

static void fill_branches(const graph *self, cx_ptx_instruction *code)
{
    size_t last[CX_PTX_PACE_WATCHES + 1] = {0}; /* the place behind the last such instruction */

    for (size_t place = self->begin; place < self->end; place++) {
        cx_ptx_instruction *at = &code[place];
        size_t target = (size_t)at->immediate;

        last[pace_of(at)] = place + 1;
        if (!is_branch(at))
            continue;
        at->site = place_of_meeting(self, self->block_of[place - self->begin]);
        at->from = jumps_over_little(self->module, place);
        at->mode = CX_PTX_PACE_READS;
        if (at->op != CX_PTX_BRANCH_INDEX)
            at->mode = last[CX_PTX_PACE_WATCHES] > target ? CX_PTX_PACE_WATCHES
                       : last[CX_PTX_PACE_READS] > target ? CX_PTX_PACE_READS
                                                          : CX_PTX_PACE_WORKS;
    }
}

/* ---- functions ---- */

static bool find_in_function(graph *self, cx_ptx_function *function, cx_ptx_instruction *code)
{
    size_t size = self->end - self->begin;

    for (size_t i = 0; i < size; i++)
        self->block_of[i] = 0;
    mark_begins(self);
    number_blocks(self);
    find_sources(self);
    order_blocks(self, self->meets, self->sources + self->edges_to[self->blocks + 1]);
    find_meets(self);
    fill_branches(self, code);
    return cx_ptx_liveness_find(self, function);
}

/* A function's code ends where that of the next one begins. */
static size_t end_of(const cx_ptx_module *module, size_t begin)
{
    size_t end = module->code_count;

    for (size_t i = 0; i < module->function_count; i++) {
        const cx_ptx_function *other = &module->functions[i];

        if (other->defined && other->begin > begin && other->begin < end)
            end = other->begin;
    }
    return end;
}

/* At least the number of edges of all graphs. */
static size_t count_ways(const cx_ptx_module *module)
{
    size_t ways = 0;

    for (size_t i = 0; i < module->code_count; i++)
        ways += module->code[i].op == CX_PTX_BRANCH_INDEX
                    ? module->targets[module->code[i].immediate]
                    : 2;
    return ways;
}

bool cx_ptx_flow_find(cx_ptx_module *module)
{
    size_t size = module->code_count + 4;
    uint32_t *room = calloc(8 * size + count_ways(module), sizeof *room);
    graph self = {.module = module};
    bool done = true;

    if (!room)
        return false;
    self.block_of = room;
    self.last = room + size;
    self.first = room + 2 * size;
    self.edges_to = room + 3 * size;
    self.order = room + 4 * size;
    self.number = room + 5 * size;
    self.meets = room + 6 * size;
    self.sources = room + 7 * size;
    for (size_t i = 0; done && i < module->function_count; i++) {
        if (!module->functions[i].defined)
            continue;
        self.begin = module->functions[i].begin;
        self.end = end_of(module, self.begin);
        if (self.end > self.begin)
            done = find_in_function(&self, &module->functions[i], module->code);
    }
    free(room);
    return done;
}
