/*
 * Which variable in shared memory an access goes through: the one whose address its address was
 * computed of, if that is the same one on every way. Registers are followed through a function, and
 * within a block of code each by its latest value. A sum of an address and a number is of the
 * variable of the address; whatever else takes an address gives one that nothing is known of.
 */
#include "ptx/matrix.h"
#include "ptx/shadow_state.h"
#include "ptx/texture.h"

#include <stdlib.h>

enum { PASSES_MOST = 16 }; /* the rounds that a function may take */

/* What a register has: the number of an array from FIRST_ARRAY on, or one of the others. */
enum { NOTHING, NUMBER, UNKNOWN, FIRST_ARRAY };

/* One function. */
typedef struct walk {
    const cx_ptx_module *module;
    const cx_ptx_function *function;
    uint32_t begin, end;
    uint32_t registers;
    uint32_t *whole;  /* what each register may have anywhere */
    uint32_t *latest; /* in this block of the code, */
    uint32_t *block;  /* if that is the block's number */
    bool *begins;     /* for each instruction: a way from elsewhere leads to it */
    uint32_t number;  /* of the block */
    size_t use;       /* the next one of the module's uses of arrays */
    bool changed;
} walk;

static uint32_t join(uint32_t one, uint32_t other)
{
    if (one == NOTHING || one == other)
        return other;
    return other == NOTHING ? one : UNKNOWN;
}

/* registers: it is none of the function. */
static uint32_t register_of(const walk *self, uint32_t place)
{
    switch (place & CX_PTX_FILE_MASK) {
    case CX_PTX_FRAME_WORDS:
        return place / (uint32_t)CX_PTX_WORDS_BYTES;
    case CX_PTX_FRAME_LONGS:
        return self->function->words + place / (uint32_t)CX_PTX_LONGS_BYTES;
    default:
        return self->registers;
    }
}

static uint32_t value_at(const walk *self, uint32_t place)
{
    const uint32_t which = register_of(self, place);

    if (place == cx_ptx_fixed_place(CX_PTX_SLOT_SHARED) ||
        place == cx_ptx_fixed_place(CX_PTX_SLOT_DYNAMIC))
        return UNKNOWN;
    if (which >= self->registers)
        return NUMBER;
    return self->block[which] == self->number ? self->latest[which] : self->whole[which];
}

static void write_at(walk *self, uint32_t place, uint32_t value)
{
    const uint32_t which = register_of(self, place);

    if (which >= self->registers)
        return;
    self->latest[which] = value;
    self->block[which] = self->number;
    value = join(self->whole[which], value);
    self->changed |= value != self->whole[which];
    self->whole[which] = value;
}

/* ---- what an instruction gives ---- */

static bool is_array(uint32_t value)
{
    return value >= FIRST_ARRAY;
}

static uint32_t sum_of(uint32_t one, uint32_t other)
{
    if (one == NOTHING || other == NOTHING)
        return NOTHING;
    if (one == NUMBER || other == NUMBER)
        return one == NUMBER ? other : one;
    return UNKNOWN;
}

static uint32_t difference_of(uint32_t one, uint32_t other)
{
    return is_array(other) ? UNKNOWN : sum_of(one, other);
}

/* A number, if all of its operands are numbers. */
static uint32_t any_of(uint32_t one, uint32_t other)
{
    if (one == NOTHING || other == NOTHING)
        return NOTHING;
    return one == NUMBER && other == NUMBER ? NUMBER : UNKNOWN;
}

/* The array whose address the instruction takes. */
static uint32_t value_named(walk *self, uint32_t place)
{
    const cx_ptx_module *module = self->module;
    uint32_t array;

    while (self->use < module->array_use_count && module->array_uses[self->use].code < place)
        self->use++;
    if (self->use == module->array_use_count || module->array_uses[self->use].code != place)
        return UNKNOWN;
    array = module->array_uses[self->use].array;
    return array == CX_PTX_NO_ARRAY ? UNKNOWN : FIRST_ARRAY + array;
}

static bool names_array(const cx_ptx_instruction *at)
{
    return at->op != CX_PTX_ARGUMENT && at->op != CX_PTX_RESULT && at->op != CX_PTX_MATRIX &&
           at->a == cx_ptx_fixed_place(CX_PTX_SLOT_SHARED);
}

static uint32_t address_at(walk *self, uint32_t place)
{
    const cx_ptx_instruction *at = &self->module->code[place];

    return names_array(at) ? value_named(self, place) : value_at(self, at->a);
}

static uint32_t value_computed(walk *self, uint32_t place)
{
    const cx_ptx_instruction *at = &self->module->code[place];
    const int arity = cx_ptx_op_arity(at->op);
    const uint32_t a = address_at(self, place);
    const uint32_t b = arity > 1 ? value_at(self, at->b) : NUMBER;
    const uint32_t c = arity > 2 ? value_at(self, at->c) : NUMBER;

    switch ((cx_ptx_op)at->op) {
    case CX_PTX_OP_mov_b32:
    case CX_PTX_OP_mov_u32:
    case CX_PTX_OP_mov_s32:
    case CX_PTX_OP_mov_b64:
    case CX_PTX_OP_mov_u64:
    case CX_PTX_OP_mov_s64:
    case CX_PTX_OP_move_u64_u32:
    case CX_PTX_OP_move_s64_s32:
    case CX_PTX_OP_move_u32_u64:
        return a;
    case CX_PTX_OP_add_u32:
    case CX_PTX_OP_add_s32:
    case CX_PTX_OP_add_u64:
    case CX_PTX_OP_add_s64:
        return sum_of(a, b);
    case CX_PTX_OP_sub_u32:
    case CX_PTX_OP_sub_s32:
    case CX_PTX_OP_sub_u64:
    case CX_PTX_OP_sub_s64:
        return difference_of(a, b);
    case CX_PTX_OP_mad_lo_u32:
    case CX_PTX_OP_mad_lo_s32:
    case CX_PTX_OP_mad_lo_u64:
    case CX_PTX_OP_mad_lo_s64:
    case CX_PTX_OP_mad_wide_u32:
    case CX_PTX_OP_mad_wide_s32:
        return sum_of(any_of(a, b), c);
    case CX_PTX_OP_selp_b32:
    case CX_PTX_OP_selp_u32:
    case CX_PTX_OP_selp_s32:
    case CX_PTX_OP_selp_b64:
    case CX_PTX_OP_selp_u64:
    case CX_PTX_OP_selp_s64:
        return a == NOTHING || b == NOTHING ? NOTHING : join(a, b);
    default:
        return any_of(any_of(a, b), c);
    }
}

/* A part of an address is no address. */
static uint32_t value_moved(walk *self, uint32_t place)
{
    const cx_ptx_instruction *at = &self->module->code[place];
    const uint32_t value = address_at(self, place);

    if (at->op == CX_PTX_EXTEND && (cx_ptx_type_bytes((cx_ptx_type)at->type) < 4 ||
                                    cx_ptx_type_bytes((cx_ptx_type)at->from) < 4))
        return any_of(value, NUMBER);
    return value;
}

static bool stores(const cx_ptx_instruction *at)
{
    return (at->op >= CX_PTX_STORE_8 && at->op <= CX_PTX_STORE_64) || at->op == CX_PTX_BULK ||
           at->op == CX_PTX_COPY_ASYNC;
}

static void write_matrix(walk *self, const cx_ptx_instruction *at)
{
    const cx_ptx_matrix *what = &self->module->matrices[at->c];

    for (int part = 0; part < CX_PTX_MATRIX_PARTS; part++)
        for (unsigned i = 0; i < what->parts[part].count; i++)
            if (part == CX_PTX_MATRIX_D || at->mode == CX_PTX_MATRIX_LOAD)
                write_at(self, what->parts[part].places[i], NUMBER);
}

/* Loads, calls and other instructions whose results are not followed give numbers: what such a one
 * points to is not known, and where it is added to an address, it is an offset. */
static void write_rest(walk *self, const cx_ptx_instruction *at)
{
    if (at->op == CX_PTX_MATRIX) {
        write_matrix(self, at);
        return;
    }
    if (at->op == CX_PTX_ARGUMENT || at->op == CX_PTX_RESULT || stores(at))
        return;
    write_at(self, at->d, NUMBER);
    if (at->op == CX_PTX_ACCESS_128)
        write_at(self, at->d + (uint32_t)CX_PTX_LONGS_BYTES, NUMBER);
    if (at->op == CX_PTX_WARP)
        write_at(self, at->site, NUMBER);
    for (uint32_t i = 1; at->op == CX_PTX_TEXTURE && i < CX_PTX_TEXTURE_RESULTS; i++)
        write_at(self, at->d + i * (uint32_t)CX_PTX_WORDS_BYTES, NUMBER);
}

/* Bits of an address that are taken out or set may be of another array. */
static void write_mixed(walk *self, const cx_ptx_instruction *at)
{
    const uint32_t a = value_at(self, at->a), b = value_at(self, at->b), c = value_at(self, at->c);

    write_at(self, at->d, any_of(any_of(a, b), c));
}

static void follow(walk *self, uint32_t place)
{
    const cx_ptx_instruction *at = &self->module->code[place];

    if (at->op < CX_PTX_COMPUTED) {
        write_at(self, at->d, value_computed(self, place));
        return;
    }
    switch ((cx_ptx_op)at->op) {
    case CX_PTX_ADD_ADDRESS:
    case CX_PTX_TO_WINDOW:
    case CX_PTX_EXTEND:
    case CX_PTX_CONVERT:
        write_at(self, at->d, value_moved(self, place));
        break;
    case CX_PTX_PACK:
    case CX_PTX_BFI_32:
    case CX_PTX_BFI_64:
    case CX_PTX_LOP3:
    case CX_PTX_VIDEO:
    case CX_PTX_ADD_CARRY_32:
    case CX_PTX_ADD_CARRY_64:
    case CX_PTX_SUB_CARRY_32:
    case CX_PTX_SUB_CARRY_64:
        write_mixed(self, at);
        break;
    case CX_PTX_UNPACK:
    case CX_PTX_MAP_SHARED:
        write_at(self, at->d, any_of(value_at(self, at->a), NUMBER));
        break;
    case CX_PTX_WARP: /* lanes may exchange addresses */
        write_rest(self, at);
        write_at(self, at->d, any_of(value_at(self, at->a), NUMBER));
        break;
    default:
        write_rest(self, at);
    }
}

/* ---- functions ---- */

static void mark_begin(walk *self, uint64_t place)
{
    if (place >= self->begin && place < self->end)
        self->begins[place - self->begin] = true;
}

static void find_blocks(walk *self)
{
    for (uint32_t place = self->begin; place < self->end; place++) {
        const cx_ptx_instruction *at = &self->module->code[place];

        if (at->op >= CX_PTX_BRANCH && at->op <= CX_PTX_BRANCH_UNLESS_BACK) {
            mark_begin(self, (uint64_t)at->immediate);
            mark_begin(self, place + UINT64_C(1));
        } else if (at->op == CX_PTX_BRANCH_INDEX) {
            const uint32_t *targets = self->module->targets + at->immediate;

            for (uint32_t i = 0; i < targets[0]; i++)
                mark_begin(self, targets[1 + i]);
            mark_begin(self, place + UINT64_C(1));
        }
    }
}

static void walk_once(walk *self, uint32_t *found)
{
    const size_t use = self->use;

    for (uint32_t place = self->begin; place < self->end; place++) {
        uint32_t value;

        if (self->begins[place - self->begin] || place == self->begin)
            self->number++;
        value = address_at(self, place);
        found[place] = is_array(value) ? value - FIRST_ARRAY + 1 : 0;
        follow(self, place);
    }
    self->use = use;
}

/* False: no memory, or no end; then nothing of it is known. */
static bool walk_function(walk *self, uint32_t *found)
{
    uint32_t *room = calloc(3 * (size_t)self->registers + 1, sizeof *room);
    int passes = 0;

    self->begins = calloc(self->end - self->begin + (size_t)1, sizeof *self->begins);
    self->changed = room && self->begins;
    if (self->changed) {
        self->whole = room;
        self->latest = room + self->registers;
        self->block = room + 2 * (size_t)self->registers;
        find_blocks(self);
        while (self->changed && passes++ < PASSES_MOST) {
            self->changed = false;
            walk_once(self, found);
        }
    } else {
        self->changed = true;
    }
    free(room);
    free(self->begins);
    return !self->changed;
}

static uint32_t end_of(const cx_ptx_module *module, size_t begin)
{
    size_t end = module->code_count;

    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i].defined && module->functions[i].begin > begin &&
            module->functions[i].begin < end)
            end = module->functions[i].begin;
    return (uint32_t)end;
}

static void find_in(const cx_ptx_module *module, const cx_ptx_function *function, uint32_t *found)
{
    walk self = {.module = module,
                 .function = function,
                 .begin = (uint32_t)function->begin,
                 .end = end_of(module, function->begin),
                 .registers = function->words + function->longs};

    while (self.use < module->array_use_count &&
           module->array_uses[self.use].code < function->begin)
        self.use++;
    if (self.use == module->array_use_count || module->array_uses[self.use].code >= self.end)
        return;
    if (!walk_function(&self, found))
        for (uint32_t place = self.begin; place < self.end; place++)
            found[place] = 0;
}

const uint32_t *cx_ptx_shadow_arrays_find(const cx_ptx_module *module)
{
    /* Threads that run the module at the same time find the same. */
    _Atomic(uint32_t *) *const kept = (_Atomic(uint32_t *) *)(uintptr_t)&module->array_of;
    uint32_t *found = atomic_load(kept), *earlier = NULL;

    if (found || module->array_use_count == 0)
        return found;
    found = calloc(module->code_count + 1, sizeof *found);
    if (!found)
        return NULL;
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i].defined)
            find_in(module, &module->functions[i], found);
    if (atomic_compare_exchange_strong(kept, &earlier, found))
        return found;
    free(found);
    return earlier;
}
