/* The schedules that CTXRT_EMU_SCHEDULE chooses; each test has a process of its own. */
#include "work_fixture.h"

#include "emu/base/state.h"
#include <ctxrt/status.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES ((size_t)256)

START_TEST(lazy_work_runs_when_something_waits_for_it_and_not_before)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    void *pinned;

    ck_success(cx_emu_call_mem_alloc_host(&pinned, BYTES));
    memset(pinned, 0, BYTES);
    ck_success(cx_emu_call_memset_d8_async(memory, 1, BYTES, first));
    ck_success(cx_emu_call_memcpy_dtoh_async(pinned, memory, BYTES, first));
    journal_put(&journal, first, 'a');
    journal_put(&journal, second, 'b');
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_journal(&journal, "b");
    ck_assert_int_eq(*(unsigned char *)pinned, 0);
    ck_success(cx_emu_call_stream_synchronize(first));
    ck_journal(&journal, "ba");
    ck_assert_int_eq(*(unsigned char *)pinned, 1);
}
END_TEST

START_TEST(polling_makes_lazy_and_random_work_run)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUevent event = make_event();
    CUstream stream = make_stream(0);

    for (char letter = 'a'; letter < 'f'; letter++)
        journal_put(&journal, stream, letter);
    ck_success(cx_emu_call_event_record(event, stream));
    while (cx_emu_call_event_query(event) == CXU_NOT_READY)
        ;
    ck_journal(&journal, "abcde");
    journal_put(&journal, NULL, 'f');
    while (cx_emu_call_stream_query(NULL) == CXU_NOT_READY)
        ;
    ck_journal(&journal, "abcdef");
}
END_TEST

/* T12, C3: the end of a context, and of memory, waits for work that nobody else waited for. */
START_TEST(the_end_of_things_waits_for_their_work)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    CUcontext other;

    journal_put(&journal, stream, 'a');
    ck_success(cx_emu_call_memset_d8_async(memory, 1, BYTES, stream));
    ck_success(cx_emu_call_mem_free(memory));
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    stream = make_stream(0);
    journal_put(&journal, stream, 'b');
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_journal(&journal, "ab");
}
END_TEST

static void run_three_streams(stream_journal *journal)
{
    CUstream streams[3];

    for (int i = 0; i < 3; i++)
        streams[i] = make_stream(CXU_STREAM_NON_BLOCKING);
    for (char letter = 'a'; letter <= 'r'; letter++)
        journal_put(journal, streams[letter % 3], letter);
    ck_success(cx_emu_call_ctx_synchronize());
}

/* Every letter once, and those of one stream in their order. */
static void ck_legal(const stream_journal *journal)
{
    char last[3] = {0};

    ck_assert_int_eq(journal->length, 'r' - 'a' + 1);
    for (int i = 0; i < journal->length; i++) {
        char letter = journal->letters[i];

        ck_assert_int_gt(letter, last[letter % 3]);
        last[letter % 3] = letter;
    }
}

/* What random:7 gives; any change of the generator or of the choice shows here. */
START_TEST(a_random_order_is_legal_and_comes_from_the_seed)
{
    static stream_journal first = JOURNAL_EMPTY, second = JOURNAL_EMPTY;

    run_three_streams(&first);
    run_three_streams(&second);
    ck_legal(&first);
    ck_legal(&second);
    ck_assert_str_ne(first.letters, "abcdefghijklmnopqr");
    ck_assert_str_ne(first.letters, second.letters);
    ck_assert_str_eq(first.letters, "abcdfeigjmlphokrnq");
}
END_TEST

static char logged[256];

static void keep_line(ctxrt_log_level level, const char *line, void *unused)
{
    (void)unused;
    if (level == CTXRT_LOG_ERROR)
        strncpy(logged, line, sizeof logged - 1);
}

START_TEST(a_malformed_schedule_keeps_the_driver_from_starting)
{
    static const char *const malformed[] = {
        "random:x",           "random:", "random",       "random:-1",
        "random:99999999999", "Lazy",    "threads,lazy", "0"};
    cx_emu_config config;
    const char *reason = "";

    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", malformed[_i], 1), 0);
    ck_assert_int_eq(ctxrt_log_set(keep_line, NULL, CTXRT_LOG_ERROR), CTXRT_SUCCESS);
    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_ptr_nonnull(strstr(reason, "CTXRT_EMU_SCHEDULE is none of"));
    ck_result(cx_emu_call_init(0), INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(logged, "CTXRT_EMU_SCHEDULE"));
    ck_result(cx_emu_call_ctx_synchronize(), NOT_INITIALIZED);

    /* The same where the configuration did not come from the environment. */
    config = (cx_emu_config){.gpus = 1, .gpu_memory_bytes = CX_EMU_MEMORY_GRANULARITY};
    ck_assert(cx_emu_configure(&config));
    ck_result(cx_emu_call_init(0), INVALID_VALUE);
    ck_assert_int_eq(unsetenv("CTXRT_EMU_SCHEDULE"), 0);
    ck_success(cx_emu_call_init(0));
}
END_TEST

START_TEST(the_schedule_may_change_while_there_is_no_context)
{
    cx_emu_config config = *cx_emu_configuration();
    stream_journal journal = JOURNAL_EMPTY;

    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "threads", 1), 0);
    ck_assert(cx_emu_configure(&config));
    journal_put(&journal, NULL, 'a');
    ck_journal(&journal, "");
    ck_success(cx_emu_call_ctx_destroy(work_context));
    ck_journal(&journal, "a");
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_ctx_create_v4(&work_context, NULL, 0, 0));
    journal_put(&journal, NULL, 'b');
    while (journal_length(&journal) < 2)
        sched_yield();
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "hurried", 1), 0);
    ck_success(cx_emu_call_ctx_destroy(work_context));
    ck_assert(!cx_emu_configure(&config));
    ck_success(cx_emu_call_ctx_create_v4(&work_context, NULL, 0, 0));
}
END_TEST

static void choose(const char *schedule)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    work_setup();
}

/* ---- idle workers ---- */

#ifndef __SANITIZE_THREAD__ /* which has a thread of its own that outlives the last one */
static const char *const every_schedule[] = {"threads", "lazy", "random:3"};

/* Gives a stream work that runs on threads of the driver: not on that which submits it. */
static CUstream submit(stream_journal *journal)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    journal_put(journal, stream, 'a');
    journal_put(journal, stream, 'b');
    return stream;
}

/* What the test program has in memory is not what is searched for leaks. */
static void end_at_once(void)
{
    _exit(0);
}

/* In a process of its own: the last thread that leaves ends that. */
static void leave_with_work(const char *schedule)
{
    static stream_journal journal = JOURNAL_EMPTY;

    ck_assert_int_eq(atexit(end_at_once), 0);
    choose(schedule);
    (void)submit(&journal);
    pthread_exit(NULL);
}

static void check_ends_well(void (*run)(const char *schedule), const char *schedule)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        run(schedule);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(a_process_whose_main_thread_leaves_ends)
{
    check_ends_well(leave_with_work, every_schedule[_i]);
}
END_TEST

static int count_threads(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/task");

    ck_assert_ptr_nonnull(all);
    for (const struct dirent *one = readdir(all); one; one = readdir(all))
        count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

static void *do_nothing(void *unused)
{
    return unused;
}

/* The main thread has left, or will. */
static void *work_now_and_then(void *schedule)
{
    stream_journal journal = JOURNAL_EMPTY;
    pthread_t any;
    int before;

    ck_assert_int_eq(pthread_create(&any, NULL, do_nothing, NULL), 0);
    ck_assert_int_eq(pthread_join(any, NULL), 0);
    before = count_threads(); /* a sanitizer's own thread has begun with the first one */
    choose(schedule);
    ck_success(cx_emu_call_stream_synchronize(submit(&journal)));
    ck_journal(&journal, "ab");
    while (count_threads() > before)
        sched_yield();
    ck_success(cx_emu_call_stream_synchronize(submit(&journal)));
    ck_journal(&journal, "abab");
    while (count_threads() > before)
        sched_yield();
    _exit(0);
}

static void leave_another_at_work(const char *schedule)
{
    pthread_t other;

    ck_assert_int_eq(
        pthread_create(&other, NULL, work_now_and_then, (void *)(uintptr_t)schedule), 0);
    pthread_exit(NULL);
}

START_TEST(work_is_done_when_all_workers_had_left)
{
    check_ends_well(leave_another_at_work, every_schedule[_i]);
}
END_TEST
#endif

static void lazy(void)
{
    choose("lazy");
}

static void random_order(void)
{
    choose("random:7");
}

static TCase *case_of(Suite *suite, const char *name, void (*setup)(void))
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, setup, work_teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static Suite *schedule_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = case_of(suite, "lazy", lazy);

    tcase_add_test(tcase, lazy_work_runs_when_something_waits_for_it_and_not_before);
    tcase_add_test(tcase, polling_makes_lazy_and_random_work_run);
    tcase_add_test(tcase, the_end_of_things_waits_for_their_work);
    tcase = case_of(suite, "random", random_order);
    tcase_add_test(tcase, a_random_order_is_legal_and_comes_from_the_seed);
    tcase_add_test(tcase, polling_makes_lazy_and_random_work_run);
    tcase_add_test(tcase, the_end_of_things_waits_for_their_work);
    tcase_add_test(case_of(suite, "change", lazy),
                   the_schedule_may_change_while_there_is_no_context);
    tcase = tcase_create("idle");
    tcase_set_timeout(tcase, 60);
#ifndef __SANITIZE_THREAD__
    tcase_add_loop_test(tcase, a_process_whose_main_thread_leaves_ends, 0, 3);
    tcase_add_loop_test(tcase, work_is_done_when_all_workers_had_left, 0, 3);
#endif
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("malformed");
    tcase_add_loop_test(tcase, a_malformed_schedule_keeps_the_driver_from_starting, 0, 8);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(schedule_suite);
