/*
 * What one thread keeps of one caching allocator: magazines of free pieces, which it takes from and
 * puts back to without a lock, and its part of the figures.
 *
 * A stash is its thread's own, but for flushes: another thread that needs the memory revokes all
 * stashes of the allocator, waits until their threads have left them, and empties them. A thread
 * that finds its stash revoked does without it. Entering costs two plain stores and a load where
 * the kernel can do the barrier for all threads at once (cx_barrier_all).
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

/* What was taken; `units` is 0 if nothing was. Small enough to be returned in registers. */
typedef struct cx_taken {
    uint32_t units;
    cx_magazine_slot slot;
} cx_taken;

/* Slots are looked at so many at once. */
#define CX_MAGAZINE_PROBES 16

/* Free pieces of one class. What is taken out is told here, so that the piece itself, mostly cold
 * in the processor's cache, is only written to. Of each size there are the low bits:
 * cx_magazine_units. Four of five times it is one of the first four slots that a piece is put into:
 * these and the sizes looked at first are in one line of the processor's cache. */
typedef struct cx_magazine {
    _Alignas(64) uint16_t sizes[CX_MAGAZINE_PROBES];
    cx_magazine_slot slots[CX_MAGAZINE_PIECES];
    uint16_t more_sizes[CX_MAGAZINE_PIECES - CX_MAGAZINE_PROBES];
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
    if (__builtin_expect(cx_barrier_cheap, 1)) {
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

/* The least size of a class, in units. */
static inline uint32_t cx_magazine_least(uint32_t class)
{
    uint32_t step = class >= 31 ? (class + 1) / 16 - 1 : 0;
    return (class + 1 - step * 16) << step;
}

/* The size of which these are the low bits: `least`, or less than 2^16 more. */
static inline uint32_t cx_magazine_units(uint16_t low, uint32_t least)
{
    return least + (uint16_t)(low - least);
}

/* The class of what is so much larger is looked at first: at the upper end of a class most pieces
 * are too small. */
#define CX_MAGAZINE_AHEAD_SHIFT 5
#define CX_MAGAZINE_SLACK_MAX 0x3fffu

/* A bit for each of CX_MAGAZINE_PROBES sizes, of which there are the low bits, that is at least
 * `units` and at most `slack` more. They are less than 2^15 away from it: classes have up to 2^14
 * sizes, and none is looked at that has nothing within the slack. */
#ifdef __SSE2__
/* Unsigned numbers less 2^15 compare as signed ones. */
static inline __m128i cx_magazine_match_eight(const uint16_t *sizes, __m128i least, __m128i bound)
{
    const __m128i eight = _mm_load_si128((const __m128i *)(const void *)sizes);
    return _mm_cmpgt_epi16(bound, _mm_sub_epi16(eight, least));
}

static inline uint32_t cx_magazine_match(const uint16_t *sizes, uint32_t units, uint32_t slack)
{
    const __m128i least = _mm_set1_epi16((short)(units + 0x8000)),
                  bound = _mm_set1_epi16((short)(slack + 0x8001));
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(cx_magazine_match_eight(sizes, least, bound),
                        cx_magazine_match_eight(sizes + 8, least, bound)));
}
#else
static inline uint32_t cx_magazine_match(const uint16_t *sizes, uint32_t units, uint32_t slack)
{
    uint32_t fits = 0;
    for (uint32_t i = 0; i < CX_MAGAZINE_PROBES; i++)
        fits |= (uint32_t)((uint16_t)(sizes[i] - units) <= slack) << i;
    return fits;
}
#endif

/* The size in a slot. */
static inline uint16_t *cx_magazine_size(cx_magazine *magazine, uint32_t slot)
{
    return slot < CX_MAGAZINE_PROBES ? &magazine->sizes[slot]
                                     : &magazine->more_sizes[slot - CX_MAGAZINE_PROBES];
}

/* Takes the piece out of a slot, which has at least so many units. */
static inline cx_taken cx_magazine_pick(cx_magazines *magazines, uint32_t class, uint32_t slot,
                                        uint32_t least)
{
    cx_magazine *magazine = &magazines->classes[class];
    const cx_taken taken = {cx_magazine_units(*cx_magazine_size(magazine, slot), least),
                            magazine->slots[slot]};
    magazines->filled[class] &= ~((uint64_t)1 << slot);
    magazines->units -= taken.units;
    return taken;
}

/* In the slots that are not looked at first, in spare magazines, and in the next classes. */
cx_taken cx_magazines_search(cx_magazines *magazines, uint32_t units, uint32_t slack);

/* A piece of at least so many units, at most CX_MAGAZINE_UNITS_MAX, and at most `slack` more, at
 * most CX_MAGAZINE_SLACK_MAX. */
static inline cx_taken cx_magazines_take(cx_magazines *magazines, uint32_t units, uint32_t slack)
{
    uint32_t class = cx_magazine_class(units + (units >> CX_MAGAZINE_AHEAD_SHIFT));
    uint32_t fits = cx_magazine_match(magazines->classes[class].sizes, units, slack) &
                    (uint32_t)magazines->filled[class];
    if (__builtin_expect(fits == 0, 0))
        return cx_magazines_search(magazines, units, slack);
    return cx_magazine_pick(magazines, class, (uint32_t)__builtin_ctz(fits), units);
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
    cx_magazine *magazine = &magazines->classes[class];
    *cx_magazine_size(magazine, first) = (uint16_t)units;
    magazine->slots[first] = slot;
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
