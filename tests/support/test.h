/* What every test program of ctxrt shares: one main, TAP on standard output. */
#ifndef CX_TEST_H
#define CX_TEST_H

#include <check.h>

/* Runs the suites that the NULL-terminated list makes; returns what main returns. */
int cx_test_run(Suite *(*const suites[])(void));

/* Tells TAP that this whole program is skipped, and why; returns what main returns. */
int cx_test_skip(const char *reason);

#endif
