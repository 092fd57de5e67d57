/*
 * Measures that need a runtime of their own. Each runs it in a child process, so the calling
 * process must not have started it yet.
 */
#ifndef CX_BENCH_ALLOC_APART_H
#define CX_BENCH_ALLOC_APART_H

#include "play.h"

/* Memory that the emulated GPU needs for the trace to succeed / its peak of live bytes; found by
 * bisection to 1/2000 or the 2 MiB in which that memory is given. Below 0: not with 4 times the
 * peak either. */
double bench_capacity(const char *subject, const bench_stage *stage);

/* Calls cuMem... of the driver for each 1,000 operations, on an emulated GPU of that much memory
 * (0: on the driver that CTXRT_DRIVER names); below 0: memory was refused. */
double bench_upstream(const char *subject, const bench_stage *stage, size_t memory_bytes);

/* Bytes of the process's own memory for each of `live` live blocks; below 0: memory was refused. */
double bench_metadata(const char *subject, const bench_stage *stage, uint32_t live);

/* Plays it and looks: each block is filled when it is allocated, and looked at when it is freed.
 * The number of the first operation that was refused or found other contents, from 1; 0: none. */
size_t bench_verify(const char *subject, const bench_stage *stage);

#endif
