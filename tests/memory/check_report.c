/* The report of live memory: on request, and in the log of a shutdown that is refused. */
#include "fixture.h"
#include "log_lines.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *report(void)
{
    static char text[1 << 16];
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_memory_report_write(file));
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

static void assert_has(const char *text, const char *wanted)
{
    ck_assert_msg(strstr(text, wanted) != NULL, "\"%s\" is not in: %s", wanted, text);
}

/* Two places of the program, each of which has many pieces. */
static __attribute__((noinline)) void *allocate_here(size_t size)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(size, &pointer));
    return pointer;
}

static __attribute__((noinline)) ctxrt_memory *allocate_there(size_t size)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size, &memory));
    return memory;
}

START_TEST(without_memory_the_report_says_so_and_starts_nothing)
{
    ck_assert_str_eq(report(), "0 pieces of memory, 0 bytes\n");
}
END_TEST

START_TEST(memory_of_every_kind_is_there)
{
    ctxrt_memory *memories[3];
    void *managed, *raw;
    static char own[4096];
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_alloc(1000, &memories[0]));
    cx_assert_ok(ctxrt_memory_alloc_pinned(2000, &memories[1]));
    cx_assert_ok(ctxrt_memory_alloc_host(3000, &memories[2]));
    cx_assert_ok(ctxrt_alloc_managed(4000, &managed));
    cx_assert_ok(ctxrt_alloc(100, &raw));
    cx_assert_ok(ctxrt_host_register(own, sizeof own));
    const char *text = report();
    assert_has(text, "6 pieces of memory, 14196 bytes\n");
    assert_has(text, "2 pieces of device memory of cuda:1, 1100 bytes\n");
    assert_has(text, "2 pieces of pinned memory of cuda:1, 6096 bytes\n");
    assert_has(text, "1 piece of host memory of cpu:0, 3000 bytes\n");
    assert_has(text, "1 piece of managed memory of cuda:1, 4000 bytes\n");
    ck_assert(strstr(text, "pinned") < strstr(text, "managed"));
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_host_unregister(own));
    ck_assert_str_eq(report(), "0 pieces of memory, 0 bytes\n");
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* By trace, by debug mode. */
START_TEST(memory_is_grouped_by_the_place_that_it_was_allocated_in)
{
    void *here[5];
    ctxrt_memory *there[3];
    if (_i == 1)
        ck_assert_int_eq(setenv("CTXRT_DEBUG_MEMORY", "canary", 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    if (_i == 0)
        cx_assert_ok(ctxrt_allocator_trace_start(NULL, 100));
    for (int i = 0; i < 5; i++)
        here[i] = allocate_here(100);
    for (int i = 0; i < 3; i++)
        there[i] = allocate_there(1000);
    const char *text = report();
    assert_has(text, "8 pieces of memory, 3500 bytes\n");
    assert_has(text, "  3 pieces of device memory of cuda:0, 3000 bytes, allocated in ");
    assert_has(text, "  5 pieces of device memory of cuda:0, 500 bytes, allocated in ");
    for (int i = 0; i < 5; i++)
        cx_assert_ok(ctxrt_free(here[i]));
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_memory_release(there[i]));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(a_refused_shutdown_says_what_is_left)
{
    ctxrt_memory *memory;
    cx_fixture_start();
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_INFO));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    if (_i == 0)
        memory = allocate_there(700);
    else
        cx_assert_ok(ctxrt_memory_alloc_host(700, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    assert_has(ctxrt_last_error()->message,
               _i == 0 ? "is in use: " : "1 piece of host or wrapped memory");
    ck_assert_int_eq(log_lines_with(&lines, "left at the shutdown: 1 piece of "), 1);
    ck_assert_int_eq(log_lines_with(&lines, _i == 0 ? "device memory of cuda:0, 700 bytes"
                                                    : "host memory of cpu:0, 700 bytes"),
                     1);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_fixture_end();
    ck_assert_int_eq(log_lines_with(&lines, "left at the shutdown"), 1);
}
END_TEST

START_TEST(a_file_that_takes_nothing_is_an_error)
{
    FILE *full = cx_fixture_open_full();
    cx_assert_error(ctxrt_memory_report_write(full), CTXRT_ERROR_SYSTEM);
    assert_has(ctxrt_last_error()->message, "it took only a part");
    fclose(full);
}
END_TEST

static Suite *report_suite(void)
{
    Suite *suite = suite_create("report");
    TCase *tcase = tcase_create("report");
    tcase_add_test(tcase, without_memory_the_report_says_so_and_starts_nothing);
    tcase_add_test(tcase, memory_of_every_kind_is_there);
    tcase_add_loop_test(tcase, memory_is_grouped_by_the_place_that_it_was_allocated_in, 0, 2);
    tcase_add_loop_test(tcase, a_refused_shutdown_says_what_is_left, 0, 2);
    tcase_add_test(tcase, a_file_that_takes_nothing_is_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(report_suite);
