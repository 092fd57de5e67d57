/*
 * Origins: places in the caller's source where memory was allocated, as the caller named them
 * (ctxrt_memory_alloc_at). An origin is used like a return address (cx_place_text), and is never
 * freed.
 */
#ifndef CX_DIAGNOSE_ORIGIN_H
#define CX_DIAGNOSE_ORIGIN_H

#include "memory/cache_block.h"

/* No address has this bit. */
#define CX_ORIGIN_BIT ((uintptr_t)1 << 63)

static inline bool cx_origin_is_one(const void *place)
{
    return ((uintptr_t)place & CX_ORIGIN_BIT) != 0;
}

/* "file:line" of an origin. */
void cx_origin_text(const void *place, char *text, size_t size);

/* The origin of a live block; NULL: it was allocated without one. */
const void *cx_origin_of(uint32_t cached);

#endif
