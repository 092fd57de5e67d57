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

#endif
