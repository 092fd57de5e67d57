/* Registers of 128 bits: what moves, loads, stores and atomic operations of .b128 give. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS UINT64_C(0x100000)
#define BEGIN                                                                                     \
    ".version 8.8\n.target sm_100\n.address_size 64\n"                                            \
    ".global .b128 first = 5;\n.global .align 16 .b128 second[2] = {-2, 0x123456789};\n"          \
    ".visible .entry k(.param .u64 out, .param .align 16 .b8 in[16])\n{\n.reg .pred %p<3>;\n"     \
    ".reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .f64 %g<3>;\n.reg .b128 %q<6>;\n.reg .b128 one, " \
    "two;\n"                                                                                      \
    ".shared .align 16 .b8 sh[64];\n.local .align 16 .b8 own[32];\nld.param.u64 %d0, [out];\n"    \
    "mov.u64 %d1, 0x1111111122222222;\nmov.u64 %d2, 0x3333333344444444;\n"                        \
    "mov.b128 %q1, {%d1, %d2};\nmov.b128 %q2, {7, 8};\nld.global.b128 %q3, [%d0+32];\n"
#define LINES_BEFORE 21
#define END "\nst.global.b128 [%d0], %q0;\nret;\n}\n"

/* At `out`: two results, and what is there before. */
static _Alignas(16) uint64_t memory[8];
static _Alignas(16) unsigned char variables[64];
static const uint64_t before[] = {0, 0, 0, 0, 0xaaaa, 0xbbbb, 0, 0};

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    const uint64_t place = (uintptr_t)variables;

    (void)self;
    if (address - place < sizeof variables)
        *out_range = (cx_ptx_range){place, sizeof variables, variables, false, NULL, NULL};
    else
        *out_range = (cx_ptx_range){ADDRESS, sizeof memory, (unsigned char *)memory,
                                    false, NULL, NULL};
    return address - place < sizeof variables || address - ADDRESS < sizeof memory;
}

static cx_ptx_outcome run(const char *instruction, cx_ptx_fault *out_fault)
{
    const struct {
        uint64_t out, gap;
        _Alignas(16) uint64_t in[2];
    } parameters = {ADDRESS, 0, {0xcccc, 0xdddd}};
    const cx_ptx_environment environment = {.find = find};
    const cx_ptx_launch launch = {.grid = {1, 1, 1},
                                  .block = {1, 1, 1},
                                  .parameters = &parameters,
                                  .memory_address = (uintptr_t)variables};
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;
    cx_ptx_outcome outcome;
    char text[4096];

    snprintf(text, sizeof text, "%s%s%s", BEGIN, instruction, END);
    ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == CX_PTX_SUCCESS,
                  "%s: line %d: %s", instruction, error.line, error.message);
    ck_assert_uint_le(cx_ptx_memory_bytes(module), sizeof variables);
    cx_ptx_memory_init(module, (uintptr_t)variables, 0, variables);
    memcpy(memory, before, sizeof memory);
    outcome = cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, out_fault);
    cx_ptx_unload(module);
    return outcome;
}

/* %q1 is {1111111122222222, 3333333344444444}, %q2 {7, 8}, %q3 and the memory at %d0+32 {aaaa,
 * bbbb}; the instruction leaves its result in %q0. */
typedef struct row {
    const char *text;
    uint64_t low, high; /* of %q0 */
    uint64_t there[2];  /* in memory at %d0+32; 0: as before */
} row;

#define D1 0x1111111122222222
#define D2 0x3333333344444444

static const row rows[] = {
    {"mov.b128 %q0, %q1;", D1, D2, {0}},
    {"mov.b128 %q0, {%d2, %d1};", D2, D1, {0}},
    {"mov.b128 %q0, {%d2, 5};", D2, 5, {0}},
    {"mov.b128 %q0, 9;", 9, 0, {0}},
    {"mov.b128 {%d4, %d5}, %q1;\nmov.b128 %q0, {%d5, %d4};", D2, D1, {0}},
    {"mov.u64 %d5, 3;\nmov.b128 {_, %d4}, %q1;\nmov.b128 %q0, {%d4, %d5};", D2, 3, {0}},
    {"mov.u64 %d5, 3;\nmov.b128 {%d4, _}, %q1;\nmov.b128 %q0, {%d4, %d5};", D1, 3, {0}},
    {"mov.b128 {%r0, %r1, %r2, %r3}, %q1;\nmov.b128 %q0, {%r3, %r2, %r1, %r0};",
     0x4444444433333333,
     0x2222222211111111,
     {0}},
    {"mov.b128 {%g0, %g1}, %q1;\nmov.b128 %q0, {%g1, %g0};", D2, D1, {0}},
    {"mov.b128 one, %q1;\nmov.b128 two, %q2;\nmov.b128 %q0, one;", D1, D2, {0}},
    {"ld.param.b128 %q0, [in];", 0xcccc, 0xdddd, {0}},
    {"ld.global.b128 %q0, [first];", 5, 0, {0}},
    {"ld.global.b128 %q0, [second];", UINT64_MAX - 1, UINT64_MAX, {0}},
    {"ld.relaxed.gpu.global.b128 %q0, [second+16];", 0x123456789, 0, {0}},
    {"st.shared.b128 [sh+16], %q1;\nld.shared.b128 %q0, [sh+16];", D1, D2, {0}},
    {"st.volatile.shared.b128 [sh], %q1;\nld.volatile.shared.b128 %q0, [sh];", D1, D2, {0}},
    {"st.shared.b128 [sh], %q1;\nld.shared.u64 %d4, [sh+8];\nmov.b128 %q0, {%d4, %d4};",
     D2,
     D2,
     {0}},
    {"mov.u32 %r0, sh;\nst.shared::cluster.b128 [%r0], %q1;\nld.shared::cluster.b128 %q0, [%r0];",
     D1,
     D2,
     {0}},
    {"mov.u64 %d4, own;\nst.local.b128 [%d4+16], %q2;\nld.local.b128 %q0, [own+16];", 7, 8, {0}},
    {"ld.relaxed.sys.b128 %q0, [%d0+32];", 0xaaaa, 0xbbbb, {0}},
    {"ld.relaxed.gpu.v2.u64 {%d4, %d5}, [%d0+32];\nmov.b128 %q0, {%d4, %d5};", 0xaaaa, 0xbbbb, {0}},
    {"ld.volatile.global.v2.f64 {%g0, %g1}, [%d0+32];\nmov.b128 %q0, {%g1, %g0};", 0xbbbb, 0xaaaa,
     {0}},
    {"mov.u64 %d4, %d0;\nld.acquire.gpu.v2.u64 {%d5, %d4}, [%d4+32];\nmov.b128 %q0, {%d4, %d5};",
     0xbbbb, 0xaaaa, {0}},
    {"st.volatile.shared.v2.u64 [sh], {%d1, %d2};\n"
     "ld.volatile.shared.v4.u32 {%r3, %r2, %r1, %r0}, [sh];\nmov.b128 %q0, {%r0, %r1, %r2, %r3};",
     0x4444444433333333, 0x2222222211111111, {0}},
    {"ld.volatile.global.v4.u32 {%r0, %d5, %r1, %d6}, [%d0+32];\nadd.u64 %d5, %d5, %d6;\n"
     "cvt.u64.u32 %d6, %r1;\nmov.b128 %q0, {%d5, %d6};",
     0, 0xbbbb, {0}},
    {"ld.volatile.global.v2.u32 {%r0, %r1}, [second+16];\ncvt.u64.u32 %d4, %r0;\n"
     "cvt.u64.u32 %d5, %r1;\nmov.b128 %q0, {%d5, %d4};",
     1, 0x23456789, {0}},
    {"mov.b128 %q0, %q2;\nst.relaxed.gpu.v2.u64 [%d0+32], {%d1, 9};", 7, 8, {D1, 9}},
    {"mov.b128 %q0, %q2;\nmov.u32 %r0, 1;\nmov.u32 %r1, 2;\n"
     "st.release.gpu.v4.u32 [%d0+32], {%r0, %r1, 3, %r1};",
     7, 8, {0x200000001, 0x200000003}},
    {"mov.b128 %q0, %q2;\nmov.u32 %r0, 1;\nst.volatile.global.v2.u32 [%d0+40], {%r0, 6};", 7, 8,
     {0xaaaa, 0x600000001}},
    {"ld.acquire.gpu.global.b128 %q0, [%d0+32];", 0xaaaa, 0xbbbb, {0}},
    {"ld.global.nc.L1::no_allocate.b128 %q0, [%d0+32];", 0xaaaa, 0xbbbb, {0}},
    {"mov.b128 %q0, %q2;\nst.global.b128 [%d0+32], %q1;", 7, 8, {D1, D2}},
    {"mov.b128 %q0, %q2;\nst.release.gpu.global.b128 [%d0+32], %q1;", 7, 8, {D1, D2}},
    {"mov.b128 %q0, %q2;\nst.relaxed.sys.b128 [%d0+32], 6;", 7, 8, {6, 0}},
    {"mov.b128 %q0, %q2;\nst.global.b128 [%d0+32], 6;", 7, 8, {6, 0}},
    {"atom.global.exch.b128 %q0, [%d0+32], %q1;", 0xaaaa, 0xbbbb, {D1, D2}},
    {"atom.relaxed.cluster.exch.b128 %q0, [%d0+32], 6;", 0xaaaa, 0xbbbb, {6, 0}},
    {"mov.b128 %q0, %q2;\natom.exch.b128 _, [%d0+32], %q1;", 7, 8, {D1, D2}},
    {"mov.b128 %q0, %q1;\natom.global.exch.b128 %q0, [%d0+32], %q0;", 0xaaaa, 0xbbbb, {D1, D2}},
    {"atom.global.cas.b128 %q0, [%d0+32], %q3, %q1;", 0xaaaa, 0xbbbb, {D1, D2}},
    {"atom.acq_rel.sys.global.cas.b128 %q0, [%d0+32], %q2, %q1;", 0xaaaa, 0xbbbb, {0}},
    {"mov.b128 %q4, {0xaaaa, 1};\natom.cas.b128 %q0, [%d0+32], %q4, %q1;", 0xaaaa, 0xbbbb, {0}},
    {"mov.b128 %q4, {1, 0xbbbb};\natom.cas.b128 %q0, [%d0+32], %q4, %q1;", 0xaaaa, 0xbbbb, {0}},
    {"st.shared.b128 [sh], %q2;\natom.shared.exch.b128 %q4, [sh], %q1;\n"
     "atom.shared.cas.b128 %q0, [sh], %q1, %q4;\natom.shared.exch.b128 %q0, [sh], %q3;",
     7,
     8,
     {0}},
    {"mov.u64 %d4, sh;\ncvta.shared.u64 %d4, %d4;\nst.shared.b128 [sh], %q2;\n"
     "atom.exch.b128 %q0, [%d4], %q1;",
     7,
     8,
     {0}},
    {"mov.u64 %d4, in;\ncvta.param.u64 %d4, %d4;\nld.relaxed.sys.b128 %q0, [%d4];",
     0xcccc,
     0xdddd,
     {0}},
    {"ld.global.v4.u64 {%d4, %d5, %d6, %d7}, [%d0+32];\nmov.b128 %q0, {%d5, %d4};",
     0xbbbb,
     0xaaaa,
     {0}},
    {"ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d0+32];\n"
     "mov.b128 %q0, {%r2, %r3, %r0, %r1};",
     0xbbbb,
     0xaaaa,
     {0}},
};

START_TEST(an_instruction_of_128_bits_gives)
{
    const row *each = &rows[_i];
    uint64_t there[] = {0xaaaa, 0xbbbb};
    cx_ptx_fault fault = {0};

    if (each->there[0])
        memcpy(there, each->there, sizeof there);
    ck_assert_int_eq(run(each->text, &fault), CX_PTX_DONE);
    ck_assert_msg(memory[0] == each->low && memory[1] == each->high, "%s: %#llx, %#llx", each->text,
                  (unsigned long long)memory[0], (unsigned long long)memory[1]);
    ck_assert_msg(memory[4] == there[0] && memory[5] == there[1], "%s leaves %#llx, %#llx",
                  each->text, (unsigned long long)memory[4], (unsigned long long)memory[5]);
}
END_TEST

/* Block 0 stores i into all parts at %d0+32, again and again, and at the end 1 at %d0+16. Block 1
 * loads until then, and counts at %d0 how often the parts differ. */
#define WATCH(store, load, first, last)                                                          \
    ".version 8.8\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"     \
    ".reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .b64 %d<8>;\nld.param.u64 %d0, [out];\n"           \
    "mov.u32 %r0, %ctaid.x;\nsetp.ne.u32 %p0, %r0, 0;\nmov.u64 %d1, 0;\n@%p0 bra READER;\n"       \
    "WRITER:\ncvt.u32.u64 %r0, %d1;\n" store "\nadd.u64 %d1, %d1, 1;\n"                           \
    "setp.lt.u64 %p0, %d1, 300000;\n@%p0 bra WRITER;\nst.release.gpu.u64 [%d0+16], 1;\nret;\n"    \
    "READER:\n" load "\nsetp.ne.u64 %p0, " first ", " last ";\n@%p0 add.u64 %d1, %d1, 1;\n"        \
    "ld.acquire.gpu.u64 %d4, [%d0+16];\nsetp.eq.u64 %p0, %d4, 0;\n@%p0 bra READER;\n"             \
    "st.global.u64 [%d0], %d1;\nret;\n}\n"

static uint64_t count_torn(const char *text)
{
    const uint64_t out = ADDRESS;
    const cx_ptx_environment environment = {.find = find, .cores = 2};
    const cx_ptx_launch launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .parameters = &out};
    cx_ptx_error error = {0};
    cx_ptx_fault fault = {0};
    cx_ptx_module *module = NULL;

    memset(memory, 0, sizeof memory);
    ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == CX_PTX_SUCCESS,
                  "line %d: %s", error.line, error.message);
    ck_assert_int_eq(
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault),
        CX_PTX_DONE);
    cx_ptx_unload(module);
    return memory[0];
}

/* CUB's look-back between blocks relies on it. */
START_TEST(other_blocks_see_a_strong_vector_whole)
{
    ck_assert_uint_eq(count_torn(WATCH("st.relaxed.gpu.v2.u64 [%d0+32], {%d1, %d1};",
                                       "ld.relaxed.gpu.v2.u64 {%d2, %d3}, [%d0+32];", "%d2",
                                       "%d3")),
                      0);
    ck_assert_uint_eq(
        count_torn(WATCH("st.volatile.global.v4.u32 [%d0+32], {%r0, %r0, %r0, %r0};",
                         "ld.volatile.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0+32];\n"
                         "mov.b64 %d2, {%r1, %r2};\nmov.b64 %d3, {%r4, %r3};",
                         "%d2", "%d3")),
        0);
    ck_assert_uint_eq(count_torn(WATCH("st.volatile.global.v2.u32 [%d0+32], {%r0, %r0};",
                                       "ld.volatile.global.v2.u32 {%r1, %r2}, [%d0+32];\n"
                                       "cvt.u64.u32 %d2, %r1;\ncvt.u64.u32 %d3, %r2;",
                                       "%d2", "%d3")),
                      0);
}
END_TEST

START_TEST(an_access_of_128_bits_fails_by_its_place)
{
    static const struct {
        const char *text;
        cx_ptx_outcome outcome;
        uint64_t address;
        bool writes, atomic;
        unsigned bytes;
    } faults[] = {
        {"ld.global.b128 %q0, [%d0+8];", CX_PTX_MISALIGNED_ADDRESS, ADDRESS + 8, false, false, 8},
        {"ld.relaxed.gpu.b128 %q0, [%d0+8];", CX_PTX_MISALIGNED_ADDRESS, ADDRESS + 8, false, false,
         16},
        {"atom.global.exch.b128 %q0, [%d0+24], %q1;", CX_PTX_MISALIGNED_ADDRESS, ADDRESS + 24, true,
         true, 16},
        {"atom.global.cas.b128 %q0, [%d0+64], %q1, %q2;", CX_PTX_ILLEGAL_ADDRESS, ADDRESS + 64,
         true, true, 16},
        {"st.relaxed.gpu.global.b128 [%d0+64], %q1;", CX_PTX_ILLEGAL_ADDRESS, ADDRESS + 64, true,
         false, 16},
        {"atom.shared.exch.b128 %q0, [sh+64], %q1;", CX_PTX_ILLEGAL_ADDRESS, 64, true, true, 16},
    };

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        cx_ptx_fault fault = {0};

        ck_assert_msg(run(faults[i].text, &fault) == faults[i].outcome, "%s", faults[i].text);
        ck_assert_int_eq(fault.line, LINES_BEFORE + 1);
        ck_assert_uint_eq(fault.address, faults[i].address);
        ck_assert_uint_eq(fault.bytes, faults[i].bytes);
        ck_assert_int_eq(fault.writes, faults[i].writes);
        ck_assert_int_eq(fault.atomic, faults[i].atomic);
    }
}
END_TEST

static Suite *wide_suite(void)
{
    Suite *suite = suite_create("wide");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, an_instruction_of_128_bits_gives, 0,
                        (int)(sizeof rows / sizeof rows[0]));
    tcase_add_test(all, other_blocks_see_a_strong_vector_whole);
    tcase_add_test(all, an_access_of_128_bits_fails_by_its_place);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(wide_suite);
