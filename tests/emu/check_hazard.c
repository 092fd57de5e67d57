/* What a launch tells of hazards, and memory while somebody watches: which bytes count as written,
 * gaps between allocations, and freed addresses (driver/access_log.h). */
#include "driver/access_log.h"
#include "work_fixture.h"

#include <stdio.h>
#include <string.h>

#define WORDS 64
#define BYTES (WORDS * sizeof(uint32_t))
#define TICKET 5

/* Each thread: add(at) adds 1 to its word, put(at) stores one, copy(at, from) copies one;
 * meet(at): half of the block waits at a barrier. */
static const char text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 at, .param .u64 from) {\n"
    ".reg .u64 %p<3>; .reg .u32 %r<3>;\n"
    "ld.param.u64 %p0, [at]; mov.u32 %r0, %tid.x; mul.wide.u32 %p1, %r0, 4;\n"
    "add.u64 %p0, %p0, %p1; ld.global.u32 %r1, [%p0]; add.u32 %r2, %r1, 1;\n"
    "st.global.u32 [%p0], %r2; ret; }\n"
    ".visible .entry put(.param .u64 at, .param .u64 from) {\n"
    ".reg .u64 %p<3>; .reg .u32 %r<1>;\n"
    "ld.param.u64 %p0, [at]; mov.u32 %r0, %tid.x; mul.wide.u32 %p1, %r0, 4;\n"
    "add.u64 %p0, %p0, %p1; st.global.u32 [%p0], %r0; ret; }\n"
    ".visible .entry copy(.param .u64 at, .param .u64 from) {\n"
    ".reg .u64 %p<4>; .reg .u32 %r<2>;\n"
    "ld.param.u64 %p0, [at]; ld.param.u64 %p2, [from]; mov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %p1, %r0, 4; add.u64 %p0, %p0, %p1; add.u64 %p2, %p2, %p1;\n"
    "ld.global.u32 %r1, [%p2]; st.global.u32 [%p0], %r1; ret; }\n"
    ".visible .entry meet(.param .u64 at, .param .u64 from) {\n"
    ".reg .u64 %p<3>; .reg .u32 %r<1>; .reg .pred %q<1>;\n"
    "ld.param.u64 %p0, [at]; mov.u32 %r0, %tid.x; mul.wide.u32 %p1, %r0, 4;\n"
    "add.u64 %p0, %p0, %p1; setp.lt.u32 %q0, %r0, 32; @!%q0 bra L; bar.sync 0;\n"
    "L: st.global.u32 [%p0], %r0; ret; }\n";

static int told;
static cx_access_log_hazard latest;
static char first_text[400], second_text[400];

static void note_hazard(uint64_t ticket, const cx_access_log_hazard *hazard)
{
    ck_assert_uint_eq(ticket, TICKET);
    told++;
    latest = *hazard;
    snprintf(first_text, sizeof first_text, "%s", hazard->first ? hazard->first : "");
    snprintf(second_text, sizeof second_text, "%s", hazard->second);
}

static void note_promise(uint64_t ticket, size_t part)
{
    (void)ticket;
    (void)part;
}

static void note_failure(uint64_t ticket, size_t part, const cx_access_log_failure *failure)
{
    (void)ticket;
    (void)part;
    (void)failure;
}

static void note_touches(uint64_t ticket, size_t part, const cx_access *all, size_t count)
{
    (void)ticket;
    (void)part;
    (void)all;
    (void)count;
}

static const cx_access_log_watcher watcher = {
    .promised = note_promise, .failed = note_failure, .told = note_touches, .hazard = note_hazard};

static CUmodule module;

static void setup(void)
{
    cx_access_log_watch(&watcher);
    work_setup();
    told = 0;
    ck_success(cx_emu_call_module_load_data(&module, text));
}

static void teardown(void)
{
    work_teardown();
    cx_access_log_watch(NULL);
}

static void launch(const char *name, CUdeviceptr at, CUdeviceptr from)
{
    CUfunction function;
    void *parameters[] = {&at, &from};

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    cx_access_log_ticket = TICKET;
    ck_success(
        cx_emu_call_launch_kernel(function, 1, 1, 1, WORDS, 1, 1, 0, NULL, parameters, NULL));
    cx_access_log_ticket = 0;
    ck_success(cx_emu_call_ctx_synchronize());
}

/* ---- what is written ---- */

START_TEST(a_kernel_that_reads_new_memory_is_told)
{
    CUdeviceptr words = make_memory(BYTES);

    launch("add", words, 0);
    ck_assert_int_eq(told, 1);
    ck_assert_int_eq(latest.kind, CX_ACCESS_UNWRITTEN);
    ck_assert_uint_eq(latest.memory, words);
    ck_assert_ptr_nonnull(strstr(second_text, "kernel add, line "));
    ck_assert_ptr_nonnull(strstr(second_text, "thread (0, 0, 0): a read of 4 bytes at 0x"));
}
END_TEST

static void fill_it(CUdeviceptr words)
{
    ck_success(cx_emu_call_memset_d8(words, 1, BYTES));
}

static void copy_to_it(CUdeviceptr words)
{
    static const char zeroes[BYTES];

    ck_success(cx_emu_call_memcpy_htod(words, zeroes, BYTES));
}

static void put_there(CUdeviceptr words)
{
    launch("put", words, 0);
}

static void copy_on_device(CUdeviceptr words)
{
    CUdeviceptr others = make_memory(BYTES);

    ck_success(cx_emu_call_memcpy_dtod(words, others, BYTES));
}

static void fill_rows(CUdeviceptr words)
{
    ck_success(cx_emu_call_memset_2d_d32(words, 64, 7, 16, 4));
}

static void (*const writers[])(CUdeviceptr words) = {fill_it, copy_to_it, put_there, copy_on_device,
                                                     fill_rows};

START_TEST(memory_that_anything_has_written_is_not_told)
{
    CUdeviceptr words = make_memory(BYTES);

    writers[_i](words);
    launch("add", words, 0);
    ck_assert_int_eq(told, 0);
}
END_TEST

START_TEST(a_half_that_is_left_out_is_told_with_its_first_thread)
{
    CUdeviceptr words = make_memory(BYTES);

    ck_success(cx_emu_call_memset_d8(words, 1, BYTES / 2));
    launch("add", words, 0);
    ck_assert_int_eq(told, 1);
    ck_assert_uint_eq(latest.memory, words + BYTES / 2);
}
END_TEST

START_TEST(a_copy_of_new_memory_is_told_and_one_of_gaps_is_not)
{
    CUdeviceptr to = make_memory(BYTES), from = make_memory(BYTES);

    launch("copy", to, from);
    ck_assert_int_eq(told, 1);
    ck_success(cx_emu_call_memset_d8(from, 1, 4));
    launch("copy", to, from);
    ck_assert_int_eq(told, 1);
}
END_TEST

START_TEST(pinned_memory_always_counts_as_written)
{
    void *words;

    ck_success(cx_emu_call_mem_alloc_host(&words, BYTES));
    launch("add", (CUdeviceptr)(uintptr_t)words, 0);
    ck_assert_int_eq(told, 0);
    ck_success(cx_emu_call_mem_free_host(words));
}
END_TEST

/* ---- barriers ---- */

START_TEST(a_barrier_that_half_of_the_block_reaches_is_told)
{
    launch("meet", make_memory(BYTES), 0);
    ck_assert_int_eq(told, 1);
    ck_assert_int_eq(latest.kind, CX_ACCESS_BARRIER_DIVERGED);
    ck_assert_ptr_nonnull(strstr(first_text, "thread (0, 0, 0): waits at the barrier"));
    ck_assert_ptr_nonnull(
        strstr(second_text, "thread (32, 0, 0): is here without the barrier, and so have 31"));
}
END_TEST

/* ---- addresses ---- */

START_TEST(there_is_a_gap_between_allocations)
{
    CUdeviceptr all[16];

    for (int i = 0; i < 16; i++)
        all[i] = make_memory(512);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            ck_assert(i == j || all[i] + 512 != all[j]);
}
END_TEST

START_TEST(a_freed_address_is_not_given_out_again_soon)
{
    CUdeviceptr freed = make_memory(BYTES);

    ck_success(cx_emu_call_mem_free(freed));
    for (int i = 0; i < 100; i++) {
        CUdeviceptr other = make_memory(BYTES);

        ck_assert_uint_ne(other, freed);
        ck_success(cx_emu_call_mem_free(other));
    }
}
END_TEST

START_TEST(freed_memory_is_there_for_large_allocations)
{
    size_t free_bytes, total_bytes;

    ck_success(cx_emu_call_mem_get_info(&free_bytes, &total_bytes));
    for (int i = 0; i < 20; i++)
        ck_success(cx_emu_call_mem_free(make_memory(free_bytes / 2)));
}
END_TEST

static Suite *hazard_suite(void)
{
    Suite *suite = suite_create("hazard");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_kernel_that_reads_new_memory_is_told);
    tcase_add_loop_test(all, memory_that_anything_has_written_is_not_told, 0,
                        (int)(sizeof writers / sizeof writers[0]));
    tcase_add_test(all, a_half_that_is_left_out_is_told_with_its_first_thread);
    tcase_add_test(all, a_copy_of_new_memory_is_told_and_one_of_gaps_is_not);
    tcase_add_test(all, pinned_memory_always_counts_as_written);
    tcase_add_test(all, a_barrier_that_half_of_the_block_reaches_is_told);
    tcase_add_test(all, there_is_a_gap_between_allocations);
    tcase_add_test(all, a_freed_address_is_not_given_out_again_soon);
    tcase_add_test(all, freed_memory_is_there_for_large_allocations);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(hazard_suite);
