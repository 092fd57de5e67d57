/* Registers of 128 bits: two longs, the lower one first. */
#include "ptx/parser.h"
#include "ptx/wide.h"

#define HALVES 2

/* The halves of a register, a number or a sink. */
typedef struct pair {
    uint32_t halves[HALVES];
} pair;

#define NO_PAIR {{CX_PTX_NO_SLOT, CX_PTX_NO_SLOT}}

static bool is_wide_register(const cx_ptx_operand *operand)
{
    return operand->kind == CX_PTX_OPERAND_REGISTER && operand->type == CX_PTX_B128 &&
           !operand->negated;
}

static bool take_value(cx_ptx_parser *self, const cx_ptx_operand *operand, pair *out)
{
    if (is_wide_register(operand)) {
        *out = (pair){{operand->slot, operand->slot + 1}};
        return true;
    }
    if (operand->kind != CX_PTX_OPERAND_NUMBER)
        return CX_PTX_INVALID_AT(self, "the type of '%.*s' does not fit the instruction",
                                 CX_PTX_QUOTE(&operand->token));
    for (int i = 0; i < HALVES; i++)
        out->halves[i] =
            cx_ptx_constant(self, i == 0 ? operand->bits : (uint64_t)0 - (operand->bits >> 63));
    return out->halves[0] != CX_PTX_NO_SLOT && out->halves[1] != CX_PTX_NO_SLOT;
}

static bool take_result(cx_ptx_parser *self, const cx_ptx_operand *operand, pair *out)
{
    uint32_t slot = operand->slot;

    if (operand->kind == CX_PTX_OPERAND_SINK)
        slot = cx_ptx_register(self, HALVES, true);
    else if (!is_wide_register(operand))
        return CX_PTX_INVALID_AT(self, "'%.*s' is no register of 128 bits",
                                 CX_PTX_QUOTE(&operand->token));
    *out = (pair){{slot, slot + 1}};
    return slot != CX_PTX_NO_SLOT;
}

static bool emit_move(cx_ptx_parser *self, uint32_t to, uint32_t from)
{
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_OP_mov_b64, .d = to, .a = from});
}

static bool emit_moves(cx_ptx_parser *self, const pair *to, const pair *from)
{
    return emit_move(self, to->halves[0], from->halves[0]) &&
           emit_move(self, to->halves[1], from->halves[1]);
}

/* ---- mov ---- */

/* True if the vector has two or four parts that fit. */
static bool check_parts(cx_ptx_parser *self, const cx_ptx_statement *statement,
                        const cx_ptx_operand *vector)
{
    if (vector->count != 2 && vector->count != 4)
        return cx_ptx_wrong(self, statement, "wrong number of parts");
    for (unsigned i = 0; i < vector->count; i++)
        if (!cx_ptx_check_part(self, vector, i, vector->count == 2 ? CX_PTX_B64 : CX_PTX_B32,
                               false))
            return false;
    return true;
}

/* mov.b128 d, {low, high} or {a, b, c, d} */
static bool encode_pack(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_operand *vector = &statement->operands[1];
    pair d = NO_PAIR;

    if (!check_parts(self, statement, vector) || !take_result(self, &statement->operands[0], &d))
        return false;
    if (vector->count == 2)
        return emit_moves(self, &d, &(pair){{vector->parts[0], vector->parts[1]}});
    for (int i = 0; i < HALVES; i++)
        if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                    .size = 4,
                                                    .d = d.halves[i],
                                                    .a = vector->parts[2 * i],
                                                    .b = vector->parts[2 * i + 1]}))
            return false;
    return true;
}

/* mov.b128 {low, high}, a or {a, b, c, d}, a */
static bool encode_unpack(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_operand *vector = &statement->operands[0];
    pair a = NO_PAIR;

    if (!check_parts(self, statement, vector) || !take_value(self, &statement->operands[1], &a))
        return false;
    for (unsigned i = 0; i < vector->count; i++)
        if (vector->parts[i] < CX_PTX_SLOTS_FIXED || (vector->parts[i] & CX_PTX_CONSTANT_BIT))
            return cx_ptx_wrong(self, statement, "a part cannot be written");
    if (vector->count == 2)
        return emit_moves(self, &(pair){{vector->parts[0], vector->parts[1]}}, &a);
    for (unsigned i = 0; i < vector->count; i++)
        if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                    .size = 4,
                                                    .mode = (uint8_t)(i % HALVES),
                                                    .d = vector->parts[i],
                                                    .a = a.halves[i / HALVES]}))
            return false;
    return true;
}

bool cx_ptx_encode_wide_mov(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    pair d = NO_PAIR, a = d;

    if (statement->operands[1].kind == CX_PTX_OPERAND_VECTOR)
        return encode_pack(self, statement);
    if (statement->operands[0].kind == CX_PTX_OPERAND_VECTOR)
        return encode_unpack(self, statement);
    return take_value(self, &statement->operands[1], &a) &&
           take_result(self, &statement->operands[0], &d) && emit_moves(self, &d, &a);
}

/* ---- ld, st, atom ---- */

/* An access names pairs by their first halves; others are copied into one. */
static bool settle_pair(cx_ptx_parser *self, const cx_ptx_operand *operand, uint32_t *out_slot)
{
    pair value = NO_PAIR, copy;

    if (!take_value(self, operand, &value))
        return false;
    *out_slot = value.halves[0];
    if (is_wide_register(operand))
        return true;
    *out_slot = cx_ptx_register(self, HALVES, true);
    copy = (pair){{*out_slot, *out_slot + 1}};
    return *out_slot != CX_PTX_NO_SLOT && emit_moves(self, &copy, &value);
}

/* Loads and stores that need not be done at once. */
static bool emit_halves(cx_ptx_parser *self, cx_ptx_instruction done, const pair *value,
                        bool stores)
{
    done.op = stores ? CX_PTX_STORE_64 : CX_PTX_LOAD_U64;
    done.size = 8;
    for (int i = 0; i < HALVES; i++) {
        done.align = i == 0 ? 16 : 8;
        done.site = self->module->sites++;
        done.d = value->halves[i];
        if (!cx_ptx_emit(self, done))
            return false;
        done.immediate = (int64_t)((uint64_t)done.immediate + 8);
    }
    return true;
}

static bool emit_access(cx_ptx_parser *self, cx_ptx_instruction done, cx_ptx_wide_mode mode)
{
    done.op = CX_PTX_ACCESS_128;
    done.mode = (uint8_t)mode;
    done.size = done.align = 16;
    done.site = self->module->sites++;
    return cx_ptx_emit(self, done);
}

bool cx_ptx_encode_wide_access(cx_ptx_parser *self, const cx_ptx_operand *value,
                               cx_ptx_instruction done, bool stores, bool at_once)
{
    pair halves = NO_PAIR;

    if (stores && at_once)
        return settle_pair(self, value, &done.b) && emit_access(self, done, CX_PTX_WIDE_STORE);
    if (!(stores ? take_value(self, value, &halves) : take_result(self, value, &halves)))
        return false;
    if (!at_once)
        return emit_halves(self, done, &halves, stores);
    done.d = halves.halves[0];
    return emit_access(self, done, CX_PTX_WIDE_LOAD);
}

/* Between the parts of a vector and a long: one part of 64 bits, or two of 32. */
static bool emit_parts(cx_ptx_parser *self, const uint32_t *parts, unsigned count, uint32_t whole,
                       bool stores)
{
    if (count == 1)
        return emit_move(self, stores ? whole : parts[0], stores ? parts[0] : whole);
    if (stores)
        return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                      .size = 4,
                                                      .d = whole,
                                                      .a = parts[0],
                                                      .b = parts[1]});
    for (unsigned i = 0; i < count; i++)
        if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                    .size = 4,
                                                    .mode = (uint8_t)i,
                                                    .d = parts[i],
                                                    .a = whole}))
            return false;
    return true;
}

bool cx_ptx_encode_vector_at_once(cx_ptx_parser *self, const cx_ptx_operand *vector,
                                  unsigned part_bytes, cx_ptx_instruction done, bool stores)
{
    const unsigned in_long = 8 / part_bytes, longs = vector->count / in_long;
    uint32_t whole = cx_ptx_register(self, HALVES, true);

    if (whole == CX_PTX_NO_SLOT)
        return false;
    for (unsigned i = 0; stores && i < longs; i++)
        if (!emit_parts(self, vector->parts + i * in_long, in_long, whole + i, true))
            return false;
    *(stores && longs == HALVES ? &done.b : &done.d) = whole;
    if (longs == HALVES) {
        if (!emit_access(self, done, stores ? CX_PTX_WIDE_STORE : CX_PTX_WIDE_LOAD))
            return false;
    } else {
        done.op = stores ? CX_PTX_STORE_64 : CX_PTX_LOAD_U64;
        done.size = done.align = 8;
        done.site = self->module->sites++;
        if (!cx_ptx_emit(self, done))
            return false;
    }
    for (unsigned i = 0; !stores && i < longs; i++)
        if (!emit_parts(self, vector->parts + i * in_long, in_long, whole + i, false))
            return false;
    return true;
}

bool cx_ptx_encode_wide_atom(cx_ptx_parser *self, const cx_ptx_statement *statement,
                             cx_ptx_instruction done)
{
    const cx_ptx_operand *operands = statement->operands;
    bool swaps = done.mode == CX_PTX_ATOMIC_SWAP;
    pair d = NO_PAIR;

    if (!take_result(self, &operands[0], &d) || !settle_pair(self, &operands[2], &done.b) ||
        (swaps && !settle_pair(self, &operands[3], &done.c)))
        return false;
    done.d = d.halves[0];
    return emit_access(self, done, swaps ? CX_PTX_WIDE_SWAP : CX_PTX_WIDE_EXCHANGE);
}
