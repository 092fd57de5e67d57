/*
 * The trace of an allocator: its last allocations and frees in a ring, written out as
 * `a,SLOT,BYTES` and `f,SLOT`.
 *
 * An allocation is recorded after the allocator's work and a free before it, so that in the order
 * of the ring every address is free when it is allocated.
 */
#ifndef CX_DIAGNOSE_TRACE_H
#define CX_DIAGNOSE_TRACE_H

#include "memory/allocator.h"

typedef struct cx_trace_operation {
    void *pointer;
    uint64_t bytes;
    bool is_free;
    const void *place; /* of an allocation: origin.h */
} cx_trace_operation;

/* Zeroed: no trace. Lock "trace". */
typedef struct cx_trace {
    bool recording;
    cx_trace_operation *ring; /* of `length`; NULL: none */
    uint64_t length, next;    /* numbers of operations */
    int file; /* number of the file that it is written to in the end; 0: none */
} cx_trace;

/* Called before the allocator is used: starts to record if CTXRT_ALLOCATOR_TRACE is set. */
void cx_trace_begin(cx_allocator *allocator);

/* Called when the allocator is unused: writes the file of CTXRT_ALLOCATOR_TRACE. */
void cx_trace_end(cx_allocator *allocator);

/* Records an operation, if the trace records. */
void cx_trace_record(cx_trace *trace, void *pointer, size_t size_bytes, bool is_free);

/* Copies the recorded operations in order; the caller frees them. NULL: no trace if *out_count is
 * 0, else out of memory. */
cx_trace_operation *cx_trace_take(const cx_trace *trace, size_t *out_count);

/* Writes operations as lines, in order. Memory allocated before the first of them comes first; an
 * address that is allocated twice was freed in between. False: out of memory, or see
 * ferror(file). */
bool cx_trace_write_lines(FILE *file, const cx_trace_operation *operations, size_t count);

#endif
