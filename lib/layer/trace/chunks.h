/*
 * Chunks for threads: a thread of the tracer maps some ahead and ends the mappings of full ones, so
 * that the program's threads seldom wait for the system. A thread that finds none maps one itself.
 */
#ifndef CX_LAYER_TRACE_CHUNKS_H
#define CX_LAYER_TRACE_CHUNKS_H

#include "layer/trace/file.h"

/* A chunk filled with zeroes; NULL: there is no room, and nothing is recorded any more. */
cx_trace_chunk *cx_trace_chunk_take(void);

/* The thread is done with it: the mapping ends, the file keeps the chunk. */
void cx_trace_chunk_leave(cx_trace_chunk *chunk);

#endif
