/*
 * Driver calls that go through the embedded driver's own table and through a layer, by turns.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "driver/table.h"
#include "rounds.h"

#include <stdbool.h>

extern cx_driver_table bench_bare, bench_layered;

/* Starts the embedded driver, puts the layer in front of it, and makes what the calls need. Ends
 * the program on failure. */
void bench_prepare_calls(bool (*put)(const cx_driver_table *below, cx_driver_table *out_table));

/* Prints a table of what the layer adds to each of the calls, and how many backtraces it takes if
 * it takes any. */
void bench_time_calls(bool backtraces, size_t count, int rounds);

/* Makes all of the calls once. Returns how many the driver got. */
size_t bench_call_each(const cx_driver_table *table);

#endif
