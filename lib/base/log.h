/*
 * The log: one line at a time to the user's callback, or to stderr. See ctxrt_log_set.
 */
#ifndef CX_BASE_LOG_H
#define CX_BASE_LOG_H

#include <ctxrt/status.h>
#include <stdbool.h>

/* True if a line of this level would be printed. */
bool cx_log_enabled(ctxrt_log_level level);

/* Parses a word of CTXRT_LOG. */
bool cx_log_parse(const char *text, ctxrt_log_level *out_level);

/* Formats a line, cut at 1 KiB, and passes it on. Takes the lock "log" only to choose the
 * callback. */
__attribute__((format(printf, 2, 3))) void cx_log(ctxrt_log_level level, const char *format, ...);

#endif
