/*
 * The trace of an allocator: its last allocations and frees in a ring, written out as
 * `a,SLOT,BYTES` and `f,SLOT`.
 *
 * Recording takes no lock: an operation draws a number by an atomic increment, which is its place
 * in the ring. An allocation is recorded after the allocator's work and a free before it, so that
 * in the order of numbers every address is free when it is allocated.
 */
#ifndef CX_DIAGNOSE_TRACE_H
#define CX_DIAGNOSE_TRACE_H

#include "memory/allocator.h"

typedef struct cx_trace_ring cx_trace_ring;

/* The origin that the caller named (origin.h), else the innermost return address outside of this
 * library; NULL: unknown. */
const void *cx_trace_caller(void);

/* Zeroed: no trace. */
typedef struct cx_trace {
    _Atomic(cx_trace_ring *) recording; /* NULL: not recording */
    /* Lock "trace": */
    /* the latest recording first; late threads may still write to the others */
    cx_trace_ring *rings;
    int file; /* number of the file that it is written to in the end; 0: none */
} cx_trace;

/* Called before the allocator is used: starts to record if CTXRT_ALLOCATOR_TRACE is set. */
void cx_trace_begin(cx_allocator *allocator);

/* Called when the allocator is unused: writes the file of CTXRT_ALLOCATOR_TRACE. */
void cx_trace_end(cx_allocator *allocator);

/* Records an operation, if the trace records. */
void cx_trace_record(cx_trace *trace, void *pointer, size_t size_bytes, bool is_free);

typedef struct cx_trace_operation {
    void *pointer;
    uint64_t bytes;
    bool is_free;
    /* of an allocation: the return address in other code; NULL: unknown */
    const void *place;
} cx_trace_operation;

/* Copies the recorded operations in order; the caller frees them. False: no trace, or out of
 * memory. */
bool cx_trace_take(const cx_trace *trace, cx_trace_operation **out_operations, size_t *out_count);

/* ---- writing ---- */

/* Writes operations as lines, in order. Memory allocated before the first of them comes first; an
 * address that is allocated twice was freed in between. False: out of memory, or see
 * ferror(file). */
bool cx_trace_write_lines(FILE *file, const cx_trace_operation *operations, size_t count);

#endif
