/* What instructions of PTX give, each worked out by hand from what the PTX ISA says of it. */
#include "ptx/module.h"
#include "ptx/ptx.h"
#include "ptx/row.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS 0x10000
#define WORDS 16 /* of 64 bits */

/* The instruction reads %a, %b, %c (of the type: %ua, %fa, %da, %ga), and writes %u0, %d0, %f0 or
 * %g0: 32 and 64 bits, float and double. */
typedef struct row {
    const char *text;
    uint64_t a, b, c, expected;
} row;

static unsigned char memory[WORDS * sizeof(uint64_t)];

static uint64_t bits_f(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_g(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, sizeof memory, memory, false, NULL, NULL};
    return address >= ADDRESS && address < ADDRESS + sizeof memory;
}

static bool stopped(void *self)
{
    (void)self;
    return false;
}

/* The kernel k(out, a, b, c). What it makes is at `out`; a row that says [out] uses that itself. */
static void write_kernel(const row *from, char *text, size_t bytes)
{
    const char *store = strstr(from->text, "[out]")  ? ""
                        : strstr(from->text, "%g0") ? "st.global.f64 [%out], %g0;"
                        : strstr(from->text, "%f0") ? "st.global.f32 [%out], %f0;"
                        : strstr(from->text, "%d0") ? "st.global.u64 [%out], %d0;"
                                                     : "st.global.u32 [%out], %u0;";
    char body[512];
    size_t length = 0;

    for (const char *at = from->text; *at && length < sizeof body - 8; at++)
        if (strncmp(at, "[out]", 5) == 0) {
            length += (size_t)sprintf(body + length, "[%%out]");
            at += 4;
        } else {
            body[length++] = *at;
        }
    body[length] = '\0';
    snprintf(text, bytes,
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
             ".reg .pred %%p<4>;\n.reg .b16 %%ha, %%hb, %%hc, %%h<4>;\n"
             ".reg .b32 %%ua, %%ub, %%uc, %%u<6>;\n.reg .f32 %%fa, %%fb, %%fc, %%f<4>;\n"
             ".reg .b64 %%da, %%db, %%dc, %%d<4>, %%out;\n.reg .f64 %%ga, %%gb, %%gc, %%g<4>;\n"
             "ld.param.u64 %%out, [out];\n"
             "ld.param.u16 %%ha, [a];\nld.param.u16 %%hb, [b];\nld.param.u16 %%hc, [c];\n"
             "ld.param.u32 %%ua, [a];\nld.param.u32 %%ub, [b];\nld.param.u32 %%uc, [c];\n"
             "ld.param.u64 %%da, [a];\nld.param.u64 %%db, [b];\nld.param.u64 %%dc, [c];\n"
             "ld.param.f32 %%fa, [a];\nld.param.f32 %%fb, [b];\nld.param.f32 %%fc, [c];\n"
             "ld.param.f64 %%ga, [a];\nld.param.f64 %%gb, [b];\nld.param.f64 %%gc, [c];\n"
             "%s\n%s\nret;\n}\n",
             body, store);
}

static cx_ptx_outcome run(const char *text, const uint64_t parameters[4], uint32_t threads,
                          cx_ptx_fault *out_fault)
{
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;
    cx_ptx_fault fault = {0};
    const cx_ptx_environment environment = {.find = find, .stopped = stopped};
    const cx_ptx_launch launch = {
        .grid = {1, 1, 1}, .block = {threads, 1, 1}, .parameters = parameters};
    cx_ptx_status status = cx_ptx_load(text, strlen(text), &module, &error);

    ck_assert_msg(status == CX_PTX_SUCCESS, "line %d: %s\n%s", error.line, error.message, text);
    cx_ptx_outcome outcome =
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault);
    cx_ptx_unload(module);
    if (out_fault)
        *out_fault = fault;
    return outcome;
}

static void check_rows(const row *rows, size_t count)
{
    char text[4096];

    for (size_t i = 0; i < count; i++) {
        const uint64_t parameters[] = {ADDRESS, rows[i].a, rows[i].b, rows[i].c};
        uint64_t found;

        memset(memory, 0, sizeof memory);
        write_kernel(&rows[i], text, sizeof text);
        ck_assert_int_eq(run(text, parameters, 1, NULL), CX_PTX_DONE);
        memcpy(&found, memory, sizeof found);
        ck_assert_msg(found == rows[i].expected, "%s: %#llx, not %#llx", rows[i].text,
                      (unsigned long long)found, (unsigned long long)rows[i].expected);
    }
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])
#define TOP UINT64_C(0x8000000000000000)
#define ALL UINT64_MAX
#define F(value) bits_f(value)
#define G(value) bits_g(value)

START_TEST(integers_are_added_and_multiplied)
{
    const row rows[] = {
        {"add.s32 %u0, %ua, %ub;", 0x7fffffff, 1, 0, 0x80000000},
        {"add.u64 %d0, %da, %db;", ALL, 2, 0, 1},
        {"sub.s32 %u0, %ua, %ub;", 0, 1, 0, 0xffffffff},
        {"mul.lo.s32 %u0, %ua, %ub;", 0x10001, 0x10001, 0, 0x20001},
        {"mul.hi.u32 %u0, %ua, %ub;", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
        {"mul.hi.s32 %u0, %ua, %ub;", 0xffffffff, 0xffffffff, 0, 0},
        {"mul.hi.s32 %u0, %ua, %ub;", 0x80000000, 2, 0, 0xffffffff},
        {"mul.wide.s32 %d0, %ua, %ub;", 0xffffffff, 2, 0, ALL - 1},
        {"mul.wide.u32 %d0, %ua, %ub;", 0xffffffff, 2, 0, 0x1fffffffe},
        {"mul.wide.s16 %u0, %ha, %hb;", 0xffff, 2, 0, 0xfffffffe},
        {"mul.wide.u16 %u0, %ha, %hb;", 0xffff, 2, 0, 0x1fffe},
        {"mul.lo.u64 %d0, %da, %db;", 0x100000001, 0x100000001, 0, 0x200000001},
        {"mul.hi.u64 %d0, %da, %db;", TOP, 2, 0, 1},
        {"mul.hi.s64 %d0, %da, %db;", TOP, 2, 0, ALL},
        {"mad.lo.u32 %u0, %ua, %ub, %uc;", 3, 5, 7, 22},
        {"mad.hi.u32 %u0, %ua, %ub, %uc;", 0x80000000, 4, 7, 9},
        {"mad.wide.u32 %d0, %ua, %ub, %dc;", 0xffffffff, 2, 2, 0x200000000},
        {"mad.wide.s32 %d0, %ua, %ub, %dc;", 0xffffffff, 2, 2, 0},
        {"div.s32 %u0, %ua, %ub;", (uint32_t)-7, 2, 0, (uint32_t)-3},
        {"div.u32 %u0, %ua, %ub;", (uint32_t)-7, 2, 0, 0x7ffffffc},
        {"rem.s32 %u0, %ua, %ub;", (uint32_t)-7, 2, 0, (uint32_t)-1},
        {"rem.u32 %u0, %ua, %ub;", 7, 4, 0, 3},
        {"div.s64 %d0, %da, %db;", (uint64_t)-7, 2, 0, (uint64_t)-3},
        {"rem.u64 %d0, %da, %db;", ALL, 10, 0, 5},
        {"abs.s32 %u0, %ua;", (uint32_t)-5, 0, 0, 5},
        {"neg.s32 %u0, %ua;", 5, 0, 0, (uint32_t)-5},
        {"neg.s64 %d0, %da;", 5, 0, 0, (uint64_t)-5},
        {"min.s32 %u0, %ua, %ub;", 0xffffffff, 1, 0, 0xffffffff},
        {"min.u32 %u0, %ua, %ub;", 0xffffffff, 1, 0, 1},
        {"max.s32 %u0, %ua, %ub;", 0xffffffff, 1, 0, 1},
        {"max.u32 %u0, %ua, %ub;", 0xffffffff, 1, 0, 0xffffffff},
        {"max.s64 %d0, %da, %db;", ALL, 1, 0, 1},
        {"min.u64 %d0, %da, %db;", ALL, 1, 0, 1},
        {"add.sat.s32 %u0, %ua, %ub;", 0x7fffffff, 1, 0, 0x7fffffff},
        {"sub.sat.s32 %u0, %ua, %ub;", 0x80000000, 1, 0, 0x80000000},
        {"add.cc.u32 %u1, %ua, %ub;\naddc.u32 %u0, %uc, 0;", 0xffffffff, 1, 5, 6},
        {"add.cc.u32 %u1, %ua, %ub;\naddc.u32 %u0, %uc, 0;", 0xfffffffe, 1, 5, 5},
        {"add.cc.u64 %d1, %da, %db;\naddc.u64 %d0, %dc, 0;", ALL, 1, 5, 6},
        {"sub.cc.u32 %u1, %ua, %ub;\nsubc.u32 %u0, %uc, 0;", 0, 1, 5, 4},
        {"sub.cc.u32 %u1, %ua, %ub;\nsubc.u32 %u0, %uc, 0;", 1, 1, 5, 5},
        {"mad.lo.cc.u32 %u1, %ua, %ub, %uc;\nmadc.hi.u32 %u0, %ua, %ub, 0;", 0xffffffff,
         0xffffffff, 0xffffffff, 0xffffffff},
        {"dp4a.s32.s32 %u0, %ua, %ub, %uc;", 0xff020304, 0x01010101, 10, 18},
        {"dp4a.u32.u32 %u0, %ua, %ub, %uc;", 0xff020304, 0x01010101, 10, 274},
        {"dp4a.s32.u32 %u0, %ua, %ub, %uc;", 0x000000ff, 0x000000ff, 0, (uint32_t)-255},
        {"dp4a.u32.s32 %u0, %ua, %ub, %uc;", 0x0000ff00, 0x00007f00, 0, 32385},
    };

    CHECK(rows);
}
END_TEST

START_TEST(bits_are_shifted_found_and_put_together)
{
    const row rows[] = {
        {"and.b32 %u0, %ua, %ub;", 0xff00, 0x0ff0, 0, 0x0f00},
        {"or.b64 %d0, %da, %db;", TOP, 1, 0, TOP | 1},
        {"xor.b32 %u0, %ua, %ub;", 0xff00, 0x0ff0, 0, 0xf0f0},
        {"not.b32 %u0, %ua;", 0xff00, 0, 0, 0xffff00ff},
        /* A predicate that is a number: nvcc writes -1 for true. */
        {"setp.gt.u32 %p1, %ua, %ub;\nxor.pred %p2, %p1, -1;\nselp.u32 %u0, 1, 2, %p2;", 3,
         2, 0, 2},
        {"setp.gt.u32 %p1, %ua, %ub;\nxor.pred %p2, %p1, -1;\nselp.u32 %u0, 1, 2, %p2;", 2,
         3, 0, 1},
        {"setp.gt.u32 %p1, %ua, %ub;\nand.pred %p2, %p1, 2;\nselp.u32 %u0, 1, 2, %p2;", 3,
         2, 0, 1},
        {"mov.pred %p1, -1;\nsetp.gt.u32 %p2, %ua, %ub;\nxor.pred %p2, %p1, %p2;\n"
         "selp.u32 %u0, 1, 2, %p2;", 3, 2, 0, 2},
        {"shl.b32 %u0, %ua, %ub;", 3, 31, 0, 0x80000000},
        {"shl.b32 %u0, %ua, %ub;", 3, 32, 0, 0},
        {"shl.b64 %d0, %da, %ub;", 3, 63, 0, TOP},
        {"shl.b64 %d0, %da, %ub;", 3, 64, 0, 0},
        {"shr.u32 %u0, %ua, %ub;", 0x80000000, 31, 0, 1},
        {"shr.u32 %u0, %ua, %ub;", 0x80000000, 32, 0, 0},
        {"shr.s32 %u0, %ua, %ub;", 0x80000000, 31, 0, 0xffffffff},
        {"shr.s32 %u0, %ua, %ub;", 0x80000000, 40, 0, 0xffffffff},
        {"shr.s64 %d0, %da, %ub;", TOP, 62, 0, ALL - 1},
        {"shf.l.wrap.b32 %u0, %ua, %ub, %uc;", 0x80000000, 1, 1, 3},
        {"shf.l.wrap.b32 %u0, %ua, %ub, %uc;", 0x80000000, 1, 33, 3},
        {"shf.l.clamp.b32 %u0, %ua, %ub, %uc;", 0x80000001, 1, 40, 0x80000001},
        {"shf.r.wrap.b32 %u0, %ua, %ub, %uc;", 0x12345678, 0x9abcdef0, 8, 0xf0123456},
        {"shf.r.clamp.b32 %u0, %ua, %ub, %uc;", 0x12345678, 0x9abcdef0, 40, 0x9abcdef0},
        {"popc.b32 %u0, %ua;", 0x00ff00ff, 0, 0, 16},
        {"popc.b64 %u0, %da;", TOP | 3, 0, 0, 3},
        {"clz.b32 %u0, %ua;", 0, 0, 0, 32},
        {"clz.b32 %u0, %ua;", 1, 0, 0, 31},
        {"clz.b64 %u0, %da;", 1, 0, 0, 63},
        {"clz.b64 %u0, %da;", 0, 0, 0, 64},
        {"bfind.u32 %u0, %ua;", 0x10000, 0, 0, 16},
        {"bfind.u32 %u0, %ua;", 0, 0, 0, 0xffffffff},
        {"bfind.s32 %u0, %ua;", 0xffffffff, 0, 0, 0xffffffff},
        {"bfind.s32 %u0, %ua;", 0xfffffff0, 0, 0, 3},
        {"bfind.s64 %u0, %da;", TOP, 0, 0, 62},
        {"bfind.u64 %u0, %da;", TOP, 0, 0, 63},
        {"brev.b32 %u0, %ua;", 0x00000003, 0, 0, 0xc0000000},
        {"brev.b64 %d0, %da;", 0x0000000000000103, 0, 0, UINT64_C(0xc080000000000000)},
        {"bfe.u32 %u0, %ua, %ub, %uc;", 0x12345678, 8, 8, 0x56},
        {"bfe.u32 %u0, %ua, %ub, %uc;", 0x12345678, 28, 8, 1},
        {"bfe.u32 %u0, %ua, %ub, %uc;", 0x12345678, 8, 0, 0},
        {"bfe.s32 %u0, %ua, %ub, %uc;", 0xf000, 8, 8, 0xfffffff0},
        {"bfe.s32 %u0, %ua, %ub, %uc;", 0x80000000, 31, 8, 0xffffffff},
        {"bfe.s32 %u0, %ua, %ub, %uc;", 0x7000, 8, 8, 0x70},
        {"bfe.u64 %d0, %da, %ub, %uc;", ALL, 60, 8, 15},
        {"bfe.s64 %d0, %da, %ub, %uc;", TOP, 62, 2, ALL - 1},
        {"bfi.b32 %u0, %ua, %ub, 4, 4;", 0xff, 0xf0000001, 0, 0xf00000f1},
        {"bfi.b32 %u0, %ua, %ub, 4, 0;", 0xff, 0xf0000001, 0, 0xf0000001},
        {"bfi.b64 %d0, %da, %db, 60, 8;", 0xff, 1, 0, UINT64_C(0xf000000000000001)},
        {"prmt.b32 %u0, %ua, %ub, 0x7531;", 0x33221100, 0x77665544, 0, 0x77553311},
        {"prmt.b32 %u0, %ua, %ub, 0x0008;", 0x00000080, 0, 0, 0x808080ff},
        {"prmt.b32 %u0, %ua, %ub, 0x9999;", 0x00007f00, 0, 0, 0},
        {"lop3.b32 %u0, %ua, %ub, %uc, 0x96;", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xc33cc33c},
        {"lop3.b32 %u0, %ua, %ub, %uc, 0xe8;", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xfcc0fcc0},
        {"lop3.b32 %u0, %ua, %ub, %uc, 0x10;", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x03000300},
    };

    CHECK(rows);
}
END_TEST

START_TEST(numbers_are_compared_and_chosen)
{
    const row rows[] = {
        {"setp.lt.s32 %p1, %ua, %ub;\nselp.u32 %u0, 1, 2, %p1;", 0xffffffff, 1, 0, 1},
        {"setp.lt.u32 %p1, %ua, %ub;\nselp.u32 %u0, 1, 2, %p1;", 0xffffffff, 1, 0, 2},
        {"setp.lo.u32 %p1, %ua, %ub;\nselp.u32 %u0, 1, 2, %p1;", 1, 0xffffffff, 0, 1},
        {"setp.hs.u32 %p1, %ua, %ub;\nselp.u32 %u0, 1, 2, %p1;", 1, 1, 0, 1},
        {"setp.gt.s64 %p1, %da, %db;\nselp.u32 %u0, 1, 2, %p1;", 1, ALL, 0, 1},
        {"setp.ge.u64 %p1, %da, %db;\nselp.u32 %u0, 1, 2, %p1;", 1, ALL, 0, 2},
        {"setp.le.s32 %p1, %ua, %ub;\nselp.u32 %u0, 1, 2, %p1;", 1, 1, 0, 1},
        {"setp.ne.s32 %p1, %ua, %ub;\nselp.u32 %u0, 1, 2, %p1;", 1, 1, 0, 2},
        {"setp.eq.f32 %p1, %fa, %fa;\nselp.u32 %u0, 1, 2, %p1;", F(NAN), 0, 0, 2},
        {"setp.ne.f32 %p1, %fa, %fb;\nselp.u32 %u0, 1, 2, %p1;", F(NAN), F(1), 0, 2},
        {"setp.neu.f32 %p1, %fa, %fb;\nselp.u32 %u0, 1, 2, %p1;", F(NAN), F(1), 0, 1},
        {"setp.ltu.f32 %p1, %fa, %fb;\nselp.u32 %u0, 1, 2, %p1;", F(NAN), F(1), 0, 1},
        {"setp.lt.f32 %p1, %fa, %fb;\nselp.u32 %u0, 1, 2, %p1;", F(-1), F(1), 0, 1},
        {"setp.num.f32 %p1, %fa, %fb;\nselp.u32 %u0, 1, 2, %p1;", F(NAN), F(1), 0, 2},
        {"setp.nan.f64 %p1, %ga, %gb;\nselp.u32 %u0, 1, 2, %p1;", G(NAN), G(1), 0, 1},
        {"setp.eq.f32 %p1, %fa, %fb;\nselp.u32 %u0, 1, 2, %p1;", F(-0.0f), F(0.0f), 0, 1},
        {"selp.f64 %g0, %ga, %gb, 0;", G(1), G(2), 0, G(2)},
        {"mov.u32 %u0, 5;\nsetp.eq.u32 %p1, %ua, 1;\n@!%p1 mov.u32 %u0, 6;", 1, 0, 0, 5},
        {"mov.u32 %u0, 5;\nsetp.eq.u32 %p1, %ua, 1;\n@!%p1 mov.u32 %u0, 6;", 2, 0, 0, 6},
    };

    CHECK(rows);
}
END_TEST

START_TEST(floats_are_rounded_once)
{
    const float x = 1 + 0x1p-12f;
    const row rows[] = {
        {"add.f32 %f0, %fa, %fb;", F(1), F(2), 0, F(3)},
        {"sub.f64 %g0, %ga, %gb;", G(1), G(0x1p-53), 0, G(1 - 0x1p-53)},
        {"fma.rn.f32 %f0, %fa, %fb, %fc;", F(x), F(x), F(-(1 + 0x1p-11f)), F(0x1p-24f)},
        {"mul.rn.f32 %f1, %fa, %fb;\nadd.rn.f32 %f0, %f1, %fc;", F(x), F(x), F(-(1 + 0x1p-11f)),
         F(0)},
        {"fma.rn.f64 %g0, %ga, %gb, %gc;", G(1 + 0x1p-30), G(1 + 0x1p-30), G(-(1 + 0x1p-29)),
         G(0x1p-60)},
        {"add.rz.f32 %f0, %fa, %fb;", F(1), F(0x1.8p-24f), 0, F(1)},
        {"add.rn.f32 %f0, %fa, %fb;", F(1), F(0x1.8p-24f), 0, F(1 + 0x1p-23f)},
        {"add.rp.f32 %f0, %fa, %fb;", F(1), F(0x1p-40f), 0, F(1 + 0x1p-23f)},
        {"add.rm.f32 %f0, %fa, %fb;", F(-1), F(-0x1p-40f), 0, F(-1 - 0x1p-23f)},
        {"mul.rz.f32 %f0, %fa, %fb;", F(1 + 0x1p-23f), F(1 + 0x1p-1f), 0, F(1.5f + 0x1p-23f)},
        {"mul.rp.f32 %f0, %fa, %fb;", F(1 + 0x1p-23f), F(1 + 0x1p-1f), 0, F(1.5f + 0x1p-22f)},
        {"cvt.rz.f32.f64 %f1, %ga;\nadd.f32 %f0, %fb, %fc;", G(1), F(1), F(0x1.8p-24f),
         F(1 + 0x1p-23f)},
        {"div.rn.f32 %f0, %fa, %fb;", F(1), F(3), 0, 0x3eaaaaab},
        {"div.rz.f32 %f0, %fa, %fb;", F(1), F(3), 0, 0x3eaaaaaa},
        {"div.rn.f64 %g0, %ga, %gb;", G(1), G(3), 0, UINT64_C(0x3fd5555555555555)},
        {"div.rp.f64 %g0, %ga, %gb;", G(1), G(3), 0, UINT64_C(0x3fd5555555555556)},
        {"sqrt.rn.f32 %f0, %fa;", F(2), 0, 0, 0x3fb504f3},
        {"sqrt.rn.f64 %g0, %ga;", G(9), 0, 0, G(3)},
        {"rcp.rn.f32 %f0, %fa;", F(3), 0, 0, 0x3eaaaaab},
        {"add.sat.f32 %f0, %fa, %fb;", F(1), F(2), 0, F(1)},
        {"add.sat.f32 %f0, %fa, %fb;", F(1), F(-2), 0, F(0)},
        {"add.f32 %f0, %fa, %fb;", 1, 1, 0, 2},
        {"add.ftz.f32 %f0, %fa, %fb;", 1, 1, 0, 0},
        {"abs.f32 %f0, %fa;", F(-3), 0, 0, F(3)},
        {"neg.f64 %g0, %ga;", G(3), 0, 0, G(-3)},
        {"min.f32 %f0, %fa, %fb;", F(NAN), F(2), 0, F(2)},
        {"max.f32 %f0, %fa, %fb;", F(-1), F(-2), 0, F(-1)},
        {"max.f64 %g0, %ga, %gb;", G(NAN), G(-2), 0, G(-2)},
        {"copysign.f32 %f0, %fa, %fb;", F(-1), F(2), 0, F(-2)},
    };

    CHECK(rows);
}
END_TEST

START_TEST(numbers_become_others)
{
    const row rows[] = {
        {"cvt.rni.s32.f32 %u0, %fa;", F(2.5f), 0, 0, 2},
        {"cvt.rni.s32.f32 %u0, %fa;", F(3.5f), 0, 0, 4},
        {"cvt.rzi.s32.f32 %u0, %fa;", F(-2.7f), 0, 0, (uint32_t)-2},
        {"cvt.rmi.s32.f32 %u0, %fa;", F(-2.1f), 0, 0, (uint32_t)-3},
        {"cvt.rpi.s32.f32 %u0, %fa;", F(2.1f), 0, 0, 3},
        {"cvt.rzi.s32.f32 %u0, %fa;", F(1e10f), 0, 0, 0x7fffffff},
        {"cvt.rzi.s32.f32 %u0, %fa;", F(0x1p31f), 0, 0, 0x7fffffff},
        {"cvt.rzi.s32.f32 %u0, %fa;", F(-1e10f), 0, 0, 0x80000000},
        {"cvt.rzi.s32.f32 %u0, %fa;", F(NAN), 0, 0, 0},
        {"cvt.rzi.u32.f32 %u0, %fa;", F(-1), 0, 0, 0},
        {"cvt.rzi.u64.f64 %d0, %ga;", G(1e300), 0, 0, ALL},
        {"cvt.s32.s8 %u0, %ua;", 0x180, 0, 0, 0xffffff80},
        {"cvt.u32.u8 %u0, %ua;", 0x180, 0, 0, 0x80},
        {"cvt.s32.s16 %u0, %ua;", 0x18000, 0, 0, 0xffff8000},
        {"cvt.u32.u16 %u0, %ua;", 0x18000, 0, 0, 0x8000},
        {"cvt.s64.s32 %d0, %ua;", 0x80000000, 0, 0, UINT64_C(0xffffffff80000000)},
        {"cvt.u64.u32 %d0, %ua;", 0x80000000, 0, 0, 0x80000000},
        {"cvt.u32.u64 %u0, %da;", UINT64_C(0x123456789), 0, 0, 0x23456789},
        {"cvt.sat.u8.s32 %u0, %ua;", 300, 0, 0, 255},
        {"cvt.sat.s8.s32 %u0, %ua;", (uint32_t)-300, 0, 0, (uint32_t)-128},
        {"cvt.sat.u32.s32 %u0, %ua;", (uint32_t)-1, 0, 0, 0},
        {"cvt.rn.f32.s32 %f0, %ua;", 16777217, 0, 0, F(16777216)},
        {"cvt.rp.f32.s32 %f0, %ua;", 16777217, 0, 0, F(16777218)},
        {"cvt.rz.f32.u32 %f0, %ua;", 0xffffffff, 0, 0, 0x4f7fffff},
        {"cvt.rn.f64.s64 %g0, %da;", (uint64_t)-5, 0, 0, G(-5)},
        {"cvt.f64.f32 %g0, %fa;", F(0.1f), 0, 0, G(0.1f)},
        {"cvt.rn.f32.f64 %f0, %ga;", G(0.1), 0, 0, F(0.1f)},
        {"cvt.rz.f32.f64 %f0, %ga;", G(1 + 0x1.fp-24), 0, 0, F(1)},
        {"cvt.rn.f16.f32 %h0, %fa;\ncvt.u32.u16 %u0, %h0;", F(1), 0, 0, 0x3c00},
        {"cvt.rn.f16.f32 %h0, %fa;\ncvt.u32.u16 %u0, %h0;", F(65520), 0, 0, 0x7c00},
        {"cvt.rn.f16.f32 %h0, %fa;\ncvt.u32.u16 %u0, %h0;", F(0x1p-24f), 0, 0, 1},
        {"cvt.f32.f16 %f0, %ha;", 0xc000, 0, 0, F(-2)},
        {"cvt.f32.f16 %f0, %ha;", 0x0001, 0, 0, F(0x1p-24f)},
        {"cvt.rz.sat.f32.f64 %f0, %ga;", G(0.25), 0, 0, F(0.25f)},
        {"cvt.rz.sat.f32.f64 %f0, %ga;", G(-3), 0, 0, F(0)},
        {"cvt.rzi.f32.f32 %f0, %fa;", F(-2.7f), 0, 0, F(-2)},
    };

    CHECK(rows);
}
END_TEST

START_TEST(memory_is_read_written_and_changed_at_once)
{
    const row rows[] = {
        {"st.global.u32 [out], %ua;\nld.global.s16 %u1, [out];\nst.global.u32 [out], %u1;",
         0x12348000, 0, 0, 0xffff8000},
        {"st.global.v2.u32 [out], {%ua, %ub};", 1, 2, 0, UINT64_C(0x200000001)},
        {"st.global.u64 [out], %da;\natom.global.add.u32 %u1, [out], 3;", 5, 0, 0, 8},
        {"st.global.u64 [out], %da;\natom.global.add.u64 %d1, [out], %db;", ALL, 2, 0, 1},
        {"st.global.u64 [out], %da;\natom.global.min.s32 %u1, [out], %ub;", 0xffffffff, 1, 0,
         0xffffffff},
        {"st.global.u64 [out], %da;\natom.global.max.u32 %u1, [out], %ub;", 5, 0xffffffff, 0,
         0xffffffff},
        {"st.global.u64 [out], %da;\natom.global.and.b32 %u1, [out], %ub;", 0xff, 0x0f, 0, 0x0f},
        {"st.global.u64 [out], %da;\natom.global.or.b32 %u1, [out], %ub;", 0xf0, 0x0f, 0, 0xff},
        {"st.global.u64 [out], %da;\natom.global.xor.b32 %u1, [out], %ub;", 0xff, 0x0f, 0, 0xf0},
        {"st.global.u64 [out], %da;\natom.global.exch.b32 %u1, [out], %ub;", 5, 6, 0, 6},
        {"st.global.u64 [out], %da;\natom.global.exch.b32 %u1, [out], %ub;", ALL, 6, 0,
         UINT64_C(0xffffffff00000006)},
        {"st.global.u64 [out], %da;\natom.global.exch.b64 %d1, [out], %db;", ALL, 6, 0, 6},
        {"st.global.u64 [out], %da;\natom.global.cas.b64 %d1, [out], %db, %dc;", TOP, TOP, 9, 9},
        {"st.global.u64 [out], %da;\natom.global.add.u32 %u1, [out], 1;", ALL, 0, 0,
         UINT64_C(0xffffffff00000000)},
        {"st.global.u64 [out], %da;\natom.global.add.f64 %g1, [out], %gb;", G(1), G(2), 0, G(3)},
        {"st.global.u64 [out], %da;\natom.global.cas.b32 %u1, [out], %ub, %uc;", 5, 5, 9, 9},
        {"st.global.u64 [out], %da;\natom.global.cas.b32 %u1, [out], %ub, %uc;", 5, 6, 9, 5},
        {"st.global.u64 [out], %da;\natom.global.inc.u32 %u1, [out], %ub;", 5, 7, 0, 6},
        {"st.global.u64 [out], %da;\natom.global.inc.u32 %u1, [out], %ub;", 7, 7, 0, 0},
        {"st.global.u64 [out], %da;\natom.global.dec.u32 %u1, [out], %ub;", 5, 7, 0, 4},
        {"st.global.u64 [out], %da;\natom.global.dec.u32 %u1, [out], %ub;", 0, 7, 0, 7},
        {"st.global.u64 [out], %da;\natom.global.dec.u32 %u1, [out], %ub;", 9, 7, 0, 7},
        {"st.global.u64 [out], %da;\natom.global.add.f32 %f1, [out], %fb;", F(1), F(2), 0, F(3)},
        {"st.global.u64 [out], %da;\natom.global.add.u32 %u1, [out], 3;\n"
         "st.global.u32 [out], %u1;", 5, 0, 0, 5},
        {"st.global.u64 [out], %da;\nred.global.add.u32 [out], 3;", 5, 0, 0, 8},
        {".shared .align 8 .b8 there[16];\nmov.u32 %u1, there;\nst.shared.u64 [%u1+8], %da;\n"
         "ld.shared.u64 %d0, [there+8];", ALL - 4, 0, 0, ALL - 4},
        {".local .align 8 .b8 own[16];\nmov.u64 %d1, own;\nst.local.u8 [%d1+3], %ua;\n"
         "ld.local.u8 %u0, [own+3];", 0x1ff, 0, 0, 0xff},
    };

    CHECK(rows);
}
END_TEST

START_TEST(an_instruction_that_is_not_known_in_full_is_refused)
{
    static const char *const texts[] = {
        "cvt.rx.f32.s32 %f0, %ua;",    "cvt.rz.s32.f32 %u0, %fa;", "cvt.f32.s32.u8 %f0, %ua;",
        "cvt.rn.f16x2.s32 %u0, %ua;",  "add.rx.f32 %f0, %fa, %fb;", "shl.s33 %u0, %ua, %ub;",
        "setp.like.s32 %p1, %ua, %ub;", "atom.global.sub.u32 %u0, [%out], 1;",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const row one = {texts[i], 0, 0, 0, 0};
        char text[4096];
        cx_ptx_module *module = NULL;
        cx_ptx_error error = {0};

        write_kernel(&one, text, sizeof text);
        ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) != CX_PTX_SUCCESS, "%s",
                      texts[i]);
        ck_assert_int_eq(error.line, 28);
    }
}
END_TEST

/* ---- several threads ---- */

static uint32_t word_after(const char *body, uint32_t threads, size_t index)
{
    char text[2048];
    const uint64_t parameters[] = {ADDRESS, 0, 0, 0};
    uint32_t word;

    memset(memory, 0, sizeof memory);
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
             ".reg .pred %%p<4>;\n.reg .b32 %%u<8>;\n.reg .b64 %%d<4>;\n"
             "ld.param.u64 %%d1, [out];\nmov.u32 %%u1, %%tid.x;\n%s\nret;\n}\n",
             body);
    ck_assert_int_eq(run(text, parameters, threads, NULL), CX_PTX_DONE);
    memcpy(&word, memory + index * sizeof word, sizeof word);
    return word;
}

#define STORE_OWN \
    "mul.wide.u32 %d2, %u1, 4;\nadd.u64 %d2, %d1, %d2;\nst.global.u32 [%d2], %u0;\n"
#define STORE_OWN_FORMAT \
    "mul.wide.u32 %%d2, %%u1, 4;\nadd.u64 %%d2, %%d1, %%d2;\nst.global.u32 [%%d2], %%u0;\n"

/* The lane that a lane reads from: PTX ISA, shfl.sync. */
static uint32_t shuffle_source(int mode, uint32_t lane, uint32_t b, uint32_t c)
{
    const int mask = c >> 8 & 31, clamp = c & 31, by = b & 31, own = (int)lane;
    const int most = (own & mask) | (clamp & ~mask);
    const int sources[] = {own - by, own + by, own ^ by, (own & mask) | (by & ~mask)};
    const bool inside = mode == 0 ? sources[mode] >= most : sources[mode] <= most;

    return inside ? (uint32_t)sources[mode] : lane;
}

/* What the operands are: the same in all lanes, or another one in each. */
static const char *const shuffle_operands[] = {"mov.u32 %u2, 5;", "mad.lo.u32 %u2, %u1, 7, 3;"};
static const char *const shuffle_segments[] = {"0x1f", "0", "0x181f", "0x1c03"};
static const uint32_t segment_values[] = {0x1f, 0, 0x181f, 0x1c03};
static const char *const shuffle_masks[] = {"mov.u32 %u4, -1;", "or.b32 %u4, %u1, 0xffffffff;"};

START_TEST(operands_of_shuffles_may_lie_in_registers)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    char body[400];

    for (int mode = 0; mode < 4; mode++)
        for (int segment = 0; segment < 4; segment++)
            for (uint32_t lane = 0; lane < 32; lane += 5) {
                const uint32_t by = _i % 2 == 0 ? 5 : lane * 7 + 3;

                snprintf(body, sizeof body,
                         "%s\nmov.u32 %%u3, %s;\n%s\nmul.lo.u32 %%u5, %%u1, 11;\n"
                         "shfl.sync.%s.b32 %%u0, %%u5, %%u2, %%u3, %%u4;\n" STORE_OWN_FORMAT,
                         shuffle_operands[_i % 2], shuffle_segments[segment], shuffle_masks[_i / 2],
                         modes[mode]);
                ck_assert_msg(word_after(body, 32, lane) ==
                                  11 * shuffle_source(mode, lane, by, segment_values[segment]),
                              "%s, lane %u", body, lane);
            }
}
END_TEST

/* What the lanes do together is done at once where the operands are rows of words: step_joint.c. */
START_TEST(constants_of_what_lanes_do_together_are_words)
{
    static const row rows[] = {
        {"shfl.sync.bfly.b32 %u0, %ua, 16, 31, -1;", 0, 0, 0, 0},
        {"vote.sync.ballot.b32 %u0, 1, 0xffffffff;", 0, 0, 0, 0},
        {"redux.sync.add.s32 %u0, 1, -1;", 0, 0, 0, 0},
        {"bar.warp.sync -1;", 0, 0, 0, 0},
    };
    char text[4096];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cx_ptx_error error = {0};
        cx_ptx_module *module = NULL;
        size_t seen = 0;

        write_kernel(&rows[i], text, sizeof text);
        ck_assert_int_eq(cx_ptx_load(text, strlen(text), &module, &error), CX_PTX_SUCCESS);
        for (size_t at = 0; at < module->code_count; at++) {
            const cx_ptx_instruction *each = &module->code[at];
            const uint32_t operands[] = {each->a, each->b, each->c, each->e};

            if (each->op != CX_PTX_WARP)
                continue;
            seen++;
            for (int operand = 0; operand < 4; operand++)
                ck_assert_msg(operands[operand] == UINT32_MAX || !cx_ptx_is_long(operands[operand]),
                              "%s: operand %d", rows[i].text, operand);
        }
        ck_assert_uint_eq(seen, 1);
        cx_ptx_unload(module);
    }
}
END_TEST

START_TEST(lanes_of_a_warp_ask_each_other)
{
    ck_assert_uint_eq(word_after("setp.gt.u32 %p1, %u1, 2;\n"
                                 "vote.sync.ballot.b32 %u0, %p1, 0xff;\n" STORE_OWN, 8, 5), 0xf8);
    ck_assert_uint_eq(word_after("setp.gt.u32 %p1, %u1, 2;\nvote.sync.any.pred %p2, %p1, 0xff;\n"
                                 "selp.u32 %u0, 1, 2, %p2;\n" STORE_OWN, 8, 0), 1);
    ck_assert_uint_eq(word_after("setp.gt.u32 %p1, %u1, 2;\nvote.sync.all.pred %p2, %p1, 0xff;\n"
                                 "selp.u32 %u0, 1, 2, %p2;\n" STORE_OWN, 8, 7), 2);
    ck_assert_uint_eq(word_after("shfl.sync.down.b32 %u0, %u1, 2, 31, 0xff;\n" STORE_OWN, 8, 3), 5);
    ck_assert_uint_eq(word_after("shfl.sync.up.b32 %u0, %u1, 2, 0, 0xff;\n" STORE_OWN, 8, 1), 1);
    ck_assert_uint_eq(word_after("shfl.sync.up.b32 %u0, %u1, 2, 0, 0xff;\n" STORE_OWN, 8, 7), 5);
    ck_assert_uint_eq(word_after("shfl.sync.bfly.b32 %u0, %u1, 1, 31, 0xff;\n" STORE_OWN, 8, 6), 7);
    ck_assert_uint_eq(word_after("shfl.sync.idx.b32 %u0, %u1, 3, 31, 0xff;\n" STORE_OWN, 8, 6), 3);
    ck_assert_uint_eq(word_after("shfl.sync.idx.b32 %u0, %u1, 3, 31, 0xff;\n" STORE_OWN, 8, 0), 3);
    ck_assert_uint_eq(
        word_after("shfl.sync.idx.b32 %u0, %u1, 1, 0x1c1f, 0xff;\n" STORE_OWN, 8, 6), 5);
    ck_assert_uint_eq(word_after("setp.gt.u32 %p1, %u1, 9;\nvote.sync.uni.pred %p2, %p1, 0xff;\n"
                                 "selp.u32 %u0, 1, 2, %p2;\n" STORE_OWN, 8, 7), 1);
    ck_assert_uint_eq(word_after("setp.gt.u32 %p1, %u1, 2;\nvote.sync.uni.pred %p2, %p1, 0xff;\n"
                                 "selp.u32 %u0, 1, 2, %p2;\n" STORE_OWN, 8, 7), 2);
    ck_assert_uint_eq(word_after("and.b32 %u2, %u1, 1;\nmatch.any.sync.b32 %u0, %u2, 0xff;\n"
                                 STORE_OWN, 8, 3), 0xaa);
    ck_assert_uint_eq(word_after("redux.sync.add.s32 %u0, %u1, 0xff;\n" STORE_OWN, 8, 0), 28);
    ck_assert_uint_eq(word_after("redux.sync.max.u32 %u0, %u1, 0xff;\n" STORE_OWN, 8, 2), 7);
}
END_TEST

START_TEST(a_barrier_lets_all_see_what_all_have_written)
{
    const char *body = ".shared .align 4 .u32 sum;\nred.shared.add.u32 [sum], 1;\nbar.sync 0;\n"
                       "ld.shared.u32 %u0, [sum];\nand.b32 %u2, %u1, 15;\n"
                       "mul.wide.u32 %d2, %u2, 4;\nadd.u64 %d2, %d1, %d2;\n"
                       "st.global.u32 [%d2], %u0;\n";

    for (size_t i = 0; i < 16; i++)
        ck_assert_uint_eq(word_after(body, 100, i), 100);
}
END_TEST

START_TEST(a_loop_and_a_branch_go_their_own_way_in_each_thread)
{
    const char *body = "mov.u32 %u0, 0;\nmov.u32 %u2, 0;\nAGAIN:\nsetp.ge.u32 %p1, %u2, %u1;\n"
                       "@%p1 bra DONE;\nadd.u32 %u2, %u2, 1;\nadd.u32 %u0, %u0, %u2;\n"
                       "bra AGAIN;\nDONE:\n" STORE_OWN;

    for (size_t i = 0; i < 16; i++)
        ck_assert_uint_eq(word_after(body, 16, i), i * (i + 1) / 2);
}
END_TEST

/* Each call has registers of its own. */
START_TEST(a_function_calls_itself_and_comes_back)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".func (.param .b32 result) sum(.param .b32 number)\n{\n"
        ".reg .pred %p;\n.reg .b32 %own, %less, %rest;\n"
        "ld.param.u32 %own, [number];\nmov.u32 %rest, 0;\nsetp.eq.u32 %p, %own, 0;\n"
        "@%p bra DONE;\nsub.u32 %less, %own, 1;\n{\n.param .b32 given;\n.param .b32 back;\n"
        "st.param.b32 [given], %less;\ncall.uni (back), sum, (given);\n"
        "ld.param.b32 %rest, [back];\n}\nadd.u32 %rest, %rest, %own;\n"
        "DONE:\nst.param.b32 [result], %rest;\nret;\n}\n"
        ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
        ".reg .b32 %u<4>;\n.reg .b64 %out;\nld.param.u64 %out, [out];\nld.param.u32 %u1, [a];\n"
        "mov.u32 %u2, 7;\n{\n.param .b32 given;\n.param .b32 back;\n"
        "st.param.b32 [given], %u1;\ncall.uni (back), sum, (given);\nld.param.b32 %u0, [back];\n"
        "}\nadd.u32 %u0, %u0, %u2;\nst.global.u32 [%out], %u0;\nret;\n}\n";
    const uint64_t parameters[] = {ADDRESS, 10, 0, 0};
    uint32_t found;

    memset(memory, 0, sizeof memory);
    ck_assert_int_eq(run(text, parameters, 1, NULL), CX_PTX_DONE);
    memcpy(&found, memory, sizeof found);
    ck_assert_uint_eq(found, 55 + 7);
}
END_TEST

/* Parameters that are registers: arguments are values, by name and by address. */
START_TEST(a_function_takes_values_in_registers)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".func (.param .b32 result) join(.reg .u32 high, .reg .u64 low, .param .b32 more)\n{\n"
        ".reg .b32 %own, %other;\ncvt.u32.u64 %own, low;\nshl.b32 %other, high, 16;\n"
        "or.b32 %own, %own, %other;\nadd.u32 high, high, 1;\nld.param.b32 %other, [more];\n"
        "add.u32 %own, %own, %other;\nst.param.b32 [result], %own;\nret;\n}\n"
        ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
        ".reg .b32 %u<4>;\n.reg .b64 %d, %out;\nld.param.u64 %out, [out];\n"
        "ld.param.u32 %u1, [a];\nld.param.u64 %d, [b];\n"
        "{\n.param .b32 given;\n.param .b32 back;\nst.param.b32 [given], %u1;\n"
        "call.uni (back), join, (%u1, %d, given);\nld.param.b32 %u0, [back];\n"
        "st.global.u32 [%out], %u0;\nst.global.u32 [%out+4], %u1;\n}\n"
        "{\n.param .b32 given;\n.param .b32 back;\n.reg .b64 %at;\nmov.u64 %at, join;\n"
        "proto: .callprototype (.param .b32 _) _ (.reg .u32 _, .reg .u64 _, .param .b32 _);\n"
        "st.param.b32 [given], 1;\ncall (back), %at, (2, %d, given), proto;\n"
        "ld.param.b32 %u0, [back];\nst.global.u32 [%out+8], %u0;\n}\nret;\n}\n";
    const uint64_t parameters[] = {ADDRESS, 3, 0x500, 0};
    uint32_t found[3];

    memset(memory, 0, sizeof memory);
    ck_assert_int_eq(run(text, parameters, 1, NULL), CX_PTX_DONE);
    memcpy(found, memory, sizeof found);
    ck_assert_uint_eq(found[0], 0x30500 + 3);
    ck_assert_uint_eq(found[1], 3);
    ck_assert_uint_eq(found[2], 0x20500 + 1);
}
END_TEST

START_TEST(a_fault_says_where_it_was)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
        ".reg .pred %p;\n.reg .b32 %u;\n.reg .b64 %out;\nld.param.u64 %out, [out];\n"
        "mov.u32 %u, %tid.x;\nsetp.ne.u32 %p, %u, 37;\n@%p ret;\n"
        "st.global.u32 [%out+4096], %u;\nret;\n}\n";
    const uint64_t parameters[] = {ADDRESS, 0, 0, 0};
    cx_ptx_fault fault = {0};

    ck_assert_int_eq(run(text, parameters, 64, &fault), CX_PTX_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(fault.thread[0], 37);
    ck_assert_uint_eq(fault.block[0], 0);
    ck_assert_int_eq(fault.line, 13);
    ck_assert(fault.address == ADDRESS + 4096);
}
END_TEST

static Suite *instruction_suite(void)
{
    Suite *suite = suite_create("instructions");
    TCase *tcase = tcase_create("instructions");

    tcase_add_test(tcase, integers_are_added_and_multiplied);
    tcase_add_test(tcase, bits_are_shifted_found_and_put_together);
    tcase_add_test(tcase, numbers_are_compared_and_chosen);
    tcase_add_test(tcase, floats_are_rounded_once);
    tcase_add_test(tcase, numbers_become_others);
    tcase_add_test(tcase, memory_is_read_written_and_changed_at_once);
    tcase_add_test(tcase, an_instruction_that_is_not_known_in_full_is_refused);
    tcase_add_loop_test(tcase, operands_of_shuffles_may_lie_in_registers, 0, 4);
    tcase_add_test(tcase, constants_of_what_lanes_do_together_are_words);
    tcase_add_test(tcase, lanes_of_a_warp_ask_each_other);
    tcase_add_test(tcase, a_barrier_lets_all_see_what_all_have_written);
    tcase_add_test(tcase, a_loop_and_a_branch_go_their_own_way_in_each_thread);
    tcase_add_test(tcase, a_function_calls_itself_and_comes_back);
    tcase_add_test(tcase, a_function_takes_values_in_registers);
    tcase_add_test(tcase, a_fault_says_where_it_was);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(instruction_suite);
