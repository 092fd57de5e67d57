/*
 * Pieces: what a caching allocator gives out, one cache line each. The node says where the piece is in its heap, what is
 * behind it makes the piece a counted memory object, so that freeing one needs no look-up. Pieces are never
 * unmapped: looking at a stale handle is safe.
 */
#ifndef CX_MEMORY_PIECE_H
#define CX_MEMORY_PIECE_H

#include "memory/fit.h"
#include "memory/use.h"

typedef struct cx_piece {
    cx_fit_node node;
    _Atomic uint64_t state;  /* generation << 32 | count: a stale handle counts nothing */
    _Atomic(void *) pointer; /* atomic: ctxrt_memory_pointer looks without taking a count */
    _Atomic uint64_t asked;    /* bytes asked for << 16 | home; atomic: snapshots look */
    cx_use_list uses;
} cx_piece;

_Static_assert(sizeof(cx_piece) == 64, "a piece is one cache line");

extern cx_fit_store cx_pieces;

static inline cx_piece *cx_piece_at(uint32_t index)
{
    return cx_fit_at(&cx_pieces, index);
}

static inline size_t cx_piece_size(const cx_piece *piece)
{
    return (size_t)(atomic_load_explicit(&piece->asked, memory_order_relaxed) >> 16);
}

/* The stash that a piece was allocated from; 0: none in particular. */
static inline uint32_t cx_piece_home(const cx_piece *piece)
{
    return (uint32_t)atomic_load_explicit(&piece->asked, memory_order_relaxed) & 0xffffu;
}

/* A handle is like a pool's (base/pool.h), of a kind that no pool has. */
#define CX_PIECE_KIND 0x40

static inline uint32_t cx_piece_generation(const cx_piece *piece)
{
    return (uint32_t)(atomic_load_explicit(&piece->state, memory_order_relaxed) >> 32);
}

static inline void *cx_piece_handle(uint32_t index, uint32_t generation)
{
    return (void *)(uintptr_t)((uint64_t)CX_PIECE_KIND << 56 | (uint64_t)generation << 24 | index);
}

/* Makes a piece that nobody has a counted object with one count. */
static inline void cx_piece_begin(cx_piece *piece, size_t size_bytes, uint32_t home, uint32_t generation)
{
    atomic_store_explicit(&piece->asked, (uint64_t)size_bytes << 16 | home, memory_order_relaxed);
    atomic_store_explicit(&piece->state, (uint64_t)generation << 32 | 1, memory_order_release);
}

static inline uint32_t cx_piece_index(const void *handle)
{
    return (uint32_t)((uint64_t)(uintptr_t)handle & 0xffffffu);
}

/* The piece that a handle is of, or was; NULL: it is none of a piece. */
static inline cx_piece *cx_piece_of(const void *handle)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    uint32_t index = cx_piece_index(handle);
    if (bits >> 56 != CX_PIECE_KIND || (index & (CX_FIT_CHUNK_NODES - 1)) == 0 ||
        atomic_load_explicit(&cx_pieces.chunks[index >> CX_FIT_CHUNK_BITS], memory_order_acquire) == NULL)
        return NULL;
    return cx_piece_at(index);
}

#endif
