#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool as_json, any_row;
static char last_measure[32];

void bench_report_begin(bool json, const char *driver, unsigned long operations, long rounds)
{
    char date[32];
    time_t now = time(NULL);
    as_json = json;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", gmtime(&now));
    printf(json ? "{\"date\": \"%s\", \"driver\": \"%s\", \"processors\": %ld, \"operations\": "
                  "%lu, \"rounds\": %ld,\n"
                  " \"rows\": ["
                : "%s UTC, driver %s, %ld processors, %lu operations, %ld rounds\n",
           date, driver, sysconf(_SC_NPROCESSORS_ONLN), operations, rounds);
}

/* Names and reasons: a quote or a control character becomes a blank. */
static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        putchar(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? ' ' : *text);
    putchar('"');
}

static void print_json_row(const char *measure, const char *trace, const char *subject,
                           const bench_value *values)
{
    printf("%s\n  {\"measure\": \"%s\", \"trace\": \"%s\", \"subject\": \"%s\"", any_row ? "," : "",
           measure, trace, subject);
    for (; values->name != NULL; values++)
        if (values->value >= 0)
            printf(", \"%s\": %.4f", values->name, values->value);
    putchar('}');
}

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

void bench_report_row(const char *measure, const char *trace, const char *subject,
                      const bench_value *values)
{
    if (as_json) {
        print_json_row(measure, trace, subject, values);
    } else {
        if (strcmp(measure, last_measure) != 0)
            print_heading(measure, values);
        print_row(trace, subject, values);
    }
    any_row = true;
    fflush(stdout);
}

void bench_report_missing(const char *subject, const char *why)
{
    if (as_json) {
        printf("%s\n  {\"measure\": \"missing\", \"subject\": \"%s\", \"why\": ",
               any_row ? "," : "", subject);
        print_quoted(why);
        putchar('}');
    } else {
        printf("%s is not there: %s\n", subject, why);
    }
    any_row = true;
}

void bench_report_end(void)
{
    if (as_json)
        printf("]}\n");
    fflush(stdout);
}
