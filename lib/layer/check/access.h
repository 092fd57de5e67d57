/*
 * The memory that copies and fills touch.
 */
#ifndef CX_LAYER_CHECK_ACCESS_H
#define CX_LAYER_CHECK_ACCESS_H

#include "driver/access_log.h"
#include "layer/check/check.h"

typedef struct cx_check_access {
    uintptr_t address;
    size_t bytes; /* from the first to the last one */
    bool writes;
    bool host;    /* the call says that it is the host's */
    size_t width, pitch; /* of its rows, which lie `pitch` apart */
    size_t height, slice; /* rows of a slice; slices lie `slice` apart */
    size_t depth;
} cx_check_access;

enum { CX_CHECK_ACCESSES = 2 };

/* Finds the memory that a copy or fill is to touch; 0 for other calls, arrays, and sizes that no
 * memory has. Sets *out_stream for calls with a stream, and *out_async if the call may return
 * before the work is done. */
int cx_check_accesses(const cx_check_call *call, cx_check_access out[CX_CHECK_ACCESSES],
                      CUstream *out_stream, bool *out_async);

/* The same of a node of a graph that is a copy or a fill. */
int cx_check_node_accesses(const cx_access_log_node *node, cx_check_access out[CX_CHECK_ACCESSES]);

/* True if the call's addresses may be the host's or a device's: only the driver can tell. */
static inline bool cx_check_is_unified(cx_slot slot)
{
    return slot == CX_SLOT_memcpy_unified || slot == CX_SLOT_memcpy_unified_async;
}

#endif
