/*
 * Traces of allocations: `a,SLOT,BYTES` allocates into a slot, `f,SLOT` frees it; one operation a
 * line, nothing else. ctxrt-replay(1) describes them.
 */
#ifndef CX_TOOLS_ALLOCATION_TRACE_H
#define CX_TOOLS_ALLOCATION_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ALLOCATION_SLOTS_MAX (1u << 24)

typedef struct allocation_operation {
    uint64_t bytes; /* 0: the slot is freed */
    uint32_t slot;
} allocation_operation;

/* Operation `i` is in line i + 1. No slot is allocated into twice, or freed while empty. */
typedef struct allocation_trace {
    allocation_operation *operations;
    size_t count;
    size_t capacity;
    uint32_t slots; /* the highest one, plus 1 */
    uint64_t peak_bytes;
    uint32_t peak_live;
    /* used while the trace is read: the size in each slot; the live bytes and their count */
    uint64_t *slot_bytes;
    uint32_t slot_capacity;
    uint64_t live_bytes;
    uint32_t live;
} allocation_trace;

typedef enum allocation_verdict {
    ALLOCATION_GOOD,
    ALLOCATION_NO_MEMORY,
    ALLOCATION_SLOT_TAKEN,
    ALLOCATION_SLOT_EMPTY,
    ALLOCATION_SLOT_TOO_HIGH,
    ALLOCATION_MALFORMED
} allocation_verdict;

/* Adds an operation to a trace, which starts as {0}. Unless the result is ALLOCATION_GOOD, nothing
 * changes. */
allocation_verdict allocation_trace_add(allocation_trace *trace, uint32_t slot, uint64_t bytes);

/* Reads a whole file. On an error, *out_line is the number of the wrong line, from 1, and the trace
 * is empty. */
allocation_verdict allocation_trace_read(allocation_trace *trace, FILE *file, size_t *out_line);

/* The verdict in words. */
const char *allocation_verdict_text(allocation_verdict verdict);

/* Frees the memory of the trace; it is {0} again. */
void allocation_trace_clear(allocation_trace *trace);

#endif
