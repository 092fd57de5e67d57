/*
 * Calls in words: their arguments and results.
 */
#ifndef CX_TOOLS_TRACE_CALLS_H
#define CX_TOOLS_TRACE_CALLS_H

#include "trace/objects.h"

enum { TRACE_TEXT = 1024 };

/* "stream 1, kernel 2 add, grid=(4,1,1)"; what came back is behind an arrow: "-> stream 1". */
void trace_arguments_text(const trace_process *self, const cx_trace_call *call, char *text,
                          size_t size);

/* "SUCCESS", "INVALID_VALUE", "under way", or the number of an unknown one. */
void trace_result_text(const cx_trace_call *call, char *text, size_t size);

/* The context that was current, at a time: "context 1 of GPU 0", "no context". */
void trace_context_text(const trace_process *self, uint64_t handle, uint64_t time, char *text,
                        size_t size);

/* The stream that a call names: true if it names one, with the handle as the driver takes it: a
 * default stream's is CXU_STREAM_LEGACY or CXU_STREAM_PER_THREAD. */
bool trace_stream_of(const cx_trace_call *call, uint64_t *out_stream);

/* "main" or its name; "thread 3" if it has that of the program, as threads do that get none. */
void trace_thread_text(const trace_process *self, const trace_thread *thread, char *text,
                       size_t size);

/* The value of a call's argument that has this name in symbols.def, 0: it has none. */
uint64_t trace_argument(const cx_trace_call *call, const char *name);

/* The last part of a path. */
const char *trace_file_name(const char *path);

#endif
