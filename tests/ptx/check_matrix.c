/* Matrix instructions against sums of products in plain C. */
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES 32
#define LANE_WORDS 96 /* of a lane in memory: 32 of A, 32 of B and C, 32 of D */
#define B_WORD 32
#define C_WORD 48
#define D_WORD 64
#define SIDE_MAX 32
#define DEPTH_MAX 256

static uint32_t memory[LANES][LANE_WORDS];
static uint64_t seed;

static uint32_t random_word(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

/* ---- types ---- */

typedef struct element {
    const char *name;
    int bits;
    int fraction, bias; /* of floats; -1: an integer */
    bool is_signed;
} element;

static const element f16 = {"f16", 16, 10, 15, true}, bf16 = {"bf16", 16, 7, 127, true},
                     tf32 = {"tf32", 32, 23, 127, true}, f32 = {"f32", 32, 23, 127, true},
                     f64 = {"f64", 64, 52, 1023, true}, e4m3 = {"e4m3", 8, 3, 7, true},
                     e5m2 = {"e5m2", 8, 2, 15, true}, s8 = {"s8", 8, -1, 0, true},
                     u8 = {"u8", 8, -1, 0, false}, s4 = {"s4", 4, -1, 0, true},
                     u4 = {"u4", 4, -1, 0, false}, b1 = {"b1", 1, -1, 0, false},
                     s32 = {"s32", 32, -1, 0, true};

/* A float between 1/8 and 8, so that sums of products are exact; an integer of any value. */
static uint64_t random_element(const element *type)
{
    uint64_t bits = (uint64_t)random_word() << 32 | random_word();

    if (type->fraction < 0)
        return type->bits == 64 ? bits : bits & ((UINT64_C(1) << type->bits) - 1);
    uint64_t exponent = (uint64_t)(type->bias - 3 + (int)(random_word() % 6));
    uint64_t fraction = bits & ((UINT64_C(1) << type->fraction) - 1);
    /* A double's and a single's lower bits would not fit; tf32 ignores them. */
    if (type == &f64 || type == &f32)
        fraction &= ~((UINT64_C(1) << (type->fraction - 8)) - 1);
    return exponent << type->fraction | fraction |
           (uint64_t)(random_word() & 1) << (type->bits - 1);
}

static double value_of(const element *type, uint64_t bits)
{
    if (type->fraction < 0) {
        int64_t value = (int64_t)bits;

        return (double)(type->is_signed && bits >> (type->bits - 1)
                            ? value - (INT64_C(1) << type->bits)
                            : value);
    }
    double sign = bits >> (type->bits - 1) ? -1 : 1;
    int field = (int)(bits >> type->fraction & ((1u << (type->bits - 1 - type->fraction)) - 1));
    uint64_t fraction = bits & ((UINT64_C(1) << type->fraction) - 1);
    int dropped = type == &tf32 ? 13 : 0;
    if (field == 0 && fraction == 0)
        return 0;
    return sign * ldexp(1 + ldexp((double)(fraction >> dropped << dropped), -type->fraction),
                        field - type->bias);
}

/* What an exact sum becomes. */
static double rounded(const element *type, double value)
{
    int exponent;

    if (type == &f32)
        return (float)value;
    if (type != &f16 || value == 0)
        return value;
    frexp(value, &exponent);
    double unit = ldexp(1, (exponent - 1 < -14 ? -14 : exponent - 1) - 10);
    return nearbyint(value / unit) * unit;
}

/* ---- shapes ---- */

typedef struct shape {
    int m, n, k, bits;
    int (*a_row)(int i, int g, int t), (*a_column)(int i, int g, int t),
        (*b_row)(int i, int g, int t);
} shape;

#define SHAPE(m, n, k, bits, a_row, a_column, b_row)            \
    static int a_row_##m##_##k##_##bits(int i, int g, int t)    \
    {                                                           \
        (void)i, (void)g, (void)t;                              \
        return a_row;                                           \
    }                                                           \
    static int a_column_##m##_##k##_##bits(int i, int g, int t) \
    {                                                           \
        (void)i, (void)g, (void)t;                              \
        return a_column;                                        \
    }                                                           \
    static int b_row_##m##_##k##_##bits(int i, int g, int t)    \
    {                                                           \
        (void)i, (void)g, (void)t;                              \
        return b_row;                                           \
    }
#include "mma_shapes.def"

static const shape shapes[] = {
#define SHAPE(m, n, k, bits, a_row, a_column, b_row) \
    {m,                                              \
     n,                                              \
     k,                                              \
     bits,                                           \
     a_row_##m##_##k##_##bits,                       \
     a_column_##m##_##k##_##bits,                    \
     b_row_##m##_##k##_##bits},
#include "mma_shapes.def"
};

/* ---- registers ---- */

static uint64_t get_element(const uint32_t *words, const element *type, int number)
{
    if (type->bits == 64)
        return words[2 * number] | (uint64_t)words[2 * number + 1] << 32;
    int per_word = 32 / type->bits;
    uint32_t word = words[number / per_word] >> number % per_word * type->bits;
    return type->bits == 32 ? word : word & ((1u << type->bits) - 1);
}

static void put_element(uint32_t *words, const element *type, int number, uint64_t bits)
{
    if (type->bits == 64) {
        words[2 * number] = (uint32_t)bits;
        words[2 * number + 1] = (uint32_t)(bits >> 32);
        return;
    }
    int per_word = 32 / type->bits;
    words[number / per_word] |= (uint32_t)bits << number % per_word * type->bits;
}

/* Writes "{%r0, %r1}". */
static int write_registers(char *to, const element *type, const char *bank, int count)
{
    int length = sprintf(to, "{");

    for (int i = 0; i < count; i++)
        length += sprintf(to + length, "%s%%%s%s%d", i ? ", " : "", bank,
                          type->bits == 64 ? "d" : "r", i);
    return length + sprintf(to + length, "}");
}

static int write_moves(char *to, const element *type, const char *bank, int count, int word,
                       bool stores)
{
    int length = 0, size = type->bits == 64 ? 8 : 4;

    for (int i = 0; i < count; i++) {
        char name[16];

        sprintf(name, "%%%s%s%d", bank, type->bits == 64 ? "d" : "r", i);
        if (stores)
            length += sprintf(to + length, "st.global.b%d [%%p+%d], %s;\n", 8 * size,
                              4 * word + size * i, name);
        else
            length += sprintf(to + length, "ld.global.b%d %s, [%%p+%d];\n", 8 * size, name,
                              4 * word + size * i);
    }
    return length;
}

static int registers_of(const element *type, int elements)
{
    int count = elements / LANES;

    return type->bits >= 32 ? count : count * type->bits / 32;
}

#define TARGET(name) ".version 8.7\n.target " name "\n.address_size 64\n"
#define BEGIN                                                                                \
    ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %p, %q;\n.reg .b32 %lane;\n"           \
    ".reg .b32 %ar<9>, %br<9>, %cr<9>, %dr<9>;\n.reg .b64 %ad<9>, %bd<9>, %cd<9>, %dd<9>;\n" \
    "ld.param.u64 %q, [out];\nmov.u32 %lane, %laneid;\nmad.wide.u32 %p, %lane, 384, %q;\n"

/* One instruction of all 32 lanes, whose registers are in memory. */
static void run_product(const char *target, const char *opcode, const shape *of, const element *a,
                        const element *b, const element *c, const element *d)
{
    int counts[] = {registers_of(d, of->m * of->n), registers_of(a, of->m * of->k),
                    registers_of(b, of->k * of->n), registers_of(c, of->m * of->n)};
    char text[8192];
    int length = sprintf(text, ".version 8.7\n.target %s\n.address_size 64\n%s", target, BEGIN);

    length += write_moves(text + length, a, "a", counts[1], 0, false);
    length += write_moves(text + length, b, "b", counts[2], B_WORD, false);
    length += write_moves(text + length, c, "c", counts[3], C_WORD, false);
    length += sprintf(text + length, "%s ", opcode);
    length += write_registers(text + length, d, "d", counts[0]);
    length += sprintf(text + length, ", ");
    length += write_registers(text + length, a, "a", counts[1]);
    length += sprintf(text + length, ", ");
    length += write_registers(text + length, b, "b", counts[2]);
    length += sprintf(text + length, ", ");
    length += write_registers(text + length, c, "c", counts[3]);
    length += sprintf(text + length, ";\n");
    length += write_moves(text + length, d, "d", counts[0], D_WORD, true);
    sprintf(text + length, "ret;\n}\n");
    text_run(text, memory, sizeof memory, LANES);
}

/* ---- mma ---- */

typedef struct product {
    int m, n, k;
    const element *a, *b, *c, *d;
    const char *word; /* behind the layout, or behind the types */
    const char *target;
    enum { SUM, SATURATED, XOR, AND } kind;
} product;

static const shape *shape_of(const product *what)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i].m == what->m && shapes[i].k == what->k && shapes[i].bits == what->a->bits)
            return &shapes[i];
    ck_abort_msg("no such shape");
    return NULL;
}

static double values_a[16][DEPTH_MAX], values_b[DEPTH_MAX][8], values_c[16][8];

static void fill_registers(const shape *of, const product *what)
{
    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++) {
        int g = lane / 4, t = lane % 4;

        for (int i = 0; i < of->m * of->k / LANES; i++) {
            uint64_t bits = random_element(what->a);

            put_element(memory[lane], what->a, i, bits);
            values_a[of->a_row(i, g, t)][of->a_column(i, g, t)] = value_of(what->a, bits);
        }
        for (int i = 0; i < of->k * of->n / LANES; i++) {
            uint64_t bits = random_element(what->b);

            put_element(memory[lane] + B_WORD, what->b, i, bits);
            values_b[of->b_row(i, g, t)][g] = value_of(what->b, bits);
        }
        for (int i = 0; i < of->m * of->n / LANES; i++) {
            uint64_t bits = random_element(what->c);

            put_element(memory[lane] + C_WORD, what->c, i, bits);
            values_c[i < 2 ? g : g + 8][2 * t + (i & 1)] = value_of(what->c, bits);
        }
    }
}

static double expected_at(const product *what, int row, int column)
{
    double sum = values_c[row][column];

    for (int k = 0; k < what->k; k++) {
        double a = values_a[row][k], b = values_b[k][column];

        sum += what->kind == XOR ? a != b : what->kind == AND ? a == 1 && b == 1 : a * b;
    }
    if (what->d != &s32)
        return rounded(what->d, sum);
    if (what->kind == SATURATED)
        return fmin(fmax(sum, INT32_MIN), INT32_MAX);
    return (double)(int32_t)(uint32_t)(int64_t)sum;
}

static void check_product(const product *what)
{
    const shape *of = shape_of(what);
    char opcode[128];

    sprintf(opcode, "mma.sync.aligned.m%dn%dk%d.row.col%s.%s.%s.%s.%s%s", what->m, what->n, what->k,
            what->kind == SATURATED ? what->word : "", what->d->name, what->a->name, what->b->name,
            what->c->name, what->kind == SATURATED ? "" : what->word);
    fill_registers(of, what);
    run_product(what->target, opcode, of, what->a, what->b, what->c, what->d);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < of->m * of->n / LANES; i++) {
            int row = i < 2 ? lane / 4 : lane / 4 + 8, column = 2 * (lane % 4) + (i & 1);
            double got = value_of(what->d, get_element(memory[lane] + D_WORD, what->d, i));

            ck_assert_msg(got == expected_at(what, row, column),
                          "%s: row %d, column %d: %g, not %g", opcode, row, column, got,
                          expected_at(what, row, column));
        }
}

#define FLOATS(m, k, type, sum, target)                    \
    {                                                      \
        m, 8, k, &type, &type, &sum, &sum, "", target, SUM \
    }
#define INTEGERS(m, k, a, b)                                          \
    {m, 8, k, &a, &b, &s32, &s32, "", "sm_80", SUM},                  \
    {                                                                 \
        m, 8, k, &a, &b, &s32, &s32, ".satfinite", "sm_80", SATURATED \
    }
#define SMALL(a, b, sum)                                \
    {16, 8, 16, &a, &b, &sum, &sum, "", "sm_89", SUM},  \
    {                                                   \
        16, 8, 32, &a, &b, &sum, &sum, "", "sm_89", SUM \
    }
#define BITS(m, k)                                               \
    {m, 8, k, &b1, &b1, &s32, &s32, ".xor.popc", "sm_80", XOR},  \
    {                                                            \
        m, 8, k, &b1, &b1, &s32, &s32, ".and.popc", "sm_80", AND \
    }

static const product products[] = {
    FLOATS(16, 8, f16, f16, "sm_80"),
    FLOATS(16, 8, f16, f32, "sm_80"),
    FLOATS(16, 16, f16, f16, "sm_80"),
    FLOATS(16, 16, f16, f32, "sm_80"),
    FLOATS(16, 8, bf16, f32, "sm_80"),
    FLOATS(16, 16, bf16, f32, "sm_80"),
    FLOATS(16, 4, tf32, f32, "sm_80"),
    FLOATS(16, 8, tf32, f32, "sm_80"),
    FLOATS(8, 4, f64, f64, "sm_80"),
    FLOATS(16, 4, f64, f64, "sm_90"),
    FLOATS(16, 8, f64, f64, "sm_90"),
    FLOATS(16, 16, f64, f64, "sm_90"),
    SMALL(e4m3, e4m3, f32),
    SMALL(e4m3, e5m2, f32),
    SMALL(e5m2, e4m3, f16),
    SMALL(e5m2, e5m2, f16),
    INTEGERS(8, 16, s8, s8),
    INTEGERS(8, 16, u8, s8),
    INTEGERS(16, 16, s8, u8),
    INTEGERS(16, 16, u8, u8),
    INTEGERS(16, 32, s8, s8),
    INTEGERS(16, 32, u8, s8),
    INTEGERS(8, 32, s4, s4),
    INTEGERS(8, 32, u4, s4),
    INTEGERS(16, 32, s4, u4),
    INTEGERS(16, 32, u4, u4),
    INTEGERS(16, 64, s4, s4),
    INTEGERS(16, 64, u4, s4),
    BITS(8, 128),
    BITS(16, 128),
    BITS(16, 256),
};

START_TEST(a_product_of_matrices_is_what_c_computes)
{
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        for (seed = 1; seed < 4; seed++)
            check_product(&products[i]);
}
END_TEST

/* Four products, each by eight lanes. */
static void check_quads(bool a_columns, bool b_columns, const element *sum)
{
    static double a[4][8][4], b[4][4][8], c[4][8][8];
    shape of = {.m = 8, .n = 8, .k = 4};
    char opcode[128];

    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++) {
        int quad = lane / 4 % 4, high = lane < 16 ? 0 : 4, own = lane % 4 + high;

        for (int i = 0; i < 4; i++) {
            uint64_t of_a = random_element(&f16), of_b = random_element(&f16);

            put_element(memory[lane], &f16, i, of_a);
            put_element(memory[lane] + B_WORD, &f16, i, of_b);
            a[quad][a_columns ? i + high : own][a_columns ? lane % 4 : i] = value_of(&f16, of_a);
            b[quad][b_columns ? i : lane % 4][b_columns ? own : i + high] = value_of(&f16, of_b);
        }
        for (int i = 0; i < 8; i++) {
            uint64_t bits = random_element(sum);

            put_element(memory[lane] + C_WORD, sum, i, bits);
            c[quad][sum == &f16 ? own : (lane & 1) + (i & 2) + high]
             [sum == &f16 ? i : (i & 4) + (lane & 2) + (i & 1)] = value_of(sum, bits);
        }
    }
    sprintf(opcode, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s", a_columns ? "col" : "row",
            b_columns ? "col" : "row", sum->name, sum->name);
    of.m *= 4; /* for the number of registers */
    of.k = 4;
    of.n = 8;
    char text[4096];
    int count = sum == &f16 ? 4 : 8;
    int length = sprintf(text, "%s", TARGET("sm_75") BEGIN);

    length += write_moves(text + length, &f16, "a", 2, 0, false);
    length += write_moves(text + length, &f16, "b", 2, B_WORD, false);
    length += write_moves(text + length, sum, "c", count, C_WORD, false);
    length += sprintf(text + length, "%s ", opcode);
    length += write_registers(text + length, sum, "d", count);
    length += sprintf(text + length, ", {%%ar0, %%ar1}, {%%br0, %%br1}, ");
    length += write_registers(text + length, sum, "c", count);
    length += sprintf(text + length, ";\n");
    length += write_moves(text + length, sum, "d", count, D_WORD, true);
    sprintf(text + length, "ret;\n}\n");
    text_run(text, memory, sizeof memory, LANES);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++) {
            int quad = lane / 4 % 4, high = lane < 16 ? 0 : 4;
            int row = sum == &f16 ? lane % 4 + high : (lane & 1) + (i & 2) + high;
            int column = sum == &f16 ? i : (i & 4) + (lane & 2) + (i & 1);
            double expected = c[quad][row][column];

            for (int k = 0; k < 4; k++)
                expected += a[quad][row][k] * b[quad][k][column];
            ck_assert_msg(value_of(sum, get_element(memory[lane] + D_WORD, sum, i)) ==
                              rounded(sum, expected),
                          "%s: lane %d, element %d", opcode, lane, i);
        }
}

START_TEST(eight_lanes_multiply_matrices_of_their_own)
{
    for (int i = 0; i < 8; i++)
        check_quads(i & 1, i & 2, i & 4 ? &f16 : &f32);
}
END_TEST

/* The first lane's registers are these; D's first word, or long, comes back. */
static uint64_t first_of(const char *target, const char *opcode, const product *what)
{
    run_product(target, opcode, shape_of(what), what->a, what->b, what->c, what->d);
    return get_element(memory[0] + D_WORD, what->d, 0);
}

START_TEST(sums_of_doubles_are_rounded_as_the_instruction_says)
{
    static const product what = {8, 8, 4, &f64, &f64, &f64, &f64, "", "sm_80", SUM};
    static const struct {
        const char *word;
        double expected;
    } rows[] = {{"", 1}, {".rn", 1}, {".rz", 1}, {".rm", 1}, {".rp", 1 + 0x1p-52}};
    char opcode[128];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(memory, 0, sizeof memory);
        put_element(memory[0], &f64, 0, UINT64_C(0x3ff0000000000000));          /* 1 */
        put_element(memory[0] + B_WORD, &f64, 0, UINT64_C(0x3c90000000000000)); /* 2^-54 */
        put_element(memory[0] + C_WORD, &f64, 0, UINT64_C(0x3ff0000000000000));
        sprintf(opcode, "mma.sync.aligned.m8n8k4.row.col%s.f64.f64.f64.f64", rows[i].word);
        ck_assert_double_eq(value_of(&f64, first_of("sm_80", opcode, &what)), rows[i].expected);
    }
}
END_TEST

START_TEST(infinities_and_nan_go_through_a_product)
{
    static const product what = {16, 8, 16, &f16, &f16, &f32, &f32, "", "sm_80", SUM};
    static const struct {
        uint32_t a, b, c, expected;
    } rows[] = {{0x7c00, 0x3c00, 0, 0x7f800000},          /* infinity * 1 */
                {0x7c00, 0x8000, 0, 0x7fffffff},          /* infinity * -0 */
                {0x7e00, 0x3c00, 0, 0x7fffffff},          /* a NaN */
                {0x0001, 0x3c00, 0, 0x33800000},          /* the smallest number, 2^-24 */
                {0x3c00, 0x3c00, 0xff800000, 0xff800000}, /* 1 - infinity */
                {0x7bff, 0x7bff, 0, 0x4f7fc004}};         /* 65504^2 */

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(memory, 0, sizeof memory);
        memory[0][0] = rows[i].a;
        memory[0][B_WORD] = rows[i].b;
        memory[0][C_WORD] = rows[i].c;
        ck_assert_uint_eq(
            first_of("sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", &what),
            rows[i].expected);
    }
}
END_TEST

START_TEST(the_result_of_a_product_may_be_in_its_operands)
{
    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++)
        memory[lane][0] = 0x01010101, memory[lane][1] = 0x02020202;
    text_run(TARGET("sm_80") BEGIN
             "ld.global.v2.b32 {%ar0, %ar1}, [%p];\n"
             "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%ar1, %ar0}, {%ar0}, {%ar1}, "
             "{%ar0, 5};\nst.global.v2.b32 [%p], {%ar1, %ar0};\nret;\n}\n",
             memory, sizeof memory, LANES);
    for (int lane = 0; lane < LANES; lane++) {
        ck_assert_uint_eq(memory[lane][0], 0x01010101 + 32);
        ck_assert_uint_eq(memory[lane][1], 5 + 32);
    }
}
END_TEST

/* ---- rows of eight halves ---- */

static uint16_t half_at(int matrix, int row, int column)
{
    return (uint16_t)(matrix << 8 | row << 4 | column);
}

/* Lane 8 i + r stores row r of matrix i; then ldmatrix. */
static void check_loaded(int count, bool transposed)
{
    char text[2048], registers[64];
    int length = sprintf(text, "%s", TARGET("sm_75") ".shared .align 16 .b8 s[512];\n" BEGIN);

    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++)
            put_element(memory[lane], &f16, i, half_at(lane / 8, lane % 8, i));
    write_registers(registers, &f16, "d", count);
    length += sprintf(text + length,
                      "mov.u32 %%br0, s;\nshl.b32 %%br1, %%lane, 4;\nadd.u32 %%br0, %%br0, %%br1;\n"
                      "ld.global.v4.b32 {%%ar0, %%ar1, %%ar2, %%ar3}, [%%p];\n"
                      "st.shared.v4.b32 [%%br0], {%%ar0, %%ar1, %%ar2, %%ar3};\nbar.sync 0;\n"
                      "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%br0];\n",
                      count, transposed ? ".trans" : "", registers);
    length += write_moves(text + length, &f16, "d", count, D_WORD, true);
    sprintf(text + length, "ret;\n}\n");
    text_run(text, memory, sizeof memory, LANES);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 2 * count; i++) {
            int row = lane / 4, column = lane % 4 * 2 + i % 2;

            ck_assert_uint_eq(get_element(memory[lane] + D_WORD, &f16, i),
                              transposed ? half_at(i / 2, column, row)
                                         : half_at(i / 2, row, column));
        }
}

START_TEST(lanes_load_rows_whose_addresses_others_have)
{
    for (int count = 1; count <= 4; count *= 2) {
        check_loaded(count, false);
        check_loaded(count, true);
    }
}
END_TEST

static void check_stored(int count, bool transposed)
{
    char text[2048], registers[64];
    int length = sprintf(text, "%s", TARGET("sm_90") ".shared .align 16 .b8 s[512];\n" BEGIN);

    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 2 * count; i++)
            put_element(memory[lane], &f16, i, half_at(i / 2, lane / 4, lane % 4 * 2 + i % 2));
    write_registers(registers, &f16, "a", count);
    length += write_moves(text + length, &f16, "a", count, 0, false);
    length += sprintf(text + length,
                      "mov.u32 %%br0, s;\nshl.b32 %%br1, %%lane, 4;\nadd.u32 %%br0, %%br0, %%br1;\n"
                      "cvt.u64.u32 %%bd0, %%br0;\ncvta.shared.u64 %%bd0, %%bd0;\n"
                      "stmatrix.sync.aligned.m8n8.x%d%s.b16 [%%bd0], %s;\nbar.sync 0;\n"
                      "ld.shared.v4.b32 {%%dr0, %%dr1, %%dr2, %%dr3}, [%%br0];\n"
                      "st.global.v4.b32 [%%p+256], {%%dr0, %%dr1, %%dr2, %%dr3};\nret;\n}\n",
                      count, transposed ? ".trans" : "", registers);
    text_run(text, memory, sizeof memory, LANES);
    for (int lane = 0; lane < 8 * count; lane++)
        for (int i = 0; i < 8; i++)
            ck_assert_uint_eq(get_element(memory[lane] + D_WORD, &f16, i),
                              transposed ? half_at(lane / 8, i, lane % 8)
                                         : half_at(lane / 8, lane % 8, i));
}

START_TEST(lanes_store_rows_whose_addresses_others_have)
{
    for (int count = 1; count <= 4; count *= 2) {
        check_stored(count, false);
        check_stored(count, true);
    }
}
END_TEST

START_TEST(a_matrix_is_transposed_in_registers)
{
    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 2; i++)
            put_element(memory[lane], &f16, i, half_at(0, lane / 4, lane % 4 * 2 + i));
    text_run(TARGET("sm_75") BEGIN
             "ld.global.b32 %ar0, [%p];\n"
             "movmatrix.sync.aligned.m8n8.trans.b16 %ar0, %ar0;\nst.global.b32 [%p], %ar0;\n"
             "ret;\n}\n",
             memory, sizeof memory, LANES);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 2; i++)
            ck_assert_uint_eq(get_element(memory[lane], &f16, i),
                              half_at(0, lane % 4 * 2 + i, lane / 4));
}
END_TEST

/* ---- wmma ---- */

typedef struct wmma {
    int m, n, k;
    const element *a, *b, *c, *d;
    bool a_columns, b_columns, c_columns;
    const char *word;
    const char *target;
} wmma;

#define ROW_BYTES 256
static unsigned char memory_of_wmma[4][SIDE_MAX * ROW_BYTES];
static double values[3][DEPTH_MAX][DEPTH_MAX];

static void put_bits(unsigned char *line, const element *type, int at, uint64_t bits)
{
    if (type->bits < 8)
        line[at * type->bits / 8] |= (unsigned char)(bits << at * type->bits % 8);
    else
        memcpy(line + at * type->bits / 8, &bits, (size_t)type->bits / 8);
}

/* Lines are twice as far apart as they are long. */
static int stride_of(const element *type, int rows, int columns, bool by_columns)
{
    int most = type->bits < 8 ? 8 * 16 / type->bits : 16;

    return 2 * ((by_columns ? rows : columns) > most ? (by_columns ? rows : columns) : most);
}

static void fill_matrix(int part, const element *type, int rows, int columns, bool by_columns)
{
    int stride = stride_of(type, rows, columns, by_columns);

    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            uint64_t bits = random_element(type);
            int at = by_columns ? column * stride + row : row * stride + column;

            put_bits(memory_of_wmma[part], type, at, bits);
            values[part][row][column] = value_of(type, bits);
        }
}

static int fragment_registers(const wmma *what, const element *type, int elements, bool multiplied)
{
    (void)what;
    return type == &f16 && multiplied ? 8 : registers_of(type, elements);
}

static void check_wmma(const wmma *what)
{
    const int m = what->m, n = what->n, k = what->k;
    const struct {
        const element *type;
        int rows, columns;
        bool by_columns;
        char letter;
    } parts[] = {{what->a, m, k, what->a_columns, 'a'},
                 {what->b, k, n, what->b_columns, 'b'},
                 {what->c, m, n, what->c_columns, 'c'},
                 {what->d, m, n, what->c_columns, 'd'}};
    char text[8192], registers[128], shape_name[32];
    int length =
        sprintf(text, ".version 8.7\n.target %s\n.address_size 64\n%s", what->target, BEGIN);

    memset(memory_of_wmma, 0, sizeof memory_of_wmma);
    sprintf(shape_name, "m%dn%dk%d", m, n, k);
    for (int i = 0; i < 3; i++) {
        fill_matrix(i, parts[i].type, parts[i].rows, parts[i].columns, parts[i].by_columns);
        write_registers(
            registers, parts[i].type, (char[]){parts[i].letter, 0},
            fragment_registers(what, parts[i].type, parts[i].rows * parts[i].columns, i < 2));
        length +=
            sprintf(text + length, "wmma.load.%c.sync.aligned.%s.%s%s.%s %s, [%%q+%zu], %d;\n",
                    parts[i].letter, parts[i].by_columns ? "col" : "row", shape_name,
                    i == 1 ? "" : ".global", parts[i].type->name, registers,
                    (size_t)i * sizeof memory_of_wmma[0],
                    stride_of(parts[i].type, parts[i].rows, parts[i].columns, parts[i].by_columns));
    }
    if (what->a == &b1)
        length += sprintf(text + length, "wmma.mma%s.sync.aligned.row.col.%s.s32.b1.b1.s32 ",
                          what->word, shape_name);
    else if (what->a == &f16)
        length += sprintf(text + length, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s ",
                          what->a_columns ? "col" : "row", what->b_columns ? "col" : "row",
                          shape_name, what->d->name, what->c->name);
    else
        length +=
            sprintf(text + length, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s%s ",
                    what->a_columns ? "col" : "row", what->b_columns ? "col" : "row", shape_name,
                    what->d->name, what->a->name, what->b->name, what->c->name, what->word);
    for (int i = 0; i < 4; i++) {
        int part = (i + 3) % 4;

        write_registers(registers, parts[part].type, (char[]){parts[part].letter, 0},
                        fragment_registers(what, parts[part].type,
                                           parts[part].rows * parts[part].columns, part < 2));
        length += sprintf(text + length, "%s%s", i ? ", " : "", registers);
    }
    write_registers(registers, what->d, "d", registers_of(what->d, m * n));
    sprintf(text + length,
            ";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%q+%zu], %s, %d;\nret;\n}\n",
            what->c_columns ? "col" : "row", shape_name, what->d->name,
            3 * sizeof memory_of_wmma[0], registers, stride_of(what->d, m, n, what->c_columns));
    text_run(text, memory_of_wmma, sizeof memory_of_wmma, LANES);
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            int stride = stride_of(what->d, m, n, what->c_columns);
            int at = what->c_columns ? column * stride + row : row * stride + column;
            double sum = values[2][row][column];
            uint64_t bits = 0;

            for (int i = 0; i < k; i++) {
                double a = values[0][row][i], b = values[1][i][column];

                sum += what->a != &b1              ? a * b
                       : strstr(what->word, "and") ? a == 1 && b == 1
                                                   : a != b;
            }
            memcpy(&bits, memory_of_wmma[3] + at * what->d->bits / 8, (size_t)what->d->bits / 8);
            sum = what->d == &s32 ? strcmp(what->word, ".satfinite") == 0
                                        ? fmin(fmax(sum, INT32_MIN), INT32_MAX)
                                        : (double)(int32_t)(uint32_t)(int64_t)sum
                                  : rounded(what->d, sum);
            ck_assert_msg(value_of(what->d, bits) == sum, "row %d, column %d: %g, not %g\n%s", row,
                          column, value_of(what->d, bits), sum, text);
        }
}

START_TEST(wmma_loads_multiplies_and_stores_matrices)
{
    static const int sizes[][3] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};

    seed = 5;
    for (int i = 0; i < 3; i++)
        for (int order = 0; order < 8; order++) {
            const int *size = sizes[i];
            wmma what = {size[0], size[1],   size[2],   &f16,      &f16, &f32,
                         &f32,    order & 1, order & 2, order & 4, "",   "sm_80"};

            check_wmma(&what);
            what.d = &f16;
            check_wmma(&what);
            what.c = &f16;
            check_wmma(&what);
            what.d = &f32;
            check_wmma(&what);
            what.a = what.b = &bf16;
            what.c = &f32;
            check_wmma(&what);
            what.c = what.d = &s32;
            what.a = what.b = &s8;
            check_wmma(&what);
            what.a = what.b = &u8;
            what.word = ".satfinite";
            check_wmma(&what);
        }
    for (int order = 0; order < 8; order++) {
        wmma what = {16,   16,        8,         &tf32,     &tf32, &f32,
                     &f32, order & 1, order & 2, order & 4, "",    "sm_80"};

        check_wmma(&what);
        what =
            (wmma){8, 8, 4, &f64, &f64, &f64, &f64, order & 1, order & 2, order & 4, "", "sm_80"};
        check_wmma(&what);
    }
    for (int order = 0; order < 2; order++) {
        check_wmma(&(wmma){8, 8, 32, &s4, &s4, &s32, &s32, false, true, order, "", "sm_80"});
        check_wmma(
            &(wmma){8, 8, 32, &u4, &u4, &s32, &s32, false, true, order, ".satfinite", "sm_80"});
        check_wmma(
            &(wmma){8, 8, 128, &b1, &b1, &s32, &s32, false, true, order, ".xor.popc", "sm_80"});
        check_wmma(
            &(wmma){8, 8, 128, &b1, &b1, &s32, &s32, false, true, order, ".and.popc", "sm_80"});
    }
}
END_TEST

/* ---- faults, other lanes ---- */

START_TEST(a_row_outside_memory_is_a_fault_of_the_lane_that_named_it)
{
    CUdeviceptr out = make_memory(LANES * LANE_WORDS * 4);
    char said[400];

    ck_result(
        text_launch(
            TARGET("sm_75") ".shared .align 16 .b8 s[128];\n" BEGIN
                            "mov.u32 %ar0, s;\nmad.lo.u32 %ar0, %lane, 1024, %ar0;\n"
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%dr0}, [%ar0];\nret;\n}\n",
            out, LANES),
        ILLEGAL_ADDRESS);
    ck_assert(cx_emu_explain(CXU_ILLEGAL_ADDRESS, said, sizeof said));
    ck_assert_msg(strstr(said, "thread (1, 0, 0)") && strstr(said, "a read of 16 bytes"), "%s",
                  said);
}
END_TEST

START_TEST(a_row_is_aligned_to_its_size)
{
    CUdeviceptr out = make_memory(LANES * LANE_WORDS * 4);

    ck_result(
        text_launch(
            TARGET("sm_75") ".shared .align 16 .b8 s[512];\n" BEGIN
                            "mov.u32 %ar0, s;\nadd.u32 %ar0, %ar0, 8;\n"
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%dr0}, [%ar0];\nret;\n}\n",
            out, LANES),
        MISALIGNED_ADDRESS);
}
END_TEST

START_TEST(lanes_that_have_ended_count_as_zeros)
{
    memset(memory, 0, sizeof memory);
    for (int lane = 0; lane < LANES; lane++)
        memory[lane][0] = 0x01010101;
    text_run(
        TARGET("sm_80") BEGIN
        ".reg .pred %end;\nsetp.ge.u32 %end, %lane, 16;\n@%end ret;\n"
        "ld.global.b32 %ar0, [%p];\n"
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%dr0, %dr1}, {%ar0}, {%ar0}, {7, 8};\n"
        "st.global.v2.b32 [%p], {%dr0, %dr1};\nret;\n}\n",
        memory, sizeof memory, LANES);
    for (int lane = 0; lane < 16; lane++) {
        ck_assert_uint_eq(memory[lane][0], 7u + (lane % 4 < 2 ? 16 : 0));
        ck_assert_uint_eq(memory[lane][1], 8u + (lane % 4 < 2 ? 16 : 0));
    }
}
END_TEST

START_TEST(a_matrix_instruction_that_does_not_exist_is_refused_by_name)
{
    static const char *const opcodes[] = {
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%dr0}, {%ar0}, {%br0}, {%cr0};",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%dr0}, {%ar0}, {%br0}, {%cr0};",
        "mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32 {%dr0}, {%ar0}, {%br0}, {%cr0};",
        "mma.sync.m16n8k16.row.col.f32.f16.f16.f32 {%dr0}, {%ar0}, {%br0}, {%cr0};",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%dr0}, {%ar0}, {%br0}, {%cr0};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%dr0}, {%ar0}, {%br0}, {%cr0}, "
        "%cr1, 0;",
        "wmma.load.d.sync.aligned.row.m16n16k16.f16 {%ar0}, [%p];",
        "wmma.load.a.sync.aligned.row.m16n16k16.f32 {%ar0}, [%p];",
        "wmma.store.a.sync.aligned.row.m16n16k16.f16 [%p], {%ar0};",
        "wmma.load.b.sync.aligned.row.m8n8k32.s4 {%ar0}, [%p];",
        "ldmatrix.sync.aligned.m8n8.x3.b16 {%ar0}, [%p];",
        "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%ar0}, [%p];",
        "movmatrix.sync.aligned.m8n8.b16 %ar0, %ar0;",
    };
    CUmodule module;
    char text[1024];

    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        snprintf(text, sizeof text, "%s%s\nret;\n}\n", TARGET("sm_90") BEGIN, opcodes[i]);
        ck_assert_msg(text_load(text, &module) == CXU_NOT_SUPPORTED, "%s", opcodes[i]);
        ck_assert_msg(strncmp(strchr(text_complaint, '\'') + 1, opcodes[i], 10) == 0, "%s",
                      text_complaint);
    }
}
END_TEST

static void independent_setup(void)
{
    setenv("CTXRT_EMU_WARP", "independent:1", 1);
    work_setup();
}

static Suite *matrix_suite(void)
{
    Suite *suite = suite_create("matrix");
    TCase *all = tcase_create("all"), *apart = tcase_create("apart");

    tcase_add_checked_fixture(all, work_setup, work_teardown);
    tcase_add_test(all, a_product_of_matrices_is_what_c_computes);
    tcase_add_test(all, eight_lanes_multiply_matrices_of_their_own);
    tcase_add_test(all, sums_of_doubles_are_rounded_as_the_instruction_says);
    tcase_add_test(all, infinities_and_nan_go_through_a_product);
    tcase_add_test(all, the_result_of_a_product_may_be_in_its_operands);
    tcase_add_test(all, lanes_load_rows_whose_addresses_others_have);
    tcase_add_test(all, lanes_store_rows_whose_addresses_others_have);
    tcase_add_test(all, a_matrix_is_transposed_in_registers);
    tcase_add_test(all, wmma_loads_multiplies_and_stores_matrices);
    tcase_add_test(all, a_row_outside_memory_is_a_fault_of_the_lane_that_named_it);
    tcase_add_test(all, a_row_is_aligned_to_its_size);
    tcase_add_test(all, lanes_that_have_ended_count_as_zeros);
    tcase_add_test(all, a_matrix_instruction_that_does_not_exist_is_refused_by_name);
    suite_add_tcase(suite, all);
    tcase_add_checked_fixture(apart, independent_setup, work_teardown);
    tcase_add_test(apart, a_product_of_matrices_is_what_c_computes);
    tcase_add_test(apart, lanes_load_rows_whose_addresses_others_have);
    suite_add_tcase(suite, apart);
    return suite;
}

CX_TESTS(matrix_suite);
