/*
 * Cached blocks: records of the blocks that a caching allocator hands out. A record is one cache
 * line and is never unmapped: looking at a stale handle is safe. Its node is the block's place in
 * the heap; the rest makes it a counted memory object, so that a free needs no look-up.
 */
#ifndef CX_MEMORY_CACHE_BLOCK_H
#define CX_MEMORY_CACHE_BLOCK_H

#include "alloc/fit.h"
#include "base/eventcount.h"
#include "base/handle.h"
#include "memory/stream_uses.h"

typedef struct cx_cache_block {
    cx_fit_node node; /* its owner is the id of the stream that the block is freed for */
    /* atomic: ctxrt_memory_pointer reads it without taking a count. In a chunk's first node, which
     * is no block's, this field holds the fit's user: cx_fit_open */
    _Atomic(void *) pointer;
    /* generation << 32 | CX_CACHE_BLOCK_... | count: a stale handle counts nothing. While the count
     * is not 0, changed only by atomic read-modify-write */
    _Atomic uint64_t state;
    _Atomic uint64_t size_bytes; /* requested */
    cx_stream_uses uses;
} cx_cache_block;

_Static_assert(sizeof(cx_cache_block) == 64, "a line of the processor's cache");

#define CX_CACHE_BLOCK_COUNT_MAX 0x1ffffu
#define CX_CACHE_BLOCK_USED 0x80000000u /* streams were recorded */
#define CX_CACHE_BLOCK_RAW 0x40000000u  /* handed out as a raw pointer: pointer_table.h */
/* a reset has ended the memory; the node stands for no range, and its offset is the ended epoch */
#define CX_CACHE_BLOCK_GONE 0x20000000u

/* What a state keeps when the last count is taken. */
#define CX_CACHE_BLOCK_KEPT (~(uint64_t)UINT32_MAX | CX_CACHE_BLOCK_GONE)

extern cx_fit_store cx_cache_blocks;

/* cx_fit_at, with a constant size. */
static inline cx_cache_block *cx_cache_block_chunk(uint32_t index)
{
    unsigned char *chunk = atomic_load_explicit(&cx_cache_blocks.chunks[index >> CX_FIT_CHUNK_BITS],
                                                memory_order_acquire);
    return (cx_cache_block *)(void *)chunk;
}

static inline cx_cache_block *cx_cache_block_at(uint32_t index)
{
    return &cx_cache_block_chunk(index)[index & (CX_FIT_CHUNK_NODES - 1)];
}

/* The user of the fit that a block belongs to: its cache. */
static inline void *cx_cache_block_user(uint32_t index)
{
    return atomic_load_explicit(&cx_cache_block_chunk(index)->pointer, memory_order_relaxed);
}

static inline size_t cx_cache_block_size(const cx_cache_block *cached)
{
    return atomic_load_explicit(&cached->size_bytes, memory_order_relaxed);
}

static inline uint32_t cx_cache_block_generation(const cx_cache_block *cached)
{
    return (uint32_t)(atomic_load_explicit(&cached->state, memory_order_relaxed) >> 32);
}

static inline bool cx_cache_block_is_live(const cx_cache_block *cached)
{
    return (atomic_load(&cached->state) & CX_CACHE_BLOCK_COUNT_MAX) != 0;
}

/* A handle is like a pool's (base/pool.h), of a kind that no pool has. */
#define CX_CACHE_BLOCK_KIND CX_HANDLE_KIND_CACHE_BLOCK

static inline void *cx_cache_block_handle(uint32_t index, uint32_t generation)
{
    return (void *)(uintptr_t)((uint64_t)CX_CACHE_BLOCK_KIND << 56 | (uint64_t)generation << 24 |
                               index);
}

static inline uint32_t cx_cache_block_index(const void *handle)
{
    return (uint32_t)((uint64_t)(uintptr_t)handle & 0xffffffu);
}

/* The record that a handle names or named; NULL: it is no such handle. */
static inline cx_cache_block *cx_cache_block_of(const void *handle)
{
    uint32_t index = cx_cache_block_index(handle);
    if (__builtin_expect((uint64_t)(uintptr_t)handle >> 56 != CX_CACHE_BLOCK_KIND, 0))
        return NULL;
    cx_cache_block *chunk = cx_cache_block_chunk(index);
    return __builtin_expect(chunk != NULL, 1) ? &chunk[index & (CX_FIT_CHUNK_NODES - 1)] : NULL;
}

/* Makes an unused block a counted object with one count; `flags`: CX_CACHE_BLOCK_RAW or 0. */
static inline void cx_cache_block_begin(cx_cache_block *cached, size_t size_bytes,
                                        uint32_t generation, uint32_t flags)
{
    atomic_store_explicit(&cached->size_bytes, size_bytes, memory_order_relaxed);
    atomic_store_explicit(&cached->state, (uint64_t)generation << 32 | flags | 1,
                          memory_order_release);
}

/* Makes a taken block without users an object with one count again. A reset may end it
 * meanwhile. */
static inline void cx_cache_block_begin_again(cx_cache_block *cached, size_t size_bytes)
{
    uint64_t state = atomic_load(&cached->state), again;
    atomic_store_explicit(&cached->size_bytes, size_bytes, memory_order_relaxed);
    do
        again = ((state >> 32) + 1) << 32 | (state & CX_CACHE_BLOCK_GONE) | 1;
    while (!atomic_compare_exchange_weak(&cached->state, &state, again));
}

/* Takes the only count, if the state is exactly this. */
static inline bool cx_cache_block_end(cx_cache_block *cached, uint64_t state)
{
    return atomic_compare_exchange_strong(&cached->state, &state, state & CX_CACHE_BLOCK_KEPT);
}

/* Threads that wait until a block has fewer counts. */
extern cx_eventcount cx_cache_block_counts;

/* After the last count was taken: keeps only the generation in the state, and that it is gone. */
static inline void cx_cache_block_clear(cx_cache_block *cached)
{
    atomic_fetch_and_explicit(&cached->state, CX_CACHE_BLOCK_KEPT, memory_order_relaxed);
}

static inline bool cx_cache_block_is_gone(const cx_cache_block *cached)
{
    return (atomic_load_explicit(&cached->state, memory_order_acquire) & CX_CACHE_BLOCK_GONE) != 0;
}

#endif
