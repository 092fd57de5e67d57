/*
 * What one thread keeps of one caching allocator: magazines of free pieces for each stream, and its
 * part of the figures.
 *
 * A thread cache is used by its own thread, inside a section (base/section.h). A thread that wants
 * what the others keep closes the sections. What a thread cache keeps is of one region: after a
 * reset its epoch is not the context's, and the thread drops it at its next slow path.
 */
#ifndef CX_MEMORY_THREAD_CACHE_H
#define CX_MEMORY_THREAD_CACHE_H

#include "context/thread.h"
#include "memory/piece.h"

#define CX_MAGAZINE_UNITS_MAX ((uint32_t)(((uint64_t)16 << 30) >> CX_FIT_UNIT_BITS))
#define CX_MAGAZINE_CLASSES 368 /* 16 for each power of two up to 16 GiB */
#define CX_MAGAZINE_PIECES 64

/* What the magazines of one thread and stream may keep, besides pieces so small that all of them
 * together are hardly more. Written seldom, read by all. */
#define CX_KEEP_SMALL_SHIFT 10
typedef struct cx_keep {
    _Atomic uint64_t units;
    _Atomic uint32_t units_each; /* at most CX_MAGAZINE_UNITS_MAX */
    _Atomic bool large;          /* one larger piece as well */
} cx_keep;

/* A free piece that is kept. It says what an allocation needs, so that the piece itself, mostly
 * cold in the processor's cache, is only written to. `units` is 0 if there is none. */
typedef struct cx_kept_piece {
    uint32_t units;
    uint32_t piece;
    uint32_t generation;
} cx_kept_piece;

/* Free pieces of one class, the last one put first. */
typedef struct cx_magazine {
    uint32_t count;
    cx_kept_piece pieces[CX_MAGAZINE_PIECES];
} cx_magazine;

/* Free pieces of one stream. */
typedef struct cx_magazines {
    struct cx_cache_stream *stream;
    const ctxrt_stream *handle; /* the stream's */
    uint32_t id;                /* likewise */
    bool plain; /* a free means a put into magazines or the heap, and nothing else */
    bool plain_when_idle; /* that is so while the stream has no work: of host_accessible memory */
    uint64_t units;
    cx_kept_piece large; /* the last piece freed that was beyond units_each */
    cx_magazine *classes[CX_MAGAZINE_CLASSES]; /* NULL: not used yet */
    struct cx_thread_cache *thread_cache;
    struct cx_magazines *next, **link; /* of the thread cache, the last used first */
    struct cx_magazines *next_of_stream, **link_of_stream; /* other threads'; lock "cache" */
} cx_magazines;

/* What one thread has allocated and freed. Written by one thread, read by all. */
typedef struct cx_thread_statistics {
    _Atomic uint64_t allocated_bytes, freed_bytes;
    _Atomic uint64_t allocated_count, freed_count;
    /* The difference when the thread last told the cache, and the most that it was since. */
    _Atomic int64_t told_bytes, high_bytes;
    _Atomic int64_t told_count, high_count;
    int64_t low_bytes, low_count; /* the thread's: when it is less, the cache is told */
} cx_thread_statistics;

#define CX_THREAD_CACHE_STREAMS 16 /* remembered by their ids */

/* A thread has magazines for so many streams, in its caches of all allocators together: those it
 * used last. Default streams go from thread to thread with frames that are handed over, so that
 * each thread comes to use each of them. */
#define CX_THREAD_MAGAZINES_MAX 64

typedef struct cx_thread_cache {
    _Atomic(struct cx_cache *) cache; /* NULL: its allocator is gone */
    const struct cx_region *region;   /* that the pieces are of */
    uint32_t epoch;                   /* the region's */
    cx_magazines *recent;             /* of the frame's stream, at the last request */
    /* Frames of this context that name this allocator, or none, mean the cache; NULL: not known of
     * any. */
    const cx_context *recent_context;
    const ctxrt_allocator *recent_allocator;
    struct cx_thread_cache *next_of_thread;
    struct cx_thread_cache *next, **link; /* the cache's; lock "thread caches" */
    cx_magazines *all;
    cx_magazines *by_id[CX_THREAD_CACHE_STREAMS]; /* some of them, by the low bits of their ids */
    cx_thread_statistics statistics;
} cx_thread_cache;

/* The class of a size: the classes' least sizes are 1 to 16 units, then 16 steps to each power of
 * two. */
static inline uint32_t cx_magazine_class(uint32_t units)
{
    uint32_t step = 27 - (uint32_t)__builtin_clz(units | 16);
    return step * 16 + (units >> step) - 1;
}

/* Takes the piece at a place out of a magazine. */
static inline cx_kept_piece cx_magazine_take_at(cx_magazines *magazines, cx_magazine *magazine,
                                                uint32_t place)
{
    const cx_kept_piece taken = magazine->pieces[place];
    magazine->pieces[place] = magazine->pieces[--magazine->count];
    magazines->units -= taken.units;
    return taken;
}

/* The class of what is so much larger is looked at first: at the upper end of a class most pieces
 * are too small. */
#define CX_MAGAZINE_AHEAD_SHIFT 5

/* Looks at all pieces of the classes that have any that fit, and at the large one. */
cx_kept_piece cx_magazines_search(cx_magazines *magazines, uint32_t units, uint32_t slack);

/* A piece of at least so many units, at most CX_MAGAZINE_UNITS_MAX, and at most `slack` more. */
static inline cx_kept_piece cx_magazines_take(cx_magazines *magazines, uint32_t units,
                                              uint32_t slack)
{
    uint32_t class = cx_magazine_class(units + (units >> CX_MAGAZINE_AHEAD_SHIFT));
    cx_magazine *magazine = class < CX_MAGAZINE_CLASSES ? magazines->classes[class] : NULL;
    if (__builtin_expect(magazine != NULL && magazine->count != 0, 1)) {
        uint32_t last = magazine->count - 1;
        if (__builtin_expect(magazine->pieces[last].units - units <= slack, 1))
            return cx_magazine_take_at(magazines, magazine, last);
    }
    return cx_magazines_search(magazines, units, slack);
}

/* Keeps a free piece. False: it may not, or there is no room: cx_magazines_thin makes some. */
static inline bool cx_magazines_put(cx_magazines *magazines, const cx_keep *keep,
                                    cx_kept_piece piece)
{
    if (piece.units > atomic_load_explicit(&keep->units_each, memory_order_relaxed))
        return false;
    cx_magazine *magazine = magazines->classes[cx_magazine_class(piece.units)];
    uint64_t kept = magazines->units + piece.units;
    uint64_t most = atomic_load_explicit(&keep->units, memory_order_relaxed);
    if (magazine == NULL || magazine->count == CX_MAGAZINE_PIECES ||
        (kept > most && piece.units > most >> CX_KEEP_SMALL_SHIFT))
        return false;
    magazine->pieces[magazine->count++] = piece;
    magazines->units = kept;
    return true;
}

/* Makes room for pieces of so many units: their magazine, or half of it free. What was taken out
 * goes to the heap: the number of pieces. */
uint32_t cx_magazines_thin(cx_magazines *magazines, uint32_t units,
                           uint32_t pieces[CX_MAGAZINE_PIECES]);

/* Takes all of a class out. */
uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES]);

/* NULL: no memory. */
cx_magazines *cx_magazines_new(void);

/* Their pieces are dropped. */
void cx_magazines_free(cx_magazines *magazines);

static inline uint64_t cx_statistics_add(_Atomic uint64_t *figure, uint64_t more)
{
    uint64_t sum = atomic_load_explicit(figure, memory_order_relaxed) + more;
    atomic_store_explicit(figure, sum, memory_order_relaxed);
    return sum;
}

#endif
