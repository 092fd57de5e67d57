/*
 * What the driver knows of a failure beyond its result: which work failed first, and which limit of
 * the process refused memory.
 */
#ifndef CX_EMU_EXPLAIN_H
#define CX_EMU_EXPLAIN_H

#include "emu/context.h"
#include <stddef.h>

/* A request for memory begins on the calling thread: it forgets the refusal of an earlier one. */
void cx_emu_refusal_begin(void);

/* The system refused memory of the request: `call` failed and left errno. */
void cx_emu_refused_by_system(const char *call, size_t bytes);

/* RLIMIT_FSIZE is below what a file of memory needs. */
void cx_emu_refused_by_file_limit(size_t bytes);

/* More than the machine has. */
void cx_emu_refused_by_machine(size_t bytes);

/* Work of the context failed first, with an error that sticks. Lock "emu.state" held. */
void cx_emu_failure_note(const cx_emu_context *context, cxu_result error, const char *what);

#endif
