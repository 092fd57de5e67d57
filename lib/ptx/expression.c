/*
 * Constant expressions. Their operators, precedence and types are C's, on integers of 64 bits and
 * on doubles, which do not mix: a literal is signed if it fits, comparisons are signed and give 0
 * or 1, ~, &, ^ and | are unsigned.
 */
#include "ptx/expression.h"

#include <string.h>

#define DEPTH_MAX 64

typedef cx_ptx_expression number;

typedef enum operation {
    MULTIPLY,
    DIVIDE,
    REMAIN,
    ADD,
    SUBTRACT,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    UNEQUAL,
    AND,
    EXCLUSIVE_OR,
    OR,
    AND_ALSO,
    OR_ELSE
} operation;

/* Levels of precedence, from the one that binds most. */
enum { LEVEL_TERM = 1, LEVEL_SUM, LEVEL_LAST = 10 };

static const struct {
    const char *text;
    operation operation;
    int level;
} operators[] = {/* a longer one before its beginning */
                 {"<<", SHIFT_LEFT, 3},
                 {">>", SHIFT_RIGHT, 3},
                 {"<=", LESS_EQUAL, 4},
                 {">=", GREATER_EQUAL, 4},
                 {"==", EQUAL, 5},
                 {"!=", UNEQUAL, 5},
                 {"&&", AND_ALSO, 9},
                 {"||", OR_ELSE, 10},
                 {"<", LESS, 4},
                 {">", GREATER, 4},
                 {"&", AND, 6},
                 {"^", EXCLUSIVE_OR, 7},
                 {"|", OR, 8},
                 {"+", ADD, LEVEL_SUM},
                 {"-", SUBTRACT, LEVEL_SUM},
                 {"*", MULTIPLY, LEVEL_TERM},
                 {"/", DIVIDE, LEVEL_TERM},
                 {"%", REMAIN, LEVEL_TERM}};

/* ---- values ---- */

static bool is_float(const number *value)
{
    return value->type == CX_PTX_F64 || value->type == CX_PTX_F32;
}

static double double_of(const number *value)
{
    float narrow;
    double wide;
    uint32_t bits = (uint32_t)value->bits;

    switch (value->type) {
    case CX_PTX_F64:
        memcpy(&wide, &value->bits, sizeof wide);
        return wide;
    case CX_PTX_F32:
        memcpy(&narrow, &bits, sizeof narrow);
        return narrow;
    case CX_PTX_U64:
        return (double)value->bits;
    default:
        return (double)(int64_t)value->bits;
    }
}

static number of_double(double value)
{
    number result = {.type = CX_PTX_F64};

    memcpy(&result.bits, &value, sizeof value);
    return result;
}

static number of_truth(bool value)
{
    return (number){CX_PTX_S64, value};
}

static bool is_true(const number *value)
{
    return is_float(value) ? double_of(value) != 0 : value->bits != 0;
}

/* ---- operations ---- */

static number compute_floats(operation what, double a, double b)
{
    switch (what) {
    case MULTIPLY:
        return of_double(a * b);
    case DIVIDE:
        return of_double(a / b);
    case ADD:
        return of_double(a + b);
    case SUBTRACT:
        return of_double(a - b);
    case LESS:
        return of_truth(a < b);
    case LESS_EQUAL:
        return of_truth(a <= b);
    case GREATER:
        return of_truth(a > b);
    case GREATER_EQUAL:
        return of_truth(a >= b);
    case EQUAL:
        return of_truth(a == b);
    default:
        return of_truth(a != b);
    }
}

static uint64_t shifted(operation what, const number *a, uint64_t by)
{
    if (what == SHIFT_LEFT)
        return by > 63 ? 0 : a->bits << by;
    if (a->type == CX_PTX_S64)
        return (uint64_t)((int64_t)a->bits >> (by > 63 ? 63 : by));
    return by > 63 ? 0 : a->bits >> by;
}

/* The divisor is not 0. */
static uint64_t divided(operation what, uint64_t a, uint64_t b, bool is_signed)
{
    if (!is_signed)
        return what == DIVIDE ? a / b : a % b;
    if ((int64_t)b == -1)
        return what == DIVIDE ? 0 - a : 0;
    return (uint64_t)(what == DIVIDE ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

static bool is_less(uint64_t a, uint64_t b, bool is_signed)
{
    return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static number compute_integers(operation what, const number *a, const number *b)
{
    bool is_signed = a->type == CX_PTX_S64 && b->type == CX_PTX_S64;
    number result = {.type = is_signed ? CX_PTX_S64 : CX_PTX_U64};

    switch (what) {
    case AND_ALSO:
        return of_truth(is_true(a) && is_true(b));
    case OR_ELSE:
        return of_truth(is_true(a) || is_true(b));
    case MULTIPLY:
        result.bits = a->bits * b->bits;
        return result;
    case DIVIDE:
    case REMAIN:
        result.bits = divided(what, a->bits, b->bits, is_signed);
        return result;
    case ADD:
        result.bits = a->bits + b->bits;
        return result;
    case SUBTRACT:
        result.bits = a->bits - b->bits;
        return result;
    case SHIFT_LEFT:
    case SHIFT_RIGHT:
        return (number){a->type, shifted(what, a, b->bits)};
    case LESS:
        return of_truth(is_less(a->bits, b->bits, is_signed));
    case LESS_EQUAL:
        return of_truth(!is_less(b->bits, a->bits, is_signed));
    case GREATER:
        return of_truth(is_less(b->bits, a->bits, is_signed));
    case GREATER_EQUAL:
        return of_truth(!is_less(a->bits, b->bits, is_signed));
    case EQUAL:
        return of_truth(a->bits == b->bits);
    case UNEQUAL:
        return of_truth(a->bits != b->bits);
    case AND:
        return (number){CX_PTX_U64, a->bits & b->bits};
    case EXCLUSIVE_OR:
        return (number){CX_PTX_U64, a->bits ^ b->bits};
    default:
        return (number){CX_PTX_U64, a->bits | b->bits};
    }
}

static bool takes_floats(operation what)
{
    return what != REMAIN && what != SHIFT_LEFT && what != SHIFT_RIGHT && what != AND &&
           what != EXCLUSIVE_OR && what != OR && what != AND_ALSO && what != OR_ELSE;
}

static bool compute(cx_ptx_parser *self, operation what, const number *b, number *inout_a)
{
    bool floats = is_float(inout_a);

    if (floats != is_float(b))
        return CX_PTX_INVALID_AT(self, "a constant expression of an integer and a float");
    if (floats && !takes_floats(what))
        return CX_PTX_INVALID_AT(self, "an operator of integers in an expression of floats");
    if (!floats && (what == DIVIDE || what == REMAIN) && b->bits == 0)
        return CX_PTX_INVALID_AT(self, "a constant expression divides by 0");
    *inout_a = floats ? compute_floats(what, double_of(inout_a), double_of(b))
                      : compute_integers(what, inout_a, b);
    return true;
}

/* ---- operators ---- */

/* The lexer takes `%` for the beginning of a name: here it is an operator. */
static bool at_sign(const cx_ptx_parser *self, const char *text)
{
    const cx_ptx_token *token = &self->token;
    size_t length = strlen(text), left = (size_t)(self->lexer.end - token->text);

    return (token->kind == CX_PTX_SIGN || (token->kind == CX_PTX_WORD && *token->text == '%')) &&
           left >= length && memcmp(token->text, text, length) == 0;
}

static void take_sign(cx_ptx_parser *self, const char *text)
{
    self->lexer.next = self->token.text + strlen(text);
    cx_ptx_advance(self);
}

/* Takes an operator of that level. */
static bool take_operator(cx_ptx_parser *self, int level, operation *out_operation)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (!at_sign(self, operators[i].text))
            continue;
        if (operators[i].level != level)
            return false;
        take_sign(self, operators[i].text);
        *out_operation = operators[i].operation;
        return true;
    }
    return false;
}

/* ---- expressions ---- */

static bool parse_choice(cx_ptx_parser *self, int depth, number *out);

static bool take_literal(cx_ptx_parser *self, number *out)
{
    const cx_ptx_token *token = &self->token;

    *out = (number){CX_PTX_S64, token->bits};
    switch (token->kind) {
    case CX_PTX_INTEGER:
        if (token->text[token->length - 1] == 'U' || token->bits > INT64_MAX)
            out->type = CX_PTX_U64;
        break;
    case CX_PTX_SINGLE:
        out->type = CX_PTX_F32;
        break;
    case CX_PTX_DOUBLE:
        out->type = CX_PTX_F64;
        break;
    default:
        if (!cx_ptx_at(self, "WARP_SZ"))
            return CX_PTX_INVALID_AT(self, "'%.*s' is no operand", CX_PTX_QUOTE(token));
        out->bits = CX_PTX_WARP_SIZE;
    }
    cx_ptx_advance(self);
    return true;
}

static void negate(number *value)
{
    if (is_float(value))
        value->bits ^= UINT64_C(1) << (value->type == CX_PTX_F32 ? 31 : 63);
    else
        value->bits = 0 - value->bits;
}

static bool parse_unary(cx_ptx_parser *self, int depth, number *out);

/* (.u64)1 */
static bool parse_cast(cx_ptx_parser *self, int depth, number *out)
{
    cx_ptx_type type = cx_ptx_token_type(&self->token);

    if (type != CX_PTX_S64 && type != CX_PTX_U64)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no type of a constant expression",
                                 CX_PTX_QUOTE(&self->token));
    cx_ptx_advance(self);
    if (!cx_ptx_expect(self, ")") || !parse_unary(self, depth, out))
        return false;
    if (is_float(out))
        return CX_PTX_INVALID_AT(self, "a float as an integer in a constant expression");
    out->type = type;
    return true;
}

static bool parse_unary(cx_ptx_parser *self, int depth, number *out)
{
    if (depth == DEPTH_MAX)
        return CX_PTX_INVALID_AT(self, "a constant expression is too deep");
    if (cx_ptx_take(self, "("))
        return self->token.kind == CX_PTX_WORD && *self->token.text == '.'
                   ? parse_cast(self, depth + 1, out)
                   : parse_choice(self, depth + 1, out) && cx_ptx_expect(self, ")");
    if (cx_ptx_take(self, "+"))
        return parse_unary(self, depth + 1, out);
    if (cx_ptx_take(self, "-")) {
        if (!parse_unary(self, depth + 1, out))
            return false;
        negate(out);
        return true;
    }
    if (cx_ptx_take(self, "!")) {
        if (!parse_unary(self, depth + 1, out))
            return false;
        *out = of_truth(!is_true(out));
        return true;
    }
    if (!cx_ptx_take(self, "~"))
        return take_literal(self, out);
    if (!parse_unary(self, depth + 1, out))
        return false;
    if (is_float(out))
        return CX_PTX_INVALID_AT(self, "'~' before a float");
    *out = (number){CX_PTX_U64, ~out->bits};
    return true;
}

/* Operators up to that level. */
static bool parse_level(cx_ptx_parser *self, int level, int depth, number *out)
{
    operation what;
    number other;

    if (level == 0)
        return parse_unary(self, depth, out);
    if (!parse_level(self, level - 1, depth, out))
        return false;
    while (take_operator(self, level, &what))
        if (!parse_level(self, level - 1, depth, &other) || !compute(self, what, &other, out))
            return false;
    return true;
}

/* a ? b : c; both have one type, if they are integers of different ones the unsigned one. */
static bool parse_choice(cx_ptx_parser *self, int depth, number *out)
{
    number chosen, other;
    bool first;

    if (depth == DEPTH_MAX)
        return CX_PTX_INVALID_AT(self, "a constant expression is too deep");
    if (!parse_level(self, LEVEL_LAST, depth, out))
        return false;
    if (!cx_ptx_take(self, "?"))
        return true;
    first = is_true(out);
    if (!parse_choice(self, depth + 1, &chosen) || !cx_ptx_expect(self, ":") ||
        !parse_choice(self, depth + 1, &other))
        return false;
    if (is_float(&chosen) != is_float(&other))
        return CX_PTX_INVALID_AT(self, "a constant expression of an integer and a float");
    *out = first ? chosen : other;
    if (!is_float(out) && chosen.type != other.type)
        out->type = CX_PTX_U64;
    return true;
}

bool cx_ptx_at_expression(const cx_ptx_parser *self)
{
    switch (self->token.kind) {
    case CX_PTX_INTEGER:
    case CX_PTX_SINGLE:
    case CX_PTX_DOUBLE:
        return true;
    case CX_PTX_WORD:
    case CX_PTX_SIGN:
        return cx_ptx_at(self, "WARP_SZ") || cx_ptx_at(self, "(") || cx_ptx_at(self, "+") ||
               cx_ptx_at(self, "-") || cx_ptx_at(self, "!") || cx_ptx_at(self, "~");
    default:
        return false;
    }
}

bool cx_ptx_parse_expression(cx_ptx_parser *self, cx_ptx_expression *out_value)
{
    return parse_choice(self, 0, out_value);
}

bool cx_ptx_parse_term(cx_ptx_parser *self, cx_ptx_expression *out_value)
{
    return parse_level(self, LEVEL_TERM, 0, out_value);
}
