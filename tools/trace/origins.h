/*
 * Where a program made its calls, in words.
 */
#ifndef CX_TOOLS_TRACE_ORIGINS_H
#define CX_TOOLS_TRACE_ORIGINS_H

#include "trace/read.h"

enum { TRACE_ORIGIN = 480 };

/* "main.c:41 in setup()", "program+0x1234" where there is no debug information, or "" for code that
 * lies in no file. Each place is looked up once. */
const char *trace_origin_text(const trace_process *self, const cx_trace_call *call);

/* Frees what trace_origin_text keeps. */
void trace_origins_close(void);

#endif
