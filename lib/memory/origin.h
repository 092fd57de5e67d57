/*
 * Origins: places in the caller's source that memory was allocated in, where the caller says so
 * (ctxrt_memory_alloc_at). An origin is a place like a return address is (cx_place_text), and stays
 * for good.
 */
#ifndef CX_MEMORY_ORIGIN_H
#define CX_MEMORY_ORIGIN_H

#include "memory/piece.h"

/* No address has this bit. */
#define CX_ORIGIN_BIT ((uintptr_t)1 << 63)

static inline bool cx_origin_is_one(const void *place)
{
    return ((uintptr_t)place & CX_ORIGIN_BIT) != 0;
}

/* "file:line" of an origin. */
void cx_origin_text(const void *place, char *text, size_t size);

/* Of a live piece; NULL: it was allocated without. */
const void *cx_origin_of(uint32_t piece);

#endif
