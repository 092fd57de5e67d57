/*
 * How a thread ends: with frames of every origin, with streams, memory and work in flight, from
 * destructors of its own, one after another ten thousand times, and the main thread before the
 * others.
 */
#include "calls.h"
#include "device/runtime.h"
#include "gate.h"
#include "log_lines.h"

#include "context/thread.h"
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
}

static void end(void)
{
    cx_fixture_end();
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}

static bool snapshot_has(const char *part)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT));
    fclose(file);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

static bool message_names(int number)
{
    char name[32];
    snprintf(name, sizeof name, "thread %d", number);
    return strstr(ctxrt_last_error()->message, name) != NULL;
}

/* ---- a thread that waits between its work and its end ---- */

typedef struct visitor {
    pthread_t thread;
    int number;          /* of the system */
    sem_t ready, go_on;
    void (*work)(struct visitor *self);
    ctxrt_context *context; /* what it works with, or made */
    ctxrt_stream *stream;
    ctxrt_memory *memory;
    ctxrt_detached_frame *detached;
} visitor;

static void *visit(void *argument)
{
    visitor *self = argument;
    self->number = (int)gettid();
    self->work(self);
    sem_post(&self->ready);
    sem_wait(&self->go_on);
    return NULL;
}

static void visitor_start(visitor *self)
{
    sem_init(&self->ready, 0, 0);
    sem_init(&self->go_on, 0, 0);
    ck_assert_int_eq(pthread_create(&self->thread, NULL, visit, self), 0);
    sem_wait(&self->ready);
}

static void visitor_end(visitor *self)
{
    sem_post(&self->go_on);
    ck_assert_int_eq(pthread_join(self->thread, NULL), 0);
}

/* ---- frames ---- */

static ctxrt_scope scope_of_the_dead;

static void leave_frames_of_every_origin(visitor *self)
{
    ctxrt_context *current;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_push(self->context));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(2), &scope_of_the_dead));
    cx_assert_ok(ctxrt_stack_attach(self->detached));
    CUcontext native;
    const cx_driver_table *driver = &cx_drivers[0].table;
    ck_assert_int_eq(driver->primary_retain(&native, 4), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_release(4), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_set_current(native), CXU_SUCCESS);
    cx_assert_ok(ctxrt_context_current(&current));
    ck_assert_uint_eq(ctxrt_stack_depth(), 6);
}

START_TEST(frames_of_every_origin_go_with_their_thread_and_the_log_counts_what_should_have_been_popped)
{
    visitor leaver = {.work = leave_frames_of_every_origin};
    char name[32], line[80];
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &leaver.context));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stack_detach(&leaver.detached));
    visitor_start(&leaver);
    snprintf(name, sizeof name, "thread %d \"", leaver.number);
    ck_assert(snapshot_has(name));
    cx_assert_error(ctxrt_context_destroy(leaver.context), CTXRT_ERROR_IN_USE);
    ck_assert_msg(message_names(leaver.number), "%s", ctxrt_last_error()->message);
    for (int i = 0; i < 3; i++)
        cx_assert_error(ctxrt_device_release(CTXRT_CUDA(i)), CTXRT_ERROR_IN_USE);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    visitor_end(&leaver);

    snprintf(line, sizeof line, "thread %d ended with 3 frame(s) still pushed", leaver.number);
    ck_assert_msg(log_lines_with(&lines, line) == 1, "%s", lines.text);
    ck_assert_int_eq(log_lines_with(&lines, "\n"), 1);
    ck_assert(!snapshot_has(name));
    cx_assert_error(ctxrt_scope_leave(&scope_of_the_dead), CTXRT_ERROR_WRONG_THREAD);
    cx_assert_ok(ctxrt_context_destroy(leaver.context));
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(i)));
    cx_assert_ok(ctxrt_device_release(CTXRT_CPU(0)));
}
END_TEST

static void leave_what_was_set(visitor *self)
{
    (void)self;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
}

START_TEST(a_device_that_was_set_needs_no_pop_at_the_thread_s_end)
{
    visitor leaver = {.work = leave_what_was_set};
    visitor_start(&leaver);
    visitor_end(&leaver);
    ck_assert_str_eq(lines.text, "");
}
END_TEST

static void *exit_in_a_scope(void *cleanly)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    pthread_cleanup_push((void (*)(void *))ctxrt_scope_cleanup, &scope);
    pthread_exit(NULL);
    pthread_cleanup_pop(cleanly != NULL);
    return NULL;
}

static void *exit_without_cleanup(void *unused)
{
    static ctxrt_scope scope;
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    pthread_exit(unused);
}

START_TEST(a_cleanup_handler_can_leave_the_scope_that_the_thread_exits_in)
{
    on_a_thread(exit_in_a_scope, &lines);
    ck_assert_str_eq(lines.text, "");
    on_a_thread(exit_without_cleanup, NULL);
    ck_assert_int_eq(log_lines_with(&lines, "ended with 1 frame(s) still pushed"), 1);
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
}
END_TEST

static void *work_and_count_from_here(void *argument)
{
    ctxrt_stream *stream;
    (void)argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_stream_current(&stream));
    calls_count_mine();
    return NULL;
}

START_TEST(a_thread_s_end_makes_no_driver_call)
{
    calls_install();
    on_a_thread(work_and_count_from_here, NULL);
    ck_assert_int_eq(calls_seen(0), 0);
    calls_count_mine();
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    ck_assert_int_gt(calls_seen(0), 0);
    calls_remove();
}
END_TEST

/* ---- streams ---- */

static gate barrier;
static atomic_int first_mark, second_mark;

static void leave_work_in_the_default_stream(visitor *self)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    self->stream = current_stream();
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &first_mark));
}

START_TEST(work_in_flight_goes_on_and_the_next_thread_s_work_comes_behind_it)
{
    visitor leaver = {.work = leave_work_in_the_default_stream};
    visitor_start(&leaver);
    visitor_end(&leaver);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ck_assert_ptr_eq(current_stream(), leaver.stream);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &second_mark));
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    ck_assert_int_eq(atomic_load(&first_mark) + atomic_load(&second_mark), 0);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&first_mark) + atomic_load(&second_mark), 2);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void leave_a_stream_in_a_frame(visitor *self)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    self->stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(self->stream));
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &first_mark));
}

START_TEST(a_stream_outlives_the_thread_that_made_it)
{
    visitor leaver = {.work = leave_a_stream_in_a_frame};
    visitor_start(&leaver);
    cx_assert_error(ctxrt_stream_destroy(leaver.stream), CTXRT_ERROR_IN_USE);
    ck_assert_msg(message_names(leaver.number), "%s", ctxrt_last_error()->message);
    visitor_end(&leaver);
    cx_assert_error(ctxrt_stream_query(leaver.stream), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(leaver.stream));
    ck_assert_int_eq(atomic_load(&first_mark), 1);
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(0)), CTXRT_ERROR_IN_USE);
    ck_assert_msg(!message_names(leaver.number), "%s", ctxrt_last_error()->message);
    cx_assert_ok(ctxrt_stream_destroy(leaver.stream));
}
END_TEST

/* ---- memory and detached frames ---- */

static void leave_memory(visitor *self)
{
    cx_assert_ok(ctxrt_stack_push(self->context));
    cx_assert_ok(ctxrt_memory_alloc(4096, &self->memory));
    cx_assert_ok(ctxrt_memory_record_stream(self->memory, NULL));
}

START_TEST(memory_outlives_the_thread_that_asked_for_it)
{
    visitor leaver = {.work = leave_memory};
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(2), 0, &leaver.context));
    visitor_start(&leaver);
    visitor_end(&leaver);
    cx_assert_error(ctxrt_context_destroy(leaver.context), CTXRT_ERROR_IN_USE);
    ck_assert_msg(strstr(ctxrt_last_error()->message, "memory") != NULL &&
                      !message_names(leaver.number),
                  "%s", ctxrt_last_error()->message);
    char bytes[16] = "still there", back[16];
    cx_assert_ok(ctxrt_stack_push(leaver.context));
    cx_assert_ok(
        ctxrt_copy(ctxrt_memory_pointer(leaver.memory), bytes, sizeof bytes, CTXRT_COPY_ANY));
    cx_assert_ok(
        ctxrt_copy(back, ctxrt_memory_pointer(leaver.memory), sizeof back, CTXRT_COPY_ANY));
    ck_assert_str_eq(back, bytes);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_memory_release(leaver.memory));
    cx_assert_ok(ctxrt_context_destroy(leaver.context));
}
END_TEST

static void leave_a_detached_frame(visitor *self)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    self->stream = current_stream();
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &first_mark));
    cx_assert_ok(ctxrt_stack_detach(&self->detached));
}

START_TEST(a_detached_frame_outlives_its_thread_with_the_work_in_its_default_stream)
{
    visitor leaver = {.work = leave_a_detached_frame};
    visitor_start(&leaver);
    visitor_end(&leaver);
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    ck_assert_msg(!message_names(leaver.number), "%s", ctxrt_last_error()->message);
    cx_assert_ok(ctxrt_stack_attach(leaver.detached));
    ck_assert_ptr_eq(current_stream(), leaver.stream);
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&first_mark), 1);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_str_eq(lines.text, "");
}
END_TEST

/* ---- destructors of the user's, which run before ours and after it ---- */

/* The driver's own destructor comes with a stack that has more entries than this. */
enum { DEEP = 12 };

typedef struct last_words {
    pthread_key_t key;
    int rounds;         /* to come */
    int calls;
    int mismatches;     /* of these */
    size_t last_depth;  /* frames that the first call found */
} last_words;

static last_words before_ours, between, after_ours;

/* Where the driver's stack has gone already the frames have not, and a resync drops them. */
static void get_in_step(last_words *self)
{
    ctxrt_device device;
    ctxrt_resync_report report;
    if (ctxrt_device_get(&device) != CTXRT_ERROR_STACK_MISMATCH)
        return;
    self->mismatches++;
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_POPPED);
}

static void speak(last_words *self)
{
    ctxrt_scope scope = {0};
    ctxrt_device device;
    ctxrt_memory *memory;
    if (self->calls++ == 0)
        self->last_depth = ctxrt_stack_depth();
    get_in_step(self);
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(3), &scope));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 3);
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 1, 64));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_scope_leave(&scope));
    if (--self->rounds > 0)
        pthread_setspecific(self->key, self);
}

static void destructor(void *argument)
{
    speak(argument);
}

static void *end_with_last_words(void *argument)
{
    const int *depth = argument;
    for (int i = 0; i < *depth; i++)
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i % 2)));
    pthread_setspecific(before_ours.key, &before_ours);
    pthread_setspecific(between.key, &between);
    pthread_setspecific(after_ours.key, &after_ours);
    return NULL;
}

static void *push_deep(void *unused)
{
    for (int i = 0; i < DEEP; i++)
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < DEEP; i++)
        cx_assert_ok(ctxrt_stack_pop());
    return unused;
}

static void *push_deep_at_the_driver(void *unused)
{
    CUcontext native;
    const cx_driver_table *driver = &cx_drivers[0].table;
    ck_assert_int_eq(driver->primary_retain(&native, 1), CXU_SUCCESS);
    for (int i = 0; i < DEEP; i++)
        ck_assert_int_eq(driver->ctx_push(native), CXU_SUCCESS);
    for (int i = 0; i < DEEP; i++)
        ck_assert_int_eq(driver->ctx_pop(NULL), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_release(1), CXU_SUCCESS);
    return unused;
}

/* glibc runs destructors in the order in which the keys were made: ours is made with the first
 * record, that of the embedded driver with the first deep stack. */
static void make_keys(bool driver_first)
{
    start();
    if (driver_first)
        on_a_thread(push_deep_at_the_driver, NULL);
    ck_assert_int_eq(pthread_key_create(&before_ours.key, destructor), 0);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(pthread_key_create(&between.key, destructor), 0);
    on_a_thread(push_deep, NULL);
    ck_assert_int_eq(pthread_key_create(&after_ours.key, destructor), 0);
}

/* Under TSan a thread is nobody after TSan's own destructor, which comes before the last rounds. */
#ifdef __SANITIZE_THREAD__
enum { LAST_ROUND = 2 };
#else
enum { LAST_ROUND = 4 };
#endif

START_TEST(destructors_of_the_user_s_call_ctxrt_whenever_they_run)
{
    enum { TIMES = 20 };
    const int depth = (_i & 1) == 0 ? 2 : DEEP;
    const int rounds = (_i & 2) == 0 ? 1 : LAST_ROUND;
    const bool driver_first = (_i & 4) != 0;
    const last_words *const all[] = {&before_ours, &between, &after_ours};
    make_keys(driver_first);
    for (int i = 0; i < TIMES; i++) {
        before_ours.rounds = between.rounds = after_ours.rounds = rounds;
        on_a_thread(end_with_last_words, (void *)(uintptr_t)&depth);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(all[i]->calls, TIMES * rounds);
        ck_assert_int_eq(all[i]->mismatches, i == 0 && driver_first && depth == DEEP ? TIMES : 0);
    }
    ck_assert_uint_eq(before_ours.last_depth, (size_t)depth);
    ck_assert_uint_eq(between.last_depth, 0);
    ck_assert_int_eq(log_lines_with(&lines, "still pushed"),
                     driver_first && depth == DEEP ? 0 : TIMES);
    ck_assert(!snapshot_has("cuda"));
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(i)));
    end();
}
END_TEST

/* ---- a record that nobody left ---- */

#ifndef __SANITIZE_THREAD__

static void push_and_stay(void *argument)
{
    last_words *self = argument;
    self->calls++;
    if (--self->rounds > 0) {
        pthread_setspecific(self->key, self);
        return;
    }
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_stream_current(&stream));
}

static void *end_with_a_push(void *argument)
{
    last_words *self = argument;
    self->rounds = LAST_ROUND;
    pthread_setspecific(self->key, self);
    return NULL;
}

START_TEST(a_frame_pushed_in_the_last_round_of_destructors_goes_too)
{
    ctxrt_stream *stream = NULL;
    start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(pthread_key_create(&after_ours.key, push_and_stay), 0);
    for (int i = 0; i < 20; i++) {
        on_a_thread(end_with_a_push, &after_ours);
        ck_assert(!snapshot_has("cuda:2"));
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
        ck_assert(stream == NULL || stream == current_stream());
        stream = current_stream();
        cx_assert_ok(ctxrt_stack_pop());
    }
    ck_assert_int_eq(after_ours.calls, 20 * LAST_ROUND);
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(2)));
    end();
}
END_TEST

#endif

/* ---- ten thousand threads ---- */

enum { THREADS = 10000, AT_A_TIME = 8 };

static cx_driver_table beneath;
static atomic_int streams_made;
static _Atomic(cx_thread *) records[2 * AT_A_TIME];

static cxu_result count_stream(CUstream *out_stream, unsigned int flags)
{
    atomic_fetch_add(&streams_made, 1);
    return beneath.stream_create(out_stream, flags);
}

static void note_record(cx_thread *record)
{
    for (int i = 0; i < 2 * AT_A_TIME; i++) {
        cx_thread *free_place = NULL;
        if (atomic_compare_exchange_strong(&records[i], &free_place, record) ||
            free_place == record)
            return;
    }
    ck_abort_msg("more records than threads at a time");
}

static void *come_and_go(void *argument)
{
    ctxrt_stream *stream;
    const int *number = argument;
    ctxrt_device devices[] = {CTXRT_CUDA(0), CTXRT_CPU(0)};
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_device_push(devices[i]));
        cx_assert_ok(ctxrt_stream_current(&stream));
        cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, &first_mark));
    }
    note_record(cx_thread_current);
    for (int i = 0; i < *number % 3; i++)
        cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(ten_thousand_threads_need_no_more_streams_and_records_than_live_at_a_time)
{
    pthread_t threads[AT_A_TIME];
    int numbers[AT_A_TIME];
    int left = 0;
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.stream_create = count_stream;
    for (int i = 0; i < THREADS; i += AT_A_TIME) {
        for (int j = 0; j < AT_A_TIME; j++) {
            numbers[j] = i + j;
            left += numbers[j] % 3 != 2;
            ck_assert_int_eq(pthread_create(&threads[j], NULL, come_and_go, &numbers[j]), 0);
        }
        for (int j = 0; j < AT_A_TIME; j++)
            pthread_join(threads[j], NULL);
        lines.length %= sizeof lines.text / 2;
    }
    cx_drivers[0].table = beneath;
    ck_assert_int_ge(atomic_load(&streams_made), 2);
    ck_assert_int_le(atomic_load(&streams_made), 2 * AT_A_TIME);
    ck_assert_ptr_null(atomic_load(&records[AT_A_TIME]));
    ck_assert_int_gt(left, THREADS / 2);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(atomic_load(&first_mark), 2 * THREADS);
}
END_TEST

/* ---- the main thread first ---- */

/* A zombie in the kernel's eyes. TSan knows no join with the main thread. */
static bool main_thread_has_ended(void)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    (void)!fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return state == 'Z';
}

static bool goes_on_alone(void)
{
    void *pointer;
    ctxrt_scope scope = {0};
    while (!main_thread_has_ended())
        sched_yield();
    return ctxrt_device_release(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
           ctxrt_scope_enter(CTXRT_CUDA(1), &scope) == CTXRT_SUCCESS &&
           ctxrt_alloc(64, &pointer) == CTXRT_SUCCESS &&
           ctxrt_fill(pointer, 1, 64) == CTXRT_SUCCESS && ctxrt_free(pointer) == CTXRT_SUCCESS &&
           ctxrt_scope_leave(&scope) == CTXRT_SUCCESS && ctxrt_shutdown() == CTXRT_SUCCESS;
}

static void *outlive_main(void *unused)
{
    _exit(goes_on_alone() ? 0 : 1);
    return unused;
}

START_TEST(others_go_on_when_the_main_thread_has_ended)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        pthread_t other;
        start();
        if (ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS)
            _exit(2);
        pthread_create(&other, NULL, outlive_main, NULL);
        pthread_exit(NULL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x", status);
}
END_TEST

static Suite *ending_thread_suite(void)
{
    Suite *suite = suite_create("ending of a thread");
    TCase *tcase = tcase_create("ending of a thread");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(
        tcase,
        frames_of_every_origin_go_with_their_thread_and_the_log_counts_what_should_have_been_popped);
    tcase_add_test(tcase, a_device_that_was_set_needs_no_pop_at_the_thread_s_end);
    tcase_add_test(tcase, a_cleanup_handler_can_leave_the_scope_that_the_thread_exits_in);
    tcase_add_test(tcase, a_thread_s_end_makes_no_driver_call);
    tcase_add_test(tcase, work_in_flight_goes_on_and_the_next_thread_s_work_comes_behind_it);
    tcase_add_test(tcase, a_stream_outlives_the_thread_that_made_it);
    tcase_add_test(tcase, memory_outlives_the_thread_that_asked_for_it);
    tcase_add_test(tcase, a_detached_frame_outlives_its_thread_with_the_work_in_its_default_stream);
    tcase_add_test(tcase,
                   ten_thousand_threads_need_no_more_streams_and_records_than_live_at_a_time);
    suite_add_tcase(suite, tcase);

    TCase *own = tcase_create("starts by itself");
    tcase_add_loop_test(own, destructors_of_the_user_s_call_ctxrt_whenever_they_run, 0, 8);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(own, a_frame_pushed_in_the_last_round_of_destructors_goes_too);
#endif
    tcase_add_test(own, others_go_on_when_the_main_thread_has_ended);
    suite_add_tcase(suite, own);
    return suite;
}

CX_TESTS(ending_thread_suite);
