/*
 * Sums of a trace: calls, kernels, copies and fills by name, with count, total, least, mean and
 * most time.
 */
#ifndef CX_TOOLS_TRACE_STATS_H
#define CX_TOOLS_TRACE_STATS_H

#include "trace/read.h"

#include <stdio.h>

/* Writes tables of all processes together. False: no memory, or it could not be written. */
bool trace_write_stats(const trace *self, FILE *to);

#endif
