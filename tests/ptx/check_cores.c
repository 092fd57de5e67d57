/* Several threads of the host run the blocks of a grid. */
#include "ptx/ptx.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ADDRESS UINT64_C(0x100000)
#define BLOCKS 600
#define THREADS 64
/* Of a loop in each thread: the grid lasts long enough for help; sanitizers make it slow. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define TIMES 40
#else
#define TIMES 400
#endif
#define TOTAL (BLOCKS * THREADS)

/* Each thread writes its number of turns to a place of its own, and adds 1 to a sum. */
static const char counting[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 times, .param .u32 wrong)\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [out];\nld.param.u32 %r1, [times];\nld.param.u32 %r8, [wrong];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %d2, %r5, 4;\nadd.u64 %d2, %d1, %d2;\n"
    "mov.u32 %r6, 0;\n"
    "L:\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%d2+64], %r6;\nsetp.lt.u32 %p1, %r6, %r1;\n"
    "@%p1 bra L;\n"
    "setp.eq.u32 %p2, %r2, %r8;\n@%p2 st.global.u32 [7], %r6;\n"
    "red.global.add.u32 [%d1], 1;\nret;\n}\n";

typedef struct launch {
    uint32_t memory[16 + TOTAL];
    pthread_t thread;
    _Atomic unsigned questions; /* that other threads have asked */
    unsigned patience;          /* such questions until the launch is stopped; 0: it is not */
    unsigned cores;
    uint32_t times, wrong; /* the block that fails */
    cx_ptx_fault fault;
    cx_ptx_outcome outcome;
} launch;

static cx_ptx_module *module;

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    launch *run = self;

    *out_range = (cx_ptx_range){ADDRESS, sizeof run->memory, (unsigned char *)run->memory, false,
                                NULL, NULL};
    return address - ADDRESS < sizeof run->memory;
}

static bool stopped(void *self)
{
    launch *run = self;

    if (run->patience == 0)
        return false;
    if (!pthread_equal(run->thread, pthread_self()))
        atomic_fetch_add(&run->questions, 1);
    return atomic_load(&run->questions) >= run->patience;
}

static void begin(void)
{
    cx_ptx_error error = {0};

    ck_assert_int_eq(cx_ptx_load(counting, strlen(counting), &module, &error), CX_PTX_SUCCESS);
}

static void end(void)
{
    cx_ptx_unload(module);
}

static launch *new_launch(unsigned cores)
{
    launch *run = calloc(1, sizeof *run);

    ck_assert_ptr_nonnull(run);
    run->cores = cores;
    run->times = TIMES;
    run->wrong = UINT32_MAX;
    return run;
}

static void *start(void *argument)
{
    launch *run = argument;
    const struct {
        uint64_t out;
        uint32_t times, wrong;
    } parameters = {ADDRESS, run->times, run->wrong};
    const cx_ptx_environment environment = {
        .find = find, .stopped = stopped, .self = run, .cores = run->cores};
    const cx_ptx_launch grid = {
        .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .parameters = &parameters};

    run->thread = pthread_self();
    run->outcome =
        cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &grid, &environment, &run->fault);
    return NULL;
}

static void assert_complete(const launch *run)
{
    ck_assert_int_eq(run->outcome, CX_PTX_DONE);
    ck_assert_uint_eq(run->memory[0], TOTAL);
    for (uint32_t i = 0; i < TOTAL; i++)
        ck_assert_uint_eq(run->memory[16 + i], run->times);
}

START_TEST(each_thread_runs_once_whatever_the_number_of_cores)
{
    static const unsigned cores[] = {0, 1, 2, 3, 8, 64};
    launch *run = new_launch(cores[_i]);

    start(run);
    assert_complete(run);
    free(run);
}
END_TEST

START_TEST(launches_at_the_same_time_share_the_cores)
{
    launch *runs[4];
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        runs[i] = new_launch(4);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, start, runs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_complete(runs[i]);
        free(runs[i]);
    }
}
END_TEST

START_TEST(a_block_that_fails_ends_the_others)
{
    launch *run = new_launch(4);

    run->wrong = 300;
    start(run);
    ck_assert_int_eq(run->outcome, CX_PTX_MISALIGNED_ADDRESS);
    ck_assert_uint_eq(run->fault.block[0], 300);
    ck_assert_uint_eq(run->fault.address, 7);
    ck_assert_uint_lt(run->memory[0], TOTAL);
    free(run);
}
END_TEST

/* It is stopped only if other threads help. */
START_TEST(a_launch_that_never_ends_is_helped_and_stopped)
{
    launch *run = new_launch(4);

    run->times = UINT32_MAX;
    run->patience = 20;
    start(run);
    ck_assert_int_eq(run->outcome, CX_PTX_STOPPED);
    ck_assert_uint_eq(run->memory[0], 0);
    free(run);
}
END_TEST

static Suite *cores_suite(void)
{
    Suite *suite = suite_create("cores");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_loop_test(all, each_thread_runs_once_whatever_the_number_of_cores, 0, 6);
    tcase_add_test(all, launches_at_the_same_time_share_the_cores);
    tcase_add_test(all, a_block_that_fails_ends_the_others);
    tcase_add_test(all, a_launch_that_never_ends_is_helped_and_stopped);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(cores_suite);
