/*
 * The trace of an allocator: its last allocations and frees in a ring, written out as
 * `a,SLOT,BYTES` and `f,SLOT`.
 *
 * Recording takes no lock: an operation draws a number, which is its place. An allocation is
 * recorded behind the allocator's work and a free before it, so that the order of numbers is one in
 * which every address is free when it is allocated.
 */
#ifndef CX_MEMORY_TRACE_H
#define CX_MEMORY_TRACE_H

#include <ctxrt/allocator.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cx_trace_ring cx_trace_ring;

/* The origin that the caller said (origin.h), else the innermost return address that is not in this
 * library; NULL: not known. */
const void *cx_trace_caller(void);

/* In every allocator. Zeroed, there is none. */
typedef struct cx_trace {
    _Atomic(cx_trace_ring *) recording; /* NULL: nothing is recorded */
    /* Lock "trace": */
    /* what was recorded last first; others may still be written to by who came late */
    cx_trace_ring *rings;
    int file; /* number of the file that it goes to in the end; 0: none */
} cx_trace;

/* Before the allocator is used: records if CTXRT_ALLOCATOR_TRACE says so. */
void cx_trace_begin(cx_trace *trace);

/* When nobody uses the allocator any more: writes the file of CTXRT_ALLOCATOR_TRACE. */
void cx_trace_end(cx_trace *trace);

void cx_trace_record(cx_trace_ring *ring, void *pointer, size_t size_bytes, bool is_free);

static inline void cx_trace_alloc(cx_trace *trace, void *pointer, size_t size_bytes)
{
    cx_trace_ring *ring = atomic_load_explicit(&trace->recording, memory_order_acquire);
    if (__builtin_expect(ring != NULL, 0))
        cx_trace_record(ring, pointer, size_bytes, false);
}

static inline void cx_trace_free(cx_trace *trace, void *pointer, size_t size_bytes)
{
    cx_trace_ring *ring = atomic_load_explicit(&trace->recording, memory_order_acquire);
    if (__builtin_expect(ring != NULL, 0))
        cx_trace_record(ring, pointer, size_bytes, true);
}

typedef struct cx_trace_operation {
    void *pointer;
    uint64_t bytes;
    bool is_free;
    /* of an allocation: the return address in other code than ours; NULL: not known */
    const void *place;
} cx_trace_operation;

/* The operations that are kept, in their order; the caller frees them. False: there is no trace, or
 * no memory. */
bool cx_trace_take(const cx_trace *trace, cx_trace_operation **out_operations, size_t *out_count);

/* ---- writing ---- */

/* Writes operations, in their order, as lines. What was allocated before the first of them comes
 * first; an address that is allocated twice was freed between. False: no memory, or as ferror(file)
 * says. */
bool cx_trace_write_lines(FILE *file, const cx_trace_operation *operations, size_t count);

#endif
