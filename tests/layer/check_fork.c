/* Forks beside threads that work, under the layers check, count and trace, one by one and stacked,
 * put before the embedded driver starts and after it. */
#include "driver/work_timestamps.h"
#include "emu/emu.h"
#include "layer/check/check.h"
#include "layer/count/count.h"
#include "layer/trace/format.h"
#include "layer/trace/trace.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHECKED = 1, COUNTED = 2, TRACED = 4, EVENTS = 8, LATER = 16, SETTINGS = 32 };
enum { WORKERS = 3, FORKS = 24, FILLS = 50 };

static cx_driver_table bare, table;
static char folder[64];

#define GOOD(call) ck_assert_int_eq((int)(call), CXU_SUCCESS)

/* ---- the setting ---- */

/* They are a chain behind one table. */
static void put_layers(int setting)
{
    table = bare;
    if (setting & CHECKED)
        ck_assert(cx_check_put(&bare, CX_CHECK_IN_RUNTIME, &table));
    if (setting & TRACED)
        ck_assert(cx_trace_put(&bare, (setting & EVENTS) == 0, &table));
    if (setting & COUNTED)
        ck_assert(cx_count_put(&bare, &table));
}

static void begin(int setting)
{
    const cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = (size_t)64 << 20, .driver_version = 13000};
    strcpy(folder, "/tmp/check-fork.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("CTXRT_TRACE_FOLDER", folder, 1), 0);
    ck_assert_int_eq(setenv("CTXRT_REPORT_FOLDER", folder, 1), 0);
    ck_assert_int_eq(setenv("CTXRT_TRACE_EVENTS", "1", 1), 0);
    ck_assert_int_eq(setenv("CTXRT_LOG", "error", 1), 0); /* check warns of calls in a child */
    ck_assert(cx_emu_configure(&config));
    bare = *cx_emu_driver();
    if (setting & LATER)
        GOOD(bare.init(0));
    put_layers(setting);
    if ((setting & LATER) == 0)
        GOOD(table.init(0));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* ---- work ---- */

static CUcontext context;
static atomic_long rounds;
static atomic_bool stop;

static void run_nothing(void *unused)
{
    (void)unused;
}

static void *work(void *unused)
{
    CUdeviceptr memory;
    CUstream stream;
    GOOD(table.ctx_set_current(context));
    GOOD(table.mem_alloc(&memory, 4096));
    GOOD(table.stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    while (!atomic_load(&stop)) {
        for (int i = 0; i < FILLS; i++)
            GOOD(table.memset_d8_async(memory, 1, 16, stream));
        GOOD(table.launch_host_func(stream, run_nothing, NULL));
        GOOD(table.stream_synchronize(stream));
        atomic_fetch_add(&rounds, 1);
    }
    GOOD(table.mem_free(memory));
    GOOD(table.stream_destroy(stream));
    return unused;
}

/* ---- children ---- */

static int status_of(pid_t child)
{
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child's calls are refused, and its own child's too. */
static int live_as_child(int generations)
{
    CUcontext current;
    int version;
    if (table.init(0) != CXU_NOT_INITIALIZED ||
        table.ctx_get_current(&current) != CXU_NOT_INITIALIZED ||
        table.driver_get_version(&version) != CXU_SUCCESS)
        return 1;
    if (generations == 1)
        return 0;
    pid_t child = fork();
    if (child == 0)
        _exit(live_as_child(generations - 1));
    return status_of(child);
}

static void skip_where_a_child_may_hang(void)
{
#ifdef __SANITIZE_THREAD__
    puts("# SKIP ThreadSanitizer's own locks may be held at the fork");
    fflush(stdout);
    exit(0);
#endif
}

/* Each fork finds the threads further on. */
static void wait_for_work(void)
{
    long before = atomic_load(&rounds);
    while (atomic_load(&rounds) < before + WORKERS)
        sched_yield();
}

START_TEST(children_of_a_process_whose_threads_work_are_well_under_each_stack_of_layers)
{
    pthread_t threads[WORKERS];
    int wrong = 0;
    if ((_i & EVENTS) != 0 && (_i & TRACED) == 0)
        return;
    skip_where_a_child_may_hang();
    begin(_i);
    GOOD(table.primary_retain(&context, 0));
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        wait_for_work();
        pid_t child = fork();
        if (child == 0)
            _exit(live_as_child(i % 8 == 0 ? 3 : 1));
        wrong += status_of(child) != 0;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(wrong, 0);
    GOOD(table.primary_release(0));
    end();
}
END_TEST

/* ---- a fork and a thread that records work ---- */

enum { MANY = 20 * (int)(CX_TRACE_CHUNK_BYTES / sizeof(cx_trace_work)) };

static cx_work_timestamps_watcher *record;
static atomic_bool records, forking;
static pthread_t forker;

static void note_fork(void)
{
    if (pthread_equal(pthread_self(), forker))
        atomic_store(&forking, true);
}

/* The driver calls it with its lock held. The fork begins meanwhile, and each full chunk makes the
 * thread take the lock of the chunks. */
static void record_much(const cx_work_timestamps *done)
{
    if (!atomic_exchange(&records, true)) {
        while (!atomic_load(&forking))
            sched_yield();
        for (int i = 0; i < MANY; i++)
            record(done);
    }
    record(done);
}

static void *fill_once(void *unused)
{
    CUdeviceptr memory;
    GOOD(table.ctx_set_current(context));
    GOOD(table.mem_alloc(&memory, 4096));
    GOOD(table.memset_d8_async(memory, 1, 16, CXU_STREAM_PER_THREAD));
    GOOD(table.stream_synchronize(CXU_STREAM_PER_THREAD));
    GOOD(table.mem_free(memory));
    return unused;
}

START_TEST(a_fork_waits_until_the_driver_has_recorded_the_times_of_work)
{
    pthread_t thread;
    skip_where_a_child_may_hang();
    begin(TRACED | (_i != 0 ? LATER : 0));
    GOOD(table.primary_retain(&context, 0));
    forker = pthread_self();
    ck_assert_int_eq(pthread_atfork(note_fork, NULL, NULL), 0);
    record = cx_work_timestamps_watched();
    cx_work_timestamps_watch(record_much);
    ck_assert_int_eq(pthread_create(&thread, NULL, fill_once, NULL), 0);
    while (!atomic_load(&records))
        sched_yield();
    pid_t child = fork();
    if (child == 0)
        _exit(live_as_child(1));
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_work_timestamps_watch(record);
    GOOD(table.primary_release(0));
    end();
}
END_TEST

static Suite *fork_suite(void)
{
    Suite *suite = suite_create("fork");
    TCase *tcase = tcase_create("layers");
    tcase_add_loop_test(
        tcase, children_of_a_process_whose_threads_work_are_well_under_each_stack_of_layers, 0,
        SETTINGS);
    tcase_add_loop_test(tcase, a_fork_waits_until_the_driver_has_recorded_the_times_of_work, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(fork_suite);
