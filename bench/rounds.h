/*
 * Timing two ways to do the same in turn: rival, ours, rival, ours ... so that a machine whose
 * speed drifts slows both alike.
 */
#ifndef CX_BENCH_ROUNDS_H
#define CX_BENCH_ROUNDS_H

#include <stddef.h>

#define BENCH_ROUNDS_MAX 101

/* Does the operation `count` times. */
typedef void (*bench_operation)(size_t count, void *argument);

typedef struct bench_figures {
    double best_ns, median_ns; /* of one operation */
} bench_figures;

typedef struct bench_pair {
    bench_figures rival, ours;
    /* ours - rival; the median is that of the rounds' differences */
    double added_best_ns, added_median_ns;
    double ratio_median;                   /* ours / rival */
} bench_pair;

/* Called by an operation: what it does between the two is not timed. */
void bench_pause(void);
void bench_resume(void);

/* Runs both once to warm up, then `rounds` times each, by turns. */
bench_pair bench_run(bench_operation rival, bench_operation ours, void *argument, size_t count,
                     int rounds);

#endif
