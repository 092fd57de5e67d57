/* Instructions that only compute. */
#include "ptx/parser.h"

#include <string.h>

#define KEY_MAX 48

enum { FLUSHED = 1, SATURATED = 2, RELU = 4, APPROXIMATE = 8 };

/* Words that are no part of a key: results are rounded to nearest, approximations are exact. */
static bool is_dropped(const cx_ptx_token *word)
{
    return cx_ptx_token_is(word, "rn") || cx_ptx_token_is(word, "full");
}

static unsigned modifier_of(const cx_ptx_token *word)
{
    if (cx_ptx_token_is(word, "ftz"))
        return FLUSHED;
    if (cx_ptx_token_is(word, "sat"))
        return SATURATED;
    if (cx_ptx_token_is(word, "relu"))
        return RELU;
    return cx_ptx_token_is(word, "approx") ? APPROXIMATE : 0;
}

/* The opcode without dropped words and those modifiers, or CX_PTX_NO_OP. */
static uint16_t find_op(const cx_ptx_token *opcode, unsigned without, unsigned *out_found)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;
    char key[KEY_MAX];
    size_t length = 0;

    *out_found = 0;
    while (cx_ptx_next_word(&words, &word)) {
        unsigned modifier = modifier_of(&word) & without;

        *out_found |= modifier;
        if (is_dropped(&word) || modifier)
            continue;
        if (length + word.length + 2 > KEY_MAX)
            return CX_PTX_NO_OP;
        if (length > 0)
            key[length++] = '.';
        memcpy(key + length, word.text, word.length);
        length += word.length;
    }
    return cx_ptx_op_find(key, length);
}

static bool can_be_modified(const cx_ptx_token *opcode, unsigned modifiers)
{
    static const char *const flushed[] = {"add",  "sub",   "mul", "fma", "mad", "div",
                                          "rcp",  "sqrt",  "sin", "cos", "ex2", "lg2",
                                          "min",  "max",   "neg", "abs", "rsqrt", NULL};
    static const char *const saturated[] = {"add", "sub", "mul", "fma", "mad", NULL};
    static const char *const relu[] = {"fma", "min", "max", NULL};

    return (!(modifiers & FLUSHED) || cx_ptx_first_word_among(opcode, flushed)) &&
           (!(modifiers & SATURATED) || cx_ptx_first_word_among(opcode, saturated)) &&
           (!(modifiers & RELU) || cx_ptx_first_word_among(opcode, relu));
}

/* "?ftz.f32": the operation of a modifier for the type of the opcode. */
static uint16_t modifying_op(const cx_ptx_token *opcode, const char *modifier)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word, last = {.length = 0};
    char key[KEY_MAX];
    size_t length = strlen(modifier);

    while (cx_ptx_next_word(&words, &word))
        if (!modifier_of(&word)) /* max.s32.relu */
            last = word;
    if (length + last.length > KEY_MAX)
        return CX_PTX_NO_OP;
    memcpy(key, modifier, length);
    memcpy(key + length, last.text, last.length);
    return cx_ptx_op_find(key, length + last.length);
}

static bool emit_modifier(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          const char *modifier, uint32_t d, uint32_t a)
{
    uint16_t op = modifying_op(&statement->opcode, modifier);

    if (op == CX_PTX_NO_OP)
        return cx_ptx_unknown(self, statement);
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = op, .d = d, .a = a});
}

/* add.rz.ftz.sat.f32: flushed operands, the operation, its result flushed and clamped. */
static bool emit_modified(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          cx_ptx_instruction done, int arity, unsigned modifiers)
{
    uint32_t *const operands[] = {&done.a, &done.b, &done.c};

    for (int i = 0; i < arity && (modifiers & FLUSHED); i++) {
        uint32_t flushed = cx_ptx_temp(self);

        if (flushed == CX_PTX_NO_SLOT ||
            !emit_modifier(self, statement, "?ftz.", flushed, *operands[i]))
            return false;
        *operands[i] = flushed;
    }
    return cx_ptx_emit(self, done) &&
           (!(modifiers & FLUSHED) ||
            emit_modifier(self, statement, "?ftz.", done.d, done.d)) &&
           (!(modifiers & SATURATED) ||
            emit_modifier(self, statement, "?sat.", done.d, done.d)) &&
           (!(modifiers & RELU) || emit_modifier(self, statement, "?relu.", done.d, done.d));
}

/* slct.f64.f32: the type of the values that it chooses from. */
static cx_ptx_type type_before_last(const cx_ptx_token *opcode)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word, before = {0}, last = {0};

    while (cx_ptx_next_word(&words, &word)) {
        before = last;
        last = word;
    }
    return before.text ? cx_ptx_type_find(before.text, before.length) : CX_PTX_NO_TYPE;
}

/* min.f32 d, a, b, c: the least of three, as min of the least of two. */
static bool encode_three(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_statement first = *statement, second = *statement;
    cx_ptx_operand between = {
        .kind = CX_PTX_OPERAND_REGISTER, .type = CX_PTX_F32, .second = CX_PTX_NO_SLOT};

    between.slot = cx_ptx_register(self, 1, false);
    if (between.slot == CX_PTX_NO_SLOT)
        return false;
    first.count = second.count = 3;
    first.operands[0] = between;
    second.operands[1] = between;
    second.operands[2] = statement->operands[3];
    return cx_ptx_encode_computed(self, &first) && cx_ptx_encode_computed(self, &second);
}

bool cx_ptx_encode_computed(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    static const char *const of_three[] = {"min", "max", NULL}, *const of_slct[] = {"slct", NULL};
    static const unsigned steps[] = {0, APPROXIMATE, FLUSHED | SATURATED | RELU,
                                     FLUSHED | SATURATED | RELU | APPROXIMATE};
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    cx_ptx_instruction done = {.op = CX_PTX_NO_OP};
    uint32_t slots[3] = {0};
    bool chooses = cx_ptx_first_word_among(&statement->opcode, of_slct);
    unsigned modifiers = 0;
    int arity;

    for (int i = 0; i < 4 && done.op == CX_PTX_NO_OP; i++)
        done.op = find_op(&statement->opcode, steps[i], &modifiers);
    if (done.op == CX_PTX_NO_OP || !can_be_modified(&statement->opcode, modifiers))
        return cx_ptx_unknown(self, statement);
    arity = cx_ptx_op_arity(done.op);
    if (statement->count == 4 && type == CX_PTX_F32 &&
        cx_ptx_first_word_among(&statement->opcode, of_three))
        return encode_three(self, statement);
    if (!cx_ptx_need(self, statement, arity + 1, arity + 1))
        return false;
    for (int i = 0; i < arity; i++) {
        cx_ptx_type last = chooses && i < 2 ? type_before_last(&statement->opcode) : type;

        slots[i] = cx_ptx_value(self, &statement->operands[i + 1],
                                cx_ptx_op_type(done.op, i, last));
        if (slots[i] == CX_PTX_NO_SLOT)
            return false;
    }
    if (chooses)
        type = type_before_last(&statement->opcode);
    done.d = cx_ptx_result(self, &statement->operands[0], cx_ptx_op_type(done.op, 3, type));
    done.a = slots[0];
    done.b = slots[1];
    done.c = slots[2];
    return done.d != CX_PTX_NO_SLOT && emit_modified(self, statement, done, arity, modifiers);
}

/* Emits an operation that the table has. */
bool cx_ptx_emit_computed(cx_ptx_parser *self, const cx_ptx_statement *statement, const char *key,
                          cx_ptx_instruction done)
{
    done.op = cx_ptx_op_find(key, strlen(key));
    if (done.op == CX_PTX_NO_OP)
        return cx_ptx_unknown(self, statement);
    return cx_ptx_emit(self, done);
}

/* ---- sums that carry ---- */

enum { TAKES_CARRY = 1, GIVES_CARRY = 2 };

static bool emit_product(cx_ptx_parser *self, const cx_ptx_statement *statement, cx_ptx_type type,
                         uint32_t *out_slot)
{
    static const char *const keys[2][3] = {{"mul.lo.u32", "mul.hi.u32", "mul.hi.s32"},
                                           {"mul.lo.u64", "mul.hi.u64", "mul.hi.s64"}};
    int part = !cx_ptx_has_word(&statement->opcode, "hi") ? 0 : cx_ptx_type_signed(type) ? 2 : 1;
    cx_ptx_instruction product = {0};

    product.a = cx_ptx_value(self, &statement->operands[1], type);
    product.b = cx_ptx_value(self, &statement->operands[2], type);
    product.d = *out_slot = cx_ptx_temp(self);
    if (product.a == CX_PTX_NO_SLOT || product.b == CX_PTX_NO_SLOT || product.d == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit_computed(self, statement, keys[cx_ptx_type_bytes(type) == 8][part], product);
}

bool cx_ptx_encode_carry(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_token first = cx_ptx_first_word(&statement->opcode);
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    cx_ptx_instruction done = {0};
    bool wide = cx_ptx_type_bytes(type) == 8, takes, minus, product;

    takes = first.text[first.length - 1] == 'c';
    minus = first.text[0] == 's';
    product = first.text[0] == 'm';
    if (!takes && !cx_ptx_has_word(&statement->opcode, "cc"))
        return cx_ptx_encode_computed(self, statement);
    if (type < CX_PTX_B32 || type == CX_PTX_F32 || type == CX_PTX_F64)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, product ? 4 : 3, product ? 4 : 3))
        return false;
    if (product) {
        if (!emit_product(self, statement, type, &done.a))
            return false;
    } else {
        done.a = cx_ptx_value(self, &statement->operands[1], type);
    }
    done.b = cx_ptx_value(self, &statement->operands[product ? 3 : 2], type);
    done.d = cx_ptx_result(self, &statement->operands[0], type);
    if (done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT || done.d == CX_PTX_NO_SLOT)
        return false;
    if (minus)
        done.op = wide ? CX_PTX_SUB_CARRY_64 : CX_PTX_SUB_CARRY_32;
    else
        done.op = wide ? CX_PTX_ADD_CARRY_64 : CX_PTX_ADD_CARRY_32;
    done.mode = (uint8_t)((takes ? TAKES_CARRY : 0) |
                          (cx_ptx_has_word(&statement->opcode, "cc") ? GIVES_CARRY : 0));
    return cx_ptx_emit(self, done);
}

/* ---- moves between sizes ---- */

static cx_ptx_type bits_of(unsigned bytes)
{
    static const cx_ptx_type types[] = {[1] = CX_PTX_B8, [2] = CX_PTX_B16, [4] = CX_PTX_B32,
                                        [8] = CX_PTX_B64};

    return types[bytes];
}

static bool encode_pack(cx_ptx_parser *self, const cx_ptx_statement *statement, unsigned bytes)
{
    const cx_ptx_operand *vector = &statement->operands[1];
    uint32_t d = cx_ptx_result(self, &statement->operands[0], bits_of(bytes)), low, high, half;

    if (d == CX_PTX_NO_SLOT)
        return false;
    if (vector->count == 2)
        return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                      .size = (uint8_t)(bytes / 2),
                                                      .d = d,
                                                      .a = vector->parts[0],
                                                      .b = vector->parts[1]});
    if (vector->count != 4 || bytes < 4)
        return cx_ptx_wrong(self, statement, "wrong number of parts");
    low = cx_ptx_temp(self);
    high = cx_ptx_temp(self);
    half = bytes / 4;
    if (low == CX_PTX_NO_SLOT || high == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                  .size = (uint8_t)half,
                                                  .d = low,
                                                  .a = vector->parts[0],
                                                  .b = vector->parts[1]}) &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                  .size = (uint8_t)half,
                                                  .d = high,
                                                  .a = vector->parts[2],
                                                  .b = vector->parts[3]}) &&
           cx_ptx_emit(
               self,
               (cx_ptx_instruction){
                   .op = CX_PTX_PACK, .size = (uint8_t)(half * 2), .d = d, .a = low, .b = high});
}

/* Reads from a copy: one of the parts may be the register itself. */
static bool encode_unpack(cx_ptx_parser *self, const cx_ptx_statement *statement, unsigned bytes)
{
    const cx_ptx_operand *vector = &statement->operands[0];
    uint32_t whole = cx_ptx_temp(self);
    uint32_t a = cx_ptx_value(self, &statement->operands[1], bits_of(bytes));

    if (a == CX_PTX_NO_SLOT || whole == CX_PTX_NO_SLOT)
        return false;
    if (vector->count != 2 && vector->count != 4)
        return cx_ptx_wrong(self, statement, "wrong number of parts");
    if (bytes / vector->count == 0)
        return cx_ptx_wrong(self, statement, "too many parts");
    if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_EXTEND,
                                                .type = CX_PTX_B64,
                                                .from = CX_PTX_B64,
                                                .d = whole,
                                                .a = a}))
        return false;
    for (unsigned i = 0; i < vector->count; i++) {
        if (vector->parts[i] < CX_PTX_SLOTS_FIXED || (vector->parts[i] & CX_PTX_CONSTANT_BIT))
            return cx_ptx_wrong(self, statement, "a part cannot be written");
        if (!cx_ptx_check_part(self, vector, i, bits_of(bytes / vector->count), false))
            return false;
        if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                    .size = (uint8_t)(bytes / vector->count),
                                                    .mode = (uint8_t)i,
                                                    .d = vector->parts[i],
                                                    .a = whole}))
            return false;
    }
    return true;
}

static bool emit_part(cx_ptx_parser *self, cx_ptx_type type, uint32_t d, uint32_t a)
{
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_EXTEND,
                                                  .type = (uint8_t)type,
                                                  .from = (uint8_t)type,
                                                  .d = d,
                                                  .a = a});
}

/* mov.v4.b32 {a, b, c, d}, {e, f, g, h}: the results may be among the values. */
static bool encode_vector_mov(cx_ptx_parser *self, const cx_ptx_statement *statement,
                              unsigned count)
{
    const cx_ptx_operand *to = &statement->operands[0], *from = &statement->operands[1];
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    uint32_t copies[CX_PTX_VECTOR_MAX];

    if (to->kind != CX_PTX_OPERAND_VECTOR || from->kind != CX_PTX_OPERAND_VECTOR ||
        to->count != count || from->count != count)
        return cx_ptx_wrong(self, statement, "wrong number of parts");
    if (cx_ptx_type_bytes(type) < 2 || cx_ptx_type_bytes(type) > 8)
        return cx_ptx_unknown(self, statement);
    for (unsigned i = 0; i < count; i++) {
        copies[i] = cx_ptx_temp(self);
        if (!cx_ptx_check_part(self, from, i, type, false) || copies[i] == CX_PTX_NO_SLOT ||
            !emit_part(self, type, copies[i], from->parts[i]))
            return false;
    }
    for (unsigned i = 0; i < count; i++) {
        uint32_t d = to->parts[i];

        if (!cx_ptx_check_part(self, to, i, type, false))
            return false;
        if (d < CX_PTX_SLOTS_FIXED || (d & CX_PTX_CONSTANT_BIT))
            return cx_ptx_wrong(self, statement, "a part cannot be written");
        if (!emit_part(self, type, d, copies[i]))
            return false;
    }
    return true;
}

bool cx_ptx_encode_mov(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    unsigned bytes = cx_ptx_type_bytes(cx_ptx_last_type(&statement->opcode));
    const cx_ptx_operand *source = &statement->operands[1];
    cx_ptx_instruction done = {.immediate = source->offset};
    uint64_t address;

    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    if (cx_ptx_has_word(&statement->opcode, "v2") || cx_ptx_has_word(&statement->opcode, "v4"))
        return encode_vector_mov(self, statement,
                                 cx_ptx_has_word(&statement->opcode, "v2") ? 2 : 4);
    if (bytes == 16)
        return cx_ptx_encode_wide_mov(self, statement);
    if (source->kind == CX_PTX_OPERAND_VECTOR)
        return encode_pack(self, statement, bytes);
    if (statement->operands[0].kind == CX_PTX_OPERAND_VECTOR)
        return encode_unpack(self, statement, bytes);
    if (source->kind == CX_PTX_OPERAND_WORD && !cx_ptx_function_address(self, source, &address))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' as an operand",
                           CX_PTX_QUOTE(&source->token));
    if (source->kind != CX_PTX_OPERAND_VARIABLE && source->kind != CX_PTX_OPERAND_SPECIAL)
        return cx_ptx_encode_computed(self, statement);
    done.op = source->kind == CX_PTX_OPERAND_VARIABLE ? CX_PTX_ADD_ADDRESS
                                                      : (uint16_t)source->special;
    done.mode = source->special_mode;
    done.a = source->slot;
    done.d = cx_ptx_result(self, &statement->operands[0],
                           cx_ptx_last_type(&statement->opcode));
    return done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

bool cx_ptx_encode_bfi(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    bool wide = cx_ptx_last_type(&statement->opcode) == CX_PTX_B64;
    cx_ptx_type type = wide ? CX_PTX_B64 : CX_PTX_B32;
    cx_ptx_instruction done = {.op = wide ? CX_PTX_BFI_64 : CX_PTX_BFI_32};

    if (!cx_ptx_need(self, statement, 5, 5))
        return false;
    done.a = cx_ptx_value(self, &statement->operands[1], type);
    done.b = cx_ptx_value(self, &statement->operands[2], type);
    done.c = cx_ptx_value(self, &statement->operands[3], CX_PTX_U32);
    done.e = cx_ptx_value(self, &statement->operands[4], CX_PTX_U32);
    done.d = cx_ptx_result(self, &statement->operands[0], type);
    if (done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT || done.c == CX_PTX_NO_SLOT ||
        done.d == CX_PTX_NO_SLOT || done.e == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, done);
}

/* The rest of lop3.or: its predicate is (d != 0) or q. */
static bool combine_lop3(cx_ptx_parser *self, const cx_ptx_statement *statement, uint32_t value)
{
    bool both = cx_ptx_has_word(&statement->opcode, "and");
    uint32_t d = statement->operands[0].second, truth = cx_ptx_temp(self);
    uint32_t with = cx_ptx_value(self, &statement->operands[5], CX_PTX_PRED);

    if (d == CX_PTX_NO_SLOT || truth == CX_PTX_NO_SLOT || with == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit_computed(self, statement, "setp.ne.b32",
                                (cx_ptx_instruction){
                                    .d = truth, .a = value, .b = CX_PTX_SLOT_ZERO}) &&
           cx_ptx_emit_computed(self, statement, both ? "and.pred" : "or.pred",
                                (cx_ptx_instruction){.d = d, .a = truth, .b = with});
}

bool cx_ptx_encode_lop3(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_LOP3};
    bool combined = cx_ptx_has_word(&statement->opcode, "and") ||
                    cx_ptx_has_word(&statement->opcode, "or");

    if (!cx_ptx_need(self, statement, combined ? 6 : 5, combined ? 6 : 5))
        return false;
    if (combined && statement->operands[0].second == CX_PTX_NO_SLOT)
        return cx_ptx_wrong(self, statement, "the predicate behind '|' is missing");
    if (statement->operands[4].kind != CX_PTX_OPERAND_NUMBER || statement->operands[4].bits > 255)
        return cx_ptx_wrong(self, statement, "the table must be a number up to 255");
    done.mode = (uint8_t)statement->operands[4].bits;
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_B32);
    done.b = cx_ptx_value(self, &statement->operands[2], CX_PTX_B32);
    done.c = cx_ptx_value(self, &statement->operands[3], CX_PTX_B32);
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B32);
    if (done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT || done.c == CX_PTX_NO_SLOT ||
        done.d == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, done) && (!combined || combine_lop3(self, statement, done.d));
}
