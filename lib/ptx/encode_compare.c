/* Comparisons: setp gives predicates, set gives values. */
#include "ptx/parser.h"

#include <string.h>

#define KEY_MAX 32

/* setp.lt.and.ftz.f32, set.lt.u32.f32 */
typedef struct comparison {
    char key[KEY_MAX];  /* of the comparison in ops.def */
    cx_ptx_op combined; /* CX_PTX_OP_and_pred, ... or CX_PTX_COMPUTED: none */
    cx_ptx_type type;   /* of the operands */
    bool pairs;         /* two operands in each register */
    cx_ptx_token result; /* of set: the word of its type */
} comparison;

static bool read_combination(const cx_ptx_token *word, comparison *out)
{
    if (cx_ptx_token_is(word, "and"))
        out->combined = CX_PTX_OP_and_pred;
    else if (cx_ptx_token_is(word, "or"))
        out->combined = CX_PTX_OP_or_pred;
    else if (cx_ptx_token_is(word, "xor"))
        out->combined = CX_PTX_OP_xor_pred;
    else
        return false;
    return true;
}

static bool append_word(char key[KEY_MAX], const char *text, size_t length)
{
    size_t at = strlen(key);

    if (at + length + 2 > KEY_MAX)
        return false;
    if (at > 0)
        key[at++] = '.';
    memcpy(key + at, text, length);
    key[at + length] = '\0';
    return true;
}

static bool read_comparison(const cx_ptx_statement *statement, bool set, comparison *out)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_token word, relation, last = {0};
    bool flushed = false;
    int types = 0;

    *out = (comparison){.combined = CX_PTX_COMPUTED};
    cx_ptx_next_word(&words, &word);
    if (!cx_ptx_next_word(&words, &relation))
        return false;
    while (cx_ptx_next_word(&words, &word)) {
        if (read_combination(&word, out))
            continue;
        if (cx_ptx_token_is(&word, "ftz")) {
            flushed = true;
            continue;
        }
        if (cx_ptx_type_find(word.text, word.length) == CX_PTX_NO_TYPE)
            return false;
        if (types++ == 0)
            out->result = word;
        last = word;
    }
    if (types != 1 + set)
        return false;
    out->type = cx_ptx_type_find(last.text, last.length);
    out->pairs = last.length > 2 && memcmp(last.text + last.length - 2, "x2", 2) == 0;
    if (out->pairs)
        last.length -= 2;
    if (flushed && !cx_ptx_type_float(cx_ptx_type_find(last.text, last.length)))
        return false;
    return append_word(out->key, "setp", 4) &&
           append_word(out->key, relation.text, relation.length) &&
           (!flushed || append_word(out->key, "ftz", 3)) &&
           append_word(out->key, last.text, last.length);
}

static bool emit_combined(cx_ptx_parser *self, cx_ptx_op op, uint32_t d, uint32_t a, uint32_t b)
{
    if (op == CX_PTX_COMPUTED)
        op = CX_PTX_OP_mov_pred;
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = (uint16_t)op, .d = d, .a = a, .b = b});
}

/* The part of a register with two values, in a slot of its own. */
static uint32_t emit_half(cx_ptx_parser *self, uint32_t slot, uint8_t half)
{
    cx_ptx_instruction done = {
        .op = CX_PTX_UNPACK, .mode = half, .size = 2, .d = cx_ptx_temp(self), .a = slot};

    return done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done) ? done.d : CX_PTX_NO_SLOT;
}

/* Compares the operands, or their halves; the results go into slots of their own. */
static bool emit_comparisons(cx_ptx_parser *self, const cx_ptx_statement *statement,
                             const comparison *what, uint32_t out_slots[2])
{
    uint32_t a = cx_ptx_value(self, &statement->operands[1], what->type);
    uint32_t b = cx_ptx_value(self, &statement->operands[2], what->type);

    if (a == CX_PTX_NO_SLOT || b == CX_PTX_NO_SLOT)
        return false;
    for (uint8_t i = 0; i < 1 + what->pairs; i++) {
        cx_ptx_instruction done = {.d = cx_ptx_temp(self), .a = a, .b = b};

        if (what->pairs) {
            done.a = emit_half(self, a, i);
            done.b = emit_half(self, b, i);
        }
        if (done.d == CX_PTX_NO_SLOT || done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT ||
            !cx_ptx_emit_computed(self, statement, what->key, done))
            return false;
        out_slots[i] = done.d;
    }
    return true;
}

/* setp.lt.s32 p, a, b: a plain comparison is one operation. */
static bool encode_plain_setp(cx_ptx_parser *self, const cx_ptx_statement *statement,
                              const comparison *what)
{
    cx_ptx_instruction done = {.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_PRED)};

    done.a = cx_ptx_value(self, &statement->operands[1], what->type);
    done.b = cx_ptx_value(self, &statement->operands[2], what->type);
    if (done.d == CX_PTX_NO_SLOT || done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit_computed(self, statement, what->key, done);
}

static bool need_operands(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          const comparison *what)
{
    int count = what->combined == CX_PTX_COMPUTED ? 3 : 4;

    return cx_ptx_need(self, statement, count, count);
}

/* The predicate that the results are combined with, copied: it may be a result too. */
static bool emit_partner(cx_ptx_parser *self, const cx_ptx_statement *statement,
                         const comparison *what, uint32_t *out_slot)
{
    uint32_t with;

    *out_slot = CX_PTX_SLOT_ZERO;
    if (what->combined == CX_PTX_COMPUTED)
        return true;
    with = cx_ptx_value(self, &statement->operands[3], CX_PTX_PRED);
    *out_slot = cx_ptx_temp(self);
    return with != CX_PTX_NO_SLOT && *out_slot != CX_PTX_NO_SLOT &&
           emit_combined(self, CX_PTX_COMPUTED, *out_slot, with, 0);
}

bool cx_ptx_encode_setp(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    uint32_t compared[2] = {0}, with, d, second = statement->operands[0].second;
    comparison what;

    if (!read_comparison(statement, false, &what))
        return cx_ptx_unknown(self, statement);
    if (!need_operands(self, statement, &what))
        return false;
    if (what.combined == CX_PTX_COMPUTED && second == CX_PTX_NO_SLOT && !what.pairs)
        return encode_plain_setp(self, statement, &what);
    if (!emit_comparisons(self, statement, &what, compared) ||
        !emit_partner(self, statement, &what, &with))
        return false;
    d = cx_ptx_result(self, &statement->operands[0], CX_PTX_PRED);
    if (d == CX_PTX_NO_SLOT || !emit_combined(self, what.combined, d, compared[0], with))
        return false;
    if (second == CX_PTX_NO_SLOT)
        return true;
    /* The second result is that of the upper halves, or the opposite of the first. */
    if (!what.pairs) {
        compared[1] = cx_ptx_temp(self);
        if (compared[1] == CX_PTX_NO_SLOT ||
            !emit_combined(self, CX_PTX_OP_not_pred, compared[1], compared[0], 0))
            return false;
    }
    return emit_combined(self, what.combined, second, compared[1], with);
}

/* The bits of "true" for each type of result; 0: no type of a result. */
static uint64_t truth_of(const comparison *what)
{
    static const struct {
        const char *word;
        uint64_t plain, of_pairs;
    } rows[] = {{"u32", UINT32_MAX, 0xffff}, {"s32", UINT32_MAX, 0xffff}, {"f32", 0x3f800000, 0},
                {"u16", 0xffff, 0},          {"s16", 0xffff, 0},          {"f16", 0x3c00, 0},
                {"bf16", 0x3f80, 0},         {"f16x2", 0, 0x3c00},        {"bf16x2", 0, 0x3f80}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (cx_ptx_token_is(&what->result, rows[i].word))
            return what->pairs ? rows[i].of_pairs : rows[i].plain;
    return 0;
}

static bool emit_choice(cx_ptx_parser *self, uint64_t truth, uint32_t d, uint32_t predicate)
{
    uint32_t bits = cx_ptx_constant(self, truth);

    return bits != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = truth > 0xffff ? CX_PTX_OP_selp_b32
                                                                       : CX_PTX_OP_selp_b16,
                                                  .d = d,
                                                  .a = bits,
                                                  .b = CX_PTX_SLOT_ZERO,
                                                  .c = predicate});
}

/* set.lt.u32.s32: true is all bits set, or 1.0. */
bool cx_ptx_encode_set(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    uint32_t compared[2] = {0}, values[2] = {0}, with, d;
    comparison what;
    uint64_t truth;

    if (!read_comparison(statement, true, &what) || (truth = truth_of(&what)) == 0)
        return cx_ptx_unknown(self, statement);
    if (!need_operands(self, statement, &what) ||
        !emit_comparisons(self, statement, &what, compared) ||
        !emit_partner(self, statement, &what, &with))
        return false;
    d = cx_ptx_result(self, &statement->operands[0],
                      cx_ptx_type_find(what.result.text, what.result.length));
    if (d == CX_PTX_NO_SLOT)
        return false;
    for (int i = 0; i < 1 + what.pairs; i++) {
        values[i] = what.pairs ? cx_ptx_temp(self) : d;
        if (values[i] == CX_PTX_NO_SLOT ||
            !emit_combined(self, what.combined, compared[i], compared[i], with) ||
            !emit_choice(self, truth, values[i], compared[i]))
            return false;
    }
    return !what.pairs || cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                                 .size = 2,
                                                                 .d = d,
                                                                 .a = values[0],
                                                                 .b = values[1]});
}
