/*
 * Magazines: free blocks of one stream of a cache, by size. They serve the stream's next requests
 * without a search of the heap. A magazine is part of its stream's record (cache.h), under the lock
 * "magazine" of that; any thread may put and take.
 */
#ifndef CX_MEMORY_MAGAZINE_H
#define CX_MEMORY_MAGAZINE_H

#include "alloc/fit.h"

#define CX_MAGAZINE_UNITS_MAX ((uint32_t)(((uint64_t)16 << 30) >> CX_FIT_UNIT_BITS))
#define CX_MAGAZINE_CLASSES 368 /* 16 for each power of two up to 16 GiB */
#define CX_MAGAZINE_BLOCKS 64

/* The limits of each magazine of a cache, besides blocks so small that they hardly count. Written
 * seldom, read by all threads. */
#define CX_KEEP_SMALL_SHIFT 10
typedef struct cx_keep {
    _Atomic uint64_t units;
    _Atomic uint32_t units_each; /* at most CX_MAGAZINE_UNITS_MAX */
    _Atomic bool large;          /* also one larger block */
} cx_keep;

/* A free block; `units` is 0: none. */
typedef struct cx_kept_block {
    uint32_t units;
    uint32_t cached;
} cx_kept_block;

/* Free blocks of one class, the last one put first. */
typedef struct cx_shelf {
    uint32_t count;
    cx_kept_block blocks[CX_MAGAZINE_BLOCKS];
} cx_shelf;

typedef struct cx_magazine {
    uint64_t units;
    cx_kept_block large;                    /* the last freed block beyond units_each */
    cx_shelf *shelves[CX_MAGAZINE_CLASSES]; /* NULL: unused so far */
} cx_magazine;

/* The class of a size: the least sizes are 1 to 16 units, then 16 steps for each power of two. */
static inline uint32_t cx_magazine_class(uint32_t units)
{
    uint32_t step = 27 - (uint32_t)__builtin_clz(units | 16);
    return step * 16 + (units >> step) - 1;
}

/* Takes the block at a place out of a shelf. */
static inline cx_kept_block cx_shelf_take(cx_magazine *magazine, cx_shelf *shelf, uint32_t place)
{
    const cx_kept_block taken = shelf->blocks[place];
    shelf->blocks[place] = shelf->blocks[--shelf->count];
    magazine->units -= taken.units;
    return taken;
}

/* Looks first at the class of a size larger by this part: at the upper end of a class most blocks
 * are too small. */
#define CX_MAGAZINE_AHEAD_SHIFT 5

/* Searches all classes with fitting blocks, and the large block. */
cx_kept_block cx_magazine_search(cx_magazine *magazine, uint32_t units, uint32_t slack);

/* Takes a block of at least `units`, at most CX_MAGAZINE_UNITS_MAX, and at most `slack` more. */
static inline cx_kept_block cx_magazine_take(cx_magazine *magazine, uint32_t units, uint32_t slack)
{
    uint32_t class = cx_magazine_class(units + (units >> CX_MAGAZINE_AHEAD_SHIFT));
    cx_shelf *shelf = class < CX_MAGAZINE_CLASSES ? magazine->shelves[class] : NULL;
    if (__builtin_expect(shelf != NULL && shelf->count != 0, 1)) {
        uint32_t last = shelf->count - 1;
        if (__builtin_expect(shelf->blocks[last].units - units <= slack, 1))
            return cx_shelf_take(magazine, shelf, last);
    }
    return cx_magazine_search(magazine, units, slack);
}

/* Keeps a free block. False: not allowed, or no room; cx_magazine_thin makes some. */
static inline bool cx_magazine_put(cx_magazine *magazine, const cx_keep *keep, cx_kept_block cached)
{
    if (cached.units > atomic_load_explicit(&keep->units_each, memory_order_relaxed))
        return false;
    cx_shelf *shelf = magazine->shelves[cx_magazine_class(cached.units)];
    uint64_t kept = magazine->units + cached.units;
    uint64_t most = atomic_load_explicit(&keep->units, memory_order_relaxed);
    if (shelf == NULL || shelf->count == CX_MAGAZINE_BLOCKS ||
        (kept > most && cached.units > most >> CX_KEEP_SMALL_SHIFT))
        return false;
    shelf->blocks[shelf->count++] = cached;
    magazine->units = kept;
    return true;
}

/* Makes room for blocks of a size: makes their shelf, or empties half of it. Returns the number of
 * blocks taken out, which go to the heap. */
uint32_t cx_magazine_thin(cx_magazine *magazine, uint32_t units,
                          uint32_t blocks[CX_MAGAZINE_BLOCKS]);

/* Takes all blocks of a class out. */
uint32_t cx_magazine_empty(cx_magazine *magazine, uint32_t class,
                           uint32_t blocks[CX_MAGAZINE_BLOCKS]);

/* NULL: out of memory. */
cx_magazine *cx_magazine_new(void);

/* Drops its blocks. */
void cx_magazine_free(cx_magazine *magazine);

#endif
