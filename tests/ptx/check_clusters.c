/* Clusters of blocks: their barrier, their addresses, and what goes wrong in them. */
#include "ptx/ptx.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS UINT64_C(0x100000)
#define WORDS 4096
#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define BEGIN                                                                            \
    HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n" \
         ".reg .b64 %d<32>;\n.shared .align 16 .b8 first[16];\n.shared .align 8 .b64 own;\n"
#define READY                                                                          \
    "ld.param.u64 %d0, [out];\nmov.u32 %r0, %cluster_ctarank;\nmov.u32 %r1, %tid.x;\n" \
    "mov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 64, %r1;\nmad.wide.u32 %d1, %r3, 8, %d0;\n"
#define END "\nret;\n}\n"
#define MEET "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"

static uint64_t memory[WORDS];
static uint64_t patience; /* questions until a launch is stopped; 0: it is not */

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){ADDRESS, sizeof memory, (unsigned char *)memory, false, NULL, NULL};
    return address - ADDRESS < sizeof memory;
}

static bool stopped(void *self)
{
    (void)self;
    return patience > 0 && --patience == 0;
}

typedef struct shape {
    uint32_t grid, block, cluster;
    unsigned cores;
    bool cooperative;
} shape;

static cx_ptx_module *load(const char *text)
{
    cx_ptx_error error = {0};
    cx_ptx_module *module = NULL;
    cx_ptx_status status = cx_ptx_load(text, strlen(text), &module, &error);

    ck_assert_msg(status == CX_PTX_SUCCESS, "line %d: %s\n%s", error.line, error.message, text);
    return module;
}

static cx_ptx_outcome run(const char *text, shape what, cx_ptx_fault *out_fault)
{
    static char space[64];
    cx_ptx_module *module = load(text);
    const uint64_t parameters[] = {ADDRESS};
    const cx_ptx_environment environment = {.find = find, .stopped = stopped, .cores = what.cores};
    cx_ptx_launch launch = {.grid = {what.grid, 1, 1},
                            .block = {what.block, 1, 1},
                            .cooperative = what.cooperative,
                            .parameters = parameters};
    cx_ptx_fault fault = {0};
    cx_ptx_outcome outcome;

    if (what.cluster)
        launch.cluster[0] = what.cluster, launch.cluster[1] = launch.cluster[2] = 1;
    memset(memory, 0, sizeof memory);
    outcome = cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault);
    if (fault.space)
        snprintf(space, sizeof space, "%s", fault.space);
    fault.space = fault.space ? space : NULL;
    cx_ptx_unload(module);
    if (out_fault)
        *out_fault = fault;
    return outcome;
}

/* ---- addresses ---- */

typedef struct address_row {
    const char *text;     /* leaves its result in %d2 */
    uint64_t expected[3]; /* for each of three blocks */
} address_row;

#define SHARED UINT64_C(0x7100000000000000)
#define GENERIC_OWN "mov.u64 %d3, own;\ncvta.shared.u64 %d3, %d3;\n"
#define FLAG "selp.u64 %d2, 1, 0, %p0;"

static const address_row address_rows[] = {
    {"mov.u64 %d2, own;", {16, 0x1000010, 0x2000010}},
    {"mov.u32 %r5, own;\ncvt.u64.u32 %d2, %r5;", {16, 0x1000010, 0x2000010}},
    {"mapa.shared::cluster.u64 %d2, own, 1;", {0x1000010, 0x1000010, 0x1000010}},
    {"mapa.shared::cluster.u64 %d2, own+4, 2;", {0x2000014, 0x2000014, 0x2000014}},
    {"mov.u32 %r5, own;\nmapa.shared::cluster.u32 %r5, %r5, 0;\ncvt.u64.u32 %d2, %r5;",
     {16, 16, 16}},
    {"mov.u32 %r5, own;\nmapa.u32 %r5, %r5, %r0;\ncvt.u64.u32 %d2, %r5;",
     {16, 0x1000010, 0x2000010}},
    {GENERIC_OWN "mov.u64 %d2, %d3;", {SHARED + 16, SHARED + 0x1000010, SHARED + 0x2000010}},
    {GENERIC_OWN "mapa.u64 %d2, %d3, 2;",
     {SHARED + 0x2000010, SHARED + 0x2000010, SHARED + 0x2000010}},
    {GENERIC_OWN "mapa.u64 %d2, %d3, 2;\nmapa.u64 %d2, %d2, 0;",
     {SHARED + 16, SHARED + 16, SHARED + 16}},
    {"mapa.shared::cluster.u64 %d2, own, 70000;", {0xff000010, 0xff000010, 0xff000010}},
    {"mapa.shared::cluster.u64 %d2, own, 1;\ncvta.shared::cluster.u64 %d2, %d2;",
     {SHARED + 0x1000010, SHARED + 0x1000010, SHARED + 0x1000010}},
    {GENERIC_OWN "mapa.u64 %d2, %d3, 2;\ncvta.to.shared::cluster.u64 %d2, %d2;",
     {0x2000010, 0x2000010, 0x2000010}},
    {"getctarank.shared::cluster.u32 %r5, own;\ncvt.u64.u32 %d2, %r5;", {0, 1, 2}},
    {"mapa.shared::cluster.u32 %r5, %r1, 2;\ngetctarank.shared::cluster.u32 %r5, %r5;\n"
     "cvt.u64.u32 %d2, %r5;",
     {2, 2, 2}},
    {GENERIC_OWN "mapa.u64 %d3, %d3, 1;\ngetctarank.u64 %r5, %d3;\ncvt.u64.u32 %d2, %r5;",
     {1, 1, 1}},
    {GENERIC_OWN "isspacep.shared %p0, %d3;\n" FLAG, {1, 1, 1}},
    {GENERIC_OWN "isspacep.shared::cluster %p0, %d3;\n" FLAG, {1, 1, 1}},
    {GENERIC_OWN "mapa.u64 %d3, %d3, 1;\nisspacep.shared %p0, %d3;\n" FLAG, {0, 1, 0}},
    {GENERIC_OWN "mapa.u64 %d3, %d3, 1;\nisspacep.shared::cta %p0, %d3;\n" FLAG, {0, 1, 0}},
    {GENERIC_OWN "mapa.u64 %d3, %d3, 1;\nisspacep.shared::cluster %p0, %d3;\n" FLAG, {1, 1, 1}},
    {"isspacep.shared::cluster %p0, %d0;\n" FLAG, {0, 0, 0}},
    {"mov.pred %p0, %is_explicit_cluster;\n" FLAG, {1, 1, 1}},
    {"mov.u32 %r5, %cluster_nctarank;\ncvt.u64.u32 %d2, %r5;", {3, 3, 3}},
    {"mov.u32 %r5, %cluster_ctaid.x;\nmov.u32 %r6, %cluster_nctaid.x;\nadd.u32 %r5, %r5, %r6;\n"
     "cvt.u64.u32 %d2, %r5;",
     {3, 4, 5}},
};

START_TEST(addresses_name_their_block)
{
    const address_row *row = &address_rows[_i];
    char text[2048];

    snprintf(text, sizeof text, "%s%s\nst.global.u64 [%%d1], %%d2;%s", BEGIN READY, row->text, END);
    ck_assert_int_eq(run(text, (shape){.grid = 3, .block = 1, .cluster = 3}, NULL), CX_PTX_DONE);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(memory[64 * i] == row->expected[i], "%s in block %d: %#llx, not %#llx",
                      row->text, i, (unsigned long long)memory[64 * i],
                      (unsigned long long)row->expected[i]);
}
END_TEST

START_TEST(accesses_reach_the_block_in_the_address)
{
    static const struct {
        const char *text;     /* %r4: another block's address, %d4: the same, generic */
        uint64_t own, result; /* what the other block then has, what the access gave */
    } rows[] = {
        {"ld.shared::cluster.u64 %d2, [%r4];", 7, 7},
        {"ld.u64 %d2, [%d4];", 7, 7},
        {"ld.volatile.shared::cluster.u8 %d2, [%r4];", 7, 7},
        {"st.shared::cluster.u64 [%r4], 9;", 9, 0},
        {"st.relaxed.cluster.shared::cluster.u64 [%r4], 9;", 9, 0},
        {"st.u64 [%d4], 9;", 9, 0},
        {"st.shared::cluster.v2.u32 [%r4], {%r9, %r9};", 5 | UINT64_C(5) << 32, 0},
        {"atom.shared::cluster.add.u64 %d2, [%r4], 4;", 11, 7},
        {"atom.acq_rel.cluster.shared::cluster.cas.b64 %d2, [%r4], 7, 1;", 1, 7},
        {"atom.exch.b64 %d2, [%d4], 3;", 3, 7},
        {"red.relaxed.cluster.shared::cluster.max.u64 [%r4], 8;", 8, 0},
        {"red.add.u64 [%d4], 1;", 8, 0},
    };
    char text[2048];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text,
                 "%smov.u64 %%d2, 0;\nmov.u32 %%r9, 5;\nst.shared.u64 [own], 7;\n" MEET
                 "xor.b32 %%r5, %%r0, 1;\nmov.u32 %%r4, own;\n"
                 "mapa.shared::cluster.u32 %%r4, %%r4, %%r5;\ncvt.u64.u32 %%d4, %%r4;\n"
                 "cvta.shared::cluster.u64 %%d4, %%d4;\n%s\n" MEET
                 "st.global.u64 [%%d1], %%d2;\nld.shared.u64 %%d2, [own];\n"
                 "st.global.u64 [%%d1+8], %%d2;%s",
                 BEGIN READY, rows[i].text, END);
        ck_assert_int_eq(run(text, (shape){.grid = 4, .block = 1, .cluster = 2}, NULL),
                         CX_PTX_DONE);
        for (int block = 0; block < 4; block++) {
            ck_assert_msg(memory[64 * block] == rows[i].result, "%s gives %llu", rows[i].text,
                          (unsigned long long)memory[64 * block]);
            ck_assert_msg(memory[64 * block + 1] == rows[i].own, "%s leaves %llu", rows[i].text,
                          (unsigned long long)memory[64 * block + 1]);
        }
    }
}
END_TEST

/* ---- the barrier ---- */

/* Each thread adds to the next block's word, in every round; `meet` keeps the rounds apart. */
#define ROUNDS_BEGIN                                                                              \
    BEGIN READY "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r4, own;\n"                         \
                "add.u32 %r5, %r0, 1;\nmov.u32 %r6, %cluster_nctarank;\nrem.u32 %r5, %r5, %r6;\n" \
                "mapa.shared::cluster.u32 %r4, %r4, %r5;\nL:\n"
#define ROUNDS_END                                                      \
    "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p0, %r10, 20;\n@%p0 bra L;\n" \
    "st.global.u32 [%d1], %r11;" END
#define ADD "red.shared::cluster.add.u32 [%r4], 1;\n"
#define SUM "ld.shared.u32 %r7, [own];\nadd.u32 %r11, %r11, %r7;\n"

static const char *const meetings[] = {
    ROUNDS_BEGIN ADD MEET SUM MEET ROUNDS_END,
    ROUNDS_BEGIN ADD
    "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;"
    "\n" SUM "barrier.cluster.arrive.relaxed;\nadd.u32 %r8, %r8, 1;\n"
    "barrier.cluster.wait;\n" ROUNDS_END,
    /* odd threads take another way to the same barrier */
    ROUNDS_BEGIN ADD "and.b32 %r9, %r1, 1;\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra E;\n" MEET
                     "bra.uni B;\nE:\n" MEET "B:\n" SUM MEET ROUNDS_END,
};

START_TEST(no_thread_passes_before_all_have_arrived)
{
    static const unsigned cores[] = {1, 2, 8};
    const shape what = {.grid = 30, .block = 40, .cluster = 5, .cores = cores[_i / 3]};
    uint64_t expected = 0;

    for (uint64_t round = 1; round <= 20; round++)
        expected += 40 * round;
    ck_assert_int_eq(run(meetings[_i % 3], what, NULL), CX_PTX_DONE);
    for (uint32_t i = 0; i < 30; i++)
        for (uint32_t j = 0; j < 40; j++)
            ck_assert_uint_eq(memory[64 * i + j], expected);
}
END_TEST

/* It is alone in its warp, and takes several turns: the others wait meanwhile. */
START_TEST(all_wait_for_one_late_thread)
{
    const char *text =
        BEGIN READY "mov.u32 %r4, 0;\nmad.lo.u32 %r5, %r0, 64, %r1;\nsetp.ne.u32 %p0, %r5, 96;\n"
                    "@%p0 bra M;\nL:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 600000;\n"
                    "@%p1 bra L;\nst.shared.u64 [own], 5;\nM:\n" MEET
                    "mov.u32 %r6, own;\n"
                    "mapa.shared::cluster.u32 %r6, %r6, 1;\nld.shared::cluster.u64 %d2, [%r6];\n"
                    "st.global.u64 [%d1], %d2;\n" MEET END;

    ck_assert_int_eq(run(text, (shape){.grid = 3, .block = 33, .cluster = 3}, NULL), CX_PTX_DONE);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 33; j++)
            ck_assert_uint_eq(memory[64 * i + j], 5);
}
END_TEST

START_TEST(ended_threads_and_blocks_are_not_waited_for)
{
    /* Block 1 ends at once; in the others, threads from 20 on. */
    const char *text = BEGIN READY
        "setp.eq.u32 %p0, %r0, 1;\n@%p0 ret;\nsetp.ge.u32 %p0, %r1, 20;\n"
        "@%p0 barrier.cluster.arrive;\n@%p0 ret;\n" MEET MEET "st.global.u64 [%d1], 1;" END;

    ck_assert_int_eq(run(text, (shape){.grid = 6, .block = 33, .cluster = 3}, NULL), CX_PTX_DONE);
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 33; j++)
            ck_assert_uint_eq(memory[64 * i + j], i % 3 != 1 && j < 20);
}
END_TEST

START_TEST(a_block_without_a_cluster_is_one_by_itself)
{
    const char *text =
        BEGIN READY "mov.pred %p0, %is_explicit_cluster;\nselp.u32 %r4, 1, 0, %p0;\n"
                    "mov.u32 %r5, %cluster_nctarank;\nadd.u32 %r4, %r4, %r5;\n"
                    "mov.u32 %r5, %clusterid.x;\nmad.lo.u32 %r4, %r5, 10, %r4;\n" MEET
                    "mapa.shared::cluster.u32 %r5, %r1, 0;\nadd.u32 %r4, %r4, %r5;\n"
                    "st.global.u32 [%d1], %r4;" END;

    ck_assert_int_eq(run(text, (shape){.grid = 3, .block = 2}, NULL), CX_PTX_DONE);
    for (uint64_t i = 0; i < 6; i++)
        ck_assert_uint_eq(memory[64 * (i / 2) + i % 2], i / 2 * 10 + 1 + i % 2);
}
END_TEST

/* All blocks of a cooperative grid wait for each other by a counter in global memory. */
START_TEST(a_cooperative_grid_has_clusters_too)
{
    const char *text = BEGIN READY MEET
        "red.global.add.u64 [%d0+8], 1;\nW:\nld.volatile.global.u64 %d2, [%d0+8];\n"
        "setp.lt.u64 %p0, %d2, 24;\n@%p0 bra W;\n" MEET "st.global.u32 [%d1+64], %r0;" END;

    ck_assert_int_eq(
        run(text, (shape){.grid = 24, .block = 1, .cluster = 4, .cooperative = true}, NULL),
        CX_PTX_DONE);
    for (uint64_t i = 0; i < 24; i++)
        ck_assert_uint_eq(memory[64 * i + 8], i % 4);
}
END_TEST

START_TEST(a_waiting_cluster_can_be_stopped)
{
    const char *text =
        BEGIN READY "setp.eq.u32 %p0, %r0, 0;\n@%p0 bra W;\n" MEET "ret;\nW:\nbra W;" END;
    cx_ptx_fault fault;

    patience = 50;
    ck_assert_int_eq(run(text, (shape){.grid = 2, .block = 1, .cluster = 2}, &fault),
                     CX_PTX_STOPPED);
    ck_assert_uint_eq(fault.block[0], 0);
}
END_TEST

/* ---- errors ---- */

typedef struct fault_row {
    const char *text;
    cx_ptx_outcome outcome;
    int line; /* of the text */
    uint32_t block, thread;
    const char *space;
    uint64_t address, bytes;
} fault_row;

#define MAP(rank) "mov.u32 %r4, own;\nmapa.shared::cluster.u32 %r4, %r4, " rank ";\n"

static const fault_row fault_rows[] = {
    {MAP("2") "ld.shared::cluster.u32 %r5, [%r4];", CX_PTX_ILLEGAL_ADDRESS, 3, 0, 0,
     "no block's shared", 16, 4},
    {MAP("1") "ld.shared::cluster.u32 %r5, [%r4+16];", CX_PTX_ILLEGAL_ADDRESS, 3, 0, 0,
     "another block's shared", 32, 4},
    {MAP("1") "st.shared::cluster.u32 [%r4+2], 0;", CX_PTX_MISALIGNED_ADDRESS, 3, 0, 0,
     "another block's shared", 18, 4},
    {MAP("1") "ld.shared.u32 %r5, [%r4];", CX_PTX_ILLEGAL_ADDRESS, 3, 0, 0,
     "another block's shared", 16, 4},
    {"setp.eq.u32 %p0, %r0, 0;\n@%p0 ret;\nld.shared.u32 %r5, [own+16];", CX_PTX_ILLEGAL_ADDRESS, 3,
     1, 0, "shared", 32, 4},
    {"setp.eq.u32 %p0, %r0, 0;\n@%p0 ret;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
     "mov.u32 %r4, own;\nmapa.shared::cluster.u32 %r4, %r4, 0;\nld.shared::cluster.u32 %r5, [%r4];",
     CX_PTX_ILLEGAL_ADDRESS, 7, 1, 0, "an ended block's shared", 16, 4},
    {"barrier.cluster.arrive;\nsetp.eq.u32 %p0, %r1, 1;\n@%p0 barrier.cluster.arrive;",
     CX_PTX_ILLEGAL_INSTRUCTION, 3, 0, 1, NULL, 0, 0},
    {"barrier.cluster.wait;", CX_PTX_DEADLOCK, 1, 0, 0, NULL, 0, 0},
    {"mad.lo.u32 %r5, %r0, 64, %r1;\nsetp.ge.u32 %p0, %r5, 96;\n@%p0 bar.sync 1, 64;\n" MEET,
     CX_PTX_DEADLOCK, 5, 0, 0, NULL, 0, 0},
};

#define LINES_BEFORE 16 /* of BEGIN READY */

START_TEST(a_fault_in_a_cluster_has_a_place)
{
    const fault_row *row = &fault_rows[_i];
    char text[2048];
    cx_ptx_fault fault;

    snprintf(text, sizeof text, "%s%s%s", BEGIN READY, row->text, END);
    ck_assert_int_eq(run(text, (shape){.grid = 2, .block = 64, .cluster = 2}, &fault),
                     row->outcome);
    ck_assert_int_eq(fault.line, LINES_BEFORE + row->line);
    ck_assert_uint_eq(fault.block[0], row->block);
    ck_assert_uint_eq(fault.thread[0], row->thread);
    ck_assert_pstr_eq(fault.space, row->space);
    ck_assert_uint_eq(fault.address, row->address);
    ck_assert_uint_eq(fault.bytes, row->bytes);
}
END_TEST

START_TEST(the_first_cluster_that_fails_is_told)
{
    const char *text = BEGIN READY MEET "setp.ge.u32 %p0, %r2, 9;\n@%p0 st.global.u32 [7], 1;" END;
    cx_ptx_fault fault;

    ck_assert_int_eq(run(text, (shape){.grid = 40, .block = 3, .cluster = 4, .cores = 1}, &fault),
                     CX_PTX_MISALIGNED_ADDRESS);
    ck_assert_uint_eq(fault.block[0], 9);
}
END_TEST

/* ---- kernels ---- */

START_TEST(a_kernel_says_in_which_clusters_it_runs)
{
    cx_ptx_module *module =
        load(HEAD ".entry a() .explicitcluster .reqnctapercluster 2, 3 { ret; }\n"
                  ".entry b() .maxclusterrank 8 { ret; }\n"
                  ".entry c() .reqntid 32 .reqnctapercluster 4 .blocksareclusters { ret; }\n"
                  ".entry d() .reqnctapercluster 0 { ret; }\n"
                  ".entry e() .reqnctapercluster 2, 0, 1 { ret; }\n");
    cx_ptx_kernel_info d = cx_ptx_kernel_describe(module, cx_ptx_kernel_find(module, "d"));
    cx_ptx_kernel_info e = cx_ptx_kernel_describe(module, cx_ptx_kernel_find(module, "e"));
    cx_ptx_kernel_info a = cx_ptx_kernel_describe(module, cx_ptx_kernel_find(module, "a"));
    cx_ptx_kernel_info b = cx_ptx_kernel_describe(module, cx_ptx_kernel_find(module, "b"));
    cx_ptx_kernel_info c = cx_ptx_kernel_describe(module, cx_ptx_kernel_find(module, "c"));

    ck_assert(a.cluster[0] == 2 && a.cluster[1] == 3 && a.cluster[2] == 1);
    ck_assert(a.cluster_needed && !a.counts_clusters && a.cluster_most == 0);
    ck_assert(b.cluster[0] == 0 && !b.cluster_needed && b.cluster_most == 8);
    ck_assert(d.cluster[0] == 0 && d.cluster[1] == 0 && d.cluster[2] == 0);
    ck_assert(e.cluster[0] == 0 && e.cluster[1] == 0 && e.cluster[2] == 0);
    ck_assert(c.cluster[0] == 4 && c.counts_clusters && !c.cluster_needed);
    cx_ptx_unload(module);
}
END_TEST

START_TEST(a_kernel_has_its_own_clusters)
{
    const char *text = HEAD ".visible .entry k(.param .u64 out) .reqnctapercluster 3\n{\n"
                            ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\nld.param.u64 %d0, [out];\n"
                            "mov.u32 %r0, %cluster_ctarank;\nmov.u32 %r1, %ctaid.x;\n"
                            "mad.wide.u32 %d1, %r1, 8, %d0;\nst.global.u32 [%d1], %r0;" END;

    ck_assert_int_eq(run(text, (shape){.grid = 6, .block = 1}, NULL), CX_PTX_DONE);
    for (uint64_t i = 0; i < 6; i++)
        ck_assert_uint_eq(memory[i], i % 3);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(what_is_no_instruction_of_clusters_is_refused)
{
    static const struct {
        const char *text;
        cx_ptx_status status;
        const char *message;
    } rows[] = {
        {"barrier.cluster.arrive.acquire;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"barrier.cluster.wait.relaxed;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"barrier.cluster.sync;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"bar.cluster.arrive;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"barrier.cluster.arrive 0;", CX_PTX_INVALID, "wrong number of operands"},
        {"mapa.shared::cluster.s64 %d4, %d3, 0;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"mapa.shared::cluster.u64 %d4, %d3;", CX_PTX_INVALID, "wrong number of operands"},
        {"mapa.shared::cluster.u64 %r4, %d3, 0;", CX_PTX_INVALID, "does not fit the instruction"},
        {"mapa.shared::cluster.u64 %d4, %r3, 0;", CX_PTX_INVALID, "does not fit the instruction"},
        {"mapa.shared::cluster.u32 %r4, %r3, %d0;", CX_PTX_INVALID, "does not fit the instruction"},
        {"getctarank.b32 %r4, %r3;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"getctarank.u64 %r4;", CX_PTX_INVALID, "wrong number of operands"},
        {"getctarank.u64 %d4, %d3;", CX_PTX_INVALID, "does not fit the instruction"},
        {"ld.shared::cluster.u32 %r4, [out];", CX_PTX_INVALID,
         "the variable lies in another space"},
        {"mbarrier.init.shared::cluster.b64 [%r4], 1;", CX_PTX_UNSUPPORTED, "is not supported"},
        {"mbarrier.arrive.shared::cluster.b64 %d4, [%r4];", CX_PTX_INVALID, "tells no state"},
        {"mbarrier.test_wait.shared::cluster.b64 %p0, [%r4], %d4;", CX_PTX_UNSUPPORTED,
         "is not supported"},
        {"atom.shared::cluster.add.v2.f32 {%r4, %r5}, [%r6], {%r7, %r8};", CX_PTX_UNSUPPORTED,
         "is not supported"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4], "
         "[%d0, {%r6}], [%r5];",
         CX_PTX_UNSUPPORTED, "'cp.async.bulk.tensor"},
        {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
         "[%r4], [%r5];",
         CX_PTX_UNSUPPORTED, "'clusterlaunchcontrol.try_cancel"},
    };
    char text[2048];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cx_ptx_error error = {0};
        cx_ptx_module *module = NULL;

        snprintf(text, sizeof text, "%s%s%s", BEGIN READY, rows[i].text, END);
        ck_assert_msg(cx_ptx_load(text, strlen(text), &module, &error) == rows[i].status, "%s: %s",
                      rows[i].text, error.message);
        ck_assert_int_eq(error.line, LINES_BEFORE + 1);
        ck_assert_msg(strstr(error.message, rows[i].message), "%s: %s", rows[i].text,
                      error.message);
    }
}
END_TEST

static Suite *clusters_suite(void)
{
    Suite *suite = suite_create("clusters");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, addresses_name_their_block, 0,
                        (int)(sizeof address_rows / sizeof address_rows[0]));
    tcase_add_test(all, accesses_reach_the_block_in_the_address);
    tcase_add_loop_test(all, no_thread_passes_before_all_have_arrived, 0, 9);
    tcase_add_test(all, all_wait_for_one_late_thread);
    tcase_add_test(all, ended_threads_and_blocks_are_not_waited_for);
    tcase_add_test(all, a_block_without_a_cluster_is_one_by_itself);
    tcase_add_test(all, a_cooperative_grid_has_clusters_too);
    tcase_add_test(all, a_waiting_cluster_can_be_stopped);
    tcase_add_loop_test(all, a_fault_in_a_cluster_has_a_place, 0,
                        (int)(sizeof fault_rows / sizeof fault_rows[0]));
    tcase_add_test(all, the_first_cluster_that_fails_is_told);
    tcase_add_test(all, a_kernel_says_in_which_clusters_it_runs);
    tcase_add_test(all, a_kernel_has_its_own_clusters);
    tcase_add_test(all, what_is_no_instruction_of_clusters_is_refused);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(clusters_suite);
