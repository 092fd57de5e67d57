/* Wrong PTX is refused with its line: instructions with operands left out or of another kind, and
 * texts that go wrong in other ways. */
#include "edges.h"

#include "ptx/link.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define REGISTERS                                                                                 \
    ".reg .pred %p<10>, %pa, %pb, %pc; .reg .b16 %h<10>, %ha, %hb, %hc; .reg .b32 %u<10>, %ua, "   \
    "%ub, %uc; .reg .f32 %f<10>, %fa, %fb, %fc; .reg .b64 %d<10>, %da, %db, %dc; .reg .f64 "       \
    "%g<10>, %ga, %gb, %gc;\n"
#define LINE 9 /* of the statement */

static cx_ptx_status load(const char *text, cx_ptx_error *out_error)
{
    cx_ptx_module *module = NULL;
    cx_ptx_status status = cx_ptx_load(text, strlen(text), &module, out_error);

    if (status == CX_PTX_SUCCESS)
        cx_ptx_unload(module);
    return status;
}

static cx_ptx_status load_statement(const char *statement, cx_ptx_error *out_error)
{
    char text[4096];

    snprintf(text, sizeof text,
             HEAD ".func (.param .b32 r) f(.param .b32 a);\n.shared .align 8 .b8 sh[64];\n"
                  ".visible .entry k(.param .u64 out)\n{\n%s%s\nret;\n}\n"
                  ".func (.param .b32 r) f(.param .b32 a)\n{\nret;\n}\n",
             REGISTERS, statement);
    *out_error = (cx_ptx_error){.line = 0};
    return load(text, out_error);
}

/* ---- instructions of the tables of edge values ---- */

/* The first statement of a row. */
static size_t first_statement(const edge_row *row, char *statement, size_t bytes)
{
    size_t length = strcspn(row->text, ";");

    ck_assert_uint_lt(length + 2, bytes);
    memcpy(statement, row->text, length);
    statement[length] = '\0';
    return length;
}

static unsigned refuse(const edge_row *row, const char *statement)
{
    cx_ptx_error error;
    cx_ptx_status status = load_statement(statement, &error);

    if ((status == CX_PTX_INVALID || status == CX_PTX_UNSUPPORTED) && error.line == LINE &&
        error.message[0] != '\0')
        return 0;
    printf("# %s, from %s: status %d, line %d, %s\n", statement, row->text, status, error.line,
           error.message);
    fflush(stdout);
    return 1;
}

static const edge_table *const tables[] = {&integer_rows, &float_rows, &half_rows};

static unsigned each_row(unsigned (*check)(const edge_row *row))
{
    unsigned wrong = 0;

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            wrong += check(&tables[t]->rows[i]);
    return wrong;
}

/* min and max of two or three numbers. */
static bool takes_fewer(const char *text)
{
    bool picks = strncmp(text, "min", 3) == 0 || strncmp(text, "max", 3) == 0;

    return picks && strstr(text, "%fa, %fb, %fc");
}

static unsigned check_shorter(const edge_row *row)
{
    char statement[512];
    char *last;

    first_statement(row, statement, sizeof statement - 2);
    last = strrchr(statement, ',');
    if (!last || strchr(last, '}') || takes_fewer(row->text))
        return 0;
    strcpy(last, ";");
    return refuse(row, statement);
}

START_TEST(an_instruction_without_its_last_operand_is_refused)
{
    ck_assert_uint_eq(each_row(check_shorter), 0);
}
END_TEST

static unsigned check_longer(const edge_row *row)
{
    char statement[512];
    size_t length = first_statement(row, statement, sizeof statement - 32);

    strcpy(statement + length, ", %u8, %u9, 1;");
    return refuse(row, statement);
}

START_TEST(an_instruction_with_more_operands_is_refused)
{
    ck_assert_uint_eq(each_row(check_longer), 0);
}
END_TEST

/* Instructions that the tables do not have, each right. */
static const char *const others[] = {
    "ld.global.u32 %u0, [%d1];",
    "ld.global.v2.u32 {%u0, %u1}, [%d1];",
    "st.global.u32 [%d1], %u0;",
    "st.shared.v2.u32 [sh], {%u0, %u1};",
    "atom.global.add.u32 %u0, [%d1], %u1;",
    "atom.global.cas.b32 %u0, [%d1], %u1, %u2;",
    "red.global.add.u32 [%d1], %u0;",
    "cp.async.ca.shared.global [sh], [%d1], 4, %u1;",
    "cvta.shared.u64 %d0, %d1;",
    "isspacep.shared %p0, %d1;",
    "bar.sync 0, %u1;",
    "bar.arrive 0, 64;",
    "bar.red.popc.u32 %u0, 0, %p1;",
    "bar.red.and.pred %p0, 0, 32, %p1;",
    "barrier.sync %u0;",
    "shfl.sync.idx.b32 %u0|%p0, %u1, %u2, 31, %u3;",
    "vote.sync.all.pred %p0, %p1, -1;",
    "vote.sync.ballot.b32 %u0, %p1, %u1;",
    "match.any.sync.b32 %u0, %u1, -1;",
    "match.all.sync.b32 %u0|%p0, %u1, -1;",
    "redux.sync.add.u32 %u0, %u1, -1;",
    "activemask.b32 %u0;",
    "alloca.u64 %d0, %d1, 8;",
    "stacksave.u64 %d0;",
    "stackrestore.u64 %d0;",
    "mbarrier.init.shared.b64 [sh], %u0;",
    "mbarrier.arrive.shared.b64 %d0, [sh];",
    "mbarrier.arrive_drop.shared.b64 %d0, [sh], %u1;",
    "mbarrier.test_wait.shared.b64 %p0, [sh], %d0;",
    "mbarrier.pending_count.b64 %u0, %d0;",
    "mov.b64 %d0, {%u0, %u1};",
    "mov.b64 {%u0, %u1}, %d0;",
    "mov.pred %p0, %p1;",
    "setp.lt.and.u32 %p0|%p1, %u0, %u1, !%p2;",
    "set.lt.or.u32.f32 %u0, %f0, %f1, %p2;",
    "lop3.or.b32 %u1|%p0, %u2, %u3, %u4, 3, %p1;",
    "cvt.rn.f16x2.f32 %u0, %f1, %f2;",
    "cvt.pack.sat.u8.s32.b32 %u0, %u1, %u2, %u3;",
    "vadd4.u32.u32.u32 %u0, %u1, %u2, %u3;",
    "bfi.b32 %u0, %u1, %u2, %u3, %u4;",
};

/* Replaces operand number `which`; false: there are not so many. */
static bool replace_operand(const char *statement, int which, char *changed, size_t bytes)
{
    const char *begin = statement + strcspn(statement, " "), *end;
    int depth = 0;

    for (; which > 0; which--) {
        do {
            begin++;
            depth += (*begin == '{') - (*begin == '}');
        } while (*begin && (*begin != ',' || depth > 0));
        if (*begin == '\0')
            return false;
    }
    end = begin;
    do {
        end++;
        depth += (*end == '{') - (*end == '}');
    } while (*end && *end != ';' && (*end != ',' || depth > 0));
    snprintf(changed, bytes, "%.*s nothing%s", (int)(begin + (*begin == ',') - statement),
             statement, *end ? end : ";");
    return true;
}

static unsigned check_unknown(const char *statement, const edge_row *row)
{
    char changed[512];
    unsigned wrong = 0;

    for (int i = 0; replace_operand(statement, i, changed, sizeof changed); i++)
        wrong += refuse(row, changed);
    return wrong;
}

static unsigned check_unknown_in_row(const edge_row *row)
{
    char statement[512];

    first_statement(row, statement, sizeof statement);
    return check_unknown(statement, row);
}

START_TEST(an_operand_that_is_nothing_is_refused)
{
    unsigned wrong = each_row(check_unknown_in_row);

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cx_ptx_error error;
        const edge_row row = {.text = others[i]};

        ck_assert_msg(load_statement(others[i], &error) == CX_PTX_SUCCESS, "%s: %s", others[i],
                      error.message);
        wrong += check_unknown(others[i], &row);
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- statements, and whole texts ---- */

#define INVALID CX_PTX_INVALID
#define UNSUPPORTED CX_PTX_UNSUPPORTED

typedef struct refusal {
    const char *text;
    cx_ptx_status status;
    const char *message; /* a part of it */
} refusal;

static const refusal statements[] = {
    {"mov.u32 %u0, 99999999999999999999;", INVALID, "'99999999999999999999' is no operand"},
    {".local .b8 x[];", INVALID, "'x' has no size"},
    {"add.u32 %u0, %u1, %u2, %u3, %u4, %u5, %u6, %u7, %u8, %u9, %u1, %u2;",
     INVALID, "'add.u32': too many operands"},
    {"mov.b64 {%u0, %u1, %u2}, %d1;", INVALID, "'mov.b64': wrong number of parts"},
    {"mov.b64 {%u0, 5}, %d1;", INVALID, "'mov.b64': a part cannot be written"},
    {"mov.b64 %d0, {%u0};", INVALID, "'mov.b64': wrong number of parts"},
    {"lop3.b32 %u0, %u1, %u2, %u3, 256;",
     INVALID, "'lop3.b32': the table must be a number up to 255"},
    {"lop3.or.b32 %u0, %u1, %u2, %u3, 3, %p1;",
     INVALID, "'lop3.or.b32': the predicate behind '|' is missing"},
    {"ld.global.v2.u32 %u0, [%d1];", INVALID, "'ld.global.v2.u32': wrong number of values"},
    {"ld.global.v2.u32 {%u0, 3}, [%d1];", INVALID, "'ld.global.v2.u32': a part cannot be written"},
    {"ld.global.u32 %u0, [%u1];", INVALID, "'ld.global.u32': an address has 64 bits"},
    {"ld.global.u32 %u0, [%h1];", INVALID, "'ld.global.u32': an address has 64 bits"},
    {"ld.foo.u32 %u0, [%d1];", UNSUPPORTED, "is not supported"},
    {"ld.global %u0, [%d1];", UNSUPPORTED, "is not supported"},
    {"ld.global.v3.u32 {%u0, %u1, %u2}, [%d1];", UNSUPPORTED, "is not supported"},
    {"st.global.u32 [%d1];", INVALID, "'st.global.u32': wrong number of operands"},
    {"st.global.u32 %u0, [%d1];", INVALID, "'st.global.u32': an address in brackets is missing"},
    {"bra nowhere;", INVALID, "no label 'nowhere' is known"},
    {"bra %u0;", INVALID, "no label '%u0' is known"},
    {"bra f;", INVALID, "no label 'f' is known"},
    {"brx.idx %u0, nowhere;", INVALID, "no label 'nowhere' is known"},
    {"brx.idx %u0;", INVALID, "',' is missing before ';'"},
    {"call nowhere, (%u0);", INVALID, "'nowhere' is no function that can be called"},
    {"call (%u0), f, (%u1, %u2);", UNSUPPORTED, "'%u0' as an argument: only .param"},
    {"call (%u0), f, (%d1);", UNSUPPORTED, "'%u0' as an argument: only .param"},
    {"call (%d0), f, (%u1);", UNSUPPORTED, "'%d0' as an argument: only .param"},
    {"call (%u0), f;", UNSUPPORTED, "'%u0' as an argument: only .param"},
    {"call k, (%d1);", UNSUPPORTED, "a kernel that is called"},
    {"call sh;", INVALID, "'sh' is no function that can be called"},
    {"call (%u0), %d1, (%u1);", UNSUPPORTED, "'%u0' as an argument: only .param"},
    {"call (%u0), %d1, (%u1), nowhere;", UNSUPPORTED, "'%u0' as an argument: only .param"},
    {"call 5;", INVALID, "'5' is no function that can be called"},
    {"alloca.u64 %d0, %d1, 3;", INVALID, "'alloca.u64': an alignment must be a power of two"},
    {"alloca.u32 %u0, 3;", UNSUPPORTED, "is not supported"},
    {".reg .foo %x;", UNSUPPORTED, "registers of the type '.foo'"},
    {".reg .b32 x<99999999>;", UNSUPPORTED, "more than 262144 registers in a function"},
    {".local .align 3 .b8 x[4];", INVALID, "an alignment must be a power of two"},
    {".local .b8 x[99999999];", INVALID, "too much memory: 'x'"},
    {".shared .b8 x[99999999];", INVALID, "too much memory: 'x'"},
    {".param .b32 x[1", INVALID, "']' is missing before 'ret'"},
    {"mbarrier.foo.shared.b64 [sh];", UNSUPPORTED, "is not supported"},
    {"cvt.u32 %u0, %u1;", UNSUPPORTED, "is not supported"},
    {"cvt.foo.u32.f32 %u0, %f1;", UNSUPPORTED, "is not supported"},
    {"cvt.rn.f16x2.f32 %u0, %f1;", INVALID, "'cvt.rn.f16x2.f32': wrong number of operands"},
    {"cvta.foo.u64 %d0, %d1;", UNSUPPORTED, "is not supported"},
    {"isspacep.foo %p0, %d1;", UNSUPPORTED, "is not supported"},
    {"bar.foo 0;", UNSUPPORTED, "is not supported"},
    {"bar.sync;", INVALID, "'bar.sync': wrong number of operands"},
    {"barrier.cluster.foo;", UNSUPPORTED, "is not supported"},
    {"shfl.sync.foo.b32 %u0, %u1, 1, 31, -1;", UNSUPPORTED, "is not supported"},
    {"shfl.sync.idx.b32 %u0, %u1, 1, 31;",
     INVALID, "'shfl.sync.idx.b32': wrong number of operands"},
    {"vote.sync.foo.pred %p0, %p1, -1;", UNSUPPORTED, "is not supported"},
    {"redux.sync.foo.u32 %u0, %u1, -1;", UNSUPPORTED, "is not supported"},
    {"atom.global.foo.u32 %u0, [%d0], 1;", UNSUPPORTED, "is not supported"},
    {"atom.global.add.u8 %u0, [%d0], 1;", UNSUPPORTED, "is not supported"},
    {"atom.global.cas.b32 %u0, [%d0], 1;",
     INVALID, "'atom.global.cas.b32': wrong number of operands"},
    {"red.global.foo.u32 [%d0], 1;", UNSUPPORTED, "is not supported"},
    {"cp.foo.shared.global [sh], [%d0], 4;", UNSUPPORTED, "is not supported"},
    {"cp.async.ca.shared.global [sh], [%d0], 5;", UNSUPPORTED, "is not supported"},
    {"bfi.b32 %u0, %u1, %u2, 3;", INVALID, "'bfi.b32': wrong number of operands"},
    {"vadd.u32.u32 %u0, %u1, %u2;", UNSUPPORTED, "is not supported"},
    {"vset.foo.u32.u32 %u0, %u1, %u2;", UNSUPPORTED, "is not supported"},
    {"vfoo.u32.u32.u32 %u0, %u1, %u2;", UNSUPPORTED, "is not supported"},
    {"stacksave.u32 %p0;", UNSUPPORTED, "is not supported"},
    {"activemask.b32;", INVALID, "'activemask.b32': wrong number of operands"},
    {"trap 5;", INVALID, "'trap': wrong number of operands"},
    {"ret 5;", INVALID, "'ret': wrong number of operands"},
    {"foo.u32 %u0, %u1;", UNSUPPORTED, "is not supported"},
    {"add.u32 %h0, %u1, %u2;", INVALID, "the type of '%h0' does not fit the instruction"},
    {"add.u64 %d0, %p1, %d2;", INVALID, "'%p1' is a predicate, not a number"},
    {"selp.b32 %u0, %u1, %u2, %u3;", INVALID, "'%u3' is no predicate"},
    {"setp.lt.u32 %p0|%u0, %u1, %u2;", INVALID, "'%u0' is no predicate"},
    {"add.u32 %u0, !%p1, %u2;", INVALID, "'!' before '%p1', which is read as a number"},
    {"mov.b64 {%u0, %d1}, %d2;", INVALID, "the type of part 2 does not fit the instruction"},
    {".reg .b32 %twice; .reg .f32 %twice;", INVALID, "'%twice' is there twice"},
    {"match.any.sync.b32 %u0|%p0, %u1, -1;", INVALID, "only match.all has a second result"},
    {"mbarrier.inval.shared.b64 nothing;", INVALID, "an address in brackets is missing"},
    {"nanosleep.u32 nothing;", INVALID, "'nothing' cannot be an operand here"},
    {"add.foo %u0, %u1, %u2;", UNSUPPORTED, "is not supported"},
    {"add.u32 5, %u1, %u2;", INVALID, "'5' cannot be written"},
    {"add.u32 %u0, nothing, %u2;", INVALID, "'nothing' cannot be an operand here"},
    {"add.u32 %u0, {%u1, %u2}, %u2;", INVALID, "'{' cannot be an operand here"},
    {"add.u32 %u0, [%u1], %u2;", INVALID, "'%u1' cannot be an operand here"},
    {"add.f32 %f0, %f1", INVALID, "';' is missing before 'ret'"},
    {"@nothing bra nowhere;", INVALID, "'nothing' is no predicate"},
    {"@%u1 bra nowhere;", INVALID, "'%u1' is no predicate"},
    {"x: x:", INVALID, "'x' is there twice"},
    {".foo", UNSUPPORTED, "'.foo' in a function"},
    {"5", INVALID, "a name is missing before '5'"},
    {"\"text\"", INVALID, "a name is missing before '\"text\"'"},
    {"0x", INVALID, "a name is missing before '0x'"},
    {"0fzz", INVALID, "a name is missing before '0fzz'"},
    {"}}", INVALID, "'}' outside a function"},
    {"%", UNSUPPORTED, "is not supported"},
    {"mov.u32 %u0, %nothing;", INVALID, "no register '%nothing' is known"},
    {"mov.u32 %u0, %tid.w;", INVALID, "no register '%tid.w' is known"},
    {"mov.u64 %d0, nowhere;", UNSUPPORTED, "'nowhere' as an operand"},
    {"mov.u64 %d0, sh+;", INVALID, "a number is missing before ';'"},
    {"setp.foo.u32 %p0, %u1, %u2;", UNSUPPORTED, "is not supported"},
    {"setp.eq.foo.u32 %p0, %u1, %u2, %p3;", UNSUPPORTED, "is not supported"},
    {"set.eq.u32 %u0, %u1, %u2;", UNSUPPORTED, "is not supported"},
    {"slct.u32.u32 %u0, %u1, %u2, %u3;", UNSUPPORTED, "is not supported"},
    {"testp.foo.f32 %p0, %f1;", UNSUPPORTED, "is not supported"},
    {"prmt.b32.foo %u0, %u1, %u2, %u3;", UNSUPPORTED, "is not supported"},
    {"prefetch.global.L1 [%d0", INVALID, "']' is missing before 'ret'"},
    {"tex.1d.v4.s32.s32 {%u0, %u1, %u2, %u3}, [tt, {%u4}];", INVALID, "is no texture or surface"},
    {"tex.2dms.v4.s32.s32 {%u0, %u1, %u2, %u3}, [%d0, {%u4, %u4, %u4}];", UNSUPPORTED,
     "is not supported"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, %d1, {%f4, %f4}];", UNSUPPORTED,
     "a sampler of its own"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f4}], %f5;", UNSUPPORTED,
     "compares depths"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4}];", INVALID, "too few parts"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2}, [%d0, {%f4, %f5}];", INVALID, "is no result"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, 3}, [%d0, {%f4, %f5}];", INVALID, "cannot be written"},
    {"suld.b.2d.v4.b64.trap {%d0, %d1, %d2, %d3}, [%d4, {%u4, %u4}];", UNSUPPORTED,
     "is not supported"},
    {"sust.b.cube.b32.trap [%d4, {%u4, %u4, %u4, %u4}], {%u1};", UNSUPPORTED, "is not supported"},
    {"txq.colour.b32 %u0, [%d0];", UNSUPPORTED, "is not supported"},
    {"istypep.samplerref %p0, %d0;", UNSUPPORTED, "is not supported"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d"
     "3}, {%d4};",
     INVALID, "wrong number of registers"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%u0}, [%d0], 16;",
     INVALID, "wrong number of registers"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%d0];",
     INVALID, "the type of part 1 does not fit"},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 {%u0}, [%d0];",
     INVALID, "'%d0' cannot be an operand here"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {5}, [%d0];", INVALID, "cannot be written"},
};

/* Behind the head of a text. */
static const refusal texts[] = {
    {".foo\n", UNSUPPORTED, "'.foo' outside a function"},
    {"x\n", INVALID, "'x' outside a function"},
    {".global .texref x[4];", UNSUPPORTED, "'x': arrays and contents of references"},
    {".global .samplerref x;", UNSUPPORTED, "a variable of the type '.samplerref'"},
    {".global .texref x;\n.global .surfref x;", INVALID, "'x' is there twice"},
    {".global .texref x;\n.global .u64 y = x;", UNSUPPORTED, "as what a variable begins with"},
    {".global .align 3 .u32 x;", INVALID, "an alignment must be a power of two"},
    {".global .u32 x[1][1][1][1][1][1][1][1][1][1];", UNSUPPORTED, "more than 8 dimensions"},
    {".extern .global .u32 x[];", INVALID, "unresolved extern variable 'x'"},
    {".local .u32 x;", UNSUPPORTED, "'.local' outside a function"},
    {".global .u32 x[4294967296][4294967296];", INVALID, "a variable is too large"},
    {".global .u32 x[9999999999];", INVALID, "a variable is too large"},
    {".global .attribute(.unified(1)) .u32 x;",
     UNSUPPORTED, "the attribute '.unified' of a variable"},
    {".global .u32 x = y;", UNSUPPORTED, "'y' as what a variable begins with"},
    {".global .u32 x = {1, y};", INVALID, "too many braces for 'x'"},
    {".global .u32 x[2] = {1 2};", INVALID, "'}' is missing before '2'"},
    {".global .u32;", INVALID, "a name is missing before ';'"},
    {".global .foo x;", UNSUPPORTED, "a variable of the type '.foo'"},
    {".global .u32 x", INVALID, "';' is missing before ''"},
    {".global .v3 .u32 x;", UNSUPPORTED, "a variable of the type '.v3'"},
    {".entry", INVALID, "a name is missing before ''"},
    {".entry 5", INVALID, "a name is missing before '5'"},
    {".entry k", INVALID, "'{' is missing before ''"},
    {".entry k(", INVALID, "'.param' is missing before ''"},
    {".entry k(.param .u32)", INVALID, "a name is missing before ')'"},
    {".entry k(.param .foo x)", UNSUPPORTED, "a variable of the type '.foo'"},
    {".entry k(.param .b8 x[32765])", INVALID, "too much memory: 'x'"},
    {".entry k() {", INVALID, "the text ends inside a function"},
    {".entry k() .foo {}", INVALID, "'{' is missing before '.foo'"},
    {".entry k() .maxntid 0, 0, 0 { ret; }", INVALID, "a block of that size"},
    {".entry k() .maxntid x { ret; }", INVALID, "a number is missing before 'x'"},
    {".entry k() .reqntid 2048 { ret; }", INVALID, "a block of that size"},
    {".entry k() { ret; }\n.entry k() { ret; }", INVALID, "'k' is there twice"},
    {".func k() { ret; }\n.entry k() { ret; }", INVALID, "'k' is there twice"},
    {".entry k() .pragma \"nounroll\" { ret; }", INVALID, "';' is missing before '{'"},
    {".entry k() .minnctapersm x { ret; }", INVALID, "a number is missing before 'x'"},
    {".func f(.param .b32 a)", INVALID, "'{' is missing before ''"},
    {".func (.param .b32 r f()", INVALID, "')' is missing before 'f'"},
    {".func f() { call g; ret; }", INVALID, "'g' is no function that can be called"},
    {".section .debug {", INVALID, "'}' is missing before ''"},
    {".section", INVALID, "'}' is missing before ''"},
    {".pragma 5;", INVALID, "';' is missing before '5'"},
    {".pragma \"x\"", INVALID, "';' is missing before ''"},
    {"\"abc", INVALID, "'\"abc' outside a function"},
    {".alias x, y;", UNSUPPORTED, "'.alias' outside a function"},
    {".entry k() { .reg .b32 %r<3; }", INVALID, "'>' is missing before ';'"},
    {".entry k() { .reg .b32 ; }", INVALID, "a name is missing before ';'"},
    {".entry k() { .reg; }", UNSUPPORTED, "registers of the type ';'"},
    {".entry k() { {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"
     "{{{{{{{{{{{{{}",
     INVALID, "too many braces inside each other"},
    {".entry k() { T: .branchtargets A, B; A: B: ret; T: ret; }", INVALID, "'T' is there twice"},
    {".entry k() { T: .branchtargets 5; ret; }", INVALID, "no label '5' is known"},
    {".entry k() { T: .branchtargets A; ret; }", INVALID, "no label 'A' is known"},
    {".entry k() { P: .callprototype (.param .b32 _) _ (.param .foo _); ret;"
     " }",
     UNSUPPORTED, "a variable of the type '.foo'"},
    {".entry k() { P: .callprototype 5; ret; }", INVALID, "'_' is missing before '5'"},
    {".entry k() { P: .calltargets f; ret; }", INVALID, "'f' is no function"},
    {".entry k() { .reg .b64 %d; call (%d), %d; }",
     UNSUPPORTED, "'%d' as an argument: only .param"},
    {".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 a; .param .b3"
     "2 b; call f, (a, b); ret; }",
     INVALID, "wrong number of arguments"},
    {".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 a; call f, (x"
     "); ret; }",
     UNSUPPORTED, "'x' as an argument: only .param"},
    {".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 a; call f, a;"
     " ret; }",
     INVALID, "'(' is missing before 'a'"},
    {".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 a; call f (a)"
     "; ret; }",
     INVALID, "wrong number of arguments"},
    {".func f(.param .b32 a) { ret; }\n.entry k() { call f; ret; }",
     INVALID, "wrong number of arguments"},
    {".entry e() { ret; }\n.entry k() { call e; ret; }", UNSUPPORTED, "a kernel that is called"},
    {".entry k() { .reg .b64 %d; .param .b32 a; call %d, (a), P; P: .callpro"
     "totype _ (.param .b32 _, .param .b32 _); ret; }",
     INVALID, "'P' is no function"},
};

static unsigned compare(const refusal *row, cx_ptx_status status, const cx_ptx_error *error)
{
    if (status == row->status && strstr(error->message, row->message) && error->line > 0)
        return 0;
    printf("# %s: status %d, line %d, %s\n", row->text, status, error->line, error->message);
    fflush(stdout);
    return 1;
}

START_TEST(wrong_statements_are_refused_at_their_line)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        cx_ptx_error error;
        cx_ptx_status status = load_statement(statements[i].text, &error);

        wrong += compare(&statements[i], status, &error) || error.line != LINE;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(wrong_texts_are_refused)
{
    char text[1024];
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cx_ptx_error error = {.line = 0};

        snprintf(text, sizeof text, HEAD "%s", texts[i].text);
        wrong += compare(&texts[i], load(text, &error), &error);
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(a_text_begins_with_its_version_and_target)
{
    static const char *const heads[] = {"", "5", ".version", ".version x",
                                        ".version 100.0\n.target sm_90\n", ".version 8.6\n",
                                        ".version 8.6\n.target\n",
                                        ".version 8.6\n.target sm_90\n.address_size x\n"};

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        cx_ptx_error error = {.line = 0};

        ck_assert_msg(load(heads[i], &error) == CX_PTX_INVALID && error.line > 0, "%s", heads[i]);
    }
}
END_TEST

/* ---- what is right, if odd ---- */

START_TEST(odd_texts_load)
{
    static const char *const odd[] = {
        "/* a comment\n of lines */ .global .u32 x = 0b101; // another\n.global .u32 y = 017U;",
        ".pragma \"nounroll\";\n.file 1 \"a.cu\"\n.loc 1 2 3\n@@DWARF x\n.section .debug { .b8 1 }",
        ".entry k() .maxntid 32, 2 .minnctapersm 2 .maxnreg 32 .pragma \"x\"; { ret; }",
        ".entry k() { .reg .f32 %f; .reg .f64 %g; add.f32 %f, %f, -0f3F800000; "
        "add.f32 %f, %f, 0d3FF0000000000000; add.f64 %g, %g, -0d3FF0000000000000; "
        "add.f64 %g, %g, 0f3F800000; add.f32 %f, %f, 1.5; ret; }",
        ".entry k() { .reg .b32 %u; add.u32 %u, %clock, %u; mov.u32 %u, 0xffU; { { } } ret; }"};

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        cx_ptx_error error = {.line = 0};
        char text[1024];

        snprintf(text, sizeof text, HEAD "%s", odd[i]);
        ck_assert_msg(load(text, &error) == CX_PTX_SUCCESS, "%s: %s", odd[i], error.message);
    }
}
END_TEST

/* ---- links ---- */

static const char first[] =
    HEAD ".extern .func (.param .b32 r) g(.param .b32 a);\n"
         ".visible .global .align 4 .u32 x[2] = {1, 2};\n.global .attribute(.managed) .u32 m;\n"
         ".pragma \"nounroll\";\n"
         ".entry k(.param .u64 out) .maxntid 32, 1, 1\n{\n.reg .b32 %r<3>;\n{\n.param .b32 a;\n"
         ".param .b32 r;\nst.param.b32 [a], %r1;\ncall (r), g, (a);\n}\nret;\n}\n";
static const char second[] =
    HEAD ".extern .global .align 4 .u32 x[2];\n.shared .align 8 .b8 sh[16];\n"
         ".visible .func (.param .b32 r) g(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
         "ld.global.u32 %r1, [x];\nst.shared.u32 [sh], %r1;\nst.param.b32 [r], %r1;\nret;\n}\n";

static cx_ptx_status link_texts(const cx_ptx_source *sources, cx_ptx_error *out_error)
{
    char *text = NULL;
    size_t length;
    cx_ptx_status status = cx_ptx_link(sources, 2, 0, &text, &length, out_error);

    if (status == CX_PTX_SUCCESS) {
        status = load(text, out_error);
        free(text);
    }
    return status;
}

/* A text that ends early is refused, or what is left of it is a whole text. */
START_TEST(texts_that_end_early_are_not_linked)
{
    size_t longest = sizeof first > sizeof second ? sizeof first : sizeof second;

    for (size_t length = 0; length < longest; length++)
        for (int which = 0; which < 2; which++) {
            cx_ptx_source sources[] = {{first, sizeof first - 1}, {second, sizeof second - 1}};
            cx_ptx_error error = {.line = 0};
            cx_ptx_status status;
            bool whole = length >= sources[which].length;
            char *cut = strndup(sources[which].text, length);

            ck_assert_ptr_nonnull(cut);
            if (!whole)
                sources[which] = (cx_ptx_source){cut, length};
            status = link_texts(sources, &error);
            ck_assert_msg(!whole || status == CX_PTX_SUCCESS, "line %d: %s", error.line,
                          error.message);
            ck_assert_msg(status == CX_PTX_SUCCESS || error.line > 0, "%zu: %s", length,
                          error.message);
            free(cut);
        }
}
END_TEST

START_TEST(wrong_texts_are_not_linked)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cx_ptx_error error = {.line = 0};
        char text[1024];
        cx_ptx_source sources[] = {{text, 0}, {second, sizeof second - 1}};

        snprintf(text, sizeof text, HEAD "%s", texts[i].text);
        sources[0].length = strlen(text);
        ck_assert_msg(link_texts(sources, &error) != CX_PTX_SUCCESS && error.line > 0, "%s",
                      texts[i].text);
    }
}
END_TEST

static Suite *refused_suite(void)
{
    Suite *suite = suite_create("refused");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_test(all, an_instruction_without_its_last_operand_is_refused);
    tcase_add_test(all, an_instruction_with_more_operands_is_refused);
    tcase_add_test(all, an_operand_that_is_nothing_is_refused);
    tcase_add_test(all, wrong_statements_are_refused_at_their_line);
    tcase_add_test(all, wrong_texts_are_refused);
    tcase_add_test(all, a_text_begins_with_its_version_and_target);
    tcase_add_test(all, odd_texts_load);
    tcase_add_test(all, texts_that_end_early_are_not_linked);
    tcase_add_test(all, wrong_texts_are_not_linked);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(refused_suite);
