/*
 * A trace in the Trace Event Format, which chrome://tracing and Perfetto open.
 */
#ifndef CX_TOOLS_TRACE_JSON_H
#define CX_TOOLS_TRACE_JSON_H

#include "trace/marks.h"
#include "trace/read.h"

#include <stdio.h>

/* False: no memory, or it could not be written. */
bool trace_write_json(const trace *self, const trace_marks *marks, FILE *to);

#endif
