/* Conversions: cvt. */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

/* The parts of cvt.rn.satfinite.bf16x2.f32. */
typedef struct conversion {
    uint8_t mode;
    cx_ptx_type to, from; /* of one element */
    bool to_pairs, from_pairs;
} conversion;

static bool read_mode(const cx_ptx_token *word, uint8_t *out_mode)
{
    static const struct {
        const char *text;
        int rounding, flags;
    } words[] = {{"rni", CX_PTX_ROUND_NEAREST, 0},   {"rzi", CX_PTX_ROUND_ZERO, 0},
                 {"rmi", CX_PTX_ROUND_DOWN, 0},      {"rpi", CX_PTX_ROUND_UP, 0},
                 {"rn", CX_PTX_ROUND_NONE, 0},       {"rz", CX_PTX_ROUND_FLOAT_ZERO, 0},
                 {"rm", CX_PTX_ROUND_FLOAT_DOWN, 0}, {"rp", CX_PTX_ROUND_FLOAT_UP, 0},
                 {"rna", CX_PTX_ROUND_NONE, CX_PTX_ROUND_AWAY}, {"sat", -1, CX_PTX_SATURATED},
                 {"ftz", -1, CX_PTX_FLUSHED},        {"relu", -1, CX_PTX_RELU},
                 {"satfinite", -1, CX_PTX_FINITE}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!cx_ptx_token_is(word, words[i].text))
            continue;
        if (words[i].rounding >= 0)
            *out_mode = (uint8_t)((*out_mode & ~CX_PTX_ROUNDING_MASK) | words[i].rounding);
        *out_mode |= (uint8_t)words[i].flags;
        return true;
    }
    return false;
}

static cx_ptx_type read_type(const cx_ptx_token *word, bool *out_pairs)
{
    static const struct {
        const char *text;
        cx_ptx_type type;
        bool pairs;
    } words[] = {{"f16x2", CX_PTX_F16, true},   {"bf16x2", CX_PTX_BF16, true},
                 {"e4m3x2", CX_PTX_E4M3, true}, {"e5m2x2", CX_PTX_E5M2, true},
                 {"e2m3x2", CX_PTX_E2M3, true}, {"e3m2x2", CX_PTX_E3M2, true},
                 {"e2m1x2", CX_PTX_E2M1, true}, {"ue8m0x2", CX_PTX_UE8M0, true},
                 {"tf32", CX_PTX_TF32, false}};

    *out_pairs = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!cx_ptx_token_is(word, words[i].text))
            continue;
        *out_pairs = words[i].pairs;
        return words[i].type;
    }
    return cx_ptx_type_find(word->text, word->length);
}

static bool read_conversion(const cx_ptx_token *opcode, conversion *out)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;
    bool pairs;

    *out = (conversion){.mode = 0};
    cx_ptx_next_word(&words, &word);
    while (cx_ptx_next_word(&words, &word)) {
        cx_ptx_type type;

        if (read_mode(&word, &out->mode))
            continue;
        type = read_type(&word, &pairs);
        if (type == CX_PTX_NO_TYPE || type == CX_PTX_PRED || out->from != CX_PTX_NO_TYPE)
            return false;
        *(out->to == CX_PTX_NO_TYPE ? &out->to_pairs : &out->from_pairs) = pairs;
        *(out->to == CX_PTX_NO_TYPE ? &out->to : &out->from) = type;
    }
    return out->from != CX_PTX_NO_TYPE;
}

/* True if the conversion is one that can be done. */
static bool is_known(const conversion *what)
{
    bool small = what->to >= CX_PTX_E4M3 && what->to <= CX_PTX_UE8M0;
    bool six = what->to >= CX_PTX_E2M3 && what->to <= CX_PTX_E2M1;
    bool directed = (what->mode & CX_PTX_ROUNDING_MASK) == CX_PTX_ROUND_FLOAT_ZERO ||
                    (what->mode & CX_PTX_ROUNDING_MASK) == CX_PTX_ROUND_FLOAT_UP;
    bool to_float = cx_ptx_type_float(what->to);

    if (what->to_pairs != what->from_pairs && what->from != CX_PTX_F32)
        return false;
    if (what->from_pairs && !what->to_pairs)
        return false;
    if (small && !(what->mode & CX_PTX_FINITE))
        return false;
    if ((six && what->from != CX_PTX_F32) ||
        (what->to == CX_PTX_UE8M0 &&
         (!directed || (what->from != CX_PTX_F32 && what->from != CX_PTX_BF16))) ||
        (what->from >= CX_PTX_E4M3 && what->from <= CX_PTX_E2M1 && what->to != CX_PTX_F16) ||
        (what->from == CX_PTX_UE8M0 && what->to != CX_PTX_BF16))
        return false;
    if ((what->mode & (CX_PTX_RELU | CX_PTX_FINITE | CX_PTX_ROUND_AWAY)) &&
        (!to_float || what->to == CX_PTX_F64 || what->to == CX_PTX_F32))
        return false;
    return to_float || (what->mode & CX_PTX_ROUNDING_MASK) < CX_PTX_ROUND_FLOAT_ZERO;
}

/* The mode's words in the keys of ops.def; NULL: it has none of that mode. */
static const char *words_of_mode(const conversion *what)
{
    uint8_t mode = what->mode;

    /* Subnormal numbers become the same integer as zero. */
    if (mode == (CX_PTX_ROUND_ZERO | CX_PTX_FLUSHED) ||
        mode == (CX_PTX_ROUND_NEAREST | CX_PTX_FLUSHED))
        mode &= (uint8_t)~CX_PTX_FLUSHED;
    switch (mode) {
    case CX_PTX_ROUND_NONE:
        return "";
    case CX_PTX_SATURATED:
        return "sat.";
    case CX_PTX_ROUND_NEAREST:
        return "rni.";
    case CX_PTX_ROUND_ZERO:
        return "rzi.";
    case CX_PTX_ROUND_DOWN:
        return "rmi.";
    case CX_PTX_ROUND_UP:
        return "rpi.";
    default:
        return NULL;
    }
}

/* The operation of ops.def, if it has this conversion, or CX_PTX_NO_OP. */
static uint16_t plain_op(const conversion *what)
{
    static const struct {
        cx_ptx_type type;
        const char *name;
    } names[] = {{CX_PTX_S16, "s16"}, {CX_PTX_U16, "u16"}, {CX_PTX_S32, "s32"}, {CX_PTX_U32, "u32"},
                 {CX_PTX_S64, "s64"}, {CX_PTX_U64, "u64"}, {CX_PTX_F16, "f16"},
                 {CX_PTX_BF16, "bf16"}, {CX_PTX_F32, "f32"}, {CX_PTX_F64, "f64"}};
    const char *to = NULL, *from = NULL, *words = words_of_mode(what);
    char key[32];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        to = names[i].type == what->to ? names[i].name : to;
        from = names[i].type == what->from ? names[i].name : from;
    }
    if (!to || !from || !words)
        return CX_PTX_NO_OP;
    snprintf(key, sizeof key, "?cvt.%s%s.%s", words, to, from);
    return cx_ptx_op_find(key, strlen(key));
}

static bool emit_conversion(cx_ptx_parser *self, const conversion *what, uint32_t d, uint32_t a)
{
    cx_ptx_instruction done = {.op = CX_PTX_CONVERT,
                               .mode = what->mode,
                               .type = (uint8_t)what->to,
                               .from = (uint8_t)what->from,
                               .d = d,
                               .a = a};

    if (!cx_ptx_type_float(what->to) && !cx_ptx_type_float(what->from) &&
        !(what->mode & CX_PTX_SATURATED))
        done.op = CX_PTX_EXTEND;
    if (plain_op(what) != CX_PTX_NO_OP)
        done.op = plain_op(what);
    return cx_ptx_emit(self, done);
}

/* Two elements of four bits in a byte. */
static bool emit_nibbles(cx_ptx_parser *self, uint32_t d, uint32_t low, uint32_t high)
{
    cx_ptx_instruction shift = {.op = CX_PTX_OP_shl_b32,
                                .a = high,
                                .b = cx_ptx_constant(self, 4),
                                .d = cx_ptx_temp(self)};

    return shift.b != CX_PTX_NO_SLOT && shift.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, shift) &&
           cx_ptx_emit(self, (cx_ptx_instruction){
                                 .op = CX_PTX_OP_or_b32, .d = d, .a = low, .b = shift.d});
}

/* The element `which` of a pair in a register. */
static bool emit_element(cx_ptx_parser *self, cx_ptx_type type, uint8_t which, uint32_t d,
                         uint32_t whole)
{
    if (type != CX_PTX_E2M1)
        return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                      .mode = which,
                                                      .size = (uint8_t)cx_ptx_type_bytes(type),
                                                      .d = d,
                                                      .a = whole});
    /* A conversion takes the lowest bits that it needs. */
    return cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_OP_shr_u32,
                                                  .d = d,
                                                  .a = whole,
                                                  .b = cx_ptx_constant(self, 4 * which)});
}

static bool emit_pack(cx_ptx_parser *self, unsigned bytes, uint32_t d, uint32_t low, uint32_t high)
{
    return cx_ptx_emit(
        self, (cx_ptx_instruction){
                  .op = CX_PTX_PACK, .size = (uint8_t)bytes, .d = d, .a = low, .b = high});
}

/* The register of a pair. */
static cx_ptx_type pair_type(cx_ptx_type element)
{
    if (element == CX_PTX_E2M1)
        return CX_PTX_B8;
    return cx_ptx_type_bytes(element) == 1 ? CX_PTX_B16 : CX_PTX_B32;
}

/* The elements of a pair, the lower one first: in one register, or operands in opposite order. */
static bool take_elements(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          const conversion *what, uint32_t out_slots[2])
{
    for (uint8_t i = 0; i < 2; i++) {
        const cx_ptx_operand *operand = &statement->operands[what->from_pairs ? 1 : 2 - i];
        cx_ptx_type pair = pair_type(what->from);
        uint32_t slot =
            cx_ptx_value_or_wider(self, operand, what->from_pairs ? pair : what->from);

        out_slots[i] = slot;
        if (slot == CX_PTX_NO_SLOT)
            return false;
        if (!what->from_pairs)
            continue;
        out_slots[i] = cx_ptx_temp(self);
        if (out_slots[i] == CX_PTX_NO_SLOT ||
            !emit_element(self, what->from, i, out_slots[i], slot))
            return false;
    }
    return true;
}

static bool encode_pairs(cx_ptx_parser *self, const cx_ptx_statement *statement,
                         const conversion *what)
{
    int count = what->from_pairs ? 2 : 3;
    unsigned bytes = cx_ptx_type_bytes(what->to);
    uint32_t elements[2], results[2], d;

    if (!cx_ptx_need(self, statement, count, count) ||
        !take_elements(self, statement, what, elements))
        return false;
    d = cx_ptx_result_or_wider(self, &statement->operands[0], pair_type(what->to));
    for (int i = 0; i < 2; i++) {
        results[i] = cx_ptx_temp(self);
        if (d == CX_PTX_NO_SLOT || results[i] == CX_PTX_NO_SLOT ||
            !emit_conversion(self, what, results[i], elements[i]))
            return false;
    }
    return what->to == CX_PTX_E2M1 ? emit_nibbles(self, d, results[0], results[1])
                                   : emit_pack(self, bytes, d, results[0], results[1]);
}

/* cvt.pack.sat.s8.s32.b32 d, a, b, c: c's lower bits, a and b, each clamped. */
static bool encode_pack(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    conversion what = {.mode = CX_PTX_SATURATED};
    uint32_t parts[2], whole, d, c;
    cx_ptx_token word;
    unsigned bytes;

    for (int i = 0; cx_ptx_next_word(&words, &word); i++)
        if (i == 3)
            what.to = cx_ptx_type_find(word.text, word.length);
        else if (i == 4)
            what.from = cx_ptx_type_find(word.text, word.length);
    bytes = cx_ptx_type_bytes(what.to);
    if (what.to == CX_PTX_NO_TYPE || what.from != CX_PTX_S32 || bytes > 2 ||
        cx_ptx_type_float(what.to) || !cx_ptx_has_word(&statement->opcode, "sat"))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, bytes == 2 ? 3 : 4, bytes == 2 ? 3 : 4) ||
        !take_elements(self, statement, &what, parts))
        return false;
    for (int i = 0; i < 2; i++) {
        uint32_t clamped = cx_ptx_temp(self);

        if (clamped == CX_PTX_NO_SLOT || !emit_conversion(self, &what, clamped, parts[i]))
            return false;
        parts[i] = clamped;
    }
    d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B32);
    if (d == CX_PTX_NO_SLOT)
        return false;
    if (bytes == 2)
        return emit_pack(self, 2, d, parts[0], parts[1]);
    whole = cx_ptx_temp(self);
    c = cx_ptx_value(self, &statement->operands[3], CX_PTX_B32);
    return whole != CX_PTX_NO_SLOT && c != CX_PTX_NO_SLOT &&
           emit_pack(self, 1, whole, parts[0], parts[1]) && emit_pack(self, 2, d, whole, c);
}

bool cx_ptx_encode_cvt(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    conversion what;
    uint32_t a, d;

    if (cx_ptx_has_word(&statement->opcode, "pack"))
        return encode_pack(self, statement);
    if (!read_conversion(&statement->opcode, &what) || !is_known(&what))
        return cx_ptx_unknown(self, statement);
    if (what.to_pairs)
        return encode_pairs(self, statement, &what);
    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    a = cx_ptx_value_or_wider(self, &statement->operands[1], what.from);
    d = cx_ptx_result_or_wider(self, &statement->operands[0], what.to);
    return a != CX_PTX_NO_SLOT && d != CX_PTX_NO_SLOT && emit_conversion(self, &what, d, a);
}
