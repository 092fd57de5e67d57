/*
 * Explains failures beyond their result: the work that failed first, and the process limit that
 * refused memory.
 */
#ifndef CX_EMU_EXPLAIN_H
#define CX_EMU_EXPLAIN_H

#include "emu/context/context.h"
#include <stddef.h>

/* Begins a request for memory on the calling thread: forgets the refusal of an earlier one. */
void cx_emu_refusal_begin(void);

/* The system refused memory for the request: `call` failed and left errno. */
void cx_emu_refused_by_system(const char *call, size_t bytes);

/* RLIMIT_FSIZE is below the size that a memory file needs. */
void cx_emu_refused_by_file_limit(size_t bytes);

/* The request is larger than the machine's memory. */
void cx_emu_refused_by_machine(size_t bytes);

/* The GPU's memory has no room for the request. */
void cx_emu_refused_by_gpu(void);

/* The GPU's memory has no room for a context's share, CTXRT_EMU_CONTEXT_BYTES. */
void cx_emu_refused_to_context(size_t bytes);

/* Records that work of the context failed first, with a sticky error. Lock "emu.state" held. */
void cx_emu_failure_note(const cx_emu_context *context, cxu_result error, const char *what);

#endif
