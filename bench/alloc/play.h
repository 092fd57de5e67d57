/*
 * Plays traces against subjects and takes the time. Every play ends with nothing live.
 */
#ifndef CX_BENCH_ALLOC_PLAY_H
#define CX_BENCH_ALLOC_PLAY_H

#include "subject.h"

/* A trace with the room it is played in: made once, so that no timed run allocates. */
typedef struct bench_stage {
    const allocation_trace *trace;
    uint32_t shift; /* sizes are halved so often, to fit a smaller device */
    int repeats;      /* a short trace is played so many times in a run */
    void **slots[2];  /* of two threads */
} bench_stage;

bool bench_stage_open(bench_stage *stage, const allocation_trace *trace, uint32_t shift,
                      int repeats);
void bench_stage_close(bench_stage *stage);

/* Operations of a run by one thread. */
uint64_t bench_stage_operations(const bench_stage *stage);

/* Plays once. The number of the operation that failed, from 1; 0: none. What is live is freed in
 * any case. */
size_t bench_play(const bench_subject *subject, const bench_stage *stage);

/* Nanoseconds an operation; below 0: memory was refused. The processor time is that of the thread
 * that took more of it: on a machine that others use too it says more than the wall's. */
typedef struct bench_time {
    double wall_ns, processor_ns;
} bench_time;

/* One run.
 * two threads: each plays the whole trace; time over the operations of both.
 * handing: one thread allocates, another frees what the first hands to it. */
bench_time bench_time_one(const bench_subject *subject, const bench_stage *stage);
bench_time bench_time_two(const bench_subject *subject, const bench_stage *stage);
bench_time bench_time_handing(const bench_subject *subject, const bench_stage *stage);

typedef struct bench_latency {
    double median_ns, p99_ns, p999_ns;
} bench_latency;

/* Of each operation by itself, the clock's own cost taken off. False: memory was refused. */
bool bench_latencies(const bench_subject *subject, const bench_stage *stage,
                     bench_latency *out_alloc, bench_latency *out_free);

double bench_now_ns(void);
double bench_processor_ns(void); /* of the calling thread */

/* The subject's, where it has them. */
void bench_enter(const bench_subject *subject);
void bench_leave(const bench_subject *subject);

/* Frees what stands in `count` slots. */
void bench_free_rest(const bench_subject *subject, void **slots, uint32_t count);

#endif
