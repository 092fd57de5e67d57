/*
 * What an allocation of the source DIRECT costs beside few and beside many live blocks.
 */
#ifndef CX_BENCH_ALLOC_MANY_H
#define CX_BENCH_ALLOC_MANY_H

#include <ctxrt/ctxrt.h>
#include <stddef.h>

enum { BENCH_FEW = 100 };

/* Nanoseconds of a pair of allocation and free: the least of some rounds. */
typedef struct bench_many {
    double few_ns, many_ns;
} bench_many;

/* Sets the device. The blocks are of one page. */
bench_many bench_time_many(ctxrt_device device, size_t many, long rounds);

#endif
