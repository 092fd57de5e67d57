/*
 * Figures as text, JSON or Markdown, as bench_chosen says: one row for each measure, trace and
 * subject. In Markdown a measure is a table of subjects by traces, with the first two values.
 */
#ifndef CX_BENCH_ALLOC_REPORT_H
#define CX_BENCH_ALLOC_REPORT_H

enum { BENCH_VALUES_MAX = 8 };

typedef struct bench_value {
    const char *name;
    double value; /* below 0: there is none */
} bench_value;

/* Before the first row: what is common to all of them. */
void bench_report_begin(const char *driver, unsigned long operations, long rounds);

/* `measure` and `trace` in turn make a heading where they change. The last value has no name; names
 * of values, measures and subjects stay. */
void bench_report_row(const char *measure, const char *trace, const char *subject,
                      const bench_value *values);

/* A subject that is not there, and why. */
void bench_report_missing(const char *subject, const char *why);

void bench_report_end(void);

#endif
