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

uint32_t cx_ptx_video_do(const cx_ptx_video *what, uint32_t a, uint32_t b, uint32_t c)
{
    unsigned parts = what->parts, width = 32 / parts;
    uint32_t together = 0;
    int64_t sum = 0;

    for (unsigned i = 0; i < parts; i++) {
        int64_t value = computed((cx_ptx_video_op)what->op, part_of(a, width, i, what->a_signed),
                                 part_of(b, width, i, what->b_signed));

        if (what->saturated)
            value = clamped(value, width, what->d_signed);
        sum += value;
        together |= width == 32 ? (uint32_t)value
                                : ((uint32_t)value & ((UINT32_C(1) << width) - 1)) << (width * i);
    }
    if (parts > 1 && what->second == CX_PTX_VIDEO_NOTHING)
        return together;
    return finished(what, sum, c);
}

/* ---- the instruction ---- */

static bool read_operation(const cx_ptx_token *word, cx_ptx_video *out)
{
    static const struct {
        const char *name;
        cx_ptx_video_op op;
    } rows[] = {{"vadd", CX_PTX_VIDEO_ADD},          {"vsub", CX_PTX_VIDEO_SUB},
                {"vabsdiff", CX_PTX_VIDEO_DISTANCE}, {"vmin", CX_PTX_VIDEO_MIN},
                {"vmax", CX_PTX_VIDEO_MAX},          {"vset", CX_PTX_VIDEO_EQ}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].name);

        if (word->length < length || memcmp(word->text, rows[i].name, length) != 0)
            continue;
        out->op = (uint8_t)rows[i].op;
        out->parts = 1;
        if (word->length == length)
            return true;
        out->parts = (uint8_t)(word->text[length] - '0');
        return word->length == length + 1 && (out->parts == 2 || out->parts == 4);
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

/* Types are those of d, a and b; of vset those of a and b. */
static bool read_video(const cx_ptx_token *opcode, cx_ptx_video *out)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    bool types[3] = {false}, compares;
    cx_ptx_token word;
    int count = 0;

    *out = (cx_ptx_video){.second = CX_PTX_VIDEO_NOTHING};
    if (!cx_ptx_next_word(&words, &word) || !read_operation(&word, out))
        return false;
    compares = out->op == CX_PTX_VIDEO_EQ;
    if (compares && (!cx_ptx_next_word(&words, &word) || !read_relation(&word, out)))
        return false;
    while (cx_ptx_next_word(&words, &word)) {
        if ((cx_ptx_token_is(&word, "u32") || cx_ptx_token_is(&word, "s32")) && count < 3)
            types[count++] = word.text[0] == 's';
        else if (cx_ptx_token_is(&word, "sat"))
            out->saturated = true;
        else if (cx_ptx_token_is(&word, "add"))
            out->second = CX_PTX_VIDEO_SUM;
        else if (cx_ptx_token_is(&word, "min") && out->parts == 1)
            out->second = CX_PTX_VIDEO_LEAST;
        else if (cx_ptx_token_is(&word, "max") && out->parts == 1)
            out->second = CX_PTX_VIDEO_MOST;
        else
            return false;
    }
    out->d_signed = !compares && types[0];
    out->a_signed = types[compares ? 0 : 1];
    out->b_signed = types[compares ? 1 : 2];
    return count == (compares ? 2 : 3);
}

bool cx_ptx_encode_video(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_VIDEO, .c = CX_PTX_SLOT_ZERO};
    cx_ptx_video what;

    if (!read_video(&statement->opcode, &what))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, what.second || what.parts > 1 ? 4 : 3, 4))
        return false;
    memcpy(&done.immediate, &what, sizeof what);
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U32);
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_U32);
    done.b = cx_ptx_value(self, &statement->operands[2], CX_PTX_U32);
    if (statement->count == 4)
        done.c = cx_ptx_value(self, &statement->operands[3], CX_PTX_U32);
    return done.d != CX_PTX_NO_SLOT && done.a != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT &&
           done.c != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}
