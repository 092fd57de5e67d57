/*
 * The options that every bench takes.
 */
#ifndef CX_BENCH_OPTIONS_H
#define CX_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bench_form { BENCH_TEXT, BENCH_JSON, BENCH_MARKDOWN } bench_form;

typedef struct bench_options {
    bool libcuda; /* the driver is libcuda, not the embedded one */
    bool quick;   /* one short round, to see that it runs: the figures mean nothing */
    bench_form form;
    int rounds;   /* 0: the bench's own */
    size_t count; /* 0: the bench's own */
} bench_options;

extern bench_options bench_chosen;

#define BENCH_USAGE \
    "[--driver emulated|libcuda] [--rounds N] [--count N] [--quick] [--json | --markdown]"

/* Takes the option at `at`. Returns how many arguments that are; 0: it is none of these. Exits with
 * 2 if its value is wrong. */
int bench_option(int argc, char **argv, int at);

/* For a bench that takes no other options. Exits with 2 after its usage was printed. */
void bench_options_take(int argc, char **argv, const char *name);

/* What the user chose, or else the bench's own figure, or that of --quick. */
int bench_rounds(int own);
size_t bench_count(size_t own, size_t quick);

/* An argument that must be a number from `low` to `high`; else exits with 2. */
uint64_t bench_number(const char *text, uint64_t low, uint64_t high);

#endif
