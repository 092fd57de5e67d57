#include "rounds.h"

#include "base/clock.h"
#include <stdlib.h>

static uint64_t paused_at_ns, paused_ns;

void bench_pause(void)
{
    paused_at_ns = cx_clock_ns();
}

void bench_resume(void)
{
    paused_ns += cx_clock_ns() - paused_at_ns;
}

static double time_ns(bench_operation operation, void *argument, size_t count)
{
    paused_ns = 0;
    uint64_t began_ns = cx_clock_ns();
    operation(count, argument);
    return (double)(cx_clock_ns() - began_ns - paused_ns) / (double)count;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts `values`. */
static bench_figures figures_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return (bench_figures){.best_ns = values[0], .median_ns = values[count / 2]};
}

bench_pair bench_run(bench_operation rival, bench_operation ours, void *argument, size_t count,
                     int rounds)
{
    double rivals[BENCH_ROUNDS_MAX], own[BENCH_ROUNDS_MAX], added[BENCH_ROUNDS_MAX],
        ratios[BENCH_ROUNDS_MAX];
    rival(count, argument);
    ours(count, argument);
    for (int i = 0; i < rounds; i++) {
        rivals[i] = time_ns(rival, argument, count);
        own[i] = time_ns(ours, argument, count);
        added[i] = own[i] - rivals[i];
        ratios[i] = own[i] / rivals[i];
    }
    bench_pair pair = {
        .rival = figures_of(rivals, rounds),
        .ours = figures_of(own, rounds),
        .added_median_ns = figures_of(added, rounds).median_ns,
        .ratio_median = figures_of(ratios, rounds).median_ns,
    };
    pair.added_best_ns = pair.ours.best_ns - pair.rival.best_ns;
    return pair;
}
