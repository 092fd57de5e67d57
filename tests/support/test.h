/* Shared by all test programs of ctxrt: one main, TAP on standard output. */
#ifndef CX_TEST_H
#define CX_TEST_H

#include <check.h>

/* Runs the suites of the NULL-terminated list; returns main's result. */
int cx_test_run(Suite *(*const suites[])(void));

/* Reports to TAP that this whole program is skipped, and why; returns main's result. */
int cx_test_skip(const char *reason);

#endif
