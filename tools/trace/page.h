/*
 * A trace as a web page that needs no other file: a lane for each thread, with its stack as layers
 * and its calls, and one for each stream.
 */
#ifndef CX_TOOLS_TRACE_PAGE_H
#define CX_TOOLS_TRACE_PAGE_H

#include "trace/marks.h"
#include "trace/read.h"

#include <stdio.h>

/* False: no memory, or it could not be written. */
bool trace_write_page(const trace *self, const trace_marks *marks, FILE *to);

#endif
