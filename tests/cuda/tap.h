/* TAP for programs without Check. From the main thread only. */
#ifndef CX_TEST_TAP_H
#define CX_TEST_TAP_H

#include <stdbool.h>

/* One test; `what` is a format. */
__attribute__((format(printf, 2, 3))) void tap_report(bool good, const char *what, ...);
__attribute__((format(printf, 2, 3))) void tap_skip(const char *why, const char *what, ...);
__attribute__((format(printf, 1, 2))) void tap_note(const char *what, ...);

/* Prints the plan; returns what main returns. */
int tap_end(void);

/* The whole program cannot run; returns what main returns. */
int tap_skip_all(const char *why, const char *reason);

#endif
