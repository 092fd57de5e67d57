/* The instructions of random programs: the rows of the tables of edge values, and a few more. */
#include "program.h"

#include <ctype.h>
#include <string.h>

#define ROWS_MOST 2048

/* ---- more rows: between classes ---- */

#define MORE(id, value)                                             \
    static uint64_t more_##id(uint64_t a, uint64_t b, uint64_t c)   \
    {                                                               \
        (void)a, (void)b, (void)c;                                  \
        return value;                                               \
    }
MORE(first, a)
MORE(high, a >> 32)
MORE(high16, a >> 16)
MORE(pair32, a | b << 32)
MORE(pair16, a | b << 16)
MORE(quad16, a | b << 16 | c << 32 | a << 48)
MORE(truth, a ? b : c)

static const edge_row more[] = {
    {"mov.b32 %f0, %ua;", "w", more_first, 0},
    {"mov.b32 %u0, %fa;", "F", more_first, 0},
    {"mov.b64 %g0, %da;", "d", more_first, 0},
    {"mov.b64 %d0, %ga;", "G", more_first, 0},
    {"mov.f32 %f0, %fa;", "F", more_first, 0},
    {"mov.b64 {%u0, %u1}, %da;", "d", more_first, 0},
    {"mov.b64 {%u1, %u0}, %ga;", "G", more_high, 0},
    {"mov.b32 {%h1, %h0}, %ua;", "w", more_high16, 0},
    {"mov.b64 %g0, {%ua, %ub};", "ww", more_pair32, 0},
    {"mov.b64 %d0, {%fa, %fb};", "FF", more_pair32, 0},
    {"mov.b32 %f0, {%ha, %hb};", "hh", more_pair16, 0},
    {"mov.b64 %d0, {%ha, %hb, %hc, %ha};", "hhh", more_quad16, 0},
    {"mov.b16 %h0, %ha;", "h", more_first, 0},
    {"@%pa mov.u32 %u0, %ub; @!%pa mov.u32 %u0, %uc;", "1ww", more_truth, 0},
};

/* ---- classes of operands ---- */

static random_class class_of(char letter, char set)
{
    switch (letter) {
    case 'p':
        return P;
    case 'h':
        return set && strchr("Hx", set) ? X : set && strchr("By", set) ? Y : H;
    case 'u':
        return set == 'X' ? V : set == 'Y' ? Z : W;
    case 'd':
        return D;
    case 'f':
        return F;
    default:
        return G;
    }
}

/* The class of a result in a register of 16 or 32 bits follows from the first type. */
static char result_set(const char *text)
{
    const char *at = text, *end = text + strcspn(text, " ");

    for (; at < end; at++) {
        if (*at != '.')
            continue;
        if (strncmp(at, ".f16x2", 6) == 0)
            return 'X';
        if (strncmp(at, ".bf16x2", 7) == 0)
            return 'Y';
        if (strncmp(at, ".f16", 4) == 0)
            return 'H';
        if (strncmp(at, ".bf16", 5) == 0)
            return 'B';
        if (strchr("busf", at[1]) && isdigit((unsigned char)at[2]))
            return '\0';
    }
    return '\0';
}

static bool takes_literals(const char *text)
{
    static const char *const names[] = {"add.", "sub.", "mul.", "mad.", "min.", "max.", "and.",
                                        "or.",  "xor.", "shl.", "shr.", "fma.", "sad.", "setp.",
                                        "selp.", "slct.", "mul24.", "div.", "rem.", "set."};

    if (strstr(text, "f16") || strstr(text, "pred") || strstr(text, "16x2"))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void read_row(random_row *self, const edge_row *edge)
{
    const char *ending = strstr(edge->text, EDGE_TO_U0);
    static const char kinds[] = "dghfu";

    *self = (random_row){.edge = edge, .length = strlen(edge->text)};
    self->takes_literals = takes_literals(edge->text);
    if (ending) {
        self->length = (size_t)(ending - edge->text);
        self->to = P;
    } else {
        for (size_t i = 0; i < sizeof kinds - 1; i++) {
            const char name[] = {'%', kinds[i], '0', '\0'};

            if (strstr(edge->text, name)) {
                self->to = class_of(kinds[i], result_set(edge->text));
                break;
            }
        }
    }
    for (size_t i = 0; i + 2 < self->length; i++) {
        int which = edge->text[i + 2] - 'a';

        if (edge->text[i] != '%' || which < 0 || which > 2)
            continue;
        self->from[which] = class_of(edge->text[i + 1], edge->sets[which]);
        if (self->operands < which + 1)
            self->operands = which + 1;
    }
}

/* Approximations and what is rounded twice cannot be compared bit by bit. Rows that read an operand
 * both as a number and as a predicate need two registers for it. */
static bool is_exact(const edge_row *row)
{
    return row->tolerance == 0 && !strstr(row->text, "ex2") &&
           !(strstr(row->text, "%ua") && strstr(row->text, "%pa"));
}

static random_row all[ROWS_MOST];
static size_t all_count;

static void add_rows(const edge_row *rows, size_t count)
{
    for (size_t i = 0; i < count && all_count < ROWS_MOST; i++)
        if (is_exact(&rows[i]))
            read_row(&all[all_count++], &rows[i]);
}

size_t random_row_count(void)
{
    if (all_count == 0) {
        for (int i = 0; i < 4; i++)
            add_rows(more, sizeof more / sizeof more[0]);
        add_rows(integer_rows.rows, integer_rows.count);
        add_rows(float_rows.rows, float_rows.count);
        add_rows(half_rows.rows, half_rows.count);
    }
    return all_count;
}

const random_row *random_row_at(size_t index)
{
    return &all[index];
}
