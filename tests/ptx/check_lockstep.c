/* The lanes of a warp run together: what the kernels of lockstep.cu see of it. */
#include "../emu/work_fixture.h"

#include "emu/base/warp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 256
#define ALL UINT32_MAX

/* ---- running ---- */

static char *read_text(void)
{
    char path[4096], *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/ptx/lockstep.ptx", getenv("top_srcdir"));
    file = fopen(path, "r");
    ck_assert_msg(file && text, "%s cannot be read", path);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

static void run_text(const char *text, const char *name, unsigned threads, uint32_t words[WORDS])
{
    CUdeviceptr out = make_memory(WORDS * sizeof *words);
    void *parameters[] = {&out};
    CUmodule module;
    CUfunction kernel;

    ck_success(cx_emu_call_memset_d32(out, 0, WORDS));
    ck_success(cx_emu_call_module_load_data(&module, text));
    ck_success(cx_emu_call_module_get_function(&kernel, module, name));
    ck_success(
        cx_emu_call_launch_kernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, out, WORDS * sizeof *words);
}

/* ---- what is expected ---- */

/* The lanes for which a condition on t is true. */
#define LANES(condition)                        \
    __extension__({                             \
        uint32_t lanes_ = 0;                    \
        for (uint32_t t = 0; t < 32; t++)       \
            lanes_ |= (uint32_t)(condition) << t; \
        lanes_;                                 \
    })

static uint32_t bits(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

static void expect_warp_sum(uint32_t *out)
{
    out[0] = 2016;
}

static void expect_masks(uint32_t *out)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        out[lane] = LANES(t % 3 == 0); /* the other lanes write the other mask, inverted */
        out[64 + lane] = ALL;
    }
}

static void expect_nested(uint32_t *out)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (lane < 20 && lane % 2)
            out[lane] =
                bits(LANES(t < 20 && t % 2)) +
                (lane > 10 ? 100 * bits(LANES(t < 20 && t % 2 && t > 10)) : 0);
        else if (lane < 20)
            out[lane] = 10000 * bits(LANES(t < 20 && t % 2 == 0));
        if (lane < 25)
            out[64 + lane] = lane < 20 ? LANES(t < 20) : LANES(t >= 20 && t < 25);
        out[128 + lane] = ALL;
    }
}

static void expect_trips(uint32_t *out)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < lane % 7; i++)
            out[lane] = out[lane] * 3 + bits(LANES(t % 7 > i));
        out[64 + lane] = ALL;
    }
}

static void expect_leave_early(uint32_t *out)
{
    uint32_t left = LANES(t % 4 != 1 && t <= 24);

    for (uint32_t lane = 0; lane < 32; lane++) {
        if (lane % 4 == 1)
            continue;
        out[lane] = lane > 24 ? 7 : left;
        out[64 + lane] = lane > 24 ? 0 : left & LANES(t % 2);
    }
}

static uint32_t call_one(uint32_t x, uint32_t mask)
{
    return x + bits(mask);
}

static uint32_t call_two(uint32_t x, uint32_t mask)
{
    return x % 2 ? x * 100 + bits(mask) : 3;
}

static void expect_call_targets(uint32_t *out)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t x = lane;

        if (lane % 3 == 0)
            out[lane] = call_one(x, LANES(t % 3 == 0));
        else if (lane % 3 == 1)
            out[lane] = call_two(x, LANES(t % 3 == 1 && t % 2));
        else
            out[lane] = call_one(x, LANES(t % 3 == 2)) +
                        call_two(x + 1, LANES(t % 3 == 2 && t % 2 == 0));
        out[64 + lane] = ALL;
    }
}

static void expect_recursion(uint32_t *out)
{
    static const uint32_t numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};

    for (uint32_t lane = 0; lane < 32; lane++) {
        out[lane] = numbers[lane % 9];
        out[64 + lane] = ALL;
    }
}

static void expect_cases(uint32_t *out)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t mask = LANES(t % 6 == lane % 6);
        const uint32_t found[] = {bits(mask), mask * 3, ~mask, mask >> 1, mask ^ lane, lane};

        out[lane] = found[lane % 6];
        out[64 + lane] = ALL;
    }
}

static void expect_spin_lock(uint32_t *out)
{
    out[0] = 32 * 33 / 2;
}

static void expect_spin_lock_called(uint32_t *out)
{
    out[0] = 32 * 33 / 2;
    for (uint32_t lane = 0; lane < 32; lane++)
        out[64 + lane] = ALL;
}

static void expect_hand_over(uint32_t *out)
{
    out[64] = 1;
    out[65] = 5;
    for (uint32_t lane = 0; lane < 32; lane++)
        out[lane] = lane == 0 ? 1 : lane == 31 ? 2 : 3;
}

static void expect_coalesced(uint32_t *out)
{
    uint32_t mask = LANES(t % 5 < 2), size = bits(mask), values[32], ranks[32] = {0};

    for (uint32_t lane = 0; lane < 32; lane++)
        if (mask >> lane & 1)
            ranks[bits(mask & ((UINT32_C(1) << lane) - 1))] = lane;
    for (uint32_t rank = 0; rank < size; rank++)
        values[rank] = ranks[rank];
    for (uint32_t i = size / 2; i > 0; i /= 2)
        for (uint32_t rank = 0; rank < size; rank++)
            values[rank] += rank + i < size ? values[rank + i] : values[rank];
    for (uint32_t rank = 0; rank < size; rank++) {
        out[ranks[rank]] = size * 1000 + rank;
        out[64 + ranks[rank]] = 1 * 100 + 1 + 2;
        out[128 + ranks[rank]] = values[rank];
    }
    out[255] = size;
}

static void expect_shuffles(uint32_t *out)
{
    uint32_t x[32], thirds = 0;

    for (uint32_t lane = 0; lane < 32; lane++)
        x[lane] = lane < 16 ? lane * 10 : lane * 1000 + (lane ^ 3);
    for (uint32_t lane = 0; lane < 32; lane++)
        thirds |= (uint32_t)(x[lane] % 3 == 0) << lane;
    for (uint32_t lane = 0; lane < 32; lane++) {
        out[lane] = x[lane ^ 17];
        out[64 + lane] = thirds;
        out[128 + lane] = lane % 2 ? x[5] : 0;
        out[192 + lane] = LANES(t % 3 == lane % 3);
    }
}

static void expect_barriers(uint32_t *out)
{
    uint32_t words[64];

    for (uint32_t t = 0; t < 64; t++) {
        words[t] = t;
        for (uint32_t i = 0; i < t % 9; i++)
            words[t] = words[t] * 5 + 1;
    }
    for (uint32_t t = 0; t < 64; t++) {
        out[t] = words[63 - (t ^ 1)] + (t % 2 ? 2 : 1);
        out[64 + t] = 22;
    }
}

static void expect_tiles(uint32_t *out)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i <= lane / 8; i++)
            out[lane] = out[lane] * 7 + 8 * (lane / 8 * 8 + i) + 28;
        out[64 + lane] = ALL;
    }
}

/* ---- tests ---- */

static const struct {
    const char *name;
    unsigned threads;
    void (*expect)(uint32_t *out);
    bool anyhow; /* the same if lanes run one by one */
} rows[] = {
    {"warp_sum", 64, expect_warp_sum, false},
    {"masks", 32, expect_masks, false},
    {"nested", 32, expect_nested, false},
    {"trips", 32, expect_trips, false},
    {"leave_early", 32, expect_leave_early, false},
    {"call_targets", 32, expect_call_targets, false},
    {"recursion", 32, expect_recursion, false},
    {"cases", 32, expect_cases, false},
    {"spin_lock", 32, expect_spin_lock, true},
    {"spin_lock_called", 32, expect_spin_lock_called, false},
    {"hand_over", 32, expect_hand_over, true},
    {"coalesced", 32, expect_coalesced, false},
    {"shuffles", 32, expect_shuffles, true},
    {"barriers", 64, expect_barriers, true},
    {"tiles", 32, expect_tiles, false},
};

static void check_row(int row, const uint32_t *found)
{
    uint32_t expected[WORDS] = {0};

    rows[row].expect(expected);
    for (uint32_t i = 0; i < WORDS; i++)
        ck_assert_msg(found[i] == expected[i], "%s: word %u is %#x, not %#x", rows[row].name, i,
                      found[i], expected[i]);
}

START_TEST(lanes_run_together)
{
    char *text = read_text();
    uint32_t words[WORDS];

    run_text(text, rows[_i].name, rows[_i].threads, words);
    check_row(_i, words);
    free(text);
}
END_TEST

/* ---- forms that nvcc does not make ---- */

#define TEXT(version, body)                                                                   \
    ".version " version "\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"          \
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<8>;\nld.param.u64 %d1, [out];\n"       \
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d2, %d2, %d1;\n"               \
    "mov.u32 %r2, 99;\n" body "\nret;\n}\n"
#define NEW "7.0\n.target sm_75"
#define STORE "st.global.u32 [%d2], %r2;\n"

/* Lane t finds one mask if its bit of `lanes` is set, else another. */
typedef struct form {
    const char *text;
    uint32_t lanes, mask, other;
} form;

static const form forms[] = {
    /* a guarded instruction is done by the lanes that its guard lets through */
    {TEXT(NEW, "setp.lt.u32 %p1, %r1, 5;\n@%p1 activemask.b32 %r2;\n" STORE), 0x1f, 0x1f, 99},
    {TEXT(NEW, "setp.lt.u32 %p1, %r1, 5;\n@!%p1 activemask.b32 %r2;\n" STORE), 0x1f, 99,
     0xffffffe0},
    /* ... and so is a run of them */
    {TEXT(NEW, "setp.lt.u32 %p1, %r1, 5;\n@!%p1 bra A;\nmov.u32 %r2, 1;\nadd.u32 %r2, %r2, 2;\n"
               "A:\n" STORE "activemask.b32 %r3;\nsetp.ne.u32 %p2, %r3, -1;\n@%p2 trap;"),
     0x1f, 3, 99},
    /* without .sync it is the lanes that are there who vote */
    {TEXT("6.0\n.target sm_60", "setp.lt.u32 %p1, %r1, 9;\nsetp.lt.u32 %p2, %r1, 12;\n"
                                "@%p1 bra A;\nvote.ballot.b32 %r2, %p2;\nA:\n" STORE),
     0x1ff, 99, 0xe00},
    {TEXT("6.0\n.target sm_60", "setp.lt.u32 %p1, %r1, 1;\n@%p1 bra A;\n"
                                "shfl.idx.b32 %r2, %r1, 7, 31;\nA:\n" STORE),
     1, 99, 7},
    /* a table of targets */
    {TEXT(NEW, "shr.u32 %r3, %r1, 4;\nT: .branchtargets A, B;\nbrx.idx %r3, T;\n"
               "A: activemask.b32 %r2;\nbra C;\nB: activemask.b32 %r2;\nC:\n" STORE
               "activemask.b32 %r3;\nsetp.ne.u32 %p2, %r3, -1;\n@%p2 trap;"),
     0xffff, 0xffff, 0xffff0000},
    /* lanes wait for lanes that wait where a branch ends, with loads that are not volatile */
    {TEXT(NEW, "setp.ge.u32 %p1, %r1, 3;\n@%p1 bra A;\nW: ld.global.u32 %r2, [%d1+512];\n"
               "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\nA:\nmov.u32 %r3, 6;\n"
               "@%p1 st.global.u32 [%d1+512], %r3;\n" STORE),
     7, 6, 99},
    /* barriers on one path: the others wait behind it */
    {TEXT(NEW, "setp.ge.u32 %p1, %r1, 3;\n@%p1 bra A;\nbar.sync 0;\nmov.u32 %r2, 4;\nbra B;\n"
               "A: add.u32 %r2, %r2, 1;\nB: @!%p1 bra C;\nbar.sync 0;\nC:\n" STORE),
     7, 4, 100},
    {TEXT(NEW, "setp.ge.u32 %p1, %r1, 3;\n@%p1 bra A;\nmov.u32 %r2, 4;\n" STORE
               "bar.sync 0;\nbra B;\nA: " STORE "B:"),
     7, 4, 99},
    /* so do warp barriers */
    {TEXT(NEW, "setp.ge.u32 %p1, %r1, 3;\n@%p1 bra A;\nbar.warp.sync -1;\nmov.u32 %r2, 4;\n"
               "bra B;\nA: add.u32 %r2, %r2, 1;\nbar.warp.sync -1;\nB: " STORE),
     7, 4, 100},
};

START_TEST(forms_of_divergence_are_right)
{
    uint32_t words[WORDS];

    run_text(forms[_i].text, "k", 32, words);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t expected = forms[_i].lanes >> t & 1 ? forms[_i].mask : forms[_i].other;

        ck_assert_msg(words[t] == expected, "lane %u: %#x, not %#x\n%s", t, words[t], expected,
                      forms[_i].text);
    }
}
END_TEST

/* The text of a function that ends lanes, for a kernel that calls it. */
START_TEST(lanes_may_end_in_a_function)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".func f(.param .b32 a)\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
        "setp.gt.u32 %p, %r1, 9;\n@%p exit;\nsetp.gt.u32 %p, %r1, 4;\n@%p ret;\nret;\n}\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\n"
        ".reg .b64 %d<3>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d2, %d2, %d1;\nsetp.lt.u32 %p, %r1, 2;\n@%p bra A;\n"
        "{\n.param .b32 a;\nst.param.b32 [a], %r1;\ncall f, (a);\n}\nA:\n"
        "activemask.b32 %r2;\nst.global.u32 [%d2], %r2;\nret;\n}\n";
    uint32_t words[WORDS];

    run_text(text, "k", 32, words);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(words[t], t > 9 ? 0 : 0x3ff);
}
END_TEST

/* ---- one by one ---- */

static void independent_setup(void)
{
    setenv("CTXRT_EMU_WARP", "independent", 1);
    work_setup();
}

START_TEST(lanes_run_one_by_one_where_that_is_chosen)
{
    char *text = read_text();
    uint32_t words[WORDS];

    run_text(text, rows[_i].name, rows[_i].threads, words);
    if (rows[_i].anyhow)
        check_row(_i, words);
    if (strcmp(rows[_i].name, "warp_sum") == 0)
        ck_assert_uint_eq(words[0], 63);
    for (uint32_t lane = 0; strcmp(rows[_i].name, "trips") == 0 && lane < 32; lane++)
        ck_assert_uint_eq(words[64 + lane], UINT32_C(1) << lane);
    free(text);
}
END_TEST

/* The sum of 32 numbers without __syncwarp: the seed decides which writes are seen. */
START_TEST(the_order_of_lanes_follows_from_the_seed)
{
    char *text = read_text(), seed[32];
    uint32_t words[WORDS], first = 0;
    bool differs = false;

    for (int i = 0; i < 20; i++) {
        snprintf(seed, sizeof seed, "independent:%d", 1 + i / 2);
        setenv("CTXRT_EMU_WARP", seed, 1);
        ck_assert(cx_emu_warp_choose());
        run_text(text, "warp_sum", 32, words);
        if (i % 2 == 1)
            ck_assert_uint_eq(words[0], first);
        differs |= i > 0 && words[0] != first;
        first = words[0];
    }
    ck_assert(differs);
    free(text);
}
END_TEST

START_TEST(only_known_words_are_taken)
{
    static const char *const texts[] = {"both",         "warp",          "lockstep ",
                                        "independent:", "independent:0", "independent:x"};
    cx_emu_config config;
    const char *reason;

    setenv("CTXRT_EMU_WARP", "lockstep", 1);
    ck_assert(cx_emu_config_from_environment(&config, &reason));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        setenv("CTXRT_EMU_WARP", texts[i], 1);
        ck_assert(!cx_emu_config_from_environment(&config, &reason));
        ck_assert_ptr_nonnull(strstr(reason, "CTXRT_EMU_WARP"));
    }
}
END_TEST

static Suite *lockstep_suite(void)
{
    Suite *suite = suite_create("lockstep");
    const int count = (int)(sizeof rows / sizeof rows[0]);
    TCase *together = tcase_create("together"), *apart = tcase_create("apart");
    TCase *words = tcase_create("words");

    tcase_add_checked_fixture(together, work_setup, work_teardown);
    tcase_add_loop_test(together, lanes_run_together, 0, count);
    tcase_add_loop_test(together, forms_of_divergence_are_right, 0,
                        (int)(sizeof forms / sizeof forms[0]));
    tcase_add_test(together, lanes_may_end_in_a_function);
    suite_add_tcase(suite, together);
    tcase_add_checked_fixture(apart, independent_setup, work_teardown);
    tcase_add_loop_test(apart, lanes_run_one_by_one_where_that_is_chosen, 0, count);
    tcase_add_test(apart, the_order_of_lanes_follows_from_the_seed);
    suite_add_tcase(suite, apart);
    tcase_add_test(words, only_known_words_are_taken);
    suite_add_tcase(suite, words);
    return suite;
}

CX_TESTS_TOGETHER(lockstep_suite);
