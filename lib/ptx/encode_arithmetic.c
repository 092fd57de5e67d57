/* Instructions that only compute. */
#include "ptx/parser.h"

#include <string.h>

#define KEY_MAX 48

/* Words that change nothing here: results are rounded to nearest, and approximations are exact. */
static bool is_dropped(const cx_ptx_token *word)
{
    static const char *const words[] = {"rn", "approx", "full"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (cx_ptx_token_is(word, words[i]))
            return true;
    return false;
}

/* The opcode without dropped words; returns its length, or 0: too long. */
static size_t key_of(const cx_ptx_token *opcode, char key[KEY_MAX])
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;
    size_t length = 0;

    while (cx_ptx_next_word(&words, &word)) {
        if (is_dropped(&word))
            continue;
        if (length + word.length + 2 > KEY_MAX)
            return 0;
        if (length > 0)
            key[length++] = '.';
        memcpy(key + length, word.text, word.length);
        length += word.length;
    }
    return length;
}

bool cx_ptx_encode_computed(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    char key[KEY_MAX];
    size_t length = key_of(&statement->opcode, key);
    uint16_t op = length > 0 ? cx_ptx_op_find(key, length) : CX_PTX_NO_OP;
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    cx_ptx_instruction done = {.op = op};
    uint32_t slots[3] = {0};
    int arity;

    if (op == CX_PTX_NO_OP)
        return cx_ptx_unknown(self, statement);
    arity = cx_ptx_op_arity(op);
    if (!cx_ptx_need(self, statement, arity + 1, arity + 1))
        return false;
    for (int i = 0; i < arity; i++) {
        slots[i] = cx_ptx_value(self, &statement->operands[i + 1], type);
        if (slots[i] == CX_PTX_NO_SLOT)
            return false;
    }
    done.d = cx_ptx_result(self, &statement->operands[0], 0);
    done.a = slots[0];
    done.b = slots[1];
    done.c = slots[2];
    return done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* Emits an operation that the table has. */
static bool emit_computed(cx_ptx_parser *self, const cx_ptx_statement *statement, const char *key,
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
    static const char *const keys[2][2] = {{"mul.lo.u32", "mul.hi.u32"},
                                           {"mul.lo.u64", "mul.hi.u64"}};
    bool high = cx_ptx_has_word(&statement->opcode, "hi");
    cx_ptx_instruction product = {0};

    if (high && cx_ptx_type_signed(type))
        return cx_ptx_unknown(self, statement);
    product.a = cx_ptx_value(self, &statement->operands[1], type);
    product.b = cx_ptx_value(self, &statement->operands[2], type);
    product.d = *out_slot = cx_ptx_temp(self);
    if (product.a == CX_PTX_NO_SLOT || product.b == CX_PTX_NO_SLOT || product.d == CX_PTX_NO_SLOT)
        return false;
    return emit_computed(self, statement, keys[cx_ptx_type_bytes(type) == 8][high], product);
}

bool cx_ptx_encode_carry(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_token first;
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    cx_ptx_instruction done = {0};
    bool wide = cx_ptx_type_bytes(type) == 8, takes, minus, product;

    cx_ptx_next_word(&words, &first);
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
    done.d = cx_ptx_result(self, &statement->operands[0], wide ? 8 : 4);
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

/* ---- comparisons ---- */

/* setp.lt.and.ftz.f32: the comparison, and the operation that combines its result. */
typedef struct comparison {
    char key[KEY_MAX];
    cx_ptx_op combined; /* CX_PTX_OP_and_pred, ... or CX_PTX_COMPUTED: none */
    cx_ptx_type type;
} comparison;

static bool read_comparison(const cx_ptx_statement *statement, bool set, comparison *out)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_token word, relation = {0};

    out->combined = CX_PTX_COMPUTED;
    cx_ptx_next_word(&words, &word);
    if (!cx_ptx_next_word(&words, &relation) || relation.length > 3)
        return false;
    while (cx_ptx_next_word(&words, &word)) {
        if (cx_ptx_token_is(&word, "and"))
            out->combined = CX_PTX_OP_and_pred;
        else if (cx_ptx_token_is(&word, "or"))
            out->combined = CX_PTX_OP_or_pred;
        else if (cx_ptx_token_is(&word, "xor"))
            out->combined = CX_PTX_OP_xor_pred;
        else if (!cx_ptx_token_is(&word, "ftz") &&
                 cx_ptx_type_find(word.text, word.length) == CX_PTX_NO_TYPE)
            return false;
    }
    (void)set;
    out->type = cx_ptx_type_find(word.text, word.length);
    memcpy(out->key, "setp.", 5);
    memcpy(out->key + 5, relation.text, relation.length);
    out->key[5 + relation.length] = '.';
    if (word.length > 4)
        return false;
    memcpy(out->key + 6 + relation.length, word.text, word.length);
    out->key[6 + relation.length + word.length] = '\0';
    return out->type != CX_PTX_NO_TYPE;
}

static bool emit_combined(cx_ptx_parser *self, cx_ptx_op op, uint32_t d, uint32_t a, uint32_t b)
{
    if (op == CX_PTX_COMPUTED)
        op = CX_PTX_OP_mov_pred;
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = (uint16_t)op, .d = d, .a = a, .b = b});
}

/* The result goes into a temporary slot: an operand may also be the destination. */
static bool emit_comparison(cx_ptx_parser *self, const cx_ptx_statement *statement,
                            const comparison *what, uint32_t *out_slot)
{
    cx_ptx_instruction done = {.d = cx_ptx_temp(self)};

    done.a = cx_ptx_value(self, &statement->operands[1], what->type);
    done.b = cx_ptx_value(self, &statement->operands[2], what->type);
    if (done.d == CX_PTX_NO_SLOT || done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT)
        return false;
    *out_slot = done.d;
    return emit_computed(self, statement, what->key, done);
}

/* setp.lt.s32 p, a, b: a plain comparison is one operation. */
static bool encode_plain_setp(cx_ptx_parser *self, const cx_ptx_statement *statement,
                              const comparison *what)
{
    cx_ptx_instruction done = {.d = cx_ptx_result(self, &statement->operands[0], 0)};

    done.a = cx_ptx_value(self, &statement->operands[1], what->type);
    done.b = cx_ptx_value(self, &statement->operands[2], what->type);
    if (done.d == CX_PTX_NO_SLOT || done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT)
        return false;
    return emit_computed(self, statement, what->key, done);
}

bool cx_ptx_encode_setp(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    comparison what;
    uint32_t compared, with = 0, d;

    if (!read_comparison(statement, false, &what))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, what.combined == CX_PTX_COMPUTED ? 3 : 4,
                     what.combined == CX_PTX_COMPUTED ? 3 : 4))
        return false;
    if (what.combined == CX_PTX_COMPUTED && statement->operands[0].second == CX_PTX_NO_SLOT)
        return encode_plain_setp(self, statement, &what);
    if (!emit_comparison(self, statement, &what, &compared))
        return false;
    if (what.combined != CX_PTX_COMPUTED)
        with = cx_ptx_value(self, &statement->operands[3], CX_PTX_PRED);
    d = cx_ptx_result(self, &statement->operands[0], 0);
    if (with == CX_PTX_NO_SLOT || d == CX_PTX_NO_SLOT)
        return false;
    if (statement->operands[0].second == CX_PTX_NO_SLOT)
        return emit_combined(self, what.combined, d, compared, with);
    /* `with` may be d: compute the second result first, then the first from a copy. */
    uint32_t opposite = cx_ptx_temp(self), kept = cx_ptx_temp(self);
    if (opposite == CX_PTX_NO_SLOT || kept == CX_PTX_NO_SLOT)
        return false;
    return emit_combined(self, CX_PTX_OP_mov_pred, kept, with, 0) &&
           emit_combined(self, CX_PTX_OP_not_pred, opposite, compared, 0) &&
           emit_combined(self, what.combined, d, compared, kept) &&
           emit_combined(self, what.combined, statement->operands[0].second, opposite, kept);
}

/* set.lt.u32.s32: true is all bits set, or 1.0. */
bool cx_ptx_encode_set(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    comparison what;
    uint32_t compared, d;
    uint64_t truth = cx_ptx_has_word(&statement->opcode, "f32") &&
                             !cx_ptx_has_word(&statement->opcode, "u32") &&
                             !cx_ptx_has_word(&statement->opcode, "s32")
                         ? 0x3f800000
                         : UINT32_MAX;

    if (!read_comparison(statement, true, &what) || what.combined != CX_PTX_COMPUTED ||
        (truth != UINT32_MAX && what.type != CX_PTX_F32))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 3, 3) ||
        !emit_comparison(self, statement, &what, &compared))
        return false;
    d = cx_ptx_result(self, &statement->operands[0], 4);
    if (d == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_OP_selp_b32,
                                                  .d = d,
                                                  .a = cx_ptx_constant(self, truth),
                                                  .b = CX_PTX_SLOT_ZERO,
                                                  .c = compared});
}

/* ---- moves between sizes ---- */

static bool encode_pack(cx_ptx_parser *self, const cx_ptx_statement *statement, unsigned bytes)
{
    const cx_ptx_operand *vector = &statement->operands[1];
    uint32_t d = cx_ptx_result(self, &statement->operands[0], bytes), low, high, half;

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
    uint32_t a = cx_ptx_value(self, &statement->operands[1], CX_PTX_B64);

    if (a == CX_PTX_NO_SLOT || whole == CX_PTX_NO_SLOT)
        return false;
    if (vector->count != 2 && vector->count != 4)
        return cx_ptx_wrong(self, statement, "wrong number of parts");
    if (bytes / vector->count == 0)
        return cx_ptx_wrong(self, statement, "too many parts");
    if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_OP_mov_b64, .d = whole, .a = a}))
        return false;
    for (unsigned i = 0; i < vector->count; i++) {
        if (vector->parts[i] < CX_PTX_SLOTS_FIXED || (vector->parts[i] & CX_PTX_CONSTANT_BIT))
            return cx_ptx_wrong(self, statement, "a part cannot be written");
        if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                    .size = (uint8_t)(bytes / vector->count),
                                                    .mode = (uint8_t)i,
                                                    .d = vector->parts[i],
                                                    .a = whole}))
            return false;
    }
    return true;
}

bool cx_ptx_encode_mov(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    unsigned bytes = cx_ptx_type_bytes(cx_ptx_last_type(&statement->opcode));
    const cx_ptx_operand *source = &statement->operands[1];
    cx_ptx_instruction done = {.immediate = source->offset};

    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    if (source->kind == CX_PTX_OPERAND_VECTOR)
        return encode_pack(self, statement, bytes);
    if (statement->operands[0].kind == CX_PTX_OPERAND_VECTOR)
        return encode_unpack(self, statement, bytes);
    if (source->kind == CX_PTX_OPERAND_WORD)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' as an operand",
                           CX_PTX_QUOTE(&source->token));
    if (source->kind != CX_PTX_OPERAND_VARIABLE && source->kind != CX_PTX_OPERAND_SPECIAL)
        return cx_ptx_encode_computed(self, statement);
    done.op = source->kind == CX_PTX_OPERAND_VARIABLE ? CX_PTX_ADD_ADDRESS
                                                      : (uint16_t)source->special;
    done.a = source->slot;
    done.d = cx_ptx_result(self, &statement->operands[0], bytes);
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
    done.d = cx_ptx_result(self, &statement->operands[0], wide ? 8 : 4);
    if (done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT || done.c == CX_PTX_NO_SLOT ||
        done.d == CX_PTX_NO_SLOT || done.e == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, done);
}

bool cx_ptx_encode_lop3(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_LOP3};

    if (cx_ptx_has_word(&statement->opcode, "and") || cx_ptx_has_word(&statement->opcode, "or"))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 5, 5))
        return false;
    if (statement->operands[4].kind != CX_PTX_OPERAND_NUMBER || statement->operands[4].bits > 255)
        return cx_ptx_wrong(self, statement, "the table must be a number up to 255");
    done.mode = (uint8_t)statement->operands[4].bits;
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_B32);
    done.b = cx_ptx_value(self, &statement->operands[2], CX_PTX_B32);
    done.c = cx_ptx_value(self, &statement->operands[3], CX_PTX_B32);
    done.d = cx_ptx_result(self, &statement->operands[0], 4);
    if (done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT || done.c == CX_PTX_NO_SLOT ||
        done.d == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, done);
}

/* ---- conversions ---- */

/* The mode of CX_PTX_CONVERT: the rounding of a float, and clamping. */
static bool read_rounding(const cx_ptx_token *word, uint8_t *out_mode)
{
    static const struct {
        const char *text;
        cx_ptx_rounding rounding;
    } words[] = {{"rni", CX_PTX_ROUND_NEAREST}, {"rzi", CX_PTX_ROUND_ZERO},
                 {"rmi", CX_PTX_ROUND_DOWN},    {"rpi", CX_PTX_ROUND_UP},
                 {"rn", CX_PTX_ROUND_NONE},     {"rz", CX_PTX_ROUND_FLOAT_ZERO},
                 {"rm", CX_PTX_ROUND_FLOAT_DOWN}, {"rp", CX_PTX_ROUND_FLOAT_UP}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!cx_ptx_token_is(word, words[i].text))
            continue;
        *out_mode = (uint8_t)((*out_mode & ~CX_PTX_ROUNDING_MASK) | words[i].rounding);
        return true;
    }
    return false;
}

/* Takes the first of two types, then the second; false: no type, or a third. */
static bool take_type(const cx_ptx_token *word, cx_ptx_type *to, cx_ptx_type *from)
{
    cx_ptx_type found = cx_ptx_type_find(word->text, word->length);

    if (found == CX_PTX_NO_TYPE || *from != CX_PTX_NO_TYPE)
        return false;
    *(*to == CX_PTX_NO_TYPE ? to : from) = found;
    return true;
}

/* True if results of the type support other rounding than to nearest. */
static bool supports_rounding(cx_ptx_type to)
{
    return to == CX_PTX_F32 || to == CX_PTX_F64;
}

bool cx_ptx_encode_cvt(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_token word;
    cx_ptx_type to = CX_PTX_NO_TYPE, from = CX_PTX_NO_TYPE;
    cx_ptx_instruction done = {.op = CX_PTX_CONVERT};

    cx_ptx_next_word(&words, &word);
    while (cx_ptx_next_word(&words, &word)) {
        if (read_rounding(&word, &done.mode))
            continue;
        if (cx_ptx_token_is(&word, "sat"))
            done.mode |= CX_PTX_SATURATED;
        else if (cx_ptx_token_is(&word, "ftz"))
            done.mode |= CX_PTX_FLUSHED;
        else if (!take_type(&word, &to, &from))
            return cx_ptx_unknown(self, statement);
    }
    if (to == CX_PTX_NO_TYPE || from == CX_PTX_NO_TYPE ||
        ((done.mode & CX_PTX_ROUNDING_MASK) >= CX_PTX_ROUND_FLOAT_ZERO && !supports_rounding(to)))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    if (!cx_ptx_type_float(to) && !cx_ptx_type_float(from) && !(done.mode & CX_PTX_SATURATED))
        done.op = CX_PTX_EXTEND;
    done.type = (uint8_t)to;
    done.from = (uint8_t)from;
    done.a = cx_ptx_value(self, &statement->operands[1], from);
    done.d = cx_ptx_result(self, &statement->operands[0], cx_ptx_type_bytes(to));
    return done.a != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}
