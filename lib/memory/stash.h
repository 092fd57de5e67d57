/*
 * What one thread keeps of one caching allocator: magazines of free pieces, which it takes from and
 * puts back to without a lock, and its part of the figures.
 *
 * A stash is its thread's own, but for flushes: another thread that needs the memory revokes all
 * stashes of the allocator, waits until their threads have left them, and empties them. A thread
 * that finds its stash revoked does without it. Entering costs two plain stores and a load where
 * the kernel can do the barrier for all threads at once (cx_announce_barrier).
 */
#ifndef CX_MEMORY_STASH_H
#define CX_MEMORY_STASH_H

#include "context/thread.h"
#include "memory/piece.h"
#include <ctxrt/memory.h>

#define CX_MAGAZINE_UNITS_MAX ((64u << 20) >> CX_FIT_UNIT_BITS)
#define CX_MAGAZINE_CLASSES 128 /* 8 for each power of two up to 64 MiB */
#define CX_MAGAZINE_PIECES 64

/* What the magazines of one thread and stream may keep. Written seldom, read by all. */
typedef struct cx_keep {
    _Atomic uint64_t units;
    _Atomic uint32_t units_each; /* at most CX_MAGAZINE_UNITS_MAX */
} cx_keep;

/* What is taken out of a magazine is told here, so that the piece itself, mostly cold in the
 * processor's cache, is only written to. */
typedef struct cx_magazine_slot {
    uint32_t piece;
    uint32_t units;
    uint32_t generation;
} cx_magazine_slot;

/* Free pieces of one stream. */
typedef struct cx_magazines {
    struct cx_magazines *next;
    const ctxrt_stream *stream;
    uint32_t owner; /* the stream's number in the heap */
    bool plain;     /* freeing means putting into the stash, or the heap, and nothing else */
    uint64_t units;
    uint8_t counts[CX_MAGAZINE_CLASSES];
    cx_magazine_slot slots[CX_MAGAZINE_CLASSES][CX_MAGAZINE_PIECES];
} cx_magazines;

/* Written by one thread, read by all. */
typedef struct cx_tally {
    _Atomic uint64_t allocated_bytes, freed_bytes;
    _Atomic uint64_t allocated_count, freed_count;
    _Atomic uint64_t hits; /* requests served from a magazine */
    /* Since the thread last told the cache; the highs are the most that it was. */
    _Atomic int64_t open_bytes, high_bytes;
    _Atomic int64_t open_count, high_count;
} cx_tally;

typedef struct cx_stash {
    _Atomic bool busy;
    _Atomic bool revoked;
    _Atomic bool shared; /* other threads change the counts of its pieces, too */
    _Atomic uint32_t home; /* its number: home.h; 0: none */
    _Atomic(struct cx_cache *) cache; /* NULL: its allocator is gone */
    cx_magazines *recent;             /* of the frame's stream, at the last request */
    const ctxrt_stream *recent_key; /* the frame's: NULL for the thread's default stream */
    /* Frames of this context that name this allocator, or none, mean the stash's; NULL: not known
     * of any. */
    const cx_context *recent_context;
    const ctxrt_allocator *recent_allocator;
    struct cx_stash *next_of_thread;
    struct cx_stash *next, **link; /* the cache's; lock "stashes" */
    cx_magazines *all;
    cx_tally tally;
} cx_stash;

/* False: do without the stash. Else what the thread does until it leaves must not wait for another
 * thread that flushes, nor call a driver. */
static inline bool cx_stash_enter(cx_stash *stash)
{
    if (__builtin_expect(cx_announce_cheaply, 1)) {
        atomic_store_explicit(&stash->busy, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        atomic_store(&stash->busy, true);
    }
    if (__builtin_expect(!atomic_load(&stash->revoked), 1))
        return true;
    atomic_store_explicit(&stash->busy, false, memory_order_release);
    return false;
}

static inline void cx_stash_leave(cx_stash *stash)
{
    atomic_store_explicit(&stash->busy, false, memory_order_release);
}

/* The class of a size: the classes' least sizes are 1 to 8 units, then 8 steps to each power of
 * two. */
static inline uint32_t cx_magazine_class(uint32_t units)
{
    if (units < 8)
        return units - 1;
    uint32_t top = 31 - (uint32_t)__builtin_clz(units);
    return (top - 3) * 8 + (units >> (top - 3) & 7) + 7;
}

/* Of a class of random sizes half are too small, and some too large: so many are looked at before
 * the heap is asked, which costs more. */
#define CX_MAGAZINE_PROBES 16

/* A piece of at least so many units, at most CX_MAGAZINE_UNITS_MAX, and at most `slack` more.
 * False: none. */
static inline bool cx_magazines_take(cx_magazines *magazines, uint32_t units, uint32_t slack,
                                         cx_magazine_slot *out_slot)
{
    uint32_t class = cx_magazine_class(units);
    cx_magazine_slot *slots = magazines->slots[class];
    uint32_t count = magazines->counts[class];
    uint32_t last = count > CX_MAGAZINE_PROBES ? count - CX_MAGAZINE_PROBES : 0;
    for (uint32_t i = count; i > last; i--) {
        const cx_magazine_slot slot = slots[i - 1];
        if (slot.units - units > slack)
            continue;
        slots[i - 1] = slots[count - 1];
        magazines->counts[class] = (uint8_t)(count - 1);
        magazines->units -= slot.units;
        *out_slot = slot;
        if (count > 1)
            __builtin_prefetch(cx_piece_head_at(slots[count - 2].piece), 1);
        return true;
    }
    return false;
}

/* Keeps a free piece. False: it may not, or there is no room; make some with cx_magazines_halve. */
static inline bool cx_magazines_put(cx_magazines *magazines, const cx_keep *keep, uint32_t piece,
                                    uint32_t units, uint32_t generation)
{
    if (units > atomic_load_explicit(&keep->units_each, memory_order_relaxed))
        return false;
    uint32_t class = cx_magazine_class(units);
    uint32_t count = magazines->counts[class];
    if (count == CX_MAGAZINE_PIECES ||
        magazines->units + units > atomic_load_explicit(&keep->units, memory_order_relaxed))
        return false;
    magazines->slots[class][count] = (cx_magazine_slot){piece, units, generation};
    magazines->counts[class] = (uint8_t)(count + 1);
    magazines->units += units;
    return true;
}

/* Takes out the older half of a class, or all there is: their number. */
uint32_t cx_magazines_halve(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES]);
uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES]);

static inline void cx_tally_add(_Atomic uint64_t *figure, uint64_t more)
{
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

#endif
