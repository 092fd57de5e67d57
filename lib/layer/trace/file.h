/*
 * The file of this process (format.h): its head, and chunks that threads take.
 */
#ifndef CX_LAYER_TRACE_FILE_H
#define CX_LAYER_TRACE_FILE_H

#include "layer/trace/format.h"

#include <stdbool.h>

/* Makes it, in the folder CTXRT_TRACE_FOLDER, or in the present folder if that is not set. False
 * with errno: it cannot be made. */
bool cx_trace_file_open(void);

/* Maps the next chunk, filled with zeroes. In the child of a fork the first one begins a file of
 * the child's own. NULL: there is no room, and nothing is recorded any more. No thread may be
 * cancelled here. */
cx_trace_chunk *cx_trace_file_map(void);

/* The mapping ends; the file keeps the chunk. */
void cx_trace_file_unmap(cx_trace_chunk *chunk);

/* A call or a piece of work is not in the file, or not all that it tells. */
void cx_trace_file_lose(void);

/* The number of a new thread. */
uint32_t cx_trace_file_thread(void);

/* Called in the child of a fork, on its only thread, whose chunk is the parent's. */
extern void (*cx_trace_file_forked)(void);

#endif
