/*
 * The refusal of the calling thread's latest request for memory, which explains OUT_OF_MEMORY. No
 * function needs a lock.
 */
#ifndef CX_EMU_REFUSAL_H
#define CX_EMU_REFUSAL_H

#include <stdbool.h>
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

/* Writes why the system refused the thread's latest request. False: it did not. */
bool cx_emu_refusal_describe(char *text, size_t size);

/* True if nothing but the quota of the GPU refused the thread's latest request. */
bool cx_emu_refusal_is_by_gpu(void);

#endif
