/* The lines of a trace in which operations were lost: every slot is still empty when it is
 * allocated, and full when it is freed. */
#include "diagnose/trace.h"
#include "test.h"

#include <stdlib.h>

static char memory[4];

static cx_trace_operation alloc_op(int address, uint64_t bytes)
{
    return (cx_trace_operation){.pointer = &memory[address], .bytes = bytes};
}

static cx_trace_operation free_op(int address, uint64_t bytes)
{
    return (cx_trace_operation){.pointer = &memory[address], .bytes = bytes, .is_free = true};
}

static void assert_lines(cx_trace_operation *operations, size_t count, const char *expected)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert(cx_trace_write_lines(file, operations, count));
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(what_is_allocated_twice_was_freed_between)
{
    cx_trace_operation operations[] = {alloc_op(0, 5), alloc_op(1, 6), alloc_op(0, 7),
                                       free_op(0, 7)};
    assert_lines(operations, 4, "a,0,5\na,1,6\nf,0\na,0,7\nf,0\n");
}
END_TEST

START_TEST(what_is_freed_twice_counts_once)
{
    cx_trace_operation operations[] = {alloc_op(0, 5), free_op(0, 5), free_op(0, 9), free_op(1, 4),
                                       free_op(1, 3)};
    assert_lines(operations, 5, "a,0,4\na,1,5\nf,1\nf,0\n");
}
END_TEST

START_TEST(what_was_allocated_earlier_may_be_freed_and_allocated_again)
{
    cx_trace_operation operations[] = {free_op(2, 8), alloc_op(2, 1), free_op(2, 1), free_op(3, 2)};
    assert_lines(operations, 4, "a,0,8\na,1,2\nf,0\na,0,1\nf,0\nf,1\n");
}
END_TEST

static Suite *lines_suite(void)
{
    Suite *suite = suite_create("trace lines");
    TCase *tcase = tcase_create("trace lines");
    tcase_add_test(tcase, what_is_allocated_twice_was_freed_between);
    tcase_add_test(tcase, what_is_freed_twice_counts_once);
    tcase_add_test(tcase, what_was_allocated_earlier_may_be_freed_and_allocated_again);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(lines_suite);
