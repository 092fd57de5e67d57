/* Registers and constants of a function while it is parsed, and the code that names them. */
#include "ptx/growth.h"
#include "ptx/matrix.h"
#include "ptx/parser.h"

#include <string.h>

#define SLOTS_MAX (UINT32_C(1) << 18)
#define CONSTANTS_LOOKED_AT 64
#define PREDICATE_BIT (UINT32_C(1) << 31) /* in a place while the function is parsed */

/* ---- registers ---- */

void cx_ptx_begin_registers(cx_ptx_parser *self)
{
    self->register_count = self->constant_count = 0;
    self->words = CX_PTX_FRAME_WORDS_COUNT;
    self->longs = CX_PTX_FRAME_LONGS_COUNT;
    self->temps.count[0] = self->temps.count[1] = 0;
    self->texture_words = CX_PTX_NO_SLOT;
    cx_ptx_begin_temps(self);
    cx_ptx_constant(self, 0); /* number 0: it is CX_PTX_SLOT_ZERO too */
}

uint32_t cx_ptx_register(cx_ptx_parser *self, uint32_t count, bool is_long)
{
    uint32_t first = (uint32_t)self->register_count;

    if (count > SLOTS_MAX - first) {
        cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "more than %u registers in a function", SLOTS_MAX);
        return CX_PTX_NO_SLOT;
    }
    for (uint32_t i = 0; i < count; i++) {
        void *places = self->places;
        bool grown = cx_ptx_grow(&places, self->register_count, &self->register_capacity,
                                 sizeof *self->places);

        self->places = places;
        if (!grown) {
            cx_ptx_no_memory(self);
            return CX_PTX_NO_SLOT;
        }
        self->places[self->register_count++] =
            is_long ? cx_ptx_place(CX_PTX_FRAME_LONGS, self->longs++)
                    : cx_ptx_place(CX_PTX_FRAME_WORDS, self->words++);
    }
    return CX_PTX_SLOTS_FIXED + first;
}

void cx_ptx_mark_predicates(cx_ptx_parser *self, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        self->places[first - CX_PTX_SLOTS_FIXED + i] |= PREDICATE_BIT;
}

uint32_t cx_ptx_constant(cx_ptx_parser *self, uint64_t bits)
{
    void *constants = self->constants;
    size_t looked_at = 0;
    bool grown;

    for (size_t i = self->constant_count; i > 0 && looked_at < CONSTANTS_LOOKED_AT; looked_at++)
        if (self->constants[--i] == bits)
            return (uint32_t)i | CX_PTX_CONSTANT_BIT;
    grown = cx_ptx_grow(&constants, self->constant_count, &self->constant_capacity, sizeof bits);
    self->constants = constants;
    if (!grown || self->constant_count >= SLOTS_MAX) {
        cx_ptx_fail(self, CX_PTX_NO_MEMORY, "too many constants");
        return CX_PTX_NO_SLOT;
    }
    self->constants[self->constant_count] = bits;
    return (uint32_t)self->constant_count++ | CX_PTX_CONSTANT_BIT;
}

/* ---- temporary registers ---- */

void cx_ptx_begin_temps(cx_ptx_parser *self)
{
    self->temps.used = self->temps.taken[0] = self->temps.taken[1] = 0;
    self->named.count = 0;
}

uint32_t cx_ptx_temp(cx_ptx_parser *self)
{
    cx_ptx_temps *temps = &self->temps;

    if (temps->used == CX_PTX_TEMPS_MAX) {
        cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "an instruction of more than %u steps",
                    CX_PTX_TEMPS_MAX);
        return CX_PTX_NO_SLOT;
    }
    temps->slots[temps->used] = CX_PTX_NO_SLOT;
    return temps->used++ | CX_PTX_TEMP_BIT;
}

static uint32_t take_from_pool(cx_ptx_parser *self, bool is_long)
{
    cx_ptx_temps *temps = &self->temps;

    if (temps->taken[is_long] == CX_PTX_TEMPS_MAX) {
        cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "an instruction of more than %u steps",
                    CX_PTX_TEMPS_MAX);
        return CX_PTX_NO_SLOT;
    }
    if (temps->taken[is_long] == temps->count[is_long])
        temps->pool[is_long][temps->count[is_long]++] = cx_ptx_register(self, 1, is_long);
    return temps->pool[is_long][temps->taken[is_long]++];
}

static bool is_temp(uint32_t slot)
{
    return slot != CX_PTX_NO_SLOT && !(slot & CX_PTX_CONSTANT_BIT) && (slot & CX_PTX_TEMP_BIT);
}

/* Replaces a temporary register by the one behind it. */
static bool settle(cx_ptx_parser *self, uint32_t *slot, bool is_long)
{
    uint32_t *known;

    if (!is_temp(*slot))
        return true;
    known = &self->temps.slots[*slot & ~CX_PTX_TEMP_BIT];
    if (*known == CX_PTX_NO_SLOT)
        *known = take_from_pool(self, is_long);
    *slot = *known;
    return *slot != CX_PTX_NO_SLOT;
}

/* ---- instructions ---- */

/* True if an operation that ops.def does not have gives 8 bytes, or may do so. */
static bool gives_long(const cx_ptx_instruction *what)
{
    switch ((cx_ptx_op)what->op) {
    case CX_PTX_CONVERT:
    case CX_PTX_EXTEND:
        return cx_ptx_type_bytes((cx_ptx_type)what->type) == 8;
    case CX_PTX_PACK:
        return what->size > 2;
    case CX_PTX_UNPACK:
        return what->size > 4;
    case CX_PTX_ATOMIC:
        return what->size == 8;
    case CX_PTX_IS_WINDOW:
    case CX_PTX_IS_GLOBAL:
    case CX_PTX_IS_CONSTANT:
    case CX_PTX_BFI_32:
    case CX_PTX_LOP3:
    case CX_PTX_VIDEO:
    case CX_PTX_ADD_CARRY_32:
    case CX_PTX_SUB_CARRY_32:
    case CX_PTX_CLOCK_32:
    case CX_PTX_CLOCK_HIGH:
    case CX_PTX_CLUSTER_REGISTER:
    case CX_PTX_RANK_OF_SHARED:
    case CX_PTX_TEXTURE:
    case CX_PTX_WARP:
    case CX_PTX_BARRIER:
    case CX_PTX_ACTIVE_MASK:
        return false;
    default:
        return true;
    }
}

/* True if the slot is a long, or a word, whichever is wanted. */
static bool fits(const cx_ptx_parser *self, uint32_t slot, bool is_long)
{
    if (slot == CX_PTX_SLOT_ZERO || (slot & CX_PTX_CONSTANT_BIT))
        return true;
    if (slot < CX_PTX_SLOTS_FIXED)
        return cx_ptx_is_long(cx_ptx_fixed_place(slot)) == is_long;
    return cx_ptx_is_long(self->places[slot - CX_PTX_SLOTS_FIXED]) == is_long;
}

static bool takes_array(const cx_ptx_instruction *what)
{
    return what->a == CX_PTX_SLOT_SHARED && what->op != CX_PTX_ARGUMENT &&
           what->op != CX_PTX_RESULT;
}

static bool append(cx_ptx_parser *self, cx_ptx_instruction instruction)
{
    cx_ptx_module *module = self->module;
    void *code = module->code;
    bool grown = cx_ptx_grow(&code, module->code_count, &module->code_capacity, sizeof instruction);

    module->code = code;
    if (!grown)
        return cx_ptx_no_memory(self);
    instruction.line = self->line;
    if (takes_array(&instruction) && !cx_ptx_note_array(self))
        return false;
    module->code[module->code_count++] = instruction;
    return true;
}

static bool append_move(cx_ptx_parser *self, uint32_t d, uint32_t a)
{
    return append(self,
                  (cx_ptx_instruction){
                      .op = CX_PTX_EXTEND, .type = CX_PTX_B64, .from = CX_PTX_B64, .d = d, .a = a});
}

static bool fit_operand(cx_ptx_parser *self, uint32_t *slot, bool is_long)
{
    uint32_t moved;

    if (fits(self, *slot, is_long))
        return true;
    moved = take_from_pool(self, is_long);
    if (moved == CX_PTX_NO_SLOT || !append_move(self, moved, *slot))
        return false;
    *slot = moved;
    return true;
}

/* The operations of ops.def take their operands as they are. */
static bool append_computed(cx_ptx_parser *self, cx_ptx_instruction done)
{
    uint32_t *const operands[] = {&done.a, &done.b, &done.c}, result = done.d;
    bool is_long = cx_ptx_op_takes_long(done.op, 3);

    for (int i = 0; i < cx_ptx_op_arity(done.op); i++)
        if (!fit_operand(self, operands[i], cx_ptx_op_takes_long(done.op, i)))
            return false;
    if (fits(self, result, is_long))
        return append(self, done);
    done.d = take_from_pool(self, is_long);
    return done.d != CX_PTX_NO_SLOT && append(self, done) && append_move(self, result, done.d);
}

/* The registers of a matrix instruction, besides its address. */
static bool settle_matrix(cx_ptx_parser *self, cx_ptx_matrix *what)
{
    for (int part = 0; part < CX_PTX_MATRIX_PARTS; part++) {
        cx_ptx_fragment *fragment = &what->parts[part];

        for (unsigned i = 0; i < fragment->count; i++)
            if (!settle(self, &fragment->places[i], fragment->element == CX_PTX_ELEMENT_F64))
                return false;
    }
    return true;
}

bool cx_ptx_emit(cx_ptx_parser *self, cx_ptx_instruction done)
{
    bool computed = done.op < CX_PTX_COMPUTED;

    if (done.op == CX_PTX_ARGUMENT || done.op == CX_PTX_RESULT)
        return append(self, done);
    if (done.op == CX_PTX_MATRIX)
        return settle(self, &done.a, true) && settle(self, &done.b, false) &&
               settle_matrix(self, &self->module->matrices[done.c]) && append(self, done);
    if (!settle(self, &done.a, true) || !settle(self, &done.b, true) ||
        !settle(self, &done.c, true) || !settle(self, &done.e, true) ||
        !settle(self, &done.d, computed ? cx_ptx_op_takes_long(done.op, 3) : gives_long(&done)))
        return false;
    if (done.op == CX_PTX_WARP && !settle(self, &done.site, false))
        return false;
    return computed ? append_computed(self, done) : append(self, done);
}

/* ---- the end of a function ---- */

/* The rows of constants: those that an instruction takes as words, and as longs. */
typedef struct constant_rows {
    uint32_t *row[2]; /* for each constant: its row and 1, 0: it has none */
    uint32_t count[2];
} constant_rows;

static uint32_t place_of_constant(constant_rows *rows, uint32_t index, bool is_long)
{
    uint32_t *row = &rows->row[is_long][index];

    if (*row == 0)
        *row = ++rows->count[is_long];
    return cx_ptx_place(is_long ? CX_PTX_CONSTANT_LONGS : CX_PTX_CONSTANT_WORDS, *row - 1);
}

static uint32_t final_place(const cx_ptx_parser *self, constant_rows *rows, uint32_t slot,
                            bool is_long)
{
    if (slot == CX_PTX_NO_SLOT)
        return slot;
    if (slot & CX_PTX_CONSTANT_BIT)
        return place_of_constant(rows, slot & ~CX_PTX_CONSTANT_BIT, is_long);
    if (slot == CX_PTX_SLOT_ZERO)
        return place_of_constant(rows, 0, is_long);
    return slot < CX_PTX_SLOTS_FIXED ? cx_ptx_fixed_place(slot)
                                     : self->places[slot - CX_PTX_SLOTS_FIXED] & ~PREDICATE_BIT;
}

static void finish_matrix(const cx_ptx_parser *self, constant_rows *rows, cx_ptx_instruction *each)
{
    cx_ptx_matrix *what = &self->module->matrices[each->c];

    each->a = final_place(self, rows, each->a, true);
    each->b = final_place(self, rows, each->b, false);
    each->e = final_place(self, rows, each->e, false);
    each->d = CX_PTX_NO_SLOT;
    for (int part = 0; part < CX_PTX_MATRIX_PARTS; part++) {
        cx_ptx_fragment *fragment = &what->parts[part];

        for (unsigned i = 0; i < fragment->count; i++)
            fragment->places[i] = final_place(self, rows, fragment->places[i],
                                              fragment->element == CX_PTX_ELEMENT_F64);
    }
}

/* Constants are words, as the operands of joint operations are; values that match may be longs. */
static void finish_joint(const cx_ptx_parser *self, constant_rows *rows, cx_ptx_instruction *each)
{
    each->a = final_place(self, rows, each->a, cx_ptx_type_bytes((cx_ptx_type)each->type) == 8);
    each->b = final_place(self, rows, each->b, false);
    each->c = final_place(self, rows, each->c, false);
    each->d = final_place(self, rows, each->d, false);
    each->e = final_place(self, rows, each->e, false);
    each->site = final_place(self, rows, each->site, false);
}

static void finish_code(const cx_ptx_parser *self, constant_rows *rows, size_t begin)
{
    for (size_t i = begin; i < self->module->code_count; i++) {
        cx_ptx_instruction *each = &self->module->code[i];
        bool computed = each->op < CX_PTX_COMPUTED;

        if (each->op == CX_PTX_ARGUMENT || each->op == CX_PTX_RESULT)
            continue;
        if (each->op == CX_PTX_MATRIX) {
            finish_matrix(self, rows, each);
            continue;
        }
        if (each->op == CX_PTX_WARP) {
            finish_joint(self, rows, each);
            continue;
        }
        each->a = final_place(self, rows, each->a, !computed || cx_ptx_op_takes_long(each->op, 0));
        each->b = final_place(self, rows, each->b, !computed || cx_ptx_op_takes_long(each->op, 1));
        each->c = final_place(self, rows, each->c, !computed || cx_ptx_op_takes_long(each->op, 2));
        each->d = final_place(self, rows, each->d, !computed || cx_ptx_op_takes_long(each->op, 3));
        each->e = final_place(self, rows, each->e, true);
    }
}

static bool fill_constants(cx_ptx_parser *self, const constant_rows *rows)
{
    cx_ptx_function *function = cx_ptx_current(self);
    size_t longs = rows->count[1] * CX_PTX_LONGS_BYTES, words = rows->count[0] * CX_PTX_WORDS_BYTES;
    unsigned char *memory = aligned_alloc(CX_PTX_ROW_ALIGN, longs + words + CX_PTX_ROW_ALIGN);

    if (!memory)
        return cx_ptx_no_memory(self);
    function->constant_longs = memory;
    function->constant_words = memory + longs;
    for (size_t i = 0; i < self->constant_count; i++)
        for (uint32_t lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
            if (rows->row[1][i])
                ((cx_ptx_long *)(void *)memory)[(rows->row[1][i] - 1) * CX_PTX_WARP_SIZE + lane] =
                    self->constants[i];
            if (rows->row[0][i])
                ((cx_ptx_word *)(void *)
                     function->constant_words)[(rows->row[0][i] - 1) * CX_PTX_WARP_SIZE + lane] =
                    (uint32_t)self->constants[i];
        }
    return true;
}

static bool note_predicates(cx_ptx_parser *self)
{
    cx_ptx_function *function = cx_ptx_current(self);

    function->predicates = calloc(self->words, sizeof *function->predicates);
    if (!function->predicates)
        return cx_ptx_no_memory(self);
    for (size_t i = 0; i < self->register_count; i++)
        if (self->places[i] & PREDICATE_BIT)
            function->predicates[(self->places[i] & ~PREDICATE_BIT) / CX_PTX_WORDS_BYTES] = true;
    return true;
}

bool cx_ptx_finish_registers(cx_ptx_parser *self)
{
    cx_ptx_function *function = cx_ptx_current(self);
    size_t count = self->constant_count + 1;
    constant_rows rows = {.row = {calloc(2 * count, sizeof *rows.row[0])}};
    bool done = rows.row[0] != NULL || cx_ptx_no_memory(self);

    rows.row[1] = rows.row[0] + count;
    if (done)
        finish_code(self, &rows, function->begin);
    function->words = self->words;
    function->longs = self->longs;
    done = done && fill_constants(self, &rows) && note_predicates(self);
    free(rows.row[0]);
    return done;
}
