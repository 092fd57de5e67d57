/*
 * Forks: before the first call, after it, after a shutdown, while other threads are in calls, and
 * from where ctxrt calls the user. A child gets FORKED from every call and ends quietly; the parent
 * goes on.
 */
#include "every_call.h"
#include "gate.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static every_object objects;

static void start(void)
{
    cx_fixture_start();
    ck_assert(every_object_make(&objects));
}

static void end(void)
{
    ck_assert(every_object_end(&objects));
    cx_fixture_end();
}

/* What a child can ask with where the parent has nothing: none of it is looked at. */
static void have_no_objects(void)
{
    objects = (every_object){.pages = &objects, .scope = {.serial = 1, .depth = 1}};
}

static int exit_status_of(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A child that only looks. In it nothing of Check may be used, whose locks and files are the
 * parent's. */
static int look_in_a_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(every_call_wrong(&objects, CTXRT_ERROR_FORKED, CTXRT_ERROR_FORKED) == 0 ? 0 : 1);
    return exit_status_of(child);
}

/* The parent's objects and stack do what they did before. */
static void check_parent(void)
{
    char bytes[8] = "parent", back[8] = "";
    ctxrt_memory_info info;
    cx_assert_ok(ctxrt_memory_describe(objects.memory, &info));
    cx_assert_ok(ctxrt_copy(info.pointer, bytes, sizeof bytes, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_copy(back, info.pointer, sizeof back, CTXRT_COPY_ANY));
    ck_assert_str_eq(back, bytes);
    cx_assert_ok(ctxrt_event_record(objects.event, objects.stream));
    cx_assert_ok(ctxrt_event_synchronize(objects.event));
}

/* A thread can hold one of ThreadSanitizer's own locks (traceAllocator's, the stack depot's of gcc
 * 12) while another one forks: the child then waits for it forever. */
static void skip_where_a_child_may_hang(void)
{
#ifdef __SANITIZE_THREAD__
    cx_fixture_skip("ThreadSanitizer's own locks may be held at the fork");
#endif
}

/* ---- before the first call ---- */

static int live_a_whole_life(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 2;
    return ctxrt_init(&options) == CTXRT_SUCCESS && every_object_make(&objects) &&
           ctxrt_fill(objects.pointer, 1, 64) == CTXRT_SUCCESS &&
           ctxrt_stream_synchronize(objects.stream) == CTXRT_SUCCESS &&
           every_object_end(&objects) && ctxrt_shutdown() == CTXRT_SUCCESS;
}

START_TEST(a_child_of_a_process_that_made_no_call_works_and_so_does_its_parent)
{
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(live_a_whole_life() ? 0 : 1);
        ck_assert_int_eq(exit_status_of(child), 0);
    }
    ck_assert(live_a_whole_life());
}
END_TEST

/* ---- after it ---- */

START_TEST(every_call_in_a_child_gives_forked_and_the_parent_goes_on)
{
    start();
    ck_assert_int_eq(look_in_a_child(), 0);
    check_parent();
    end();
}
END_TEST

START_TEST(a_child_of_a_process_that_shut_down_gets_forked_too)
{
    start();
    end();
    ck_assert_int_eq(look_in_a_child(), 0);
    ck_assert(live_a_whole_life());
}
END_TEST

START_TEST(a_child_of_a_child_gets_forked_too)
{
    start();
    pid_t child = fork();
    if (child == 0)
        _exit(look_in_a_child());
    ck_assert_int_eq(exit_status_of(child), 0);
    check_parent();
    end();
}
END_TEST

static void *look_on_a_thread(void *out_wrong)
{
    *(int *)out_wrong = every_call_wrong(&objects, CTXRT_ERROR_FORKED, CTXRT_ERROR_FORKED);
    return NULL;
}

START_TEST(a_thread_of_the_child_gets_forked_and_its_end_is_quiet)
{
    start();
    pid_t child = fork();
    if (child == 0) {
        int wrong = 1;
        pthread_t thread;
        pthread_create(&thread, NULL, look_on_a_thread, &wrong);
        pthread_join(thread, NULL);
        _exit(wrong == 0 ? 0 : 1);
    }
    ck_assert_int_eq(exit_status_of(child), 0);
    end();
}
END_TEST

/* ---- how the child ends ---- */

static void look_again(void)
{
    if (every_call_wrong(&objects, CTXRT_ERROR_FORKED, CTXRT_ERROR_FORKED) != 0)
        _exit(3);
}

static void exit_by_exit(void)
{
    exit(0);
}

/* TSan has a thread of its own that outlives the last one; ASan takes for a leak what Check has on
 * the main thread's stack, which is gone then. */
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
#define WITH_THREAD_EXIT
static void exit_by_thread_exit(void)
{
    pthread_exit(NULL);
}
#endif

static void exit_by_quick_exit(void)
{
    at_quick_exit(look_again);
    quick_exit(0);
}

/* What the child writes to stderr; its status in *out_status. */
static const char *words_of_a_child(void (*leave)(void), int *out_status)
{
    static char words[4096];
    size_t length = 0;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        atexit(look_again);
        leave();
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && length < sizeof words - 1; length += got > 0 ? (size_t)got : 0)
        got = read(ends[0], words + length, sizeof words - 1 - length);
    close(ends[0]);
    *out_status = exit_status_of(child);
    return words;
}

static void (*const ways[])(void) = {
    exit_by_exit,
    exit_by_quick_exit,
#ifdef WITH_THREAD_EXIT
    exit_by_thread_exit,
#endif
};
enum { WAYS = sizeof ways / sizeof ways[0] };

START_TEST(the_child_s_end_is_quiet_and_its_exit_handlers_get_forked)
{
    int status;
    start();
    const char *words = words_of_a_child(ways[_i], &status);
    ck_assert_msg(status == 0 && words[0] == '\0', "%d: %s", status, words);
    check_parent();
    end();
}
END_TEST

/* ---- another program ---- */

static char *program_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/runtime/ending_program", getenv("top_builddir"));
    return path;
}

START_TEST(a_child_that_runs_another_program_can_use_ctxrt_there)
{
    start();
    pid_t child = fork();
    if (child == 0) {
        execl(program_path(), "ending_program", "handler-of-after", (char *)NULL);
        _exit(9);
    }
    ck_assert_int_eq(exit_status_of(child), 0);
    check_parent();
    end();
}
END_TEST

START_TEST(posix_spawn_and_vfork_leave_the_parent_as_it_is)
{
    char name[] = "ending_program", way[] = "handler-of-after";
    char *const arguments[] = {name, way, NULL};
    pid_t child;
    start();
    ck_assert_int_eq(posix_spawn(&child, program_path(), NULL, NULL, arguments, environ), 0);
    ck_assert_int_eq(exit_status_of(child), 0);
    check_parent();
    const char *path = program_path();
    child = vfork();
    if (child == 0) {
        execv(path, arguments);
        _exit(9);
    }
    ck_assert_int_eq(exit_status_of(child), 0);
    check_parent();
    end();
}
END_TEST

/* ---- while other threads are in calls ---- */

enum { WORKERS = 4, FORKS = 60 };
static atomic_bool stop;
static atomic_int failures;
static atomic_long rounds;

static bool work_once(int number, long round)
{
    ctxrt_scope scope = {0};
    ctxrt_memory *memory;
    ctxrt_stream *stream;
    ctxrt_context *context;
    FILE *file;
    ctxrt_device device = number % 2 != 0 ? CTXRT_CUDA(number) : CTXRT_CPU(0);
    bool well =
        ctxrt_scope_enter(device, &scope) == CTXRT_SUCCESS &&
        ctxrt_stream_create(0, 0, &stream) == CTXRT_SUCCESS &&
        ctxrt_memory_alloc(1 << 14, &memory) == CTXRT_SUCCESS &&
        ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, 1 << 14, stream) == CTXRT_SUCCESS &&
        ctxrt_stream_synchronize(stream) == CTXRT_SUCCESS &&
        ctxrt_memory_release(memory) == CTXRT_SUCCESS &&
        ctxrt_stream_destroy(stream) == CTXRT_SUCCESS && ctxrt_scope_leave(&scope) == CTXRT_SUCCESS;
    if (well && round % 4 == 0)
        well = ctxrt_context_create(device, 0, &context) == CTXRT_SUCCESS &&
               ctxrt_context_destroy(context) == CTXRT_SUCCESS;
    if (well && round % 16 == 0) {
        file = fopen("/dev/null", "w");
        well = ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_JSON) == CTXRT_SUCCESS;
        fclose(file);
    }
    return well && ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING) == CTXRT_SUCCESS;
}

static void *work(void *argument)
{
    const int number = *(const int *)argument;
    for (long round = 0; !atomic_load(&stop); round++) {
        if (!work_once(number, round))
            atomic_fetch_add(&failures, 1);
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

/* Each fork finds the threads further on. */
static void wait_for_work(void)
{
    long before = atomic_load(&rounds);
    while (atomic_load(&rounds) < before + WORKERS)
        sched_yield();
}

START_TEST(children_are_well_whatever_other_threads_were_doing)
{
    pthread_t threads[WORKERS];
    int numbers[WORKERS], wrong = 0;
    skip_where_a_child_may_hang();
    start();
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < FORKS; i++) {
        wait_for_work();
        wrong += look_in_a_child() != 0;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(atomic_load(&failures), 0);
    check_parent();
    end();
}
END_TEST

static void *set_the_log(void *unused)
{
    while (!atomic_load(&stop))
        if (ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING) != CTXRT_SUCCESS)
            atomic_fetch_add(&failures, 1);
    return unused;
}

START_TEST(the_log_is_free_in_the_child_whoever_held_it)
{
    enum { TIMES = 200 };
    pthread_t threads[2];
    int wrong = 0;
    skip_where_a_child_may_hang();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, set_the_log, NULL);
    for (int i = 0; i < TIMES; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING) == CTXRT_SUCCESS ? 0 : 1);
        wrong += exit_status_of(child) != 0;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(atomic_load(&failures), 0);
}
END_TEST

static void *start_and_stop(void *unused)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    for (int i = 0; !atomic_load(&stop); i++) {
        options.emulated_devices = 1 + i % 3;
        if (ctxrt_init(&options) != CTXRT_SUCCESS || ctxrt_shutdown() != CTXRT_SUCCESS)
            atomic_fetch_add(&failures, 1);
        atomic_fetch_add(&rounds, 1);
    }
    return unused;
}

START_TEST(a_fork_in_the_middle_of_a_start_or_a_shutdown_leaves_the_child_well)
{
    pthread_t thread;
    int wrong = 0;
    skip_where_a_child_may_hang();
    have_no_objects();
    pthread_create(&thread, NULL, start_and_stop, NULL);
    wait_for_work();
    for (int i = 0; i < FORKS; i++) {
        wait_for_work();
        wrong += look_in_a_child() != 0;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(atomic_load(&failures), 0);
}
END_TEST

/* ---- from where ctxrt calls the user ---- */

static int seen_in_child = -1;

/* In the child the call that called this goes on, and fails or succeeds; what matters is that it
 * returns. */
static bool fork_here(void)
{
    pid_t child = fork();
    if (child != 0)
        seen_in_child = exit_status_of(child);
    return child == 0;
}

static void leave_child(void)
{
    _exit(every_call_wrong(&objects, CTXRT_ERROR_FORKED, CTXRT_ERROR_FORKED) == 0 ? 0 : 1);
}

static void fork_in_host_function(void *unused)
{
    (void)unused;
    if (fork_here())
        leave_child();
}

START_TEST(a_host_function_may_fork)
{
    start();
    cx_assert_ok(ctxrt_stream_add_host_function(objects.stream, fork_in_host_function, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(objects.stream));
    ck_assert_int_eq(seen_in_child, 0);
    check_parent();
    end();
}
END_TEST

static bool in_child;

static void fork_in_log(ctxrt_log_level level, const char *line, void *unused)
{
    (void)level;
    (void)line;
    (void)unused;
    if (seen_in_child < 0 && !in_child)
        in_child = fork_here();
}

static ctxrt_status log_something(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.libcuda = "/no/such/libcuda.so.1";
    return ctxrt_init(&options);
}

START_TEST(a_log_callback_may_fork_under_the_lock_of_the_first_start)
{
    have_no_objects();
    cx_assert_ok(ctxrt_log_set(fork_in_log, NULL, CTXRT_LOG_INFO));
    ctxrt_status status = log_something();
    if (in_child) {
        if (status != CTXRT_ERROR_FORKED)
            _exit(4);
        leave_child();
    }
    ck_assert_int_eq(status, CTXRT_SUCCESS);
    ck_assert_int_eq(seen_in_child, 0);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

static ctxrt_status fork_in_create(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device;
    *out_handle = user_data;
    in_child = fork_here();
    return CTXRT_SUCCESS;
}

static void end_nothing(void *handle, void *user_data)
{
    (void)handle;
    (void)user_data;
}

START_TEST(the_maker_of_an_operator_library_s_handle_may_fork_under_the_lock_of_handles)
{
    void *handle;
    start();
    cx_assert_ok(ctxrt_handle_register("forker", fork_in_create, end_nothing, &handle));
    ctxrt_status status = ctxrt_handle_get(CTXRT_CUDA(0), "forker", &handle);
    if (in_child)
        leave_child();
    ck_assert_int_eq(status, CTXRT_SUCCESS);
    ck_assert_int_eq(seen_in_child, 0);
    check_parent();
    end();
}
END_TEST

static ssize_t fork_in_write(void *unused, const char *bytes, size_t count)
{
    (void)unused;
    (void)bytes;
    if (seen_in_child < 0 && !in_child)
        in_child = fork_here();
    return (ssize_t)count;
}

START_TEST(the_file_of_a_snapshot_may_fork)
{
    start();
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = fork_in_write});
    setvbuf(file, NULL, _IONBF, 0);
    ctxrt_status status = ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT);
    if (in_child)
        leave_child();
    cx_assert_status(status, CTXRT_SUCCESS);
    fclose(file);
    ck_assert_int_eq(seen_in_child, 0);
    check_parent();
    end();
}
END_TEST

static void fork_in_deleter(void *pointer, void *user_data)
{
    (void)pointer;
    (void)user_data;
    in_child = fork_here();
}

START_TEST(a_deleter_may_fork)
{
    ctxrt_memory *memory;
    static char bytes[64];
    start();
    cx_assert_ok(
        ctxrt_memory_wrap(bytes, sizeof bytes, CTXRT_CPU(0), fork_in_deleter, NULL, &memory));
    ctxrt_status status = ctxrt_memory_release(memory);
    if (in_child)
        leave_child();
    ck_assert_int_eq(status, CTXRT_SUCCESS);
    ck_assert_int_eq(seen_in_child, 0);
    check_parent();
    end();
}
END_TEST

static Suite *ending_fork_suite(void)
{
    Suite *suite = suite_create("fork");
    TCase *tcase = tcase_create("fork");
    tcase_add_test(tcase, a_child_of_a_process_that_made_no_call_works_and_so_does_its_parent);
    tcase_add_test(tcase, every_call_in_a_child_gives_forked_and_the_parent_goes_on);
    tcase_add_test(tcase, a_child_of_a_process_that_shut_down_gets_forked_too);
    tcase_add_test(tcase, a_child_of_a_child_gets_forked_too);
    tcase_add_test(tcase, a_thread_of_the_child_gets_forked_and_its_end_is_quiet);
    tcase_add_loop_test(tcase, the_child_s_end_is_quiet_and_its_exit_handlers_get_forked, 0, WAYS);
    tcase_add_test(tcase, a_child_that_runs_another_program_can_use_ctxrt_there);
    tcase_add_test(tcase, posix_spawn_and_vfork_leave_the_parent_as_it_is);
    tcase_add_test(tcase, children_are_well_whatever_other_threads_were_doing);
    tcase_add_test(tcase, the_log_is_free_in_the_child_whoever_held_it);
    tcase_add_test(tcase, a_fork_in_the_middle_of_a_start_or_a_shutdown_leaves_the_child_well);
    tcase_add_test(tcase, a_host_function_may_fork);
    tcase_add_test(tcase, a_log_callback_may_fork_under_the_lock_of_the_first_start);
    tcase_add_test(tcase,
                   the_maker_of_an_operator_library_s_handle_may_fork_under_the_lock_of_handles);
    tcase_add_test(tcase, the_file_of_a_snapshot_may_fork);
    tcase_add_test(tcase, a_deleter_may_fork);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ending_fork_suite);
