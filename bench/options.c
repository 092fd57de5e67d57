#include "options.h"

#include "rounds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bench_options bench_chosen;

uint64_t bench_number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "%s: %s is not a number from %llu to %llu\n", program_invocation_short_name,
                text, (unsigned long long)low, (unsigned long long)high);
        exit(2);
    }
    return value;
}

static void take_driver(const char *name)
{
    bench_chosen.libcuda = strcmp(name, "libcuda") == 0;
    if (!bench_chosen.libcuda && strcmp(name, "emulated") != 0) {
        fprintf(stderr, "--driver %s: it can be emulated or libcuda\n", name);
        exit(2);
    }
}

static bool take_flag(const char *name)
{
    if (strcmp(name, "--json") == 0)
        bench_chosen.form = BENCH_JSON;
    else if (strcmp(name, "--markdown") == 0)
        bench_chosen.form = BENCH_MARKDOWN;
    else if (strcmp(name, "--quick") == 0)
        bench_chosen.quick = true;
    else
        return false;
    return true;
}

static bool take_value(const char *name, const char *value)
{
    if (strcmp(name, "--driver") == 0)
        take_driver(value);
    else if (strcmp(name, "--rounds") == 0)
        bench_chosen.rounds = (int)bench_number(value, 1, BENCH_ROUNDS_MAX);
    else if (strcmp(name, "--count") == 0)
        bench_chosen.count = (size_t)bench_number(value, 1, 100000000);
    else
        return false;
    return true;
}

int bench_option(int argc, char **argv, int at)
{
    if (take_flag(argv[at]))
        return 1;
    return at + 1 < argc && take_value(argv[at], argv[at + 1]) ? 2 : 0;
}

void bench_options_take(int argc, char **argv, const char *name)
{
    for (int i = 1, taken; i < argc; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken == 0) {
            fprintf(stderr, "usage: %s " BENCH_USAGE "\n", name);
            exit(2);
        }
    }
}

int bench_rounds(int own)
{
    if (bench_chosen.rounds != 0)
        return bench_chosen.rounds;
    return bench_chosen.quick ? 1 : own;
}

size_t bench_count(size_t own, size_t quick)
{
    if (bench_chosen.count != 0)
        return bench_chosen.count;
    return bench_chosen.quick ? quick : own;
}
