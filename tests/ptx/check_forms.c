/* Forms of PTX that compilers emit: special registers, atomics of halves, mbarrier, alloca, ... and
 * those that are refused by name. */
#include "../emu/work_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define KERNEL(declarations, body)                                                          \
    HEAD declarations ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>;\n"           \
                      ".reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n"              \
                      "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\n"                      \
                      "mad.wide.u32 %d2, %r1, 4, %d1;\n" body "\nret;\n}\n"
#define STORE(r) "st.global.u32 [%d2], " r ";"

static char complaint[256];

static cxu_result load_text(const char *text, CUmodule *out_module)
{
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {complaint, (void *)(uintptr_t)sizeof complaint};

    complaint[0] = '\0';
    return cx_emu_call_module_load_data_ex(out_module, text, 2, options, values);
}

static CUmodule load(const char *text)
{
    CUmodule module = NULL;

    ck_assert_msg(load_text(text, &module) == CXU_SUCCESS, "%s\n%s", complaint, text);
    return module;
}

static CUfunction kernel_of(CUmodule module)
{
    CUfunction kernel;

    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    return kernel;
}

static cxu_result run(CUmodule module, CUdeviceptr out, unsigned blocks, unsigned threads)
{
    void *parameters[] = {&out};

    ck_success(cx_emu_call_launch_kernel(kernel_of(module), blocks, 1, 1, threads, 1, 1, 0, NULL,
                                         parameters, NULL));
    return cx_emu_call_ctx_synchronize();
}

static void run_threads(const char *text, uint32_t *words, size_t count, unsigned threads)
{
    CUdeviceptr out = make_memory(count * sizeof *words);

    ck_success(cx_emu_call_memset_d32(out, 0, count));
    ck_success(run(load(text), out, 1, threads));
    read_device(words, out, count * sizeof *words);
}

static uint32_t run_one(const char *text)
{
    uint32_t word;

    run_threads(text, &word, 1, 1);
    return word;
}

START_TEST(special_registers_of_newer_devices_are_known)
{
    static const struct {
        const char *name;
        uint32_t value;
    } rows[] = {{"%envreg0", 0},           {"%envreg2", 0},           {"%envreg31", 0},
                {"%cluster_ctaid.x", 0},   {"%cluster_nctaid.z", 1},  {"%clusterid.x", 0},
                {"%nclusterid.x", 1},      {"%cluster_ctarank", 0},   {"%cluster_nctarank", 1},
                {"%nsmid", 1},             {"%pm0", 0},               {"%ctaid.y", 0},
                {"%reserved_smem_offset_1", 0},
                {"%aggr_smem_size", 0},    {"%ntid.x", 1}};
    char text[1024];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s%s",
                 HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
                      "ld.param.u64 %d1, [out];\nmov.u32 %r2, ",
                 rows[i].name, ";\nst.global.u32 [%d1], %r2;\nret;\n}\n");
        ck_assert_msg(run_one(text) == rows[i].value, "%s", rows[i].name);
    }
}
END_TEST

START_TEST(the_timers_have_two_halves)
{
    uint32_t words[2];

    run_threads(KERNEL("", "mov.u32 %r2, %globaltimer_lo;\nmov.u64 %d3, %globaltimer;\n"
                           "mov.u32 %r3, %globaltimer_hi;\nmov.u32 %r4, %clock_hi;\n"
                           "shr.u64 %d3, %d3, 32;\ncvt.u32.u64 %r5, %d3;\nsub.u32 %r5, %r3, %r5;\n"
                           "sub.u32 %r6, %r4, %r3;\nst.global.v2.u32 [%d2], {%r5, %r6};"),
                words, 2, 1);
    ck_assert_uint_le(words[0], 1);
    ck_assert_uint_le(words[1], 1);
}
END_TEST

START_TEST(halves_are_added_at_once)
{
    static const struct {
        const char *instruction;
        uint32_t start, expected;
    } rows[] = {
        {"red.global.add.noftz.f16 [%d1], %h1;", 0x3c00, 0x4040},
        {"atom.global.add.noftz.f16 %h2, [%d1], %h1;", 0x3c00, 0x4040},
        {"atom.add.noftz.f16x2 %r2, [%d1], %r3;", 0x3c004000, 0x40404240},
        {"red.relaxed.gpu.global.add.noftz.bf16 [%d1], %h3;", 0x3f80, 0x4008},
        {"atom.global.add.noftz.bf16x2 %r2, [%d1], %r4;", 0x3f803f80, 0x40084008},
    };
    char text[1024];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUdeviceptr out = make_memory(4);
        uint32_t word;

        snprintf(text, sizeof text, "%s%s%s",
                 HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b16 %h<4>;\n.reg .b32 %r<5>;\n"
                      ".reg .b64 %d<2>;\nld.param.u64 %d1, [out];\nmov.b16 %h1, 0x3c80;\n"
                      "mov.b32 %r3, 0x3c803c80;\nmov.b16 %h3, 0x3f90;\nmov.b32 %r4, 0x3f903f90;\n",
                 rows[i].instruction, "\nret;\n}\n");
        ck_success(cx_emu_call_memset_d32(out, rows[i].start, 1));
        ck_success(run(load(text), out, 1, 1));
        read_device(&word, out, sizeof word);
        ck_assert_msg(word == rows[i].expected, "%s: %#x", rows[i].instruction, word);
    }
}
END_TEST

START_TEST(one_lane_is_elected)
{
    uint32_t words[32];

    run_threads(KERNEL("", "elect.sync %r2|%p1, 0xffffffff;\nselp.u32 %r3, 100, 0, %p1;\n"
                           "add.u32 %r3, %r3, %r2;\n" STORE("%r3")),
                words, 32, 32);
    ck_assert_uint_eq(words[0], 100);
    for (int i = 1; i < 32; i++)
        ck_assert_uint_eq(words[i], 0);
}
END_TEST

#define BARRIER ".shared .align 8 .b64 bar;\n.shared .u32 sum;\n"

START_TEST(an_mbarrier_waits_for_all_arrivals)
{
    uint32_t words[64];

    run_threads(KERNEL(BARRIER, "setp.ne.u32 %p1, %r1, 0;\n"
                                "@!%p1 mbarrier.init.shared.b64 [bar], 64;\n"
                                "@!%p1 st.shared.u32 [sum], 0;\nbar.sync 0;\n"
                                "atom.shared.add.u32 %r2, [sum], %r1;\n"
                                "mbarrier.arrive.shared::cta.b64 %d3, [bar];\nWAIT:\n"
                                "mbarrier.try_wait.shared.b64 %p2, [bar], %d3;\n@!%p2 bra WAIT;\n"
                                "ld.shared.u32 %r3, [sum];\n" STORE("%r3")),
                words, 64, 64);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(words[i], 64 * 63 / 2);
}
END_TEST

START_TEST(an_mbarrier_has_phases_counts_and_bytes)
{
    uint32_t words[8];

    run_threads(
        KERNEL(BARRIER,
               "mbarrier.init.shared.b64 [bar], 2;\n"
               "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\nselp.u32 %r2, 1, 0, %p1;\n"
               "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;\nselp.u32 %r3, 1, 0, %p1;\n"
               "st.global.v2.u32 [%d1], {%r2, %r3};\n"
               "mbarrier.arrive.shared.b64 %d3, [bar];\nmbarrier.pending_count.b64 %r2, %d3;\n"
               "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
               "mbarrier.test_wait.shared.b64 %p1, [bar], %d3;\nselp.u32 %r3, 1, 0, %p1;\n"
               "st.global.v2.u32 [%d1+8], {%r2, %r3};\n"
               "mbarrier.complete_tx.shared::cta.b64 [bar], 16;\n"
               "mbarrier.test_wait.shared.b64 %p1, [bar], %d3;\nselp.u32 %r2, 1, 0, %p1;\n"
               "mbarrier.arrive_drop.shared.b64 %d4, [bar];\n"
               "mbarrier.arrive.shared.b64 %d5, [bar];\n"
               "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;\nselp.u32 %r3, 1, 0, %p1;\n"
               "st.global.v2.u32 [%d1+16], {%r2, %r3};\n"
               "mbarrier.arrive.shared.b64 %d5, [bar];\n"
               "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\nselp.u32 %r2, 1, 0, %p1;\n"
               "mbarrier.expect_tx.shared.b64 [bar], 8;\nmbarrier.inval.shared.b64 [bar];\n"
               "st.global.u32 [%d1+24], %r2;"),
        words, 8, 1);
    ck_assert_uint_eq(words[0], 0);
    ck_assert_uint_eq(words[1], 1);
    ck_assert_uint_eq(words[2], 2);
    ck_assert_uint_eq(words[3], 0);
    ck_assert_uint_eq(words[4], 1);
    ck_assert_uint_eq(words[5], 1);
    ck_assert_uint_eq(words[6], 1);
}
END_TEST

#define FILL_FUNCTION                                                                         \
    ".func (.param .b32 r) sum_to(.param .b32 n)\n{\n.reg .pred %p;\n.reg .b32 %r<8>;\n"       \
    ".reg .b64 %d<8>;\nld.param.b32 %r1, [n];\nmul.wide.u32 %d1, %r1, 4;\n"                    \
    "stacksave.u64 %d7;\nalloca.u64 %d2, %d1, 32;\ncvta.local.u64 %d3, %d2;\n"                  \
    "and.b64 %d4, %d3, 31;\ncvt.u32.u64 %r5, %d4;\n"                                           \
    "mov.u32 %r2, 0;\nFILL:\nst.u32 [%d3], %r2;\nadd.u64 %d3, %d3, 4;\nadd.u32 %r2, %r2, 1;\n" \
    "setp.lt.u32 %p, %r2, %r1;\n@%p bra FILL;\nmov.u32 %r4, %r5;\nmov.u32 %r2, 0;\nADD:\n"      \
    "ld.local.u32 %r3, [%d2];\nadd.u64 %d2, %d2, 4;\nadd.u32 %r4, %r4, %r3;\n"                  \
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, %r1;\n@%p bra ADD;\nstackrestore.u64 %d7;\n"     \
    "st.param.b32 [r], %r4;\nret;\n}\n"
#define SUM_TO(n)                                                              \
    "{\n.param .b32 p0; .param .b32 r0;\nst.param.b32 [p0], " n ";\n"          \
    "call (r0), sum_to, (p0);\nld.param.b32 %r2, [r0];\n}\n"

START_TEST(memory_of_a_frame_is_allocated_at_run_time)
{
    CUdeviceptr out = make_memory(4);

    ck_assert_uint_eq(run_one(KERNEL(FILL_FUNCTION, SUM_TO("100") STORE("%r2"))), 4950);
    ck_result(run(load(KERNEL(FILL_FUNCTION, SUM_TO("100000") STORE("%r2"))), out, 1, 1),
              HARDWARE_STACK_ERROR);
}
END_TEST

START_TEST(the_host_uses_managed_variables_directly)
{
    CUmodule module = load(KERNEL(".visible .global .attribute(.managed) .u32 counter = 5;\n",
                                  "ld.global.u32 %r2, [counter];\nadd.u32 %r2, %r2, 1;\n"
                                  "st.global.u32 [counter], %r2;"));
    CUdeviceptr address, out = make_memory(4);
    size_t bytes;

    ck_success(cx_emu_call_module_get_global(&address, &bytes, module, "counter"));
    ck_assert_uint_eq(*(const uint32_t *)(uintptr_t)address, 5);
    *(uint32_t *)(uintptr_t)address = 41;
    ck_success(run(module, out, 1, 1));
    ck_assert_uint_eq(*(const uint32_t *)(uintptr_t)address, 42);
}
END_TEST

/* As cooperative groups do it: a count in the grid's workspace. */
START_TEST(blocks_of_a_cooperative_grid_meet_in_its_workspace)
{
    CUmodule module = load(KERNEL(
        "", "mov.b64 %d3, {%envreg2, %envreg1};\nsetp.eq.u64 %p1, %d3, 0;\n@%p1 trap;\n"
            "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %nctaid.x;\nmad.wide.u32 %d4, %r2, 4, %d1;\n"
            "atom.add.u32 %r4, [%d3+4], 1;\nWAIT:\nld.volatile.u32 %r4, [%d3+4];\n"
            "setp.lt.u32 %p1, %r4, %r3;\n@%p1 bra WAIT;\nst.global.u32 [%d4], %r4;"));
    CUdeviceptr out = make_memory(8 * 4);
    void *parameters[] = {&out};
    uint32_t words[8];

    ck_success(cx_emu_call_launch_cooperative_kernel(kernel_of(module), 8, 1, 1, 1, 1, 1, 0, NULL,
                                                     parameters));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, out, sizeof words);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(words[i], 8);
}
END_TEST

START_TEST(hints_change_nothing)
{
    ck_assert_uint_eq(run_one(KERNEL("", "mov.u64 %d3, 0;\nmov.u32 %r2, 7;\n"
                                         "st.global.L2::cache_hint.u32 [%d1], %r2, %d3;\n"
                                         "ld.global.L2::cache_hint.u32 %r3, [%d1], %d3;\n"
                                         "add.u32 %r3, %r3, %r3;\n" STORE("%r3"))),
                      14);
    ck_assert_uint_eq(
        run_one(KERNEL("", "createpolicy.fractional.L2::evict_last.b64 %d3, 1.0;\n"
                           "discard.global.L2 [%d1], 128;\n"
                           "applypriority.global.L2::evict_normal [%d1], 128;\n"
                           "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n"
                           "setmaxnreg.inc.sync.aligned.u32 64;\nmov.u32 %r2, 9;\n" STORE("%r2"))),
        9);
}
END_TEST

/* atomicAdd of float2, float4 and vectors of halves for sm_90. All lanes add to the same memory. */
START_TEST(atomic_operations_add_vectors_part_by_part)
{
    static const char text[] = KERNEL(
        "", "cvt.rn.f32.u32 %r2, %r1;\nmov.f32 %r3, 0f3f800000;\n"
            "mov.f32 %r4, 0f40000000;\n"
            "red.global.add.v4.f32 [%d1], {%r2, %r3, %r4, %r3};\n"
            "mov.b32 %r5, 0x3c004000;\n" /* 1 and 2 as halves */
            "red.global.add.noftz.v2.f16x2 [%d1+16], {%r5, %r5};\n"
            "mov.b32 {%h1, %h2}, %r5;\n"
            "atom.global.v4.f16.add.noftz {%h3, %h4, %h5, %h6}, [%d1+24], {%h1, %h2, %h2, %h1};");
    uint32_t words[8];
    float sums[4];

    run_threads(text, words, 8, 32);
    memcpy(sums, words, sizeof sums);
    ck_assert_float_eq(sums[0], 31 * 32 / 2);
    ck_assert_float_eq(sums[1], 32);
    ck_assert_float_eq(sums[2], 64);
    ck_assert_float_eq(sums[3], 32);
    ck_assert_uint_eq(words[4], 0x50005400); /* 32 and 64 */
    ck_assert_uint_eq(words[5], 0x50005400);
    ck_assert_uint_eq(words[6], 0x50005400);
    ck_assert_uint_eq(words[7], 0x54005000);
}
END_TEST

START_TEST(the_result_of_an_atomic_vector_may_be_its_value)
{
    static const char text[] = KERNEL(
        "", "mov.f32 %r2, 0f3f800000;\nmov.f32 %r3, 0f40000000;\n"
            "red.global.add.v2.f32 [%d1], {%r2, %r2};\n"
            "atom.global.add.v2.f32 {%r3, %r2}, [%d1], {%r2, %r3};\n"
            "st.global.v2.u32 [%d1+8], {%r3, %r2};");
    float found[4];

    run_threads(text, (uint32_t *)(void *)found, 4, 1);
    ck_assert_float_eq(found[0], 2);
    ck_assert_float_eq(found[1], 3);
    ck_assert_float_eq(found[2], 1);
    ck_assert_float_eq(found[3], 1);
}
END_TEST

/* Measured on GPUs, and so in the description of PTX. */
START_TEST(atomic_sums_of_floats_flush_subnormals_in_global_memory_only)
{
    static const char text[] = KERNEL(
        ".shared .align 4 .f32 sum;\n",
        "mov.b32 %r2, 0x00000005;\nmov.b32 %r3, 0x80000003;\n"
        "red.global.add.f32 [%d1], %r2;\n"
        "st.global.b32 [%d1+4], %r2;\nadd.u64 %d3, %d1, 4;\natom.add.f32 %r4, [%d3], %r3;\n"
        "mov.b32 %r5, 0x00800000;\nst.global.b32 [%d1+8], %r5;\n"
        "mov.b32 %r5, 0x80c00000;\nred.global.add.f32 [%d1+8], %r5;\n"
        "st.shared.b32 [sum], %r2;\nred.shared.add.f32 [sum], %r2;\n"
        "mov.u64 %d4, sum;\ncvta.shared.u64 %d4, %d4;\nred.add.f32 [%d4], %r2;\n"
        "ld.shared.b32 %r5, [sum];\nst.global.b32 [%d1+12], %r5;\n"
        "st.global.b32 [%d1+16], %r4;");
    uint32_t words[5];

    run_threads(text, words, 5, 1);
    ck_assert_uint_eq(words[0], 0);
    ck_assert_uint_eq(words[1], 0);
    ck_assert_uint_eq(words[2], 0x80000000);
    ck_assert_uint_eq(words[3], 15);
    ck_assert_uint_eq(words[4], 5);
}
END_TEST

START_TEST(other_valid_code_is_refused_by_name)
{
    static const struct {
        const char *instruction, *name;
    } rows[] = {
        {"tex.2dms.v4.f32.s32 {%r1, %r2, %r3, %r4}, [t, {%r5, %r6, %r5, %r6}];", "tex.2dms"},
        {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4}, %r5, 0;",
         "mma.sp"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %d1, %d2, 1, 1, 1, 0, 0;",
         "wgmma.mma_async"},
        {"wgmma.fence.sync.aligned;", "wgmma.fence"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;", "tcgen05.alloc"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.tile [%d1], [%d2, {%r1}], [%d3];",
         "cp.async.bulk"},
        {"multimem.ld_reduce.global.add.u32 %r1, [%d1];", "multimem"},
    };
    CUmodule module;
    char text[1024];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s%s", HEAD ".visible .entry k()\n{\n.reg .b32 %r<9>;\n"
                 ".reg .b64 %d<9>;\n", rows[i].instruction, "\nret;\n}\n");
        ck_assert_msg(load_text(text, &module) == CXU_NOT_SUPPORTED, "%s", rows[i].instruction);
        ck_assert_msg(strstr(complaint, rows[i].name) && strstr(complaint, "line 8"), "%s: %s",
                      rows[i].instruction, complaint);
    }
}
END_TEST

/* ---- kernels that run too long ---- */

START_TEST(the_watchdog_ends_a_kernel_and_says_where_it_was)
{
    CUmodule module = load(KERNEL(
        "", ".loc 1 77 3\nAGAIN:\nld.volatile.global.u32 %r2, [%d1];\n"
            "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;\n")
                               ".file 1 \"/src/endless.cu\"\n");
    CUdeviceptr out = make_memory(4);
    char text[400];

    ck_success(cx_emu_call_memset_d32(out, 0, 1));
    ck_result(run(module, out, 2, 1), LAUNCH_TIMEOUT);
    ck_assert(cx_emu_explain(CXU_LAUNCH_TIMEOUT, text, sizeof text));
    ck_assert_msg(strstr(text, "kernel k, line 1") && strstr(text, "/src/endless.cu:77"), "%s",
                  text);
}
END_TEST

static void watchdog_setup(void)
{
    setenv("CTXRT_EMU_WATCHDOG", "1", 1);
    work_setup();
}

START_TEST(the_watchdog_takes_a_number_only)
{
    static const char *const texts[] = {"soon", "-1", "1.5"};
    cx_emu_config config;
    const char *reason;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        setenv("CTXRT_EMU_WATCHDOG", texts[i], 1);
        ck_assert(!cx_emu_config_from_environment(&config, &reason));
        ck_assert_ptr_nonnull(strstr(reason, "CTXRT_EMU_WATCHDOG"));
    }
}
END_TEST

static Suite *form_suite(void)
{
    Suite *suite = suite_create("forms");
    TCase *forms = tcase_create("forms"), *watchdog = tcase_create("watchdog");
    TCase *option = tcase_create("option");

    tcase_add_checked_fixture(forms, work_setup, work_teardown);
    tcase_add_test(forms, special_registers_of_newer_devices_are_known);
    tcase_add_test(forms, the_timers_have_two_halves);
    tcase_add_test(forms, halves_are_added_at_once);
    tcase_add_test(forms, one_lane_is_elected);
    tcase_add_test(forms, an_mbarrier_waits_for_all_arrivals);
    tcase_add_test(forms, an_mbarrier_has_phases_counts_and_bytes);
    tcase_add_test(forms, memory_of_a_frame_is_allocated_at_run_time);
    tcase_add_test(forms, the_host_uses_managed_variables_directly);
    tcase_add_test(forms, blocks_of_a_cooperative_grid_meet_in_its_workspace);
    tcase_add_test(forms, hints_change_nothing);
    tcase_add_test(forms, atomic_operations_add_vectors_part_by_part);
    tcase_add_test(forms, the_result_of_an_atomic_vector_may_be_its_value);
    tcase_add_test(forms, atomic_sums_of_floats_flush_subnormals_in_global_memory_only);
    tcase_add_test(forms, other_valid_code_is_refused_by_name);
    suite_add_tcase(suite, forms);
    tcase_add_checked_fixture(watchdog, watchdog_setup, work_teardown);
    tcase_set_timeout(watchdog, 60);
    tcase_add_test(watchdog, the_watchdog_ends_a_kernel_and_says_where_it_was);
    suite_add_tcase(suite, watchdog);
    tcase_add_test(option, the_watchdog_takes_a_number_only);
    suite_add_tcase(suite, option);
    return suite;
}

CX_TESTS(form_suite);
