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

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CX_MAGAZINE_UNITS_MAX ((64u << 20) >> CX_FIT_UNIT_BITS)
#define CX_MAGAZINE_CLASSES 240 /* 16 for each power of two up to 64 MiB */
#define CX_MAGAZINE_PIECES 64

/* What the magazines of one thread and stream may keep, besides pieces so small that all of them
 * together are hardly more. Written seldom, read by all. */
#define CX_KEEP_SMALL_SHIFT 10
typedef struct cx_keep {
    _Atomic uint64_t units;
    _Atomic uint32_t units_each; /* at most CX_MAGAZINE_UNITS_MAX */
} cx_keep;

typedef struct cx_magazine_slot {
    uint32_t piece;
    uint32_t generation;
} cx_magazine_slot;

/* Free pieces of one class. What is taken out is told here, so that the piece itself, mostly cold
 * in the processor's cache, is only written to. */
typedef struct cx_magazine {
    _Alignas(64) uint32_t units[CX_MAGAZINE_PIECES];
    cx_magazine_slot slots[CX_MAGAZINE_PIECES];
} cx_magazine;

/* A magazine that was full when it was put aside for a class. */
typedef struct cx_spare {
    cx_magazine magazine;
    uint64_t filled; /* not 0 */
    struct cx_spare *next;
} cx_spare;

/* Free pieces of one stream. In whole lines of the processor's cache. */
typedef struct cx_magazines {
    _Alignas(64) struct cx_magazines *next;
    const ctxrt_stream *stream;
    uint32_t owner; /* the stream's number in the heap */
    bool plain;     /* freeing means putting into the stash, or the heap, and nothing else */
    uint64_t units;
    uint64_t filled[CX_MAGAZINE_CLASSES]; /* a bit for each slot with a piece */
    cx_spare *spares[CX_MAGAZINE_CLASSES];
    cx_magazine classes[CX_MAGAZINE_CLASSES];
} cx_magazines;

_Static_assert(CX_MAGAZINE_PIECES == 64, "a bit for each slot");

/* Free pieces on their way to the heap. */
typedef struct cx_outgoing {
    uint32_t count; /* less than there is room for */
    uint64_t units;
    uint32_t pieces[CX_MAGAZINE_PIECES];
} cx_outgoing;

/* Written by one thread, read by all. */
typedef struct cx_tally {
    _Atomic uint64_t allocated_bytes, freed_bytes;
    _Atomic uint64_t allocated_count, freed_count;
    /* The difference when the thread last told the cache, and the most that it was since. */
    _Atomic int64_t told_bytes, high_bytes;
    _Atomic int64_t told_count, high_count;
    int64_t low_bytes, low_count; /* the thread's: when it is less, the cache is told */
} cx_tally;

typedef struct cx_stash {
    _Atomic bool busy;
    _Atomic bool revoked;
    _Atomic bool shared; /* other threads change the counts of its pieces, too */
    _Atomic uint32_t home; /* its number: home.h; 0: none */
    _Atomic(struct cx_cache *) cache; /* NULL: its allocator is gone */
    cx_magazines *recent;             /* of the frame's stream, at the last request */
    uint32_t stamp;                   /* of the pieces that it gives out: cx_piece_stamp */
    /* of those that are freed into it without more ado; CX_PIECE_NO_STAMP: none are */
    _Atomic uint32_t free_stamp;
    const ctxrt_stream *recent_key; /* the frame's: NULL for the thread's default stream */
    /* Frames of this context that name this allocator, or none, mean the stash's; NULL: not known
     * of any. */
    const cx_context *recent_context;
    const ctxrt_allocator *recent_allocator;
    struct cx_stash *next_of_thread;
    struct cx_stash *next, **link; /* the cache's; lock "stashes" */
    cx_magazines *all;
    cx_outgoing outgoing;
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

/* The class of a size: the classes' least sizes are 1 to 16 units, then 16 steps to each power of
 * two. */
static inline uint32_t cx_magazine_class(uint32_t units)
{
    uint32_t step = 27 - (uint32_t)__builtin_clz(units | 16);
    return step * 16 + (units >> step) - 1;
}

/* Slots are looked at so many at once. */
#define CX_MAGAZINE_PROBES 16
/* And first those of the class of what is so much larger: at the upper end of a class most pieces
 * are too small. */
#define CX_MAGAZINE_AHEAD_SHIFT 6

/* A bit for each of CX_MAGAZINE_PROBES sizes that is at least `units` and at most `slack` more. */
#ifdef __SSE2__
/* Unsigned numbers less 2^31 compare as signed ones. */
static inline __m128i cx_magazine_match_four(const uint32_t *sizes, __m128i least, __m128i bound)
{
    const __m128i four = _mm_load_si128((const __m128i *)(const void *)sizes);
    return _mm_cmpgt_epi32(bound, _mm_sub_epi32(four, least));
}

static inline uint32_t cx_magazine_match(const uint32_t *sizes, uint32_t units, uint32_t slack)
{
    const __m128i least = _mm_set1_epi32((int)(units + 0x80000000u)),
                  bound = _mm_set1_epi32((int)(slack + 0x80000001u));
    const __m128i low = _mm_packs_epi32(cx_magazine_match_four(sizes, least, bound),
                                        cx_magazine_match_four(sizes + 4, least, bound));
    const __m128i high = _mm_packs_epi32(cx_magazine_match_four(sizes + 8, least, bound),
                                         cx_magazine_match_four(sizes + 12, least, bound));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}
#else
static inline uint32_t cx_magazine_match(const uint32_t *sizes, uint32_t units, uint32_t slack)
{
    uint32_t fits = 0;
    for (uint32_t i = 0; i < CX_MAGAZINE_PROBES; i++)
        fits |= (uint32_t)(sizes[i] - units <= slack) << i;
    return fits;
}
#endif

/* Takes the piece out of a slot: its units. */
static inline uint32_t cx_magazine_pick(cx_magazines *magazines, uint32_t class, uint32_t slot,
                                        cx_magazine_slot *out_slot)
{
    const cx_magazine *magazine = &magazines->classes[class];
    uint32_t units = magazine->units[slot];
    *out_slot = magazine->slots[slot];
    magazines->filled[class] &= ~((uint64_t)1 << slot);
    magazines->units -= units;
    return units;
}

/* In the slots that are not looked at first, in spare magazines, and in the next classes. */
uint32_t cx_magazines_search(cx_magazines *magazines, uint32_t units, uint32_t slack,
                             cx_magazine_slot *out_slot);

/* A piece of at least so many units, at most CX_MAGAZINE_UNITS_MAX, and at most `slack` more: its
 * units, or 0. */
static inline uint32_t cx_magazines_take(cx_magazines *magazines, uint32_t units, uint32_t slack,
                                         cx_magazine_slot *out_slot)
{
    uint32_t class = cx_magazine_class(units + (units >> CX_MAGAZINE_AHEAD_SHIFT));
    uint32_t fits = cx_magazine_match(magazines->classes[class].units, units, slack) &
                    (uint32_t)magazines->filled[class];
    if (__builtin_expect(fits == 0, 0))
        return cx_magazines_search(magazines, units, slack, out_slot);
    return cx_magazine_pick(magazines, class, (uint32_t)__builtin_ctz(fits), out_slot);
}

/* Keeps a free piece. False: it may not, or there is no room: cx_magazines_set_aside makes some. */
static inline bool cx_magazines_put(cx_magazines *magazines, const cx_keep *keep, uint32_t units,
                                    cx_magazine_slot slot)
{
    if (units > atomic_load_explicit(&keep->units_each, memory_order_relaxed))
        return false;
    uint32_t class = cx_magazine_class(units);
    uint64_t room = ~magazines->filled[class], kept = magazines->units + units;
    uint64_t most = atomic_load_explicit(&keep->units, memory_order_relaxed);
    if (room == 0 || (kept > most && units > most >> CX_KEEP_SMALL_SHIFT))
        return false;
    uint32_t first = (uint32_t)__builtin_ctzll(room);
    magazines->classes[class].units[first] = units;
    magazines->classes[class].slots[first] = slot;
    magazines->filled[class] = ~(room & (room - 1));
    magazines->units = kept;
    return true;
}

/* Puts the magazine of a class aside if it is full and that much may be kept. False: it is not, or
 * no memory for it; then some go to the heap: cx_magazines_thin. */
bool cx_magazines_set_aside(cx_magazines *magazines, const cx_keep *keep, uint32_t class);

/* Takes out half of a magazine, or all of one while there is any: the number of pieces. */
uint32_t cx_magazines_thin(cx_magazines *magazines, uint32_t class,
                           uint32_t pieces[CX_MAGAZINE_PIECES]);
uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES]);

/* Takes all out: their number. */
uint32_t cx_outgoing_empty(cx_outgoing *outgoing, uint32_t pieces[CX_MAGAZINE_PIECES]);

/* Their pieces are dropped. */
void cx_magazines_free(cx_magazines *magazines);

static inline uint64_t cx_tally_add(_Atomic uint64_t *figure, uint64_t more)
{
    uint64_t sum = atomic_load_explicit(figure, memory_order_relaxed) + more;
    atomic_store_explicit(figure, sum, memory_order_relaxed);
    return sum;
}

#endif
