/*
 * Pinned host memory: each context has an allocator of it, with segments from cuMemHostAlloc.
 *
 * No stream orders the host's accesses. So a free block is unowned, and the free of a block is
 * deferred while work uses it (cache_free.c). ctxrt's copies and fills record their stream with
 * the block that they touch (route.h), and users record their other work.
 */
#ifndef CX_MEMORY_PINNED_H
#define CX_MEMORY_PINNED_H

#include "memory/block.h"

/* Waits until no call of ctxrt's and no recorded stream uses a live block, so that only the caller
 * does. Returns the first error of earlier work. */
ctxrt_status cx_pinned_wait(const cx_block *block);

#endif
