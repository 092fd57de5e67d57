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

/* Operation `i` stands in line i + 1. No slot is allocated into twice, or freed while it is
 * empty. */
typedef struct allocation_trace {
    allocation_operation *operations;
    size_t count;
    size_t capacity;
    uint32_t slots; /* the highest one, and 1 */
    uint64_t peak_bytes;
    uint32_t peak_live;
    /* of the slots while the trace is made; what is live now, its sum, its count */
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

/* Adds an operation to a trace, which begins as {0}. Nothing has changed where it is not
 * ALLOCATION_GOOD. */
allocation_verdict allocation_trace_add(allocation_trace *trace, uint32_t slot, uint64_t bytes);

/* Reads all of a file. The number of the line that is wrong, from 1, goes into *out_line; the trace
 * is then empty. */
allocation_verdict allocation_trace_read(allocation_trace *trace, FILE *file, size_t *out_line);

/* What is wrong, in words. */
const char *allocation_verdict_text(allocation_verdict verdict);

/* Frees what the trace holds; it is {0} again. */
void allocation_trace_clear(allocation_trace *trace);

#endif
