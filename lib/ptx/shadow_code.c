/* What the code of a module says, found when a hazard asks. */
#include "ptx/shadow_state.h"

#include <stdlib.h>

static cx_ptx_shadow_fact *fact_of(cx_ptx_shadow *shadow, uint32_t from, uint32_t to)
{
    cx_ptx_shadow_fact *fact =
        &shadow->facts[(from * UINT32_C(0x9e3779b1) ^ to) % CX_PTX_SHADOW_FACTS];

    if (!fact->known || fact->from != from || fact->to != to)
        *fact = (cx_ptx_shadow_fact){.from = from, .to = to};
    return fact;
}

/* The bounds of the function that has the place. */
static void find_function(const cx_ptx_module *module, uint32_t place, uint32_t *out_begin,
                          uint32_t *out_end)
{
    *out_begin = 0;
    *out_end = (uint32_t)module->code_count;
    for (size_t i = 0; i < module->function_count; i++) {
        const uint32_t begin = (uint32_t)module->functions[i].begin;

        if (!module->functions[i].defined)
            continue;
        if (begin <= place && begin > *out_begin)
            *out_begin = begin;
        if (begin > place && begin < *out_end)
            *out_end = begin;
    }
}

/* ---- ways ---- */

typedef struct search {
    const cx_ptx_module *module;
    uint32_t begin, end, over;
    uint32_t *open;
    size_t open_count;
    bool *seen;
    bool escaped; /* a way leads to the end */
} search;

static void go(search *self, uint64_t place)
{
    if (place < self->begin || place >= self->end) {
        self->escaped = true;
    } else if (place != self->over && !self->seen[place - self->begin]) {
        self->seen[place - self->begin] = true;
        self->open[self->open_count++] = (uint32_t)place;
    }
}

static void go_on_from(search *self, uint32_t place)
{
    const cx_ptx_instruction *at = &self->module->code[place];
    const uint32_t *targets;

    switch ((cx_ptx_op)at->op) {
    case CX_PTX_TRAPPED:
        break;
    case CX_PTX_RETURN:
    case CX_PTX_EXIT:
        self->escaped = true;
        break;
    case CX_PTX_BRANCH:
    case CX_PTX_BRANCH_BACK:
        go(self, (uint64_t)at->immediate);
        break;
    case CX_PTX_BRANCH_INDEX:
        targets = self->module->targets + at->immediate;
        for (uint32_t i = 0; i < targets[0]; i++)
            go(self, targets[1 + i]);
        break;
    case CX_PTX_BRANCH_IF:
    case CX_PTX_BRANCH_UNLESS:
    case CX_PTX_BRANCH_IF_BACK:
    case CX_PTX_BRANCH_UNLESS_BACK:
        go(self, (uint64_t)at->immediate);
        go(self, place + UINT64_C(1));
        break;
    default:
        go(self, place + UINT64_C(1));
    }
}

static bool must_pass(const cx_ptx_module *module, uint32_t from, uint32_t over)
{
    search self = {.module = module, .over = over};
    bool passes = false;

    find_function(module, from, &self.begin, &self.end);
    if (over < self.begin || over >= self.end || over == from)
        return false;
    self.open = calloc(self.end - self.begin, sizeof *self.open);
    self.seen = calloc(self.end - self.begin, sizeof *self.seen);
    if (self.open && self.seen) {
        go_on_from(&self, from);
        while (self.open_count > 0 && !self.escaped)
            go_on_from(&self, self.open[--self.open_count]);
        passes = !self.escaped;
    }
    free(self.open);
    free(self.seen);
    return passes;
}

bool cx_ptx_shadow_must_pass(cx_ptx_shadow *shadow, uint32_t from, uint32_t over)
{
    cx_ptx_shadow_fact *fact = fact_of(shadow, from, over);

    if (!fact->known) {
        fact->holds = must_pass(shadow->grid->module, from, over);
        fact->known = true;
    }
    return fact->holds;
}

/* ---- values ---- */

/* Registers of a function that a value has gone to. */
typedef struct flow {
    const cx_ptx_module *module;
    uint32_t value; /* the loaded one; UINT32_MAX: it is changed in place */
    uint32_t *taken;
    size_t count, most;
    bool of_shared;
} flow;

static bool has(const flow *self, uint32_t place)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->taken[i] == place)
            return true;
    return false;
}

static bool stores(const cx_ptx_instruction *at)
{
    return at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64;
}

static bool only_computes(const cx_ptx_instruction *at)
{
    return at->op < CX_PTX_COMPUTED ||
           (at->op >= CX_PTX_ADD_ADDRESS && at->op <= CX_PTX_SUB_CARRY_64);
}

/* True if the instruction lets the value decide something, or leave the memory that it is of. */
static bool ends_in(flow *self, const cx_ptx_instruction *at)
{
    const bool takes = has(self, at->a) || has(self, at->b) || has(self, at->c) || has(self, at->e);

    if (at->op == CX_PTX_MATRIX || at->op == CX_PTX_TEXTURE || at->op == CX_PTX_BULK)
        return true;
    if (stores(at) && !takes)
        return has(self, at->d) &&
               (self->of_shared ? at->space != CX_PTX_SHARED : at->d != self->value);
    if (!takes)
        return false;
    if (!only_computes(at))
        return true;
    if (at->d == self->value)
        self->value = UINT32_MAX; /* the register no longer has it as it is */
    if (!has(self, at->d) && self->count < self->most)
        self->taken[self->count++] = at->d;
    return false;
}

static bool is_used(const cx_ptx_module *module, uint32_t load, bool of_shared)
{
    flow self = {.module = module, .value = module->code[load].d, .of_shared = of_shared};
    uint32_t begin, end;
    size_t before = 0;
    bool used = false;

    if (module->code[load].op == CX_PTX_MATRIX)
        return true;
    find_function(module, load, &begin, &end);
    self.most = end - begin + 1;
    self.taken = calloc(self.most, sizeof *self.taken);
    if (!self.taken)
        return false;
    self.taken[self.count++] = self.value;
    while (!used && before < self.count) {
        before = self.count;
        for (uint32_t place = begin; place < end && !used; place++)
            used = ends_in(&self, &module->code[place]);
    }
    free(self.taken);
    return used;
}

bool cx_ptx_shadow_is_used(cx_ptx_shadow *shadow, uint32_t load, bool of_shared)
{
    cx_ptx_shadow_fact *fact = fact_of(shadow, load, UINT32_MAX - of_shared);

    if (!fact->known) {
        fact->holds = is_used(shadow->grid->module, load, of_shared);
        fact->known = true;
    }
    return fact->holds;
}

static bool takes(const cx_ptx_instruction *at, uint32_t value)
{
    return at->a == value || at->b == value || at->c == value || at->e == value ||
           (stores(at) && at->d == value);
}

bool cx_ptx_shadow_is_taken(const cx_ptx_shadow *shadow, uint32_t load)
{
    const cx_ptx_module *module = shadow->grid->module;
    uint32_t begin, end;

    find_function(module, load, &begin, &end);
    for (uint32_t place = begin; place < end; place++)
        if (takes(&module->code[place], module->code[load].d))
            return true;
    return false;
}
