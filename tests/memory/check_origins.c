/* Where memory was allocated, as its caller says by CTXRT_ORIGINS. */
#define CTXRT_ORIGINS
#include "fixture.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static char text[1 << 16];

static void write_report(void)
{
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_memory_report_write(file));
    ck_assert_int_eq(fclose(file), 0);
}

static void write_snapshot(ctxrt_snapshot_format format)
{
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_allocator_snapshot_write(NULL, file, format));
    ck_assert_int_eq(fclose(file), 0);
}

static void assert_has(const char *before, int line, const char *behind)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "%s%s:%d%s", before, __FILE__, line, behind);
    ck_assert_msg(strstr(text, wanted) != NULL, "\"%s\" is not in: %s", wanted, text);
}

static void push(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

START_TEST(reports_and_snapshots_name_the_file_and_the_line)
{
    ctxrt_memory *memory[3];
    void *raw;
    push();
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_alloc(1000, &memory[i]));
    const int first = __LINE__ - 1;
    cx_assert_ok(ctxrt_memory_alloc_pinned(500, &memory[2]));
    const int second = __LINE__ - 1;
    cx_assert_ok(ctxrt_alloc(70, &raw));
    const int third = __LINE__ - 1;
    write_report();
    assert_has("2 pieces of device memory of cuda:0, 2000 bytes, allocated in ", first, "\n");
    assert_has("1 piece of pinned memory of cuda:0, 500 bytes, allocated in ", second, "\n");
    assert_has("1 piece of device memory of cuda:0, 70 bytes, allocated in ", third, "\n");
    write_snapshot(CTXRT_SNAPSHOT_JSON);
    assert_has("\"place\": \"", first, "\"");
    write_snapshot(CTXRT_SNAPSHOT_TEXT);
    assert_has("", third, "");
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_memory_release(memory[i]));
    cx_assert_ok(ctxrt_free(raw));
    end();
}
END_TEST

/* A call in parentheses is the function's own. */
START_TEST(memory_that_is_used_again_does_not_keep_the_place_of_before)
{
    ctxrt_memory *memory;
    push();
    cx_assert_ok(ctxrt_memory_alloc(1000, &memory));
    void *pointer = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok((ctxrt_memory_alloc)(1000, &memory));
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
    write_report();
    ck_assert_msg(strstr(text, "1000 bytes\n") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "allocated in") == NULL, "%s", text);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

/* With a trace, in debug mode, and in a recording, all of which know places of their own. */
START_TEST(a_trace_and_debug_mode_know_it_too)
{
    ctxrt_memory *memory;
    if (_i == 1)
        ck_assert_int_eq(setenv("CTXRT_DEBUG_MEMORY", "canary", 1), 0);
    push();
    if (_i == 0)
        cx_assert_ok(ctxrt_allocator_trace_start(NULL, 16));
    cx_assert_ok(ctxrt_memory_alloc(1000, &memory));
    const int line = __LINE__ - 1;
    write_report();
    assert_has("1000 bytes, allocated in ", line, "\n");
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

START_TEST(without_a_file_there_is_no_place)
{
    ctxrt_memory *memory;
    push();
    cx_assert_ok(ctxrt_memory_alloc_at(1000, NULL, 7, &memory));
    write_report();
    ck_assert_msg(strstr(text, "allocated in") == NULL, "%s", text);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

static void assert_top_at(int line)
{
    ctxrt_frame_info frame;
    cx_assert_ok(ctxrt_stack_peek(0, &frame));
    ck_assert_str_eq(frame.file, __FILE__);
    ck_assert_int_eq(frame.line, line);
}

/* The plain names of calls that make frames note their place as those that allocate do. */
START_TEST(frames_name_the_file_and_the_line)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_context *context;
    cx_fixture_start();
    cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(0), &context));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    assert_top_at(__LINE__ - 1);
    cx_assert_ok(ctxrt_stack_push(context));
    assert_top_at(__LINE__ - 1);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    assert_top_at(__LINE__ - 1);
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    assert_top_at(__LINE__ - 1);
    cx_assert_ok(ctxrt_scope_leave(&scope));
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_release(context));
    cx_fixture_end();
}
END_TEST

static Suite *origins_suite(void)
{
    Suite *suite = suite_create("origins");
    TCase *tcase = tcase_create("origins");
    tcase_add_test(tcase, reports_and_snapshots_name_the_file_and_the_line);
    tcase_add_test(tcase, memory_that_is_used_again_does_not_keep_the_place_of_before);
    tcase_add_loop_test(tcase, a_trace_and_debug_mode_know_it_too, 0, 2);
    tcase_add_test(tcase, without_a_file_there_is_no_place);
    tcase_add_test(tcase, frames_name_the_file_and_the_line);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(origins_suite);
