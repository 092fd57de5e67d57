/* Video instructions with parts, pairs of singles, small floats: one instruction each, whose result
 * is known. */
#include "texts.h"

#include <stdio.h>
#include <string.h>

#define BEGIN                                                                                    \
    ".address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n"               \
    ".reg .b8 %b<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<12>;\n.reg .f32 %f<12>;\n"                  \
    ".reg .b64 %d<12>;\nld.param.u64 %d1, [out];\n"                                              \
    "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1];\nmov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n"      \
    "mov.b32 %f3, %r3;\nmov.b32 %f4, %r4;\nmov.b64 %d2, {%r1, %r2};\nmov.b64 %d3, {%r3, %r4};\n" \
    "cvt.u16.u32 %h1, %r1;\ncvt.u16.u32 %h2, %r2;\n"
#define STORE_R "\nst.global.b32 [%d1], %r0;\nret;\n}\n"

/* r1 to r4 have these values; r0 comes back. */
static uint32_t result_of(const char *target, const char *code, const uint32_t values[4])
{
    char text[2048];
    uint32_t words[4];

    memcpy(words, values, sizeof words);
    snprintf(text, sizeof text, ".version 8.7\n.target %s\n%s%s%s", target, BEGIN, code, STORE_R);
    text_run(text, words, sizeof words, 1);
    return words[0];
}

typedef struct row {
    const char *code;
    uint32_t values[4], expected;
} row;

static void check_rows(const char *target, const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t got = result_of(target, rows[i].code, rows[i].values);

        ck_assert_msg(got == rows[i].expected, "%s: %#x, not %#x", rows[i].code, got,
                      rows[i].expected);
    }
}

#define CHECK(target, ...)                                      \
    {                                                           \
        static const row rows[] = {__VA_ARGS__};                \
        check_rows(target, rows, sizeof rows / sizeof rows[0]); \
    }

START_TEST(a_video_instruction_takes_parts_of_its_operands)
{
    CHECK("sm_75", {"vadd.s32.s32.s32 %r0, %r1.b3, %r2.h1;", {0xff000000, 0x00050000}, 4},
          {"vadd.s32.u32.u32 %r0, %r1.b3, %r2.h1;", {0xff000000, 0x00050000}, 260},
          {"vsub.s32.s32.u32 %r0, %r1.h0, %r2.b1;", {0x1234fffe, 0x0000ff00}, -257u},
          {"vabsdiff.u32.s32.s32 %r0, %r1.b0, %r2.b1;", {0x80, 0x7f00}, 255},
          {"vadd.u32.u32.u32.add %r0, %r1.b0, %r2.b2, %r3;", {200, 0x640000, 7}, 307},
          {"vset.s32.u32.lt %r0, %r1.h1, %r2.b3;", {0xffff0000, 0x00ffffff}, 1},
          {"vset.lt.u32.u32 %r0, %r1.h1, %r2.b3;", {0xffff0000, 0xffffffff}, 0},
          {"vset.u32.u32.gt.max %r0, %r1, %r2, %r3;", {3, 2, 0}, 1},
          {"vmin.s32.s32.s32 %r0, %r1.b1, -3;", {0xfb00}, -5u});
}
END_TEST

START_TEST(a_part_of_the_result_is_written_into_the_last_operand)
{
    CHECK("sm_75",
          {"vadd.u32.u32.u32 %r0.b2, %r1, %r2, %r3;", {0x1f0, 0x20, 0x11223344}, 0x11103344},
          {"vadd.u32.u32.u32.sat %r0.b2, %r1, %r2, %r3;", {0x1f0, 0x20, 0x11223344}, 0x11ff3344},
          {"vsub.s32.s32.s32.sat %r0.h0, %r1, %r2, %r3;", {0, 40000, 0x11223344}, 0x11228000},
          {"vset.u32.u32.eq %r0.h1, %r1, %r2, %r3;", {5, 5, 0x11223344}, 0x00013344},
          {"vadd2.u32.u32.u32 %r0.h1, %r1, %r2, %r3;",
           {0x00020003, 0x00100020, 0x11223344},
           0x00123344},
          {"vadd4.u32.u32.u32 %r0.b30, %r1, %r2, %r3;",
           {0x01020304, 0x10101010, 0x55667788},
           0x11667714});
}
END_TEST

START_TEST(parts_are_chosen_from_both_operands)
{
    CHECK(
        "sm_75",
        {"vadd2.u32.u32.u32 %r0, %r1.h01, %r2.h32, %r3;", {0x00010002, 0x00100020, 0}, 0x00120021},
        {"vadd2.u32.u32.u32 %r0, %r1.h33, %r2.h00, %r3;", {0x00010002, 0x00100020, 0}, 0x00120012},
        {"vadd4.u32.u32.u32 %r0, %r1.b0123, %r2.b7654, %r3;",
         {0x01020304, 0x10203040, 0},
         0x14233241},
        {"vsub4.s32.s32.s32.sat %r0, %r1.b7777, %r2.b0000, %r3;",
         {0x7f, 0x81000000, 0},
         0x80808080},
        {"vadd2.s32.s32.s32.add %r0, %r1, %r2, %r3;", {0xffff0003, 0x00050006, 100}, 113},
        {"vadd2.s32.s32.s32.add %r0.h0, %r1, %r2, %r3;", {0xffff0003, 0x00050006, 100}, 109},
        {"vset2.u32.u32.ne %r0, %r1, %r2, %r3;", {0x00010002, 0x00010003, 0}, 1},
        {"vset4.s32.s32.ge.add %r0, %r1, %r2, %r3;", {0xff00057f, 0x0000047f, 10}, 13},
        {"vavrg2.u32.u32.u32 %r0, %r1, %r2, %r3;", {0x00030004, 0x00040004, 0}, 0x00040004},
        {"vavrg4.s32.s32.s32 %r0, %r1, %r2, %r3;", {0xff010303, 0xfe020400, 0}, 0xfe020402});
}
END_TEST

START_TEST(a_video_instruction_shifts)
{
    CHECK("sm_75", {"vshl.u32.u32.u32.clamp %r0, %r1, %r2;", {3, 40}, 0},
          {"vshl.u32.u32.u32.wrap %r0, %r1, %r2;", {3, 33}, 6},
          {"vshl.u32.u32.u32.sat.clamp %r0, %r1, %r2;", {3, 31}, UINT32_MAX},
          {"vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2;", {0xc0000000, 2}, 0x80000000},
          {"vshr.s32.s32.u32.clamp %r0, %r1, %r2;", {0x80000000, 99}, UINT32_MAX},
          {"vshr.u32.u32.u32.clamp %r0, %r1, %r2;", {0x80000000, 99}, 0},
          {"vshr.u32.u32.u32.wrap.add %r0, %r1.h1, %r2.b0, %r3;", {0xff000000, 0xff24, 1}, 0xff1});
}
END_TEST

START_TEST(a_video_instruction_multiplies_and_adds)
{
    CHECK("sm_75", {"vmad.u32.u32.u32 %r0, %r1, %r2, %r3;", {7, 9, 100}, 163},
          {"vmad.s32.s32.u32 %r0, %r1.b0, %r2.h0, %r3;", {0xff, 300, 1}, -299u},
          {"vmad.s32.u32.u32 %r0, -%r1, %r2, %r3;", {7, 9, 100}, 37},
          {"vmad.s32.u32.u32 %r0, %r1, %r2, -%r3;", {7, 9, 100}, -37u},
          {"vmad.s32.u32.u32 %r0, -%r1, -%r2, %r3;", {7, 9, 100}, 163},
          {"vmad.u32.u32.u32.po %r0, %r1, %r2, %r3;", {7, 9, 100}, 164},
          {"vmad.u32.u32.u32.shr7 %r0, %r1, %r2, %r3;", {0x80000000, 0x100, 0x80}, 1},
          {"vmad.s32.s32.s32.shr15 %r0, %r1, %r2, %r3;", {0xffff8000, 3, 0}, -3u},
          {"vmad.u32.u32.u32.sat %r0, %r1, %r2, %r3;", {0x80000000, 2, 0}, UINT32_MAX},
          {"vmad.s32.s32.s32.sat %r0, %r1, %r2, %r3;", {0x80000000, 2, 0}, 0x80000000});
}
END_TEST

START_TEST(pairs_of_singles_are_computed_half_by_half)
{
    /* 1, 2 and 3, -0.5 */
    CHECK("sm_100",
          {"add.rn.f32x2 %d4, %d2, %d3;\nmov.b64 {%r0, %r5}, %d4;",
           {0x3f800000, 0x40000000, 0x40400000, 0xbf000000},
           0x40800000},
          {"add.rn.f32x2 %d4, %d2, %d3;\nmov.b64 {%r5, %r0}, %d4;",
           {0x3f800000, 0x40000000, 0x40400000, 0xbf000000},
           0x3fc00000},
          {"sub.rn.f32x2 %d4, %d2, %d3;\nmov.b64 {%r5, %r0}, %d4;",
           {0x3f800000, 0x40000000, 0x40400000, 0xbf000000},
           0x40200000},
          {"mul.rn.f32x2 %d4, %d2, %d3;\nmov.b64 {%r5, %r0}, %d4;",
           {0x3f800000, 0x40000000, 0x40400000, 0xbf000000},
           0xbf800000},
          {"fma.rn.ftz.f32x2 %d2, %d2, %d2, %d3;\nmov.b64 {%r5, %r0}, %d2;",
           {0x3f800000, 0x40000000, 0x40400000, 0xbf000000},
           0x40600000},
          {"add.rp.f32x2 %d4, %d2, %d3;\nmov.b64 {%r0, %r5}, %d4;",
           {0x3f800000, 0, 0x00800000, 0},
           0x3f800001},
          {"mul.rn.ftz.f32x2 %d4, %d2, %d3;\nmov.b64 {%r0, %r5}, %d4;",
           {0x00400000, 0, 0x40000000, 0},
           0});
}
END_TEST

START_TEST(a_half_is_added_to_a_single)
{
    CHECK(
        "sm_100",
        {"add.rn.f32.f16 %f0, %h1, %f2;\nmov.b32 %r0, %f0;", {0x3c00, 0x3f000000}, 0x3fc00000},
        {"sub.rz.sat.f32.bf16 %f0, %h1, %f2;\nmov.b32 %r0, %f0;", {0x4040, 0x3f000000}, 0x3f800000},
        {"fma.rn.f32.bf16 %f0, %h1, %h2, %f3;\nmov.b32 %r0, %f0;",
         {0x4040, 0x4000, 0x3f800000},
         0x40e00000},
        {"add.f32.bf16 %f0, %h1, %f2;\nmov.b32 %r0, %f0;", {0x3f80, 0x3f000000}, 0x3fc00000});
}
END_TEST

START_TEST(small_floats_are_rounded_and_never_infinite)
{
    CHECK(
        "sm_100a",
        /* the first source is the upper element */
        {"cvt.rn.satfinite.e2m3x2.f32 %h3, %f1, %f2;\ncvt.u32.u16 %r0, %h3;",
         {0x3f800000, 0xc1200000},
         0x083f}, /* 1, -10 */
        {"cvt.rn.satfinite.e3m2x2.f32 %h3, %f1, %f2;\ncvt.u32.u16 %r0, %h3;",
         {0x7f800000, 0x3d800000},
         0x1f01}, /* infinity, 1/16 */
        {"cvt.rn.satfinite.relu.e3m2x2.f32 %h3, %f1, %f2;\ncvt.u32.u16 %r0, %h3;",
         {0x7fc00000, 0xbf800000},
         0x1f00}, /* NaN, -1 */
        {"cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f2;\ncvt.u32.u8 %r0, %b1;",
         {0x40a00000, 0xbf400000},
         0x6a}, /* 5 is 4, -0.75 is -1 */
        {"cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f2;\ncvt.rn.f16x2.e2m1x2 %r0, %b1;",
         {0x40e00000, 0xc0400000},
         0x4600c200},                                                             /* 6, -3 */
        {"mov.b16 %h3, 0x1f21;\ncvt.rn.f16x2.e2m3x2 %r0, %h3;", {0}, 0x4780b000}, /* 7.5, -0.125 */
        {"mov.b16 %h3, 0x1f21;\ncvt.rn.relu.f16x2.e3m2x2 %r0, %h3;", {0}, 0x4f000000}, /* 28, 0 */
        {"cvt.rz.satfinite.ue8m0x2.f32 %h3, %f1, %f2;\ncvt.u32.u16 %r0, %h3;",
         {0x40400000, 0x3f800000},
         0x807f}, /* 3 is 2 */
        {"cvt.rp.satfinite.ue8m0x2.f32 %h3, %f1, %f2;\ncvt.u32.u16 %r0, %h3;",
         {0x40400000, 0x7fc00000},
         0x81ff}, /* 3 is 4, NaN */
        {"cvt.rp.satfinite.ue8m0x2.bf16x2 %h3, %r1;\ncvt.u32.u16 %r0, %h3;", {0x40403f80}, 0x817f},
        {"mov.b16 %h3, 0x80ff;\ncvt.rn.bf16x2.ue8m0x2 %r0, %h3;", {0}, 0x40007fff}); /* 2, NaN */
}
END_TEST

START_TEST(lanes_reduce_singles)
{
    static const struct {
        const char *code;
        uint32_t expected;
    } rows[] = {{"redux.sync.min.f32 %f0, %f1, 0xffffffff;", 0xc2000000},     /* -32 */
                {"redux.sync.max.f32 %f0, %f1, 0xffffffff;", 0x41f80000},     /* 31 */
                {"redux.sync.max.abs.f32 %f0, %f1, 0xffffffff;", 0x42000000}, /* 32 */
                {"redux.sync.max.abs.NaN.f32 %f0, %f2, 0xffffffff;", 0x7fffffff},
                {"redux.sync.min.f32 %f0, %f2, 0xffffffff;", 0x3f800000}};
    char text[2048];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t words[32] = {0};

        snprintf(text, sizeof text, ".version 8.7\n.target sm_100a\n%s%s%s%s", BEGIN,
                 "mov.u32 %r9, %tid.x;\nadd.s32 %r8, %r9, -32;\nsetp.eq.u32 %p1, %r9, 5;\n"
                 "selp.b32 %r7, 31, %r8, %p1;\ncvt.rn.f32.s32 %f1, %r7;\n"
                 "selp.b32 %r6, 0x7fc00000, 0x3f800000, %p1;\nmov.b32 %f2, %r6;\n"
                 "bar.sync 0;\n",
                 rows[i].code, "\nmov.b32 %r0, %f0;\nst.global.b32 [%d1], %r0;\nret;\n}\n");
        text_run(text, words, sizeof words, 32);
        ck_assert_msg(words[0] == rows[i].expected, "%s: %#x", rows[i].code, words[0]);
    }
}
END_TEST

START_TEST(special_registers_are_vectors)
{
    CHECK("sm_75",
          {"mov.v4.u32 {%r5, %r6, %r7, %r8}, %ntid;\nmad.lo.u32 %r0, %r5, 100, %r6;\n"
           "mad.lo.u32 %r0, %r0, 100, %r7;\nadd.u32 %r0, %r0, %r8;",
           {0},
           10101},
          {".reg .v4 .u32 v;\nmov.v4.u32 v, %nctaid;\nadd.u32 %r0, v.x, v.z;", {0}, 2});
}
END_TEST

START_TEST(what_a_video_instruction_does_not_have_is_refused)
{
    static const char *const codes[] = {"vadd.u32.u32.u32 %r0, %r1.b4, %r2;",
                                        "vadd.u32.u32.u32 %r0, -%r1, %r2;",
                                        "vadd2.u32.u32.u32 %r0, %r1.b10, %r2, %r3;",
                                        "vadd4.u32.u32.u32 %r0.b03, %r1, %r2, %r3;",
                                        "vmad.s32.u32.u32 %r0, -%r1, %r2, -%r3;",
                                        "vshl.u32.u32.u32 %r0, %r1, %r2;",
                                        "vset.u32.u32 %r0, %r1, %r2;",
                                        "add.u32 %r0, %r1.b0, %r2;",
                                        "add.u32 %r0, -%r1, %r2;",
                                        "vavrg.u32.u32.u32 %r0, %r1, %r2;",
                                        "vadd.u32.u32.u32.add %r0.b1, %r1, %r2, %r3;",
                                        "mov.b32 %r0.b1, %r1;"};
    CUmodule module;
    char text[2048];

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        snprintf(text, sizeof text, ".version 8.7\n.target sm_75\n%s%s%s", BEGIN, codes[i],
                 STORE_R);
        ck_assert_msg(text_load(text, &module) != CXU_SUCCESS, "%s", codes[i]);
    }
}
END_TEST

static Suite *composed_suite(void)
{
    Suite *suite = suite_create("composed");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, work_setup, work_teardown);
    tcase_add_test(all, a_video_instruction_takes_parts_of_its_operands);
    tcase_add_test(all, a_part_of_the_result_is_written_into_the_last_operand);
    tcase_add_test(all, parts_are_chosen_from_both_operands);
    tcase_add_test(all, a_video_instruction_shifts);
    tcase_add_test(all, a_video_instruction_multiplies_and_adds);
    tcase_add_test(all, pairs_of_singles_are_computed_half_by_half);
    tcase_add_test(all, a_half_is_added_to_a_single);
    tcase_add_test(all, small_floats_are_rounded_and_never_infinite);
    tcase_add_test(all, lanes_reduce_singles);
    tcase_add_test(all, special_registers_are_vectors);
    tcase_add_test(all, what_a_video_instruction_does_not_have_is_refused);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(composed_suite);
