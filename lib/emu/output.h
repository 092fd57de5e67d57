/*
 * Text that kernels print (vprintf, assertions): kept until somebody waits for the context's work.
 * Beyond the limit CU_LIMIT_PRINTF_FIFO_SIZE the oldest is lost. All functions: lock held.
 */
#ifndef CX_EMU_OUTPUT_H
#define CX_EMU_OUTPUT_H

#include "emu/context.h"

/* `failed`: of an assertion, for standard error. */
void cx_emu_output_add(cx_emu_context *context, const char *text, size_t length, bool failed);

/* Writes all to standard output and standard error; the lock is released meanwhile. */
void cx_emu_output_flush(cx_emu_context *context);

#endif
