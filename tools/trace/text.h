/*
 * A trace as text: one line for each call, in the order in which the calls began.
 */
#ifndef CX_TOOLS_TRACE_TEXT_H
#define CX_TOOLS_TRACE_TEXT_H

#include "trace/read.h"

#include <stdio.h>

/* False: no memory, or it could not be written. */
bool trace_write_text(const trace *self, FILE *to);

#endif
