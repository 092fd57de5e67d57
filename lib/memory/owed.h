/*
 * Owed addresses: a raw pointer from before a reset has no memory any more, but its owner still
 * frees it. If the driver handed its address out again, a free of one of the two pointers would be
 * taken for a free of the other: the memory of the new one would outlive its free, and keep its
 * context and its allocator from ending. So ctxrt hands such an address out only where there is no
 * other memory, or a custom allocator chooses it. Caches withhold it themselves
 * (cache_withhold.c); any other request is made again here.
 */
#ifndef CX_MEMORY_OWED_H
#define CX_MEMORY_OWED_H

#include "memory/block.h"

/* A way to get memory, and to give back what is not wanted. */
typedef struct cx_owed_source {
    ctxrt_status (*take)(const void *request, cx_block *out_block);
    void (*give)(const void *request, const cx_block *block);
    const void *request;
} cx_owed_source;

/* Takes memory, if possible with an address that is not owed. Errors are those of source->take. */
ctxrt_status cx_owed_take_other(const cx_owed_source *source, cx_block *out_block);

#endif
