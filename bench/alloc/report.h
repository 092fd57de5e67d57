/*
 * Figures as a table, or as JSON: one row for each measure, trace and subject.
 */
#ifndef CX_BENCH_ALLOC_REPORT_H
#define CX_BENCH_ALLOC_REPORT_H

#include <stdbool.h>

typedef struct bench_value {
    const char *name;
    double value; /* below 0: there is none */
} bench_value;

/* Before the first row: what is common to all of them. */
void bench_report_begin(bool json, const char *driver, unsigned long operations, long rounds);

/* `measure` and `trace` in turn make a heading where they change. At most 8 values; the last has no
 * name. */
void bench_report_row(const char *measure, const char *trace, const char *subject,
                      const bench_value *values);

/* A subject that is not there, and why. */
void bench_report_missing(const char *subject, const char *why);

void bench_report_end(void);

#endif
