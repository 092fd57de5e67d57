/* Shared by all test programs of ctxrt: one main, TAP on standard output. */
#ifndef CX_TEST_H
#define CX_TEST_H

#include <check.h>
#include <stdbool.h>

/*
 * Check writes a message to a file at each assertion that holds, to say after a crash which was the
 * last: in loops that took up to 30 times as long as what is tested, and kept its threads apart.
 */
#define _mark_point(file, line) ((void)0)

/*
 * Adds a test as Check does; where CTXRT_TEST_NAME is set, only the test of that name. `make unit
 * CASE=name` sets it.
 */
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

/* A file with tests, of a program that may have more; CX_TESTS registers it before main begins. */
typedef struct cx_test_file {
    const char *path;
    Suite *(*const *suites)(void); /* the last is NULL */
    int (*run)(Suite *(*const suites[])(void));
    const char *(*lack)(void); /* NULL, or returns NULL or what the tests need and do not have */
    bool chosen;
    struct cx_test_file *next;
} cx_test_file;

void cx_test_register(cx_test_file *file);

/*
 * Once at the end of a file, in place of a main: the functions that make its suites. The second
 * runs them as cx_test_run_together does; the third skips them where the function `lack` returns
 * a reason.
 */
#define CX_TESTS(...) CX_TEST_FILE(cx_test_run, NULL, __VA_ARGS__)
#define CX_TESTS_TOGETHER(...) CX_TEST_FILE(cx_test_run_together, NULL, __VA_ARGS__)
#define CX_TESTS_UNLESS(lack, ...) CX_TEST_FILE(cx_test_run, lack, __VA_ARGS__)
#define CX_TEST_FILE(run, lack, ...)                                                               \
    static Suite *(*const cx_suites_here[])(void) = {__VA_ARGS__, NULL};                           \
    static cx_test_file cx_file_here = {__FILE__, cx_suites_here, run, lack, .chosen = false};     \
    __attribute__((constructor)) static void cx_register_here(void)                                \
    {                                                                                              \
        cx_test_register(&cx_file_here);                                                           \
    }                                                                                              \
    struct cx_test_file /* takes the semicolon */

#endif
