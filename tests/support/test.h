/* Shared by all test programs of ctxrt: one main, TAP on standard output. */
#ifndef CX_TEST_H
#define CX_TEST_H

#include <check.h>

/*
 * Check writes a message to a file at each assertion that holds, to say after a crash which was the
 * last: in loops that took up to 30 times as long as what is tested, and kept its threads apart.
 */
#define _mark_point(file, line) ((void)0)

/* Adds a test as Check does; where CTXRT_TEST_NAME is set, only the test of that name. `make unit CASE=name` sets it. */
void cx_test_add(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end);
#define _tcase_add_test(tcase, test, signal, exit_value, start, end)                               \
    cx_test_add(tcase, test, signal, exit_value, start, end)

/* Runs the suites of the NULL-terminated list; returns main's result. */
int cx_test_run(Suite *(*const suites[])(void));

/*
 * The same, for many tests that leave nothing behind: under sanitizers, where a process for each
 * takes longer than the test, they share one, which has 10 minutes. CK_FORK=yes parts them again.
 */
int cx_test_run_together(Suite *(*const suites[])(void));

/* Reports to TAP that this whole program is skipped, and why; returns main's result. */
int cx_test_skip(const char *reason);

#endif
