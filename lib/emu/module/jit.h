/* The options of loading and linking code. Takes no lock. */
#ifndef CX_EMU_JIT_H
#define CX_EMU_JIT_H

#include "driver/cuda_abi.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values are the user's: some are written to. */
typedef struct cx_emu_jit_options {
    unsigned int count;
    const cxu_jit_option *options;
    void **values;
    unsigned int error_capacity, info_capacity; /* of the user's buffers, once the work has begun */
    unsigned int threads;                       /* that the user asked for */
    uint64_t resumed_ns, spent_ns;
} cx_emu_jit_options;

/* CXU_INVALID_VALUE: an option that does not exist, two that exclude each other, a target that does
 * not exist; CXU_NOT_SUPPORTED: one that changes the code in a way that is not emulated. */
cxu_result cx_emu_jit_check(const cx_emu_jit_options *self);

/* Sets the sizes of the buffers to the bytes written: none so far; and the number of threads. */
void cx_emu_jit_begin(cx_emu_jit_options *self);

/* Takes that back, so that the same options can be used once more. */
void cx_emu_jit_undo(const cx_emu_jit_options *self);

/* The work goes on; it pauses, and the wall time is written. */
void cx_emu_jit_resume(cx_emu_jit_options *self);
void cx_emu_jit_pause(cx_emu_jit_options *self);

/* The most registers that a thread may have; 0: any number. */
unsigned int cx_emu_jit_registers(const cx_emu_jit_options *self);

/* True if the user wants to read what was compiled. */
bool cx_emu_jit_is_verbose(const cx_emu_jit_options *self);

/* Reports an error to the log, and to the options' buffer for errors. */
__attribute__((format(printf, 2, 3))) void
cx_emu_jit_complain(const cx_emu_jit_options *self, const char *format, ...);

/* Adds a line to the options' buffer for information. */
__attribute__((format(printf, 2, 3))) void cx_emu_jit_inform(const cx_emu_jit_options *self,
                                                             const char *format, ...);

#endif
