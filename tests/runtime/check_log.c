/* The log: to whom its lines go, at which level, and what a callback may do. Nothing is printed
 * unasked. */
#include "base/log.h"
#include "gate.h"

#include <locale.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what a child process prints ---- */

typedef struct printed {
    char out[4096], errors[16384];
} printed;

static void read_all(int from, char *text, size_t capacity)
{
    size_t length = 0;
    ssize_t count;
    while (length + 1 < capacity && (count = read(from, text + length, capacity - 1 - length)) > 0)
        length += (size_t)count;
    text[length] = '\0';
    close(from);
}

/* Runs a function in a child, up to its exit handlers, with the environment's CTXRT_LOG as
 * given. */
static void run(void (*function)(void), const char *level, printed *print)
{
    int out[2], errors[2], status;
    ck_assert_int_eq(pipe(out), 0);
    ck_assert_int_eq(pipe(errors), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        dup2(errors[1], 2);
        close(out[0]);
        close(errors[0]);
        if (level != NULL)
            setenv("CTXRT_LOG", level, 1);
        function();
        exit(0);
    }
    close(out[1]);
    close(errors[1]);
    read_all(out[0], print->out, sizeof print->out);
    read_all(errors[0], print->errors, sizeof print->errors);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", print->errors);
}

static void log_at_every_level(void)
{
    cx_log(CTXRT_LOG_ERROR, "one %d", 1);
    cx_log(CTXRT_LOG_WARNING, "two");
    cx_log(CTXRT_LOG_INFO, "three");
    cx_log(CTXRT_LOG_DEBUG, "four");
    cx_log(CTXRT_LOG_OFF, "never");
}

START_TEST(the_environment_chooses_the_level_and_lines_go_to_standard_error)
{
    static const char *const expected[][2] = {
        {NULL, "ctxrt: error: one 1\nctxrt: warning: two\n"},
        {"off", ""},
        {"error", "ctxrt: error: one 1\n"},
        {"warning", "ctxrt: error: one 1\nctxrt: warning: two\n"},
        {"info", "ctxrt: error: one 1\nctxrt: warning: two\nctxrt: info: three\n"},
        {"debug",
         "ctxrt: error: one 1\nctxrt: warning: two\nctxrt: info: three\nctxrt: debug: four\n"},
        {"", "ctxrt: error: one 1\nctxrt: warning: two\n"},
        {"verbose", "ctxrt: error: one 1\nctxrt: warning: two\n"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        printed print;
        run(log_at_every_level, expected[i][0], &print);
        ck_assert_str_eq(print.errors, expected[i][1]);
        ck_assert_str_eq(print.out, "");
    }
}
END_TEST

/* ---- a callback ---- */

typedef struct catcher {
    int count;
    ctxrt_log_level level;
    char line[2048];
} catcher;

static void take_line(ctxrt_log_level level, const char *line, void *user_data)
{
    catcher *self = user_data;
    self->count++;
    self->level = level;
    snprintf(self->line, sizeof self->line, "%s", line);
}

START_TEST(a_callback_gets_the_lines_up_to_its_level_and_nobody_else_does)
{
    for (int level = CTXRT_LOG_OFF; level <= CTXRT_LOG_DEBUG; level++) {
        catcher self = {0};
        cx_assert_ok(ctxrt_log_set(take_line, &self, (ctxrt_log_level)level));
        log_at_every_level();
        ck_assert_int_eq(self.count, level);
        ck_assert_int_eq(self.level, level);
        ck_assert_int_eq(cx_log_enabled(CTXRT_LOG_INFO), level >= CTXRT_LOG_INFO);
    }
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF));
}
END_TEST

static void replace_and_go_back(void)
{
    catcher first = {0}, second = {0};
    if (ctxrt_log_set(take_line, &first, CTXRT_LOG_ERROR) != CTXRT_SUCCESS)
        exit(1);
    cx_log(CTXRT_LOG_ERROR, "to the first");
    if (ctxrt_log_set(take_line, &second, CTXRT_LOG_ERROR) != CTXRT_SUCCESS)
        exit(2);
    cx_log(CTXRT_LOG_ERROR, "to the second");
    if (ctxrt_log_set(take_line, NULL, (ctxrt_log_level)9) != CTXRT_ERROR_INVALID_ARGUMENT)
        exit(3);
    cx_log(CTXRT_LOG_ERROR, "to the second again");
    if (ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING) != CTXRT_SUCCESS)
        exit(4);
    cx_log(CTXRT_LOG_WARNING, "to standard error");
    exit(first.count != 1 || second.count != 2 || strcmp(second.line, "to the second again") != 0);
}

START_TEST(a_callback_can_be_replaced_and_null_goes_back_to_standard_error)
{
    printed print;
    run(replace_and_go_back, NULL, &print);
    ck_assert_str_eq(print.errors, "ctxrt: warning: to standard error\n");
    ck_assert_str_eq(print.out, "");
}
END_TEST

START_TEST(a_line_is_one_line_of_whole_characters_however_long_and_whatever_is_in_it)
{
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80"};
    catcher self = {0};
    ck_assert_msg(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "the locale C.UTF-8 is missing");
    cx_assert_ok(ctxrt_log_set(take_line, &self, CTXRT_LOG_ERROR));
    for (size_t c = 0; c < sizeof characters / sizeof characters[0]; c++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[3000] = "yyyy";
            text[shift] = '\0';
            while (strlen(text) < 2000)
                strcat(text, characters[c]);
            cx_log(CTXRT_LOG_ERROR, "%s", text);
            size_t length = strlen(self.line);
            ck_assert_msg(length > 1023 - strlen(characters[c]) && length <= 1023, "%zu bytes",
                          length);
            ck_assert_int_eq(strncmp(self.line, text, length), 0);
            ck_assert_int_ne((int)mbstowcs(NULL, self.line, 0), -1);
        }
    cx_log(CTXRT_LOG_ERROR, "a file\r\ncalled\nso");
    ck_assert_str_eq(self.line, "a file  called so");
    cx_log(CTXRT_LOG_ERROR, "%s", "\xc3"); /* short: not cut, and as it is */
    ck_assert_str_eq(self.line, "\xc3");
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF));
}
END_TEST

/* ---- many threads ---- */

#ifdef __SANITIZE_THREAD__
enum { CHANGES = 300 };
#else
enum { CHANGES = 1000 };
#endif
enum { THREADS = 2 };

typedef struct receiver {
    int generation;
    bool strict; /* wants errors only */
} receiver;

static receiver receivers[CHANGES];
static atomic_int generation, wrong, lines_seen;
static atomic_bool changing;

/* What every callback checks: that the data is its own, that it wanted the line, and that no later
 * one was there already when the line began. */
static void receive(const receiver *self, bool strict, ctxrt_log_level level, const char *line)
{
    int began = atoi(line);
    if (self->strict != strict || (strict && level != CTXRT_LOG_ERROR) || self->generation < began)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&lines_seen, 1);
}

static void receive_all(ctxrt_log_level level, const char *line, void *user_data)
{
    receive(user_data, false, level, line);
}

static void receive_errors(ctxrt_log_level level, const char *line, void *user_data)
{
    receive(user_data, true, level, line);
}

static void *log_lines_of(void *argument)
{
    ctxrt_log_level level = *(ctxrt_log_level *)argument;
    while (atomic_load(&changing))
        cx_log(level, "%d", atomic_load(&generation));
    return NULL;
}

START_TEST(while_threads_log_a_callback_is_replaced_whole)
{
    static ctxrt_log_level levels[THREADS] = {CTXRT_LOG_ERROR, CTXRT_LOG_WARNING};
    pthread_t threads[THREADS];
    atomic_store(&changing, true);
    receivers[0].strict = true;
    cx_assert_ok(ctxrt_log_set(receive_errors, &receivers[0], CTXRT_LOG_ERROR));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, log_lines_of, &levels[i]), 0);
    for (int i = 1; i < CHANGES; i++) {
        int before = atomic_load(&lines_seen);
        while (atomic_load(&lines_seen) == before) /* so that each receiver gets some */
            sched_yield();
        receivers[i] = (receiver){i, i % 2 == 0};
        if (ctxrt_log_set(i % 2 == 0 ? receive_errors : receive_all, &receivers[i],
                          i % 2 == 0 ? CTXRT_LOG_ERROR : CTXRT_LOG_DEBUG) != CTXRT_SUCCESS)
            atomic_fetch_add(&wrong, 1);
        atomic_store(&generation, i);
    }
    atomic_store(&changing, false);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF));
    ck_assert_msg(atomic_load(&wrong) == 0, "%d lines went wrong", atomic_load(&wrong));
}
END_TEST

/* ---- a callback that calls ctxrt ---- */

static int calls_made;

static void call_what_is_allowed(ctxrt_log_level level, const char *line, void *user_data)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const ctxrt_error *error = ctxrt_last_error();
    bool good = ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_JSON) == CTXRT_SUCCESS;
    good = good && ctxrt_snapshot_write(NULL, CTXRT_SNAPSHOT_JSON) == CTXRT_ERROR_NULL_POINTER;
    good = good && strstr(error->message, "file is NULL") != NULL;
    good = good && strcmp(ctxrt_status_name(error->status), "CTXRT_ERROR_NULL_POINTER") == 0;
    good = good && ctxrt_log_set(call_what_is_allowed, user_data, level) == CTXRT_SUCCESS;
    calls_made += good && line[0] != '\0';
    fclose(file);
    free(text);
}

START_TEST(a_callback_may_look_and_replace_itself_and_leaves_the_last_error_alone)
{
    ctxrt_device device;
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    char before[512];
    snprintf(before, sizeof before, "%s", ctxrt_last_error()->message);
    cx_assert_ok(ctxrt_log_set(call_what_is_allowed, NULL, CTXRT_LOG_WARNING));
    cx_log(CTXRT_LOG_WARNING, "from a call");
    ck_assert_int_eq(calls_made, 1);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_NO_DEVICE);
    ck_assert_str_eq(ctxrt_last_error()->message, before);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_fixture_end();
}
END_TEST

/* ---- nothing unasked ---- */

static void *leave_a_frame(void *argument)
{
    if (ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS)
        exit(9);
    return argument;
}

/* Mistakes of many kinds, and right things. */
static void make_mistakes(void)
{
    ctxrt_memory *memory, *none;
    ctxrt_device device;
    ctxrt_scope scope = {0};
    ctxrt_stream *stream;
    int count, as_expected = 0;
    setenv("CTXRT_LIBCUDA", "/no/such/libcuda.so.1", 1);
    as_expected += ctxrt_device_count(CTXRT_DEVICE_CUDA, &count) == CTXRT_SUCCESS && count == 0;
    as_expected += ctxrt_device_set(CTXRT_CUDA(0)) == CTXRT_ERROR_INVALID_DEVICE;
    as_expected += ctxrt_shutdown() == CTXRT_SUCCESS;
    cx_fixture_start();
    as_expected += ctxrt_device_get(&device) == CTXRT_ERROR_NO_DEVICE;
    as_expected += ctxrt_stack_pop() == CTXRT_ERROR_STACK_EMPTY;
    as_expected += ctxrt_device_set(CTXRT_CUDA(0)) == CTXRT_SUCCESS;
    as_expected += ctxrt_memory_alloc(64, &memory) == CTXRT_SUCCESS;
    as_expected += ctxrt_memory_alloc((size_t)1 << 40, &none) == CTXRT_ERROR_OUT_OF_MEMORY;
    as_expected += ctxrt_shutdown() == CTXRT_ERROR_IN_USE;
    as_expected += ctxrt_memory_release(memory) == CTXRT_SUCCESS;
    as_expected += ctxrt_memory_release(memory) == CTXRT_ERROR_INVALID_HANDLE;
    as_expected += ctxrt_stream_create(99, 0, &stream) == CTXRT_ERROR_INVALID_ARGUMENT;
    as_expected += ctxrt_scope_enter(CTXRT_CUDA(1), &scope) == CTXRT_SUCCESS;
    as_expected += ctxrt_stack_pop() == CTXRT_ERROR_NOT_PERMITTED;
    as_expected += ctxrt_device_push(CTXRT_CUDA(2)) == CTXRT_SUCCESS;
    as_expected += ctxrt_scope_leave(&scope) == CTXRT_ERROR_STACK_LEFTOVER;
    as_expected += ctxrt_stack_pop() == CTXRT_SUCCESS;
    as_expected += ctxrt_shutdown() == CTXRT_SUCCESS;
    if (as_expected != 18)
        exit(1);
}

START_TEST(failing_calls_print_nothing)
{
    printed print;
    run(make_mistakes, NULL, &print);
    ck_assert_str_eq(print.errors, "");
    ck_assert_str_eq(print.out, "");
    run(make_mistakes, "debug", &print);
    ck_assert_ptr_nonnull(strstr(print.errors, "ctxrt: info: no CUDA devices: "));
    ck_assert_str_eq(print.out, "");
}
END_TEST

static void leave_frames_in_a_thread(void)
{
    pthread_t thread;
    cx_fixture_start();
    if (pthread_create(&thread, NULL, leave_a_frame, NULL) != 0 || pthread_join(thread, NULL) != 0)
        exit(1);
    cx_fixture_end();
}

START_TEST(what_no_call_can_return_is_a_warning_unless_the_log_is_off)
{
    printed print;
    run(leave_frames_in_a_thread, NULL, &print);
    ck_assert_ptr_nonnull(strstr(print.errors, "ended with 1 frame(s) still pushed\n"));
    ck_assert_str_eq(print.out, "");
    run(leave_frames_in_a_thread, "off", &print);
    ck_assert_str_eq(print.errors, "");
}
END_TEST

static Suite *log_suite(void)
{
    Suite *suite = suite_create("log");
    TCase *stopped = tcase_create("stopped"), *running = tcase_create("running");
    /* First, where tests do not fork: the environment is read once in a process. */
    tcase_add_test(stopped, the_environment_chooses_the_level_and_lines_go_to_standard_error);
    tcase_add_test(stopped, failing_calls_print_nothing);
    tcase_add_test(stopped, what_no_call_can_return_is_a_warning_unless_the_log_is_off);
    tcase_add_test(stopped, a_callback_can_be_replaced_and_null_goes_back_to_standard_error);
    tcase_add_test(stopped, a_callback_gets_the_lines_up_to_its_level_and_nobody_else_does);
    tcase_add_test(stopped,
                   a_line_is_one_line_of_whole_characters_however_long_and_whatever_is_in_it);
    tcase_add_test(stopped, while_threads_log_a_callback_is_replaced_whole);
    tcase_add_checked_fixture(running, cx_fixture_start, NULL);
    tcase_add_test(running, a_callback_may_look_and_replace_itself_and_leaves_the_last_error_alone);
    suite_add_tcase(suite, stopped);
    suite_add_tcase(suite, running);
    return suite;
}

CX_TESTS_TOGETHER(log_suite);
