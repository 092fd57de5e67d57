/* What planning a tensor costs, from a thousand to a million of them, and how small the hard cases
 * get. The driver does not matter; --count N plans at most N tensors. */
#include "check.h"
#include "folder.h"
#include "options.h"
#include "table.h"

#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LIVE = 1000, SLOTS = 1000 };

/* Of this process, so that what else runs on the machine counts little. */
static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Tensors of 256 bytes to 4 MiB of which a thousand live at a time, each taking the place of a
 * random one. */
static void time_planning(size_t tensors)
{
    size_t live[LIVE], peak;
    uint32_t random = 1;
    ctxrt_plan *plan;
    bench_check(ctxrt_plan_create(256, &plan));
    double start = now_ns();
    for (size_t i = 0; i < tensors; i++) {
        size_t at = i < LIVE ? i : next_random(&random) % LIVE;
        if (i >= LIVE)
            bench_check(ctxrt_plan_free(plan, live[at]));
        bench_check(ctxrt_plan_alloc(plan, (size_t)256 << next_random(&random) % 15, &live[at]));
    }
    double spent = now_ns() - start;
    bench_check(ctxrt_plan_peak(plan, &peak));
    char name[32];
    snprintf(name, sizeof name, "%zu", tensors);
    bench_table_row(name, (const double[]){spent / (double)tensors});
    bench_check(ctxrt_plan_destroy(plan));
}

static bool read_trace(const char *name, ctxrt_plan *plan)
{
    char path[4096], line[64];
    size_t slot, size, tensors[SLOTS];
    snprintf(path, sizeof path, "%s/%s", bench_traces_folder(), name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "bench_plan: %s cannot be read\n", path);
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "a,%zu,%zu", &slot, &size) == 2 && slot < SLOTS)
            bench_check(ctxrt_plan_alloc(plan, size, &tensors[slot]));
        else if (sscanf(line, "f,%zu", &slot) == 1 && slot < SLOTS)
            bench_check(ctxrt_plan_free(plan, tensors[slot]));
    }
    fclose(file);
    return true;
}

/* Each is known to fit into 256 MiB. */
static bool optimise(char letter)
{
    const double capacity = 256.0 * 1024 * 1024;
    char name[32];
    size_t before, after;
    ctxrt_plan *plan;
    snprintf(name, sizeof name, "minimalloc_%c.csv", letter);
    const uint64_t effort = bench_chosen.quick ? 1000 : 0;
    bench_check(ctxrt_plan_create(256, &plan));
    bool good = read_trace(name, plan);
    if (good) {
        bench_check(ctxrt_plan_peak(plan, &before));
        double start = now_ns();
        bench_check(ctxrt_plan_optimise(plan, 0, effort));
        double spent = now_ns() - start;
        bench_check(ctxrt_plan_peak(plan, &after));
        const double values[] = {(double)before / capacity, (double)after / capacity, spent / 1e9};
        snprintf(name, sizeof name, "%c", letter);
        bench_table_row(name, values);
    }
    bench_check(ctxrt_plan_destroy(plan));
    return good;
}

int main(int argc, char **argv)
{
    static const bench_column planning[] = {{"tensor_ns", "ns for each, planned and freed", 0},
                                            {0}};
    static const bench_column cases[] = {
        {"best_fit", "best fit, as they come", 3}, {"optimised", "optimised", 3},
        {"seconds", "seconds", 2},                 {0},
    };
    bool good = true;
    bench_options_take(argc, argv, "bench_plan");
    const size_t most = bench_count(1000000, 1000000);
    bench_tables_begin("plan");
    bench_table_begin("tensors", "tensors", planning);
    for (size_t tensors = 1000; tensors <= most; tensors *= 10)
        time_planning(tensors);
    bench_table_end();
    bench_table_begin("cases", "case", cases);
    for (char letter = 'A'; letter <= 'E'; letter++)
        good = optimise(letter) && good;
    bench_table_end();
    bench_tables_end();
    return good ? 0 : 1;
}
