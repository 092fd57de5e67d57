/*
 * Findings of `ctxrt check`, as marks at the time at which they were found.
 */
#ifndef CX_TOOLS_TRACE_MARKS_H
#define CX_TOOLS_TRACE_MARKS_H

#include "check/report.h"

#include <stddef.h>
#include <stdint.h>

typedef struct trace_mark {
    int32_t pid, tid; /* the thread that found it */
    uint64_t time;    /* ns of CLOCK_MONOTONIC */
    const char *kind, *severity;
    char *text; /* as the report has it; UTF-8 */
} trace_mark;

typedef struct trace_marks {
    trace_mark *all;
    size_t count;
} trace_marks;

/* The findings that the report has told. False: no memory. */
bool trace_marks_of(const report *findings, trace_marks *out);
void trace_marks_free(trace_marks *self);

#endif
