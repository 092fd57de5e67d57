/*
 * Pinned host memory: each context has an allocator of it whose segments cuMemHostAlloc gave.
 *
 * No stream orders what the host does with it. So a free piece is nobody's, and one that is freed
 * while work uses it is parked until that is done (cache_park.c): the copies and fills of ctxrt's
 * record their stream with the piece whose addresses they touch (route.h), and users record what
 * else they submit.
 */
#ifndef CX_MEMORY_PINNED_H
#define CX_MEMORY_PINNED_H

#include "memory/block.h"

/* Waits until no call of ctxrt's and no stream that was recorded uses a live block: nobody but the
 * caller does. The first error of earlier work. */
ctxrt_status cx_pinned_wait(const cx_block *block);

/* A block whose memory went with a reset of the context. The first error of earlier work. */
ctxrt_status cx_pinned_forget(const cx_block *block);

#endif
