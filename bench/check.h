/*
 * What every bench does about errors and wrong use: it says so, with its name, and exits.
 */
#ifndef CX_BENCH_CHECK_H
#define CX_BENCH_CHECK_H

#include <ctxrt/ctxrt.h>
#include <stdint.h>

/* Exits with 1 unless the call succeeded. */
void bench_check(ctxrt_status status);
void bench_check_driver(int result);

/* An argument that must be a number from `low` to `high`; else exits with 2. */
uint64_t bench_number(const char *text, uint64_t low, uint64_t high);

#endif
