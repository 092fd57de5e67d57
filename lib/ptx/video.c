/*
 * Video instructions: parts of 8, 16 or 32 bits, widened, computed, and put together again or
 * summed up.
 */
#include "ptx/video.h"

#include <string.h>

/* ---- values ---- */

static int64_t part_of(uint32_t bits, unsigned width, unsigned at, bool is_signed)
{
    uint32_t part = width == 32 ? bits : bits >> (width * at) & ((UINT32_C(1) << width) - 1);

    if (!is_signed)
        return part;
    return width == 32 ? (int32_t)part : (int32_t)(part << (32 - width)) >> (32 - width);
}

static int64_t clamped(int64_t value, unsigned width, bool is_signed)
{
    int64_t most = (INT64_C(1) << (is_signed ? width - 1 : width)) - 1;
    int64_t least = is_signed ? -most - 1 : 0;

    return value < least ? least : value > most ? most : value;
}

static bool compared(cx_ptx_video_op op, int64_t a, int64_t b)
{
    switch (op) {
    case CX_PTX_VIDEO_EQ:
        return a == b;
    case CX_PTX_VIDEO_NE:
        return a != b;
    case CX_PTX_VIDEO_LT:
        return a < b;
    case CX_PTX_VIDEO_LE:
        return a <= b;
    case CX_PTX_VIDEO_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t computed(cx_ptx_video_op op, int64_t a, int64_t b)
{
    switch (op) {
    case CX_PTX_VIDEO_ADD:
        return a + b;
    case CX_PTX_VIDEO_SUB:
        return a - b;
    case CX_PTX_VIDEO_DISTANCE:
        return a < b ? b - a : a - b;
    case CX_PTX_VIDEO_MIN:
        return a < b ? a : b;
    case CX_PTX_VIDEO_MAX:
        return a < b ? b : a;
    case CX_PTX_VIDEO_AVERAGE: /* half of an odd sum goes away from zero */
        return (a + b + (a + b >= 0)) >> 1;
    case CX_PTX_VIDEO_SHIFT_LEFT:
        return (int64_t)((uint64_t)a << b);
    case CX_PTX_VIDEO_SHIFT_RIGHT:
        return a >> b;
    default:
        return compared(op, a, b);
    }
}

/* The second operation, of the result and c. */
static uint32_t finished(const cx_ptx_video *what, int64_t value, uint32_t c)
{
    int64_t other = what->d_signed ? (int64_t)(int32_t)c : (int64_t)c;
    int64_t own = what->d_signed ? (int64_t)(int32_t)value : (int64_t)(uint32_t)value;

    switch (what->second) {
    case CX_PTX_VIDEO_SUM:
        return (uint32_t)value + c;
    case CX_PTX_VIDEO_LEAST:
        return (uint32_t)(own < other ? own : other);
    case CX_PTX_VIDEO_MOST:
        return (uint32_t)(own > other ? own : other);
    default:
        return (uint32_t)value;
    }
}

/* vmad: a sum that is negative is one less and the carry. */
static uint32_t multiplied(const cx_ptx_video *what, uint32_t a, uint32_t b, uint32_t c)
{
    __int128 sum = (__int128)part_of(a, 32, 0, what->a_signed) * part_of(b, 32, 0, what->b_signed);
    bool minus = what->extra & (CX_PTX_VIDEO_MINUS_PRODUCT | CX_PTX_VIDEO_MINUS_SUMMAND);
    bool is_signed = what->a_signed || what->b_signed || minus;
    __int128 summand = is_signed ? (__int128)(int32_t)c : (__int128)c;

    if (what->extra & CX_PTX_VIDEO_MINUS_PRODUCT)
        sum = -sum;
    if (what->extra & CX_PTX_VIDEO_MINUS_SUMMAND)
        summand = -summand;
    sum += summand + !!(what->extra & CX_PTX_VIDEO_PLUS_ONE);
    sum >>= what->extra & CX_PTX_VIDEO_SHIFT_MASK;
    if (!what->saturated)
        return (uint32_t)sum;
    return (uint32_t)clamped((int64_t)sum, 32, is_signed);
}

uint32_t cx_ptx_video_do(const cx_ptx_video *what, uint32_t a, uint32_t b, uint32_t c)
{
    unsigned parts = what->parts, width = 32 / parts;
    uint32_t together = 0;
    int64_t sum = 0;

    if (what->op == CX_PTX_VIDEO_MULTIPLY)
        return multiplied(what, a, b, c);
    for (unsigned i = 0; i < parts; i++) {
        int64_t value = computed((cx_ptx_video_op)what->op, part_of(a, width, i, what->a_signed),
                                 part_of(b, width, i, what->b_signed));

        if (what->saturated)
            value = clamped(value, parts == 1 ? what->extra : width, what->d_signed);
        if (parts == 1 || what->extra >> i & 1)
            sum += value;
        together |= width == 32 ? (uint32_t)value
                                : ((uint32_t)value & ((UINT32_C(1) << width) - 1)) << (width * i);
    }
    if (parts > 1 && what->second == CX_PTX_VIDEO_NOTHING)
        return together;
    return finished(what, sum, c);
}

/* ---- the opcode ---- */

/* The words of an opcode. */
typedef struct video_words {
    cx_ptx_video what;
    bool compares, wraps, shifts, multiplies;
} video_words;

static bool read_operation(const cx_ptx_token *word, video_words *out)
{
    static const struct {
        const char *name;
        cx_ptx_video_op op;
        const char *parts; /* that there may be */
    } rows[] = {{"vadd", CX_PTX_VIDEO_ADD, "124"},          {"vsub", CX_PTX_VIDEO_SUB, "124"},
                {"vabsdiff", CX_PTX_VIDEO_DISTANCE, "124"}, {"vmin", CX_PTX_VIDEO_MIN, "124"},
                {"vmax", CX_PTX_VIDEO_MAX, "124"},          {"vset", CX_PTX_VIDEO_EQ, "124"},
                {"vavrg", CX_PTX_VIDEO_AVERAGE, "24"},      {"vshl", CX_PTX_VIDEO_SHIFT_LEFT, "1"},
                {"vshr", CX_PTX_VIDEO_SHIFT_RIGHT, "1"},    {"vmad", CX_PTX_VIDEO_MULTIPLY, "1"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].name);
        char parts = word->length > length ? word->text[length] : '1';

        if (word->length < length || word->length > length + 1 ||
            memcmp(word->text, rows[i].name, length) != 0 || !strchr(rows[i].parts, parts) ||
            (word->length > length && parts == '1'))
            continue;
        out->what.op = (uint8_t)rows[i].op;
        out->what.parts = (uint8_t)(parts - '0');
        out->compares = rows[i].op == CX_PTX_VIDEO_EQ;
        out->multiplies = rows[i].op == CX_PTX_VIDEO_MULTIPLY;
        out->shifts =
            rows[i].op == CX_PTX_VIDEO_SHIFT_LEFT || rows[i].op == CX_PTX_VIDEO_SHIFT_RIGHT;
        return true;
    }
    return false;
}

static bool read_relation(const cx_ptx_token *word, cx_ptx_video *out)
{
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (cx_ptx_token_is(word, names[i])) {
            out->op = (uint8_t)(CX_PTX_VIDEO_EQ + i);
            return true;
        }
    return false;
}

/* A word of vmad. */
static bool read_scale(const cx_ptx_token *word, cx_ptx_video *out)
{
    if (cx_ptx_token_is(word, "po"))
        out->extra |= CX_PTX_VIDEO_PLUS_ONE;
    else if (cx_ptx_token_is(word, "shr7"))
        out->extra |= 7;
    else if (cx_ptx_token_is(word, "shr15"))
        out->extra |= 15;
    else
        return false;
    return true;
}

static bool read_second(const cx_ptx_token *word, cx_ptx_video *out)
{
    if (cx_ptx_token_is(word, "add"))
        out->second = CX_PTX_VIDEO_SUM;
    else if (cx_ptx_token_is(word, "min") && out->parts == 1)
        out->second = CX_PTX_VIDEO_LEAST;
    else if (cx_ptx_token_is(word, "max") && out->parts == 1)
        out->second = CX_PTX_VIDEO_MOST;
    else
        return false;
    return true;
}

/* Types are those of d, a and b; of vset those of a and b. The relation may be anywhere. */
static bool read_video(const cx_ptx_token *opcode, video_words *out)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    bool types[3] = {false}, related = false, moded = false;
    cx_ptx_video *what = &out->what;
    cx_ptx_token word;
    int count = 0;

    *out = (video_words){.what = {.second = CX_PTX_VIDEO_NOTHING}};
    if (!cx_ptx_next_word(&words, &word) || !read_operation(&word, out))
        return false;
    while (cx_ptx_next_word(&words, &word)) {
        if ((cx_ptx_token_is(&word, "u32") || cx_ptx_token_is(&word, "s32")) && count < 3) {
            types[count++] = word.text[0] == 's';
        } else if (cx_ptx_token_is(&word, "sat")) {
            what->saturated = true;
        } else if (out->compares && !related && read_relation(&word, what)) {
            related = true;
        } else if (out->shifts &&
                   (cx_ptx_token_is(&word, "clamp") || cx_ptx_token_is(&word, "wrap"))) {
            out->wraps = word.text[0] == 'w';
            moded = true;
        } else if (!(out->multiplies ? read_scale(&word, what) : read_second(&word, what))) {
            return false;
        }
    }
    what->d_signed = !out->compares && types[0];
    what->a_signed = types[out->compares ? 0 : 1];
    what->b_signed = types[out->compares ? 1 : 2];
    return count == (out->compares ? 2 : 3) && related == out->compares && moded == out->shifts &&
           !(out->shifts && what->b_signed) && !(out->compares && what->saturated);
}

/* ---- parts of operands ---- */

/* The permutation of prmt that leaves the chosen parts of two registers: b3210, h10. */
static bool read_permutation(const cx_ptx_token *chosen, unsigned parts, uint32_t *out)
{
    uint32_t bytes = 4 / parts;

    *out = 0;
    if (chosen->text[0] != (parts == 4 ? 'b' : 'h') || chosen->length != parts + 1)
        return false;
    for (unsigned i = 0; i < parts; i++) {
        uint32_t part = (uint32_t)(chosen->text[parts - i] - '0');

        if (part >= 2 * parts)
            return false;
        for (uint32_t byte = 0; byte < bytes; byte++)
            *out |= (part * bytes + byte) << 4 * (i * bytes + byte);
    }
    return true;
}

/* The parts that are written, a bit for each: b31, h0; each once, the highest first. */
static bool read_written(const cx_ptx_token *chosen, unsigned parts, uint8_t *out)
{
    char last = '9';

    *out = 0;
    if (chosen->text[0] != (parts == 4 ? 'b' : 'h'))
        return false;
    for (size_t i = 1; i < chosen->length; i++) {
        unsigned part = (unsigned)(chosen->text[i] - '0');

        if (part >= parts || chosen->text[i] >= last)
            return false;
        *out |= (uint8_t)(1u << part);
        last = chosen->text[i];
    }
    return true;
}

/* A single part, b0 or h1: its first bit and their number. */
static bool read_part(const cx_ptx_token *chosen, unsigned *out_first, unsigned *out_bits)
{
    unsigned bits = chosen->text[0] == 'b' ? 8 : 16;

    *out_bits = bits;
    *out_first = (unsigned)(chosen->text[1] - '0') * bits;
    return chosen->length == 2 && *out_first < 32;
}

static uint32_t whole_value(cx_ptx_parser *self, const cx_ptx_operand *operand)
{
    cx_ptx_operand whole = *operand;

    whole.minus = false;
    whole.parts_chosen.length = 0;
    return cx_ptx_value(self, &whole, CX_PTX_U32);
}

/* The operand of an instruction with one part: what is chosen of it, widened. */
static uint32_t part_value(cx_ptx_parser *self, const cx_ptx_operand *operand, bool is_signed)
{
    uint32_t whole = whole_value(self, operand), part, wide;
    unsigned first, bits;
    cx_ptx_type type;

    if (whole == CX_PTX_NO_SLOT || operand->parts_chosen.length == 0)
        return whole;
    if (!read_part(&operand->parts_chosen, &first, &bits)) {
        CX_PTX_INVALID_AT(self, "'%.*s' has no such part", CX_PTX_QUOTE(&operand->token));
        return CX_PTX_NO_SLOT;
    }
    part = cx_ptx_temp(self);
    wide = cx_ptx_temp(self);
    if (bits == 8)
        type = is_signed ? CX_PTX_S8 : CX_PTX_U8;
    else
        type = is_signed ? CX_PTX_S16 : CX_PTX_U16;
    if (part == CX_PTX_NO_SLOT || wide == CX_PTX_NO_SLOT ||
        !cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                .size = (uint8_t)(bits / 8),
                                                .mode = (uint8_t)(first / bits),
                                                .d = part,
                                                .a = whole}) ||
        !cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_EXTEND,
                                                .type = CX_PTX_B32,
                                                .from = (uint8_t)type,
                                                .d = wide,
                                                .a = part}))
        return CX_PTX_NO_SLOT;
    return wide;
}

/* The parts of a and b that one of them chooses. */
static uint32_t permuted_value(cx_ptx_parser *self, const cx_ptx_operand *operand, unsigned parts,
                               uint32_t own, uint32_t a, uint32_t b)
{
    uint32_t permutation;
    cx_ptx_instruction done = {.op = CX_PTX_OP_prmt_b32, .a = a, .b = b};

    if (operand->parts_chosen.length == 0)
        return own;
    if (!read_permutation(&operand->parts_chosen, parts, &permutation)) {
        CX_PTX_INVALID_AT(self, "'%.*s' has no such parts", CX_PTX_QUOTE(&operand->token));
        return CX_PTX_NO_SLOT;
    }
    done.c = cx_ptx_constant(self, permutation);
    done.d = cx_ptx_temp(self);
    return done.c != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done)
               ? done.d
               : CX_PTX_NO_SLOT;
}

/* vshl, vshr: the amount as the mode has it. */
static uint32_t amount_of(cx_ptx_parser *self, uint32_t b, bool wraps)
{
    cx_ptx_instruction done = {.op = wraps ? CX_PTX_OP_and_b32 : CX_PTX_OP_min_u32,
                               .a = b,
                               .b = cx_ptx_constant(self, wraps ? 31 : 32),
                               .d = cx_ptx_temp(self)};

    return done.b != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done)
               ? done.d
               : CX_PTX_NO_SLOT;
}

/* ---- the instruction ---- */

static bool take_sources(cx_ptx_parser *self, const cx_ptx_statement *statement,
                         const video_words *words, cx_ptx_instruction *out)
{
    const cx_ptx_operand *a = &statement->operands[1], *b = &statement->operands[2];
    unsigned parts = words->what.parts;

    if (parts == 1) {
        out->a = part_value(self, a, words->what.a_signed);
        out->b = part_value(self, b, words->what.b_signed);
        if (words->shifts && out->b != CX_PTX_NO_SLOT)
            out->b = amount_of(self, out->b, words->wraps);
    } else {
        uint32_t own_a = whole_value(self, a), own_b = whole_value(self, b);

        if (own_a == CX_PTX_NO_SLOT || own_b == CX_PTX_NO_SLOT)
            return false;
        out->a = permuted_value(self, a, parts, own_a, own_a, own_b);
        out->b = permuted_value(self, b, parts, own_b, own_a, own_b);
    }
    if (statement->count == 4)
        out->c = whole_value(self, &statement->operands[3]);
    return out->a != CX_PTX_NO_SLOT && out->b != CX_PTX_NO_SLOT && out->c != CX_PTX_NO_SLOT;
}

/* Signs are vmad's: of the product, or of c. */
static bool take_signs(cx_ptx_parser *self, const cx_ptx_statement *statement, video_words *words)
{
    const cx_ptx_operand *operands = statement->operands;
    bool product = operands[1].minus != operands[2].minus;
    bool summand = statement->count == 4 && operands[3].minus;
    bool any = operands[1].minus || operands[2].minus || summand;

    if (any && (!words->multiplies || (words->what.extra & CX_PTX_VIDEO_PLUS_ONE) ||
                (product && summand)))
        return cx_ptx_wrong(self, statement, "a sign that it does not have");
    if (words->multiplies)
        words->what.extra |= (uint8_t)((product ? CX_PTX_VIDEO_MINUS_PRODUCT : 0) |
                                       (summand ? CX_PTX_VIDEO_MINUS_SUMMAND : 0));
    return true;
}

/* Writes a part of d; the others are c's. */
static bool emit_merged(cx_ptx_parser *self, const cx_ptx_operand *to, cx_ptx_instruction done,
                        const video_words *words, uint8_t written)
{
    cx_ptx_instruction merge = {.op = CX_PTX_BFI_32, .d = done.d, .b = done.c};
    unsigned first, bits, parts = words->what.parts;
    uint32_t mask = 0;

    done.d = cx_ptx_temp(self);
    done.c = CX_PTX_SLOT_ZERO;
    merge.a = done.d;
    if (done.d == CX_PTX_NO_SLOT || !cx_ptx_emit(self, done))
        return false;
    if (parts == 1) {
        read_part(&to->parts_chosen, &first, &bits);
        merge.c = cx_ptx_constant(self, first);
        merge.e = cx_ptx_constant(self, bits);
    } else {
        for (unsigned i = 0; i < parts; i++)
            mask |= written >> i & 1 ? (UINT32_MAX >> (32 - 32 / parts)) << i * (32 / parts) : 0;
        /* The mask chooses between the result and c. */
        merge.op = CX_PTX_LOP3;
        merge.mode = 0xca;
        merge.c = merge.b;
        merge.b = merge.a;
        merge.a = cx_ptx_constant(self, mask);
    }
    return merge.a != CX_PTX_NO_SLOT && merge.c != CX_PTX_NO_SLOT && merge.e != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, merge);
}

bool cx_ptx_encode_video(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_VIDEO, .c = CX_PTX_SLOT_ZERO};
    cx_ptx_operand to = statement->operands[0];
    bool merges = to.parts_chosen.length > 0, needs;
    unsigned first, bits = 32;
    uint8_t written = 15;
    video_words words;

    if (!read_video(&statement->opcode, &words))
        return cx_ptx_unknown(self, statement);
    needs = merges || words.what.second || words.what.parts > 1 || words.multiplies;
    if (!cx_ptx_need(self, statement, needs ? 4 : 3, 4) || !take_signs(self, statement, &words))
        return false;
    if (merges && (words.what.parts == 1
                       ? words.multiplies || words.what.second ||
                             !read_part(&to.parts_chosen, &first, &bits)
                       : !read_written(&to.parts_chosen, words.what.parts, &written)))
        return cx_ptx_wrong(self, statement, "a part of the result that it does not have");
    if (!words.multiplies)
        words.what.extra = words.what.parts == 1 ? (uint8_t)bits : written;
    memcpy(&done.immediate, &words.what, sizeof words.what);
    to.parts_chosen.length = 0;
    done.d = cx_ptx_result(self, &to, CX_PTX_U32);
    if (done.d == CX_PTX_NO_SLOT || !take_sources(self, statement, &words, &done))
        return false;
    if (merges && !words.what.second)
        return emit_merged(self, &statement->operands[0], done, &words, written);
    return cx_ptx_emit(self, done);
}
