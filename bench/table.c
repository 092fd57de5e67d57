#include "table.h"

#include "options.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_WIDTH = 28, WIDTH = 12 };

static const char *bench_name;
static const bench_column *shown;
static int column_count;
static bool any_table, any_row;

void bench_tables_begin(const char *bench)
{
    bench_name = bench;
    if (bench_chosen.form == BENCH_JSON)
        printf("{\"bench\": \"%s\", \"driver\": \"%s\", \"processors\": %ld, \"quick\": %s,\n"
               " \"tables\": [",
               bench, bench_chosen.libcuda ? "libcuda" : "emulated",
               sysconf(_SC_NPROCESSORS_ONLN), bench_chosen.quick ? "true" : "false");
}

static int width_of(const bench_column *column)
{
    int length = (int)strlen(column->heading);
    return length > WIDTH ? length : WIDTH;
}

static void begin_text(const char *of)
{
    printf("%s%-*s", any_table ? "\n" : "", NAME_WIDTH, of);
    for (int i = 0; i < column_count; i++)
        printf("  %*s", width_of(&shown[i]), shown[i].heading);
    putchar('\n');
}

static void begin_markdown(const char *key, const char *of)
{
    printf("%s<!-- bench %s: %s -->\n| %s |", any_table ? "\n" : "", bench_name, key, of);
    for (int i = 0; i < column_count; i++)
        printf(" %s |", shown[i].heading);
    printf("\n|---|");
    for (int i = 0; i < column_count; i++)
        printf("---|");
    putchar('\n');
}

void bench_table_begin(const char *key, const char *of, const bench_column *columns)
{
    shown = columns;
    for (column_count = 0; columns[column_count].key != NULL; column_count++)
        continue;
    if (bench_chosen.form == BENCH_TEXT)
        begin_text(of);
    else if (bench_chosen.form == BENCH_MARKDOWN)
        begin_markdown(key, of);
    else
        printf("%s\n  {\"table\": \"%s\", \"of\": \"%s\", \"rows\": [", any_table ? "," : "", key,
               of);
    any_table = true;
    any_row = false;
}

static void print_text(const char *name, const double *values)
{
    printf("%-*s", NAME_WIDTH, name);
    for (int i = 0; i < column_count; i++) {
        if (isnan(values[i]))
            printf("  %*s", width_of(&shown[i]), "-");
        else
            printf("  %*.*f", width_of(&shown[i]), shown[i].decimals, values[i]);
    }
    putchar('\n');
}

static void print_markdown(const char *name, const double *values)
{
    printf("| %s |", name);
    for (int i = 0; i < column_count; i++) {
        if (isnan(values[i]))
            printf(" - |");
        else
            printf(" %.*f |", shown[i].decimals, values[i]);
    }
    putchar('\n');
}

static void print_json(const char *name, const double *values)
{
    printf("%s\n    {\"name\": \"%s\"", any_row ? "," : "", name);
    for (int i = 0; i < column_count; i++)
        if (!isnan(values[i]))
            printf(", \"%s\": %.4f", shown[i].key, values[i]);
    putchar('}');
}

void bench_table_row(const char *name, const double *values)
{
    if (bench_chosen.form == BENCH_TEXT)
        print_text(name, values);
    else if (bench_chosen.form == BENCH_MARKDOWN)
        print_markdown(name, values);
    else
        print_json(name, values);
    any_row = true;
    fflush(stdout);
}

void bench_table_end(void)
{
    if (bench_chosen.form == BENCH_JSON)
        printf("]}");
    else if (bench_chosen.form == BENCH_MARKDOWN)
        printf("<!-- end -->\n");
}

void bench_tables_end(void)
{
    if (bench_chosen.form == BENCH_JSON)
        printf("]}\n");
    fflush(stdout);
}
