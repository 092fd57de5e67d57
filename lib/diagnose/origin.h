/*
 * Places where memory was allocated: an address in the caller's code, or an origin, a place in its
 * source as the caller named it (ctxrt_memory_alloc_at). An origin is used like a return address,
 * and is never freed.
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

/* The origin that the caller named, else the innermost return address outside of this library;
 * NULL: unknown. */
const void *cx_place_here(void);

/* "file:line" of an origin; "main+0x1f (program)", or the address where no file has the code; cut
 * to the buffer. "" for NULL. */
void cx_place_text(const void *place, char *text, size_t size);

/* The origin of a live block; NULL: it was allocated without one. */
const void *cx_origin_of(uint32_t cached);

#endif
