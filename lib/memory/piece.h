/*
 * Pieces: what a caching allocator gives out. The node says where the piece is in its heap. Its
 * head makes it a counted memory object, so that freeing one needs no look-up; heads are dense, so
 * that those of many pieces are in the processor's cache. Neither is ever unmapped: looking at a
 * stale handle is safe.
 */
#ifndef CX_MEMORY_PIECE_H
#define CX_MEMORY_PIECE_H

#include "alloc/fit.h"
#include "base/handle.h"
#include "memory/use.h"

typedef struct cx_piece {
    cx_fit_node node;
    _Atomic(void *) pointer; /* atomic: ctxrt_memory_pointer looks without taking a count */
    cx_use_list uses;
} cx_piece;

/* Of a piece that is not live the generation only. */
typedef struct cx_piece_head {
    /* generation << 32 | CX_PIECE_USED | slack << 18 | CX_PIECE_RAW | count: a stale handle counts
     * nothing */
    _Atomic uint64_t state;
    _Atomic uint64_t asked; /* bytes asked for << CX_PIECE_STAMP_BITS | stamp */
} cx_piece_head;

#define CX_PIECE_COUNT_MAX 0x1ffffu
#define CX_PIECE_RAW 0x20000u /* given out as a raw pointer: pointer_table.h */
#define CX_PIECE_USED 0x80000000u /* streams were recorded */
/* Units beyond those asked for; the largest: the node says. */
#define CX_PIECE_SLACK_MAX 0x1fffu
#define CX_PIECE_SLACK_SHIFT 18
#define CX_PIECE_SLACK_MASK ((uint64_t)CX_PIECE_SLACK_MAX << CX_PIECE_SLACK_SHIFT)

/* What a piece was allocated for: owner << 12 | home. */
#define CX_PIECE_STAMP_BITS 23
#define CX_PIECE_NO_STAMP UINT32_MAX

_Static_assert(CX_FIT_OWNERS_MAX <= 1 << 11, "an owner fits between home and size");

extern cx_fit_store cx_pieces;

/* As cx_fit_at and cx_fit_apart, with the sizes known here. */
static inline unsigned char *cx_piece_chunk(uint32_t index)
{
    return atomic_load_explicit(&cx_pieces.chunks[index >> CX_FIT_CHUNK_BITS],
                                memory_order_acquire);
}

static inline cx_piece *cx_piece_at(uint32_t index)
{
    cx_piece *pieces = (cx_piece *)(void *)cx_piece_chunk(index);
    return &pieces[index & (CX_FIT_CHUNK_NODES - 1)];
}

static inline cx_piece_head *cx_piece_head_in(unsigned char *chunk, uint32_t index)
{
    void *heads = chunk + CX_FIT_CHUNK_NODES * sizeof(cx_piece);
    return (cx_piece_head *)heads + (index & (CX_FIT_CHUNK_NODES - 1));
}

static inline cx_piece_head *cx_piece_head_at(uint32_t index)
{
    return cx_piece_head_in(cx_piece_chunk(index), index);
}

static inline size_t cx_piece_size(const cx_piece_head *head)
{
    return (size_t)(atomic_load_explicit(&head->asked, memory_order_relaxed) >>
                    CX_PIECE_STAMP_BITS);
}

static inline uint32_t cx_piece_stamp(uint32_t owner, uint32_t home)
{
    return owner << 12 | home;
}

static inline uint32_t cx_piece_stamp_of(const cx_piece_head *head)
{
    return (uint32_t)atomic_load_explicit(&head->asked, memory_order_relaxed) &
           ((1u << CX_PIECE_STAMP_BITS) - 1);
}

/* The stash that a piece was allocated from; 0: none in particular. */
static inline uint32_t cx_piece_home(const cx_piece_head *head)
{
    return cx_piece_stamp_of(head) & 0xfffu;
}

/* As the node says, of a live piece. */
static inline uint32_t cx_piece_owner(const cx_piece_head *head)
{
    return cx_piece_stamp_of(head) >> 12;
}

static inline uint32_t cx_piece_generation(const cx_piece_head *head)
{
    return (uint32_t)(atomic_load_explicit(&head->state, memory_order_relaxed) >> 32);
}

static inline bool cx_piece_is_live(const cx_piece_head *head)
{
    return (atomic_load(&head->state) & CX_PIECE_COUNT_MAX) != 0;
}

/* The same as the node's, of a live piece. */
static inline uint32_t cx_piece_units(uint32_t index, const cx_piece_head *head)
{
    uint32_t slack = (uint32_t)(atomic_load_explicit(&head->state, memory_order_relaxed) >>
                                CX_PIECE_SLACK_SHIFT) &
                     CX_PIECE_SLACK_MAX;
    return __builtin_expect(slack != CX_PIECE_SLACK_MAX, 1)
               ? cx_fit_units(cx_piece_size(head)) + slack
               : cx_piece_at(index)->node.units;
}

/* A handle is like a pool's (base/pool.h), of a kind that no pool has. */
#define CX_PIECE_KIND CX_HANDLE_KIND_PIECE

static inline void *cx_piece_handle(uint32_t index, uint32_t generation)
{
    return (void *)(uintptr_t)((uint64_t)CX_PIECE_KIND << 56 | (uint64_t)generation << 24 | index);
}

typedef struct cx_piece_start {
    size_t size_bytes;
    uint32_t slack; /* units that the node has beyond those of the size */
    uint32_t stamp;
    uint32_t generation;
} cx_piece_start;

/* Makes a piece that nobody has a counted object with one count. */
static inline void cx_piece_begin(cx_piece_head *head, const cx_piece_start *start)
{
    uint64_t slack = start->slack < CX_PIECE_SLACK_MAX ? start->slack : CX_PIECE_SLACK_MAX;
    atomic_store_explicit(&head->asked,
                          (uint64_t)start->size_bytes << CX_PIECE_STAMP_BITS | start->stamp,
                          memory_order_relaxed);
    atomic_store_explicit(&head->state,
                          (uint64_t)start->generation << 32 | slack << CX_PIECE_SLACK_SHIFT | 1,
                          memory_order_release);
}

static inline void cx_piece_end(cx_piece_head *head, uint32_t generation)
{
    atomic_store_explicit(&head->state, (uint64_t)generation << 32, memory_order_relaxed);
}

static inline uint32_t cx_piece_index(const void *handle)
{
    return (uint32_t)((uint64_t)(uintptr_t)handle & 0xffffffu);
}

/* The head of the piece that a handle is of, or was; NULL: it is none of a piece. A chunk's first
 * is no piece's, and never live. */
static inline cx_piece_head *cx_piece_of(const void *handle)
{
    uint32_t index = cx_piece_index(handle);
    if (__builtin_expect((uint64_t)(uintptr_t)handle >> 56 != CX_PIECE_KIND, 0))
        return NULL;
    unsigned char *chunk = cx_piece_chunk(index);
    return __builtin_expect(chunk != NULL, 1) ? cx_piece_head_in(chunk, index) : NULL;
}

#endif
