/*
 * Work in words.
 */
#ifndef CX_TOOLS_TRACE_PIECES_H
#define CX_TOOLS_TRACE_PIECES_H

#include "check/symbols.h"
#include "trace/spans.h"

/* "add", "copy of 4096 bytes", "event record", "host function" */
void trace_piece_text(const trace_process *self, const trace_piece *piece, char *text, size_t size);

/* "kernel", "move", "host", "order", "wait"; "submission" where the time of the work is unknown. */
const char *trace_piece_kind(const trace_piece *piece);

/* "copy host to device", as far as the call says it: the driver finds the sides of others itself.
 * NULL: a call that is unknown. */
const char *trace_call_way(const cx_trace_call *call);

/* That a copy or a fill moves; 0: unknown. */
uint64_t trace_call_bytes(const cx_trace_call *call);

#endif
