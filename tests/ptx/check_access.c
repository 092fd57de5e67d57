/* Lanes that may not use their memory: the first one of them fails, whatever the others do, in each
 * code that computes. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ADDRESS UINT64_C(0x100000)
#define BYTES 4096
#define SHARED 1024

/* The address of lane t: base + t * step + (t / 16) * gap. Before that all lanes use the place
 * `safe`: the instruction has found the memory then. */
static const char program[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 base, .param .u64 step, .param .u64 gap, "
    ".param .u64 safe)\n{\n.reg .pred %%p1;\n"
    ".reg .b32 %%r<8>;\n.reg .f32 %%f<5>;\n.reg .b64 %%d<8>;\n.shared .align 16 .b8 s[1024];\n"
    "ld.param.u64 %%d1, [base];\nld.param.u64 %%d7, [safe];\nld.param.u64 %%d2, "
    "[step];\nld.param.u64 %%d3, [gap];\n"
    "mov.u32 %%r1, %%tid.x;\ncvt.u64.u32 %%d4, %%r1;\nmad.lo.u64 %%d1, %%d4, %%d2, %%d1;\n"
    "shr.u64 %%d5, %%d4, 4;\nmad.lo.u64 %%d1, %%d5, %%d3, %%d1;\n"
    "mov.u64 %%d5, %%d1;\nmov.u64 %%d1, %%d7;\nmov.u32 %%r7, 0;\n"
    "L:\ncvt.u32.u64 %%r2, %%d1;\n%s\n"
    "mov.u64 %%d1, %%d5;\nadd.u32 %%r7, %%r7, 1;\nsetp.lt.u32 %%p1, %%r7, 2;\n@%%p1 bra "
    "L;\nret;\n}\n";

/* An access, and lanes' addresses of which one is wrong. */
static const struct row {
    const char *access;
    uint64_t base, step, gap;
    cx_ptx_outcome outcome;
    uint32_t thread;
} rows[] = {
    /* all lanes may */
    {"ld.global.u32 %r3, [%d1];", ADDRESS, 4, 0, CX_PTX_DONE, 0},
    {"st.global.u64 [%d1], %d4;", ADDRESS + BYTES - 256, 8, 0, CX_PTX_DONE, 0},
    {"ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", ADDRESS + BYTES - 512, 16, 0, CX_PTX_DONE, 0},
    {"ld.shared.u8 %r3, [%r2];", SHARED - 1, 0, 0, CX_PTX_DONE, 0},
    {"st.shared.u32 [%r2], %r1;", SHARED - 124, -4, 128 - 4, CX_PTX_DONE, 0},
    /* beyond the end: consecutive, all the same, halves, scattered, backwards */
    {"ld.global.u32 %r3, [%d1];", ADDRESS + BYTES - 124, 4, 0, CX_PTX_ILLEGAL_ADDRESS, 31},
    {"ld.global.u32 %r3, [%d1];", ADDRESS + BYTES - 100, 4, 0, CX_PTX_ILLEGAL_ADDRESS, 25},
    {"st.global.u32 [%d1], %r1;", ADDRESS + BYTES - 100, 4, 0, CX_PTX_ILLEGAL_ADDRESS, 25},
    {"ld.global.u32 %r3, [%d1];", ADDRESS + BYTES, 0, 0, CX_PTX_ILLEGAL_ADDRESS, 0},
    {"st.global.u8 [%d1], %r1;", ADDRESS - 1, 0, 0, CX_PTX_ILLEGAL_ADDRESS, 0},
    {"ld.global.u32 %r3, [%d1];", ADDRESS + BYTES - 96, 4, 8, CX_PTX_ILLEGAL_ADDRESS, 22},
    {"ld.global.u32 %r3, [%d1];", ADDRESS, 12, BYTES, CX_PTX_ILLEGAL_ADDRESS, 16},
    {"st.global.u16 [%d1], %r1;", ADDRESS + 20, -2, 0, CX_PTX_ILLEGAL_ADDRESS, 11},
    {"ld.shared.u32 %r3, [%r2];", SHARED - 60, 4, 0, CX_PTX_ILLEGAL_ADDRESS, 15},
    {"st.shared.u64 [%r2], %d4;", SHARED - 128, 8, 8, CX_PTX_ILLEGAL_ADDRESS, 16},
    {"ld.shared.u32 %r3, [%r2];", 40, -4, 0, CX_PTX_ILLEGAL_ADDRESS, 11},
    {"ld.u32 %r3, [%d1];", (UINT64_C(0x71) << 56) + SHARED - 40, 4, 0, CX_PTX_ILLEGAL_ADDRESS, 10},
    {"ld.global.u32 %r3, [%d1];", ADDRESS + BYTES - 4, 0, 4, CX_PTX_ILLEGAL_ADDRESS, 16},
    {"ld.shared.u32 %r3, [%r2];", SHARED - 8, 0, 8, CX_PTX_ILLEGAL_ADDRESS, 16},
    /* not aligned */
    {"ld.shared.u32 %r3, [%r2];", 64, 0, 2, CX_PTX_MISALIGNED_ADDRESS, 16},
    {"ld.global.u32 %r3, [%d1];", ADDRESS + 2, 4, 0, CX_PTX_MISALIGNED_ADDRESS, 0},
    {"ld.global.u32 %r3, [%d1];", ADDRESS, 3, 0, CX_PTX_MISALIGNED_ADDRESS, 1},
    {"ld.global.v2.f32 {%f1, %f2}, [%d1];", ADDRESS, 4, 0, CX_PTX_MISALIGNED_ADDRESS, 1},
    {"st.global.v4.f32 [%d1], {%f1, %f2, %f3, %f4};", ADDRESS, 4, 0, CX_PTX_MISALIGNED_ADDRESS, 1},
    {"ld.shared.v2.f32 {%f1, %f2}, [%r2];", 0, 4, 0, CX_PTX_MISALIGNED_ADDRESS, 1},
    {"ld.global.u64 %d6, [%d1];", ADDRESS, 8, 4, CX_PTX_MISALIGNED_ADDRESS, 16},
    {"st.shared.u16 [%r2], %r1;", 64, 0, 1, CX_PTX_MISALIGNED_ADDRESS, 16},
};
#define ROWS (int)(sizeof rows / sizeof rows[0])

static _Alignas(16) unsigned char memory[BYTES];

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, BYTES, memory, false, NULL, NULL};
    return address - ADDRESS < BYTES;
}

static void check(const struct row *row, const cx_ptx_module *module, uint32_t threads,
                  const char *code)
{
    const uint64_t window = UINT64_C(0xff) << 56;
    const uint64_t safe = strstr(row->access, "shared") ? 0 : ADDRESS;
    const uint64_t parameters[] = {row->base, row->step, row->gap,
                                   row->base & window ? row->base & window : safe};
    const cx_ptx_environment environment = {.find = find, .code = code};
    const cx_ptx_launch launch = {
        .grid = {1, 1, 1}, .block = {threads, 1, 1}, .parameters = parameters};
    cx_ptx_outcome expected = row->thread < threads ? row->outcome : CX_PTX_DONE;
    cx_ptx_fault fault = {0};
    cx_ptx_outcome outcome =
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault);

    ck_assert_msg(outcome == expected, "%s, %u threads, %s: outcome %d at thread %u", row->access,
                  threads, code, outcome, fault.thread[0]);
    if (outcome == CX_PTX_DONE)
        return;
    ck_assert_msg(fault.thread[0] == row->thread, "%s, %u threads, %s: thread %u", row->access,
                  threads, code, fault.thread[0]);
}

START_TEST(the_first_lane_that_may_not_use_its_memory_fails)
{
    static const char *const codes[] = {"baseline", "avx2", "avx512"};
    char text[2048];
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;

    snprintf(text, sizeof text, program, rows[_i].access);
    ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == CX_PTX_SUCCESS, "line %d: %s",
                  error.line, error.message);
    for (int i = 0; i < 3; i++) {
        check(&rows[_i], module, 32, codes[i]);
        check(&rows[_i], module, 20, codes[i]);
        check(&rows[_i], module, 1, codes[i]);
    }
    cx_ptx_unload(module);
}
END_TEST

/* ---- some lanes ---- */

/* Lanes of the mask copy from the base, through an array of their own, to the second half of the
 * memory. */
static const char some_program[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 base, .param .u64 step, .param .u64 gap, .param .u32 mask)\n{\n"
    ".reg .pred %%p1;\n.reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n"
    ".shared .align 16 .b8 s[1024];\n.local .align 8 .b8 own[64];\n"
    "ld.param.u64 %%d1, [base];\nld.param.u64 %%d2, [step];\nld.param.u64 %%d3, [gap];\n"
    "ld.param.u32 %%r1, [mask];\nmov.u32 %%r2, %%tid.x;\ncvt.u64.u32 %%d4, %%r2;\n"
    "mad.lo.u64 %%d1, %%d4, %%d2, %%d1;\nshr.u64 %%d5, %%d4, 4;\n"
    "mad.lo.u64 %%d1, %%d5, %%d3, %%d1;\n"
    "mul.lo.u32 %%r3, %%r2, 8;\nand.b32 %%r4, %%r3, 56;\nmov.u64 %%d5, 0;\nmov.u32 %%r7, own;\n"
    "add.u32 %%r4, %%r4, %%r7;\nmov.u32 %%r6, s;\nadd.u32 %%r3, %%r3, %%r6;\n"
    "add.u64 %%d7, %%d4, 256;\nmul.lo.u64 %%d7, %%d7, 8;\nadd.u64 %%d7, %%d7, 0x100000;\n"
    "shr.u32 %%r5, %%r1, %%r2;\nand.b32 %%r5, %%r5, 1;\nsetp.eq.u32 %%p1, %%r5, 0;\n"
    "@%%p1 bra E;\n"
    "ld.global.u%d %%d5, [%%d1];\nst.local.u64 [%%r4], %%d5;\nld.local.u64 %%d6, [%%r4];\n"
    "st.shared.u64 [%%r3], %%d6;\nld.shared.u64 %%d6, [%%r3];\nst.global.u64 [%%d7], %%d6;\n"
    "E:\nret;\n}\n";

static const uint32_t masks[] = {0xffffffff, 0x7fffffff, 0xfffffffe, 0x0003fffc, 0xaaaaaaaa,
                                 0x0000ffff, 0xffff0000, 0xff00ff0f, 0x80007fff, 0x000001ff};

static uint64_t value_at(uint64_t place, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, memory + place, bytes);
    return value;
}

static void check_some(const cx_ptx_module *module, unsigned bytes, uint64_t step, uint64_t gap,
                       uint32_t mask, const char *code)
{
    const struct {
        uint64_t base, step, gap;
        uint32_t mask;
    } parameters = {ADDRESS, step, gap, mask};
    const cx_ptx_environment environment = {.find = find, .code = code};
    const cx_ptx_launch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = &parameters};
    cx_ptx_fault fault = {0};

    for (unsigned i = 0; i < BYTES; i++)
        memory[i] = (unsigned char)(i * 7 + i / 256);
    memset(memory + BYTES / 2, 0xee, BYTES / 2);
    ck_assert_int_eq(
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault),
        CX_PTX_DONE);
    for (uint64_t lane = 0; lane < 32; lane++) {
        uint64_t expected = mask >> lane & 1 ? value_at(lane * step + lane / 16 * gap, bytes)
                                             : UINT64_C(0xeeeeeeeeeeeeeeee);

        ck_assert_msg(value_at(BYTES / 2 + 8 * lane, 8) == expected,
                      "%u bytes, step %u, gap %u, lanes %x, %s: lane %u", bytes, (unsigned)step,
                      (unsigned)gap, mask, code, (unsigned)lane);
    }
}

START_TEST(lanes_in_a_branch_use_memory_of_every_pattern)
{
    static const char *const codes[] = {"baseline", "avx2", "avx512"};
    const unsigned bytes = 1u << _i;
    const uint64_t steps[] = {bytes, 0, 3 * bytes}, gaps[] = {0, 16 * bytes};
    char text[4096];
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;

    snprintf(text, sizeof text, some_program, 8 * (int)bytes);
    ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == CX_PTX_SUCCESS, "line %d: %s",
                  error.line, error.message);
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
        for (int j = 0; j < 6; j++)
            for (int code = 0; code < 3; code++)
                check_some(module, bytes, steps[j % 3], gaps[j / 3], masks[i], codes[code]);
    cx_ptx_unload(module);
}
END_TEST

/* ---- memory with none beside it ---- */

#define PAGE 4096

static unsigned char *page;

static bool find_page(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, PAGE, page, false, NULL, NULL};
    return address - ADDRESS < PAGE;
}

/* Lanes of the mask add 1 to their word, or to their long one, twice: the second time the
 * instruction knows the memory. */
static const char beside_program[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 base, .param .u32 mask)\n{\n.reg .pred %%p1;\n"
    ".reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n"
    "ld.param.u64 %%d1, [base];\nld.param.u32 %%r1, [mask];\nmov.u32 %%r2, %%tid.x;\n"
    "mul.wide.u32 %%d2, %%r2, %u;\nadd.u64 %%d1, %%d1, %%d2;\n"
    "shr.u32 %%r3, %%r1, %%r2;\nand.b32 %%r3, %%r3, 1;\nsetp.eq.u32 %%p1, %%r3, 0;\n"
    "@%%p1 bra E;\nmov.u32 %%r4, 0;\n"
    "L:\nld.global.u%u %%%c5, [%%d1];\nadd.u%u %%%c5, %%%c5, 1;\nst.global.u%u [%%d1], %%%c5;\n"
    "add.u32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p1, %%r4, 2;\n@%%p1 bra L;\n"
    "E:\nret;\n}\n";

static void check_beside(const cx_ptx_module *module, unsigned bytes, uint64_t base, uint32_t mask,
                         const char *code)
{
    const struct {
        uint64_t base;
        uint32_t mask;
    } parameters = {ADDRESS + base, mask};
    const cx_ptx_environment environment = {.find = find_page, .code = code};
    const cx_ptx_launch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = &parameters};
    cx_ptx_fault fault = {0};

    memset(page, 0, PAGE);
    ck_assert_int_eq(
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault),
        CX_PTX_DONE);
    for (uint64_t at = 0; at < PAGE; at += bytes) {
        uint64_t lane = (at - base) / bytes;

        ck_assert_uint_eq(page[at], lane < 32 && mask >> lane & 1 ? 2 : 0);
    }
}

START_TEST(lanes_use_their_memory_where_others_have_none)
{
    static const char *const codes[] = {"baseline", "avx2", "avx512"};
    const unsigned bytes = _i ? 8 : 4, bits = 8 * bytes;
    const char letter = _i ? 'd' : 'r';
    char text[2048];
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;
    unsigned char *pages =
        mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(pages, MAP_FAILED);
    page = pages + PAGE;
    ck_assert_int_eq(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
    snprintf(text, sizeof text, beside_program, bytes, bits, letter, bits, letter, letter, bits,
             letter);
    ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == CX_PTX_SUCCESS, "line %d: %s",
                  error.line, error.message);
    for (int code = 0; code < 3; code++) {
        check_beside(module, bytes, (uint64_t)0 - 5 * bytes, 0xffffffe0, codes[code]);
        check_beside(module, bytes, (uint64_t)0 - 20 * bytes, 0x7ef00000, codes[code]);
        check_beside(module, bytes, PAGE - 3 * bytes, 0x00000007, codes[code]);
        check_beside(module, bytes, PAGE - 19 * bytes, 0x0007fff2, codes[code]);
    }
    cx_ptx_unload(module);
    munmap(pages, 3 * PAGE);
}
END_TEST

/* ---- more than 4 GiB ---- */

#define LARGE (UINT64_C(5) << 30)
#define FAR ((UINT64_C(9) << 29) + 64)

static unsigned char *large;

static bool find_large(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, LARGE, large, false, NULL, NULL};
    return address - ADDRESS < LARGE;
}

/* Steps and gaps of lanes that store and load 4 bytes behind the first 4 GiB. */
static const struct {
    uint64_t step, gap;
} far[] = {{4, 0}, {0, 0}, {4, (uint64_t)-64}, {0, 256}, {12, 0}};

START_TEST(offsets_have_more_than_32_bits)
{
    const uint64_t parameters[] = {ADDRESS + FAR, far[_i].step, far[_i].gap, ADDRESS + FAR};
    const cx_ptx_environment environment = {.find = find_large};
    const cx_ptx_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = parameters};
    char text[2048];
    cx_ptx_error error = {0};
    cx_ptx_fault fault = {0};
    cx_ptx_module *module = NULL;

    large = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    ck_assert_ptr_ne(large, MAP_FAILED);
    snprintf(text, sizeof text, program,
             "add.u32 %r3, %r1, 1;\nst.global.u32 [%d1], %r3;\nld.global.u32 %r4, [%d1];\n"
             "st.global.u32 [%d1+1024], %r4;");
    ck_assert_int_eq(cx_ptx_load(text, strlen(text), &module, &error), CX_PTX_SUCCESS);
    ck_assert_int_eq(
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault),
        CX_PTX_DONE);
    for (uint64_t lane = 0; lane < 32; lane++) {
        uint64_t at = FAR + lane * far[_i].step + lane / 16 * far[_i].gap;
        uint32_t stored, copied, near;

        memcpy(&stored, large + at, sizeof stored);
        memcpy(&copied, large + at + 1024, sizeof copied);
        memcpy(&near, large + (uint32_t)at, sizeof near);
        ck_assert_uint_eq(stored, copied);
        ck_assert_uint_ge(stored, lane + 1);
        ck_assert_uint_eq(near, 0);
    }
    cx_ptx_unload(module);
    munmap(large, LARGE);
}
END_TEST

static Suite *access_suite(void)
{
    Suite *suite = suite_create("access");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, the_first_lane_that_may_not_use_its_memory_fails, 0, ROWS);
    tcase_add_loop_test(all, lanes_in_a_branch_use_memory_of_every_pattern, 0, 4);
    tcase_add_loop_test(all, lanes_use_their_memory_where_others_have_none, 0, 2);
    tcase_add_loop_test(all, offsets_have_more_than_32_bits, 0, (int)(sizeof far / sizeof far[0]));
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(access_suite);
