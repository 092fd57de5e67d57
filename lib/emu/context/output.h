/*
 * Text that kernels print (vprintf, assertions): kept until somebody waits for the context's work,
 * launches, copies synchronously, loads or unloads code there, or a callback of a stream begins.
 * Beyond the limit CU_LIMIT_PRINTF_FIFO_SIZE the oldest is lost. All functions: lock held.
 */
#ifndef CX_EMU_OUTPUT_H
#define CX_EMU_OUTPUT_H

#include "emu/context/context.h"
#include "emu/base/state.h"

/* `failed`: of an assertion, for standard error. Counts the texts that are lost for it. False: out
 * of memory. */
bool cx_emu_output_add(cx_emu_context *context, const char *text, size_t length, bool failed,
                       size_t *inout_lost);

/* Writes all to standard output and standard error; the lock is released meanwhile. */
void cx_emu_output_flush(cx_emu_context *context);

/* Counts the contexts that have text; read without the lock. */
extern _Atomic int cx_emu_outputs;

/* Flushes the calling thread's current context, at the start of a call that does so. Takes the
 * lock. */
void cx_emu_output_show_slowly(void);
static inline void cx_emu_output_show(void)
{
    if (__builtin_expect(atomic_load_explicit(&cx_emu_outputs, memory_order_relaxed) > 0, 0))
        cx_emu_output_show_slowly();
}

#endif
