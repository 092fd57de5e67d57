/*
 * The log: one line at a time to the user's callback, or to stderr. See ctxrt_log_set.
 */
#ifndef CX_BASE_LOG_H
#define CX_BASE_LOG_H

#include <ctxrt/status.h>
#include <stdbool.h>

/* Whether a line of this level would go anywhere. */
bool cx_log_enabled(ctxrt_log_level level);

/* The level that a word of CTXRT_LOG names. */
bool cx_log_parse(const char *text, ctxrt_log_level *out_level);

/* Formats a line, cut at 1 KiB, and passes it on. Lock: "log", only around the choice of
 * callback. */
__attribute__((format(printf, 2, 3))) void cx_log(ctxrt_log_level level, const char *format, ...);

#endif
