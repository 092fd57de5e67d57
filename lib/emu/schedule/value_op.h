/*
 * Writes of values to memory by streams, and waits for values. All functions: lock "emu.state"
 * held.
 */
#ifndef CX_EMU_VALUE_OP_H
#define CX_EMU_VALUE_OP_H

#include "emu/schedule/work.h"

/* Counted, and constant. */
typedef struct cx_emu_values {
    int references;
    unsigned int count;
    cxu_stream_mem_op operations[];
} cx_emu_values;

#define CX_EMU_VALUES_MAX 256

/* The argument of a piece of work that does the operations one after the other. */
typedef struct cx_emu_values_run {
    cx_emu_values *values;
    unsigned int at; /* the next operation */
    cx_emu_context *context;
    uint64_t opening; /* of the context: a wait ends with it */
    uint64_t latest;  /* memory when it was queued */
} cx_emu_values_run;

/* Copies the user's operations. CXU_INVALID_VALUE: none, too many, or an unknown one;
 * CXU_NOT_SUPPORTED: the device lacks one; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_values_create(const char *call, unsigned int count,
                                const cxu_stream_mem_op *operations, cx_emu_values **out_values);

void cx_emu_values_retain(cx_emu_values *values);
void cx_emu_values_drop(cx_emu_values *values); /* NULL is harmless */

/* Makes the request for a piece of work that does them in a context; its argument is `out_run`.
 * CXU_INVALID_VALUE: memory that is unknown, not reached, managed, or not aligned. */
cxu_result cx_emu_values_request(cx_emu_values *values, cx_emu_context *context,
                                 cx_emu_values_run *out_run, cx_emu_work_request *out_request);

#endif
