#include "edges.h"

#include "exact.h"
#include "../emu/work_fixture.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 96
#define BLOCK 128

/* ---- values ---- */

typedef struct value_set {
    uint64_t all[VALUES_MAX];
    size_t count;
} value_set;

static void add_value(value_set *self, uint64_t value)
{
    ck_assert_uint_lt(self->count, VALUES_MAX);
    self->all[self->count++] = value;
}

static void add_integers(value_set *self, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1), all = top | (top - 1);
    const uint64_t values[] = {0,       1,       2,   3,       7,           top - 1,
                               top,     top + 1, all, all - 1, all / 3 * 2, all / 255,
                               top / 2, 0x7f,    0x80, 0xff,   all / 5};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        add_value(self, values[i]);
}

static void add_counts(value_set *self)
{
    static const uint64_t values[] = {0,  1,  7,  8,  15,  16,  17,  24,         31,
                                      32, 33, 63, 64, 65, 127, 255, 256, 0xffffffff};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        add_value(self, values[i]);
}

static uint64_t number_of(const exact_format *format, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return exact_convert(format, &F64, RN, bits);
}

static void add_both(value_set *self, const exact_format *format, uint64_t bits)
{
    add_value(self, bits);
    add_value(self, exact_negate(format, bits));
}

static void add_floats(value_set *self, const exact_format *format, bool few)
{
    static const double few_values[] = {1, 1.5, 3};
    static const double more_values[] = {
        0.1,   0.5,   2,       2.5,       126.7,        127.5,       128,         255.5,
        256,   32767, 32767.5, 65504,     65535.5,      65536,       0x1p24 + 2,  2147483647.5,
        0x1p31, 0x1p32, 0x1p52 + 0.5, 0x1p63, 0x1p64,   0x1p126,     0x1.8p126,   0x1p127};
    uint64_t one = number_of(format, 1), infinity = exact_infinity(format, false);
    uint64_t normal = UINT64_C(1) << format->fraction;

    add_both(self, format, 0);
    add_both(self, format, 1);
    add_both(self, format, normal - 1);
    add_both(self, format, normal);
    add_both(self, format, infinity - 1);
    add_both(self, format, infinity);
    add_both(self, format, one + 1);
    for (size_t i = 0; i < sizeof few_values / sizeof few_values[0]; i++)
        add_both(self, format, number_of(format, few_values[i]));
    add_value(self, infinity | normal >> 1 | 5);
    if (few)
        return;
    add_both(self, format, infinity | 1); /* a signaling NaN */
    add_both(self, format, normal + 1);
    add_both(self, format, one - 1);
    for (size_t i = 0; i < sizeof more_values / sizeof more_values[0]; i++)
        add_both(self, format, number_of(format, more_values[i]));
}

/* Each value in the lower half, with another one in the upper half. */
static void pair_up(value_set *self)
{
    value_set halves = *self;

    for (size_t i = 0; i < halves.count; i++)
        self->all[i] = halves.all[i] | halves.all[(i * 7 + 3) % halves.count] << 16;
}

static value_set set_of(char letter)
{
    value_set set = {.count = 0};

    switch (letter) {
    case 'h':
        add_integers(&set, 16);
        break;
    case 'w':
        add_integers(&set, 32);
        break;
    case 'd':
        add_integers(&set, 64);
        break;
    case 'b':
        add_integers(&set, 8);
        break;
    case 's':
        add_counts(&set);
        break;
    case '1':
        add_value(&set, 0);
        add_value(&set, 1);
        break;
    case 'H':
    case 'x':
        add_floats(&set, &F16, letter == 'x');
        break;
    case 'B':
    case 'y':
        add_floats(&set, &BF16, letter == 'y');
        break;
    case 'F':
    case 'f':
        add_floats(&set, &F32, letter == 'f');
        break;
    case 'G':
    case 'g':
        add_floats(&set, &F64, letter == 'g');
        break;
    case 'X':
        add_floats(&set, &F16, true);
        pair_up(&set);
        break;
    case 'Y':
        add_floats(&set, &BF16, true);
        pair_up(&set);
        break;
    case 'W':
        add_integers(&set, 16);
        pair_up(&set);
        break;
    default:
        add_value(&set, 0);
    }
    return set;
}

/* ---- one row ---- */

static size_t combine_operands(const char *sets, uint64_t **out_operands)
{
    value_set a = set_of(sets[0]), b = set_of(sets[0] ? sets[1] : '\0');
    value_set c = set_of(sets[0] && sets[1] ? sets[2] : '\0');
    size_t count = a.count * b.count * c.count, at = 0;
    uint64_t *operands = calloc(count * 3, sizeof *operands);

    ck_assert_ptr_nonnull(operands);
    for (size_t i = 0; i < count; i++) {
        operands[at++] = a.all[i % a.count];
        operands[at++] = b.all[i / a.count % b.count];
        operands[at++] = c.all[i / a.count / b.count];
    }
    *out_operands = operands;
    return count;
}

static unsigned result_bits(const char *text)
{
    if (strstr(text, "%d0") || strstr(text, "%g0"))
        return 64;
    return strstr(text, "%h0") ? 16 : 32;
}

static void write_text(const char *body, char *text, size_t bytes)
{
    static const char *const stores[] = {"cvt.u64.u16 %d9, %h0;", "cvt.u64.u32 %d9, %u0;",
                                         "mov.b32 %u9, %f0;\ncvt.u64.u32 %d9, %u9;",
                                         "mov.b64 %d9, %d0;", "mov.b64 %d9, %g0;"};
    int kind = result_bits(body) == 16   ? 0
               : result_bits(body) == 64 ? (strstr(body, "%g0") ? 4 : 3)
                                         : (strstr(body, "%f0") ? 2 : 1);

    snprintf(text, bytes,
             ".version 8.6\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
             ".reg .pred %%p<10>, %%pa, %%pb, %%pc;\n.reg .b16 %%h<10>, %%ha, %%hb, %%hc;\n"
             ".reg .b32 %%u<10>, %%ua, %%ub, %%uc;\n.reg .f32 %%f<10>, %%fa, %%fb, %%fc;\n"
             ".reg .b64 %%d<10>, %%da, %%db, %%dc;\n.reg .f64 %%g<10>, %%ga, %%gb, %%gc;\n"
             "mov.u32 %%u7, %%ctaid.x;\nmov.u32 %%u8, %%tid.x;\n"
             "mad.lo.u32 %%u9, %%u7, %d, %%u8;\nld.param.u32 %%u8, [n];\n"
             "setp.ge.u32 %%p9, %%u9, %%u8;\n@%%p9 bra END;\n"
             "ld.param.u64 %%d8, [in];\nmad.wide.u32 %%d8, %%u9, 24, %%d8;\n"
             "ld.global.u64 %%da, [%%d8];\nld.global.u64 %%db, [%%d8 + 8];\n"
             "ld.global.u64 %%dc, [%%d8 + 16];\n"
             "ld.param.u64 %%d8, [out];\nmad.wide.u32 %%d8, %%u9, 8, %%d8;\n"
             "mov.b64 {%%ua, _}, %%da;\nmov.b64 {%%ub, _}, %%db;\nmov.b64 {%%uc, _}, %%dc;\n"
             "mov.b32 {%%ha, _}, %%ua;\nmov.b32 {%%hb, _}, %%ub;\nmov.b32 {%%hc, _}, %%uc;\n"
             "mov.b32 %%fa, %%ua;\nmov.b32 %%fb, %%ub;\nmov.b32 %%fc, %%uc;\n"
             "mov.b64 %%ga, %%da;\nmov.b64 %%gb, %%db;\nmov.b64 %%gc, %%dc;\n"
             "setp.ne.u32 %%pa, %%ua, 0;\nsetp.ne.u32 %%pb, %%ub, 0;\nsetp.ne.u32 %%pc, %%uc, 0;\n"
             "%s\n%s\nst.global.u64 [%%d8], %%d9;\nEND:\nret;\n}\n",
             BLOCK, body, stores[kind]);
}

/* Diagnostics of TAP; returns false. */
static __attribute__((format(printf, 1, 2))) bool complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    return false;
}

static bool load_row(const char *text, CUmodule *out_module)
{
    char complaint[200] = "";
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {complaint, (void *)(uintptr_t)sizeof complaint};

    if (cx_emu_call_module_load_data_ex(out_module, text, 2, options, values) == CXU_SUCCESS)
        return true;
    return complain("does not load: %s", complaint);
}

static void launch_row(CUmodule module, const uint64_t *operands, size_t count, uint64_t *results)
{
    CUdeviceptr in = make_memory(count * 3 * sizeof *operands);
    CUdeviceptr out = make_memory(count * sizeof *results);
    uint32_t n = (uint32_t)count;
    void *parameters[] = {&out, &in, &n};
    CUfunction function;

    ck_success(cx_emu_call_memcpy_htod(in, operands, count * 3 * sizeof *operands));
    ck_success(cx_emu_call_module_get_function(&function, module, "k"));
    ck_success(cx_emu_call_launch_kernel(function, (n + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0,
                                         NULL, parameters, NULL));
    ck_success(cx_emu_call_memcpy_dtoh(results, out, count * sizeof *results));
    ck_success(cx_emu_call_mem_free(in));
    ck_success(cx_emu_call_mem_free(out));
}

static bool is_right(const edge_row *row, uint64_t found, uint64_t expected)
{
    const exact_format *format = strstr(row->text, "%g0") ? &F64 : &F32;
    double one, two;

    if (found == expected)
        return true;
    if (format == &F64 && exact_is_nan(format, found) && exact_is_nan(format, expected))
        return strstr(row->text, "%g0") != NULL;
    if (row->tolerance == 0)
        return false;
    if (result_bits(row->text) == 16)
        format = strstr(row->text, "bf16") ? &BF16 : &F16;
    one = exact_value(format, found);
    two = exact_value(format, expected);
    return fabs(one - two) <= row->tolerance * fabs(two);
}

static bool compare_row(const edge_row *row, const uint64_t *operands, const uint64_t *results,
                        size_t count)
{
    uint64_t mask = UINT64_MAX >> (64 - result_bits(row->text));

    for (size_t i = 0; i < count; i++) {
        const uint64_t *all = operands + 3 * i;
        uint64_t expected = row->expected(all[0], all[1], all[2]) & mask;

        if (!is_right(row, results[i], expected))
            return complain("%s (%#llx, %#llx, %#llx): %#llx, not %#llx", row->text,
                            (unsigned long long)all[0], (unsigned long long)all[1],
                            (unsigned long long)all[2], (unsigned long long)results[i],
                            (unsigned long long)expected);
    }
    return true;
}

static bool check_row(const edge_row *row)
{
    uint64_t *operands, *results;
    size_t count = combine_operands(row->sets, &operands);
    char text[4096];
    CUmodule module;
    bool right;

    results = calloc(count, sizeof *results);
    ck_assert_ptr_nonnull(results);
    write_text(row->text, text, sizeof text);
    right = load_row(text, &module);
    if (right) {
        launch_row(module, operands, count, results);
        ck_success(cx_emu_call_module_unload(module));
        right = compare_row(row, operands, results, count);
    }
    free(operands);
    free(results);
    return right;
}

enum { TABLES_MOST = 8 };
static const edge_table *tables[TABLES_MOST];
static int table_count;

START_TEST(instructions_are_right_at_the_edges)
{
    const edge_table *table = tables[_i];
    size_t wrong = 0;

    for (size_t i = 0; i < table->count; i++)
        wrong += !check_row(&table->rows[i]);
    ck_assert_msg(wrong == 0, "%zu of %zu rows are wrong", wrong, table->count);
}
END_TEST

Suite *edges_suite(const char *name, const edge_table *table)
{
    Suite *suite = suite_create(name);
    TCase *edges = tcase_create("edges");

    ck_assert_int_lt(table_count, TABLES_MOST);
    tables[table_count] = table;
    tcase_add_checked_fixture(edges, work_setup, work_teardown);
    tcase_set_timeout(edges, 600);
    tcase_add_loop_test(edges, instructions_are_right_at_the_edges, table_count, table_count + 1);
    table_count++;
    suite_add_tcase(suite, edges);
    return suite;
}
