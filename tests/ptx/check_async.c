/* Copies that kernels begin and wait for: by groups, by barriers, in bulk. */
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define DECLARED ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 s[1024];\n"
#define BEGIN                                                                                \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n"           \
    ".reg .b32 %r<12>;\n.reg .b64 %d<12>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\n" \
    "mov.u32 %r2, s;\nmov.u32 %r3, bar;\n"
#define KERNEL(body) HEAD DECLARED BEGIN body "\nret;\n}\n"
#define INIT(count) \
    "setp.ne.u32 %p1, %r1, 0;\n@!%p1 mbarrier.init.shared.b64 [bar], " count ";\nbar.sync 0;\n"
#define WAIT "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n"

static uint32_t words[256];

static void count_up(void)
{
    for (uint32_t i = 0; i < 256; i++)
        words[i] = i + 1;
}

START_TEST(a_barrier_hears_of_copies_without_counting_them)
{
    count_up();
    text_run(
        KERNEL(INIT(
            "32") "mad.lo.u32 %r4, %r1, 4, %r2;\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
                  "cp.async.ca.shared.global [%r4], [%d2], 4;\n"
                  "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                  "mbarrier.arrive.shared.b64 _, [bar];\n" WAIT
                  "xor.b32 %r4, %r1, 31;\nmad.lo.u32 %r4, %r4, 4, %r2;\nld.shared.u32 %r5, [%r4];\n"
                  "st.global.u32 [%d2+512], %r5;"),
        words, sizeof words, 32);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(words[128 + i], 32 - i);
}
END_TEST

START_TEST(a_copy_may_be_the_arrival_that_a_barrier_counts)
{
    count_up();
    text_run(
        KERNEL(INIT(
            "32") "mad.lo.u32 %r4, %r1, 4, %r2;\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
                  "cp.async.ca.shared.global [%r4+0], [%d2+4], 4;\n"
                  "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];\n" WAIT
                  "xor.b32 %r4, %r1, 31;\nmad.lo.u32 %r4, %r4, 4, %r2;\nld.shared.u32 %r5, [%r4];\n"
                  "st.global.u32 [%d2+512], %r5;"),
        words, sizeof words, 32);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(words[128 + i], 33 - i);
}
END_TEST

START_TEST(a_copy_is_cut_short_or_left_out)
{
    count_up();
    text_run(KERNEL("st.shared.v4.u32 [s+16], {9, 9, 9, 9};\nsetp.eq.u32 %p1, %r1, %r1;\n"
                    "cp.async.cg.shared.global.L2::128B [s], [%d1+16], 16, 8;\n"
                    "cp.async.ca.shared.global [%r2+16], [%d1], 8, %p1;\n"
                    "cp.async.ca.shared.global [%r2+24], [%d1], 8, !%p1;\n"
                    "cp.async.commit_group;\ncp.async.wait_group 0;\n"
                    "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [s];\n"
                    "st.global.v4.u32 [%d1], {%r4, %r5, %r6, %r7};\n"
                    "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [s+16];\n"
                    "st.global.v4.u32 [%d1+16], {%r4, %r5, %r6, %r7};"),
             words, sizeof words, 1);
    static const uint32_t expected[] = {5, 6, 0, 0, 0, 0, 1, 2};
    ck_assert_mem_eq(words, expected, sizeof expected);
}
END_TEST

START_TEST(bytes_are_copied_in_bulk_and_the_barrier_counts_them)
{
    count_up();
    text_run(
        KERNEL(INIT("1") "@%p1 bra COPIED;\n"
                         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 304;\nmov.u32 %r4, 304;\n"
                         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%r2+16], [%d1+32], %r4, [%r3];\nCOPIED:\n" WAIT
                         "mad.lo.u32 %r4, %r1, 4, %r2;\nld.shared.u32 %r5, [%r4+16];\n"
                         "mad.wide.u32 %d2, %r1, 4, %d1;\nst.global.u32 [%d2+512], %r5;"),
        words, sizeof words, 76);
    for (uint32_t i = 0; i < 76; i++)
        ck_assert_uint_eq(words[128 + i], i + 9);
}
END_TEST

START_TEST(bytes_go_back_in_bulk_by_groups)
{
    count_up();
    text_run(
        KERNEL(
            "st.shared.v4.u32 [s], {50, 51, 52, 53};\nst.shared.v4.u32 [s+16], {5, 6, 7, 8};\n"
            "fence.proxy.async;\nmov.u32 %r4, 32;\nmov.u32 %r5, 16;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], %r4;\n"
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1+32], [%r2], %r5;\n"
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%d1+48], [%r2+16], %r5;\n"
            "cp.async.bulk.prefetch.L2.global [%d1], %r4;\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
            "cp.async.bulk.wait_group 0;"),
        words, sizeof words, 1);
    static const uint32_t expected[] = {50, 51, 52, 53, 5, 6, 7, 8, 59, 61, 63, 65, 5, 6, 7, 8};
    ck_assert_mem_eq(words, expected, sizeof expected);
}
END_TEST

START_TEST(halves_are_added_in_bulk)
{
    memset(words, 0, sizeof words);
    words[0] = 0x40003c00; /* 1 and 2 */
    text_run(
        KERNEL("st.shared.v4.b32 [s], {0x3c003c00, 0, 0, 0x40004000};\nmov.u32 %r4, 16;\n"
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%d1], [%r2], "
               "%r4;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"),
        words, sizeof words, 1);
    ck_assert_uint_eq(words[0], 0x42004000);
    ck_assert_uint_eq(words[3], 0x40004000);
}
END_TEST

START_TEST(a_mask_chooses_bytes_of_each_sixteen)
{
    memset(words, 0xff, sizeof words);
    text_run(".version 8.7\n.target sm_100\n.address_size 64\n" DECLARED BEGIN
             "st.shared.v4.u32 [s], {0, 0, 0, 0};\nst.shared.v4.u32 [s+16], {0, 0, 0, 0};\n"
             "mov.u32 %r4, 32;\nmov.b16 %h1, 0x8005;\n"
             "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [%r2], %r4, %h1;\n"
             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n",
             words, sizeof words, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(words[4 * i], 0xff00ff00);
        ck_assert_uint_eq(words[4 * i + 1], 0xffffffff);
        ck_assert_uint_eq(words[4 * i + 3], 0x00ffffff);
    }
}
END_TEST

/* Two blocks: block 0 sends to both, and block 1 gives block 0 a word and a sum. */
START_TEST(blocks_of_a_cluster_send_each_other_bytes)
{
    count_up();
    CUdeviceptr out = make_memory(sizeof words);
    CUmodule module;
    CUfunction kernel;
    void *parameters[] = {&out};
    static const char text[] = HEAD DECLARED
        ".visible .entry k(.param .u64 out) .reqnctapercluster 2\n{\n.reg .pred %p<4>;\n"
        ".reg .b16 %h<4>;\n.reg .b32 %r<12>;\n.reg .b64 %d<12>;\nld.param.u64 %d1, [out];\n"
        "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, s;\nmov.u32 %r3, bar;\n"
        "mbarrier.init.shared.b64 [bar], 1;\nst.shared.u32 [s+100], 40;\n"
        "setp.ne.u32 %p1, %r1, 0;\nselp.u32 %r4, 32, 40, %p1;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r4;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "@%p1 bra OTHER;\nmov.b16 %h1, 3;\nmov.u32 %r4, 32;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r2], [%d1], %r4, [%r3], %h1;\nbra SENT;\nOTHER:\n"
        "mapa.shared::cluster.u32 %r5, %r2, 0;\nmapa.shared::cluster.u32 %r6, %r3, 0;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5+96], 77, [%r6];\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
        "[%r5+100], 2, [%r6];\nSENT:\n" WAIT
        "mad.wide.u32 %d2, %r1, 64, %d1;\nld.shared.v2.u32 {%r7, %r8}, [s+24];\n"
        "st.global.v2.u32 [%d2+512], {%r7, %r8};\nld.shared.u32 %r7, [s+96];\n"
        "ld.shared.u32 %r8, [s+100];\nst.global.v2.u32 [%d2+520], {%r7, %r8};\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n";

    ck_success(cx_emu_call_memcpy_htod(out, words, sizeof words));
    ck_assert_msg(text_load(text, &module) == CXU_SUCCESS, "%s", text_complaint);
    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    ck_success(cx_emu_call_launch_kernel(kernel, 2, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, out, sizeof words);
    for (int block = 0; block < 2; block++) {
        ck_assert_uint_eq(words[128 + 16 * block], 7);
        ck_assert_uint_eq(words[129 + 16 * block], 8);
    }
    ck_assert_uint_eq(words[130], 77);
    ck_assert_uint_eq(words[131], 42);
    ck_assert_uint_eq(words[147], 40);
}
END_TEST

static void faults(const char *body, cxu_result result, const char *words_of_it)
{
    CUdeviceptr out = make_memory(sizeof words);
    char text[2048], said[400];

    snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD DECLARED BEGIN, body);
    ck_assert_int_eq(text_launch(text, out, 1), result);
    ck_assert(cx_emu_explain(result, said, sizeof said));
    ck_assert_msg(strstr(said, words_of_it), "%s", said);
}

START_TEST(a_bulk_copy_of_an_odd_size_is_a_fault)
{
    faults("mov.u32 %r4, 20;\ncp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], %r4;",
           CXU_ILLEGAL_INSTRUCTION, "multiple of 16");
}
END_TEST

START_TEST(a_bulk_copy_beyond_shared_memory_is_a_fault)
{
    faults("mov.u32 %r4, 4096;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
           "[%r2], [%d1], %r4, [%r3];",
           CXU_ILLEGAL_ADDRESS, "a read");
}
END_TEST

START_TEST(a_fault_of_a_copy_names_its_source_line)
{
    static const char *const copies[] = {
        "cp.async.bulk.global.shared::cta.bulk_group [%d9], [%r2], %r4;",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%d9], %r4, [%r3];",
        "cp.async.cg.shared.global [%r2], [%d9], 16;"};
    char body[512];

    snprintf(body, sizeof body, "%s%s%s", "mov.u32 %r4, 16;\nmov.u64 %d9, 16;\n.loc 1 42 1\n",
             copies[_i], "\nret;\n}\n.file 1 \"/src/copies.cu\"\n.func unused() {\n");
    faults(body, CXU_ILLEGAL_ADDRESS, "/src/copies.cu:42");
}
END_TEST

START_TEST(a_bulk_copy_is_aligned)
{
    faults("mov.u32 %r4, 16;\nadd.u64 %d1, %d1, 4;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], %r4;",
           CXU_MISALIGNED_ADDRESS, "not aligned");
}
END_TEST

static void cluster_setup(void)
{
    setenv("CTXRT_EMU_GPU", "rtx-pro-6000", 1);
    work_setup();
}

static Suite *async_suite(void)
{
    Suite *suite = suite_create("async");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, cluster_setup, work_teardown);
    tcase_add_test(all, a_barrier_hears_of_copies_without_counting_them);
    tcase_add_test(all, a_copy_may_be_the_arrival_that_a_barrier_counts);
    tcase_add_test(all, a_copy_is_cut_short_or_left_out);
    tcase_add_test(all, bytes_are_copied_in_bulk_and_the_barrier_counts_them);
    tcase_add_test(all, bytes_go_back_in_bulk_by_groups);
    tcase_add_test(all, halves_are_added_in_bulk);
    tcase_add_test(all, a_mask_chooses_bytes_of_each_sixteen);
    tcase_add_test(all, blocks_of_a_cluster_send_each_other_bytes);
    tcase_add_test(all, a_bulk_copy_of_an_odd_size_is_a_fault);
    tcase_add_test(all, a_bulk_copy_beyond_shared_memory_is_a_fault);
    tcase_add_loop_test(all, a_fault_of_a_copy_names_its_source_line, 0, 3);
    tcase_add_test(all, a_bulk_copy_is_aligned);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(async_suite);
