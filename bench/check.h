/*
 * What every bench does about errors: it says so, with its name, and exits.
 */
#ifndef CX_BENCH_CHECK_H
#define CX_BENCH_CHECK_H

#include <ctxrt/ctxrt.h>

/* Exits with 1 unless the call succeeded. */
void bench_check(ctxrt_status status);
void bench_check_driver(int result);

#endif
