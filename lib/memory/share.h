/*
 * Memory of another process, opened in a context of this one. It is an object of memory like any
 * other; the ways differ in how the driver opens and closes it.
 */
#ifndef CX_MEMORY_SHARE_H
#define CX_MEMORY_SHARE_H

#include "memory/memory.h"

typedef struct cx_share_way {
    cxu_result (*close)(const cx_memory *memory); /* the memory's context is current, or gone */
    cx_slot slot;                                 /* the call that closes it, for errors */
    /* The memory is not the context's: it is closed after a reset too, and before one only when the
     * context's work is done, for which the driver does not wait. */
    bool outlives_reset;
} cx_share_way;

/* Finds the context of the calling thread's frame, and counts memory there. */
ctxrt_status cx_share_begin(size_t size_bytes, cx_context **out_context);

/* Publishes what the driver opened: the model has its address, size, context, epoch and free. After
 * an error the caller has it still. */
ctxrt_status cx_share_publish(cx_memory *model, ctxrt_memory **out_memory);

/* Closes it, and counts it no more. */
ctxrt_status cx_share_close(const cx_memory *memory, const cx_share_way *way);

#endif
