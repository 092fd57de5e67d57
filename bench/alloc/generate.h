/*
 * Synthetic traces. The same arguments give the same trace on every machine:
 *
 * gpu, small  random order; sizes log-uniform from 256 bytes to 64 MiB, or to 1 MiB; about `live`
 * blocks live train       steps of 96 layers forward and backward over 300 parameters; every 8th
 * step is 5 % smaller
 *
 * With 1,000,000 operations, 10,000 live and seed 1 the peaks are 53.667, 1.241 and 0.957 GiB.
 */
#ifndef CX_BENCH_ALLOC_GENERATE_H
#define CX_BENCH_ALLOC_GENERATE_H

#include "allocation_trace.h"

typedef struct bench_recipe {
    const char *name;
    uint64_t largest_bytes; /* 0: train */
} bench_recipe;

extern const bench_recipe bench_gpu, bench_small, bench_train;

/* False: no memory. `live` does not matter to train. */
bool bench_generate(const bench_recipe *recipe, uint64_t operations, uint32_t live, uint64_t seed,
                    allocation_trace *out_trace);

#endif
