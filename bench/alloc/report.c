#include "report.h"

#include "options.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 1024, MISSING_MAX = 16 };

typedef struct report_row {
    const char *measure, *subject;
    char trace[40];
    bench_value values[BENCH_VALUES_MAX + 1];
    bool done; /* it is in a table that was written */
} report_row;

/* Text is printed as it comes, the other forms at the end. */
static report_row rows[ROWS_MAX];
static int row_count;
static char last_measure[32];

static struct {
    const char *subject;
    char why[256];
} missing[MISSING_MAX];
static int missing_count;

void bench_report_begin(const char *driver, unsigned long operations, long rounds)
{
    char date[32];
    time_t now = time(NULL);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", gmtime(&now));
    if (bench_chosen.form == BENCH_JSON)
        printf("{\"bench\": \"alloc\", \"date\": \"%s\", \"driver\": \"%s\", \"processors\": %ld, "
               "\"quick\": %s, \"operations\": %lu, \"rounds\": %ld,\n \"tables\": [",
               date, driver, processors, bench_chosen.quick ? "true" : "false", operations, rounds);
    else if (bench_chosen.form == BENCH_TEXT)
        printf("%s UTC, driver %s, %ld processors, %lu operations, %ld rounds\n", date, driver,
               processors, operations, rounds);
}

/* ---- text ---- */

static void print_heading(const char *measure, const bench_value *values)
{
    printf("\n%-12s %-18s %-16s", measure, "trace", "subject");
    for (; values->name != NULL; values++)
        printf(" %14s", values->name);
    putchar('\n');
    snprintf(last_measure, sizeof last_measure, "%s", measure);
}

static int decimals(double value)
{
    if (value == floor(value))
        return 0;
    return value < 100 ? 3 : 1;
}

static void print_row(const char *trace, const char *subject, const bench_value *values)
{
    printf("%-12s %-18s %-16s", "", trace, subject);
    for (; values->name != NULL; values++) {
        if (values->value < 0)
            printf(" %14s", "-");
        else
            printf(" %14.*f", decimals(values->value), values->value);
    }
    putchar('\n');
}

static void keep_row(const char *measure, const char *trace, const char *subject,
                     const bench_value *values)
{
    if (row_count == ROWS_MAX)
        return;
    report_row *row = &rows[row_count++];
    *row = (report_row){.measure = measure, .subject = subject};
    snprintf(row->trace, sizeof row->trace, "%s", trace);
    for (int i = 0; i < BENCH_VALUES_MAX && values[i].name != NULL; i++)
        row->values[i] = values[i];
}

void bench_report_row(const char *measure, const char *trace, const char *subject,
                      const bench_value *values)
{
    if (bench_chosen.form != BENCH_TEXT) {
        keep_row(measure, trace, subject, values);
        return;
    }
    if (strcmp(measure, last_measure) != 0)
        print_heading(measure, values);
    print_row(trace, subject, values);
    fflush(stdout);
}

void bench_report_missing(const char *subject, const char *why)
{
    if (bench_chosen.form == BENCH_TEXT)
        printf("%s is not there: %s\n", subject, why);
    if (missing_count == MISSING_MAX)
        return;
    missing[missing_count].subject = subject;
    snprintf(missing[missing_count++].why, sizeof missing->why, "%s", why);
}

/* ---- JSON ---- */

/* Names and reasons: a quote or a control character becomes a blank. */
static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        putchar(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? ' ' : *text);
    putchar('"');
}

static void print_json_row(const report_row *row, bool first)
{
    printf("%s\n    {\"name\": \"%s%s%s\", \"trace\": \"%s\", \"subject\": \"%s\"",
           first ? "" : ",", row->trace, row->subject[0] != '\0' ? ", " : "", row->subject,
           row->trace, row->subject);
    for (const bench_value *value = row->values; value->name != NULL; value++)
        if (value->value >= 0)
            printf(", \"%s\": %.4f", value->name, value->value);
    putchar('}');
}

static void print_json_table(const char *measure, bool first)
{
    bool any = false;
    printf("%s\n  {\"table\": \"%s\", \"of\": \"trace, subject\", \"rows\": [",
           first ? "" : ",", measure);
    for (int i = 0; i < row_count; i++) {
        if (strcmp(rows[i].measure, measure) != 0)
            continue;
        print_json_row(&rows[i], !any);
        rows[i].done = any = true;
    }
    printf("]}");
}

static void print_json_missing(void)
{
    printf("],\n \"missing\": [");
    for (int i = 0; i < missing_count; i++) {
        printf("%s\n  {\"subject\": \"%s\", \"why\": ", i > 0 ? "," : "", missing[i].subject);
        print_quoted(missing[i].why);
        putchar('}');
    }
    printf("]}\n");
}

/* ---- Markdown ---- */

static const report_row *find_row(const char *measure, const char *subject, const char *trace)
{
    for (int i = 0; i < row_count; i++)
        if (strcmp(rows[i].measure, measure) == 0 &&
            (subject == NULL || strcmp(rows[i].subject, subject) == 0) &&
            (trace == NULL || strcmp(rows[i].trace, trace) == 0))
            return &rows[i];
    return NULL;
}

static void print_cell(const report_row *row)
{
    if (row == NULL || row->values[0].value < 0) {
        printf(" - |");
        return;
    }
    /* Two are a best and a median time in ns. */
    if (row->values[1].name != NULL && row->values[1].value >= 0)
        printf(" %.1f / %.1f |", row->values[0].value, row->values[1].value);
    else
        printf(" %.*f |", decimals(row->values[0].value), row->values[0].value);
}

/* The traces of the measure, each at its first row. */
static bool begins_trace(const report_row *row)
{
    return find_row(row->measure, NULL, row->trace) == row;
}

static void print_subject(const char *measure, const char *subject)
{
    printf("| %s |", subject);
    for (int i = 0; i < row_count; i++)
        if (strcmp(rows[i].measure, measure) == 0 && begins_trace(&rows[i]))
            print_cell(find_row(measure, subject, rows[i].trace));
    putchar('\n');
}

/* Libraries of malloc that are not installed have a row too, so that the table is the same. */
static void print_missing(const char *measure)
{
    for (int m = 0; m < missing_count; m++) {
        printf("| %s |", missing[m].subject);
        for (int i = 0; i < row_count; i++)
            if (strcmp(rows[i].measure, measure) == 0 && begins_trace(&rows[i]))
                printf(" - |");
        putchar('\n');
    }
}

static bool times_subjects(const char *measure)
{
    return strcmp(measure, "one") == 0 || strcmp(measure, "two") == 0;
}

static void print_markdown_table(const char *measure, bool first)
{
    const bench_value *values = find_row(measure, NULL, NULL)->values;
    bool two = values[1].name != NULL;
    printf("%s<!-- bench alloc: %s -->\n| %s%s%s |", first ? "" : "\n", measure, values[0].name,
           two ? " / " : "", two ? values[1].name : "");
    for (int i = 0; i < row_count; i++)
        if (strcmp(rows[i].measure, measure) == 0 && begins_trace(&rows[i]))
            printf(" %s |", rows[i].trace);
    printf("\n|---|");
    for (int i = 0; i < row_count; i++)
        if (strcmp(rows[i].measure, measure) == 0 && begins_trace(&rows[i]))
            printf("---|");
    putchar('\n');
    for (int i = 0; i < row_count; i++) {
        rows[i].done = rows[i].done || strcmp(rows[i].measure, measure) == 0;
        if (strcmp(rows[i].measure, measure) == 0 &&
            find_row(measure, rows[i].subject, NULL) == &rows[i])
            print_subject(measure, rows[i].subject);
    }
    if (times_subjects(measure))
        print_missing(measure);
    printf("<!-- end -->\n");
}

void bench_report_end(void)
{
    bool first = true;
    for (int i = 0; i < row_count; i++) {
        if (rows[i].done)
            continue;
        if (bench_chosen.form == BENCH_JSON)
            print_json_table(rows[i].measure, first);
        else
            print_markdown_table(rows[i].measure, first);
        first = false;
    }
    if (bench_chosen.form == BENCH_JSON)
        print_json_missing();
    fflush(stdout);
}
