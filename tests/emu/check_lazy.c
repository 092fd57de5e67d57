/* CTXRT_EMU_SCHEDULE=lazy: a missing synchronisation shows, every time. */
#include "work_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES ((size_t)4096)
#define OLD 0x11
#define NEW 0x22
#define TIMES 50

static unsigned char *make_pinned(int value)
{
    void *pinned;

    ck_success(cx_emu_call_mem_alloc_host(&pinned, BYTES));
    memset(pinned, value, BYTES);
    return pinned;
}

static CUdeviceptr make_filled(int value)
{
    CUdeviceptr memory = make_memory(BYTES);

    ck_success(cx_emu_call_memset_d8(memory, (unsigned char)value, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    return memory;
}

/* The first and the last byte; all between are the same or the copy is broken. */
static void ck_bytes(const unsigned char *bytes, int value)
{
    ck_assert_int_eq(bytes[0], value);
    ck_assert_int_eq(memcmp(bytes, bytes + 1, BYTES - 1), 0);
}

START_TEST(a_copy_that_nobody_waits_for_leaves_the_old_bytes)
{
    CUdeviceptr memory = make_filled(NEW);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    for (int i = 0; i < TIMES; i++) {
        unsigned char *out = make_pinned(OLD);

        ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, stream));
        ck_bytes(out, OLD);
        ck_success(cx_emu_call_stream_synchronize(stream));
        ck_bytes(out, NEW);
        ck_success(cx_emu_call_mem_free_host(out));
    }
}
END_TEST

START_TEST(a_peek_sees_bytes_as_they_are_and_runs_nothing)
{
    CUdeviceptr memory = make_filled(OLD);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    unsigned char seen[BYTES], byte = 0;

    ck_success(cx_emu_call_memset_d8_async(memory, NEW, BYTES, stream));
    ck_assert(cx_emu_debug_read(memory, BYTES, seen));
    ck_bytes(seen, OLD);
    ck_assert(!cx_emu_stream_is_idle(stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert(cx_emu_debug_read(memory + BYTES - 1, 1, &byte));
    ck_assert_int_eq(byte, NEW);
    ck_assert(!cx_emu_debug_read(memory, BYTES + 1, seen)); /* beyond its end */
    ck_success(cx_emu_call_mem_free(memory));
    ck_assert(!cx_emu_debug_read(memory, 1, &byte));
}
END_TEST

/* The consumer's stream should have waited for an event of the producer's; it is synchronised all
 * the same, and so is the context. */
START_TEST(a_missing_event_between_two_streams_shows_every_time)
{
    unsigned char *out = make_pinned(0);
    CUstream producer = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream consumer = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent produced = make_event();

    for (int i = 0; i < TIMES; i++) {
        CUdeviceptr memory = make_filled(OLD);

        ck_success(cx_emu_call_memset_d8_async(memory, NEW, BYTES, producer));
        ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, consumer));
        ck_success(cx_emu_call_ctx_synchronize());
        ck_bytes(out, OLD);

        ck_success(cx_emu_call_memset_d8_async(memory, NEW + 1, BYTES, producer));
        ck_success(cx_emu_call_event_record(produced, producer));
        ck_success(cx_emu_call_stream_wait_event(consumer, produced, 0));
        ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, consumer));
        ck_success(cx_emu_call_stream_synchronize(consumer));
        ck_bytes(out, NEW + 1);
        ck_success(cx_emu_call_mem_free(memory));
    }
}
END_TEST

/* Pinned memory that is written again before the copy has read it. */
START_TEST(a_source_that_is_reused_too_early_is_copied_as_it_is_then)
{
    unsigned char *in = make_pinned(OLD), *out = make_pinned(0);
    CUdeviceptr memory = make_memory(BYTES);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    for (int i = 0; i < TIMES; i++) {
        memset(in, OLD, BYTES);
        ck_success(cx_emu_call_memcpy_htod_async(memory, in, BYTES, stream));
        memset(in, NEW, BYTES);
        ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, stream));
        ck_success(cx_emu_call_stream_synchronize(stream));
        ck_bytes(out, NEW);
    }
}
END_TEST

/* The freeing stream should have waited for the copy's or the fill's. */
START_TEST(a_copy_or_fill_behind_a_free_in_another_stream_fails)
{
    CUstream user = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr kept = make_memory(BYTES), memory;
    char text[200];

    ck_success(cx_emu_call_mem_alloc_async(&memory, BYTES, user));
    ck_success(cx_emu_call_stream_synchronize(user));
    if (_i == 0)
        ck_success(cx_emu_call_memset_d8_async(memory, NEW, BYTES, user));
    else if (_i == 1)
        ck_success(cx_emu_call_memcpy_dtod_async(memory, kept, BYTES, user));
    else
        ck_success(cx_emu_call_memcpy_dtod_async(kept, memory, BYTES, user));
    ck_success(cx_emu_call_mem_free_async(memory, other));
    ck_success(cx_emu_call_stream_synchronize(other));
    ck_result(cx_emu_call_stream_synchronize(user), ILLEGAL_ADDRESS);
    ck_assert(cx_emu_explain(CXU_ILLEGAL_ADDRESS, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "began after its memory"));
}
END_TEST

START_TEST(a_free_behind_its_users_in_one_stream_hurts_none)
{
    unsigned char *out = make_pinned(OLD);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory;

    for (int i = 0; i < TIMES; i++) {
        ck_success(cx_emu_call_mem_alloc_async(&memory, BYTES, stream));
        ck_success(cx_emu_call_memset_d8_async(memory, (unsigned char)i, BYTES, stream));
        ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, stream));
        ck_success(cx_emu_call_mem_free_async(memory, stream));
        ck_success(cx_emu_call_stream_synchronize(stream));
        ck_bytes(out, i);
    }
}
END_TEST

START_TEST(a_wait_runs_what_it_needs_and_nothing_else)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream third = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    journal_put(&journal, first, 'a');
    ck_success(cx_emu_call_event_record(event, first));
    journal_put(&journal, first, 'b');
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    journal_put(&journal, second, 'c');
    journal_put(&journal, third, 'd');
    ck_success(cx_emu_call_event_synchronize(event));
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_journal(&journal, "ac");
    ck_success(cx_emu_call_ctx_synchronize());
    ck_journal(&journal, "acdb"); /* the youngest first */
}
END_TEST

/* T13: a copy to pageable memory is a wait for the stream it stands in, and for no other. */
START_TEST(a_synchronous_copy_is_a_wait)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUstream blocking = make_stream(CXU_STREAM_DEFAULT);
    CUstream free_stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_filled(NEW);
    unsigned char out[BYTES];

    journal_put(&journal, blocking, 'b');
    journal_put(&journal, free_stream, 'f');
    ck_success(cx_emu_call_memcpy_dtoh(out, memory, BYTES));
    ck_journal(&journal, "b");
    ck_bytes(out, NEW);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* The host functions end before the query after that, so that the steps can be counted. */
static void poll_until(CUstream stream, stream_journal *journal, int length)
{
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    while (journal_length(journal) < length)
        ;
}

START_TEST(a_query_runs_one_piece_of_what_it_asks_for)
{
    stream_journal journal = JOURNAL_EMPTY;
    unsigned char *out = make_pinned(OLD);
    CUdeviceptr memory = make_filled(NEW);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, stream));
    ck_success(cx_emu_call_memset_d8_async(memory, OLD, BYTES, stream));
    ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, stream));
    journal_put(&journal, other, 'o');
    ck_bytes(out, OLD);
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    ck_bytes(out, NEW);
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    ck_bytes(out, NEW);
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    ck_bytes(out, OLD);
    ck_success(cx_emu_call_stream_query(stream));
    ck_journal(&journal, "");
    poll_until(other, &journal, 1);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(polling_an_event_gets_there_across_streams_and_contexts)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING), second;
    CUevent begun = make_event(), done;
    CUcontext other;
    float ms;

    journal_put(&journal, first, 'a');
    ck_success(cx_emu_call_event_record(begun, first));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 0)); /* events of one device */
    second = make_stream(CXU_STREAM_NON_BLOCKING);
    done = make_event();
    ck_success(cx_emu_call_stream_wait_event(second, begun, 0));
    journal_put(&journal, second, 'b');
    ck_success(cx_emu_call_event_record(done, second));
    while (cx_emu_call_event_elapsed_time(&ms, begun, done) == CXU_NOT_READY)
        ;
    ck_journal(&journal, "ab");
    ck_success(cx_emu_call_event_query(done));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

/* Several threads wait for, and poll, the same work: each piece runs once. */
static void *wait_for(void *stream)
{
    ck_success(cx_emu_call_stream_synchronize(stream));
    return NULL;
}

static void *poll(void *stream)
{
    while (cx_emu_call_stream_query(stream) == CXU_NOT_READY)
        ;
    return NULL;
}

static void run_a_crowd(CUstream stream, CUdeviceptr memory)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    stream_journal journal = JOURNAL_EMPTY;
    pthread_t threads[8];

    for (const char *letter = letters; *letter; letter++) {
        journal_put(&journal, stream, *letter);
        ck_success(cx_emu_call_memset_d8_async(memory, 1, BYTES, stream));
    }
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, i % 2 ? wait_for : poll, stream), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_journal(&journal, letters);
}

START_TEST(each_piece_runs_once_however_many_wait_and_poll)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);

    for (int i = 0; i < TIMES; i++)
        run_a_crowd(stream, memory);
}
END_TEST

typedef struct names {
    char text[256];
    CUstream streams[8];
    int count;
} names;

static void add_name(const cx_emu_never_synchronized_work *work, void *argument)
{
    names *all = argument;

    strcat(all->text, work->call ? work->call : "-");
    strcat(all->text, " ");
    if (work->context == work_context)
        all->streams[all->count++] = work->stream;
}

static names list_unwaited(void)
{
    names all = {.count = 0};

    cx_emu_never_synchronized(add_name, &all);
    return all;
}

typedef struct copier {
    CUdeviceptr memory;
    _Atomic bool over;
    cxu_result result;
} copier;

static void *poll_until_over(void *argument)
{
    copier *shared = argument;

    shared->result = cx_emu_call_ctx_set_current(work_context);
    while (!shared->over && shared->result == CXU_SUCCESS) {
        cxu_result result = cx_emu_call_stream_query(NULL);

        if (result != CXU_NOT_READY)
            shared->result = result;
    }
    return NULL;
}

/* Such a copy runs on the thread that asked for it. */
START_TEST(polling_leaves_alone_what_another_thread_copies)
{
    size_t bytes = (size_t)1 << 20;
    copier shared = {.memory = make_memory(bytes)};
    unsigned char *out = malloc(bytes);
    pthread_t thread;

    ck_assert_ptr_nonnull(out);
    ck_success(cx_emu_call_memset_d8(shared.memory, NEW, bytes));
    ck_assert_int_eq(pthread_create(&thread, NULL, poll_until_over, &shared), 0);
    for (int i = 0; i < 200; i++) {
        memset(out, OLD, bytes);
        ck_success(cx_emu_call_memcpy_dtoh(out, shared.memory, bytes));
        ck_assert(out[0] == NEW && out[bytes - 1] == NEW);
    }
    shared.over = true;
    pthread_join(thread, NULL);
    ck_assert_int_eq(shared.result, CXU_SUCCESS);
    free(out);
}
END_TEST

START_TEST(a_query_runs_nothing_beside_a_piece_that_is_running)
{
    stream_gate gate = GATE_CLOSED;
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING),
             other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_filled(NEW);
    unsigned char *out = make_pinned(OLD);

    gate_put(&gate, held);
    ck_success(cx_emu_call_memcpy_dtoh_async(out, memory, BYTES, other));
    gate_wait_entered(&gate);
    ck_assert_str_eq(list_unwaited().text, "- "); /* the copy only */
    for (int i = 0; i < 3; i++)
        ck_result(cx_emu_call_stream_query(other), NOT_READY);
    ck_bytes(out, OLD);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(held));
    ck_bytes(out, OLD);
    ck_success(cx_emu_call_stream_synchronize(other));
    ck_bytes(out, NEW);
}
END_TEST

START_TEST(what_nothing_waited_for_is_listed_by_call_and_stream)
{
    const cx_driver_table *driver = cx_emu_driver();
    stream_journal journal = JOURNAL_EMPTY;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING), left, other;
    CUdeviceptr memory = make_filled(OLD);
    unsigned char *pinned = make_pinned(OLD);
    CUevent event = make_event();
    names all;

    ck_assert_ptr_ne(driver, &cx_emu_table);
    ck_assert_str_eq(list_unwaited().text, "");
    other = make_stream(CXU_STREAM_NON_BLOCKING);
    ck_success(driver->memset_d8_async(memory, NEW, BYTES, stream));
    ck_success(driver->memcpy_dtoh_async(pinned, memory, BYTES, stream));
    ck_success(driver->event_record(event, stream));
    ck_success(driver->memset_d32(memory, NEW, 1));
    ck_success(driver->memset_d16_async(memory, NEW, 1, CXU_STREAM_PER_THREAD));
    journal_put(&journal, other, 'a'); /* not through the table */
    all = list_unwaited();
    ck_assert_str_eq(all.text,
                     "cuMemsetD8Async cuMemcpyDtoHAsync_v2 cuMemsetD32_v2 cuMemsetD16Async - ");
    ck_assert_int_eq(all.count, 5);
    ck_assert_ptr_eq(all.streams[0], stream);
    ck_assert_ptr_eq(all.streams[2], CXU_STREAM_LEGACY);
    ck_assert_ptr_eq(all.streams[3], CXU_STREAM_PER_THREAD);
    ck_assert_ptr_eq(all.streams[4], other);

    ck_success(driver->stream_synchronize(stream));
    ck_assert_str_eq(list_unwaited().text, "cuMemsetD32_v2 cuMemsetD16Async - ");
    ck_result(driver->stream_query(other), NOT_READY);
    ck_success(driver->ctx_synchronize());
    ck_assert_str_eq(list_unwaited().text, "");
    left = make_stream(CXU_STREAM_NON_BLOCKING);
    ck_success(driver->memset_d8_async(memory, OLD, BYTES, left));
    ck_success(driver->stream_destroy(left));
    ck_assert_str_eq(list_unwaited().text, "cuMemsetD8Async ");
}
END_TEST

/* The log of a process that forgets to wait, as a file. */
static void forget(const char *log)
{
    const cx_driver_table *driver = cx_emu_driver();
    CUdeviceptr memory = make_memory(BYTES);
    CUcontext other;

    ck_assert_ptr_nonnull(freopen(log, "w", stderr));
    ck_success(driver->memset_d8_async(memory, 1, BYTES, NULL));
    ck_success(driver->ctx_synchronize());
    ck_success(driver->ctx_create_v4(&other, NULL, 0, 0));
    ck_success(driver->memset_d32_async(memory, 1, 1, NULL));
    ck_success(driver->ctx_destroy(other));
    ck_success(driver->memset_d16_async(memory, 1, 1, NULL));
    exit(0);
}

START_TEST(the_end_of_the_process_says_that_something_was_never_waited_for)
{
    char path[] = "/tmp/check_lazy_XXXXXX", line[256] = "", more[2];
    int file = mkstemp(path), status;
    pid_t child;
    FILE *log;

    ck_assert_int_ge(file, 0);
    child = fork();
    if (child == 0) {
        work_setup();
        forget(path);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    log = fdopen(file, "r");
    (void)!fgets(line, sizeof line, log);
    ck_assert_ptr_nonnull(
        strstr(line, "nothing waited for 2 pieces of work, first that of cuMemsetD32Async"));
    ck_assert_ptr_null(fgets(more, sizeof more, log));
    fclose(log);
    unlink(path);
}
END_TEST

static void choose_lazy(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
}

static void setup(void)
{
    choose_lazy();
    work_setup();
}

static Suite *lazy_suite(void)
{
    Suite *suite = suite_create("lazy");
    TCase *tcase = tcase_create("lazy");

    tcase_add_checked_fixture(tcase, setup, work_teardown);
    tcase_add_test(tcase, a_copy_that_nobody_waits_for_leaves_the_old_bytes);
    tcase_add_test(tcase, a_peek_sees_bytes_as_they_are_and_runs_nothing);
    tcase_add_test(tcase, a_missing_event_between_two_streams_shows_every_time);
    tcase_add_test(tcase, a_source_that_is_reused_too_early_is_copied_as_it_is_then);
    tcase_add_loop_test(tcase, a_copy_or_fill_behind_a_free_in_another_stream_fails, 0, 3);
    tcase_add_test(tcase, a_free_behind_its_users_in_one_stream_hurts_none);
    tcase_add_test(tcase, a_wait_runs_what_it_needs_and_nothing_else);
    tcase_add_test(tcase, a_synchronous_copy_is_a_wait);
    tcase_add_test(tcase, a_query_runs_one_piece_of_what_it_asks_for);
    tcase_add_test(tcase, polling_an_event_gets_there_across_streams_and_contexts);
    tcase_add_test(tcase, each_piece_runs_once_however_many_wait_and_poll);
    tcase_add_test(tcase, polling_leaves_alone_what_another_thread_copies);
    tcase_add_test(tcase, a_query_runs_nothing_beside_a_piece_that_is_running);
    tcase_add_test(tcase, what_nothing_waited_for_is_listed_by_call_and_stream);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("end");
    tcase_add_checked_fixture(tcase, choose_lazy, NULL);
    tcase_add_test(tcase, the_end_of_the_process_says_that_something_was_never_waited_for);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(lazy_suite);
