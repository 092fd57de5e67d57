/*
 * The traces that are measured: synthetic ones, and recordings of bench/traces.
 */
#ifndef CX_BENCH_ALLOC_TRACES_H
#define CX_BENCH_ALLOC_TRACES_H

#include "allocation_trace.h"

typedef struct bench_trace {
    const char *name;
    bool timed;       /* else it is for capacity only */
    allocation_trace trace;
    allocation_trace brief; /* for subjects that are slow: the same with fewer operations */
} bench_trace;

#define BENCH_TRACES 9
#define BENCH_SLOW 50 /* brief traces are so much shorter */

/* Traces that cannot be read have no operations, and are told on stderr. False: no memory. */
bool bench_traces_open(bench_trace traces[BENCH_TRACES], const char *folder, uint64_t operations);
void bench_traces_close(bench_trace traces[BENCH_TRACES]);

#endif
