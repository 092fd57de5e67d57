/*
 * Past addresses: of memory that ctxrt had and that is gone. The host does not touch them unless it
 * has memory there by now.
 */
#ifndef CX_MEMORY_PAST_H
#define CX_MEMORY_PAST_H

#include <ctxrt/memory.h>
#include <stdbool.h>
#include <stdint.h>

/* The end of a block's memory. */
typedef enum cx_past_end {
    CX_PAST_FREED,      /* its user freed it */
    CX_PAST_GIVEN_BACK, /* ctxrt freed it when no user had it */
    CX_PAST_RESET       /* a reset of its device ended it */
} cx_past_end;

typedef struct cx_past {
    uintptr_t begin, end;
    ctxrt_device device;
    ctxrt_memory_kind kind;
    size_t size_bytes; /* of the memory that went: more than is left here if parts are in use
                        * again */
    cx_past_end how;
} cx_past;

/* True if some of these bytes, which no driver knows, were such memory, and the host cannot reach
 * them: the system is asked, and its answer is remembered. */
bool cx_past_find(const void *pointer, size_t size_bytes, cx_past *out_past);

/* ---- lock "pointers" held ---- */

void cx_past_enter(const cx_past *past);

/* The addresses are used again. */
void cx_past_leave(uintptr_t begin, uintptr_t end);

#endif
