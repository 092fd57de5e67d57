/*
 * Tables of figures, as text, as JSON or as Markdown, as bench_chosen says.
 */
#ifndef CX_BENCH_TABLE_H
#define CX_BENCH_TABLE_H

enum { BENCH_COLUMNS_MAX = 8 };

typedef struct bench_column {
    const char *key;     /* in JSON */
    const char *heading; /* elsewhere */
    int decimals;
} bench_column;

/* Before the first table: the name of the bench. Names have no quotes and no control characters. */
void bench_tables_begin(const char *bench);

/* `key` names the table, `of` what its rows are. The columns end with one that has no key, and
 * stay. */
void bench_table_begin(const char *key, const char *of, const bench_column *columns);

/* A value that is NAN is not there. */
void bench_table_row(const char *name, const double *values);

void bench_table_end(void);
void bench_tables_end(void);

#endif
