/* Traces of allocators: what was allocated and freed, line by line. */
#include "fixture.h"
#include "log_lines.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *trace_of(ctxrt_allocator *allocator)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_allocator_trace_write(allocator, file));
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

static void assert_trace(ctxrt_allocator *allocator, const char *expected)
{
    char *text = trace_of(allocator);
    ck_assert_str_eq(text, expected);
    free(text);
}

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    return memory;
}

START_TEST(objects_and_raw_pointers_are_traced)
{
    void *raw;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    assert_trace(NULL, "");
    ctxrt_memory *first = allocate(1000);
    cx_assert_ok(ctxrt_alloc(70000, &raw));
    ctxrt_memory *second = allocate(1);
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_free(raw));
    first = allocate(5);
    assert_trace(NULL, "a,0,1000\na,1,70000\na,2,1\nf,0\nf,1\na,1,5\n");
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_refused_request_is_not_traced)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    cx_assert_error(ctxrt_memory_alloc((size_t)1 << 40, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_trace(NULL, "");
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_of_before_the_trace_comes_first)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *stays = allocate(3), *early = allocate(4000), *middle = allocate(500);
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    ctxrt_memory *late = allocate(60);
    cx_assert_ok(ctxrt_memory_release(early));
    cx_assert_ok(ctxrt_memory_release(middle));
    assert_trace(NULL, "a,0,4000\na,1,500\na,2,60\nf,0\nf,1\n");
    cx_assert_ok(ctxrt_memory_release(late));
    cx_assert_ok(ctxrt_memory_release(stays));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_stopped_trace_is_kept_and_a_new_one_begins_anew)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 100));
    ctxrt_memory *memory = allocate(10);
    cx_assert_ok(ctxrt_allocator_trace_stop(NULL));
    cx_assert_ok(ctxrt_allocator_trace_stop(NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    assert_trace(NULL, "a,0,10\n");
    for (size_t length = 100; length < 1000; length += 450) {
        cx_assert_ok(ctxrt_allocator_trace_start(NULL, length));
        assert_trace(NULL, "");
        cx_assert_ok(ctxrt_memory_release(allocate(20)));
        assert_trace(NULL, "a,0,20\nf,0\n");
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Lines of a trace in which every slot is empty when it is allocated and full when it is freed. */
static size_t count_good_lines(const char *text, size_t *out_bytes)
{
    static bool taken[1 << 16];
    size_t lines = 0;
    memset(taken, 0, sizeof taken);
    *out_bytes = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1, lines++) {
        unsigned int slot;
        unsigned long long bytes = 0;
        bool allocates = sscanf(line, "a,%u,%llu\n", &slot, &bytes) == 2;
        ck_assert(allocates || sscanf(line, "f,%u\n", &slot) == 1);
        ck_assert_uint_lt(slot, 1 << 16);
        ck_assert_msg(taken[slot] != allocates, "line %zu: the slot is %s", lines + 1,
                      taken[slot] ? "taken" : "empty");
        taken[slot] = allocates;
        *out_bytes += bytes;
    }
    return lines;
}

START_TEST(a_full_ring_keeps_the_last_operations)
{
    enum { LENGTH = 64, LIVE = 10, TURNS = 500 };
    ctxrt_memory *live[LIVE] = {NULL};
    size_t bytes;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, LENGTH));
    for (size_t i = 0; i < TURNS; i++) {
        cx_assert_ok(ctxrt_memory_release(live[i % LIVE]));
        live[i % LIVE] = allocate(1 + i);
    }
    char *text = trace_of(NULL);
    size_t lines = count_good_lines(text, &bytes);
    ck_assert_uint_eq(lines, LENGTH + LIVE);
    ck_assert_ptr_nonnull(strstr(text, ",500\n"));
    ck_assert_ptr_nonnull(strstr(text, ",469\n"));
    ck_assert_ptr_nonnull(strstr(text, ",459\n"));
    ck_assert_ptr_null(strstr(text, ",458\n"));
    free(text);
    for (size_t i = 0; i < LIVE; i++)
        cx_assert_ok(ctxrt_memory_release(live[i]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* From one operation less than the ring is long to one more. */
START_TEST(a_ring_keeps_as_many_operations_as_it_was_asked_for)
{
    ctxrt_memory *memory[5];
    const char *const expected[] = {"a,0,1\na,1,2\na,2,3\n", "a,0,1\na,1,2\na,2,3\na,3,4\n",
                                    "a,0,2\na,1,3\na,2,4\na,3,5\n"};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 4));
    for (size_t i = 0; i < 5; i++) {
        memory[i] = allocate(i + 1);
        if (i >= 2)
            assert_trace(NULL, expected[i - 2]);
    }
    for (size_t i = 0; i < 5; i++)
        cx_assert_ok(ctxrt_memory_release(memory[i]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_ring_of_too_many_operations_is_refused)
{
    const size_t most = (size_t)1 << 28;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_allocator_trace_start(NULL, most + 1), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "at most 268435456 operations"));
    FILE *file = tmpfile();
    cx_assert_error(ctxrt_allocator_trace_write(NULL, file), CTXRT_ERROR_INVALID_ARGUMENT);
    fclose(file);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(each_allocator_has_its_own_trace)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_allocator_trace_start(allocator, 0));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    ctxrt_memory *usual = allocate(1);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *own = allocate(2);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    assert_trace(NULL, "a,0,1\n");
    assert_trace(allocator, "a,0,2\n");
    cx_assert_ok(ctxrt_memory_release(own));
    cx_assert_ok(ctxrt_memory_release(usual));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    FILE *file = tmpfile();
    cx_assert_error(ctxrt_allocator_trace_write(allocator, file), CTXRT_ERROR_INVALID_ARGUMENT);
    fclose(file);
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static ctxrt_status give_buffer(void *buffer, size_t size_bytes, ctxrt_stream *stream,
                                void **out_pointer)
{
    (void)size_bytes, (void)stream;
    *out_pointer = buffer;
    return CTXRT_SUCCESS;
}

static ctxrt_status take_buffer(void *buffer, void *pointer, size_t size_bytes)
{
    (void)buffer, (void)pointer, (void)size_bytes;
    return CTXRT_SUCCESS;
}

START_TEST(a_custom_allocator_is_traced_too)
{
    static const ctxrt_allocator_vtable vtable = {sizeof vtable, give_buffer, take_buffer, NULL};
    char buffer[16];
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create_custom(&vtable, buffer, &allocator));
    cx_assert_ok(ctxrt_allocator_trace_start(allocator, 0));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_memory_release(allocate(7)));
    assert_trace(allocator, "a,0,7\nf,0\n");
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

/* Closes the file. */
static void assert_refused_by(FILE *full, const char *reason)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    cx_assert_ok(ctxrt_memory_release(allocate(1)));
    cx_assert_error(ctxrt_allocator_trace_write(NULL, full), CTXRT_ERROR_SYSTEM);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, reason));
    fclose(full);
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(a_file_that_takes_nothing_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        cx_fixture_skip("there is no /dev/full");
    assert_refused_by(full, strerror(ENOSPC));
}
END_TEST

START_TEST(a_file_that_stops_without_a_reason_is_an_error)
{
    assert_refused_by(cx_fixture_open_full(), "it took only a part");
}
END_TEST

/* ---- many threads ---- */

enum { THREADS = 4, TURNS = 300 };

typedef struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    size_t bytes;
    int failures;
} worker;

static void *allocate_and_free(void *argument)
{
    worker *self = argument;
    void *live[4] = {NULL};
    self->failures += ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS;
    pthread_barrier_wait(self->start);
    for (size_t i = 0; i < TURNS; i++) {
        size_t bytes = 1 + i % 7;
        self->failures += ctxrt_free(live[i % 4]) != CTXRT_SUCCESS;
        live[i % 4] = NULL;
        self->failures += ctxrt_alloc(bytes, &live[i % 4]) != CTXRT_SUCCESS;
        self->bytes += bytes;
    }
    for (size_t i = 0; i < 4; i++)
        self->failures += ctxrt_free(live[i]) != CTXRT_SUCCESS;
    self->failures += ctxrt_stack_pop() != CTXRT_SUCCESS;
    return NULL;
}

static void run_threads(worker *workers, pthread_barrier_t *start)
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.start = start};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, allocate_and_free, &workers[i]),
                         0);
    }
}

static size_t join_threads(worker *workers)
{
    size_t bytes = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        ck_assert_int_eq(workers[i].failures, 0);
        bytes += workers[i].bytes;
    }
    return bytes;
}

START_TEST(threads_leave_a_trace_in_which_no_address_is_taken_twice)
{
    worker workers[THREADS];
    pthread_barrier_t start;
    size_t traced;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 0));
    pthread_barrier_init(&start, NULL, THREADS);
    run_threads(workers, &start);
    size_t bytes = join_threads(workers);
    pthread_barrier_destroy(&start);
    char *text = trace_of(NULL);
    ck_assert_uint_eq(count_good_lines(text, &traced), 2 * THREADS * TURNS);
    ck_assert_uint_eq(traced, bytes);
    free(text);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_trace_that_is_written_while_threads_go_on_is_whole)
{
    worker workers[THREADS];
    pthread_barrier_t start;
    size_t bytes;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 32));
    pthread_barrier_init(&start, NULL, THREADS + 1);
    run_threads(workers, &start);
    pthread_barrier_wait(&start);
    for (int i = 0; i < 50; i++) {
        char *text = trace_of(NULL);
        ck_assert_uint_le(count_good_lines(text, &bytes), 3 * 64);
        free(text);
        if (i % 10 == 9)
            cx_assert_ok(ctxrt_allocator_trace_start(NULL, i % 20 == 9 ? 64 : 32));
    }
    (void)join_threads(workers);
    pthread_barrier_destroy(&start);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- CTXRT_ALLOCATOR_TRACE ---- */

static char path[] = "/tmp/ctxrt-trace-XXXXXX";
static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void use_file(void)
{
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(close(file), 0);
    ck_assert_int_eq(setenv("CTXRT_ALLOCATOR_TRACE", path, 1), 0);
    cx_fixture_start();
}

static void remove_file(void)
{
    cx_fixture_end();
    (void)unlink(path);
}

static void assert_file(const char *name, const char *expected)
{
    char text[100] = "";
    FILE *file = fopen(name, "r");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    ck_assert_uint_lt(length, sizeof text - 1);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, expected);
}

/* The first one's file has the name that was given, others' a number too. */
START_TEST(the_environment_has_each_allocator_write_a_file_when_it_goes)
{
    char second[sizeof path + 2];
    ctxrt_allocator *allocators[2];
    (void)snprintf(second, sizeof second, "%s.2", path);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (size_t i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_allocator_create(NULL, &allocators[i]));
        cx_assert_ok(ctxrt_frame_set_allocator(allocators[i]));
        cx_assert_ok(ctxrt_memory_release(allocate(i + 1)));
        cx_assert_ok(ctxrt_memory_release(allocate(10 * (i + 1))));
    }
    assert_file(path, "");
    assert_trace(allocators[0], "a,0,1\nf,0\na,0,10\nf,0\n");
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    for (size_t i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_allocator_destroy(allocators[i]));
    assert_file(path, "a,0,1\nf,0\na,0,10\nf,0\n");
    assert_file(second, "a,0,2\nf,0\na,0,20\nf,0\n");
    (void)unlink(second);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(the_environment_has_the_default_allocator_write_a_file_when_its_device_goes)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_release(allocate(1)));
    cx_assert_ok(ctxrt_stack_pop());
    assert_file(path, "");
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    assert_file(path, "a,0,1\nf,0\n");
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_in_the_log)
{
    ctxrt_allocator *allocator;
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    ck_assert_int_eq(log_lines_with(&lines, "the trace of an allocator could not be written to"),
                     1);
    ck_assert_int_eq(log_lines_with(&lines, strerror(EISDIR)), 1);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

static Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, objects_and_raw_pointers_are_traced);
    tcase_add_test(tcase, a_refused_request_is_not_traced);
    tcase_add_test(tcase, memory_of_before_the_trace_comes_first);
    tcase_add_test(tcase, a_stopped_trace_is_kept_and_a_new_one_begins_anew);
    tcase_add_test(tcase, a_full_ring_keeps_the_last_operations);
    tcase_add_test(tcase, a_ring_keeps_as_many_operations_as_it_was_asked_for);
    tcase_add_test(tcase, a_ring_of_too_many_operations_is_refused);
    tcase_add_test(tcase, each_allocator_has_its_own_trace);
    tcase_add_test(tcase, a_custom_allocator_is_traced_too);
    tcase_add_test(tcase, a_file_that_takes_nothing_is_an_error);
    tcase_add_test(tcase, a_file_that_stops_without_a_reason_is_an_error);
    tcase_add_test(tcase, threads_leave_a_trace_in_which_no_address_is_taken_twice);
    tcase_add_test(tcase, a_trace_that_is_written_while_threads_go_on_is_whole);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("environment");
    tcase_add_checked_fixture(tcase, use_file, remove_file);
    tcase_add_test(tcase, the_environment_has_each_allocator_write_a_file_when_it_goes);
    tcase_add_test(
        tcase, the_environment_has_the_default_allocator_write_a_file_when_its_device_goes);
    tcase_add_test(tcase, a_file_that_cannot_be_written_is_in_the_log);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(trace_suite);
