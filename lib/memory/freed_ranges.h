/*
 * Freed ranges: addresses of memory that ctxrt had and that is gone. The host does not touch them
 * unless it has memory there by now. Messages know the last ones; of earlier ones only the lowest
 * and the highest address is known.
 */
#ifndef CX_MEMORY_FREED_RANGES_H
#define CX_MEMORY_FREED_RANGES_H

#include <ctxrt/memory.h>
#include <stdbool.h>
#include <stdint.h>

/* The end of a block's memory. */
typedef enum cx_freed_how {
    CX_FREED_BY_USER,     /* its user freed it */
    CX_FREED_WHEN_UNUSED, /* ctxrt freed it when no user had it */
    CX_FREED_BY_RESET,    /* a reset of its device ended it */
    CX_FREED_LONG_AGO     /* nothing else is known of it */
} cx_freed_how;

typedef struct cx_freed_range {
    uintptr_t begin, end;
    ctxrt_device device;
    ctxrt_memory_kind kind;
    size_t size_bytes; /* of the memory that went: more than is left here if parts are in use
                        * again; 0: unknown */
    cx_freed_how how;
} cx_freed_range;

/* True if some of these bytes, which no driver knows, lie in a freed range, and the host cannot
 * reach them. Asks the system about the host's memory, and remembers its answer. */
bool cx_freed_ranges_find(const void *pointer, size_t size_bytes, cx_freed_range *out_range);

/* ---- lock "pointers" held ---- */

void cx_freed_ranges_enter(const cx_freed_range *range);

/* The addresses are used again. */
void cx_freed_ranges_leave(uintptr_t begin, uintptr_t end);

#endif
