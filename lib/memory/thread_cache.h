/*
 * One thread's cache of one caching allocator: magazines of free blocks for each stream, and the
 * thread's statistics.
 *
 * Only its own thread uses a thread cache, inside a section (base/section.h), with plain loads and
 * stores. A thread that wants the blocks of others closes the sections first; the barrier in that
 * makes their writes visible, and keeps them out until it is done. The blocks are of one epoch:
 * after a reset the thread sees that its cache's epoch is not the context's, and drops them at its
 * next slow path. Statistics are atomic: one thread writes them, and any thread reads them without
 * a section.
 */
#ifndef CX_MEMORY_THREAD_CACHE_H
#define CX_MEMORY_THREAD_CACHE_H

#include "context/thread.h"
#include "memory/cache_block.h"

#define CX_MAGAZINE_UNITS_MAX ((uint32_t)(((uint64_t)16 << 30) >> CX_FIT_UNIT_BITS))
#define CX_MAGAZINE_CLASSES 368 /* 16 for each power of two up to 16 GiB */
#define CX_MAGAZINE_BLOCKS 64

/* The limits of one thread's magazines for one stream, besides blocks so small that they hardly
 * count. Written seldom, read by all threads. */
#define CX_KEEP_SMALL_SHIFT 10
typedef struct cx_keep {
    _Atomic uint64_t units;
    _Atomic uint32_t units_each; /* at most CX_MAGAZINE_UNITS_MAX */
    _Atomic bool large;          /* also one larger block */
} cx_keep;

/* A free block in a magazine. It has everything that an allocation needs, so that the block's own
 * record, mostly not in the processor's cache, is only written to. `units` is 0: none. */
typedef struct cx_kept_block {
    uint32_t units;
    uint32_t cached;
    uint32_t generation;
} cx_kept_block;

/* Free blocks of one class, the last one put first. */
typedef struct cx_magazine {
    uint32_t count;
    cx_kept_block blocks[CX_MAGAZINE_BLOCKS];
} cx_magazine;

/* Free blocks of one stream. */
typedef struct cx_magazines {
    struct cx_cache_stream *stream;
    const ctxrt_stream *handle; /* the stream's */
    uint32_t id;                /* likewise */
    bool plain;                 /* a free only puts into magazines or the heap */
    bool plain_when_idle; /* the same holds while the stream is idle: for host_accessible memory */
    uint64_t units;
    cx_kept_block large;                       /* the last freed block beyond units_each */
    cx_magazine *classes[CX_MAGAZINE_CLASSES]; /* NULL: unused so far */
    struct cx_thread_cache *thread_cache;
    struct cx_magazines *next, **link; /* of the thread cache, the last used first */
    struct cx_magazines *next_of_stream, **link_of_stream; /* other threads'; lock "cache" */
} cx_magazines;

/* One thread's allocations and frees. Written by one thread, read by all. */
typedef struct cx_thread_statistics {
    _Atomic uint64_t allocated_bytes, freed_bytes;
    _Atomic uint64_t allocated_count, freed_count;
    /* The live amount at the thread's last flush, and its maximum since. */
    _Atomic int64_t flushed_bytes, high_bytes;
    _Atomic int64_t flushed_count, high_count;
    int64_t low_bytes, low_count; /* private to the thread: below these it flushes */
} cx_thread_statistics;

#define CX_THREAD_CACHE_STREAMS 16 /* looked up by id */

/* A thread has at most this many magazines, in its caches of all allocators together: those used
 * last. Default streams move between threads with handed-over frames, so each thread may come to
 * use all of them. */
#define CX_THREAD_MAGAZINES_MAX 64

typedef struct cx_thread_cache {
    _Atomic(struct cx_cache *) cache; /* NULL: its allocator is gone */
    const struct cx_cache_generation *generation; /* of the blocks */
    uint32_t epoch;                               /* the generation's */
    cx_magazines *recent;             /* for the frame's stream at the last request */
    /* Frames of this context with this allocator, or none, use the cache; NULL: no such context is
     * known. */
    const cx_context *recent_context;
    const ctxrt_allocator *recent_allocator;
    struct cx_thread_cache *next_of_thread;
    struct cx_thread_cache *next, **link; /* the cache's; lock "thread caches" */
    cx_magazines *all;
    cx_magazines *by_id[CX_THREAD_CACHE_STREAMS]; /* some of them, by the low bits of the id */
    cx_thread_statistics statistics;
} cx_thread_cache;

/* The class of a size: the least sizes are 1 to 16 units, then 16 steps for each power of two. */
static inline uint32_t cx_magazine_class(uint32_t units)
{
    uint32_t step = 27 - (uint32_t)__builtin_clz(units | 16);
    return step * 16 + (units >> step) - 1;
}

/* Takes the block at a place out of a magazine. */
static inline cx_kept_block cx_magazine_take_at(cx_magazines *magazines, cx_magazine *magazine,
                                                uint32_t place)
{
    const cx_kept_block taken = magazine->blocks[place];
    magazine->blocks[place] = magazine->blocks[--magazine->count];
    magazines->units -= taken.units;
    return taken;
}

/* Looks first at the class of a size larger by this part: at the upper end of a class most blocks
 * are too small. */
#define CX_MAGAZINE_AHEAD_SHIFT 5

/* Searches all classes with fitting blocks, and the large block. */
cx_kept_block cx_magazines_search(cx_magazines *magazines, uint32_t units, uint32_t slack);

/* Takes a block of at least `units`, at most CX_MAGAZINE_UNITS_MAX, and at most `slack` more. */
static inline cx_kept_block cx_magazines_take(cx_magazines *magazines, uint32_t units,
                                              uint32_t slack)
{
    uint32_t class = cx_magazine_class(units + (units >> CX_MAGAZINE_AHEAD_SHIFT));
    cx_magazine *magazine = class < CX_MAGAZINE_CLASSES ? magazines->classes[class] : NULL;
    if (__builtin_expect(magazine != NULL && magazine->count != 0, 1)) {
        uint32_t last = magazine->count - 1;
        if (__builtin_expect(magazine->blocks[last].units - units <= slack, 1))
            return cx_magazine_take_at(magazines, magazine, last);
    }
    return cx_magazines_search(magazines, units, slack);
}

/* Keeps a free block. False: not allowed, or no room; cx_magazines_thin makes some. */
static inline bool cx_magazines_put(cx_magazines *magazines, const cx_keep *keep,
                                    cx_kept_block cached)
{
    if (cached.units > atomic_load_explicit(&keep->units_each, memory_order_relaxed))
        return false;
    cx_magazine *magazine = magazines->classes[cx_magazine_class(cached.units)];
    uint64_t kept = magazines->units + cached.units;
    uint64_t most = atomic_load_explicit(&keep->units, memory_order_relaxed);
    if (magazine == NULL || magazine->count == CX_MAGAZINE_BLOCKS ||
        (kept > most && cached.units > most >> CX_KEEP_SMALL_SHIFT))
        return false;
    magazine->blocks[magazine->count++] = cached;
    magazines->units = kept;
    return true;
}

/* Makes room for blocks of a size: makes their magazine, or empties half of it. Returns the number
 * of blocks taken out, which go to the heap. */
uint32_t cx_magazines_thin(cx_magazines *magazines, uint32_t units,
                           uint32_t blocks[CX_MAGAZINE_BLOCKS]);

/* Takes all blocks of a class out. */
uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t blocks[CX_MAGAZINE_BLOCKS]);

/* NULL: out of memory. */
cx_magazines *cx_magazines_new(void);

/* Drops their blocks. */
void cx_magazines_free(cx_magazines *magazines);

static inline uint64_t cx_statistics_add(_Atomic uint64_t *figure, uint64_t more)
{
    uint64_t sum = atomic_load_explicit(figure, memory_order_relaxed) + more;
    atomic_store_explicit(figure, sum, memory_order_relaxed);
    return sum;
}

#endif
